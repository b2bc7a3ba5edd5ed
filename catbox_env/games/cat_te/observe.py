"""What a seat of Cat Te sees of a position.

The parts of the observation and of the full state are declared, written, and read back into a state.

Seats are relative: 0 is the observer, 1 the next seat clockwise. ``params.at.NAME`` is the offset of a part, in the
state vector ``params.state_at.NAME``.
"""

from __future__ import annotations

from catbox_env.core.bits import (
    INT8_MAX,
    absolute_seat,
    next_seat,
    one_hot_index,
    relative_seat,
)
from catbox_env.core.compilation import njit
from catbox_env.core.layout import Layout, Part
from catbox_env.games.cat_te.play import (
    award_trick,
    card_at,
    clear_table,
    has_swept,
    is_blind,
    pass_turn,
    play_face_up,
    rank_of,
    suit_of,
    tricks_won,
)
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    NUM_CARDS,
    NUM_EARLY_TRICKS,
    NUM_RANKS,
    NUM_SUITS,
    NUM_TRICKS,
    Rules,
)
from catbox_env.games.cat_te.state import NONE, UNKNOWN_CARD
from catbox_env.games.standings import exact_score_part, read_score, score_part, write_score

#: A face-up card is two adjacent one-hot vectors.
CARD_WIDTH = NUM_RANKS + NUM_SUITS


def observation_layout(rules: Rules) -> Layout:
    """The parts of an observation under ``rules``."""
    own = [
        Part("hand", (NUM_CARDS,), "own cards"),
        Part("folded", (NUM_CARDS,), "own folded cards"),
        Part("chosen", (NUM_CARDS,), "own blind choice, one-hot, until all are shown"),
    ]
    return Layout([*own, *_public_parts(rules)])


def state_layout(rules: Rules) -> Layout:
    """The parts of the full state under ``rules``: like an observation, with the hidden cards of all seats."""
    by_seat = (rules.num_players, NUM_CARDS)
    hidden = [
        Part("hand", by_seat, "cards by seat"),
        Part("folded", by_seat, "folded cards by seat"),
        Part("chosen", by_seat, "blind choice of each seat, one-hot, until all are shown"),
    ]
    return Layout([*hidden, *_public_parts(rules)])


def _public_parts(rules: Rules) -> list[Part]:
    """What everybody sees, in order."""
    players, rounds, pot = rules.num_players, rules.num_rounds, rules.side_pot > 0
    faceup = (players, NUM_TRICKS, CARD_WIDTH)
    shown = "card shown by seat and trick: rank (13), then suit (4), one-hot; zeros: folded or none yet"
    claimed = "who claimed the side pot in this round, one-hot; zeros: nobody (only with a side pot)"
    claim_trick = "tricks completed when it was claimed, one-hot; zeros: nobody has (only with a side pot)"
    seat = "the observer's own seat, counted from seat 0, one-hot (only for more than one round)"
    side_pot = (
        f"antes in the side pot, divided by the option side_pot, at most {INT8_MAX} (only with a side pot)"
    )
    rounds_left = "rounds after this one (only for more than one round)"
    return [
        Part("faceup", faceup, shown),
        Part("num_folded", (players,), "cards folded", 0, NUM_TRICKS - 1),
        Part("early_tricks", (players,), "tricks won among the first four", 0, NUM_EARLY_TRICKS),
        Part("tricks_won", (players,), "tricks won in this round", 0, NUM_TRICKS),
        Part("in_round", (players,), "1: not eliminated"),
        Part("led_suit", (NUM_SUITS,), "led suit, one-hot; zeros: none"),
        Part("leader", (players,), "who led or will lead this trick, one-hot"),
        Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
        Part("trick", (NUM_TRICKS,), "the trick under way, one-hot; after the end the last one played"),
        Part("upturned", (NUM_CARDS,), "the upturned card, one-hot (only with a side pot)", included=pot),
        Part("claimed", (players,), claimed, included=pot),
        Part("side_pot", (1,), side_pot, 0, INT8_MAX, included=pot),
        Part("dealer", (players,), "who dealt this round, one-hot"),
        Part("rounds_left", (1,), rounds_left, 0, rounds - 1, included=rounds > 1),
        score_part(players, rounds, "antes won in the finished rounds (only for more than one round)"),
        Part("seat", (players,), seat, included=rounds > 1),
        Part("claim_trick", (BLIND_TRICK + 1,), claim_trick, included=pot),
        exact_score_part(players, rounds, *rules.score_bounds),
    ]


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
    at_faceup, at_folded, at_in_round = at.faceup, at.num_folded, at.in_round
    at_early, at_tricks = at.early_tricks, at.tricks_won
    tricks = int(state.trick) + 1
    other = seat
    for i in range(players):
        start, folds = at_faceup + i * NUM_TRICKS * CARD_WIDTH, 0
        for trick in range(tricks):
            card = int(state.faceup[other, trick])
            shown = 1 if card >= 0 else 0
            card = max(card, 0)
            out[start + rank_of(card)] = shown
            out[start + NUM_RANKS + suit_of(card)] = shown
            start += CARD_WIDTH
            folds += (state.fold_tricks[other] >> trick) & 1
        out[at_folded + i] = folds
        out[at_early + i] = tricks_won(state, other, NUM_EARLY_TRICKS)
        out[at_tricks + i] = tricks_won(state, other, NUM_TRICKS)
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
            write_score(at, relative_seat(other, seat, players), int(state.scores[other]), out)
        out[at.seat + seat] = 1


@njit
def write_observation(params, state, seat, out):
    """Write what ``seat`` sees into ``out`` (O,)."""
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
def read_public(params, observation, seat, state):
    """Set the public fields of ``state``, all zeros, from an observation of ``seat``; the inverse of ``write_public``.

    The tricks are played again from the beginning of the round until the seat to move: what follows from them by the
    rules is not read. A blind choice that is not shown yet is UNKNOWN_CARD. Returns False, with ``state`` undefined,
    for a vector without a dealer, a trick or a seat to move, or without cards that lead there.
    """
    players, at = params.num_players, params.at
    last = one_hot_index(observation, at.trick, BLIND_TRICK + 1)
    mover = absolute_seat(one_hot_index(observation, at.to_move, players), seat, players)
    state.dealer = absolute_seat(one_hot_index(observation, at.dealer, players), seat, players)
    if min(last, mover, int(state.dealer)) == NONE:
        return False
    clear_table(params, state)
    while state.trick < last or state.current_player != mover:
        current, trick = int(state.current_player), int(state.trick)
        place = relative_seat(current, seat, players) * NUM_TRICKS + trick
        card = read_card(observation, at.faceup + place * CARD_WIDTH)
        if card != NONE:
            play_face_up(state, current, card)
        elif current == state.leader:
            return False
        elif is_blind(params, trick):
            state.chosen[current] = UNKNOWN_CARD
        else:
            state.fold_tricks[current] |= 1 << trick
        if pass_turn(params, state):
            if trick == last or has_swept(params, state, award_trick(params, state)):
                return False
            state.trick += 1
    state.upturned = NONE
    if params.side_pot > 0:
        state.claim_trick = one_hot_index(observation, at.claim_trick, BLIND_TRICK + 1)
        state.upturned = one_hot_index(observation, at.upturned, NUM_CARDS)
        state.claimed = absolute_seat(one_hot_index(observation, at.claimed, players), seat, players)
    state.rounds_left = observation[at.rounds_left] if params.num_rounds > 1 else 0
    state.pot = players * params.side_pot  # plus earlier rounds' stakes, which the scores lack
    for i in range(players):
        score = read_score(at, observation, i)
        state.scores[absolute_seat(i, seat, players)] = score
        state.pot -= score
    return True
