"""Cat in the Box: rules, state, kernels, observation, text and rendering."""
