"""A training run: its folder, checkpoints, metrics, progress, evaluation and report. Knows no algorithm."""
