"""A hand-written player of Cat in the Box, whose reasons can be read.

It looks at one observation and gives every legal action points for the reasons below; the action with most points
is taken (the lowest id among equals). Points are points of score, so the reasons add up:

| reason | what it weighs |
|---|---|
| ``tricks``  | the point for this trick, by the chance that the card wins it |
| ``bid``     | the chance to end with exactly the bid, times the bonus that would pay |
| ``group``   | how large the group of own tokens is and can still grow |
| ``paradox`` | the chance to have no legal declaration later, times what that would cost |
| ``tokens``  | the X-token that not following loses |
| ``hand``    | (discard only) which card the hand misses least |

`explain` shows them for a position, ``WEIGHTS`` holds what each counts for, by number of players, and the module
``cat_in_the_box_reasons`` says how they are reckoned.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed
from catbox_agents.cat_in_the_box_reasons import REASONS, Table, Weights, choose_rows, weigh_row
from catbox_env.core.game import Game
from catbox_env.games.cat_in_the_box.rules import Rules

WEIGHTS = {2: Weights(), 3: Weights(), 4: Weights(), 5: Weights()}


class CatInTheBoxHeuristic(Agent):
    """The hand-written player of ``cat_in_the_box_v0``, for every rule set. It uses no randomness."""

    def __init__(self, game: Game, seed: Seed = None, weights: Weights | None = None) -> None:
        super().__init__(game, seed)
        if game.id != "cat_in_the_box_v0":
            raise ValueError(f"this heuristic plays cat_in_the_box_v0, not {game.id!r}")
        rules = cast(Rules, game.rules)
        self.weights = WEIGHTS[rules.num_players] if weights is None else weights
        self._bid_values = np.array(rules.bids, dtype=np.int64)
        offset = {name: part.offset for name, part in game.observation_layout.items()}
        self._table = Table(
            rules.num_players, rules.num_ranks, rules.num_colors, rules.copies, rules.num_tricks,
            rules.bonus_max_tricks, len(rules.bids),
            *(offset.get(name, -1) for name in Table._fields[7:]),
        )  # fmt: skip

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
        seen, masks = self._checked(observations, action_masks)
        actions = np.empty(len(seen), dtype=np.int64)
        choose_rows(seen, masks, self._table, self.weights, self._bid_values, actions)
        if (actions < 0).any():
            raise ValueError(
                f"no legal action in row {int(np.argmin(actions))}: only a seat to move can be asked"
            )
        return actions

    def explain(
        self, observation: NDArray[np.int8], action_mask: NDArray[Any]
    ) -> dict[int, dict[str, float]]:
        """The points of every legal action by reason, best action first: {action: {reason: points}}."""
        seen, masks = self._checked(observation[None], action_mask[None])
        t = self._table
        points = np.zeros((masks.shape[1], len(REASONS)))
        weigh_row(
            seen[0], masks[0], t, self.weights, self._bid_values,
            np.zeros(t.ranks, np.int64), np.zeros((t.colors, t.ranks + 1), np.int64), np.zeros(t.players), points,
        )  # fmt: skip
        order = sorted(np.flatnonzero(masks[0]).tolist(), key=lambda action: -points[action].sum())
        return {action: dict(zip(REASONS, points[action].tolist(), strict=True)) for action in order}

    def _checked(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any]
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        # Compiled code does not look where it reads, so the shapes are held here.
        length, actions = self.game.observation_layout.size, self.game.num_actions
        if observations.shape[1:] != (length,) or action_masks.shape != (len(observations), actions):
            raise ValueError(
                f"observations {observations.shape} and masks {action_masks.shape}: this game has rows of "
                f"{length} and {actions}, one of each for a decision"
            )
        return np.ascontiguousarray(observations, np.int8), np.ascontiguousarray(action_masks, np.bool_)
