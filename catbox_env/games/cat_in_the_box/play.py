"""The rules of Cat in the Box as kernels: dealing, legal actions, actions, tricks, groups and scoring.

Action ids, with R ranks, B bids, C colours:

    0 .. R-1            discard rank id + 1
    R .. R+B-1          bid bids[id - R]
    R+B .. R+B+CR-1     play: k = id - R - B, colour k // R, rank k % R + 1
    R+B+CR              PARADOX, legal only when nothing else is
"""

from __future__ import annotations

from catbox_env.core.bits import largest_group, next_seat, popcount, relative_seat
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.rng import random_below
from catbox_env.games.cat_in_the_box import rules
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
from catbox_env.games.standings import share_win

cell_at = njit(rules.cell_at)

# A round.


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
            state.hand[seat, draw_card(generator, state, left)] += 1
            left -= 1
    for _ in range(params.revealed_cards):
        state.revealed[draw_card(generator, state, left)] += 1
        left -= 1
    block_cells(params, state)


@cached_njit
def clear_round(params, state):
    """Set up an empty board, no hands, every card undealt, everybody with all X-tokens."""
    clear_table(params, state)
    for rank in range(params.num_ranks):
        state.undealt[rank] = params.copies
        state.revealed[rank] = 0
        for seat in range(params.num_players):
            state.hand[seat, rank] = 0


@njit
def clear_table(params, state):
    """Begin a round except for the cards: an empty board, nothing discarded or bid, all X-tokens."""
    state.phase = DISCARD
    state.leader = state.start_player
    state.current_player = state.start_player
    state.led = NONE
    state.trump_broken = 0
    state.forced_leader = NONE
    state.forced_ranks = 0
    state.tricks_left = params.num_tricks
    for rank in range(params.num_ranks):
        for color in range(params.num_colors):
            state.board[color, rank] = NONE
    for seat in range(params.num_players):
        state.discarded[seat] = NONE
        state.bids[seat] = NONE
        state.num_tokens[seat] = 0
        state.tricks_won[seat] = 0
        state.trick_color[seat] = NONE
        state.trick_rank[seat] = NONE
        for color in range(params.num_colors):
            state.x_tokens[seat, color] = 1


@njit
def draw_card(generator, state, left):
    """Take one of the ``left`` undealt cards at random and return its rank."""
    card = random_below(generator, left)
    rank = 0
    while card >= state.undealt[rank]:
        card -= state.undealt[rank]
        rank += 1
    state.undealt[rank] -= 1
    return rank


@njit
def neutral_color(params, k):
    """The colour that the k-th (from 0) revealed card of a rank blocks: the last colour first, never red."""
    return max(RED + 1, params.num_colors - 1 - k)


@cached_njit
def block_cells(params, state):
    """Lay the neutral tokens of the revealed cards."""
    for rank in range(params.num_ranks):
        for k in range(state.revealed[rank]):
            state.board[neutral_color(params, k), rank] = NEUTRAL


# Actions.


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
    first_play = params.first_play
    legal_reds = write_declarations(params, state, seat, RED, first_play, mask)
    legal_others = 0
    for color in range(RED + 1, params.num_colors):
        legal_others += write_declarations(params, state, seat, color, first_play + color * ranks, mask)
    if legal_others > 0:
        if red_is_last_resort(state):
            for rank in range(ranks):
                mask[first_play + rank] = False
    elif legal_reds == 0:
        mask[len(mask) - 1] = True


@njit
def red_is_last_resort(state):
    """Whether the seat to move leads while trump is not broken: it may lead red only if it can lead no other colour."""
    return state.led == NONE and not state.trump_broken


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
def apply(params, generator, state, action):
    """Take a legal action of the seat to move."""
    seat = int(state.current_player)
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
        end_round(params, state, seat)
    else:
        color, rank = cell_at(params, action - params.first_play)
        declare(params, state, seat, color, rank)
        if pass_turn(params, state) == state.leader:
            end_trick(params, state)
            if state.tricks_left == 0:
                end_round(params, state, NONE)


@njit
def public_action(params, state, action):
    """What the other seats see of an action: everything except the rank of a discard."""
    return action if state.phase != DISCARD else HIDDEN


@njit
def pass_turn(params, state):
    """Give the turn to the next seat clockwise and return it."""
    state.current_player = next_seat(int(state.current_player), params.num_players)
    return state.current_player


@njit
def declare(params, state, seat, color, rank):
    """``seat`` plays ``rank`` as ``color``."""
    state.hand[seat, rank] -= 1
    lay_token(params, state, seat, color, rank)
    state.trick_color[seat] = color
    state.trick_rank[seat] = rank
    if color == RED:
        if red_is_last_resort(state):
            state.forced_leader = seat
            state.forced_ranks = ranks_without_declaration(params, state, seat)
        state.trump_broken = 1
    if costs_token(state, seat, color):
        state.x_tokens[seat, state.led] = 0
    if state.led == NONE:
        state.led = color


@cached_njit
def costs_token(state, seat, color):
    """Whether ``seat`` loses its X-token of the led colour by declaring ``color``: it has one, and does not follow."""
    return state.led != NONE and color != state.led and state.x_tokens[seat, state.led] != 0


@njit
def lay_token(params, state, seat, color, rank):
    """Lay a token of ``seat`` on the research board."""
    state.board[color, rank] = seat
    state.tokens[seat, state.num_tokens[seat]] = color * params.num_ranks + rank
    state.num_tokens[seat] += 1


@njit
def ranks_without_declaration(params, state, seat):
    """The set of ranks that ``seat`` could declare in no colour except red."""
    ranks = 0
    for rank in range(params.num_ranks):
        is_open = False
        for color in range(RED + 1, params.num_colors):
            is_open |= (state.x_tokens[seat, color] != 0) & (state.board[color, rank] == NONE)
        ranks |= 0 if is_open else 1 << rank
    return ranks


# Tricks, groups and points.


@njit
def strength(params, state, color, rank):
    """How high a card is in the trick: red above the led colour, each by rank; NONE: it cannot win."""
    if color == RED:
        return params.num_ranks + int(rank)
    return int(rank) if state.led == color or state.led == NONE else NONE


@cached_njit
def trick_winner(params, state):
    """The seat with the strongest card of the trick."""
    winner, best = NONE, NONE
    for seat in range(params.num_players):
        card = strength(params, state, state.trick_color[seat], state.trick_rank[seat])
        if card > best:
            winner, best = seat, card
    return winner


@njit
def end_trick(params, state):
    """Give the trick to its winner, who leads next."""
    winner = trick_winner(params, state)
    for seat in range(params.num_players):
        state.trick_color[seat] = NONE
        state.trick_rank[seat] = NONE
    state.tricks_won[winner] += 1
    state.tricks_left -= 1
    state.leader = winner
    state.current_player = winner
    state.led = NONE


@cached_njit
def largest_group_of(params, state, seat):
    """The largest orthogonally connected group of tokens of ``seat``, the first of equally large ones, as a set.

    Cell (colour, rank) is bit ``colour * (num_ranks + 1) + rank``: the empty column between two rows keeps a step to a
    neighbour, which is a shift, from crossing an edge.
    """
    stride = params.num_ranks + 1
    own = 0
    for color in range(params.num_colors):
        for rank in range(params.num_ranks):
            if state.board[color, rank] == seat:
                own |= 1 << (color * stride + rank)
    return largest_group(own, stride)


@cached_njit
def made_bid(params, state, seat):
    """Whether ``seat`` won exactly its bid, or without bids at most ``bonus_max_tricks``."""
    won = int(state.tricks_won[seat])
    if params.num_bids == 0:
        return won <= params.bonus_max_tricks
    return won == params.bids[state.bids[seat]]


@njit
def end_round(params, state, paradox):
    """Score the round, ended by a paradox of the seat ``paradox`` (NONE: none); the last one ends the game."""
    for seat in range(params.num_players):
        won = int(state.tricks_won[seat])
        bonus = 0
        if seat != paradox and made_bid(params, state, seat):
            bonus = popcount(largest_group_of(params, state, seat))
        points = (-won if seat == paradox else won) + bonus
        state.scores[seat] += points
        state.rewards[seat] = points
        state.info[INFO_SCORE, seat] = points
        state.info[INFO_TRICKS, seat] = won
        state.info[INFO_BID, seat] = params.bids[state.bids[seat]] if params.num_bids > 0 else 0
        state.info[INFO_BONUS, seat] = bonus
        state.info[INFO_PARADOX, seat] = 1 if seat == paradox else 0
    state.round_ended = 1
    state.current_player = NONE
    if state.rounds_left == 0:
        state.terminated = 1
        share_win(params.num_players, state.scores, state.info[INFO_SCORE], state.win_shares)


@njit
def next_round(params, generator, state):
    """Deal the next round, which the next seat clockwise starts."""
    state.rounds_left -= 1
    state.start_player = next_seat(int(state.start_player), params.num_players)
    deal_round(params, generator, state)


# What everybody at the table knows.


@njit
def has_discarded(params, state, seat):
    """Whether ``seat`` has discarded; seats do so in turn from the start player."""
    if state.phase != DISCARD:
        return True
    turn = relative_seat(state.current_player, state.start_player, params.num_players)
    return relative_seat(seat, state.start_player, params.num_players) < turn


@njit
def cards_held(params, state, seat):
    """The number of cards in the hand of ``seat``, from public information."""
    aside = 1 if has_discarded(params, state, seat) else 0
    return params.hand_size - aside - int(state.num_tokens[seat])


@njit
def moves_in_round(params, state):
    """Actions taken in this round, which is not over."""
    turn = relative_seat(state.current_player, state.start_player, params.num_players)
    if state.phase == DISCARD:
        return turn
    if state.phase == BID:
        return params.num_players + turn
    moves = params.num_players * (2 if params.num_bids > 0 else 1)
    for seat in range(params.num_players):
        moves += int(state.num_tokens[seat])
    return moves
