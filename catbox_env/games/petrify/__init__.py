"""Petrify in six subjects: rules, what happens, what a seat sees, what it cannot see, how it is shown, the game."""
