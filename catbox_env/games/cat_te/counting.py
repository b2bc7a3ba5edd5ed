"""The places of Cat Te that cannot hold every hidden card, and the number of ways to fill them.

A place is the hand of a seat, its blind choice included, or its folded cards. Hidden cards of one kind are
interchangeable: each suit that somebody has run out of is a kind, all other suits together are one, and so is the
claimed card, if it is hidden, which only its claimer can have. So it suffices to know how many cards of each kind a
place takes. These counts, and those of the cards left, are one integer each, with a few bits for each kind, so that
placing cards is a subtraction. The places are filled one after another, and the number of ways to fill the rest depends
only on the counts of the cards left. Places that can hold every hidden card come last and are not counted, because they
can always be filled in the same number of ways.

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
from catbox_env.games.cat_te.play import claiming_card, of_suit, suit_of
from catbox_env.games.cat_te.rules import HAND_SIZE, MAX_PLAYERS, NUM_CARDS, NUM_SUITS, NUM_TRICKS
from catbox_env.games.cat_te.state import NEVER, NONE

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
        # when the cards were, or will be, played, a bit each: the tricks of the folds, or for a hand as many moments
        # after all tricks as it holds cards
        ("times", np.int64),
        ("num_counts", np.int64),  # rows of ``counts`` for this place
    ]
)


class Places(NamedTuple):
    """The places to fill, in order: first the N that cannot hold every hidden card.

    Ways are found by the counts of the cards left, of which the last bits suffice: without the highest kind, which
    follows from the others.
    """

    hidden: np.ndarray  #: (NUM_KINDS,): the sets of the hidden cards of each kind
    shift: np.ndarray  #: (NUM_KINDS,): the first bit of each kind in counts
    mask: np.ndarray  #: (NUM_KINDS,): the bits of each kind in counts, shifted to 0
    rows: np.ndarray  #: of PLACE
    counts: np.ndarray  #: (N or more, MAX_COUNTS): the counts that each of the N places may hold
    #: (N + 1, L): the ways to fill a place and those after it, 1 after the last or if not counted yet
    ways: np.ndarray


@njit
def find_places(params, state, observer, unseen):
    """The places of all seats but ``observer``, and the counts of all hidden cards, which are the set ``unseen``.

    It allocates the memory for all worlds of a sample.
    """
    hidden, common = np.zeros(NUM_KINDS, np.int64), NONE  # the kind of all suits that nobody has run out of
    if state.claimed != NONE and state.claimed != observer:
        hidden[CLAIMED] = unseen & (1 << claiming_card(state))
    for suit in range(NUM_SUITS):
        hidden[suit] = of_suit(unseen & ~hidden[CLAIMED], suit)
        run_out = False
        for seat in range(params.num_players):
            run_out = run_out or (seat != observer and state.void_since[seat, suit] != NEVER)
        if not run_out and common == NONE:
            common = suit
        elif not run_out:
            hidden[common] |= hidden[suit]
            hidden[suit] = 0

    shift, mask, left, bits = np.zeros(NUM_KINDS, np.int64), np.zeros(NUM_KINDS, np.int64), 0, 0
    for i in range(1, NUM_KINDS + 1):
        # The common kind has the highest bits, which follow from the others.
        kind = (max(common, 0) + i) % NUM_KINDS
        shift[kind], number = bits, popcount(hidden[kind])
        left += number << bits
        while mask[kind] < number:
            mask[kind] = 2 * mask[kind] + 1
            bits += 1 if i < NUM_KINDS else 0

    rows = np.zeros(2 * (params.num_players - 1), PLACE)
    counts = np.empty((len(rows), MAX_COUNTS), np.int64)
    limited, last = 0, len(rows)
    first = max(int(state.claimed), 0)  # the places with the most counts come where they multiply nothing
    for turn in range(params.num_players):
        seat = (first + turn) % params.num_players
        if seat != observer:
            hand = ((1 << num_held(state, seat)) - 1) << NUM_TRICKS
            for is_folded in range(2):
                row = rows[limited]
                row.seat, row.times = seat, state.fold_tricks[seat] if is_folded else hand
                if find_counts(state, hidden, shift, row, counts[limited]):
                    last -= 1
                    rows[last] = row
                else:
                    limited += 1
    return Places(hidden, shift, mask, rows, counts, np.ones((limited + 1, 1 << bits))), left


@njit
def num_held(state, seat):
    """The number of cards in the hand of ``seat``, its blind choice included, from public information."""
    held = HAND_SIZE - popcount(state.fold_tricks[seat])
    for trick in range(NUM_TRICKS):
        held -= 1 if state.faceup[seat, trick] >= 0 else 0
    return held


@njit
def find_counts(state, hidden, shift, row, counts):
    """Fill in the counts of a place. Returns whether it can hold all hidden cards, and need not hold any of them."""
    number, claims = popcount(row.times), 1 if hidden[CLAIMED] != 0 and row.seat == state.claimed else 0
    row.num_counts, holds_any = 0, claims == 0
    for claimed in range(claims + 1):
        for clubs in range(min(number - claimed, popcount(hidden[0])) + 1):
            for diamonds in range(min(number - claimed - clubs, popcount(hidden[1])) + 1):
                for hearts in range(min(number - claimed - clubs - diamonds, popcount(hidden[2])) + 1):
                    spades = number - claimed - clubs - diamonds - hearts
                    if spades <= popcount(hidden[3]):
                        by_kind = (clubs, diamonds, hearts, spades, claimed)
                        if can_hold(state, row, by_kind):
                            total = 0
                            for kind in range(NUM_KINDS):
                                total += by_kind[kind] << shift[kind]
                            counts[row.num_counts] = total
                            row.num_counts += 1
                        else:
                            holds_any = False
    return holds_any


@njit
def can_hold(state, row, by_kind):
    """Whether the cards of a place can be these, in number ``by_kind``, as far as its seat has shown.

    The cards of a suit were played before it ran out. Sorted by these deadlines, the first n cards need n times before
    the last of their deadlines; that suffices, because there are only upper bounds. The claimed card was played after
    the claim too. The last time between is its own, because the other cards have no earliest time.
    """
    times = row.times
    if by_kind[CLAIMED] > 0:
        deadline = int(state.void_since[row.seat, suit_of(claiming_card(state))])
        possible = (times & ((1 << deadline) - 1)) >> state.claim_trick << state.claim_trick
        last = nth_bit(possible, popcount(possible) - 1)
        times &= ~last
        if last == 0:
            return False
    for suit in range(NUM_SUITS):
        deadline, due = int(state.void_since[row.seat, suit]), 0
        if deadline < NEVER:
            for other in range(NUM_SUITS):
                due += by_kind[other] if state.void_since[row.seat, other] <= deadline else 0
            if due > popcount(times & ((1 << deadline) - 1)):
                return False
    return True


@njit
def count_ways(places, left):
    """Fill in the ways, from the last place on, and return how many there are to fill all from ``left``."""
    number, size = len(places.ways) - 1, places.ways.shape[1]
    reached = np.zeros(places.ways.shape, np.int64)  # the counts of the cards left; 0: this cannot be left
    reached[0, left & (size - 1)] = left
    for place in range(number):
        for index in range(size):
            if reached[place, index] != 0:
                for k in range(places.rows[place].num_counts):
                    counts = places.counts[place, k]
                    if ways_with(places, place, reached[place, index], counts) > 0.0:
                        following = reached[place, index] - counts
                        reached[place + 1, following & (size - 1)] = following
    for index in range(size):
        places.ways[number, index] = 0.0 if count_of(places, index, CLAIMED) > 0 else 1.0
    for place in range(number - 1, -1, -1):
        for index in range(size):
            if reached[place, index] != 0:
                total = 0.0
                for k in range(places.rows[place].num_counts):
                    total += ways_with(places, place, reached[place, index], places.counts[place, k])
                places.ways[place, index] = total
    return places.ways[0, left & (size - 1)]


@njit
def ways_with(places, place, left, counts):
    """The number of ways to fill ``place`` with cards of these ``counts``, and those after it, from ``left``."""
    ways = places.ways[place + 1, (left - counts) & (places.ways.shape[1] - 1)]
    for kind in range(NUM_KINDS):
        ways *= BINOMIALS[count_of(places, left, kind), count_of(places, counts, kind)]
    return ways


@njit
def count_of(places, counts, kind):
    """The number of cards of ``kind`` in ``counts``."""
    return (counts >> places.shift[kind]) & places.mask[kind]


@njit
def sample_counts(generator, places, place, left):
    """Counts for ``place``, sampled in proportion to the ways with each; at least one way is possible."""
    index = left & (places.ways.shape[1] - 1)
    rest = unit_interval(next_uint64(generator)) * places.ways[place, index]
    drawn = NONE
    for k in range(places.rows[place].num_counts):
        ways = ways_with(places, place, left, places.counts[place, k])
        if ways > 0.0:
            drawn = places.counts[place, k]
            rest -= ways
            if rest < 0.0:
                break
    return drawn
