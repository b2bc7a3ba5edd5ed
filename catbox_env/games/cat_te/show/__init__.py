"""Cat Te in words, and the views that its words and pictures show."""
