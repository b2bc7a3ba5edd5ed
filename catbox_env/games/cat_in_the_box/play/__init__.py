"""What happens in Cat in the Box: state, research board, the rules as kernels, and which states from outside are played
on."""
