"""A hand-written player of Cat Te that can explain its choices.

From one observation, it makes a plan for its own hand: what is it worth to hold these cards at this trick, as the
leader or not, with or without an early trick? The plan treats the others alike: each of their cards may be any card
that the player has not seen, and each of them tries with a certain chance to win a trick that it can win. So the worth
of a hand follows from those of the hands with one card less (at most 64 of them), and a card played now is worth

    chance to win the trick * worth of the hand that is left, leading
    + chance to lose it * worth of the hand that is left, following.

Every legal action gets points for the reasons below; the action with most points is played (the lowest id among
equals). Points are antes: winning the round instead of losing it is worth as many antes as there are players.

| reason | what it weighs |
|---|---|
| ``win``  | the chance to win the trick, times what the hand that is left is worth to the next leader |
| ``wait`` | the chance to lose it, times what the hand that is left is worth to a follower |
| ``stop`` | the second ante that a loser pays to a player with all four early tricks |
| ``hide`` | what the others learn from a card shown that cannot win |
| ``show`` | an instant win, or the side pot: certain antes |

`explain` shows them for a position, and ``WEIGHTS`` models how the others play. A chance is a number from 0 to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from catbox_agents.features.cat_te_view import VIEW, above, read_view
from catbox_agents.heuristics.base import ReasonedAgent, best_action
from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.games.cat_te.play import beats, is_blind, of_suit, suit_of
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    HAND_SIZE,
    LAST_TRICK,
    NUM_CARDS,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
)
from catbox_env.games.cat_te.state import CLAIM, FOLD, SHOW

REASONS = ("win", "wait", "stop", "hide", "show")
WIN, WAIT, STOP, HIDE, CERTAIN = range(len(REASONS))

#: Early tricks won by the player: none, some, or all so far.
EARLY = NOTHING, SOME, ALL = (0, 1, 2)
#: The player's part in a trick.
ROLES = FOLLOWS, LEADS = (0, 1)
#: The chances of a card in a future trick: see `outlook`.
PROSPECTS = LED, HIGH, HOLDS = (0, 1, 2)
LAST_EARLY_TRICK = NUM_EARLY_TRICKS - 1


#: A model of how the others play: chances from 0 to 1, except ``height`` and ``hide``.
WEIGHTS = {
    "eager": 0.65,  # that a player that can win an early trick tries to
    "eager_blind": 0.85,  # ... the fifth trick
    "height": 1.6,  # leaders lead high cards: as high as the highest of this many random ones
    "last_height": 1.2,  # ... in the sixth trick
    "survival": 0.4,  # that a player without a trick wins one of the early ones that are left
    "hide": 0.01,  # antes for each card shown that cannot win
}


#: The player's analysis of one observation.
PLAN = record_dtype(
    [
        ("position", VIEW),  # what the observation says
        ("cards", np.int64, (HAND_SIZE,)),  # own cards, the first ones of it
        ("above", np.int64, (HAND_SIZE,)),  # unseen cards of the suit above each of them
        ("of_suit", np.int64, (NUM_SUITS,)),  # unseen cards of each suit
        ("unseen", np.int64),  # all of these, 1 if there is none
        ("late", np.float64),  # other players expected in the fifth and sixth trick
        ("chances", np.float64, (HAND_SIZE, NUM_TRICKS, len(PROSPECTS))),  # see `outlook`
        ("worth", np.float64, (1 << HAND_SIZE, len(EARLY), len(ROLES))),  # see `value_hands`
        ("best", np.float64, (NUM_SUITS,)),  # in `value_hands`, of following each suit
    ]
)


@njit
def read_hand(params: Any, weights: Any, seen: Any, plan: Any) -> None:
    """Fill all of ``plan`` but ``chances`` and ``worth`` from an observation."""
    view = plan.position
    read_view(params, seen, view)
    for suit in range(NUM_SUITS):
        plan.of_suit[suit] = popcount(of_suit(view.unseen, suit))
    plan.unseen = max(1, popcount(view.unseen))
    size = 0
    for card in range(NUM_CARDS):
        if (view.hand >> card) & 1 and size < HAND_SIZE:
            plan.cards[size] = card
            plan.above[size] = above(view.unseen, card)
            size += 1
    others = popcount(view.in_round & ~1)
    late = float(others)
    if params.eliminates and view.trick < NUM_EARLY_TRICKS:
        winners = 0
        for seat in range(1, params.num_players):
            winners += 1 if (view.in_round >> seat) & 1 and view.early_tricks[seat] > 0 else 0
        early_left = NUM_EARLY_TRICKS - view.trick
        chance = 1.0 - (1.0 - weights.survival) ** (early_left / NUM_EARLY_TRICKS)
        late = min(winners + chance * (others - winners), winners + float(early_left))
    plan.late = late


@njit
def unbeaten(plan: Any, weights: Any, i: int, trick: int, rivals: float) -> float:
    """The chance that none of ``rivals`` players beats card ``i`` of the hand, which is winning the trick."""
    held = HAND_SIZE - trick
    eager = 1.0 if trick == LAST_TRICK else (weights.eager_blind if trick == BLIND_TRICK else weights.eager)
    holds = 1.0 - (1.0 - plan.above[i] / plan.unseen) ** held
    return (1.0 - eager * holds) ** rivals


@njit
def above_leader(plan: Any, weights: Any, i: int, trick: int) -> float:
    """The chance that card ``i`` of the hand is higher than the card of its suit that somebody leads."""
    share = plan.above[i] / max(1, plan.of_suit[suit_of(plan.cards[i])])
    return (1.0 - share) ** (weights.last_height if trick == LAST_TRICK else weights.height)


@njit
def outlook(plan: Any, weights: Any) -> None:
    """Fill ``chances`` for each card of the hand and future trick: that nobody beats it when it is led, that it beats
    what has been played when another leads its suit, and that then nobody beats it."""
    view = plan.position
    for i in range(popcount(view.hand)):
        for trick in range(view.trick, HAND_SIZE):
            others = plan.late if trick >= BLIND_TRICK else float(popcount(view.in_round & ~1))
            # Half of the others behind the leader act before, half after the player.
            half = unbeaten(plan, weights, i, trick, max(0.0, others - 1.0) / 2.0)
            plan.chances[i, trick, LED] = unbeaten(plan, weights, i, trick, others)
            plan.chances[i, trick, HIGH] = above_leader(plan, weights, i, trick) * half
            plan.chances[i, trick, HOLDS] = half


@njit
def value_hands(params: Any, plan: Any) -> None:
    """Fill ``worth``: the chance to win the round with a part of the hand, by early tricks and lead.

    The part is a number whose bit i stands for card i of the hand; its size gives the trick. A sweep that pays double
    counts as the chance that would be worth as much.
    """
    cards, chances, worth, best = plan.cards, plan.chances, plan.worth, plan.best
    num_cards = popcount(plan.position.hand)
    swept = (1.0 + params.sweep_factor * (params.num_players - 1)) / params.num_players
    worth[0] = 0.0
    for part in range(1, 1 << num_cards):
        size = popcount(part)
        trick = HAND_SIZE - size
        for early in EARLY:
            if is_blind(params, trick) and early != SOME:
                worth[part, early] = 0.0 if early == NOTHING else swept
                continue
            lost, won = lose_from(early, trick), win_from(early)
            # Leading: the best card. Following: nothing if no suit suits, else the best of winning and folding.
            fold = 0.0
            for i in range(num_cards):
                if (part >> i) & 1:
                    fold = max(fold, worth[part & ~(1 << i), lost, FOLLOWS])
            best[:] = fold
            lead = 0.0
            for i in range(num_cards):
                if (part >> i) & 1:
                    rest = part & ~(1 << i)
                    win = worth[rest, won, LEADS] if size > 1 else 1.0
                    lose = worth[rest, lost, FOLLOWS]
                    chance = chances[i, trick]
                    lead = max(lead, lose + chance[LED] * (win - lose))
                    taken = lose + chance[HOLDS] * (win - lose)
                    suit = suit_of(cards[i])
                    best[suit] = max(best[suit], fold + chance[HIGH] * (taken - fold))
            follow = 0.0
            for suit in range(NUM_SUITS):
                follow += best[suit] * plan.of_suit[suit] / plan.unseen
            worth[part, early, LEADS] = lead
            worth[part, early, FOLLOWS] = follow


@njit
def win_from(early: int) -> int:
    """The state of early tricks after winning one more."""
    return ALL if early == ALL else SOME


@njit
def lose_from(early: int, trick: int) -> int:
    """The state of early tricks after losing one: all of none becomes none."""
    return NOTHING if early == NOTHING or (early == ALL and trick == 0) else SOME


@njit
def score_card(params: Any, weights: Any, plan: Any, i: int, folds: bool, points: Any) -> None:
    """Fill ``points`` for playing or folding card ``i`` of the hand."""
    view, card = plan.position, plan.cards[i]
    rest = ((1 << popcount(view.hand)) - 1) & ~(1 << i)
    own = view.early_tricks[0]
    early = ALL if own == min(view.trick, NUM_EARLY_TRICKS) else (NOTHING if own == 0 else SOME)
    chance = 0.0
    if not folds and beats(card, view.best, view.led):
        chance = unbeaten(plan, weights, i, view.trick, float(view.rivals))
    lost = lose_from(early, view.trick)
    points[WIN] = params.num_players * chance * plan.worth[rest, win_from(early), LEADS]
    points[WAIT] = params.num_players * (1.0 - chance) * plan.worth[rest, lost, FOLLOWS]
    would_sweep = view.best_seat > 0 and (view.swept >> view.best_seat) & 1 != 0
    if params.eliminates and view.trick == LAST_EARLY_TRICK and would_sweep:
        points[STOP] = -(1.0 - chance) * (params.sweep_factor - 1)
    if not folds and chance == 0.0 and not is_blind(params, view.trick):  # in a blind trick nothing is shown
        points[HIDE] = -weights.hide


@njit
def score_row(params: Any, weights: Any, seen: Any, mask: Any, plan: Any, points: Any) -> None:
    """Fill ``points`` (A, reasons) in the rows of the legal actions of one observation; ``plan`` has its hand."""
    outlook(plan, weights)
    value_hands(params, plan)
    points[:] = 0.0
    for i in range(popcount(plan.position.hand)):
        card = plan.cards[i]
        if mask[card]:
            score_card(params, weights, plan, i, False, points[card])
        if mask[FOLD + card]:
            score_card(params, weights, plan, i, True, points[FOLD + card])
    if mask[SHOW]:
        points[SHOW, CERTAIN] = 1.0 + params.show_factor * (params.num_players - 1)
    if mask[CLAIM] and params.side_pot > 0:
        # The turn continues after the claim, so whatever can be done now can be done then.
        best = 0.0
        for action in range(len(points)):
            total = 0.0
            for reason in range(len(REASONS)):
                total += points[action, reason]
            best = max(best, total)
        points[CLAIM, WAIT] = best
        points[CLAIM, CERTAIN] = seen[params.at.side_pot] * params.side_pot


@njit
def choose(params: Any, weights: Any, seen: Any, mask: Any, plan: Any, points: Any) -> int:
    """See `ReasonedAgent`; ``plan`` is a record of `PLAN`."""
    read_hand(params, weights, seen, plan)
    if popcount(plan.position.hand) > HAND_SIZE:
        return -1
    score_row(params, weights, seen, mask, plan, points)
    return best_action(mask, points)


class CatTeHeuristic(ReasonedAgent):
    """The hand-written player of ``cat_te_v0``, for every rule set. It is deterministic."""

    plays = "cat_te_v0"
    reasons = REASONS
    weights = WEIGHTS
    choose = staticmethod(choose)
    scratch = PLAN
