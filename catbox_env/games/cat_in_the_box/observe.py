"""What a seat of Cat in the Box sees of a position.

The parts of the observation and of the full state are declared, written, and read back into a state.

Seats are relative: 0 is the observer, 1 the next seat clockwise. ``params.at.NAME`` is the offset of a part, in the
state vector ``params.state_at.NAME``.

A forced lead reveals information: a seat that leads red before trump is broken could declare no card in another colour.
So its hand holds only ranks whose cells are taken in all those other colours for which it has the X-token. ``declare``
in ``play`` records these ranks when it happens (``forced_leader``, ``forced_ranks``); here they become that seat's row
of ``may_hold``.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import absolute_seat, next_seat, one_hot_index, relative_seat
from catbox_env.core.compilation import njit
from catbox_env.core.layout import Layout, Part
from catbox_env.games.cat_in_the_box.play import cell_at, lay_token, neutral_color
from catbox_env.games.cat_in_the_box.rules import PHASES, Rules
from catbox_env.games.cat_in_the_box.state import NEUTRAL, NONE
from catbox_env.games.standings import exact_score_part, read_score, score_part, write_score

#: The highest score that fits in its field of the state.
INT16_MAX = 2**15 - 1


def observation_layout(rules: Rules) -> Layout:
    """The parts of an observation under ``rules``."""
    hand = Part("hand", (rules.num_ranks,), "own cards of each rank", 0, rules.copies)
    discarded = Part("discarded", (rules.num_ranks,), "own discard, one-hot; zeros: not made")
    return _layout(rules, hand, discarded)


def state_layout(rules: Rules) -> Layout:
    """The parts of the full state under ``rules``: like an observation, with the hands and discards of all seats."""
    by_seat = (rules.num_players, rules.num_ranks)
    hand = Part("hand", by_seat, "cards of each rank by seat", 0, rules.copies)
    discarded = Part("discarded", by_seat, "discard of each seat, one-hot")
    return _layout(rules, hand, discarded)


def _layout(rules: Rules, hand: Part, discarded: Part) -> Layout:
    """All parts in order: the two that differ between an observation and the state, and the public ones."""
    players, ranks, colors, bids = rules.num_players, rules.num_ranks, rules.num_colors, len(rules.bids)
    tricks, rounds = rules.num_tricks, rules.num_rounds
    revealed = rules.revealed_cards
    neutral = "neutral tokens on each cell (only where cards are revealed)"
    rounds_left = "rounds after this one (only for more than one round)"
    return Layout(
        [
            Part("phase", (len(PHASES),), "discard, bid, play: one-hot"),
            hand,
            discarded,
            Part(
                "board",
                (colors, ranks, players),
                "owner of each cell by colour and rank, one-hot; zeros: empty or neutral",
            ),
            Part("neutral", (colors, ranks), neutral, 0, revealed, included=revealed > 0),
            Part("x_tokens", (players, colors), "by seat and colour, 1: the seat may still declare it"),
            Part("bids", (players, bids), "bid of each seat, one-hot; zeros: not made"),
            Part("tricks_won", (players,), "tricks won in this round", 0, tricks),
            Part("led", (colors,), "led colour, one-hot; zeros: none"),
            Part(
                "trick",
                (players, colors, ranks),
                "card of this trick by seat, colour and rank, one-hot; zeros: not played",
            ),
            Part("leader", (players,), "who led or will lead this trick, one-hot"),
            Part("start_player", (players,), "who began this round, one-hot"),
            Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
            Part("trump_broken", (1,), "1: a player's token lies on red"),
            Part("tricks_left", (1,), "tricks not completed in this round", 0, tricks),
            score_part(players, rounds, "points of the finished rounds (only for more than one round)"),
            Part("rounds_left", (1,), rounds_left, 0, rounds - 1, included=rounds > 1),
            Part(
                "may_hold",
                (players, ranks),
                "1: by public knowledge, the seat's hand can still hold the rank; zeros only after a forced red lead",
            ),
            exact_score_part(players, rounds, *rules.score_bounds),
        ]
    )


@njit
def write_public(params, at, state, seat, out):
    """Write what everybody sees into the parts of ``out``, all zero, at the offsets ``at``.

    Offsets and sizes are read once into locals: the compiler assumes that any int8 written may alias them.
    """
    players, ranks, colors = params.num_players, params.num_ranks, params.num_colors
    seat = int(seat)
    out[at.phase + state.phase] = 1
    at_board = at.board
    for other in range(players):
        at_owner = at_board + relative_seat(other, seat, players)
        for i in range(state.num_tokens[other]):
            out[at_owner + players * state.tokens[other, i]] = 1
    if params.revealed_cards > 0:
        for rank in range(ranks):
            for k in range(state.revealed[rank]):
                out[at.neutral + neutral_color(params, k) * ranks + rank] += 1
    at_x_tokens, at_tricks_won = at.x_tokens, at.tricks_won
    other = seat
    for i in range(players):
        for color in range(colors):
            out[at_x_tokens + color] = state.x_tokens[other, color]
        at_x_tokens += colors
        out[at_tricks_won + i] = state.tricks_won[other]
        other = next_seat(other, players)
    if params.num_bids > 0:
        at_bids, num_bids = at.bids, params.num_bids
        for other in range(players):
            bid = int(state.bids[other])
            if bid >= 0:
                out[at_bids + relative_seat(other, seat, players) * num_bids + bid] = 1
    if state.led >= 0:
        out[at.led + state.led] = 1
        at_trick = at.trick
        for other in range(players):
            color = int(state.trick_color[other])
            if color >= 0:
                card = color * ranks + int(state.trick_rank[other])
                out[at_trick + relative_seat(other, seat, players) * colors * ranks + card] = 1
    out[at.leader + relative_seat(int(state.leader), seat, players)] = 1
    out[at.start_player + relative_seat(int(state.start_player), seat, players)] = 1
    if state.current_player >= 0:
        out[at.to_move + relative_seat(int(state.current_player), seat, players)] = 1
    out[at.trump_broken] = state.trump_broken
    out[at.tricks_left] = state.tricks_left
    if params.num_rounds > 1:
        for other in range(players):
            write_score(at, relative_seat(other, seat, players), int(state.scores[other]), out)
        out[at.rounds_left] = state.rounds_left
    at_may_hold = np.uint64(at.may_hold)  # an unsigned index needs no check for negative values
    for i in range(players * ranks):
        out[at_may_hold + np.uint64(i)] = 1


@njit
def write_forced_leader(params, at, state, seat, out):
    """Write the ``may_hold`` row of the seat that had to lead red, if any: the ranks that its hand can hold."""
    if state.forced_leader != NONE:
        row = relative_seat(int(state.forced_leader), seat, params.num_players)
        for rank in range(params.num_ranks):
            out[at.may_hold + row * params.num_ranks + rank] = (int(state.forced_ranks) >> rank) & 1


@njit
def write_observation(params, state, seat, out):
    """Write what ``seat`` sees into ``out`` (O,)."""
    write_public(params, params.at, state, seat, out)
    if state.forced_leader != seat:
        write_forced_leader(params, params.at, state, seat, out)
    at_hand = params.at.hand
    for rank in range(params.num_ranks):
        out[at_hand + rank] = state.hand[seat, rank]
    if state.discarded[seat] >= 0:
        out[params.at.discarded + state.discarded[seat]] = 1


@njit
def write_state(params, state, seat, out):
    """Write everything, seats relative to ``seat``, into ``out`` (S,)."""
    players, ranks = params.num_players, params.num_ranks
    at = params.state_at
    write_public(params, at, state, seat, out)
    write_forced_leader(params, at, state, seat, out)
    for i in range(players):
        other = absolute_seat(i, seat, players)
        for rank in range(ranks):
            out[at.hand + i * ranks + rank] = state.hand[other, rank]
        if state.discarded[other] >= 0:
            out[at.discarded + i * ranks + state.discarded[other]] = 1


@njit
def read_public(params, observation, seat, state):
    """Set the public fields of ``state``, all zeros, from an observation of ``seat``; the inverse of ``write_public``.

    Returns False, with ``state`` undefined, for a vector without a phase, leader, start player or seat to move, with
    more tokens of a seat than it can lay in a round, or with a cell that has both an owner and a neutral token.
    """
    players, ranks, colors = params.num_players, params.num_ranks, params.num_colors
    at = params.at
    state.phase = one_hot_index(observation, at.phase, len(PHASES))
    state.trump_broken = observation[at.trump_broken]
    state.tricks_left = observation[at.tricks_left]
    state.led = one_hot_index(observation, at.led, colors)
    state.rounds_left = observation[at.rounds_left] if params.num_rounds > 1 else 0
    state.leader = absolute_seat(one_hot_index(observation, at.leader, players), seat, players)
    state.start_player = absolute_seat(one_hot_index(observation, at.start_player, players), seat, players)
    state.current_player = absolute_seat(one_hot_index(observation, at.to_move, players), seat, players)
    if min(state.phase, state.leader, state.start_player, state.current_player) < 0:
        return False
    for rank in range(ranks):
        revealed = 0
        for color in range(colors):
            cell = color * ranks + rank
            owner = one_hot_index(observation, at.board + cell * players, players)
            owner = absolute_seat(owner, seat, players)
            state.board[color, rank] = NONE
            if owner != NONE:
                if state.num_tokens[owner] == params.num_tricks:
                    return False
                lay_token(params, state, owner, color, rank)
            if params.revealed_cards > 0 and observation[at.neutral + cell] > 0:
                if owner != NONE:
                    return False
                state.board[color, rank] = NEUTRAL
                revealed += int(observation[at.neutral + cell])
        # One too many is refused in `hidden.read_position`.
        state.revealed[rank] = min(revealed, params.copies + 1)
    for i in range(players):
        other = absolute_seat(i, seat, players)
        for color in range(colors):
            state.x_tokens[other, color] = observation[at.x_tokens + i * colors + color]
        state.bids[other] = one_hot_index(observation, at.bids + i * params.num_bids, params.num_bids)
        state.tricks_won[other] = observation[at.tricks_won + i]
        card = one_hot_index(observation, at.trick + i * colors * ranks, colors * ranks)
        state.trick_color[other], state.trick_rank[other] = cell_at(params, card)
        # What does not fit is out of bounds, and still so when it is clipped: `hidden.is_under_way` refuses it.
        state.scores[other] = max(-INT16_MAX, min(INT16_MAX, read_score(at, observation, i)))
    read_forced_leader(params, observation, seat, state)
    return True


@njit
def read_forced_leader(params, observation, seat, state):
    """The inverse of ``write_forced_leader``."""
    ranks = params.num_ranks
    state.forced_leader, state.forced_ranks = NONE, 0
    for i in range(1, params.num_players):
        may_hold = 0
        for rank in range(ranks):
            may_hold |= int(observation[params.at.may_hold + i * ranks + rank]) << rank
        if may_hold != (1 << ranks) - 1:
            state.forced_leader, state.forced_ranks = absolute_seat(i, seat, params.num_players), may_hold
