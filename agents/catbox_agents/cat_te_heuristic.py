"""A hand-written player of Cat Te, whose reasons can be read.

It looks at one observation and makes a plan for its own hand: what is it worth to hold these cards at this trick, as
the leader or not, with or without an early trick? The others have no faces in the plan: each of their cards may be any
card that the player has not seen, and each of them tries with a certain chance to win a trick that it can win. So the
worth of a hand follows from that of the hands with one card less (`plan`, at most 64 of them), and a card played now
is worth

    chance to win the trick * worth of the hand that is left, leading
    + chance to lose it * worth of the hand that is left, following.

Every legal action gets points for the reasons below; the action with most points is taken (the lowest id among
equals). Points are antes: to win the round instead of losing it is worth as many antes as there are players.

| reason | what it weighs |
|---|---|
| ``win``  | the trick won: the chance of it, times what the hand that is left is worth to the next leader |
| ``wait`` | the trick lost: the chance of it, times what the hand that is left is worth to a follower |
| ``stop`` | the second ante that a loser pays to a player with all four early tricks |
| ``hide`` | what the others learn from a card shown that cannot win |
| ``show`` | an instant win, or the side pot: certain antes |

`explain` shows them for a position; ``Weights`` holds how the others are thought to play.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numba
import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed
from catbox_env.core.game import Game
from catbox_env.games.cat_te.rules import Rules

REASONS = ("win", "wait", "stop", "hide", "show")
WIN, WAIT, STOP, HIDE, CERTAIN = range(len(REASONS))

#: Early tricks won by the player: none, some, or all there were.
NOTHING, SOME, ALL = range(3)
FOLLOWS, LEADS = range(2)

#: The numbers of the game that the compiled functions need; cards and tricks count from 0.
HAND_SIZE, NUM_CARDS, NUM_RANKS, NUM_SUITS, CARD_WIDTH = 6, 52, 13, 4, 17
FOLD, CLAIM, SHOW = 52, 104, 105
LAST_EARLY, BLIND, LAST = 3, 4, 5


class Table(NamedTuple):
    """The numbers of the rule set, and where each part of the observation begins."""

    players: int
    eliminates: int
    sweep_factor: int
    show_factor: int
    side_pot: int
    hand: int
    folded: int
    faceup: int
    early_tricks: int
    in_round: int
    led_suit: int
    leader: int
    trick: int
    upturned: int  # -1 where there is no side pot
    pot: int


class Weights(NamedTuple):
    """How the others are thought to play: chances from 0 to 1, but for ``height`` and ``hide``."""

    eager: float = 0.65  # that a player that can win an early trick tries to
    eager_blind: float = 0.85  # ... the fifth trick
    height: float = 1.6  # leaders lead high cards: a card below it as likely as in so many random ones
    last_height: float = 1.2  # ... in the sixth trick
    survival: float = 0.4  # that a player without a trick wins one of the early ones that are left
    hide: float = 0.01  # antes for each card shown that cannot win


class CatTeHeuristic(Agent):
    """The hand-written player of ``cat_te_v0``, for every rule set. It uses no randomness."""

    def __init__(self, game: Game, seed: Seed = None, weights: Weights | None = None) -> None:
        super().__init__(game, seed)
        if game.id != "cat_te_v0":
            raise ValueError(f"this heuristic plays cat_te_v0, not {game.id!r}")
        rules = cast(Rules, game.rules)
        self.weights = Weights() if weights is None else weights
        offset = {name: part.offset for name, part in game.observation_layout.items()}
        offset["pot"] = offset.get("side_pot", -1)
        table = Table(
            rules.num_players, int(rules.eliminates), rules.sweep_factor, rules.show_factor, rules.side_pot,
            *(offset.get(name, -1) for name in Table._fields[5:]),
        )  # fmt: skip
        self._t, self._w = _record(table, np.int64), _record(self.weights, np.float64)

    def act(
        self,
        observation: NDArray[np.int8],
        action_mask: NDArray[Any],
        history: NDArray[np.int8] | None = None,
    ) -> int:
        return int(self.act_batch(observation[None], action_mask[None])[0])

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        actions = np.empty(len(observations), np.int64)
        self._choose(observations, action_masks, actions)
        return actions

    def explain(
        self, observation: NDArray[np.int8], action_mask: NDArray[Any]
    ) -> dict[int, dict[str, float]]:
        """The points of every legal action by reason, best action first: {action: {reason: points}}."""
        points = self._choose(observation[None], action_mask[None], np.empty(1, np.int64))
        order = sorted(np.flatnonzero(action_mask).tolist(), key=lambda action: -points[action].sum())
        return {action: dict(zip(REASONS, points[action].tolist(), strict=True)) for action in order}

    def _choose(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], actions: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Fill ``actions``; the points (A, reasons) of the last row."""
        # Compiled code does not look where it reads, so the shapes are held here.
        length, num_actions = self.game.observation_layout.size, self.game.num_actions
        if observations.shape[1:] != (length,) or action_masks.shape != (len(observations), num_actions):
            raise ValueError(
                f"observations {observations.shape} and masks {action_masks.shape}: this game has rows of "
                f"{length} and {num_actions}, one of each for a decision"
            )
        points = np.zeros((num_actions, len(REASONS)))
        choose_rows(
            np.ascontiguousarray(observations, np.int8), np.ascontiguousarray(action_masks, np.bool_),
            self._t, self._w, points, actions,
        )  # fmt: skip
        if (actions < 0).any():
            raise ValueError(
                f"no legal action in row {int(np.argmin(actions))}: only a seat to move can be asked"
            )
        return points


def _record(values: Any, kind: type) -> Any:
    """A named tuple as a NumPy record of fields of one type: compiled code takes it by the names of its fields."""
    return np.array([tuple(values)], np.dtype((np.record, [(name, kind) for name in values._fields])))[0]


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


@numba.njit(cache=True)
def look(seen: Any, t: Any, w: Any, cards: Any, above: Any, of_suit: Any) -> View:
    """Read an observation; the arrays are filled and become part of the answer."""
    unseen = NUM_CARDS
    for suit in range(NUM_SUITS):
        of_suit[suit] = 0
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


@numba.njit(cache=True)
def index_of_one(one_hot: Any) -> int:
    """Where the 1 stands, -1 for all zeros."""
    for i in range(len(one_hot)):
        if one_hot[i]:
            return i
    return -1


@numba.njit(cache=True)
def unbeaten(view: View, t: Any, w: Any, card: int, trick: int, rivals: float) -> float:
    """The chance that none of ``rivals`` players beats ``card``, which is winning the trick."""
    held = HAND_SIZE - trick
    eager = 1.0 if trick == LAST else (w.eager_blind if trick == BLIND else w.eager)
    holds = 1.0 - (1.0 - view.above[card] / max(1, view.unseen)) ** held
    return (1.0 - eager * holds) ** rivals


@numba.njit(cache=True)
def above_leader(view: View, w: Any, card: int, trick: int) -> float:
    """The chance that ``card`` is higher than the card of its suit that somebody leads."""
    share = view.above[card] / max(1, view.of_suit[card % NUM_SUITS])
    return (1.0 - share) ** (w.last_height if trick == LAST else w.height)


@numba.njit(cache=True)
def plan(view: View, t: Any, w: Any, worth: Any) -> None:
    """Fill ``worth`` (64, 3, 2): the chance to win the round with a part of the hand, by early tricks and lead.

    The part is a number whose bit i stands for card i of the hand, and its size tells the trick. A sweep that pays
    double counts as the chance that would be worth as much.
    """
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
            lost = lose_from(early, trick)
            others = view.late if trick >= BLIND else float(view.others)
            # Leading: the best card. Following: nothing if no suit suits, else the best of winning and folding.
            fold = 0.0
            for i in range(view.size):
                if (part >> i) & 1:
                    fold = max(fold, worth[part & ~(1 << i), lost, FOLLOWS])
            lead = 0.0
            follow = 0.0
            for suit in range(NUM_SUITS):
                best = fold
                for i in range(view.size):
                    card = view.cards[i]
                    if (part >> i) & 1 and card % NUM_SUITS == suit:
                        rest = part & ~(1 << i)
                        win = worth[rest, win_from(early), LEADS] if size > 1 else 1.0
                        lose = worth[rest, lost, FOLLOWS]
                        safe = unbeaten(view, t, w, card, trick, others)
                        lead = max(lead, safe * win + (1.0 - safe) * lose)
                        # Half of the others behind the leader act before, half after the player.
                        half = unbeaten(view, t, w, card, trick, max(0.0, others - 1.0) / 2.0)
                        high = above_leader(view, w, card, trick) * half
                        taken = half * win + (1.0 - half) * lose
                        best = max(best, high * taken + (1.0 - high) * fold)
                follow += best * view.of_suit[suit] / max(1, view.unseen)
            worth[part, early, LEADS] = lead
            worth[part, early, FOLLOWS] = follow


@numba.njit(cache=True)
def win_from(early: int) -> int:
    """Early tricks after one more."""
    return ALL if early == ALL else SOME


@numba.njit(cache=True)
def lose_from(early: int, trick: int) -> int:
    """Early tricks after a lost trick: who had won all of none has none."""
    return NOTHING if early == NOTHING or (early == ALL and trick == 0) else SOME


@numba.njit(cache=True)
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
    if not folds and chance == 0.0:
        points[HIDE] = -w.hide


@numba.njit(cache=True)
def weigh_row(
    seen: Any, mask: Any, t: Any, w: Any, cards: Any, above: Any, of_suit: Any, worth: Any, points: Any
) -> None:
    """Fill ``points`` (A, reasons) in the rows of the legal actions of one observation."""
    view = look(seen, t, w, cards, above, of_suit)
    plan(view, t, w, worth)
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


@numba.njit(cache=True, nogil=True)
def choose_rows(observations: Any, masks: Any, t: Any, w: Any, points: Any, actions: Any) -> None:
    """Write the action with most points for each row, the lowest id among equals; -1 where none is legal."""
    cards = np.zeros(HAND_SIZE, np.int64)
    above = np.zeros(NUM_CARDS, np.int64)
    of_suit = np.zeros(NUM_SUITS, np.int64)
    worth = np.zeros((1 << HAND_SIZE, 3, 2))
    for row in range(len(observations)):
        best = -np.inf
        actions[row] = -1
        if not masks[row].any():
            continue
        weigh_row(observations[row], masks[row], t, w, cards, above, of_suit, worth, points)
        for action in range(masks.shape[1]):
            if masks[row, action]:
                total = points[action].sum()
                if total > best:
                    best = total
                    actions[row] = action
