"""Cat Te in words and pictures."""
