"""Trained networks, the agent that plays them, and their checkpoint files.

What plays needs NumPy and compiled code alone; ``mlp`` and ``history_modules``, for training, need torch.
"""
