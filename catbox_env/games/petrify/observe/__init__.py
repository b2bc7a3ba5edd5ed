"""What a seat of Petrify sees: the parts of its observation, how to write and read it, and features."""
