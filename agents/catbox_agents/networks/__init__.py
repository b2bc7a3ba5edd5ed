"""Trained networks: what computes, the agent that plays it, and the file that keeps it. Needs torch."""
