"""Play of Petrify: state, board, and the rules as kernels."""
