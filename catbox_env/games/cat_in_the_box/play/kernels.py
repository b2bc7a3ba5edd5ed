"""The rules of Cat in the Box as kernels: dealing, legal actions, actions and scoring.

Action ids, with R ranks, B bids, C colours:

    0 .. R-1            discard rank id + 1
    R .. R+B-1          bid bids[id - R]
    R+B .. R+B+CR-1     play: k = id - R - B, colour k // R, rank k % R + 1
    R+B+CR              PARADOX, legal only when nothing else is
"""

from __future__ import annotations

from catbox_env.core.bits import next_seat
from catbox_env.core.compilation import njit
from catbox_env.core.rng import random_below
from catbox_env.games.cat_in_the_box.play.board import (
    block_cells,
    clear_table,
    draw,
    largest_group,
    lay_token,
    made_bid,
    ranks_without_declaration,
)
from catbox_env.games.cat_in_the_box.play.state import (
    BID,
    DISCARD,
    INFO_BID,
    INFO_BONUS,
    INFO_PARADOX,
    INFO_SCORE,
    INFO_TRICKS,
    NONE,
    PLAY,
    RED,
)
from catbox_env.games.cat_in_the_box.play.tricks import end_trick
from catbox_env.games.standings import share_win


@njit
def deal(params, generator, state):
    """Begin a new game: scores at zero, the first round dealt."""
    for seat in range(params.num_players):
        state.scores[seat] = 0
    state.rounds_left = params.num_rounds - 1
    if params.start_player == NONE:
        state.start_player = random_below(generator, params.num_players)
    else:
        state.start_player = params.start_player
    deal_round(params, generator, state)


@njit
def deal_round(params, generator, state):
    """Deal hands and reveal cards, given ``start_player``, ``rounds_left`` and ``scores``."""
    clear_round(params, state)
    left = params.num_ranks * params.copies
    for seat in range(params.num_players):
        for _ in range(params.hand_size):
            state.hand[seat, draw(generator, state, left)] += 1
            left -= 1
    for _ in range(params.revealed_cards):
        state.revealed[draw(generator, state, left)] += 1
        left -= 1
    block_cells(params, state)


@njit
def clear_round(params, state):
    """Set up an empty board, no hands, every card undealt, everybody with all X-tokens."""
    clear_table(params, state)
    for rank in range(params.num_ranks):
        state.undealt[rank] = params.copies
        state.revealed[rank] = 0
        for seat in range(params.num_players):
            state.hand[seat, rank] = 0


@njit
def write_mask(params, state, mask):
    """Write the legal actions of the seat to move into ``mask`` (A,)."""
    for action in range(len(mask)):
        mask[action] = False
    seat = state.current_player
    ranks = params.num_ranks
    if seat < 0:
        return
    if state.phase == DISCARD:
        for rank in range(ranks):
            mask[rank] = state.hand[seat, rank] > 0
        return
    if state.phase == BID:
        for bid in range(params.num_bids):
            mask[ranks + bid] = True
        return
    first_play = ranks + params.num_bids
    legal_reds = write_declarations(params, state, seat, RED, first_play, mask)
    legal_others = 0
    for color in range(RED + 1, params.num_colors):
        legal_others += write_declarations(params, state, seat, color, first_play + color * ranks, mask)
    if legal_others > 0:
        if state.led == NONE and not state.trump_broken:
            for rank in range(ranks):
                mask[first_play + rank] = False
    elif legal_reds == 0:
        mask[len(mask) - 1] = True


@njit
def write_declarations(params, state, seat, color, first, mask):
    """Write the ranks that ``seat`` may declare as ``color``, apart from lead rules, from ``mask[first]`` on; return
    their number.

    ``&`` and not ``and``: a branch here would be unpredictable.
    """
    count = 0
    if state.x_tokens[seat, color]:
        for rank in range(params.num_ranks):
            legal = (state.hand[seat, rank] > 0) & (state.board[color, rank] == NONE)
            mask[first + rank] = legal
            count += legal
    return count


@njit
def public_action(params, state, action):
    """What the other seats see of an action: everything except the rank of a discard."""
    return action if state.phase != DISCARD else -1


@njit
def apply(params, generator, state, action):
    """Take a legal action of the seat to move."""
    seat = int(state.current_player)
    first_play = params.num_ranks + params.num_bids
    if state.phase == DISCARD:
        state.hand[seat, action] -= 1
        state.discarded[seat] = action
        if pass_turn(params, state) == state.start_player:
            state.phase = BID if params.num_bids > 0 else PLAY
    elif state.phase == BID:
        state.bids[seat] = action - params.num_ranks
        if pass_turn(params, state) == state.start_player:
            state.phase = PLAY
    elif action == params.num_actions - 1:
        end_round(params, generator, state, seat)
    else:
        color = (action - first_play) // params.num_ranks
        declare(params, state, seat, color, (action - first_play) % params.num_ranks)
        if pass_turn(params, state) == state.leader:
            end_trick(params, state)
            if state.tricks_left == 0:
                end_round(params, generator, state, NONE)


@njit
def pass_turn(params, state):
    """Give the turn to the next seat clockwise and return it."""
    state.current_player = next_seat(int(state.current_player), params.num_players)
    return state.current_player


@njit
def declare(params, state, seat, color, rank):
    """``seat`` plays ``rank`` as ``color``; a follower that does not follow the led colour loses its X-token."""
    state.hand[seat, rank] -= 1
    lay_token(params, state, seat, color, rank)
    state.trick_color[seat] = color
    state.trick_rank[seat] = rank
    if color == RED:
        if state.led == NONE and not state.trump_broken:  # legal only if nothing else is
            state.forced_leader = seat
            state.forced_ranks = ranks_without_declaration(params, state, seat)
        state.trump_broken = 1
    if state.led == NONE:
        state.led = color
    elif color != state.led:
        state.x_tokens[seat, state.led] = 0


@njit
def end_round(params, generator, state, paradox):
    """Score the round, ended by a paradox of the seat ``paradox`` (NONE: none); deal the next or end the game."""
    for seat in range(params.num_players):
        won = int(state.tricks_won[seat])
        bonus = 0
        if seat != paradox and made_bid(params, state, seat):
            bonus = largest_group(params, state, seat)
        points = (-won if seat == paradox else won) + bonus
        state.scores[seat] += points
        state.rewards[seat] = points
        state.info[INFO_SCORE, seat] = points
        state.info[INFO_TRICKS, seat] = won
        state.info[INFO_BID, seat] = params.bids[state.bids[seat]] if params.num_bids > 0 else 0
        state.info[INFO_BONUS, seat] = bonus
        state.info[INFO_PARADOX, seat] = 1 if seat == paradox else 0
    state.round_ended = 1
    if state.rounds_left > 0:
        state.rounds_left -= 1
        state.start_player = next_seat(int(state.start_player), params.num_players)
        deal_round(params, generator, state)
    else:
        state.terminated = 1
        state.current_player = NONE
        share_win(params.num_players, state.scores, state.info[INFO_SCORE], state.win_shares)
