"""Cat in the Box: rules, play, observation, hidden information, display, and the game object."""
