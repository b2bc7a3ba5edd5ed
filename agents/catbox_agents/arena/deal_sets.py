"""Named sets of deals, so that what an agent was chosen by is not what it is tested on.

A set is a seed: deal number d of a set is the same for everybody. The seeds have 128 bits. Those of training runs have
at most 64, and the deals of a run, its evaluations included, follow from its seed; so no deal of a named set is ever
drawn in training. Deals of two sets have different seeds too. (Two deals may still be the same cards by chance, as two
deals of one set may.)
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.checks import check_choice
from catbox_env.core.rng import seed_sequence

#: name -> seed. ``training``: for anything that an agent or a person learns from; ``selection``: to choose between
#: agents or settings; ``test``: for results that are reported, and nothing else.
DEAL_SETS = {
    "training": 0x965E03D475F1E9EF736CE261A0B7E52C,
    "selection": 0xC95D5611B2C7D2CCA7679959EA598AB4,
    "test": 0x995EE9666718635395F2B46E5F05B672,
}


def seed_of_deals(deal_set: str, seed: int | None) -> int:
    """The seed of the deals: ``seed``, if one is given, else that of the set. Raises ValueError for unknown ones."""
    if seed is None:
        return DEAL_SETS[check_choice("deal_set", deal_set, tuple(DEAL_SETS))]
    if isinstance(seed, np.random.SeedSequence):
        raise ValueError(
            f"seed={seed!r}: expected an integer of 0 or more; pass the entropy of a SeedSequence"
        )
    seed_sequence(seed)  # raises ValueError unless it is a seed
    return int(seed)
