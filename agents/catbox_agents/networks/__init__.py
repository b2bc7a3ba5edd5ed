"""Trained networks, the agent that plays them, and their checkpoint files. Needs torch."""
