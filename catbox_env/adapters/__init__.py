"""Faces of the games to other toolkits. Each adapter serves every game."""
