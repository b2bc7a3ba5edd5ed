"""The check of external states: every seat has its cards, and every trick a winner.

It does not check whether a position is reachable. It ignores elements beyond the seats, ranks and colours of the rules,
and tokens beyond ``num_tokens``: no kernel reads them.
"""

from __future__ import annotations

from catbox_env.core.compilation import njit
from catbox_env.games.cat_in_the_box.play.board import cards_held, has_discarded, moves_in_round, turns_before
from catbox_env.games.cat_in_the_box.play.state import BID, NONE, PLAY


@njit
def check_state(params, state):
    """Whether the game can be played to its end from ``state``; see ``core.kernels.Kernels``."""
    if state.terminated:
        return True
    in_play = state.phase == PLAY
    played = turns_before(params, state, state.leader, state.current_player) if in_play else 0
    completed = params.num_tricks - int(state.tricks_left)
    finished = params.num_rounds - 1 - int(state.rounds_left)
    if state.tricks_left == 0 or (state.phase == BID and params.num_bids == 0):
        return False
    if not in_play and (completed > 0 or state.leader != state.start_player):
        return False
    if state.led != (state.trick_color[state.leader] if played > 0 else NONE):
        return False
    won = 0
    for seat in range(params.num_players):
        if not check_seat(params, state, seat, completed, played, finished):
            return False
        won += int(state.tricks_won[seat])
    moves = finished * params.num_players * (params.num_tricks + (2 if params.num_bids > 0 else 1))
    return (
        won == completed
        and state.rounds_ended <= finished
        and state.num_moves <= moves + moves_in_round(params, state)
    )


@njit
def check_seat(params, state, seat, completed, played, finished):
    """Whether the cards, tokens, points, bid and trick card of ``seat`` are consistent with its turns."""
    has_played = turns_before(params, state, state.leader, seat) < played
    if state.num_tokens[seat] != completed + has_played:
        return False
    if (state.trick_color[seat] != NONE) != has_played or (state.trick_rank[seat] != NONE) != has_played:
        return False
    held = 0
    for rank in range(params.num_ranks):
        held += int(state.hand[seat, rank])
    if held != cards_held(params, state, seat):
        return False
    if (state.discarded[seat] != NONE) != has_discarded(params, state, seat):
        return False
    turn = turns_before(params, state, state.start_player, seat)
    bidding = turns_before(params, state, state.start_player, state.current_player)
    has_bid = params.num_bids > 0 and (state.phase == PLAY or (state.phase == BID and turn < bidding))
    if (state.bids[seat] != NONE) != has_bid:
        return False
    least, most = -params.num_tricks, params.num_tricks + params.num_colors * params.num_ranks
    return finished * least <= state.scores[seat] <= finished * most
