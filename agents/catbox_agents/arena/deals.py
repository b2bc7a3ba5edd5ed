"""Which deals are played, in which blocks, and with which luck: all of it follows from a seed.

A set of deals is a seed: deal number d of a set is the same for everybody. The seeds of the named sets have 128 bits.
Those of training runs have at most 64, and all deals of a run, evaluations included, follow from its seed; so training
never draws a deal of a named set. Deals of two sets have different seeds too. (Two deals may still have the same cards
by chance, even in one set.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.random_agent import MIX_STEP, mix
from catbox_env.core.checks import brief, check_choice, is_integer
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
#: The first blocks are small, so that little is lost when an arena of slow agents is interrupted; the others are large,
#: because fast agents are faster in large batches.
SMALL_BLOCKS, SMALL, LARGE = 8, 16, 64
#: With fewer deals an interval would be meaningless. From here on its quantile is exact to 0.001.
MIN_DEALS = 10


def deal_seed(root: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """The seed of deal ``number`` of the set with the seed ``root``."""
    return np.random.SeedSequence(root.entropy, spawn_key=(1, number // GROUP, number % GROUP))


def decision_key(root: np.random.SeedSequence) -> NDArray[np.uint64]:
    """What `decision_seeds` needs of the seed of the deals, (1,)."""
    return np.random.SeedSequence(root.entropy, spawn_key=(4,)).generate_state(1, np.uint64).astype(np.uint64)


def decision_seeds(
    key: NDArray[np.uint64], first: int, rotations: int, rows: NDArray[np.int64], move: int
) -> NDArray[np.uint64]:
    """A seed (M,) for each decision: a hash of the deal, the rotation and the number of the move.

    Row d * ``rotations`` + r of a batch is deal ``first`` + d with the line-up rotated by r seats.
    """
    game = (first * rotations + rows).astype(np.uint64)
    step = np.uint64(MIX_STEP)
    per_game = mix(mix(key + game + step) + np.uint64(rotations) + step)
    return mix(per_game + np.uint64(move) + step)


def first_deal(number: int) -> int:
    """The number of the first deal of block ``number``."""
    return SMALL * min(number, SMALL_BLOCKS) + LARGE * max(0, number - SMALL_BLOCKS)


def num_blocks(num_deals: int) -> int:
    """How many blocks ``num_deals`` deals make; the last one may be cut short."""
    if num_deals <= SMALL_BLOCKS * SMALL:
        return -(-num_deals // SMALL)
    return SMALL_BLOCKS - (SMALL_BLOCKS * SMALL - num_deals) // LARGE


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


def check_num_deals(num_deals: object) -> int:
    """``num_deals`` as an int. Raises ``ValueError`` unless it is an integer of at least `MIN_DEALS`."""
    if not is_integer(num_deals):
        raise ValueError(f"num_deals={brief(num_deals)}: expected an integer, such as 1000")
    if num_deals < MIN_DEALS:
        raise ValueError(
            f"num_deals={num_deals}: expected at least {MIN_DEALS}; with fewer the interval would be meaningless"
        )
    return int(num_deals)
