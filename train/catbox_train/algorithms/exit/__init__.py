"""Expert iteration: the network learns to play as a search that plays on with the network."""
