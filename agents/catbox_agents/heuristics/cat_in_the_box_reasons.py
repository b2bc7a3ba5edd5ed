"""Cat in the Box: the points for and against each action, in units of score.

One compiled scalar function scores each kind of action, from one observation alone; the module ``cat_in_the_box`` lists
the reasons. ``view`` is a record of the game's own `VIEW`, which defines the encoding of sets of cells; ``plan``, a
record of `PLAN`, holds what is computed from it once for all actions. ``params`` is the record of the game's
parameters, ``weights`` one of the ``WEIGHTS`` of the module ``cat_in_the_box``.

Colours are "kept" if they may still be declared after the action: all that the seat has (place 0), or all but the one
led (place 1).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from catbox_agents.features.cat_in_the_box_view import (
    EXACT,
    FREE,
    LOST,
    VIEW,
    find_groups,
    largest_group_with,
    read_table,
)
from catbox_agents.heuristics.base import best_action
from catbox_env.core.bits import neighbours, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.games.cat_in_the_box.play import cell_at, costs_token, strength
from catbox_env.games.cat_in_the_box.rules import MAX_COLORS, MAX_PLAYERS, MAX_RANKS
from catbox_env.games.cat_in_the_box.state import NONE, RED

REASONS = ("tricks", "bid", "group", "paradox", "tokens", "spoil", "hand")
TRICKS, BID, GROUP, PARADOX, TOKENS, SPOIL, HAND = range(len(REASONS))

#: Eagerness of a seat that has played to the trick.
PLAYED = -1.0
#: A chance that has not been computed.
NOT_YET = -1.0

PLAN = record_dtype(
    [
        # For every decision.
        ("unseen_cards", np.int64),  # all unseen cards, plus 1 to avoid division by 0
        ("quantile", np.float64, (MAX_RANKS,)),  # share of the unseen cards that are lower
        ("usable", np.float64, (2, MAX_RANKS)),  # cards of a rank that will find a cell
        ("strength", np.float64, (2, MAX_RANKS)),  # ... times the chance of each to win a trick
        ("supply_below", np.float64, (2, MAX_RANKS)),  # sums of `usable` over the lower ranks
        ("strength_below", np.float64, (2, MAX_RANKS)),  # sums of `strength` over the lower ranks
        # For plays.
        ("eagerness", np.float64, (MAX_PLAYERS,)),  # chance to try for the trick, or PLAYED
        ("untrumped", np.float64, (MAX_PLAYERS,)),  # chance that a seat does not take the trick with red
        ("over", np.float64),  # chance that a paradox ends the round before the next trick
        ("finished", np.float64),  # chance that the trick is completed
        # 1 = the seat winning needs the trick, -1 = it spoils its bonus, 0 = neither
        ("best_need", np.int64),
        ("least", np.int64),  # the bonus needs at least this many more tricks
        ("most", np.int64),  # ... and at most this many
        # Kept by `score_play` from one play of a rank to the next.
        ("memo", np.int64, (MAX_RANKS,)),  # what the numbers below were computed for, -1 = not yet
        ("expected", np.float64, (MAX_RANKS,)),  # tricks to win after this one
        ("risk", np.float64, (MAX_RANKS,)),  # of a paradox
        ("hit_losing", np.float64, (MAX_RANKS,)),  # chance of the bonus when the trick is lost
        ("hit_winning", np.float64, (MAX_RANKS,)),  # ... and when it is won
    ]
)


SCRATCH = record_dtype([("position", VIEW), ("plan", PLAN)])


@njit
def plan_hand(params: Any, view: Any, weights: Any, plan: Any) -> None:
    """Fill in what every decision needs: how high the ranks are, and what the hand promises."""
    cards = 1
    for rank in range(params.num_ranks):
        cards += view.unseen[rank]
    plan.unseen_cards = cards
    lower = 0.0
    for rank in range(params.num_ranks):
        plan.quantile[rank] = (lower + 0.5 * view.unseen[rank]) / cards
        lower += view.unseen[rank]
    look_ahead(params, view, weights, plan, 0)


@njit
def look_ahead(params: Any, view: Any, weights: Any, plan: Any, place: int) -> None:
    """Fill in what each rank of the hand promises with the colours kept in this place."""
    supply = strength = 0.0
    for rank in range(params.num_ranks):
        plan.supply_below[place, rank] = supply
        plan.strength_below[place, rank] = strength
        cells = view.open & (view.column << rank)
        usable, power = promise(view, weights, plan, place, rank, view.hand[rank], cells)
        plan.usable[place, rank] = usable
        plan.strength[place, rank] = usable * power
        supply += usable
        strength += usable * power


@njit
def promise(
    view: Any, weights: Any, plan: Any, place: int, rank: int, cards: int, cells: int
) -> tuple[float, float]:
    """How many of ``cards`` cards of a rank will find one of its open ``cells``, and the chance of each to win a
    trick."""
    own = cells & view.kept_rows[place]
    if cards == 0 or own == 0:
        return 0.0, 0.0
    free = popcount(cells)
    usable = min(float(cards), popcount(own) * free / (free + weights.rush * view.unseen[rank]))
    power = weights.luck + weights.rank * plan.quantile[rank]
    if own >> rank & 1:  # the red cell
        power += weights.red
    return usable, power


@njit
def plan_trick(params: Any, view: Any, weights: Any, plan: Any) -> None:
    """Fill in what only a play needs, after `plan_hand`."""
    ranks, players = params.num_ranks, params.num_players
    plan.least, plan.most = wanted(params, view, 0)
    plan.best_need = 0
    red_holds = 1.0 - (1.0 - view.above[RED, 0] / plan.unseen_cards) ** (view.tricks_left + 1)
    stuck_now = stuck = 0.0
    for seat in range(1, players):
        least, most = wanted(params, view, seat)
        if seat == view.best_seat:
            plan.best_need = int(least > 0) - int(most == 0)
        playable = 0
        for rank in range(ranks):
            if view.open & view.rows[seat] & (view.column << rank):
                playable += view.unseen[rank]
        if view.trick_color[seat] != NONE:
            plan.eagerness[seat] = PLAYED
            stuck += (1.0 - playable / plan.unseen_cards) ** view.tricks_left
            continue
        chance = (1.0 - playable / plan.unseen_cards) ** (view.tricks_left + 1)
        stuck += chance
        stuck_now += chance
        eagerness = weights.needing if least > 0 else weights.content if most == 0 else weights.indifferent
        plan.eagerness[seat] = eagerness
        plan.untrumped[seat] = 1.0
        if view.tokens[seat] >> RED & 1:
            plan.untrumped[seat] = 1.0 - eagerness * weights.trumping * red_holds

    crowded = 1.0 - popcount(view.open) / (params.num_colors * ranks)
    plan.over = 1.0 - math.exp(-weights.early_end * crowded * crowded - weights.jam * stuck)
    plan.finished = math.exp(-weights.stuck * stuck_now)
    find_groups(params, view, 1)
    if view.led != NONE and view.tokens[0] >> view.led & 1:
        look_ahead(params, view, weights, plan, 1)
    for rank in range(ranks):
        plan.memo[rank] = -1


@njit
def wanted(params: Any, view: Any, seat: int) -> tuple[int, int]:
    """The fewest and the most further tricks with which ``seat`` gets its bonus; (-1, -1) if it is lost."""
    status, needed = view.status[seat], view.needed[seat]
    if status == LOST or (status == FREE and params.num_bids > 0):
        return -1, -1
    if params.num_bids == 0 or status == EXACT:
        return 0, needed
    return needed, needed


@njit
def win_chance(params: Any, view: Any, plan: Any, color: int, rank: int) -> float:
    """The chance that this declaration wins the trick against the seats that still follow."""
    if strength(params, view, color, rank) <= view.best_strength:
        return 0.0
    if view.following == 0:
        return 1.0
    cards = view.tricks_left + 1  # in the hand of a seat that has yet to play
    holds = 1.0 - (1.0 - view.above[color, rank + 1] / plan.unseen_cards) ** cards
    chance = 1.0
    for seat in range(1, params.num_players):
        if plan.eagerness[seat] == PLAYED:
            continue
        safe = 1.0
        if view.tokens[seat] >> color & 1:
            safe = 1.0 - plan.eagerness[seat] * holds
        if color != RED:
            safe *= plan.untrumped[seat]
        chance *= safe
    return chance


@njit
def promised(
    params: Any, view: Any, weights: Any, plan: Any, place: int, without: int, cells: int
) -> tuple[float, float]:
    """What the hand promises ``without`` one card of that rank (-1: all of it), when these ``cells`` of the rank are
    open: cards that will find a cell, and the chance of each to win a trick."""
    supply = strength = 0.0
    rest = 0
    if without >= 0:
        usable, power = promise(view, weights, plan, place, without, view.hand[without] - 1, cells)
        supply = plan.supply_below[place, without] + usable
        strength = plan.strength_below[place, without] + usable * power
        rest = without + 1
    for rank in range(rest, params.num_ranks):
        supply += plan.usable[place, rank]
        strength += plan.strength[place, rank]
    return supply, strength / supply if supply > 0 else 0.0


@njit
def paradox_risk(supply: float, plays: int, weights: Any) -> float:
    """The chance to run out of legal declarations within ``plays`` plays."""
    if plays <= 0:
        return 0.0
    return 1.0 / (1.0 + math.exp(weights.calm * (supply - plays - weights.reserve) / plays))


@njit
def hit_chance(least: int, most: int, expected: float, plays: int, over: float, weights: Any) -> float:
    """The chance to win between ``least`` and ``most`` of the next ``plays`` tricks if ``expected`` is the mean.

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
def score_discard(params: Any, view: Any, weights: Any, plan: Any, rank: int) -> tuple[float, float]:
    """The points for discarding ``rank``: paradox, hand."""
    ranks = params.num_ranks
    supply, _ = promised(params, view, weights, plan, 0, rank, view.open & (view.column << rank))
    paradox = -paradox_risk(supply, params.num_tricks, weights) * weights.stake
    beside = (view.hand[rank - 1] if rank > 0 else 0) + (view.hand[rank + 1] if rank < ranks - 1 else 0)
    height = rank / max(1, ranks - 1)
    hand = (
        weights.drop_pair * (view.hand[rank] - 1)
        - weights.keep_beside * beside
        + weights.drop_high * height
        + weights.drop_middle * (1.0 - abs(2.0 * height - 1.0))
    )
    return paradox, hand


@njit
def score_bid(params: Any, view: Any, weights: Any, plan: Any, bid: int) -> tuple[float, float]:
    """The points for bidding ``bid``: tricks, bid."""
    claimed = 0.0  # what the others have bid beyond their share
    for seat in range(1, params.num_players):
        if view.bid[seat] != NONE:
            claimed += view.bid[seat] - params.num_tricks / params.num_players
    _, strength = promised(params, view, weights, plan, 0, -1, 0)
    expected = strength * params.num_tricks - weights.claimed * claimed + weights.confidence
    hit = hit_chance(bid, bid, expected, params.num_tricks, 0.0, weights)
    return hit * weights.bid_trick * bid, hit * weights.bonus


@njit
def score_play(
    params: Any, view: Any, weights: Any, plan: Any, color: int, rank: int
) -> tuple[float, float, float, float, float, float]:
    """The points for declaring ``rank`` in ``color``: tricks, bid, group, paradox, tokens, spoil."""
    stride = params.num_ranks + 1
    here = 1 << (color * stride + rank)
    place = int(costs_token(view, 0, color))
    plays = view.tricks_left - 1
    cells = view.open & (view.column << rank) & ~here
    # Whatever depends on the hand alone is the same for two colours with the same number of cells left.
    own = cells & view.kept_rows[place]
    key = ((popcount(cells) * (MAX_COLORS + 1) + popcount(own)) * 2 + (own >> rank & 1)) * 2 + place
    if plan.memo[rank] != key:
        plan.memo[rank] = key
        supply, strength = promised(params, view, weights, plan, place, rank, cells)
        plan.expected[rank] = strength * plays
        plan.risk[rank] = paradox_risk(supply, plays, weights)
        plan.hit_losing[rank] = NOT_YET
        plan.hit_winning[rank] = NOT_YET if plan.most > 0 else 0.0
    risk, expected = plan.risk[rank], plan.expected[rank]
    chance = win_chance(params, view, plan, color, rank)
    hit = 0.0
    if chance < 1.0:
        if plan.hit_losing[rank] == NOT_YET:
            plan.hit_losing[rank] = hit_chance(plan.least, plan.most, expected, plays, plan.over, weights)
        hit += (1.0 - chance) * plan.hit_losing[rank]
    if chance > 0.0:
        if plan.hit_winning[rank] == NOT_YET:
            plan.hit_winning[rank] = hit_chance(
                plan.least - 1, plan.most - 1, expected, plays, plan.over, weights
            )
        hit += chance * plan.hit_winning[rank]
    # A follower's paradox ends the round before anybody has won the trick.
    chance *= plan.finished
    hit = plan.finished * hit + (1.0 - plan.finished) * (plan.least <= 0 <= plan.most)

    group, group_size = largest_group_with(view, here, stride)
    reachable = view.held & view.kept_rows[place]
    if view.hand[rank] == 1:  # the last card of the rank
        reachable &= ~(view.column << rank)
    room = min(popcount(neighbours(group, stride) & reachable & view.open & ~here), plays)
    bonus = group_size + weights.growth * room

    tokens = 0.0
    if place:
        tokens = -(weights.red_token if view.led == RED else weights.token) * plays / params.num_tricks
    return (
        weights.trick * chance,
        hit * bonus,
        weights.group * bonus,
        -risk * (weights.stake + 2.0 * (view.won[0] + chance) + hit * bonus),
        tokens,
        weights.spoil * chance * plan.best_need,
    )


@njit(inline="always")  # passing rows of arrays to a call costs reference counting
def score_row(params: Any, seen: Any, mask: Any, weights: Any, view: Any, plan: Any, points: Any) -> None:
    """Fill ``points`` (A, reasons) in the rows of the legal actions of one observation."""
    read_table(params, seen, view)
    plan_hand(params, view, weights, plan)
    ranks, first_play = params.num_ranks, params.first_play
    planned = False
    for action in range(len(mask)):
        if not mask[action]:
            continue
        for reason in range(len(REASONS)):
            points[action, reason] = 0.0
        # Returns numbers instead of taking an array: passing an array takes as long as filling it.
        if action < ranks:
            points[action, PARADOX], points[action, HAND] = score_discard(params, view, weights, plan, action)
        elif action < first_play:
            bid = params.bids[action - ranks]
            points[action, TRICKS], points[action, BID] = score_bid(params, view, weights, plan, bid)
        elif action < len(mask) - 1:
            if not planned:
                plan_trick(params, view, weights, plan)
                planned = True
            color, rank = cell_at(params, action - first_play)
            tricks, hit, group, paradox, tokens, spoil = score_play(params, view, weights, plan, color, rank)
            points[action, TRICKS] = tricks
            points[action, BID] = hit
            points[action, GROUP] = group
            points[action, PARADOX] = paradox
            points[action, TOKENS] = tokens
            points[action, SPOIL] = spoil
        # else PARADOX: the only legal action, nothing to score


@njit
def choose(params: Any, weights: Any, seen: Any, mask: Any, scratch: Any, points: Any) -> int:
    """See `ReasonedAgent`."""
    score_row(params, seen, mask, weights, scratch.position, scratch.plan, points)
    return best_action(mask, points)
