"""Expert iteration: the network learns to imitate a search that uses the network for its rollouts."""
