"""Cat in the Box: what speaks for and against an action, in points of score.

One compiled scalar function weighs each kind of action, from one observation alone; the module ``heuristic`` says
what the reasons are. Everywhere here ``t`` is a record of its ``Table`` and ``w`` one of its ``Weights``. The compiled
functions stand in one file, because Numba's cache on disk notices a change only in the file of the function itself.

Sets of cells are bits of one integer: cell (colour, rank) is bit ``colour * (R + 1) + rank``, rank from 0. The
bit between two rows stays empty, so that shifting by 1 and by R + 1 moves to the four neighbours of a cell.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from catbox_agents.reasoned import index_of_one

REASONS = ("tricks", "bid", "group", "paradox", "tokens", "spoil", "hand")
TRICKS, BID, GROUP, PARADOX, TOKENS, SPOIL, HAND = range(len(REASONS))
RED = 0
PLAYED = -1.0


class View(NamedTuple):
    """What one observation says, in the form the reasons need."""

    hand: Any  # (R,) cards of each rank in the own hand
    unseen: Any  # (R,) cards of each rank not seen by the observer
    unseen_cards: int  # all of them, and one more so that it can divide
    above: Any  # (C, R + 1) unseen cards of this rank or higher that fit an open cell of the colour
    eagerness: Any  # (P,) chance to try for the trick, or PLAYED
    tokens: Any  # (P, C) X-tokens
    stuck_now: (
        float  # expected number of seats, of those that still follow, that a random hand would leave stuck
    )
    stuck: float  # ... of all other seats
    mine: int  # cells with an own token
    group: int  # the largest connected part of them
    open: int  # empty cells
    led: int  # colour led, -1 = none yet
    best_color: int  # the card that is winning the trick, -1 = none yet
    best_rank: int
    best_need: int  # 1 = the seat that is winning needs the trick, -1 = it spoils its bonus, 0 = neither
    least: int  # the bonus needs at least this many more tricks
    most: int  # ... and at most this many
    won: int  # tricks won
    tricks_left: int  # tricks to come, the current one included


@numba.njit(cache=True)
def cell(color: int, rank: int, ranks: int) -> int:
    """The set of one cell."""
    return 1 << (color * (ranks + 1) + rank)


@numba.njit(cache=True)
def size(cells: int) -> int:
    """How many cells a set holds."""
    number = 0
    while cells:
        cells &= cells - 1  # drops the lowest bit
        number += 1
    return number


@numba.njit(cache=True)
def neighbours(cells: int, ranks: int) -> int:
    """The cells beside those of a set (and bits beyond the board: intersect with a set of cells)."""
    return (cells << 1) | (cells >> 1) | (cells << (ranks + 1)) | (cells >> (ranks + 1))


@numba.njit(cache=True)
def group_of(start: int, cells: int, ranks: int) -> int:
    """All of ``cells`` that are connected with ``start``, a part of them."""
    group = start
    while True:
        wider = (group | neighbours(group, ranks)) & cells
        if wider == group:
            return group
        group = wider


@numba.njit(cache=True)
def largest_group(cells: int, ranks: int) -> int:
    """The largest connected part of ``cells``."""
    largest = 0
    while cells:
        group = group_of(cells & -cells, cells, ranks)
        if size(group) > size(largest):
            largest = group
        cells &= ~group
    return largest


@numba.njit(cache=True)
def scratch_for(t: Any) -> tuple[Any, Any, Any]:
    """The arrays that `look` writes: ``unseen``, ``above`` and ``eagerness`` of a view."""
    return np.zeros(t.ranks, np.int64), np.zeros((t.colors, t.ranks + 1), np.int64), np.zeros(t.players)


@numba.njit(cache=True)
def look(seen: Any, t: Any, w: Any, bid_values: Any, scratch: tuple[Any, Any, Any]) -> View:
    """Read an observation; the arrays of ``scratch`` become part of the answer."""
    unseen, above, eagerness = scratch
    hand = seen[t.hand : t.hand + t.ranks]
    tokens = seen[t.x_tokens : t.x_tokens + t.players * t.colors].reshape((t.players, t.colors))
    board = seen[t.board : t.board + t.colors * t.ranks * t.players].reshape((t.colors, t.ranks, t.players))
    trick = seen[t.trick : t.trick + t.players * t.colors * t.ranks].reshape((t.players, t.colors, t.ranks))

    mine = open_cells = 0
    for rank in range(t.ranks):
        unseen[rank] = t.copies - hand[rank] - seen[t.discarded + rank]
    for color in range(t.colors):
        for rank in range(t.ranks):
            owner = index_of_one(board[color, rank])
            neutral = 0
            if t.neutral >= 0:
                neutral = seen[t.neutral + color * t.ranks + rank]
            unseen[rank] -= neutral
            if owner >= 0:
                unseen[rank] -= 1
            if owner == 0:
                mine |= cell(color, rank, t.ranks)
            if owner < 0 and neutral == 0:
                open_cells |= cell(color, rank, t.ranks)
    for color in range(t.colors):
        above[color, t.ranks] = 0
        for rank in range(t.ranks - 1, -1, -1):
            above[color, rank] = above[color, rank + 1]
            if open_cells & cell(color, rank, t.ranks):
                above[color, rank] += unseen[rank]

    led = index_of_one(seen[t.led : t.led + t.colors])
    best_color, best_rank, best_seat = -1, -1, 0
    for seat in range(t.players):
        eagerness[seat] = 0.0
        for color in range(t.colors):
            rank = index_of_one(trick[seat, color])
            if rank < 0:
                continue
            eagerness[seat] = PLAYED
            higher = color == best_color and rank > best_rank
            trumps = color == RED and best_color != RED
            if higher or trumps or (color == led and best_color < 0):
                best_color, best_rank, best_seat = color, rank, seat

    tricks_left = seen[t.tricks_left]
    least, most = wanted(seen, t, bid_values, 0)
    unseen_cards = max(1, 1 + unseen.sum())  # less than 1 in a vector that no game shows
    best_need = 0
    stuck_now = stuck = 0.0
    for seat in range(1, t.players):
        other_least, other_most = wanted(seen, t, bid_values, seat)
        if seat == best_seat:
            best_need = int(other_least > 0) - int(other_most == 0)
        playable = 0
        for rank in range(t.ranks):
            for color in range(t.colors):
                if tokens[seat, color] and open_cells & cell(color, rank, t.ranks):
                    playable += unseen[rank]
                    break
        if eagerness[seat] == PLAYED:
            stuck += (1.0 - playable / unseen_cards) ** tricks_left
        else:
            chance = (1.0 - playable / unseen_cards) ** (tricks_left + 1)
            stuck += chance
            stuck_now += chance
            if other_least > 0:
                eagerness[seat] = w.needing
            elif other_most == 0:
                eagerness[seat] = w.content
            else:
                eagerness[seat] = w.indifferent
    return View(
        hand, unseen, unseen_cards, above, eagerness, tokens, stuck_now, stuck, mine, largest_group(mine, t.ranks),
        open_cells, led, best_color, best_rank, best_need,
        least, most, seen[t.tricks_won], tricks_left,
    )  # fmt: skip


@numba.njit(cache=True)
def wanted(seen: Any, t: Any, bid_values: Any, seat: int) -> tuple[int, int]:
    """The least and the most further tricks with which ``seat`` gets its bonus; (-1, -1) when it is lost."""
    won = seen[t.tricks_won + seat]
    if t.num_bids == 0:
        least, most = 0, t.bonus_max_tricks - won
    else:
        start = t.bids + seat * t.num_bids
        bid = index_of_one(seen[start : start + t.num_bids])
        if bid < 0:
            return -1, -1
        least = most = bid_values[bid] - won
    if most < 0 or least > seen[t.tricks_left]:
        return -1, -1
    return least, most


@numba.njit(cache=True)
def win_chance(view: View, t: Any, w: Any, color: int, rank: int) -> float:
    """The chance that this declaration wins the trick against the seats that still follow."""
    led = color if view.led < 0 else view.led
    if color not in (led, RED):
        return 0.0
    if view.best_color >= 0:
        beats = rank > view.best_rank if color == view.best_color else color == RED
        if not beats:
            return 0.0
    cards = view.tricks_left + 1  # in the hand of a seat that has yet to play
    chance = 1.0
    for seat in range(1, t.players):
        if view.eagerness[seat] == PLAYED:
            continue
        safe = 1.0
        if view.tokens[seat, color]:
            holds = 1.0 - (1.0 - view.above[color, rank + 1] / view.unseen_cards) ** cards
            safe *= 1.0 - view.eagerness[seat] * holds
        if color != RED and view.tokens[seat, RED]:
            holds = 1.0 - (1.0 - view.above[RED, 0] / view.unseen_cards) ** cards
            safe *= 1.0 - view.eagerness[seat] * w.trumping * holds
        chance *= safe
    return chance


@numba.njit(cache=True)
def outlook(view: View, t: Any, w: Any, without: int, open_cells: int, lost: int) -> tuple[float, float]:
    """What the hand promises ``without`` one card of that rank (-1: all of it), on these open cells, without the
    X-token of colour ``lost`` (-1: none): cards that will find a cell, and the chance of each to win a trick."""
    supply = strength = lower = 0.0
    for rank in range(t.ranks):
        cards = view.hand[rank] - (rank == without)
        quantile = (lower + 0.5 * view.unseen[rank]) / view.unseen_cards
        lower += view.unseen[rank]
        if cards == 0:
            continue
        free = 0  # open cells of the rank
        own = 0  # ... in colours that may still be declared
        red = False
        for color in range(t.colors):
            if open_cells & cell(color, rank, t.ranks):
                free += 1
                if view.tokens[0, color] and color != lost:
                    own += 1
                    red |= color == RED
        if own == 0:
            continue
        usable = min(float(cards), own * free / (free + w.rush * view.unseen[rank]))
        power = w.luck + w.rank * quantile
        if red:
            power += w.red
        supply += usable
        strength += usable * power
    return supply, strength / supply if supply > 0 else 0.0


@numba.njit(cache=True)
def paradox_risk(supply: float, plays: int, w: Any) -> float:
    """The chance to run out of legal declarations within so many plays."""
    if plays <= 0:
        return 0.0
    return 1.0 / (1.0 + math.exp(w.calm * (supply - plays - w.reserve) / plays))


@numba.njit(cache=True)
def hit_chance(least: int, most: int, expected: float, plays: int, over: float, w: Any) -> float:
    """The chance to win between ``least`` and ``most`` of the next ``plays`` tricks when ``expected`` are likely.

    ``over`` is the chance that somebody's paradox ends the round before any of them.
    """
    if most < 0 or least > plays:
        return 0.0
    if most == 0:
        expected *= w.ducking
    now = 1.0 if least <= 0 else 0.0
    if plays == 0:
        return now
    spread = w.spread * math.sqrt(plays)
    up_to_most = 1.0 / (1.0 + math.exp((expected - most - 0.5) / spread))
    below_least = 1.0 / (1.0 + math.exp((expected - least + 0.5) / spread)) if least > 0 else 0.0
    return over * now + (1.0 - over) * (up_to_most - below_least)


@numba.njit(cache=True)
def weigh_discard(view: View, t: Any, w: Any, rank: int, points: Any) -> None:
    """Why to discard ``rank``."""
    supply, _ = outlook(view, t, w, rank, view.open, -1)
    points[PARADOX] = -paradox_risk(supply, t.tricks, w) * w.stake
    beside = (view.hand[rank - 1] if rank > 0 else 0) + (view.hand[rank + 1] if rank < t.ranks - 1 else 0)
    height = rank / max(1, t.ranks - 1)
    points[HAND] = (
        w.drop_pair * (view.hand[rank] - 1)
        - w.keep_beside * beside
        + w.drop_high * height
        + w.drop_middle * (1.0 - abs(2.0 * height - 1.0))
    )


@numba.njit(cache=True)
def weigh_bid(seen: Any, view: View, t: Any, w: Any, bid_values: Any, bid: int, points: Any) -> None:
    """Why to bid ``bid``: the tricks the hand promises, fewer the more the others have claimed."""
    _, strength = outlook(view, t, w, -1, view.open, -1)
    claimed = 0.0
    for seat in range(1, t.players):
        start = t.bids + seat * t.num_bids
        other = index_of_one(seen[start : start + t.num_bids])
        if other >= 0:
            claimed += bid_values[other] - t.tricks / t.players
    expected = strength * t.tricks - w.claimed * claimed + w.confidence
    hit = hit_chance(bid, bid, expected, t.tricks, 0.0, w)
    points[TRICKS] = hit * w.bid_trick * bid
    points[BID] = hit * w.bonus


@numba.njit(cache=True)
def weigh_play(view: View, t: Any, w: Any, color: int, rank: int, points: Any) -> None:
    """Why to declare ``rank`` in ``color``."""
    here = cell(color, rank, t.ranks)
    open_after = view.open & ~here
    lost = view.led if view.led >= 0 and color != view.led and view.tokens[0, view.led] else -1
    plays = view.tricks_left - 1
    supply, strength = outlook(view, t, w, rank, open_after, lost)
    risk = paradox_risk(supply, plays, w)
    chance = win_chance(view, t, w, color, rank)

    crowded = 1.0 - size(view.open) / (t.colors * t.ranks)
    over = 1.0 - math.exp(-w.early_end * crowded * crowded - w.jam * view.stuck)
    expected = strength * plays
    hit = (1.0 - chance) * hit_chance(view.least, view.most, expected, plays, over, w)
    if view.most > 0:
        hit += chance * hit_chance(view.least - 1, view.most - 1, expected, plays, over, w)
    # A follower's paradox ends the round before anybody has won the trick.
    finished = math.exp(-w.stuck * view.stuck_now)
    chance *= finished
    hit = finished * hit + (1.0 - finished) * (view.least <= 0 <= view.most)

    group = group_of(here, view.mine | here, t.ranks)
    if size(group) < size(view.group):
        group = view.group
    reachable = 0
    for other in range(t.ranks):
        if view.hand[other] - (other == rank) > 0:
            for c in range(t.colors):
                if view.tokens[0, c] and c != lost:
                    reachable |= cell(c, other, t.ranks)
    room = min(size(neighbours(group, t.ranks) & reachable & open_after), plays)
    bonus = size(group) + w.growth * room

    points[TRICKS] = w.trick * chance
    points[BID] = hit * bonus
    points[GROUP] = w.group * bonus
    points[PARADOX] = -risk * (w.stake + 2.0 * (view.won + chance) + hit * bonus)
    points[SPOIL] = w.spoil * chance * view.best_need
    if lost >= 0:
        points[TOKENS] = -(w.red_token if lost == RED else w.token) * plays / t.tricks


@numba.njit(cache=True)
def weigh_row(seen: Any, mask: Any, t: Any, w: Any, bid_values: Any, scratch: Any, points: Any) -> None:
    """Fill ``points`` (A, reasons) in the rows of the legal actions of one observation."""
    view = look(seen, t, w, bid_values, scratch)
    first_play = t.ranks + t.num_bids
    for action in range(len(mask)):
        if not mask[action]:
            continue
        points[action] = 0.0
        if action < t.ranks:
            weigh_discard(view, t, w, action, points[action])
        elif action < first_play:
            weigh_bid(seen, view, t, w, bid_values, bid_values[action - t.ranks], points[action])
        elif action < first_play + t.colors * t.ranks:
            k = action - first_play
            weigh_play(view, t, w, k // t.ranks, k % t.ranks, points[action])
        # else PARADOX: the only legal action, nothing to weigh


@numba.njit(cache=True, nogil=True)
def choose_rows(
    observations: Any, masks: Any, t: Any, w: Any, bid_values: Any, points: Any, actions: Any
) -> None:
    """Write the action with most points for each row, the lowest id among equals; -1 where none is legal."""
    scratch = scratch_for(t)
    for row in range(len(observations)):
        weigh_row(observations[row], masks[row], t, w, bid_values, scratch, points)
        best = -np.inf
        actions[row] = -1
        for action in range(masks.shape[1]):
            if masks[row, action]:
                total = points[action].sum()
                if total > best:
                    best = total
                    actions[row] = action
