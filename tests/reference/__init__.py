"""Slow, plain implementations of the games, written from their rules pages alone, to check the engine against."""
