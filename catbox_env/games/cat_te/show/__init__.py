"""Cat Te in words and pictures, all from one view of a position."""
