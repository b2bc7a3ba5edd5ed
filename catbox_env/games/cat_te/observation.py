"""What a seat sees, as one int8 vector, and everything there is, as another.

Seats are relative: 0 is the observer, 1 the next seat clockwise. The layouts are built from the rules; their
offsets reach the kernels through ``params.at`` and ``params.state_at``, so no offset is ever typed.
"""

from __future__ import annotations

import numba

from catbox_env.core.layout import Layout, Part
from catbox_env.games.cat_te.rules import NUM_CARDS, NUM_RANKS, NUM_SUITS, NUM_TRICKS, Rules
from catbox_env.games.cat_te.state import BLIND_TRICK, NONE, NUM_EARLY_TRICKS, PARTS

(
    HAND,
    FOLDED,
    CHOSEN,
    FACEUP,
    NUM_FOLDED,
    EARLY_TRICKS,
    TRICKS_WON,
    IN_ROUND,
    LED_SUIT,
    LEADER,
    TO_MOVE,
    TRICK,
    UPTURNED,
    CLAIMED,
    SIDE_POT,
    DEALER,
    ROUNDS_LEFT,
    SCORES,
    SEAT,
    CLAIM_TRICK,
) = range(len(PARTS))

#: A face-up card is two one-hots side by side.
CARD_WIDTH = NUM_RANKS + NUM_SUITS


def _public_parts(rules: Rules) -> list[Part]:
    """The parts that everybody sees; those that a rule set does not need are absent."""
    players = rules.num_players
    parts = [
        Part(
            "faceup",
            (players, NUM_TRICKS, CARD_WIDTH),
            "card shown by seat and trick: rank, then suit, one-hot",
        ),
        Part("num_folded", (players,), "cards folded", 0, NUM_TRICKS - 1),
        Part("early_tricks", (players,), "tricks won among the first four", 0, NUM_EARLY_TRICKS),
        Part("tricks_won", (players,), "tricks won in this round", 0, NUM_TRICKS),
        Part("in_round", (players,), "1: not eliminated"),
        Part("led_suit", (NUM_SUITS,), "led suit, one-hot; zeros: none"),
        Part("leader", (players,), "who led or will lead this trick, one-hot"),
        Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
        Part("trick", (NUM_TRICKS,), "the trick under way, one-hot"),
        Part("dealer", (players,), "who dealt this round, one-hot"),
    ]
    if rules.side_pot:
        parts += [
            Part("upturned", (NUM_CARDS,), "the upturned card, one-hot"),
            Part("claimed", (players,), "who claimed the side pot in this round, one-hot; zeros: nobody"),
            Part("side_pot", (1,), "stakes in the side pot, at most 127 shown", 0, 127),
            Part(
                "claim_trick",
                (BLIND_TRICK + 1,),
                "tricks completed when it was claimed, one-hot; zeros: nobody has",
            ),
        ]
    if rules.num_rounds > 1:
        parts += [
            Part("rounds_left", (1,), "rounds after this one", 0, rules.num_rounds - 1),
            Part("scores", (players,), "antes won in the finished rounds", -128, 127),
            Part("seat", (players,), "the observer's own seat, counted from seat 0, one-hot"),
        ]
    return parts


def _in_order(parts: list[Part]) -> Layout:
    return Layout(sorted(parts, key=lambda part: PARTS.index(part.name)))


def observation_layout(rules: Rules) -> Layout:
    """The parts of an observation under ``rules``."""
    own = [
        Part("hand", (NUM_CARDS,), "own cards"),
        Part("folded", (NUM_CARDS,), "own folded cards"),
        Part("chosen", (NUM_CARDS,), "own blind choice, one-hot, until all are shown"),
    ]
    return _in_order([*own, *_public_parts(rules)])


def state_layout(rules: Rules) -> Layout:
    """The parts of the full state under ``rules``: as an observation, with the hidden cards of all seats."""
    everyones = (rules.num_players, NUM_CARDS)
    hidden = [
        Part("hand", everyones, "cards by seat"),
        Part("folded", everyones, "folded cards by seat"),
        Part("chosen", everyones, "blind choice of each seat, one-hot, until all are shown"),
    ]
    return _in_order([*hidden, *_public_parts(rules)])


def offsets(layout: Layout) -> list[int]:
    """Where each of ``PARTS`` begins in ``layout``, ``NONE`` where it is left out."""
    return [layout[name].offset if name in layout else NONE for name in PARTS]


@numba.njit
def relative_seat(seat, observer, players):
    """``seat`` counted clockwise from ``observer``."""
    return seat - observer if seat >= observer else seat - observer + players


@numba.njit
def write_set(cards, out, start):
    """A set of cards as zeros and ones from ``out[start]`` on; every element written, so no branch is guessed."""
    for card in range(NUM_CARDS):
        out[start + card] = (cards >> card) & 1


@numba.njit
def write_public(params, at, state, seat, out):
    """What everybody sees, into the parts of ``out``, all zero, that begin at ``at``.

    Offsets and sizes are read once into locals: to the compiler every int8 that is written might be one of them. A
    card that is not there is written as a 0 at the place of card 0, because a branch would be taken at random.
    """
    players = params.num_players
    seat = int(seat)
    at_faceup, at_folded, at_early = at[FACEUP], at[NUM_FOLDED], at[EARLY_TRICKS]
    at_tricks, at_in_round = at[TRICKS_WON], at[IN_ROUND]
    tricks = int(state.trick) + 1
    other = seat
    for i in range(players):
        start = at_faceup + i * NUM_TRICKS * CARD_WIDTH
        for trick in range(tricks):
            card = int(state.faceup[other, trick])
            shown = 1 if card >= 0 else 0
            card = max(card, 0)
            out[start + (card >> 2)] = shown
            out[start + NUM_RANKS + (card & 3)] = shown
            start += CARD_WIDTH
        out[at_folded + i] = state.num_folded[other]
        out[at_early + i] = state.early_tricks[other]
        out[at_tricks + i] = state.tricks_won[other]
        out[at_in_round + i] = state.in_round[other]
        other = other + 1 if other + 1 < players else 0
    if state.led >= 0:
        out[at[LED_SUIT] + state.led] = 1
    out[at[LEADER] + relative_seat(int(state.leader), seat, players)] = 1
    if state.current_player >= 0:
        out[at[TO_MOVE] + relative_seat(int(state.current_player), seat, players)] = 1
    out[at[TRICK] + state.trick] = 1
    out[at[DEALER] + relative_seat(int(state.dealer), seat, players)] = 1
    if params.side_pot > 0:
        out[at[UPTURNED] + state.upturned] = 1
        if state.claimed >= 0:
            out[at[CLAIMED] + relative_seat(int(state.claimed), seat, players)] = 1
            out[at[CLAIM_TRICK] + state.claim_trick] = 1
        out[at[SIDE_POT]] = min(127, state.pot // params.side_pot)
    if params.num_rounds > 1:
        out[at[ROUNDS_LEFT]] = state.rounds_left
        for other in range(players):
            score = min(127, max(-128, int(state.scores[other])))
            out[at[SCORES] + relative_seat(other, seat, players)] = score
        out[at[SEAT] + seat] = 1


@numba.njit
def write_observation(params, state, seat, out):
    """What ``seat`` sees, into ``out`` (O,)."""
    for i in range(len(out)):
        out[i] = 0
    write_public(params, params.at, state, seat, out)
    write_set(state.hand[seat], out, params.at[HAND])
    write_set(state.folded[seat], out, params.at[FOLDED])
    if state.chosen[seat] >= 0:
        out[params.at[CHOSEN] + state.chosen[seat]] = 1


@numba.njit
def write_state(params, state, seat, out):
    """Everything, seats relative to ``seat``, into ``out`` (S,)."""
    players = params.num_players
    at = params.state_at
    for i in range(len(out)):
        out[i] = 0
    write_public(params, at, state, seat, out)
    for i in range(players):
        other = seat + i if seat + i < players else seat + i - players
        write_set(state.hand[other], out, at[HAND] + i * NUM_CARDS)
        write_set(state.folded[other], out, at[FOLDED] + i * NUM_CARDS)
        if state.chosen[other] >= 0:
            out[at[CHOSEN] + i * NUM_CARDS + state.chosen[other]] = 1


@numba.njit
def one_hot_index(vector, start, length):
    """The index of the 1 among ``length`` elements of ``vector``, NONE where all are zero."""
    for i in range(length):
        if vector[start + i]:
            return i
    return NONE


@numba.njit
def read_set(vector, start):
    """The inverse of ``write_set``."""
    cards = 0
    for card in range(NUM_CARDS):
        if vector[start + card]:
            cards |= 1 << card
    return cards


@numba.njit
def read_public(params, observation, seat, state):
    """Set the public fields of ``state`` from an observation made by ``seat``; the inverse of ``write_public``."""
    players = params.num_players
    at = params.at
    state.led = one_hot_index(observation, at[LED_SUIT], NUM_SUITS)
    state.trick = one_hot_index(observation, at[TRICK], NUM_TRICKS)
    state.leader = absolute(one_hot_index(observation, at[LEADER], players), seat, players)
    state.current_player = absolute(one_hot_index(observation, at[TO_MOVE], players), seat, players)
    state.dealer = absolute(one_hot_index(observation, at[DEALER], players), seat, players)
    state.upturned, state.claimed, state.claim_trick, state.pot = NONE, NONE, NONE, 0
    if params.side_pot > 0:
        state.claim_trick = one_hot_index(observation, at[CLAIM_TRICK], BLIND_TRICK + 1)
        state.upturned = one_hot_index(observation, at[UPTURNED], NUM_CARDS)
        state.claimed = absolute(one_hot_index(observation, at[CLAIMED], players), seat, players)
        # Everybody pays in, so where the count was cut off at 127 it is at least the next multiple of the players.
        stakes = int(observation[at[SIDE_POT]])
        state.pot = (stakes + players - 1) // players * players * params.side_pot
    state.rounds_left = observation[at[ROUNDS_LEFT]] if params.num_rounds > 1 else 0
    for i in range(players):
        other = (seat + i) % players
        state.num_folded[other] = observation[at[NUM_FOLDED] + i]
        state.early_tricks[other] = observation[at[EARLY_TRICKS] + i]
        state.tricks_won[other] = observation[at[TRICKS_WON] + i]
        state.in_round[other] = observation[at[IN_ROUND] + i]
        state.scores[other] = observation[at[SCORES] + i] if params.num_rounds > 1 else 0
        for trick in range(NUM_TRICKS):
            start = at[FACEUP] + (i * NUM_TRICKS + trick) * CARD_WIDTH
            rank = one_hot_index(observation, start, NUM_RANKS)
            suit = one_hot_index(observation, start + NUM_RANKS, NUM_SUITS)
            state.faceup[other, trick] = rank * NUM_SUITS + suit if rank >= 0 and suit >= 0 else NONE


@numba.njit
def absolute(relative, observer, players):
    """The seat that ``observer`` calls ``relative``; NONE stays NONE."""
    return (relative + observer) % players if relative >= 0 else NONE
