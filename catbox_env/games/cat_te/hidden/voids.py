"""Public knowledge about a seat's hidden cards in Cat Te: its void suits, and the tricks in which it folded.

Small numbers are packed into one integer:

- ``voids``: for each suit, 3 bits each, the first trick in which a seat showed a card of another suit when that suit
  was led; NEVER if it did not. From then on it has no card of the suit.
- ``counts``: cards of each suit, 4 bits each. Removing cards is one subtraction.
- ``folds``: a set of tricks, one bit each.
"""

from __future__ import annotations

from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.games.cat_te.play.cards import (
    PACKED_BITS,
    PACKED_MASK,
    is_blind,
    num_played,
    pack,
    packed,
    suit_of,
)
from catbox_env.games.cat_te.play.state import NONE, ONE_SUIT
from catbox_env.games.cat_te.rules import LAST_TRICK, NUM_SUITS

#: Bits per count among packed counts.
COUNT_BITS = 4
COUNT_MASK = (1 << COUNT_BITS) - 1
#: Later than every trick.
NEVER = PACKED_MASK
#: Packed voids of a seat without a known void.
NO_VOIDS = sum(NEVER << (PACKED_BITS * suit) for suit in range(NUM_SUITS))


@njit
def voids_of(params, state, leaders, seat):
    """The voids of ``seat``, packed: see above."""
    voids = NO_VOIDS
    for trick in range(min(num_played(params, state, seat), LAST_TRICK)):
        card = int(state.faceup[seat, trick])
        led = suit_of(int(state.faceup[packed(leaders, trick), trick]))
        if card >= 0 and suit_of(card) != led and not is_blind(params, trick) and packed(voids, led) == NEVER:
            voids ^= pack(NEVER ^ trick, led)
    return voids


@njit
def count_of(counts, suit):
    """Cards of ``suit`` in packed counts."""
    return (counts >> (COUNT_BITS * suit)) & COUNT_MASK


@njit
def pack_count(count, suit):
    """``count`` cards of ``suit`` as packed counts, all others 0."""
    return count << (COUNT_BITS * suit)


@njit
def pack_counts(clubs, diamonds, hearts, spades):
    """These counts of the four suits, packed."""
    return pack_count(clubs, 0) | pack_count(diamonds, 1) | pack_count(hearts, 2) | pack_count(spades, 3)


@njit
def counts_of(cards):
    """The number of cards of each suit in a set, packed."""
    counts = 0
    for suit in range(NUM_SUITS):
        counts |= pack_count(popcount(cards & (ONE_SUIT << suit)), suit)
    return counts


@njit
def folds_before(folds, trick):
    """The number of ``folds``, a set of tricks, before ``trick``."""
    return popcount(folds & ((1 << trick) - 1))


@njit
def any_fold_is_late(folds, voids):
    """Whether any of the ``folds`` came after a suit had run out."""
    for suit in range(NUM_SUITS):
        if packed(voids, suit) != NEVER and folds_before(folds, packed(voids, suit)) < popcount(folds):
            return True
    return False


@njit
def folds_without_claimed(folds, voids, suit, claim_trick):
    """The other folds of a claimer that has folded the claimed card, of ``suit``; NONE if it cannot have.

    The card was in hand when it was claimed, in trick ``claim_trick``, and was folded before the suit ran out. The
    last fold between is removed: the other cards have deadlines for their folds, but no earliest trick.
    """
    fold = packed(voids, suit) - 1
    while fold >= claim_trick:
        if (folds >> fold) & 1:
            return folds & ~(1 << fold)
        fold -= 1
    return NONE


@njit
def agrees_with_voids(counts, folds, voids):
    """Whether cards of these ``counts`` can have been folded in the tricks ``folds``; without folds: be held now.

    The cards of a suit were folded before it ran out. Sorted by these deadlines, the first n cards need n folds before
    the last of their deadlines; that suffices, because there are only upper bounds.
    """
    for suit in range(NUM_SUITS):
        date, due = packed(voids, suit), 0
        for other in range(NUM_SUITS):
            if packed(voids, other) <= date:
                due += count_of(counts, other)
        if date < NEVER and due > folds_before(folds, date):
            return False
    return True


@njit
def claimed_card(state):
    """The claimed card, next above the upturned one; NONE if nobody has claimed."""
    return int(state.upturned) + NUM_SUITS if state.claimed >= 0 else NONE
