"""What a seat of Petrify sees: the parts of its observation, and how to write and read it."""
