"""A hand-written player of Cat Te, whose reasons can be read.

It looks at one observation and makes a plan for its own hand: what is it worth to hold these cards at this trick, as
the leader or not, with or without an early trick? The plan does not tell the others apart: each of their cards may be
any card that the player has not seen, and each of them tries with a certain chance to win a trick that it can win. So
the worth of a hand follows from that of the hands with one card less (at most 64 of them), and a card played now is
worth

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

`explain` shows them for a position, ``Weights`` holds how the others are thought to play, and the module
``cat_te_reasons`` says how the points are computed.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed
from catbox_agents.heuristics.base import ReasonedAgent, as_record, part_offsets
from catbox_agents.heuristics.cat_te_reasons import REASONS, choose_rows
from catbox_env import Game
from catbox_env.games.cat_te.rules import Rules

#: The parts of the observation that are read; the second ones are left out under some rules.
PARTS = ("hand", "folded", "faceup", "early_tricks", "in_round", "led_suit", "leader", "trick")
OPTIONAL_PARTS = ("upturned", "side_pot")


class RuleNumbers(NamedTuple):
    """What the compiled functions need to know of the rules."""

    players: int
    eliminates: int
    sweep_factor: int
    show_factor: int
    side_pot: int


class Weights(NamedTuple):
    """How the others are thought to play: chances from 0 to 1, but for ``height`` and ``hide``."""

    eager: float = 0.65  # that a player that can win an early trick tries to
    eager_blind: float = 0.85  # ... the fifth trick
    height: float = 1.6  # leaders lead high cards: a card below it as likely as in so many random ones
    last_height: float = 1.2  # ... in the sixth trick
    survival: float = 0.4  # that a player without a trick wins one of the early ones that are left
    hide: float = 0.01  # antes for each card shown that cannot win


class CatTeHeuristic(ReasonedAgent):
    """The hand-written player of ``cat_te_v0``, for every rule set. It uses no randomness."""

    plays = "cat_te_v0"
    reasons = REASONS

    def __init__(self, game: Game, seed: Seed = None, weights: Weights | None = None) -> None:
        super().__init__(game, seed)
        rules = cast(Rules, game.rules)
        self.weights = Weights() if weights is None else weights
        numbers = RuleNumbers(
            players=rules.num_players,
            eliminates=int(rules.eliminates),
            sweep_factor=rules.sweep_factor,
            show_factor=rules.show_factor,
            side_pot=rules.side_pot,
        )
        self._rules = as_record(numbers._asdict(), np.int64)
        self._offsets = part_offsets(game.observation_layout, PARTS, OPTIONAL_PARTS)
        self._weights = as_record(self.weights._asdict(), np.float64)

    def score(
        self,
        observations: NDArray[np.int8],
        masks: NDArray[np.bool_],
        points: NDArray[np.float64],
        actions: NDArray[np.int64],
    ) -> None:
        choose_rows(observations, masks, self._rules, self._offsets, self._weights, points, actions)
