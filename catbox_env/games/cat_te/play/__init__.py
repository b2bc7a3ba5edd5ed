"""Play of Cat Te: cards, state, the rules as kernels, and the check of external states."""
