"""What a seat of Cat Te sees: the parts of its observation, a view of it, and features."""
