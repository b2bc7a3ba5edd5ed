"""Play of Cat in the Box: state, research board, the rules as kernels, and the check of external states."""
