"""What a seat of Cat Te sees: the parts of its observation, and how to write and read it."""
