"""Cat Te: rules, play, observation, hidden information, display, and the game object."""
