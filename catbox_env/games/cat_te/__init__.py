"""Cat Te: rules, state, kernels, observation, sampling, text and rendering."""
