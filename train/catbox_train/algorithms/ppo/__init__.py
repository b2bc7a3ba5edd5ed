"""Proximal policy optimisation (Schulman et al. 2017, https://arxiv.org/abs/1707.06347) in self-play."""
