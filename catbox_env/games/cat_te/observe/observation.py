"""The observation of a seat and the full state, each as an int8 vector.

Seats are relative: 0 is the observer, 1 the next seat clockwise. ``params.at.NAME`` is the offset of a part, in the
state vector ``params.state_at.NAME``; ``layout`` describes the parts.
"""

from __future__ import annotations

from catbox_env.core.bits import (
    INT8_MAX,
    INT8_MIN,
    absolute_seat,
    clear,
    clip_int8,
    next_seat,
    one_hot_index,
    relative_seat,
)
from catbox_env.core.compilation import njit
from catbox_env.games.cat_te.observe.layout import CARD_WIDTH, DIGIT_BASE, NUM_DIGITS
from catbox_env.games.cat_te.play.cards import card_at, rank_of, suit_of
from catbox_env.games.cat_te.play.state import NONE
from catbox_env.games.cat_te.rules import BLIND_TRICK, NUM_CARDS, NUM_RANKS, NUM_SUITS, NUM_TRICKS


@njit
def write_set(cards, out, start):
    """Write a set of cards as zeros and ones from ``out[start]`` on; every element, to avoid mispredicted branches."""
    for card in range(NUM_CARDS):
        out[start + card] = (cards >> card) & 1


@njit
def write_public(params, at, state, seat, out):
    """Write what everybody sees into the parts of ``out``, all zero, at the offsets ``at``.

    Offsets and sizes are read once into locals: the compiler assumes that any int8 written may alias them. A missing
    card is written as a 0 at the place of card 0, because a branch would be unpredictable.
    """
    players = params.num_players
    seat = int(seat)
    at_faceup, at_folded, at_early = at.faceup, at.num_folded, at.early_tricks
    at_tricks, at_in_round = at.tricks_won, at.in_round
    tricks = int(state.trick) + 1
    other = seat
    for i in range(players):
        start = at_faceup + i * NUM_TRICKS * CARD_WIDTH
        for trick in range(tricks):
            card = int(state.faceup[other, trick])
            shown = 1 if card >= 0 else 0
            card = max(card, 0)
            out[start + rank_of(card)] = shown
            out[start + NUM_RANKS + suit_of(card)] = shown
            start += CARD_WIDTH
        out[at_folded + i] = state.num_folded[other]
        out[at_early + i] = state.early_tricks[other]
        out[at_tricks + i] = state.tricks_won[other]
        out[at_in_round + i] = state.in_round[other]
        other = next_seat(other, players)
    if state.led >= 0:
        out[at.led_suit + state.led] = 1
    out[at.leader + relative_seat(int(state.leader), seat, players)] = 1
    if state.current_player >= 0:
        out[at.to_move + relative_seat(int(state.current_player), seat, players)] = 1
    out[at.trick + state.trick] = 1
    out[at.dealer + relative_seat(int(state.dealer), seat, players)] = 1
    if params.side_pot > 0:
        out[at.upturned + state.upturned] = 1
        if state.claimed >= 0:
            out[at.claimed + relative_seat(int(state.claimed), seat, players)] = 1
            out[at.claim_trick + state.claim_trick] = 1
        out[at.side_pot] = min(INT8_MAX, state.pot // params.side_pot)
    if params.num_rounds > 1:
        out[at.rounds_left] = state.rounds_left
        for other in range(players):
            i, score = relative_seat(other, seat, players), int(state.scores[other])
            out[at.scores + i] = clip_int8(score)
            if at.exact_scores >= 0:
                for k in range(NUM_DIGITS):
                    digit = (score - INT8_MIN) % DIGIT_BASE + INT8_MIN
                    out[at.exact_scores + i * NUM_DIGITS + k] = digit
                    score = (score - digit) // DIGIT_BASE
        out[at.seat + seat] = 1


@njit
def write_observation(params, state, seat, out):
    """Write what ``seat`` sees into ``out`` (O,)."""
    clear(out)
    write_public(params, params.at, state, seat, out)
    write_set(state.hand[seat], out, params.at.hand)
    write_set(state.folded[seat], out, params.at.folded)
    if state.chosen[seat] >= 0:
        out[params.at.chosen + state.chosen[seat]] = 1


@njit
def write_state(params, state, seat, out):
    """Write everything, seats relative to ``seat``, into ``out`` (S,)."""
    players = params.num_players
    at = params.state_at
    clear(out)
    write_public(params, at, state, seat, out)
    for i in range(players):
        other = absolute_seat(i, seat, players)
        write_set(state.hand[other], out, at.hand + i * NUM_CARDS)
        write_set(state.folded[other], out, at.folded + i * NUM_CARDS)
        if state.chosen[other] >= 0:
            out[at.chosen + i * NUM_CARDS + state.chosen[other]] = 1


@njit
def read_set(vector, start):
    """The inverse of ``write_set``."""
    cards = 0
    for card in range(NUM_CARDS):
        if vector[start + card]:
            cards |= 1 << card
    return cards


@njit
def read_card(vector, start):
    """The card shown as rank and suit from ``start`` on; NONE if there is none."""
    rank = one_hot_index(vector, start, NUM_RANKS)
    suit = one_hot_index(vector, start + NUM_RANKS, NUM_SUITS)
    return card_at(rank, suit) if rank >= 0 and suit >= 0 else NONE


@njit
def read_score(params, observation, i):
    """The score of the seat that the observer calls ``i``."""
    if params.num_rounds == 1:
        return 0
    if params.at.exact_scores < 0:
        return int(observation[params.at.scores + i])
    score = 0
    for k in range(NUM_DIGITS - 1, -1, -1):
        score = score * DIGIT_BASE + int(observation[params.at.exact_scores + i * NUM_DIGITS + k])
    return score


@njit
def read_public(params, observation, seat, state):
    """Set the public fields of ``state`` from an observation made by ``seat``; the inverse of ``write_public``."""
    players = params.num_players
    at = params.at
    state.led = one_hot_index(observation, at.led_suit, NUM_SUITS)
    state.trick = one_hot_index(observation, at.trick, NUM_TRICKS)
    state.leader = absolute_seat(one_hot_index(observation, at.leader, players), seat, players)
    state.current_player = absolute_seat(one_hot_index(observation, at.to_move, players), seat, players)
    state.dealer = absolute_seat(one_hot_index(observation, at.dealer, players), seat, players)
    state.upturned, state.claimed, state.claim_trick = NONE, NONE, NONE
    if params.side_pot > 0:
        state.claim_trick = one_hot_index(observation, at.claim_trick, BLIND_TRICK + 1)
        state.upturned = one_hot_index(observation, at.upturned, NUM_CARDS)
        state.claimed = absolute_seat(one_hot_index(observation, at.claimed, players), seat, players)
    state.rounds_left = observation[at.rounds_left] if params.num_rounds > 1 else 0
    state.pot = players * params.side_pot  # plus earlier rounds' stakes, which the scores lack
    for i in range(players):
        other = absolute_seat(i, seat, players)
        state.num_folded[other] = observation[at.num_folded + i]
        state.early_tricks[other] = observation[at.early_tricks + i]
        state.tricks_won[other] = observation[at.tricks_won + i]
        state.in_round[other] = observation[at.in_round + i]
        state.scores[other] = read_score(params, observation, i)
        state.pot -= state.scores[other]
        for trick in range(NUM_TRICKS):
            start = at.faceup + (i * NUM_TRICKS + trick) * CARD_WIDTH
            state.faceup[other, trick] = read_card(observation, start)
