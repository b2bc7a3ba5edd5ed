"""Trained networks, the agent that plays them, and their checkpoint files.

Playing needs only NumPy and compiled code; ``mlp``, for training, needs torch.
"""
