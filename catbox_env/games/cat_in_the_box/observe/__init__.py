"""What a seat of Cat in the Box sees: the parts of its observation, a view of it, and features."""
