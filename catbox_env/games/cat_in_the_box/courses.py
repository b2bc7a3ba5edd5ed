"""Whether the completed tricks of a round can have been played at all, and what they tell about a hidden hand.

An observation shows the tokens on the board, but not in which trick each was laid. A *course of play* deals the tokens
out to the tricks: the winner of a trick leads the next, every seat wins as many tricks as shown, and X-tokens are lost
exactly where a seat did not follow. ``course_search`` looks for one.

A seat that led red while no player's token lay on red had no other declaration for any card of its hand, and never got
one again: all its tokens from that trick on are red, so their number tells the trick, and there is one such lead in a
round at most. Every card that the seat still holds is of a rank whose cells were taken in all other colours that it
could declare. A course is *free* when it has no such lead. If a free course leads to what is seen, nothing is known
about the hidden cards; if none does, the hand lies in one of the sets of ranks that the other courses leave.

The first searches are short and in random order; one of them nearly always finds a course where there is one. The last
is long and keeps a table. In about 130,000 positions of random and heuristic play, over all numbers of players and of
colours, it ran out of its budget twice; then nothing is taken to be known about the hidden cards. With one X-token of
such a position taken or given it did so once in about 2,500 times under the default rules, once in fifty with two
players and nine ranks; then the vector is accepted although nobody knows whether it can come up.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.compilation import njit
from catbox_env.games.cat_in_the_box.board import cards_held, cells_of_color
from catbox_env.games.cat_in_the_box.course_search import (
    BUDGET_SPENT,
    FREE,
    IMPOSSIBLE,
    LIMITED,
    can_be_forced,
    keep_set,
    loses_all,
    search_courses,
)
from catbox_env.games.cat_in_the_box.course_table import NUM_WORDS
from catbox_env.games.cat_in_the_box.state import NEUTRAL, NONE, RED

#: Tokens laid in each of the first, short searches, and in the last one, which keeps a table.
SHORT_SEARCHES, SHORT_NODES, MOST_NODES = 20, 400, 1_000_000
#: Boundaries that the table holds, a power of two.
TABLE_SIZE = 1 << 16


@njit
def find_courses(params, state, observer, searches):
    """What the tricks of this round tell of the hidden cards: an outcome, and with LIMITED the sets in ``searches[0]``.

    ``state`` holds the public fields, found sound, the observer's own cards, and all cards that it has not seen as
    undealt. ``searches`` is an array (1,) of SEARCH, all zeros.
    """
    search = searches[0]
    search.noise = 1
    outcome, attempt = BUDGET_SPENT, 0
    while outcome == BUDGET_SPENT and attempt <= SHORT_SEARCHES:
        is_last = attempt == SHORT_SEARCHES
        table = np.zeros((TABLE_SIZE if is_last else 0, NUM_WORDS), np.int64)
        ask(params, state, observer, search)
        outcome = try_all(params, state, search, observer, table, MOST_NODES if is_last else SHORT_NODES)
        attempt += 1
    leader = int(state.leader)
    if outcome == IMPOSSIBLE or state.led != RED or search.all_tokens & cells_of_color(RED, search.ranks):
        return outcome
    # The lead of the trick under way was the forced one. Nothing of it is hidden but the hand.
    ask(params, state, observer, search)
    force(params, state, search, observer, leader)
    for seat in range(search.players):
        search.lost[seat] = search.must_lose[seat]
    if not can_be_forced(search, 0):
        return IMPOSSIBLE
    if search.held == 0 or search.hidden_ranks & ~search.left_ranks == 0:
        return outcome
    keep_set(search)
    return LIMITED


@njit
def ask(params, state, observer, search):
    """The question that a position asks: where the tokens lie, who won tricks, which X-tokens are lost."""
    ranks, colors, players = params.num_ranks, params.num_colors, params.num_players
    search.players, search.ranks, search.colors = players, ranks, colors
    search.tricks = params.num_tricks - int(state.tricks_left)
    search.last = state.leader
    search.leader[0] = state.start_player
    search.forced = NONE
    search.blocked, search.all_tokens, search.hidden_ranks = 0, 0, 0
    search.nodes, search.num_sets = 0, 0
    for rank in range(ranks):
        search.unseen[rank] = state.undealt[rank]
        if state.undealt[rank] > 0:
            search.hidden_ranks |= 1 << rank
    for seat in range(players):
        search.tokens[seat], search.lost[seat] = 0, 0
        search.wins[seat] = state.tricks_won[seat]
        lost = 0
        for color in range(colors):
            search.counts[seat, color] = 0
            lost |= (1 - int(state.x_tokens[seat, color])) << color
        search.must_lose[seat] = lost
        search.may_lose[seat] = lost
        # The X-token of the colour led now, if it was lost now or before.
        if state.trick_color[seat] != NONE and state.trick_color[seat] != state.led:
            search.must_lose[seat] &= ~(1 << int(state.led))
    for color in range(colors):
        for rank in range(ranks):
            owner, cell = int(state.board[color, rank]), 1 << (color * ranks + rank)
            if owner == NEUTRAL:
                search.blocked |= cell
            elif owner >= 0 and (state.trick_color[owner] != color or state.trick_rank[owner] != rank):
                search.all_tokens |= cell
                search.tokens[owner] |= cell
                search.counts[owner, color] += 1


@njit
def try_all(params, state, search, observer, table, most_nodes):
    """Search for a free course, and if there is none for courses in which a seat had to lead red."""
    if search.tricks == 0:
        return FREE if loses_all(search) else IMPOSSIBLE
    for seat in range(NONE, search.players):
        if seat != NONE:
            if search.counts[seat, RED] == 0 or state.trick_color[seat] > RED:
                continue
            force(params, state, search, observer, seat)
        outcome = search_courses(search, table, most_nodes)
        if outcome != IMPOSSIBLE:
            return outcome
    return LIMITED if search.num_sets > 0 else IMPOSSIBLE


@njit
def force(params, state, search, observer, seat):
    """Look for courses in which ``seat`` had to lead red, from where on it laid no other tokens."""
    search.forced = seat
    search.forced_trick = search.tricks - search.counts[seat, RED]
    ranks = (search.tokens[seat] & cells_of_color(RED, search.ranks)) >> (RED * search.ranks)
    if state.trick_color[seat] == RED:
        ranks |= 1 << int(state.trick_rank[seat])
    search.held = 0 if seat == observer else cards_held(params, state, seat)
    if seat == observer:
        for rank in range(search.ranks):
            if state.hand[seat, rank] > 0:
                ranks |= 1 << rank
    search.known_ranks = ranks
