"""What happens: the state, the board and the kernels that play."""
