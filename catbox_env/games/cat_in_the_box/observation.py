"""What a seat sees, as one int8 vector, and everything there is, as another.

Seats are relative: 0 is the observer, 1 the next seat clockwise. The layouts are built from the rules; their
offsets reach the kernels through ``params.at`` and ``params.state_at``, so no offset is ever typed.
"""

from __future__ import annotations

import numba

from catbox_env.core.layout import Layout, Part
from catbox_env.games.cat_in_the_box.board import lay_token, neutral_color, relative_seat
from catbox_env.games.cat_in_the_box.rules import Rules
from catbox_env.games.cat_in_the_box.state import NEUTRAL, NONE, PARTS

(
    PHASE,
    HAND,
    DISCARDED,
    BOARD,
    NEUTRALS,
    X_TOKENS,
    BIDS,
    TRICKS_WON,
    LED,
    TRICK,
    LEADER,
    START_PLAYER,
    TO_MOVE,
    TRUMP_BROKEN,
    TRICKS_LEFT,
    SCORES,
    ROUNDS_LEFT,
) = range(len(PARTS))


def _public_parts(rules: Rules) -> dict[str, Part]:
    """The parts that everybody sees, by name; those that a rule set does not need are absent."""
    players, ranks, colors, bids = rules.num_players, rules.num_ranks, rules.num_colors, len(rules.bids)
    tricks, rounds = rules.num_tricks, rules.num_rounds
    parts = [
        Part("phase", (3,), "discard, bid, play: one-hot"),
        Part("board", (colors, ranks, players), "owner of each cell, one-hot; zeros: empty or neutral"),
        Part("x_tokens", (players, colors), "1: the seat may still declare the colour"),
        Part("bids", (players, bids), "bid of each seat, one-hot; zeros: not made"),
        Part("tricks_won", (players,), "tricks won in this round", 0, tricks),
        Part("led", (colors,), "led colour, one-hot; zeros: none"),
        Part("trick", (players, colors, ranks), "card of this trick by seat, one-hot; zeros: not played"),
        Part("leader", (players,), "who led or will lead this trick, one-hot"),
        Part("start_player", (players,), "who began this round, one-hot"),
        Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
        Part("trump_broken", (1,), "1: a player's token lies on red"),
        Part("tricks_left", (1,), "tricks not completed in this round", 0, tricks),
    ]
    if rules.revealed_cards:
        parts.append(Part("neutral", (colors, ranks), "neutral tokens on each cell", 0, rules.revealed_cards))
    if rounds > 1:
        parts.append(Part("scores", (players,), "points of the finished rounds", -128, 127))
        parts.append(Part("rounds_left", (1,), "rounds after this one", 0, rounds - 1))
    return {part.name: part for part in parts}


def observation_layout(rules: Rules) -> Layout:
    """The parts of an observation under ``rules``."""
    parts = _public_parts(rules)
    parts["hand"] = Part("hand", (rules.num_ranks,), "own cards of each rank", 0, rules.copies)
    parts["discarded"] = Part("discarded", (rules.num_ranks,), "own discard, one-hot; zeros: not made")
    return Layout([parts[name] for name in PARTS if name in parts])


def state_layout(rules: Rules) -> Layout:
    """The parts of the full state under ``rules``: as an observation, with the hands and discards of all seats."""
    parts = _public_parts(rules)
    players, ranks = rules.num_players, rules.num_ranks
    parts["hand"] = Part("hand", (players, ranks), "cards of each rank by seat", 0, rules.copies)
    parts["discarded"] = Part("discarded", (players, ranks), "discard of each seat, one-hot")
    return Layout([parts[name] for name in PARTS if name in parts])


def offsets(layout: Layout) -> list[int]:
    """Where each of ``PARTS`` begins in ``layout``, ``NONE`` where it is left out."""
    return [layout[name].offset if name in layout else NONE for name in PARTS]


@numba.njit
def write_public(params, at, state, seat, out):
    """What everybody sees, into the parts of ``out``, all zero, that begin at ``at``.

    Offsets and sizes are read once into locals: to the compiler every int8 that is written might be one of them.
    """
    players, ranks, colors = params.num_players, params.num_ranks, params.num_colors
    seat = int(seat)
    out[at[PHASE] + state.phase] = 1
    at_board = at[BOARD]
    for other in range(players):
        at_owner = at_board + relative_seat(other, seat, players)
        for i in range(state.num_tokens[other]):
            out[at_owner + players * state.tokens[other, i]] = 1
    if params.revealed_cards > 0:
        for rank in range(ranks):
            for k in range(state.revealed[rank]):
                out[at[NEUTRALS] + neutral_color(params, k) * ranks + rank] += 1
    at_x_tokens, at_tricks_won = at[X_TOKENS], at[TRICKS_WON]
    other = seat
    for i in range(players):
        for color in range(colors):
            out[at_x_tokens + color] = state.x_tokens[other, color]
        at_x_tokens += colors
        out[at_tricks_won + i] = state.tricks_won[other]
        other = other + 1 if other + 1 < players else 0
    if params.num_bids > 0:
        at_bids, num_bids = at[BIDS], params.num_bids
        for other in range(players):
            bid = int(state.bids[other])
            if bid >= 0:
                out[at_bids + relative_seat(other, seat, players) * num_bids + bid] = 1
    if state.led >= 0:
        out[at[LED] + state.led] = 1
        at_trick = at[TRICK]
        for other in range(players):
            color = int(state.trick_color[other])
            if color >= 0:
                card = color * ranks + int(state.trick_rank[other])
                out[at_trick + relative_seat(other, seat, players) * colors * ranks + card] = 1
    out[at[LEADER] + relative_seat(int(state.leader), seat, players)] = 1
    out[at[START_PLAYER] + relative_seat(int(state.start_player), seat, players)] = 1
    if state.current_player >= 0:
        out[at[TO_MOVE] + relative_seat(int(state.current_player), seat, players)] = 1
    out[at[TRUMP_BROKEN]] = state.trump_broken
    out[at[TRICKS_LEFT]] = state.tricks_left
    if params.num_rounds > 1:
        for other in range(players):
            score = min(127, max(-128, int(state.scores[other])))
            out[at[SCORES] + relative_seat(other, seat, players)] = score
        out[at[ROUNDS_LEFT]] = state.rounds_left


@numba.njit
def write_observation(params, state, seat, out):
    """What ``seat`` sees, into ``out`` (O,)."""
    for i in range(len(out)):
        out[i] = 0
    write_public(params, params.at, state, seat, out)
    at_hand = params.at[HAND]
    for rank in range(params.num_ranks):
        out[at_hand + rank] = state.hand[seat, rank]
    if state.discarded[seat] >= 0:
        out[params.at[DISCARDED] + state.discarded[seat]] = 1


@numba.njit
def write_state(params, state, seat, out):
    """Everything, seats relative to ``seat``, into ``out`` (S,)."""
    players, ranks = params.num_players, params.num_ranks
    at = params.state_at
    for i in range(len(out)):
        out[i] = 0
    write_public(params, at, state, seat, out)
    for i in range(players):
        other = seat + i if seat + i < players else seat + i - players
        for rank in range(ranks):
            out[at[HAND] + i * ranks + rank] = state.hand[other, rank]
        if state.discarded[other] >= 0:
            out[at[DISCARDED] + i * ranks + state.discarded[other]] = 1


@numba.njit
def one_hot_index(vector, start, length):
    """The index of the 1 among ``length`` elements of ``vector``, NONE where all are zero."""
    for i in range(length):
        if vector[start + i]:
            return i
    return NONE


@numba.njit
def read_public(params, observation, seat, state):
    """Set the public fields of ``state``, all zeros, from an observation made by ``seat``; ``write_public`` reversed.

    False, and nothing to be relied on, when a seat has more tokens than it can lay in a round.
    """
    players, ranks, colors = params.num_players, params.num_ranks, params.num_colors
    at = params.at
    state.phase = one_hot_index(observation, at[PHASE], 3)
    state.trump_broken = observation[at[TRUMP_BROKEN]]
    state.tricks_left = observation[at[TRICKS_LEFT]]
    state.led = one_hot_index(observation, at[LED], colors)
    state.rounds_left = observation[at[ROUNDS_LEFT]] if params.num_rounds > 1 else 0
    state.leader = absolute_seat(one_hot_index(observation, at[LEADER], players), seat, players)
    state.start_player = absolute_seat(one_hot_index(observation, at[START_PLAYER], players), seat, players)
    state.current_player = absolute_seat(one_hot_index(observation, at[TO_MOVE], players), seat, players)
    for rank in range(ranks):
        revealed = 0
        for color in range(colors):
            cell = color * ranks + rank
            owner = absolute_seat(
                one_hot_index(observation, at[BOARD] + cell * players, players), seat, players
            )
            state.board[color, rank] = NONE
            if owner != NONE:
                if state.num_tokens[owner] == params.num_tricks:
                    return False
                lay_token(params, state, owner, color, rank)
            if params.revealed_cards > 0 and observation[at[NEUTRALS] + cell] > 0:
                state.board[color, rank] = NEUTRAL
                revealed += int(observation[at[NEUTRALS] + cell])
        state.revealed[rank] = min(revealed, params.copies + 1)  # one too many is refused
    for i in range(players):
        other = absolute_seat(i, seat, players)
        for color in range(colors):
            state.x_tokens[other, color] = observation[at[X_TOKENS] + i * colors + color]
        state.bids[other] = one_hot_index(observation, at[BIDS] + i * params.num_bids, params.num_bids)
        state.tricks_won[other] = observation[at[TRICKS_WON] + i]
        card = one_hot_index(observation, at[TRICK] + i * colors * ranks, colors * ranks)
        state.trick_color[other] = card // ranks if card >= 0 else NONE
        state.trick_rank[other] = card % ranks if card >= 0 else NONE
        state.scores[other] = observation[at[SCORES] + i] if params.num_rounds > 1 else 0
    return True


@numba.njit
def absolute_seat(relative, observer, players):
    """The seat that is ``relative`` to ``observer``; NONE for NONE."""
    if relative < 0:
        return NONE
    return relative + observer if relative + observer < players else relative + observer - players
