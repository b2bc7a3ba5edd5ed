"""Cards in Cat Te, and what the table tells about them: who led and won, who folded when, which suits ran out.

A set of cards is one integer. ``tricks`` is the number of tricks completed, and ``mover`` the seat to move (after the
end: the one that ended the round). Small numbers are packed into one integer:

- ``leaders``: who led trick 0, 1, .. ``tricks``, 3 bits each.
- ``voids``: for each suit, 3 bits each, the first trick in which a seat showed another card although that suit was
  led; NEVER if it did not. From then on it has no card of the suit.
- ``counts``: cards of each suit, 4 bits each. Taking cards away is one subtraction.
- ``folds``: a set of tricks, one bit each.
"""

from __future__ import annotations

import numba

from catbox_env.games.cat_te.rules import HAND_SIZE, NUM_CARDS, NUM_SUITS, NUM_TRICKS
from catbox_env.games.cat_te.state import BLIND_TRICK, LAST_TRICK, NONE, NUM_EARLY_TRICKS, ONE_SUIT

#: Later than every trick.
NEVER = 7
NO_VOIDS = NEVER * 0o1111


@numba.njit
def nth_card(cards, n):
    """The n-th (from 0) lowest of a set of cards, as a set of one."""
    for _ in range(n):
        cards &= cards - 1
    return cards & -cards


@numba.njit
def card_of(single):
    """The card of a set of one."""
    card = 0
    while single > 1:
        single >>= 1
        card += 1
    return card


@numba.njit
def size(cards):
    """Cards in a set, or ones in any integer that is not negative."""
    number = 0
    while cards:
        cards &= cards - 1
        number += 1
    return number


@numba.njit
def packed(numbers, i):
    """The i-th of the numbers that are packed into one integer, 3 bits each."""
    return (numbers >> (3 * i)) & 7


@numba.njit
def trick_winner(params, state, trick, led):
    """The seat that shows the highest card of suit ``led`` in ``trick``."""
    winner, best = NONE, NONE
    for seat in range(params.num_players):
        card = int(state.faceup[seat, trick])
        if card > best and (card & 3) == led:
            winner, best = seat, card
    return winner


@numba.njit
def leaders_of(params, state, tricks):
    """Who led each trick, packed; NONE if one of the completed ones was led by nobody."""
    leader = (int(state.dealer) + 1) % params.num_players
    leaders = leader
    for trick in range(tricks):
        card = int(state.faceup[leader, trick])
        if card < 0:
            return NONE
        leader = trick_winner(params, state, trick, card & 3)
        leaders |= leader << (3 * (trick + 1))
    return leaders


@numba.njit
def turn_of(params, state, seat):
    """0 for the leader of the trick under way, 1 for the next seat clockwise, and so on."""
    return (int(seat) - int(state.leader)) % params.num_players


@numba.njit
def num_played(params, state, seat, tricks, mover):
    """Cards that ``seat`` has played, face up or down: one in each trick in which it had its turn."""
    if not state.in_round[seat]:
        return NUM_EARLY_TRICKS
    return tricks + (1 if turn_of(params, state, seat) < turn_of(params, state, mover) else 0)


@numba.njit
def is_blind(params, trick):
    """Whether the followers of ``trick`` choose their cards face down, to be shown together."""
    return params.eliminates != 0 and trick == BLIND_TRICK


@numba.njit
def has_chosen(params, state, seat, tricks, played):
    """Whether ``seat``, which has played that many cards, has chosen one blind that is not shown yet."""
    return is_blind(params, tricks) and seat != state.leader and played > tricks


@numba.njit
def fold_tricks(params, state, seat, played):
    """The set of the tricks in which ``seat`` folded."""
    folds = 0
    for trick in range(min(played, LAST_TRICK)):
        if state.faceup[seat, trick] < 0 and not is_blind(params, trick):
            folds |= 1 << trick
    return folds


@numba.njit
def voids_of(params, state, leaders, seat, played):
    """The suits that ``seat`` ran out of, packed: see above."""
    voids = NO_VOIDS
    for trick in range(min(played, LAST_TRICK)):
        card = int(state.faceup[seat, trick])
        led = int(state.faceup[packed(leaders, trick), trick]) & 3
        if card >= 0 and (card & 3) != led and not is_blind(params, trick) and packed(voids, led) == NEVER:
            voids ^= (NEVER ^ trick) << (3 * led)
    return voids


@numba.njit
def count_of(counts, suit):
    """Cards of ``suit`` in packed counts."""
    return (counts >> (4 * suit)) & 15


@numba.njit
def counts_of(cards):
    """How many cards of each suit a set holds, packed."""
    counts = 0
    for suit in range(NUM_SUITS):
        counts |= size(cards & (ONE_SUIT << suit)) << (4 * suit)
    return counts


@numba.njit
def folds_before(folds, trick):
    """How many of the ``folds``, a set of tricks, came before ``trick``."""
    return size(folds & ((1 << trick) - 1))


@numba.njit
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


@numba.njit
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


@numba.njit
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


@numba.njit
def claimed_card(state):
    """The card that was claimed with, next above the upturned one; NONE if nobody has claimed."""
    return int(state.upturned) + NUM_SUITS if state.claimed >= 0 else NONE


@numba.njit
def shows(state, seat, card):
    """Whether ``card`` lies face up with ``seat``."""
    shown = False
    for trick in range(NUM_TRICKS):
        shown = shown or state.faceup[seat, trick] == card
    return shown


@numba.njit
def is_sound_table(params, state, tricks, mover):
    """Whether what everybody sees hangs together: who led, showed, folded and claimed what, and who is still in.

    Every field of ``state`` has a value in its range. Of the cards, only those that are shown are looked at.
    """
    leaders = leaders_of(params, state, tricks)
    if leaders == NONE or packed(leaders, tricks) != state.leader:
        return False
    led = int(state.faceup[state.leader, tricks]) if tricks < NUM_TRICKS else NONE
    if state.led != (led & 3 if led >= 0 else NONE):
        return False
    if not state.in_round[state.leader] or not state.in_round[mover]:
        return False
    for seat in range(params.num_players):
        if not is_sound_seat(params, state, leaders, seat, tricks, mover):
            return False
    return is_sound_claim(params, state, leaders, tricks, mover)


@numba.njit
def is_sound_seat(params, state, leaders, seat, tricks, mover):
    """Whether the tricks that ``seat`` won, its folds, and what it shows are those of the tricks played."""
    won, early = 0, 0
    for trick in range(tricks):
        if packed(leaders, trick + 1) == seat:
            won += 1
            early += 1 if trick < NUM_EARLY_TRICKS else 0
    if won != state.tricks_won[seat] or early != state.early_tricks[seat]:
        return False
    out = params.eliminates != 0 and tricks >= NUM_EARLY_TRICKS and early == 0
    if state.in_round[seat] != (0 if out else 1):
        return False
    played = num_played(params, state, seat, tricks, mover)
    if state.num_folded[seat] != size(fold_tricks(params, state, seat, played)):
        return False
    voids = voids_of(params, state, leaders, seat, played)
    for trick in range(NUM_TRICKS):
        card = int(state.faceup[seat, trick])
        if card < 0:
            shows = trick == LAST_TRICK or (is_blind(params, trick) and trick < tricks)
            if trick < played and (shows or packed(leaders, trick) == seat):
                return False
            continue
        if trick >= played or packed(voids, card & 3) < trick:
            return False
        if is_blind(params, trick) and trick == tricks and packed(leaders, trick) != seat:
            return False
        follows = (card & 3) == int(state.faceup[packed(leaders, trick), trick]) & 3
        free = params.offsuit_faceup != 0 or is_blind(params, trick) or trick == LAST_TRICK
        if not follows and not free:
            return False
    return True


@numba.njit
def nobody_swept(params, state):
    """Whether a round goes on after the early tricks: nobody who eliminates all others has won them all."""
    for seat in range(params.num_players):
        if params.eliminates and state.early_tricks[seat] == NUM_EARLY_TRICKS:
            return False
    return True


@numba.njit
def is_sound_claim(params, state, leaders, tricks, mover):
    """Whether somebody can have claimed when and with the card that ``state`` says, as far as all can see."""
    seat, claim_trick = int(state.claimed), int(state.claim_trick)
    if seat == NONE or params.side_pot == 0:
        return seat == NONE and claim_trick == NONE
    card = claimed_card(state)
    if card >= NUM_CARDS or not 0 <= claim_trick <= min(int(state.trick), BLIND_TRICK):
        return False
    if claim_trick >= NUM_EARLY_TRICKS and not state.in_round[seat]:
        return False
    if claim_trick == tricks and turn_of(params, state, seat) > turn_of(params, state, mover):
        return False
    played = num_played(params, state, seat, tricks, mover)
    if packed(voids_of(params, state, leaders, seat, played), card & 3) < claim_trick:
        return False
    for other in range(params.num_players):
        for trick in range(NUM_TRICKS):
            if state.faceup[other, trick] == card:
                return other == seat and trick >= claim_trick
    return True


@numba.njit
def is_sound_hand(params, state, leaders, seat, tricks, mover):
    """Whether ``seat``, of which every card is known, can hold, have chosen and have folded what it does."""
    played = num_played(params, state, seat, tricks, mover)
    hand, folded, chosen = int(state.hand[seat]), int(state.folded[seat]), int(state.chosen[seat])
    if size(hand) != HAND_SIZE - played or size(folded) != state.num_folded[seat]:
        return False
    if (chosen >= 0) != has_chosen(params, state, seat, tricks, played):
        return False
    voids = voids_of(params, state, leaders, seat, played)
    folds = fold_tricks(params, state, seat, played)
    held = hand | (1 << chosen) if chosen >= 0 else hand
    if not agrees_with_voids(counts_of(held), 0, voids):
        return False
    card = claimed_card(state) if seat == state.claimed else NONE
    if card >= 0 and (folded >> card) & 1:
        folds = folds_without_claimed(folds, voids, card & 3, int(state.claim_trick))
        return folds != NONE and agrees_with_voids(counts_of(folded & ~(1 << card)), folds, voids)
    if card >= 0 and not (held >> card) & 1 and not shows(state, seat, card):
        return False
    return agrees_with_voids(counts_of(folded), folds, voids)
