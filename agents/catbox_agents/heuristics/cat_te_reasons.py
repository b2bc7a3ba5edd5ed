"""Cat Te: what speaks for and against an action, in antes, from one observation alone.

The module ``cat_te`` says what the reasons are. Everywhere here ``rules`` is a record of its ``RuleNumbers``,
``weights`` one of its ``Weights``, and ``at`` says where each part of the observation begins; a chance is a number from
0 to 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from catbox_env.core.bits import one_hot_index
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    HAND_SIZE,
    LAST_TRICK,
    NUM_CARDS,
    NUM_EARLY_TRICKS,
    NUM_RANKS,
    NUM_SUITS,
    NUM_TRICKS,
)
from catbox_env.games.cat_te.play.state import CLAIM, FOLD, SHOW

REASONS = ("win", "wait", "stop", "hide", "show")
WIN, WAIT, STOP, HIDE, CERTAIN = range(len(REASONS))

#: Early tricks won by the player: none, some, or all there were.
EARLY = NOTHING, SOME, ALL = (0, 1, 2)
#: The player's part in a trick.
ROLES = FOLLOWS, LEADS = (0, 1)
#: What can be said of a card in a trick to come: see `outlook`.
PROSPECTS = LED, HIGH, HOLDS = (0, 1, 2)

#: Elements of the observation for a card that lies face up: its rank and its suit, each one-hot.
CARD_WIDTH = NUM_RANKS + NUM_SUITS
LAST_EARLY_TRICK = NUM_EARLY_TRICKS - 1


class Scratch(NamedTuple):
    """Arrays that are filled anew for each observation."""

    cards: Any  # (HAND_SIZE,)
    above: Any  # (NUM_CARDS,)
    of_suit: Any  # (NUM_SUITS,)
    chances: Any  # (HAND_SIZE, NUM_TRICKS, PROSPECTS), see `outlook`
    worth: Any  # (2 ** HAND_SIZE, EARLY, ROLES), see `plan`


class View(NamedTuple):
    """What one observation says, in the form the reasons need."""

    cards: Any  # (HAND_SIZE,) own cards, the first ``size`` of them
    size: int
    above: Any  # (NUM_CARDS,) unseen cards of the suit above each card
    of_suit: Any  # (NUM_SUITS,) unseen cards of each suit
    unseen: int  # unseen cards in all
    trick: int
    leads: bool
    best: int  # the card that is winning the trick, -1 where the player leads
    rivals: int  # other players that may still beat a card in this trick
    others: int  # other players in the round
    late: float  # other players expected in the fifth and sixth trick
    early: int  # NOTHING, SOME or ALL
    threat: bool  # the one who is winning this trick would have all four early tricks


@njit
def look(seen: Any, rules: Any, at: Any, weights: Any, scratch: Scratch) -> View:
    """Read an observation; arrays of ``scratch`` are filled and become part of the answer."""
    cards, above, of_suit = scratch.cards, scratch.above, scratch.of_suit
    of_suit[:] = 0
    trick = one_hot_index(seen, at.trick, HAND_SIZE)
    leader = one_hot_index(seen, at.leader, rules.players)
    faceup = seen[at.faceup : at.faceup + rules.players * HAND_SIZE * CARD_WIDTH].reshape(
        (rules.players, HAND_SIZE, CARD_WIDTH)
    )
    # First 1 for every unseen card, then from the ace down the number of unseen ones above.
    size = 0
    for card in range(NUM_CARDS):
        gone = (
            seen[at.hand + card] or seen[at.folded + card] or (at.upturned >= 0 and seen[at.upturned + card])
        )
        above[card] = 0 if gone else 1
        if seen[at.hand + card]:
            cards[size] = card
            size += 1
    led = one_hot_index(seen, at.led_suit, NUM_SUITS)
    best, winning = -1, -1
    for seat in range(rules.players):
        for earlier in range(trick + 1):
            rank = one_hot_index(faceup[seat, earlier], 0, NUM_RANKS)
            if rank >= 0:
                card = rank * NUM_SUITS + one_hot_index(faceup[seat, earlier], NUM_RANKS, NUM_SUITS)
                above[card] = 0
                if earlier == trick and card % NUM_SUITS == led and card > best:
                    best, winning = card, seat
    for card in range(NUM_CARDS - 1, -1, -1):
        here = above[card]
        above[card] = of_suit[card % NUM_SUITS]
        of_suit[card % NUM_SUITS] += here
    unseen = of_suit.sum()

    rivals, others, winners = 0, 0, 0
    blind = rules.eliminates != 0 and trick == BLIND_TRICK
    for seat in range(1, rules.players):
        if seen[at.in_round + seat]:
            others += 1
            winners += seen[at.early_tricks + seat] > 0
            # The leader acts first; in the blind trick nobody sees what the earlier ones have chosen.
            rivals += seat < leader or leader == 0 or (blind and seat != leader)
    early_left = max(0, NUM_EARLY_TRICKS - trick)
    chance = 1.0 - (1.0 - weights.survival) ** (early_left / NUM_EARLY_TRICKS)
    late = float(others)
    if rules.eliminates and trick < NUM_EARLY_TRICKS:
        late = min(winners + chance * (others - winners), winners + float(early_left))
    own = seen[at.early_tricks]
    early = SOME
    if own == min(trick, NUM_EARLY_TRICKS):
        early = ALL
    elif own == 0:
        early = NOTHING
    threat = False
    if rules.eliminates and trick == LAST_EARLY_TRICK and winning > 0:
        threat = seen[at.early_tricks + winning] == LAST_EARLY_TRICK
    return View(
        cards=cards,
        size=size,
        above=above,
        of_suit=of_suit,
        unseen=unseen,
        trick=trick,
        leads=leader == 0,
        best=best,
        rivals=rivals,
        others=others,
        late=late,
        early=early,
        threat=threat,
    )


@njit
def unbeaten(view: View, weights: Any, card: int, trick: int, rivals: float) -> float:
    """The chance that none of ``rivals`` players beats ``card``, which is winning the trick."""
    held = HAND_SIZE - trick
    eager = 1.0 if trick == LAST_TRICK else (weights.eager_blind if trick == BLIND_TRICK else weights.eager)
    holds = 1.0 - (1.0 - view.above[card] / max(1, view.unseen)) ** held
    return (1.0 - eager * holds) ** rivals


@njit
def above_leader(view: View, weights: Any, card: int, trick: int) -> float:
    """The chance that ``card`` is higher than the card of its suit that somebody leads."""
    share = view.above[card] / max(1, view.of_suit[card % NUM_SUITS])
    return (1.0 - share) ** (weights.last_height if trick == LAST_TRICK else weights.height)


@njit
def outlook(view: View, weights: Any, chances: Any) -> None:
    """Fill ``chances`` for each card of the hand and trick to come: that nobody beats it when it is led,
    that it beats what has been played when another leads its suit, and that then nobody beats it."""
    for i in range(view.size):
        card = view.cards[i]
        for trick in range(view.trick, HAND_SIZE):
            others = view.late if trick >= BLIND_TRICK else float(view.others)
            # Half of the others behind the leader act before, half after the player.
            half = unbeaten(view, weights, card, trick, max(0.0, others - 1.0) / 2.0)
            chances[i, trick, LED] = unbeaten(view, weights, card, trick, others)
            chances[i, trick, HIGH] = above_leader(view, weights, card, trick) * half
            chances[i, trick, HOLDS] = half


@njit
def plan(view: View, rules: Any, chances: Any, worth: Any) -> None:
    """Fill ``worth``: the chance to win the round with a part of the hand, by early tricks and lead.

    The part is a number whose bit i stands for card i of the hand, and its size tells the trick. A sweep that pays
    double counts as the chance that would be worth as much.
    """
    best = np.zeros(NUM_SUITS)
    swept = (1.0 + rules.sweep_factor * (rules.players - 1)) / rules.players
    worth[0] = 0.0
    for part in range(1, 1 << view.size):
        size = 0
        for i in range(view.size):
            size += (part >> i) & 1
        trick = HAND_SIZE - size
        for early in EARLY:
            if rules.eliminates and trick == BLIND_TRICK and early != SOME:
                worth[part, early] = 0.0 if early == NOTHING else swept
                continue
            lost, won = lose_from(early, trick), win_from(early)
            # Leading: the best card. Following: nothing if no suit suits, else the best of winning and folding.
            fold = 0.0
            for i in range(view.size):
                if (part >> i) & 1:
                    fold = max(fold, worth[part & ~(1 << i), lost, FOLLOWS])
            best[:] = fold
            lead = 0.0
            for i in range(view.size):
                if (part >> i) & 1:
                    rest = part & ~(1 << i)
                    win = worth[rest, won, LEADS] if size > 1 else 1.0
                    lose = worth[rest, lost, FOLLOWS]
                    chance = chances[i, trick]
                    lead = max(lead, lose + chance[LED] * (win - lose))
                    taken = lose + chance[HOLDS] * (win - lose)
                    suit = view.cards[i] % NUM_SUITS
                    best[suit] = max(best[suit], fold + chance[HIGH] * (taken - fold))
            follow = 0.0
            for suit in range(NUM_SUITS):
                follow += best[suit] * view.of_suit[suit] / max(1, view.unseen)
            worth[part, early, LEADS] = lead
            worth[part, early, FOLLOWS] = follow


@njit
def win_from(early: int) -> int:
    """Early tricks after one more."""
    return ALL if early == ALL else SOME


@njit
def lose_from(early: int, trick: int) -> int:
    """Early tricks after a lost trick: who had won all of none has none."""
    return NOTHING if early == NOTHING or (early == ALL and trick == 0) else SOME


@njit
def weigh_card(
    view: View, rules: Any, weights: Any, worth: Any, index: int, folds: bool, points: Any
) -> None:
    """Why to play or fold card ``index`` of the hand."""
    card = view.cards[index]
    rest = ((1 << view.size) - 1) & ~(1 << index)
    chance = 0.0
    if view.leads or (not folds and card % NUM_SUITS == view.best % NUM_SUITS and card > view.best):
        chance = unbeaten(view, weights, card, view.trick, float(view.rivals))
    lost = lose_from(view.early, view.trick)
    points[WIN] = rules.players * chance * worth[rest, win_from(view.early), LEADS]
    points[WAIT] = rules.players * (1.0 - chance) * worth[rest, lost, FOLLOWS]
    if view.threat:
        points[STOP] = -(1.0 - chance) * (rules.sweep_factor - 1)
    blind = rules.eliminates != 0 and view.trick == BLIND_TRICK  # there nothing can be hidden
    if not folds and chance == 0.0 and not blind:
        points[HIDE] = -weights.hide


@njit
def weigh_row(seen: Any, mask: Any, rules: Any, at: Any, weights: Any, scratch: Scratch, points: Any) -> None:
    """Fill ``points`` (A, reasons) in the rows of the legal actions of one observation."""
    view = look(seen, rules, at, weights, scratch)
    chances, worth = scratch.chances, scratch.worth
    outlook(view, weights, chances)
    plan(view, rules, chances, worth)
    points[:] = 0.0
    for i in range(view.size):
        card = view.cards[i]
        if mask[card]:
            weigh_card(view, rules, weights, worth, i, False, points[card])
        if mask[FOLD + card]:
            weigh_card(view, rules, weights, worth, i, True, points[FOLD + card])
    if mask[SHOW]:
        points[SHOW, CERTAIN] = 1.0 + rules.show_factor * (rules.players - 1)
    if mask[CLAIM]:
        # The turn goes on after the claim, so whatever can be done now can be done then.
        best = 0.0
        for action in range(len(points)):
            best = max(best, points[action].sum())
        points[CLAIM, WAIT] = best
        points[CLAIM, CERTAIN] = seen[at.side_pot] * rules.side_pot


@cached_njit(nogil=True)
def choose_rows(
    observations: Any, masks: Any, rules: Any, at: Any, weights: Any, points: Any, actions: Any
) -> None:
    """Write the action with most points for each row, the lowest id among equals; -1 where none is legal."""
    scratch = Scratch(
        cards=np.zeros(HAND_SIZE, np.int64),
        above=np.zeros(NUM_CARDS, np.int64),
        of_suit=np.zeros(NUM_SUITS, np.int64),
        chances=np.zeros((HAND_SIZE, NUM_TRICKS, len(PROSPECTS))),
        worth=np.zeros((1 << HAND_SIZE, len(EARLY), len(ROLES))),
    )
    for row in range(len(observations)):
        best = -np.inf
        actions[row] = -1
        # More cards than a hand has would be written past the end of ``cards``.
        hand = observations[row, at.hand : at.hand + NUM_CARDS]
        if not masks[row].any() or np.count_nonzero(hand) > HAND_SIZE:
            continue
        weigh_row(observations[row], masks[row], rules, at, weights, scratch, points)
        for action in range(masks.shape[1]):
            if masks[row, action]:
                total = points[action].sum()
                if total > best:
                    best = total
                    actions[row] = action
