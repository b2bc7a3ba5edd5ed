"""Seeds of deals, and named sets of deals that separate training, model selection and tests.

A set is a seed: deal number d of a set is the same for everybody. The seeds have 128 bits. Those of training runs have
at most 64, and all deals of a run, evaluations included, follow from its seed; so training never draws a deal of a
named set. Deals of two sets have different seeds too. (Two deals may still have the same cards by chance, even in one
set.)
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.checks import check_choice
from catbox_env.core.rng import seed_sequence

#: name -> seed. ``training``: for anything that an agent or a person learns from; ``selection``: to choose between
#: agents or settings; ``test``: for reported results, and nothing else.
DEAL_SETS = {
    "training": 0x965E03D475F1E9EF736CE261A0B7E52C,
    "selection": 0xC95D5611B2C7D2CCA7679959EA598AB4,
    "test": 0x995EE9666718635395F2B46E5F05B672,
}


#: Deals are numbered in groups of this many: deal d is child d % GROUP of child d // GROUP.
GROUP = 2048


def deal_seed(root: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """The seed of deal ``number`` of the set with the seed ``root``."""
    return np.random.SeedSequence(root.entropy, spawn_key=(1, number // GROUP, number % GROUP))


def seed_of_deals(deal_set: str | None, seed: int | None) -> tuple[int, str | None]:
    """The seed of the deals and the name of their set: ``seed`` and None if it is given, else those of ``deal_set``,
    by default selection. Raises ValueError for unknown ones, and if both are given."""
    if seed is None:
        name = check_choice("deal_set", "selection" if deal_set is None else deal_set, tuple(DEAL_SETS))
        return DEAL_SETS[name], name
    if deal_set is not None:
        raise ValueError(f"deal_set={deal_set!r} and seed={seed!r}: give one of them")
    if isinstance(seed, np.random.SeedSequence):
        raise ValueError(
            f"seed={seed!r}: expected an integer of 0 or more; pass the entropy of a SeedSequence"
        )
    seed_sequence(seed)  # raises ValueError unless it is a seed
    return int(seed), None
