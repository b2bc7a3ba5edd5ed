"""Petrify in words and pictures."""
