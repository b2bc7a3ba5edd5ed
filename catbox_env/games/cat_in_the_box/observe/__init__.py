"""What a seat of Cat in the Box sees: the parts of its observation, and how to write and read it."""
