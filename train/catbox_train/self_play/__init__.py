"""What the algorithms share that learn by self-play on the CPU: workers with games, weights, gradient steps."""
