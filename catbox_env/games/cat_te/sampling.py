"""Drawing what a seat cannot see: a uniform state among all those that agree with its observation.

What is hidden from the observer: the hands, folded cards and blind choices of the others, and the undealt cards. What
is known about them: their numbers; that the claimed card is one of its claimer's; and that a player who showed a card
of another suit had none of the led suit at that time, so that none is in its hand now, or was folded later.

The hidden cards are drawn one by one; every order of drawing must be equally likely. Where the cards known to be void
of a suit are drawn from fewer cards, the number of candidates depends on what was drawn before. So each draw takes one
of ``most`` places, the largest number that there can be, and if no candidate stands in that place everything begins
anew: then every full draw has the same chance, the product of all 1 / ``most``, and so has every state.
"""

from __future__ import annotations

import numba

from catbox_env.core.rng import random_below
from catbox_env.games.cat_te.observation import (
    CHOSEN,
    DEALER,
    FOLDED,
    HAND,
    SEAT,
    one_hot_index,
    read_public,
    read_set,
)
from catbox_env.games.cat_te.rules import HAND_SIZE, NUM_CARDS, NUM_SUITS, NUM_TRICKS
from catbox_env.games.cat_te.state import ALL_CARDS, BLIND_TRICK, LAST_TRICK, NONE, NUM_EARLY_TRICKS, ONE_SUIT

#: An honest observation needs a few tries, hundreds where a claimed card has few places to lie; one that contradicts
#: itself in a way that `is_sound` does not see would need for ever.
MOST_TRIES = 20_000

#: Kinds of hidden cards of a seat.
IN_HAND, IS_CHOSEN, IS_FOLDED = 0, 1, 2


@numba.njit
def nth_card(cards, n):
    """The n-th (from 0) lowest of a set of cards, as a set of one."""
    for _ in range(n):
        cards &= cards - 1
    return cards & -cards


@numba.njit
def size(cards):
    """Cards in a set."""
    number = 0
    while cards:
        cards &= cards - 1
        number += 1
    return number


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
def sample(params, observation, generator, state):
    """A uniform draw among the states that agree with ``observation``; 1 if none does."""
    observer = observing_seat(params, observation)
    if observer == NONE:
        return 1
    read_public(params, observation, observer, state)
    for seat in range(params.num_players):
        own = seat == observer
        state.hand[seat] = read_set(observation, params.at[HAND]) if own else 0
        state.folded[seat] = read_set(observation, params.at[FOLDED]) if own else 0
        state.chosen[seat] = one_hot_index(observation, params.at[CHOSEN], NUM_CARDS) if own else NONE
    if not is_sound(params, state, observer):
        return 1
    now, ever = possible_suits(params, state)
    for _ in range(MOST_TRIES):
        outcome = draw_hidden(params, generator, state, observer, now, ever)
        if outcome >= 0:
            return outcome
    return 1


@numba.njit
def observing_seat(params, observation):
    """The observer's seat: told in a match, else known from where the dealer sits; NONE if it cannot be."""
    if params.num_rounds > 1:
        return one_hot_index(observation, params.at[SEAT], params.num_players)
    dealer = one_hot_index(observation, params.at[DEALER], params.num_players)
    return (params.dealer - dealer) % params.num_players if dealer >= 0 else NONE


@numba.njit
def is_sound(params, state, observer):
    """Whether the game runs and what everybody sees, with the observer's own cards, hangs together."""
    if state.current_player == NONE or state.trick == NONE or state.dealer == NONE or state.leader == NONE:
        return False
    if state.trick == LAST_TRICK or not 0 <= state.rounds_left < params.num_rounds:
        return False
    if params.side_pot > 0 and (state.upturned == NONE or state.pot < params.num_players * params.side_pot):
        return False
    leader = (state.dealer + 1) % params.num_players
    for trick in range(state.trick):
        if state.faceup[leader, trick] == NONE:
            return False
        leader = trick_winner(params, state, trick, state.faceup[leader, trick] & 3)
    led = int(state.faceup[leader, state.trick])
    if leader != state.leader or state.led != (led & 3 if led >= 0 else NONE):
        return False
    if not state.in_round[leader] or not state.in_round[state.current_player]:
        return False
    for seat in range(params.num_players):
        if not is_sound_seat(params, state, seat):
            return False
    return (
        size(state.hand[observer]) == num_hidden(params, state, observer, IN_HAND)
        and size(state.folded[observer]) == state.num_folded[observer]
        and (state.chosen[observer] >= 0) == (num_hidden(params, state, observer, IS_CHOSEN) == 1)
        and size(unseen_cards(params, state)) == num_unseen(params, state, observer)
        and (state.claimed == NONE or could_claim(params, state, observer))
    )


@numba.njit
def is_sound_seat(params, state, seat):
    """Whether the tricks that ``seat`` won and its cards, shown, chosen and folded, are those of the tricks played."""
    won, early = 0, 0
    leader = (state.dealer + 1) % params.num_players
    for trick in range(state.trick):
        leader = trick_winner(params, state, trick, state.faceup[leader, trick] & 3)
        won += leader == seat
        early += leader == seat and trick < NUM_EARLY_TRICKS
    shown = num_hidden(params, state, seat, IS_CHOSEN) + int(state.num_folded[seat])
    for trick in range(NUM_TRICKS):
        shown += state.faceup[seat, trick] >= 0
    out = params.eliminates != 0 and state.trick >= NUM_EARLY_TRICKS and early == 0
    return (
        won == state.tricks_won[seat]
        and early == state.early_tricks[seat]
        and out == (state.in_round[seat] == 0)
        and state.num_folded[seat] >= 0
        and shown == num_played(params, state, seat)
    )


@numba.njit
def num_played(params, state, seat):
    """Cards that ``seat`` has played, face up or down: one in each trick in which it had its turn."""
    if not state.in_round[seat]:
        return NUM_EARLY_TRICKS
    turn = (int(seat) - state.leader) % params.num_players
    return state.trick + (1 if turn < (state.current_player - state.leader) % params.num_players else 0)


@numba.njit
def could_claim(params, state, observer):
    """Whether the claimed card is one that the claimer shows, has or may have."""
    card = int(state.upturned) + NUM_SUITS
    if card >= NUM_CARDS:
        return False
    for trick in range(NUM_TRICKS):
        if state.faceup[state.claimed, trick] == card:
            return True
    if state.claimed != observer:
        return (unseen_cards(params, state) >> card) & 1 != 0
    own = state.hand[observer] | state.folded[observer]
    return (own >> card) & 1 != 0 or state.chosen[observer] == card


@numba.njit
def num_hidden(params, state, seat, kind):
    """Cards of ``seat`` in its hand, chosen blind and not shown yet, or folded."""
    if kind == IS_FOLDED:
        return int(state.num_folded[seat])
    played = num_played(params, state, seat)
    if kind == IN_HAND:
        return HAND_SIZE - played
    blind = params.eliminates != 0 and state.trick == BLIND_TRICK and seat != state.leader
    return 1 if blind and played > state.trick else 0


@numba.njit
def unseen_cards(params, state):
    """The cards that lie neither open nor with a seat of which ``state`` knows the cards."""
    unseen = ALL_CARDS
    if state.upturned >= 0:
        unseen &= ~(1 << int(state.upturned))
    for seat in range(params.num_players):
        unseen &= ~(state.hand[seat] | state.folded[seat])
        if state.chosen[seat] >= 0:
            unseen &= ~(1 << int(state.chosen[seat]))
        for trick in range(NUM_TRICKS):
            if state.faceup[seat, trick] >= 0:
                unseen &= ~(1 << int(state.faceup[seat, trick]))
    return unseen


@numba.njit
def num_unseen(params, state, observer):
    """How many cards are unseen: all but the observer's six, the upturned one and those that others show."""
    number = NUM_CARDS - HAND_SIZE - (1 if state.upturned >= 0 else 0)
    for seat in range(params.num_players):
        for trick in range(NUM_TRICKS):
            number -= 1 if seat != observer and state.faceup[seat, trick] >= 0 else 0
    return number


@numba.njit
def possible_suits(params, state):
    """The suits that each seat may hold now, and those that it may have folded: 4 bits a seat, seat 0 lowest."""
    now, ever = 0, 0
    for seat in range(params.num_players):
        for suit in range(NUM_SUITS):
            bit = 1 << (NUM_SUITS * seat + suit)
            void = void_since(params, state, seat, suit)
            if void == NUM_TRICKS:
                now |= bit
            if void == NUM_TRICKS or folds_before(state, seat, void) > 0:
                ever |= bit
    return now, ever


@numba.njit
def draw_hidden(params, generator, state, observer, now, ever):
    """One try at the hidden cards of all others: 0 if it succeeded, -1 if it has to be repeated, 1 if none can.

    ``now``, ``ever``: see ``possible_suits``. The cards with the fewest suits to choose from are drawn first: then
    the candidates of most draws hold all those of the earlier ones, and no try is lost.
    """
    for seat in range(params.num_players):
        if seat != observer:
            state.hand[seat] = 0
            state.folded[seat] = 0
            state.chosen[seat] = NONE
    unseen = unseen_cards(params, state)
    claimed = 0
    if state.claimed >= 0:
        claimed = unseen & (1 << (int(state.upturned) + NUM_SUITS))
    left = unseen
    for width in range(NUM_SUITS + 1):
        for seat in range(params.num_players):
            for kind in range(3):
                count = 0 if seat == observer else num_hidden(params, state, seat, kind)
                if count == 0:
                    continue
                suits = suits_of(now, ever, seat, kind)
                if size(suits) != width:
                    continue
                allowed = ONE_SUIT * suits
                most = size(unseen & allowed) - drawn_within(params, state, observer, now, ever, seat, kind)
                for _ in range(count):
                    if most <= 0:
                        return 1
                    place = random_below(generator, most)
                    if place >= size(left & allowed):
                        return -1
                    most -= 1
                    card = nth_card(left & allowed, place)
                    if card == claimed and seat != state.claimed:
                        return -1
                    left &= ~card
                    keep(state, seat, kind, card)
                if kind == IS_FOLDED and not could_fold(params, state, seat, now):
                    return -1
    return -1 if left & claimed else 0


@numba.njit
def keep(state, seat, kind, card):
    """Put a hidden card, a set of one, where it lies."""
    if kind == IN_HAND:
        state.hand[seat] |= card
    elif kind == IS_FOLDED:
        state.folded[seat] |= card
    else:
        number = 0
        while (card >> number) > 1:
            number += 1
        state.chosen[seat] = number


@numba.njit
def suits_of(now, ever, seat, kind):
    """The suits, 4 bits, that the hidden cards of this kind may be of; times ONE_SUIT they are a set of cards."""
    return ((ever if kind == IS_FOLDED else now) >> (NUM_SUITS * seat)) & 0xF


@numba.njit
def drawn_within(params, state, observer, now, ever, seat, kind):
    """Hidden cards drawn before those of ``kind`` of ``seat`` that were certainly of suits that these may be of."""
    suits = suits_of(now, ever, seat, kind)
    number = 0
    for other in range(params.num_players):
        for other_kind in range(3):
            others = suits_of(now, ever, other, other_kind)
            earlier = other < seat or (other == seat and other_kind < kind)
            before = size(others) < size(suits) or (others == suits and earlier)
            if other != observer and before and (others & ~suits) == 0:
                number += num_hidden(params, state, other, other_kind)
    return number


@numba.njit
def void_since(params, state, seat, suit):
    """The first trick in which ``seat`` showed another suit than the led ``suit``; NUM_TRICKS if it never did."""
    last = NUM_EARLY_TRICKS if params.eliminates else LAST_TRICK
    leader = (state.dealer + 1) % params.num_players
    for trick in range(min(state.trick + 1, last)):
        led = int(state.faceup[leader, trick])
        if led < 0:
            break
        card = int(state.faceup[seat, trick])
        if (led & 3) == suit and card >= 0 and (card & 3) != suit:
            return trick
        leader = trick_winner(params, state, trick, led & 3)
    return NUM_TRICKS


@numba.njit
def folds_before(state, seat, trick):
    """Cards that ``seat`` folded before ``trick``, in which it has acted."""
    number = 0
    for earlier in range(trick):
        number += 1 if state.faceup[seat, earlier] < 0 else 0
    return number


@numba.njit
def could_fold(params, state, seat, now):
    """Whether the folded cards can be put in an order that agrees with the suits that ``seat`` ran out of."""
    if suits_of(now, 0, seat, IN_HAND) == 0xF:
        return True
    for suit in range(NUM_SUITS):
        void = void_since(params, state, seat, suit)
        if void < NUM_TRICKS:
            early = 0
            for other in range(NUM_SUITS):
                if void_since(params, state, seat, other) <= void:
                    early += size(state.folded[seat] & (ONE_SUIT << other))
            if early > folds_before(state, seat, void):
                return False
    return True
