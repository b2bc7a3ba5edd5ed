"""Cat in the Box: what speaks for and against an action, in points of score.

One compiled scalar function weighs each kind of action, from one observation alone; the module ``cat_in_the_box`` says
what the reasons are. Most of the work is the same for all actions, so it is done once, in ``cat_in_the_box_view``; that
module says what ``view``, ``rules``, ``at`` and ``weights`` are, and how sets of cells and colours are written.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from catbox_agents.heuristics.cat_in_the_box_view import (
    NOT_YET,
    PLAYED,
    cell,
    look,
    look_at_trick,
    neighbours,
    promise,
)
from catbox_env.core.bits import one_hot_index, popcount
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.games.cat_in_the_box.play.state import RED
from catbox_env.games.cat_in_the_box.rules import MAX_COLORS

REASONS = ("tricks", "bid", "group", "paradox", "tokens", "spoil", "hand")
TRICKS, BID, GROUP, PARADOX, TOKENS, SPOIL, HAND = range(len(REASONS))


@njit
def win_chance(view: Any, rules: Any, color: int, rank: int) -> float:
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
    for seat in range(1, rules.players):
        if view.eagerness[seat] == PLAYED:
            continue
        safe = 1.0
        if view.tokens[seat] >> color & 1:
            safe = 1.0 - view.eagerness[seat] * holds
        if color != RED:
            safe *= view.untrumped[seat]
        chance *= safe
    return chance


@njit
def outlook(
    view: Any, rules: Any, weights: Any, place: int, without: int, open_colors: int
) -> tuple[float, float]:
    """What the hand promises ``without`` one card of that rank (-1: all of it), when the rank's cells are open in these
    colours: cards that will find a cell, and the chance of each to win a trick."""
    supply = strength = 0.0
    rest = 0
    if without >= 0:
        cards = view.hand[without] - 1
        usable, power = promise(view, weights, without, cards, open_colors, view.kept[place])
        supply = view.supply_below[place, without] + usable
        strength = view.strength_below[place, without] + usable * power
        rest = without + 1
    for rank in range(rest, rules.ranks):
        supply += view.usable[place, rank]
        strength += view.strength[place, rank]
    return supply, strength / supply if supply > 0 else 0.0


@njit
def paradox_risk(supply: float, plays: int, weights: Any) -> float:
    """The chance to run out of legal declarations within so many plays."""
    if plays <= 0:
        return 0.0
    return 1.0 / (1.0 + math.exp(weights.calm * (supply - plays - weights.reserve) / plays))


@njit
def hit_chance(least: int, most: int, expected: float, plays: int, over: float, weights: Any) -> float:
    """The chance to win between ``least`` and ``most`` of the next ``plays`` tricks when ``expected`` are likely.

    ``over`` is the chance that somebody's paradox ends the round before any of them.
    """
    if most < 0 or least > plays:
        return 0.0
    if most == 0:
        expected *= weights.ducking
    now = 1.0 if least <= 0 else 0.0
    if plays == 0:
        return now
    spread = weights.spread * math.sqrt(plays)
    up_to_most = 1.0 / (1.0 + math.exp((expected - most - 0.5) / spread))
    below_least = 1.0 / (1.0 + math.exp((expected - least + 0.5) / spread)) if least > 0 else 0.0
    return over * now + (1.0 - over) * (up_to_most - below_least)


@njit
def weigh_discard(view: Any, rules: Any, weights: Any, rank: int) -> tuple[float, float]:
    """Why to discard ``rank``: the points for paradox, hand."""
    supply, _ = outlook(view, rules, weights, 0, rank, view.open_colors[rank])
    paradox = -paradox_risk(supply, rules.tricks, weights) * weights.stake
    beside = (view.hand[rank - 1] if rank > 0 else 0) + (view.hand[rank + 1] if rank < rules.ranks - 1 else 0)
    height = rank / max(1, rules.ranks - 1)
    hand = (
        weights.drop_pair * (view.hand[rank] - 1)
        - weights.keep_beside * beside
        + weights.drop_high * height
        + weights.drop_middle * (1.0 - abs(2.0 * height - 1.0))
    )
    return paradox, hand


@njit
def weigh_bid(view: Any, rules: Any, weights: Any, claimed: float, bid: int) -> tuple[float, float]:
    """Why to bid ``bid``, the others having ``claimed`` that much: the points for tricks, bid."""
    _, strength = outlook(view, rules, weights, 0, -1, 0)
    expected = strength * rules.tricks - weights.claimed * claimed + weights.confidence
    hit = hit_chance(bid, bid, expected, rules.tricks, 0.0, weights)
    return hit * weights.bid_trick * bid, hit * weights.bonus


@njit
def claimed_tricks(seen: Any, rules: Any, at: Any, bid_values: Any) -> float:
    """How many tricks the others have bid beyond their share."""
    claimed = 0.0
    for seat in range(1, rules.players):
        other = one_hot_index(seen, at.bids + seat * rules.num_bids, rules.num_bids)
        if other >= 0:
            claimed += bid_values[other] - rules.tricks / rules.players
    return claimed


@njit
def weigh_play(
    view: Any, rules: Any, weights: Any, color: int, rank: int
) -> tuple[float, float, float, float, float, float]:
    """Why to declare ``rank`` in ``color``: the points for tricks, bid, group, paradox, tokens, spoil."""
    lost = view.led if view.led >= 0 and color != view.led and view.tokens[0] >> view.led & 1 else -1
    place = int(lost >= 0)
    plays = view.tricks_left - 1
    open_colors = view.open_colors[rank] & ~(1 << color)
    # All that is computed from the hand alone is the same in two colours with the same number of cells left.
    own = open_colors & view.kept[place]
    key = ((popcount(open_colors) * (MAX_COLORS + 1) + popcount(own)) * 2 + (own >> RED & 1)) * 2 + place
    if view.memo[rank] != key:
        view.memo[rank] = key
        supply, strength = outlook(view, rules, weights, place, rank, open_colors)
        view.expected[rank] = strength * plays
        view.risk[rank] = paradox_risk(supply, plays, weights)
        view.hit_losing[rank] = NOT_YET
        view.hit_winning[rank] = NOT_YET if view.most > 0 else 0.0
    risk, expected = view.risk[rank], view.expected[rank]
    chance = win_chance(view, rules, color, rank)
    hit = 0.0
    if chance < 1.0:
        if view.hit_losing[rank] == NOT_YET:
            view.hit_losing[rank] = hit_chance(view.least, view.most, expected, plays, view.over, weights)
        hit += (1.0 - chance) * view.hit_losing[rank]
    if chance > 0.0:
        if view.hit_winning[rank] == NOT_YET:
            view.hit_winning[rank] = hit_chance(
                view.least - 1, view.most - 1, expected, plays, view.over, weights
            )
        hit += chance * view.hit_winning[rank]
    # A follower's paradox ends the round before anybody has won the trick.
    chance *= view.finished
    hit = view.finished * hit + (1.0 - view.finished) * (view.least <= 0 <= view.most)

    here = cell(color, rank, rules.ranks)
    open_after = view.open & ~here
    beside = here | neighbours(here, rules.ranks)
    group = here
    for i in range(view.num_groups):
        if view.groups[i] & beside:
            group |= view.groups[i]
    group_size = popcount(group)
    if group_size < view.group_size:
        group, group_size = view.group, view.group_size
    reachable = view.reach[place]
    if view.hand[rank] == 1:  # the last card of the rank
        for c in range(rules.colors):
            reachable &= ~cell(c, rank, rules.ranks)
    room = min(popcount(neighbours(group, rules.ranks) & reachable & open_after), plays)
    bonus = group_size + weights.growth * room

    tokens = 0.0
    if lost >= 0:
        tokens = -(weights.red_token if lost == RED else weights.token) * plays / rules.tricks
    return (
        weights.trick * chance,
        hit * bonus,
        weights.group * bonus,
        -risk * (weights.stake + 2.0 * (view.won + chance) + hit * bonus),
        tokens,
        weights.spoil * chance * view.best_need,
    )


@njit(inline="always")  # a call that is handed rows of arrays counts references to them
def weigh_row(
    seen: Any, mask: Any, rules: Any, at: Any, weights: Any, bid_values: Any, view: Any, points: Any
) -> None:
    """Fill ``points`` (A, reasons) in the rows of the legal actions of one observation."""
    look(seen, rules, at, weights, view)
    first_play = rules.ranks + rules.num_bids
    begun = False
    claimed = 0.0
    for action in range(len(mask)):
        if not mask[action]:
            continue
        for reason in range(len(REASONS)):
            points[action, reason] = 0.0
        # Numbers come back rather than an array going in: to hand on an array takes as long as to fill it.
        if action < rules.ranks:
            points[action, PARADOX], points[action, HAND] = weigh_discard(view, rules, weights, action)
        elif action < first_play:
            if not begun:
                claimed = claimed_tricks(seen, rules, at, bid_values)
                begun = True
            bid = bid_values[action - rules.ranks]
            points[action, TRICKS], points[action, BID] = weigh_bid(view, rules, weights, claimed, bid)
        elif action < first_play + rules.colors * rules.ranks:
            if not begun:
                look_at_trick(seen, rules, at, weights, bid_values, view)
                begun = True
            k = action - first_play
            tricks, hit, group, paradox, tokens, spoil = weigh_play(
                view, rules, weights, k // rules.ranks, k % rules.ranks
            )
            points[action, TRICKS] = tricks
            points[action, BID] = hit
            points[action, GROUP] = group
            points[action, PARADOX] = paradox
            points[action, TOKENS] = tokens
            points[action, SPOIL] = spoil
        # else PARADOX: the only legal action, nothing to weigh


@cached_njit(nogil=True)
def choose_rows(
    observations: Any,
    masks: Any,
    rules: Any,
    at: Any,
    weights: Any,
    bid_values: Any,
    view: Any,
    points: Any,
    actions: Any,
) -> None:
    """Write the action with most points for each row, the lowest id among equals; -1 where none is legal."""
    for row in range(len(observations)):
        weigh_row(observations[row], masks[row], rules, at, weights, bid_values, view, points)
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
