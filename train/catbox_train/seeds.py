"""The seeds of a run: for each purpose in each update, one of its own."""

from __future__ import annotations

from numpy.random import SeedSequence

from catbox_env.core.rng import TRAINING, seed_for, seed_sequence

#: What the random numbers of an update are for; each has a stream of its own.
DEALS, CHOICES, SEATS, LUCK, AGENTS, SHUFFLES, SEARCHES = range(7)


def update_seed(seed: int, update: int, purpose: int, *keys: int) -> SeedSequence:
    """The seed of a ``purpose``, one of those above, in an update of the run with the seed ``seed``.

    No evaluation and no batch has it, whatever its seed.
    """
    return seed_sequence(seed_for(TRAINING, seed), update, purpose, *keys)
