"""The places of Cat Te that cannot hold every hidden card, and the number of ways to fill them.

A place is the hand of a seat, its blind choice included, or its folded cards. Hidden cards of one kind are
interchangeable: each suit that somebody has run out of is a kind, all other suits together are one, and so is the
claimed card, if it is hidden, which only its claimer can have. So it suffices to know how many cards of each kind a
place takes: its counts. The places are filled one after another, and the number of ways to fill the rest depends only
on how many cards of each kind are left. Places that can hold every hidden card are left out, because they can always be
filled in the same number of ways.

The numbers reach 10 ** 28 and are 64-bit floats. They are sums of products of non-negative numbers, so every operation
adds a relative error of at most 2 ** -53, and a few thousand of them 10 ** -12: no feasible number of samples can
distinguish this from uniform sampling. An impossible way has exactly 0.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from catbox_env.core.bits import nth_bit, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.core.rng import next_uint64, unit_interval
from catbox_env.games.cat_te.play import claiming_card, fold_tricks, suit_of
from catbox_env.games.cat_te.rules import HAND_SIZE, MAX_PLAYERS, NUM_CARDS, NUM_SUITS, NUM_TRICKS
from catbox_env.games.cat_te.state import NEVER, NONE, ONE_SUIT

#: Kinds of hidden cards: by suit, and the claimed card. Suits of which nobody has run out are counted with one of them.
CLAIMED = NUM_SUITS
NUM_KINDS = NUM_SUITS + 1
#: The hand and the folded cards of each other seat.
MAX_PLACES = 2 * (MAX_PLAYERS - 1)
#: Ways to split six cards among four suits, and five cards besides the claimed one.
MAX_COUNTS = comb(HAND_SIZE + NUM_SUITS - 1, NUM_SUITS - 1) + comb(HAND_SIZE + NUM_SUITS - 2, NUM_SUITS - 1)
#: BINOMIALS[n, k]: sets of k among n cards.
BINOMIALS = np.array([[comb(n, k) for k in range(HAND_SIZE + 1)] for n in range(NUM_CARDS + 1)], np.float64)

PLACE = record_dtype(
    [
        ("seat", np.int64),
        ("is_folded", np.int64),  # 1: the folded cards, 0: the hand
        ("num_counts", np.int64),  # rows of ``counts`` for this place
    ]
)


class Places(NamedTuple):
    """The places to fill, in order; N of them.

    What is left before a place is numbered: the last of L numbers means all hidden cards, and placing cards takes off
    the same whatever else is left. The number leaves out one kind, which follows from the others.
    """

    hidden: np.ndarray  #: (NUM_KINDS,): the sets of the hidden cards of each kind
    rows: np.ndarray  #: (N,) of PLACE
    counts: np.ndarray  #: (N, MAX_COUNTS, NUM_KINDS) int8: the cards of each kind that each place may hold
    taken: np.ndarray  #: (N, MAX_COUNTS): what they take off the number of what is left
    left: (
        np.ndarray
    )  #: (N + 1, L, NUM_KINDS) int8: the cards of each kind left before each place, and at the end
    ways: np.ndarray  #: (N + 1, L): the number of ways to fill a place and all after it with these


@njit
def find_places(params, state, observer, unseen):
    """The places of which ``observer`` knows something, with their ways; ``unseen``: the set of the hidden cards.

    It allocates the memory for all worlds of a sample.
    """
    claimer, hidden = NONE, np.zeros(NUM_KINDS, np.int64)
    if state.claimed != NONE and state.claimed != observer:
        hidden[CLAIMED] = unseen & (1 << claiming_card(state))
        claimer = int(state.claimed) if hidden[CLAIMED] != 0 else NONE
    run_out, common = 0, 0  # the set of the suits that are kinds of their own, and the kind of all others
    for seat in range(params.num_players):
        for suit in range(NUM_SUITS):
            if seat != observer and state.void_since[seat, suit] != NEVER:
                run_out |= 1 << suit
    for suit in range(NUM_SUITS):
        common = common if (run_out >> suit) & 1 else suit
    for suit in range(NUM_SUITS):
        kind = suit if (run_out >> suit) & 1 else common
        hidden[kind] |= unseen & ~hidden[CLAIMED] & (ONE_SUIT << suit)

    rows = np.zeros(MAX_PLACES, PLACE)
    counts = np.empty((MAX_PLACES, MAX_COUNTS, NUM_KINDS), np.int8)
    number, first = 0, max(claimer, 0)  # the places with the most counts come where they multiply nothing
    for turn in range(params.num_players):
        seat = (first + turn) % params.num_players
        for is_folded in range(2 if seat != observer else 0):
            row = rows[number]
            row.seat, row.is_folded, row.num_counts = seat, is_folded, 0
            tricks = fold_tricks(state, seat) if is_folded else 0
            num_cards = int(state.num_folded[seat]) if is_folded else num_held(state, seat)
            holds_any = add_counts(state, hidden, row, counts[number], tricks, num_cards, 0)
            if seat == claimer:
                add_counts_with_claimed(state, hidden, row, counts[number], tricks, num_cards)
            elif holds_any:
                continue
            number += 1

    taken, size = np.zeros((number, MAX_COUNTS), np.int64), 1
    for kind in range(NUM_KINDS):
        if kind != common:
            for place in range(number):
                for k in range(rows[place].num_counts):
                    taken[place, k] += size * int(counts[place, k, kind])
            size *= popcount(hidden[kind]) + 1
    left = np.empty((number + 1, size, NUM_KINDS), np.int8)
    for kind in range(NUM_KINDS):
        left[0, size - 1, kind] = popcount(hidden[kind])
    places = Places(hidden, rows[:number], counts, taken, left, np.zeros((number + 1, size), np.float64))
    count_ways(places)
    return places


@njit
def num_held(state, seat):
    """The number of cards in the hand of ``seat``, its blind choice included, from public information."""
    held = HAND_SIZE - int(state.num_folded[seat])
    for trick in range(NUM_TRICKS):
        held -= 1 if state.faceup[seat, trick] >= 0 else 0
    return held


@njit
def add_counts(state, hidden, row, counts, tricks, num_cards, num_claimed):
    """Add the counts of a place that holds ``num_cards`` of any suit, and besides ``num_claimed``, 0 or 1.

    ``tricks``: those in which the cards were folded, none for a hand. Returns whether any cards can be there.
    """
    holds_any = True
    for clubs in range(min(num_cards, popcount(hidden[0])) + 1):
        for diamonds in range(min(num_cards - clubs, popcount(hidden[1])) + 1):
            for hearts in range(min(num_cards - clubs - diamonds, popcount(hidden[2])) + 1):
                spades = num_cards - clubs - diamonds - hearts
                if spades <= popcount(hidden[3]):
                    new = counts[row.num_counts]
                    split = (clubs, diamonds, hearts, spades, num_claimed)
                    for kind in range(NUM_KINDS):
                        new[kind] = split[kind]
                    agrees = agrees_with_voids(state, row.seat, tricks, new)
                    row.num_counts += 1 if agrees else 0
                    holds_any = holds_any and agrees
    return holds_any


@njit
def add_counts_with_claimed(state, hidden, row, counts, tricks, num_cards):
    """Add the counts of a place of the claimer that holds ``num_cards``, the claimed card among them.

    That was in hand when it was claimed, and was folded before its suit ran out. The last fold between is its own: the
    other cards have deadlines for their folds, but no earliest trick.
    """
    void_since = int(state.void_since[row.seat, suit_of(claiming_card(state))])
    if row.is_folded:
        possible = (tricks & ((1 << void_since) - 1)) >> state.claim_trick << state.claim_trick
        fold = nth_bit(possible, popcount(possible) - 1)
        if fold != 0:
            add_counts(state, hidden, row, counts, tricks & ~fold, num_cards - 1, 1)
    elif void_since == NEVER:
        add_counts(state, hidden, row, counts, 0, num_cards - 1, 1)


@njit
def agrees_with_voids(state, seat, tricks, counts):
    """Whether cards of these ``counts`` can have been folded by ``seat`` in ``tricks``; without tricks: be held now.

    The cards of a suit were folded before it ran out. Sorted by these deadlines, the first n cards need n folds before
    the last of their deadlines; that suffices, because there are only upper bounds.
    """
    for suit in range(NUM_SUITS):
        deadline, due = int(state.void_since[seat, suit]), 0
        if deadline < NEVER:
            for other in range(NUM_SUITS):
                due += counts[other] if state.void_since[seat, other] <= deadline else 0
            if due > popcount(tricks & ((1 << deadline) - 1)):
                return False
    return True


@njit
def count_ways(places):
    """Find what can be left before each place, then fill in the ways, from the last place on."""
    _, rows, counts, taken, left, ways = places
    number, size = len(rows), ways.shape[1]
    ways[0, size - 1] = 1.0
    for place in range(number):
        for index in range(size):
            if ways[place, index] > 0.0:
                for k in range(rows[place].num_counts):
                    if choices_of(left, counts, place, index, k) > 0.0:
                        following = index - taken[place, k]
                        for kind in range(NUM_KINDS):
                            left[place + 1, following, kind] = (
                                left[place, index, kind] - counts[place, k, kind]
                            )
                        remains = place == number - 1 and left[place + 1, following, CLAIMED] > 0
                        ways[place + 1, following] = 0.0 if remains else 1.0
    for place in range(number - 1, -1, -1):
        for index in range(size):
            if ways[place, index] > 0.0:
                total = 0.0
                for k in range(rows[place].num_counts):
                    choices = choices_of(left, counts, place, index, k)
                    if choices > 0.0:
                        total += choices * ways[place + 1, index - taken[place, k]]
                ways[place, index] = total


@njit(inline="always")  # a call with array arguments counts references to them
def choices_of(left, counts, place, index, k):
    """The number of ways to choose the cards of the ``k``-th counts of ``place`` from what is left, by its number."""
    number = 1.0
    for kind in range(NUM_KINDS):
        number *= BINOMIALS[left[place, index, kind], counts[place, k, kind]]
    return number


@njit
def sample_counts(generator, places, place, index):
    """The index of counts for ``place``, sampled in proportion to the ways with each; at least one is possible."""
    _, rows, counts, taken, left, ways = places
    rest = unit_interval(next_uint64(generator)) * ways[place, index]
    drawn = NONE
    for k in range(rows[place].num_counts):
        choices = choices_of(left, counts, place, index, k)
        if choices > 0.0 and ways[place + 1, index - taken[place, k]] > 0.0:
            drawn = k
            rest -= choices * ways[place + 1, index - taken[place, k]]
            if rest < 0.0:
                break
    return drawn
