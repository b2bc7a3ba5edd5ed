"""Cat in the Box: what speaks for and against an action, in points of score.

One compiled scalar function weighs each kind of action, from one observation alone; the module ``heuristic`` says
what the reasons are. Everywhere here ``t`` is a record of its ``Table`` and ``w`` one of its ``Weights``. The compiled
functions stand in one file, because Numba's cache on disk notices a change only in the file of the function itself.

Sets of cells are bits of one integer: cell (colour, rank) is bit ``colour * (R + 1) + rank``, rank from 0. The
bit between two rows stays empty, so that shifting by 1 and by R + 1 moves to the four neighbours of a cell. Sets of
colours are bits too: colour c is bit c.

Most of the work is the same for all actions of a row, so it is done once: `look` and `look_at_trick` write it into
``view``, a record of `VIEW`, and what an action changes is worked out from there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from catbox_agents.heuristics.base import index_of_one
from catbox_env.core.compilation import cached_njit

REASONS = ("tricks", "bid", "group", "paradox", "tokens", "spoil", "hand")
TRICKS, BID, GROUP, PARADOX, TOKENS, SPOIL, HAND = range(len(REASONS))
RED = 0
PLAYED = -1.0


@cached_njit
def cell(color: int, rank: int, ranks: int) -> int:
    """The set of one cell."""
    return 1 << (color * (ranks + 1) + rank)


@cached_njit
def size(members: int) -> int:
    """How many members a set has: neighbouring sums of bits, added in pairs."""
    members -= (members >> 1) & 0x5555555555555555
    members = (members & 0x3333333333333333) + ((members >> 2) & 0x3333333333333333)
    members = (members + (members >> 4)) & 0x0F0F0F0F0F0F0F0F
    members += members >> 8
    members += members >> 16
    members += members >> 32
    return members & 127


@cached_njit
def neighbours(cells: int, ranks: int) -> int:
    """The cells beside those of a set (and bits beyond the board: intersect with a set of cells)."""
    return (cells << 1) | (cells >> 1) | (cells << (ranks + 1)) | (cells >> (ranks + 1))


@cached_njit
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
        if size(group) > view.group_size:
            view.group = group
            view.group_size = size(group)


@cached_njit
def look(seen: Any, t: Any, w: Any, view: Any) -> None:
    """Read the parts of an observation that every decision needs."""
    ranks, colors, players = t.ranks, t.colors, t.players
    for rank in range(ranks):
        view.hand[rank] = seen[t.hand + rank]
        view.unseen[rank] = t.copies - view.hand[rank] - seen[t.discarded + rank]
        view.open_colors[rank] = 0
    mine = open_cells = 0
    at = t.board
    for color in range(colors):
        for rank in range(ranks):
            owner = 0
            while owner < players and not seen[at + owner]:
                owner += 1
            at += players
            neutral = 0
            if t.neutral >= 0:
                neutral = seen[t.neutral + color * ranks + rank]
                view.unseen[rank] -= neutral
            if owner < players:
                view.unseen[rank] -= 1
                if owner == 0:
                    mine |= cell(color, rank, ranks)
            elif neutral == 0:
                open_cells |= cell(color, rank, ranks)
                view.open_colors[rank] |= 1 << color
    view.mine = mine
    view.open = open_cells

    for seat in range(players):
        view.tokens[seat] = 0
        for color in range(colors):
            if seen[t.x_tokens + seat * colors + color]:
                view.tokens[seat] |= 1 << color

    cards = 1
    for rank in range(ranks):
        cards += view.unseen[rank]
    view.unseen_cards = max(1, cards)  # less than 1 in a vector that no game shows
    lower = 0.0
    for rank in range(ranks):
        view.quantile[rank] = (lower + 0.5 * view.unseen[rank]) / view.unseen_cards
        lower += view.unseen[rank]
    look_ahead(view, t, w, 0, view.tokens[0])


@cached_njit
def look_ahead(view: Any, t: Any, w: Any, place: int, kept: int) -> None:
    """What each rank of the hand promises with the colours ``kept``."""
    view.kept[place] = kept
    supply = strength = 0.0
    for rank in range(t.ranks):
        view.supply_below[place, rank] = supply
        view.strength_below[place, rank] = strength
        usable, power = promise(view, w, rank, view.hand[rank], view.open_colors[rank], kept)
        view.usable[place, rank] = usable
        view.strength[place, rank] = usable * power
        supply += usable
        strength += usable * power


@cached_njit
def look_at_trick(seen: Any, t: Any, w: Any, bid_values: Any, view: Any) -> None:
    """Read what only a play needs; `look` comes first."""
    ranks, colors, players = t.ranks, t.colors, t.players
    for color in range(colors):
        above = 0
        view.above[color, ranks] = 0
        for rank in range(ranks - 1, -1, -1):
            if view.open_colors[rank] >> color & 1:
                above += view.unseen[rank]
            view.above[color, rank] = above

    led = index_of_one(seen[t.led : t.led + colors])
    best_color, best_rank, best_seat = -1, -1, 0
    at = t.trick
    for seat in range(players):
        view.eagerness[seat] = 0.0
        for color in range(colors):
            rank = 0
            while rank < ranks and not seen[at + rank]:
                rank += 1
            at += ranks
            if rank == ranks:
                continue
            view.eagerness[seat] = PLAYED
            higher = color == best_color and rank > best_rank
            trumps = color == RED and best_color != RED
            if higher or trumps or (color == led and best_color < 0):
                best_color, best_rank, best_seat = color, rank, seat
    view.led, view.best_color, view.best_rank = led, best_color, best_rank

    tricks_left = int(seen[t.tricks_left])
    view.tricks_left = tricks_left
    view.won = seen[t.tricks_won]
    view.least, view.most = wanted(seen, t, bid_values, 0)
    view.best_need = 0
    view.following = 0
    red_holds = 1.0 - (1.0 - view.above[RED, 0] / view.unseen_cards) ** (tricks_left + 1)
    stuck_now = stuck = 0.0
    for seat in range(1, players):
        least, most = wanted(seen, t, bid_values, seat)
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
        eagerness = w.needing if least > 0 else w.content if most == 0 else w.indifferent
        view.eagerness[seat] = eagerness
        view.untrumped[seat] = 1.0
        if view.tokens[seat] >> RED & 1:
            view.untrumped[seat] = 1.0 - eagerness * w.trumping * red_holds
        view.following += 1

    crowded = 1.0 - size(view.open) / (colors * ranks)
    view.over = 1.0 - math.exp(-w.early_end * crowded * crowded - w.jam * stuck)
    view.finished = math.exp(-w.stuck * stuck_now)
    find_groups(view.mine, ranks, view)
    if led >= 0 and view.tokens[0] >> led & 1:
        look_ahead(view, t, w, 1, view.tokens[0] & ~(1 << led))
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


@cached_njit
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


@cached_njit
def win_chance(view: Any, t: Any, color: int, rank: int) -> float:
    """The chance that this declaration wins the trick against the seats that still follow."""
    led = color if view.led < 0 else view.led
    if color != led and color != RED:
        return 0.0
    if view.best_color >= 0:
        beats = rank > view.best_rank if color == view.best_color else color == RED
        if not beats:
            return 0.0
    if view.following == 0:
        return 1.0
    cards = view.tricks_left + 1  # in the hand of a seat that has yet to play
    holds = 1.0 - (1.0 - view.above[color, rank + 1] / view.unseen_cards) ** cards
    chance = 1.0
    for seat in range(1, t.players):
        if view.eagerness[seat] == PLAYED:
            continue
        safe = 1.0
        if view.tokens[seat] >> color & 1:
            safe = 1.0 - view.eagerness[seat] * holds
        if color != RED:
            safe *= view.untrumped[seat]
        chance *= safe
    return chance


@cached_njit
def promise(view: Any, w: Any, rank: int, cards: int, open_colors: int, kept: int) -> tuple[float, float]:
    """How many of so many ``cards`` of a rank will find a cell, and the chance of each to win a trick."""
    own = open_colors & kept
    if cards == 0 or own == 0:
        return 0.0, 0.0
    free = size(open_colors)
    usable = min(float(cards), size(own) * free / (free + w.rush * view.unseen[rank]))
    power = w.luck + w.rank * view.quantile[rank]
    if own >> RED & 1:
        power += w.red
    return usable, power


@cached_njit
def outlook(view: Any, t: Any, w: Any, place: int, without: int, open_colors: int) -> tuple[float, float]:
    """What the hand promises ``without`` one card of that rank (-1: all of it), when the rank's cells are open in these
    colours: cards that will find a cell, and the chance of each to win a trick."""
    supply = strength = 0.0
    rest = 0
    if without >= 0:
        cards = view.hand[without] - 1
        usable, power = promise(view, w, without, cards, open_colors, view.kept[place])
        supply = view.supply_below[place, without] + usable
        strength = view.strength_below[place, without] + usable * power
        rest = without + 1
    for rank in range(rest, t.ranks):
        supply += view.usable[place, rank]
        strength += view.strength[place, rank]
    return supply, strength / supply if supply > 0 else 0.0


@cached_njit
def paradox_risk(supply: float, plays: int, w: Any) -> float:
    """The chance to run out of legal declarations within so many plays."""
    if plays <= 0:
        return 0.0
    return 1.0 / (1.0 + math.exp(w.calm * (supply - plays - w.reserve) / plays))


@cached_njit
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


@cached_njit
def weigh_discard(view: Any, t: Any, w: Any, rank: int, points: Any) -> None:
    """Why to discard ``rank``."""
    supply, _ = outlook(view, t, w, 0, rank, view.open_colors[rank])
    points[PARADOX] = -paradox_risk(supply, t.tricks, w) * w.stake
    beside = (view.hand[rank - 1] if rank > 0 else 0) + (view.hand[rank + 1] if rank < t.ranks - 1 else 0)
    height = rank / max(1, t.ranks - 1)
    points[HAND] = (
        w.drop_pair * (view.hand[rank] - 1)
        - w.keep_beside * beside
        + w.drop_high * height
        + w.drop_middle * (1.0 - abs(2.0 * height - 1.0))
    )


@cached_njit
def weigh_bid(seen: Any, view: Any, t: Any, w: Any, bid_values: Any, bid: int, points: Any) -> None:
    """Why to bid ``bid``: the tricks the hand promises, fewer the more the others have claimed."""
    _, strength = outlook(view, t, w, 0, -1, 0)
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


@cached_njit
def weigh_play(view: Any, t: Any, w: Any, color: int, rank: int, points: Any) -> None:
    """Why to declare ``rank`` in ``color``."""
    lost = view.led if view.led >= 0 and color != view.led and view.tokens[0] >> view.led & 1 else -1
    place = int(lost >= 0)
    plays = view.tricks_left - 1
    open_colors = view.open_colors[rank] & ~(1 << color)
    # All that is worked out from the hand alone is the same in two colours with the same number of cells left.
    own = open_colors & view.kept[place]
    key = ((size(open_colors) * 8 + size(own)) * 2 + (own >> RED & 1)) * 2 + place
    if view.memo[rank] != key:
        view.memo[rank] = key
        supply, strength = outlook(view, t, w, place, rank, open_colors)
        expected = strength * plays
        view.risk[rank] = paradox_risk(supply, plays, w)
        view.hit_losing[rank] = hit_chance(view.least, view.most, expected, plays, view.over, w)
        view.hit_winning[rank] = 0.0
        if view.most > 0:
            view.hit_winning[rank] = hit_chance(view.least - 1, view.most - 1, expected, plays, view.over, w)
    risk = view.risk[rank]
    chance = win_chance(view, t, color, rank)
    hit = (1.0 - chance) * view.hit_losing[rank] + chance * view.hit_winning[rank]
    # A follower's paradox ends the round before anybody has won the trick.
    chance *= view.finished
    hit = view.finished * hit + (1.0 - view.finished) * (view.least <= 0 <= view.most)

    here = cell(color, rank, t.ranks)
    open_after = view.open & ~here
    beside = here | neighbours(here, t.ranks)
    group = here
    for i in range(view.num_groups):
        if view.groups[i] & beside:
            group |= view.groups[i]
    group_size = size(group)
    if group_size < view.group_size:
        group, group_size = view.group, view.group_size
    reachable = view.reach[place]
    if view.hand[rank] == 1:  # the last card of the rank
        for c in range(t.colors):
            reachable &= ~cell(c, rank, t.ranks)
    room = min(size(neighbours(group, t.ranks) & reachable & open_after), plays)
    bonus = group_size + w.growth * room

    points[TRICKS] = w.trick * chance
    points[BID] = hit * bonus
    points[GROUP] = w.group * bonus
    points[PARADOX] = -risk * (w.stake + 2.0 * (view.won + chance) + hit * bonus)
    points[SPOIL] = w.spoil * chance * view.best_need
    if lost >= 0:
        points[TOKENS] = -(w.red_token if lost == RED else w.token) * plays / t.tricks


@cached_njit
def weigh_row(seen: Any, mask: Any, t: Any, w: Any, bid_values: Any, view: Any, points: Any) -> None:
    """Fill ``points`` (A, reasons) in the rows of the legal actions of one observation."""
    look(seen, t, w, view)
    first_play = t.ranks + t.num_bids
    playing = False
    for action in range(len(mask)):
        if not mask[action]:
            continue
        for reason in range(len(REASONS)):
            points[action, reason] = 0.0
        if action < t.ranks:
            weigh_discard(view, t, w, action, points[action])
        elif action < first_play:
            weigh_bid(seen, view, t, w, bid_values, bid_values[action - t.ranks], points[action])
        elif action < first_play + t.colors * t.ranks:
            if not playing:
                look_at_trick(seen, t, w, bid_values, view)
                playing = True
            k = action - first_play
            weigh_play(view, t, w, k // t.ranks, k % t.ranks, points[action])
        # else PARADOX: the only legal action, nothing to weigh


@cached_njit(nogil=True)
def choose_rows(
    observations: Any, masks: Any, t: Any, w: Any, bid_values: Any, view: Any, points: Any, actions: Any
) -> None:
    """Write the action with most points for each row, the lowest id among equals; -1 where none is legal."""
    for row in range(len(observations)):
        weigh_row(observations[row], masks[row], t, w, bid_values, view, points)
        best = -np.inf
        actions[row] = -1
        for action in range(masks.shape[1]):
            if masks[row, action]:
                total = 0.0
                for reason in range(len(REASONS)):
                    total += points[action, reason]
                if total > best:
                    best = total
                    actions[row] = action
