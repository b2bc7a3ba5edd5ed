"""Whether a state record is consistent, so that the game can be played on from it, whatever bytes it is made of.

The public fields are checked apart from the hidden cards: the sampler knows only those. Fields are read in an order in
which each is known to be in range before it is an index. Elements beyond the seats, ranks and colours of the rules, and
tokens beyond ``num_tokens``, are not looked at: no kernel reads them.

What is not checked is that play can lead here in every respect: whether the tokens can have come in tricks that go
with the lost X-tokens is a search (``courses``), which the sampler makes of an observation.
"""

from __future__ import annotations

from catbox_env.core.compilation import njit
from catbox_env.core.wins import is_win_shared
from catbox_env.games.cat_in_the_box.board import (
    cards_held,
    has_discarded,
    largest_group,
    made_bid,
    start_player_of,
    turns_before,
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


@njit
def check_state(params, state):
    """Whether the game can be played on from ``state``, of which the fields of ``core`` are checked already."""
    if not check_public(params, state) or not check_cards(params, state):
        return False
    over = state.terminated != 0
    if not check_info(params, state) or (over and not check_end(params, state)):
        return False
    finished = rounds_finished(params, state)
    if state.rounds_ended > finished or state.num_moves > most_moves(params, state):
        return False
    if state.round_ended == 0:
        return not over
    begun = state.phase == DISCARD and state.current_player == state.start_player and finished > 0
    return over or begun


@njit
def check_public(params, state):
    """Whether what everybody sees is consistent."""
    if not in_range(params, state) or not check_board(params, state) or not check_scores(params, state):
        return False
    won = 0
    for seat in range(params.num_players):
        if state.tricks_won[seat] < 0:
            return False
        won += int(state.tricks_won[seat])
    if won != params.num_tricks - state.tricks_left or not check_bids(params, state):
        return False
    if won == 0 and state.leader != state.start_player:
        return False
    if won > 0 and state.tricks_won[state.leader] == 0:
        return False
    if state.phase != PLAY and won > 0:
        return False
    return check_trick(params, state)


@njit
def in_range(params, state):
    """Whether the public fields that are single numbers are in range, and agree with the rules and the phase."""
    players = params.num_players
    if not DISCARD <= state.phase <= PLAY or (state.phase == BID and params.num_bids == 0):
        return False
    if not 0 <= state.start_player < players or not 0 <= state.leader < players:
        return False
    if not NONE <= state.led < params.num_colors or not 0 <= state.trump_broken <= 1:
        return False
    if not 0 <= state.tricks_left <= params.num_tricks or not 0 <= state.rounds_left < params.num_rounds:
        return False
    if state.current_player == NONE:
        return state.phase == PLAY and state.rounds_left == 0
    if state.tricks_left == 0:
        return False
    start = start_player_of(params, int(state.rounds_left))
    return start == NONE or start == state.start_player


@njit
def check_board(params, state):
    """Whether every cell is a neutral token of a revealed card, a token in its owner's list, or empty."""
    colors, ranks = params.num_colors, params.num_ranks
    revealed = 0
    for rank in range(ranks):
        if not 0 <= state.revealed[rank] <= params.copies:
            return False
        revealed += int(state.revealed[rank])
    if revealed != params.revealed_cards:
        return False
    laid, red = 0, 0
    for color in range(colors):
        for rank in range(ranks):
            owner = int(state.board[color, rank])
            blocked = color != RED and state.revealed[rank] >= colors - color
            if (owner == NEUTRAL) != blocked or not NEUTRAL <= owner < params.num_players:
                return False
            laid += owner >= 0
            red += owner >= 0 and color == RED
    if (red > 0) != (state.trump_broken != 0):
        return False
    listed = 0
    for seat in range(params.num_players):
        if not 0 <= state.num_tokens[seat] <= params.num_tricks:
            return False
        for i in range(state.num_tokens[seat]):
            cell = int(state.tokens[seat, i])
            if not 0 <= cell < colors * ranks or state.board[cell // ranks, cell % ranks] != seat:
                return False
            if (listed >> cell) & 1:
                return False
            listed |= 1 << cell
        laid -= int(state.num_tokens[seat])
    return laid == 0


@njit
def check_bids(params, state):
    """Whether exactly the seats whose turn has come have bid."""
    for seat in range(params.num_players):
        turn = turns_before(params, state, state.start_player, seat)
        made = state.phase == PLAY
        if state.phase == BID:
            made = turn < turns_before(params, state, state.start_player, state.current_player)
        if made and params.num_bids > 0:
            if not 0 <= state.bids[seat] < params.num_bids:
                return False
        elif state.bids[seat] != NONE:
            return False
    return True


@njit
def check_trick(params, state):
    """Whether tokens, X-tokens and the cards of this trick agree with the phase, the leader and the seat to move."""
    completed = params.num_tricks - int(state.tricks_left)
    played = cards_in_trick(params, state)
    if played == params.num_players or (state.led == NONE) != (played == 0):
        return False
    if played > 0 and state.led != state.trick_color[state.leader]:
        return False
    for seat in range(params.num_players):
        kept = 0
        for color in range(params.num_colors):
            if not 0 <= state.x_tokens[seat, color] <= 1:
                return False
            kept += int(state.x_tokens[seat, color])
        color, rank = int(state.trick_color[seat]), int(state.trick_rank[seat])
        has_played = turns_before(params, state, state.leader, seat) < played
        if state.num_tokens[seat] != completed + has_played:
            return False
        if has_played:
            if not 0 <= color < params.num_colors or not 0 <= rank < params.num_ranks:
                return False
            if state.board[color, rank] != seat or not state.x_tokens[seat, color]:
                return False
            if color != state.led and state.x_tokens[seat, state.led]:
                return False
            kept += 1 if color != state.led else 0
        elif color != NONE or rank != NONE:
            return False
        if completed == 0 and kept != params.num_colors:
            return False
    return True


@njit
def cards_in_trick(params, state):
    """Cards that lie in the trick under way: by whose turn it is, or after a paradox by what lies there."""
    if state.phase != PLAY:
        return 0
    if state.current_player != NONE:
        return turns_before(params, state, state.leader, state.current_player)
    played = 0
    for seat in range(params.num_players):
        played += state.trick_color[seat] != NONE
    return played


@njit
def rounds_finished(params, state):
    """Rounds of this game that have ended before this position."""
    return params.num_rounds - 1 - int(state.rounds_left) + (1 if state.current_player == NONE else 0)


@njit
def check_scores(params, state):
    """Whether the finished rounds can have paid the scores, by bounds on tricks, on groups and on paradoxes.

    Scores that an observation cannot show (beyond an int8) reach a sampled state clipped, which moves them towards 0.
    """
    finished = rounds_finished(params, state)
    most_tricks, most_tokens, most_lost = round_bounds(params)
    paradoxes, won = 0, 0
    for seat in range(params.num_players):
        score = int(state.scores[seat])
        if score < 0:
            if most_lost == 0:
                return False
            paradoxes += (most_lost - 1 - score) // most_lost
        won += max(0, score - finished * most_tokens)
        if score > finished * most_points(params, most_tricks, most_tokens):
            return False
    return paradoxes <= finished and won <= finished * most_tricks


@njit
def round_bounds(params):
    """Most tricks completed in a round, most tokens of a seat, and most tricks won before a paradox."""
    cells = params.num_colors * params.num_ranks
    tricks = min(params.num_tricks, cells // params.num_players)
    tokens = min(params.num_tricks, (cells + params.num_players - 1) // params.num_players)
    return tricks, tokens, min(tricks, params.num_tricks - 1)


@njit
def most_points(params, most_tricks, most_tokens):
    """Most points of a seat in a round: it wins every trick, or as many as earn it the bonus."""
    most = most_tricks
    if params.num_bids == 0:
        return max(most, min(most_tricks, params.bonus_max_tricks) + most_tokens)
    for i in range(params.num_bids):
        if params.bids[i] <= most_tricks:
            most = max(most, params.bids[i] + most_tokens)
    return most


@njit
def check_cards(params, state):
    """Whether hands and discards have their sizes, and every rank its number of copies."""
    players, ranks = params.num_players, params.num_ranks
    for seat in range(players):
        held = 0
        for rank in range(ranks):
            if not 0 <= state.hand[seat, rank] <= params.copies:
                return False
            held += int(state.hand[seat, rank])
        if held != cards_held(params, state, seat):
            return False
        discarded = int(state.discarded[seat])
        if not NONE <= discarded < ranks or (discarded != NONE) != has_discarded(params, state, seat):
            return False
    for rank in range(ranks):
        if state.undealt[rank] < 0:
            return False
        cards = int(state.undealt[rank]) + int(state.revealed[rank])
        for seat in range(players):
            cards += int(state.hand[seat, rank]) + (1 if state.discarded[seat] == rank else 0)
        for color in range(params.num_colors):
            cards += 1 if state.board[color, rank] >= 0 else 0
        if cards != params.copies:
            return False
    return True


@njit
def check_info(params, state):
    """Whether ``info`` is that of a round, of this game or of the one before it in a batch, or all zeros."""
    tricks, paradoxes = 0, 0
    for seat in range(params.num_players):
        won, bonus = int(state.info[INFO_TRICKS, seat]), int(state.info[INFO_BONUS, seat])
        paradox, bid = int(state.info[INFO_PARADOX, seat]), int(state.info[INFO_BID, seat])
        if not 0 <= won <= params.num_tricks or not 0 <= bonus <= params.num_tricks or not 0 <= paradox <= 1:
            return False
        known = bid == 0
        for i in range(params.num_bids):
            known = known or bid == params.bids[i]
        points = (-won if paradox else won) + bonus
        if not known or state.info[INFO_SCORE, seat] != points or (paradox and bonus > 0):
            return False
        tricks += won
        paradoxes += paradox
    return tricks <= params.num_tricks and paradoxes <= 1


@njit
def check_end(params, state):
    """Whether a state after the end is the end of its last round: ``info`` is what that round was worth."""
    players = params.num_players
    breaker = NONE
    if state.tricks_left > 0:
        breaker = (int(state.leader) + cards_in_trick(params, state)) % players
    elif state.led != NONE:
        return False
    for seat in range(players):
        bonus = 0
        if seat != breaker and made_bid(params, state, seat):
            bonus = largest_group(params, state, seat)
        bid = params.bids[state.bids[seat]] if params.num_bids > 0 else 0
        if state.info[INFO_TRICKS, seat] != state.tricks_won[seat] or state.info[INFO_BID, seat] != bid:
            return False
        broke = state.info[INFO_PARADOX, seat] != 0
        if state.info[INFO_BONUS, seat] != bonus or broke != (seat == breaker):
            return False
    return is_win_shared(params.num_players, state.win_shares)


@njit
def most_moves(params, state):
    """Most actions that this game can have taken; a sampled state has fewer, as its past is left out."""
    seats = params.num_players
    bidding = 1 if params.num_bids > 0 else 0
    in_a_round = seats * (1 + bidding + params.num_tricks)
    moves = (params.num_rounds - 1 - int(state.rounds_left)) * in_a_round
    if state.phase != PLAY:
        turn = turns_before(params, state, state.start_player, state.current_player)
        return moves + turn + (seats if state.phase == BID else 0)
    moves += seats * (1 + bidding)
    for seat in range(seats):
        moves += int(state.num_tokens[seat])
    return moves + (1 if state.current_player == NONE and state.tricks_left > 0 else 0)
