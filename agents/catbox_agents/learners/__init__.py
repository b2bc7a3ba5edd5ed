"""One learner among agents: environments in which a learner has one seat of each game, and agents play the others."""
