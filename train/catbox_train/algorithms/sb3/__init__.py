"""Self-play with MaskablePPO of sb3-contrib: one seat of each game learns among frozen copies of itself and agents."""
