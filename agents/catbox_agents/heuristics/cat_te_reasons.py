"""Cat Te: what speaks for and against an action, in antes, from one observation alone.

The module ``cat_te`` says what the reasons are. Everywhere here ``t`` is a record of its ``Table`` and ``w``
one of its ``Weights``; a chance is a number from 0 to 1. The compiled functions stand in one file, because Numba's
cache on disk notices a change only in the file of the function itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from catbox_agents.heuristics.base import index_of_one
from catbox_env.core.compilation import cached_njit

REASONS = ("win", "wait", "stop", "hide", "show")
WIN, WAIT, STOP, HIDE, CERTAIN = range(len(REASONS))

#: Early tricks won by the player: none, some, or all there were.
NOTHING, SOME, ALL = range(3)
FOLLOWS, LEADS = range(2)
#: What can be said of a card in a trick to come: see `outlook`.
LED, HIGH, HOLDS = range(3)

#: The numbers of the game that the compiled functions need; cards and tricks count from 0.
HAND_SIZE, NUM_CARDS, NUM_RANKS, NUM_SUITS, CARD_WIDTH = 6, 52, 13, 4, 17
FOLD, CLAIM, SHOW = 52, 104, 105
LAST_EARLY, BLIND, LAST = 3, 4, 5


class View(NamedTuple):
    """What one observation says, in the form the reasons need."""

    cards: Any  # (6,) own cards, the first ``size`` of them
    size: int
    above: Any  # (52,) unseen cards of the suit above each card
    of_suit: Any  # (4,) unseen cards of each suit
    unseen: int  # unseen cards in all
    trick: int
    leads: bool
    best: int  # the card that is winning the trick, -1 where the player leads
    rivals: int  # other players that may still beat a card in this trick
    others: int  # other players in the round
    late: float  # other players expected in the fifth and sixth trick
    early: int  # NOTHING, SOME or ALL
    threat: bool  # the one who is winning this trick would have all four early tricks


@cached_njit
def look(seen: Any, t: Any, w: Any, cards: Any, above: Any, of_suit: Any) -> View:
    """Read an observation; the arrays are filled and become part of the answer."""
    of_suit[:] = 0
    trick = index_of_one(seen[t.trick : t.trick + HAND_SIZE])
    leader = index_of_one(seen[t.leader : t.leader + t.players])
    faceup = seen[t.faceup : t.faceup + t.players * HAND_SIZE * CARD_WIDTH].reshape(
        (t.players, HAND_SIZE, CARD_WIDTH)
    )
    # First 1 for every unseen card, then from the ace down the number of unseen ones above.
    size = 0
    for card in range(NUM_CARDS):
        gone = seen[t.hand + card] or seen[t.folded + card] or (t.upturned >= 0 and seen[t.upturned + card])
        above[card] = 0 if gone else 1
        if seen[t.hand + card]:
            cards[size] = card
            size += 1
    led = index_of_one(seen[t.led_suit : t.led_suit + NUM_SUITS])
    best, winning = -1, -1
    for seat in range(t.players):
        for earlier in range(trick + 1):
            rank = index_of_one(faceup[seat, earlier, :NUM_RANKS])
            if rank >= 0:
                card = rank * NUM_SUITS + index_of_one(faceup[seat, earlier, NUM_RANKS:])
                above[card] = 0
                if earlier == trick and card % NUM_SUITS == led and card > best:
                    best, winning = card, seat
    for card in range(NUM_CARDS - 1, -1, -1):
        here = above[card]
        above[card] = of_suit[card % NUM_SUITS]
        of_suit[card % NUM_SUITS] += here
    unseen = of_suit.sum()

    rivals, others, winners = 0, 0, 0
    blind = t.eliminates != 0 and trick == BLIND
    for seat in range(1, t.players):
        if seen[t.in_round + seat]:
            others += 1
            winners += seen[t.early_tricks + seat] > 0
            # The leader acts first; in the blind trick nobody sees what the earlier ones have chosen.
            rivals += seat < leader or leader == 0 or (blind and seat != leader)
    early_left = max(0, LAST_EARLY + 1 - trick)
    chance = 1.0 - (1.0 - w.survival) ** (early_left / (LAST_EARLY + 1.0))
    late = float(others)
    if t.eliminates and trick <= LAST_EARLY:
        late = min(winners + chance * (others - winners), winners + float(early_left))
    own = seen[t.early_tricks]
    early = SOME
    if own == min(trick, LAST_EARLY + 1):
        early = ALL
    elif own == 0:
        early = NOTHING
    threat = False
    if t.eliminates and trick == LAST_EARLY and winning > 0:
        threat = seen[t.early_tricks + winning] == LAST_EARLY
    return View(
        cards, size, above, of_suit, unseen, trick, leader == 0, best, rivals, others, late, early, threat
    )


@cached_njit
def unbeaten(view: View, t: Any, w: Any, card: int, trick: int, rivals: float) -> float:
    """The chance that none of ``rivals`` players beats ``card``, which is winning the trick."""
    held = HAND_SIZE - trick
    eager = 1.0 if trick == LAST else (w.eager_blind if trick == BLIND else w.eager)
    holds = 1.0 - (1.0 - view.above[card] / max(1, view.unseen)) ** held
    return (1.0 - eager * holds) ** rivals


@cached_njit
def above_leader(view: View, w: Any, card: int, trick: int) -> float:
    """The chance that ``card`` is higher than the card of its suit that somebody leads."""
    share = view.above[card] / max(1, view.of_suit[card % NUM_SUITS])
    return (1.0 - share) ** (w.last_height if trick == LAST else w.height)


@cached_njit
def outlook(view: View, t: Any, w: Any, chances: Any) -> None:
    """Fill ``chances`` (6, 6, 3) for each card of the hand and trick to come: that nobody beats it when it is led,
    that it beats what has been played when another leads its suit, and that then nobody beats it."""
    for i in range(view.size):
        card = view.cards[i]
        for trick in range(view.trick, HAND_SIZE):
            others = view.late if trick >= BLIND else float(view.others)
            # Half of the others behind the leader act before, half after the player.
            half = unbeaten(view, t, w, card, trick, max(0.0, others - 1.0) / 2.0)
            chances[i, trick, LED] = unbeaten(view, t, w, card, trick, others)
            chances[i, trick, HIGH] = above_leader(view, w, card, trick) * half
            chances[i, trick, HOLDS] = half


@cached_njit
def plan(view: View, t: Any, w: Any, chances: Any, worth: Any) -> None:
    """Fill ``worth`` (64, 3, 2): the chance to win the round with a part of the hand, by early tricks and lead.

    The part is a number whose bit i stands for card i of the hand, and its size tells the trick. A sweep that pays
    double counts as the chance that would be worth as much.
    """
    best = np.zeros(NUM_SUITS)
    swept = (1.0 + t.sweep_factor * (t.players - 1)) / t.players
    worth[0] = 0.0
    for part in range(1, 1 << view.size):
        size = 0
        for i in range(view.size):
            size += (part >> i) & 1
        trick = HAND_SIZE - size
        for early in range(3):
            if t.eliminates and trick == BLIND and early != SOME:
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


@cached_njit
def win_from(early: int) -> int:
    """Early tricks after one more."""
    return ALL if early == ALL else SOME


@cached_njit
def lose_from(early: int, trick: int) -> int:
    """Early tricks after a lost trick: who had won all of none has none."""
    return NOTHING if early == NOTHING or (early == ALL and trick == 0) else SOME


@cached_njit
def weigh_card(view: View, t: Any, w: Any, worth: Any, index: int, folds: bool, points: Any) -> None:
    """Why to play or fold card ``index`` of the hand."""
    card = view.cards[index]
    rest = ((1 << view.size) - 1) & ~(1 << index)
    chance = 0.0
    if view.leads or (not folds and card % NUM_SUITS == view.best % NUM_SUITS and card > view.best):
        chance = unbeaten(view, t, w, card, view.trick, float(view.rivals))
    lost = lose_from(view.early, view.trick)
    points[WIN] = t.players * chance * worth[rest, win_from(view.early), LEADS]
    points[WAIT] = t.players * (1.0 - chance) * worth[rest, lost, FOLLOWS]
    if view.threat:
        points[STOP] = -(1.0 - chance) * (t.sweep_factor - 1)
    blind = t.eliminates != 0 and view.trick == BLIND  # there nothing can be hidden
    if not folds and chance == 0.0 and not blind:
        points[HIDE] = -w.hide


@cached_njit
def weigh_row(
    seen: Any,
    mask: Any,
    t: Any,
    w: Any,
    cards: Any,
    above: Any,
    of_suit: Any,
    chances: Any,
    worth: Any,
    points: Any,
) -> None:
    """Fill ``points`` (A, reasons) in the rows of the legal actions of one observation."""
    view = look(seen, t, w, cards, above, of_suit)
    outlook(view, t, w, chances)
    plan(view, t, w, chances, worth)
    points[:] = 0.0
    for i in range(view.size):
        card = view.cards[i]
        if mask[card]:
            weigh_card(view, t, w, worth, i, False, points[card])
        if mask[FOLD + card]:
            weigh_card(view, t, w, worth, i, True, points[FOLD + card])
    if mask[SHOW]:
        points[SHOW, CERTAIN] = 1.0 + t.show_factor * (t.players - 1)
    if mask[CLAIM]:
        # The turn goes on after the claim, so whatever can be done now can be done then.
        best = 0.0
        for action in range(len(points)):
            best = max(best, points[action].sum())
        points[CLAIM, WAIT] = best
        points[CLAIM, CERTAIN] = seen[t.pot] * t.side_pot


@cached_njit(nogil=True)
def choose_rows(observations: Any, masks: Any, t: Any, w: Any, points: Any, actions: Any) -> None:
    """Write the action with most points for each row, the lowest id among equals; -1 where none is legal."""
    cards = np.zeros(HAND_SIZE, np.int64)
    above = np.zeros(NUM_CARDS, np.int64)
    of_suit = np.zeros(NUM_SUITS, np.int64)
    chances = np.zeros((HAND_SIZE, HAND_SIZE, 3))
    worth = np.zeros((1 << HAND_SIZE, 3, 2))
    for row in range(len(observations)):
        best = -np.inf
        actions[row] = -1
        # More cards than a hand has would be written past the end of ``cards``.
        hand = observations[row, t.hand : t.hand + NUM_CARDS]
        if not masks[row].any() or np.count_nonzero(hand) > HAND_SIZE:
            continue
        weigh_row(observations[row], masks[row], t, w, cards, above, of_suit, chances, worth, points)
        for action in range(masks.shape[1]):
            if masks[row, action]:
                total = points[action].sum()
                if total > best:
                    best = total
                    actions[row] = action
