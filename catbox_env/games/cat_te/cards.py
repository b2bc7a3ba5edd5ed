"""Cards in Cat Te, and what everybody sees of them: which card wins, who folded when, which suits ran out.

A set of cards is one integer. ``tricks`` is the number of tricks completed, and ``mover`` the seat to move (after the
end: the one that ended the round). Small numbers are packed into one integer:

- ``leaders``: who led trick 0, 1, .. ``tricks``, 3 bits each.
- ``voids``: for each suit, 3 bits each, the first trick in which a seat showed another card although that suit was
  led; NEVER if it did not. From then on it has no card of the suit.
- ``counts``: cards of each suit, 4 bits each. Taking cards away is one subtraction.
- ``folds``: a set of tricks, one bit each.
"""

from __future__ import annotations

from catbox_env.core.bits import next_seat, popcount
from catbox_env.core.compilation import njit
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    HAND_SIZE,
    LAST_TRICK,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
)
from catbox_env.games.cat_te.state import NONE, ONE_SUIT

#: Bits of a card that are its suit; those above are its rank.
SUIT_BITS = 2
#: Bits of a seat or a trick among packed numbers, and of a count among packed counts.
PACKED_BITS, COUNT_BITS = 3, 4
PACKED_MASK, COUNT_MASK = (1 << PACKED_BITS) - 1, (1 << COUNT_BITS) - 1
#: Later than every trick.
NEVER = PACKED_MASK
#: Packed voids of a seat that ran out of no suit.
NO_VOIDS = sum(NEVER << (PACKED_BITS * suit) for suit in range(NUM_SUITS))


@njit
def suit_of(card):
    """The suit of a card."""
    return card & (NUM_SUITS - 1)


@njit
def rank_of(card):
    """The rank of a card."""
    return card >> SUIT_BITS


@njit
def card_at(rank, suit):
    """The card of that rank and suit."""
    return rank * NUM_SUITS + suit


@njit
def packed(numbers, i):
    """The i-th of the numbers that are packed into one integer, 3 bits each."""
    return (numbers >> (PACKED_BITS * i)) & PACKED_MASK


@njit
def pack(number, i):
    """``number`` as the i-th of packed numbers, all others 0."""
    return number << (PACKED_BITS * i)


@njit
def clear_table(params, state):
    """The beginning of a round but for the cards: nothing played or claimed, everybody in, the first seat to lead."""
    first = next_seat(int(state.dealer), params.num_players)
    state.leader = first
    state.current_player = first
    state.led = NONE
    state.trick = 0
    state.claimed = NONE
    state.claim_trick = NONE
    for seat in range(params.num_players):
        state.folded[seat] = 0
        state.chosen[seat] = NONE
        state.num_folded[seat] = 0
        state.early_tricks[seat] = 0
        state.tricks_won[seat] = 0
        state.in_round[seat] = 1
        for trick in range(NUM_TRICKS):
            state.faceup[seat, trick] = NONE


@njit
def trick_winner(params, state, trick, led):
    """The seat that shows the highest card of suit ``led`` in ``trick``."""
    winner, best = NONE, NONE
    for seat in range(params.num_players):
        card = int(state.faceup[seat, trick])
        if card > best and suit_of(card) == led:
            winner, best = seat, card
    return winner


@njit
def leaders_of(params, state, tricks):
    """Who led each trick, packed; NONE if one of the completed ones was led by nobody."""
    leader = (int(state.dealer) + 1) % params.num_players
    leaders = leader
    for trick in range(tricks):
        card = int(state.faceup[leader, trick])
        if card < 0:
            return NONE
        leader = trick_winner(params, state, trick, suit_of(card))
        leaders |= pack(leader, trick + 1)
    return leaders


@njit
def turn_of(params, state, seat):
    """0 for the leader of the trick under way, 1 for the next seat clockwise, and so on."""
    return (int(seat) - int(state.leader)) % params.num_players


@njit
def num_played(params, state, seat, tricks, mover):
    """Cards that ``seat`` has played, face up or down: one in each trick in which it had its turn."""
    if not state.in_round[seat]:
        return NUM_EARLY_TRICKS
    return tricks + (1 if turn_of(params, state, seat) < turn_of(params, state, mover) else 0)


@njit
def is_blind(params, trick):
    """Whether the followers of ``trick`` choose their cards face down, to be shown together."""
    return params.eliminates != 0 and trick == BLIND_TRICK


@njit
def has_chosen(params, state, seat, tricks, played):
    """Whether ``seat``, which has played that many cards, has chosen one blind that is not shown yet."""
    return is_blind(params, tricks) and seat != state.leader and played > tricks


@njit
def num_held(params, state, seat, played):
    """Cards of ``seat`` in its hand, and its blind choice."""
    return HAND_SIZE - played + has_chosen(params, state, seat, int(state.trick), played)


@njit
def fold_tricks(params, state, seat, played):
    """The set of the tricks in which ``seat`` folded."""
    folds = 0
    for trick in range(min(played, LAST_TRICK)):
        if state.faceup[seat, trick] < 0 and not is_blind(params, trick):
            folds |= 1 << trick
    return folds


@njit
def voids_of(params, state, leaders, seat, played):
    """The suits that ``seat`` ran out of, packed: see above."""
    voids = NO_VOIDS
    for trick in range(min(played, LAST_TRICK)):
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
    """How many cards of each suit a set holds, packed."""
    counts = 0
    for suit in range(NUM_SUITS):
        counts |= pack_count(popcount(cards & (ONE_SUIT << suit)), suit)
    return counts


@njit
def folds_before(folds, trick):
    """How many of the ``folds``, a set of tricks, came before ``trick``."""
    return popcount(folds & ((1 << trick) - 1))


@njit
def any_fold_is_late(folds, voids):
    """Whether one of the ``folds`` came after a suit had run out."""
    for suit in range(NUM_SUITS):
        if packed(voids, suit) != NEVER and folds_before(folds, packed(voids, suit)) < popcount(folds):
            return True
    return False


@njit
def folds_without_claimed(folds, voids, suit, claim_trick):
    """The other folds of a claimer that has folded the claimed card, of ``suit``; NONE if it cannot have.

    It was in hand when it was claimed, in trick ``claim_trick``, and was folded before the suit ran out. Of the folds
    between, the last is taken: the other cards have dates before which they were folded, none after which.
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

    The cards of a suit were folded before it ran out. Sorted by these dates, the first n cards need n folds before
    the last of their dates; that is enough, because the dates only bound from above.
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
def known_cards(params, state):
    """The set of all cards that ``state`` holds, the upturned one too; NONE if one of them is there twice."""
    known = 0
    if state.upturned >= 0:
        known = 1 << int(state.upturned)
    for seat in range(params.num_players):
        for cards in (int(state.hand[seat]), int(state.folded[seat])):
            if known & cards:
                return NONE
            known |= cards
        for place in range(NUM_TRICKS + 1):
            card = int(state.faceup[seat, place]) if place < NUM_TRICKS else int(state.chosen[seat])
            if card >= 0:
                if (known >> card) & 1:
                    return NONE
                known |= 1 << card
    return known


@njit
def claimed_card(state):
    """The card that was claimed with, next above the upturned one; NONE if nobody has claimed."""
    return int(state.upturned) + NUM_SUITS if state.claimed >= 0 else NONE


@njit
def shows(state, seat, card):
    """Whether ``card`` lies face up with ``seat``."""
    shown = False
    for trick in range(NUM_TRICKS):
        shown = shown or state.faceup[seat, trick] == card
    return shown


@njit
def nobody_swept(params, state):
    """Whether a round goes on after the early tricks: nobody who eliminates all others has won them all."""
    for seat in range(params.num_players):
        if params.eliminates and state.early_tricks[seat] == NUM_EARLY_TRICKS:
            return False
    return True
