"""What the self-play algorithms share: networks, workers with games, gradient steps."""
