"""What happens in Cat Te: cards, state, the rules as kernels, and which states from outside are played on."""
