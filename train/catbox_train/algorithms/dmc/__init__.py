"""Deep Monte Carlo: the network learns what each action is worth in the end."""
