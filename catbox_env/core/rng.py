"""The random number generator: sfc32 in plain 64-bit integer arithmetic.

Algorithm: "Small Fast Counting" by Chris Doty-Humphrey (PractRand), the 32-bit version. All products and shifts
stay below 2**63, so compiled and interpreted runs, on every platform, draw the same numbers. A generator is kept
beside a game's state, never in it, so that copying a state does not copy its future deals.
"""

from __future__ import annotations

import numpy as np
from numpy.random import SeedSequence

from catbox_env.core.checks import is_integer, short_repr
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import new_records, record_dtype

#: ``a, b, c``: 32-bit words of the state; ``counter``: 32-bit counter; ``children``: generators split off so far.
GENERATOR = record_dtype([(name, np.int64) for name in ("a", "b", "c", "counter", "children")])
#: The fields that determine all numbers to come.
WORDS = ("a", "b", "c", "counter")

#: What a seed is used for besides deals. Each purpose has a key of its own, far above those of the games of a batch, so
#: that the same seed given for a deal and, say, for random actions gives independent numbers. ``TRAINING``: everything
#: random in the updates of a run, its deals included. ``AGENTS``: what agents draw, and where they sit. ``DATA_SETS``:
#: the deals of a data set that is made with a seed.
ACTIONS, WORLDS, SEARCHES, TRAINING, AGENTS, DATA_SETS = range(2**32 - 16, 2**32 - 10)

MASK32 = 0xFFFFFFFF
WARM_UP = 15
#: 2**64 divided by the golden ratio, in two words: bits without a pattern.
GOLDEN_HIGH, GOLDEN_LOW = 0x9E3779B9, 0x7F4A7C15


@njit
def next_uint32(generator):
    """One uniform integer in ``0 .. 2**32 - 1``."""
    result = (generator.a + generator.b + generator.counter) & MASK32
    generator.counter = (generator.counter + 1) & MASK32
    generator.a = generator.b ^ (generator.b >> 9)
    generator.b = (generator.c + (generator.c << 3)) & MASK32
    generator.c = (((generator.c << 21) | (generator.c >> 11)) + result) & MASK32
    return result


@njit
def next_uint64(generator):
    """One uniform integer in ``0 .. 2**64 - 1``."""
    high = np.uint64(next_uint32(generator))
    return (high << np.uint64(32)) | np.uint64(next_uint32(generator))


@njit
def unit_interval(number):
    """Map a uniform integer in ``0 .. 2**64 - 1`` to a number in [0, 1)."""
    return np.float64(number >> np.uint64(11)) * 2.0**-53


@njit
def random_below(generator, bound):
    """One uniform integer in ``0 .. bound - 1``, without bias (Lemire 2019, "Fast Random Integer Generation")."""
    product = next_uint32(generator) * bound
    low = product & MASK32
    if low < bound:
        threshold = (MASK32 + 1 - bound) % bound
        while low < threshold:
            product = next_uint32(generator) * bound
            low = product & MASK32
    return product >> 32


@njit
def split(parent, child):
    """Make ``child`` an independent generator. What ``parent`` will draw does not change."""
    parent.children += 1
    child.a = parent.a ^ GOLDEN_HIGH
    child.b = parent.b ^ GOLDEN_LOW
    child.c = parent.c ^ (parent.counter & MASK32)
    child.counter = (parent.children * GOLDEN_HIGH) & MASK32
    child.children = 0
    for _ in range(WARM_UP):
        next_uint32(child)


def seed_sequence(seed: int | SeedSequence | None, *keys: int) -> SeedSequence:
    """``seed`` as a NumPy ``SeedSequence``; ``None`` uses entropy from the operating system.

    With ``keys``, its child of that number, that child's, and so on, as the first calls of ``spawn`` give them; a given
    ``SeedSequence`` stays as it was. Raises ``ValueError`` for anything but a non-negative integer, a ``SeedSequence``
    or ``None``.
    """
    if isinstance(seed, SeedSequence):
        if not keys:
            return seed
        return SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *keys), pool_size=seed.pool_size)
    if seed is not None and (not is_integer(seed) or seed < 0):
        raise ValueError(
            f"seed={short_repr(seed)}: expected an integer of 0 or more, a numpy SeedSequence, or None"
        )
    return SeedSequence(None if seed is None else int(seed), spawn_key=keys)


def child_seeds(root: SeedSequence, count: int) -> list[SeedSequence]:
    """The first ``count`` children of ``root``; see `seed_sequence`."""
    return [seed_sequence(root, key) for key in range(count)]


def seed_for(purpose: int, seed: int | SeedSequence | None) -> SeedSequence:
    """The seed sequence that ``seed`` gives for one of the purposes above. Errors as in `seed_sequence`."""
    return seed_sequence(seed, purpose)


def new_generators(seeds: list[SeedSequence]) -> np.ndarray:
    """An array of ``GENERATOR`` records, one for each seed sequence."""
    generators = new_records(GENERATOR, len(seeds))
    words = np.array([seed.generate_state(3, np.uint32) for seed in seeds], np.int64).reshape(-1, 3)
    generators["a"], generators["b"], generators["c"] = words.T
    generators["counter"] = 1
    _warm_up(generators)
    return generators


def split_generators(parents: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """``counts[i]`` consecutive independent generators split off each ``parents[i]``: (sum of counts,).

    ``parents`` (N,) is advanced in place; ``counts`` (N,) int64, none negative.
    """
    children = new_records(GENERATOR, int(counts.sum()))
    _split_each(parents, np.repeat(np.arange(len(parents)), counts.astype(np.intp)), children)
    return children


@cached_njit
def _split_each(parents, parent_of, children):
    for i in range(len(children)):
        split(parents[parent_of[i]], children[i])


@cached_njit
def split_one(generators, children):
    """Make the generator ``children`` (1,) independent of ``generators`` (1,), which counts it."""
    split(generators[0], children[0])


@cached_njit
def _warm_up(generators):
    for i in range(len(generators)):
        for _ in range(WARM_UP):
            next_uint32(generators[i])
