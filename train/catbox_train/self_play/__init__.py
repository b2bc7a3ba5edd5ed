"""What the algorithms share that learn by self-play: networks, workers with games, gradient steps."""
