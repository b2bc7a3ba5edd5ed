"""What a seat sees: the layout of its observation, how it is written and read, and features of it."""
