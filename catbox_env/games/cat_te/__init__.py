"""Cat Te: its rules, what happens, what a seat sees and what it cannot see, how it is shown, and the game object."""
