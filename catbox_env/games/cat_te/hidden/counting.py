"""The number of ways to deal the hidden cards of Cat Te to the places where they may be, and a uniform sample of one.

A place is a hand (including a blind choice) or the folded cards of one seat. Unrestricted places, which may hold cards
of every suit, are left out, because they can always be filled in the same number of ways. The cards of a suit are
interchangeable, so it suffices to know how many of each suit a place takes: its counts. The places form a chain, and
``ways[place, left]`` is the number of ways to fill this place and all after it when ``left`` cards of each suit are
left. A place takes a fixed number of cards, so three of the four suits determine the fourth: ``left`` has at most
14 ** 3 values, of which few are reachable.

The numbers reach 10 ** 28 and are 64-bit floats. They are sums of products of non-negative numbers, so every operation
adds a relative error of at most 2 ** -53, and a few thousand of them 10 ** -12: no feasible number of samples can
distinguish this from uniform sampling. An impossible way has exactly 0.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.core.rng import next_uint32
from catbox_env.games.cat_te.hidden.voids import (
    COUNT_BITS,
    agrees_with_voids,
    count_of,
    counts_of,
    pack_count,
    pack_counts,
)
from catbox_env.games.cat_te.play.state import NONE
from catbox_env.games.cat_te.rules import HAND_SIZE, MAX_PLAYERS, NUM_RANKS, NUM_SUITS

#: Kinds of places.
IN_HAND, IS_FOLDED = 0, 1
#: The place after the last one of the chain: one way to fill nothing.
END = 0
#: END, the hand and the folded cards of each other seat, and those of a claimer once more.
MAX_PLACES = 1 + 2 * (MAX_PLAYERS - 1) + 2
#: Ways to split six cards among four suits.
MAX_COUNTS = comb(HAND_SIZE + NUM_SUITS - 1, NUM_SUITS - 1)
#: The number of packed counts of the three suits that determine the fourth.
NUM_LEFT = 1 << (COUNT_BITS * (NUM_SUITS - 1))

#: BINOMIALS[n, k]: sets of k among n cards of a suit.
BINOMIALS = np.array([[comb(n, k) for k in range(HAND_SIZE + 1)] for n in range(NUM_RANKS + 1)], np.float64)

#: A random number from 0 to 1 takes its bits from two words.
WORD_BITS, HIGH_BITS, LOW_BITS = 32, 27, 26

PLACE = record_dtype(
    [
        ("seat", np.int64),
        ("kind", np.int64),  # IN_HAND or IS_FOLDED
        ("following", np.int64),  # the next place in the chain
        ("num_cards", np.int64),  # cards in this place
        ("num_counts", np.int64),  # rows of ``counts`` for this place
        ("left", np.int64),  # hidden cards left before it
        ("least", np.int64),  # the fewest of each suit among them, packed
    ]
)


class Places(NamedTuple):
    """The places of a draw: memory that a kernel allocates once for all states."""

    rows: np.ndarray  #: (MAX_PLACES,) of PLACE
    counts: np.ndarray  #: (MAX_PLACES, MAX_COUNTS): the counts of the cards that each place may hold
    ways: np.ndarray  #: (MAX_PLACES, NUM_LEFT): see above


@njit
def new_places():
    """Empty places."""
    rows = np.zeros(MAX_PLACES, PLACE)
    counts = np.zeros((MAX_PLACES, MAX_COUNTS), np.int64)
    return Places(rows, counts, np.empty((MAX_PLACES, NUM_LEFT), np.float64))


@njit
def add_place(places, place, following, seat, kind, num_cards, folds, voids, unseen):
    """Fill in row ``place``, which comes before ``following`` in the chain; returns ``place``.

    ``folds``: the tricks in which the cards were folded, none for a hand; ``unseen``: the counts of all hidden cards.
    """
    row = places.rows[place]
    row.seat, row.kind, row.following = seat, kind, following
    row.num_cards, row.num_counts, row.least = num_cards, 0, unseen
    for one in range(num_cards + 1):
        for two in range(num_cards - one + 1):
            for three in range(num_cards - one - two + 1):
                four = num_cards - one - two - three
                taken = pack_counts(one, two, three, four)
                if agrees_with_voids(taken, folds, voids):
                    places.counts[place, row.num_counts] = taken
                    row.num_counts += 1
    return place


@njit
def bound_chain(places, place, unseen):
    """Set the fewest cards of each suit that can be left before each place of the chain that begins at ``place``."""
    least, left = unseen, 0
    for suit in range(NUM_SUITS):
        left += count_of(unseen, suit)
    while place != END:
        row = places.rows[place]
        row.left = left
        row.least = each_min(int(row.least), least)
        most = 0
        for k in range(row.num_counts):
            most = each_max(most, places.counts[place, k])
        least -= each_min(least, most)
        left -= row.num_cards
        place = int(row.following)


@njit
def each_min(one, other):
    """The smaller count of each suit."""
    counts = 0
    for suit in range(NUM_SUITS):
        counts |= pack_count(min(count_of(one, suit), count_of(other, suit)), suit)
    return counts


@njit
def each_max(one, other):
    """The larger count of each suit."""
    return one + other - each_min(one, other)


@njit
def count_ways(places, num_places, unseen):
    """Fill in the ways for all reachable counts left; a place has a higher index than those after it in the chain."""
    if num_places > END + 1:
        for left in range(NUM_LEFT):
            places.ways[END, left] = 1.0
    for place in range(END + 1, num_places):
        row = places.rows[place]
        least = int(row.least)
        for one in range(count_of(least, 0), count_of(unseen, 0) + 1):
            for two in range(count_of(least, 1), count_of(unseen, 1) + 1):
                for three in range(count_of(least, 2), count_of(unseen, 2) + 1):
                    four = row.left - one - two - three
                    if count_of(least, 3) <= four <= count_of(unseen, 3):
                        left = pack_counts(one, two, three, four)
                        total = 0.0
                        for k in range(row.num_counts):
                            taken = places.counts[place, k]
                            total += ways_with(places, row.following, left, taken)
                        places.ways[place, left & (NUM_LEFT - 1)] = total


@njit
def ways_with(places, following, left, taken):
    """Ways to take ``taken`` of the cards left and to fill the following places."""
    number = 1.0
    for suit in range(NUM_SUITS):
        if count_of(taken, suit) > count_of(left, suit):
            return 0.0
        number *= BINOMIALS[count_of(left, suit), count_of(taken, suit)]
    return number * places.ways[following, (left - taken) & (NUM_LEFT - 1)]


@njit
def all_ways(places, place, unseen):
    """Ways to deal the set ``unseen`` to the chain that begins at ``place``; NONE is an impossible chain."""
    if place == END:
        return 1.0
    return places.ways[place, counts_of(unseen) & (NUM_LEFT - 1)] if place != NONE else 0.0


@njit
def sample_counts(generator, places, place, left):
    """Counts of the cards in ``place``, sampled in proportion to the ways that each leaves; at least one exists."""
    row = places.rows[place]
    rest = random_unit(generator) * places.ways[place, left & (NUM_LEFT - 1)]
    drawn = 0
    for k in range(row.num_counts):
        number = ways_with(places, row.following, left, places.counts[place, k])
        if number > 0.0:
            drawn = places.counts[place, k]
            rest -= number
            if rest < 0.0:
                break
    return drawn


@njit
def random_unit(generator):
    """A uniform number from 0 to 1, 1 excluded, with 53 random bits."""
    high = next_uint32(generator) >> (WORD_BITS - HIGH_BITS)
    low = next_uint32(generator) >> (WORD_BITS - LOW_BITS)
    return (high * 2.0**LOW_BITS + low) * 2.0 ** -(HIGH_BITS + LOW_BITS)
