"""What the heuristic of Cat in the Box reads from one observation, for all actions at once.

`look` and `look_at_trick` write it into ``view``, a record of `VIEW`. ``rules`` is a record of the ``RuleNumbers`` of
the module ``cat_in_the_box``, ``weights`` one of its ``Weights``, and ``at`` says where each part of the observation
begins.

Sets of cells are bits of one integer: cell (colour, rank) is bit ``colour * (R + 1) + rank``, rank from 0. The
bit between two rows stays empty, so that shifting by 1 and by R + 1 moves to the four neighbours of a cell. Sets of
colours are bits too: colour c is bit c.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from catbox_env.core.bits import one_hot_index, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.games.cat_in_the_box.play.state import RED
from catbox_env.games.cat_in_the_box.rules import MAX_COLORS, MAX_PLAYERS, MAX_RANKS

#: Eagerness of a seat that has played to the trick.
PLAYED = -1.0
#: A chance that has not been computed.
NOT_YET = -1.0

#: What one observation says, in the form the reasons need; colours "kept" are those that may still be declared after
#: the action: all that the seat has (place 0), or all but the one led (place 1).
VIEW = record_dtype(
    [
        # Written by `look`, for every decision.
        ("hand", np.int64, (MAX_RANKS,)),  # cards of each rank in the own hand
        ("unseen", np.int64, (MAX_RANKS,)),  # cards of each rank not seen by the observer
        ("unseen_cards", np.int64),  # all of them, and one more so that it can divide
        ("quantile", np.float64, (MAX_RANKS,)),  # share of the unseen cards that are lower
        ("open", np.int64),  # empty cells
        ("open_colors", np.int64, (MAX_RANKS,)),  # colours in which the rank's cell is empty
        ("mine", np.int64),  # cells with an own token
        ("tokens", np.int64, (MAX_PLAYERS,)),  # colours of a seat's X-tokens
        ("kept", np.int64, (2,)),  # colours kept
        ("usable", np.float64, (2, MAX_RANKS)),  # cards of a rank that will find a cell
        ("strength", np.float64, (2, MAX_RANKS)),  # ... times the chance of each to win a trick
        ("supply_below", np.float64, (2, MAX_RANKS)),  # sums of `usable` over the lower ranks
        ("strength_below", np.float64, (2, MAX_RANKS)),  # sums of `strength` over the lower ranks
        # Written by `look_at_trick`, for plays.
        # unseen cards of this rank or higher with an open cell
        ("above", np.int64, (MAX_COLORS, MAX_RANKS + 1)),
        ("eagerness", np.float64, (MAX_PLAYERS,)),  # chance to try for the trick, or PLAYED
        ("untrumped", np.float64, (MAX_PLAYERS,)),  # chance that a seat does not take the trick with red
        ("following", np.int64),  # seats that have yet to play
        ("over", np.float64),  # chance that a paradox ends the round before the next trick
        ("finished", np.float64),  # chance that the trick is completed
        ("groups", np.int64, (MAX_COLORS * MAX_RANKS,)),  # connected parts of `mine`
        ("num_groups", np.int64),
        ("group", np.int64),  # the largest of them
        ("group_size", np.int64),
        ("reach", np.int64, (2,)),  # cells of the hand's ranks in the colours kept
        ("led", np.int64),  # colour led, -1 = none yet
        ("best_color", np.int64),  # the card that is winning the trick, -1 = none yet
        ("best_rank", np.int64),
        # 1 = the seat winning needs the trick, -1 = it spoils its bonus, 0 = neither
        ("best_need", np.int64),
        ("least", np.int64),  # the bonus needs at least this many more tricks
        ("most", np.int64),  # ... and at most this many
        ("won", np.int64),  # tricks won
        ("tricks_left", np.int64),  # tricks to come, the current one included
        # Kept by `weigh_play` from one play of a rank to the next.
        ("memo", np.int64, (MAX_RANKS,)),  # what the numbers below were computed for, -1 = not yet
        ("expected", np.float64, (MAX_RANKS,)),  # tricks to win after this one
        ("risk", np.float64, (MAX_RANKS,)),  # of a paradox
        ("hit_losing", np.float64, (MAX_RANKS,)),  # chance of the bonus when the trick is lost
        ("hit_winning", np.float64, (MAX_RANKS,)),  # ... and when it is won
    ]
)


@njit
def cell(color: int, rank: int, ranks: int) -> int:
    """The set of one cell."""
    return 1 << (color * (ranks + 1) + rank)


@njit
def neighbours(cells: int, ranks: int) -> int:
    """The cells beside those of a set (and bits beyond the board: intersect with a set of cells)."""
    return (cells << 1) | (cells >> 1) | (cells << (ranks + 1)) | (cells >> (ranks + 1))


@njit
def find_groups(cells: int, ranks: int, view: Any) -> None:
    """Write the connected parts of ``cells`` and the largest of them."""
    view.num_groups = 0
    view.group = 0
    view.group_size = 0
    while cells:
        group = cells & -cells
        while True:
            wider = (group | neighbours(group, ranks)) & cells
            if wider == group:
                break
            group = wider
        cells &= ~group
        view.groups[view.num_groups] = group
        view.num_groups += 1
        if popcount(group) > view.group_size:
            view.group = group
            view.group_size = popcount(group)


@njit
def look(seen: Any, rules: Any, at: Any, weights: Any, view: Any) -> None:
    """Read the parts of an observation that every decision needs."""
    ranks, colors, players = rules.ranks, rules.colors, rules.players
    for rank in range(ranks):
        view.hand[rank] = seen[at.hand + rank]
        view.unseen[rank] = rules.copies - view.hand[rank] - seen[at.discarded + rank]
        view.open_colors[rank] = 0
    mine = open_cells = 0
    # Without branches, which would be taken or not at random, and by indices without a sign, which need no look
    # whether they count from the end.
    index = np.uint64(at.board)
    for color in range(colors):
        for rank in range(ranks):
            place = color * (ranks + 1) + rank
            mine |= int(seen[index] != 0) << place
            taken = 0
            for _ in range(players):
                taken |= seen[index]
                index += np.uint64(1)
            view.unseen[rank] -= int(taken != 0)
            if at.neutral >= 0:
                neutral = seen[at.neutral + color * ranks + rank]
                view.unseen[rank] -= neutral
                taken |= neutral
            is_open = int(taken == 0)
            open_cells |= is_open << place
            view.open_colors[rank] |= is_open << color
    view.mine = mine
    view.open = open_cells

    for seat in range(players):
        view.tokens[seat] = 0
        for color in range(colors):
            view.tokens[seat] |= int(seen[at.x_tokens + seat * colors + color] != 0) << color

    cards = 1
    for rank in range(ranks):
        cards += view.unseen[rank]
    view.unseen_cards = max(1, cards)  # less than 1 in a vector that no game shows
    lower = 0.0
    for rank in range(ranks):
        view.quantile[rank] = (lower + 0.5 * view.unseen[rank]) / view.unseen_cards
        lower += view.unseen[rank]
    look_ahead(view, rules, weights, 0, view.tokens[0])


@njit
def look_ahead(view: Any, rules: Any, weights: Any, place: int, kept: int) -> None:
    """What each rank of the hand promises with the colours ``kept``."""
    view.kept[place] = kept
    supply = strength = 0.0
    for rank in range(rules.ranks):
        view.supply_below[place, rank] = supply
        view.strength_below[place, rank] = strength
        usable, power = promise(view, weights, rank, view.hand[rank], view.open_colors[rank], kept)
        view.usable[place, rank] = usable
        view.strength[place, rank] = usable * power
        supply += usable
        strength += usable * power


@njit
def promise(
    view: Any, weights: Any, rank: int, cards: int, open_colors: int, kept: int
) -> tuple[float, float]:
    """How many of so many ``cards`` of a rank will find a cell, and the chance of each to win a trick."""
    own = open_colors & kept
    if cards == 0 or own == 0:
        return 0.0, 0.0
    free = popcount(open_colors)
    usable = min(float(cards), popcount(own) * free / (free + weights.rush * view.unseen[rank]))
    power = weights.luck + weights.rank * view.quantile[rank]
    if own >> RED & 1:
        power += weights.red
    return usable, power


@njit
def look_at_trick(seen: Any, rules: Any, at: Any, weights: Any, bid_values: Any, view: Any) -> None:
    """Read what only a play needs; `look` comes first."""
    ranks, colors, players = rules.ranks, rules.colors, rules.players
    for color in range(colors):
        above = 0
        view.above[color, ranks] = 0
        for rank in range(ranks - 1, -1, -1):
            if view.open_colors[rank] >> color & 1:
                above += view.unseen[rank]
            view.above[color, rank] = above

    led = one_hot_index(seen, at.led, colors)
    best_color, best_rank, best_seat = -1, -1, 0
    index = at.trick
    for seat in range(players):
        view.eagerness[seat] = 0.0
        played = np.int8(0)
        for i in range(np.uint64(index), np.uint64(index + colors * ranks)):
            played |= seen[i]
        if played == 0:
            index += colors * ranks
            continue
        for color in range(colors):
            rank = 0
            while rank < ranks and not seen[index + rank]:
                rank += 1
            index += ranks
            if rank == ranks:
                continue
            view.eagerness[seat] = PLAYED
            higher = color == best_color and rank > best_rank
            trumps = color == RED and best_color != RED
            if higher or trumps or (color == led and best_color < 0):
                best_color, best_rank, best_seat = color, rank, seat
    view.led, view.best_color, view.best_rank = led, best_color, best_rank

    tricks_left = int(seen[at.tricks_left])
    view.tricks_left = tricks_left
    view.won = seen[at.tricks_won]
    view.least, view.most = wanted(seen, rules, at, bid_values, 0)
    view.best_need = 0
    view.following = 0
    red_holds = 1.0 - (1.0 - view.above[RED, 0] / view.unseen_cards) ** (tricks_left + 1)
    stuck_now = stuck = 0.0
    for seat in range(1, players):
        least, most = wanted(seen, rules, at, bid_values, seat)
        if seat == best_seat:
            view.best_need = int(least > 0) - int(most == 0)
        playable = 0
        for rank in range(ranks):
            if view.open_colors[rank] & view.tokens[seat]:
                playable += view.unseen[rank]
        if view.eagerness[seat] == PLAYED:
            stuck += (1.0 - playable / view.unseen_cards) ** tricks_left
            continue
        chance = (1.0 - playable / view.unseen_cards) ** (tricks_left + 1)
        stuck += chance
        stuck_now += chance
        eagerness = weights.needing if least > 0 else weights.content if most == 0 else weights.indifferent
        view.eagerness[seat] = eagerness
        view.untrumped[seat] = 1.0
        if view.tokens[seat] >> RED & 1:
            view.untrumped[seat] = 1.0 - eagerness * weights.trumping * red_holds
        view.following += 1

    crowded = 1.0 - popcount(view.open) / (colors * ranks)
    view.over = 1.0 - math.exp(-weights.early_end * crowded * crowded - weights.jam * stuck)
    view.finished = math.exp(-weights.stuck * stuck_now)
    find_groups(view.mine, ranks, view)
    if led >= 0 and view.tokens[0] >> led & 1:
        look_ahead(view, rules, weights, 1, view.tokens[0] & ~(1 << led))
    row = 0
    for rank in range(ranks):
        view.memo[rank] = -1
        if view.hand[rank] > 0:
            row |= 1 << rank
    for place in range(2):
        view.reach[place] = 0
        for color in range(colors):
            if view.kept[place] >> color & 1:
                view.reach[place] |= row << (color * (ranks + 1))


@njit
def wanted(seen: Any, rules: Any, at: Any, bid_values: Any, seat: int) -> tuple[int, int]:
    """The least and the most further tricks with which ``seat`` gets its bonus; (-1, -1) when it is lost."""
    won = seen[at.tricks_won + seat]
    if rules.num_bids == 0:
        least, most = 0, rules.bonus_max_tricks - won
    else:
        bid = one_hot_index(seen, at.bids + seat * rules.num_bids, rules.num_bids)
        if bid < 0:
            return -1, -1
        least = most = bid_values[bid] - won
    if most < 0 or least > seen[at.tricks_left]:
        return -1, -1
    return least, most
