"""The rules of Cat in the Box, written once: deal, legal actions, actions, scoring, and sampling of hidden cards.

Action ids, with R ranks, B bids, C colours:

    0 .. R-1            discard rank id + 1
    R .. R+B-1          bid bids[id - R]
    R+B .. R+B+CR-1     play: k = id - R - B, colour k // R, rank k % R + 1
    R+B+CR              PARADOX, legal only when nothing else is
"""

from __future__ import annotations

import numba

from catbox_env.core.kernels import Kernels
from catbox_env.core.rng import random_below
from catbox_env.core.wins import share_win
from catbox_env.games.cat_in_the_box.observation import (
    DISCARDED,
    HAND,
    ROUNDS_LEFT,
    START_PLAYER,
    TO_MOVE,
    has_discarded,
    lay_token,
    neutral_color,
    one_hot_index,
    read_public,
    write_observation,
    write_state,
)
from catbox_env.games.cat_in_the_box.state import (
    BID,
    DISCARD,
    INFO_BID,
    INFO_BONUS,
    INFO_PARADOX,
    INFO_SCORE,
    INFO_TRICKS,
    NEUTRAL,
    NONE,
    PLAY,
    RED,
)


@numba.njit
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


@numba.njit
def deal_round(params, generator, state):
    """Shuffle, deal, reveal; ``start_player``, ``rounds_left`` and ``scores`` are set."""
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


@numba.njit
def draw(generator, state, left):
    """Take one of the ``left`` undealt cards at random; its rank."""
    card = random_below(generator, left)
    rank = 0
    while card >= state.undealt[rank]:
        card -= state.undealt[rank]
        rank += 1
    state.undealt[rank] -= 1
    return rank


@numba.njit
def clear_round(params, state):
    """An empty board, no hands, every card undealt, everybody with all X-tokens."""
    state.phase = DISCARD
    state.leader = state.start_player
    state.current_player = state.start_player
    state.led = NONE
    state.trump_broken = 0
    state.tricks_left = params.num_tricks
    for rank in range(params.num_ranks):
        state.undealt[rank] = params.copies
        state.revealed[rank] = 0
        for color in range(params.num_colors):
            state.board[color, rank] = NONE
    for seat in range(params.num_players):
        state.discarded[seat] = NONE
        state.bids[seat] = NONE
        state.num_tokens[seat] = 0
        state.tricks_won[seat] = 0
        state.trick_color[seat] = NONE
        state.trick_rank[seat] = NONE
        for rank in range(params.num_ranks):
            state.hand[seat, rank] = 0
        for color in range(params.num_colors):
            state.x_tokens[seat, color] = 1


@numba.njit
def block_cells(params, state):
    """Lay the neutral tokens of the revealed cards."""
    for rank in range(params.num_ranks):
        for k in range(state.revealed[rank]):
            state.board[neutral_color(params, k), rank] = NEUTRAL


@numba.njit
def write_mask(params, state, mask):
    """The legal actions of the seat to move, into ``mask`` (A,)."""
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


@numba.njit
def write_declarations(params, state, seat, color, first, mask):
    """The ranks that ``seat`` may declare as ``color``, who leads aside, from ``mask[first]`` on; how many.

    ``&`` and not ``and``: a branch here would be taken or not at random.
    """
    count = 0
    if state.x_tokens[seat, color]:
        for rank in range(params.num_ranks):
            legal = (state.hand[seat, rank] > 0) & (state.board[color, rank] == NONE)
            mask[first + rank] = legal
            count += legal
    return count


@numba.njit
def shown_action(params, state, action):
    """What the other seats see of an action: everything but the rank of a discard."""
    return action if state.phase != DISCARD else -1


@numba.njit
def apply(params, generator, state, action):
    """One legal action of the seat to move."""
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


@numba.njit
def pass_turn(params, state):
    """Give the turn to the next seat clockwise and return it."""
    following = state.current_player + 1
    state.current_player = following if following < params.num_players else 0
    return state.current_player


@numba.njit
def declare(params, state, seat, color, rank):
    """``seat`` plays ``rank`` as ``color``; a follower that leaves the led colour gives up its X-token."""
    state.hand[seat, rank] -= 1
    lay_token(params, state, seat, color, rank)
    state.trick_color[seat] = color
    state.trick_rank[seat] = rank
    if color == RED:
        state.trump_broken = 1
    if state.led == NONE:
        state.led = color
    elif color != state.led:
        state.x_tokens[seat, state.led] = 0


@numba.njit
def end_trick(params, state):
    """The highest red card wins, or else the highest of the led colour; its player leads next."""
    winner, best = NONE, NONE
    for seat in range(params.num_players):
        strength = NONE
        if state.trick_color[seat] == RED:
            strength = params.num_ranks + int(state.trick_rank[seat])
        elif state.trick_color[seat] == state.led:
            strength = int(state.trick_rank[seat])
        if strength > best:
            winner, best = seat, strength
        state.trick_color[seat] = NONE
        state.trick_rank[seat] = NONE
    state.tricks_won[winner] += 1
    state.tricks_left -= 1
    state.leader = winner
    state.current_player = winner
    state.led = NONE


@numba.njit
def end_round(params, generator, state, paradox):
    """Score the round, which the seat ``paradox`` ended or nobody (NONE); deal the next or end the game."""
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
        start = state.start_player + 1
        state.start_player = start if start < params.num_players else 0
        deal_round(params, generator, state)
    else:
        state.terminated = 1
        state.current_player = NONE
        share_win(params.num_players, state.scores, state.info[INFO_SCORE], state.win_shares)


@numba.njit
def made_bid(params, state, seat):
    """Whether ``seat`` won exactly its bid, or few enough tricks where there are no bids."""
    won = int(state.tricks_won[seat])
    if params.num_bids == 0:
        return won <= params.bonus_max_tricks
    return won == params.bids[state.bids[seat]]


@numba.njit
def largest_group(params, state, seat):
    """Cells in the largest orthogonally connected group of the tokens of ``seat``.

    Cells are bits, a row of the board after the other with an empty column between, so that a step to a
    neighbour is a shift that cannot run over an edge; a group is flooded until it grows no more.
    """
    stride = params.num_ranks + 1
    own = 0
    for color in range(params.num_colors):
        for rank in range(params.num_ranks):
            if state.board[color, rank] == seat:
                own |= 1 << (color * stride + rank)
    largest = 0
    while own:
        group = own & -own
        grown = 0
        while grown != group:
            grown = group
            group |= own & ((group << 1) | (group >> 1) | (group << stride) | (group >> stride))
        own &= ~group
        size = 0
        while group:
            group &= group - 1
            size += 1
        largest = max(largest, size)
    return largest


@numba.njit
def sample(params, observation, generator, state):
    """A uniform draw among the deals of the unseen cards that agree with ``observation``; 1 if none does."""
    players, ranks = params.num_players, params.num_ranks
    start = one_hot_index(observation, params.at[START_PLAYER], players)
    if start < 0 or one_hot_index(observation, params.at[TO_MOVE], players) < 0:
        return 1
    observer = absolute_seat(params, observation, start, generator)
    read_public(params, observation, observer, state)
    for rank in range(ranks):
        unseen = params.copies - int(state.revealed[rank]) - int(observation[params.at[HAND] + rank])
        for color in range(params.num_colors):
            unseen -= 1 if state.board[color, rank] >= 0 else 0
        state.undealt[rank] = unseen
    own_discard = one_hot_index(observation, params.at[DISCARDED], ranks)
    own_cards = 0
    for rank in range(ranks):
        own_cards += int(observation[params.at[HAND] + rank])
    if state.phase == NONE or own_cards != cards_held(params, state, observer):
        return 1
    if (own_discard >= 0) != has_discarded(params, state, observer):
        return 1
    if own_discard >= 0:
        state.undealt[own_discard] -= 1
    left = 0
    for rank in range(ranks):
        if state.undealt[rank] < 0:
            return 1
        left += int(state.undealt[rank])
    for seat in range(players):
        for rank in range(ranks):
            state.hand[seat, rank] = observation[params.at[HAND] + rank] if seat == observer else 0
        state.discarded[seat] = own_discard if seat == observer else NONE
        if seat == observer:
            continue
        held = cards_held(params, state, seat)
        hidden = held + (1 if has_discarded(params, state, seat) else 0)
        if hidden > left:
            return 1
        for _ in range(held):
            state.hand[seat, draw(generator, state, left)] += 1
            left -= 1
        if hidden > held:
            state.discarded[seat] = draw(generator, state, left)
            left -= 1
    return 0


@numba.njit
def absolute_seat(params, observation, relative_start, generator):
    """The observer's seat: given by who began this round; drawn where the first start player was drawn."""
    players = params.num_players
    if params.start_player == NONE:
        return random_below(generator, players)
    rounds_left = observation[params.at[ROUNDS_LEFT]] if params.num_rounds > 1 else 0
    start = params.start_player + params.num_rounds - 1 - rounds_left
    return (start - relative_start) % players


@numba.njit
def cards_held(params, state, seat):
    """Cards in the hand of ``seat``, from what everybody sees."""
    aside = 1 if has_discarded(params, state, seat) else 0
    return params.hand_size - aside - int(state.num_tokens[seat])


KERNELS = Kernels(deal, apply, write_mask, write_observation, write_state, shown_action, sample)
