"""Petrify: rules, state, kernels, observation, text and rendering."""
