"""Cat in the Box in words and pictures."""
