"""Adapters: the games under the interfaces of other libraries. Each adapter serves every game."""
