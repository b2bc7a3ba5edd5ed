"""The base of the hand-written players: every legal action gets points by reason, and the most points win."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed, check_rows
from catbox_env import Game
from catbox_env.core.kernels import record_dtype


class ReasonedAgent(Agent):
    """A player of one game whose choices can be explained. It uses no randomness.

    A subclass names the game in ``plays`` and its reasons in ``reasons``, and fills in `score`.
    """

    plays: ClassVar[str]
    reasons: ClassVar[tuple[str, ...]]

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        if game.id != self.plays:
            raise ValueError(f"this heuristic plays {self.plays}, not {game.id!r}")

    def score(
        self,
        observations: NDArray[np.int8],
        masks: NDArray[np.bool_],
        points: NDArray[np.float64],
        actions: NDArray[np.int64],
    ) -> None:
        """Fill ``actions`` (N,) with the legal action of most points for each row, the lowest id among equals.

        -1 stands where ``masks`` (N, A) allows none or ``observations`` (N, O) shows no game under way. ``points``
        (A, reasons) is left with the last row's, in the rows of the legal actions.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define score()")

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        return self._choose(observations, action_masks)[0]

    def explain(
        self, observation: NDArray[np.int8], action_mask: NDArray[Any]
    ) -> dict[int, dict[str, float]]:
        """The points of every legal action by reason, best action first: {action: {reason: points}}."""
        points = self._choose(observation[None], action_mask[None])[1]
        order = sorted(np.flatnonzero(action_mask).tolist(), key=lambda action: -points[action].sum())
        return {action: dict(zip(self.reasons, points[action].tolist(), strict=True)) for action in order}

    def _choose(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The actions (N,), and the points (A, reasons) of the last row."""
        seen, masks = check_rows(self.game, observations, action_masks)
        actions = np.full(len(seen), -1, np.int64)
        points = np.zeros((self.game.num_actions, len(self.reasons)))
        self.score(seen, masks, points, actions)
        if (actions < 0).any():
            raise ValueError(
                f"row {int(np.argmin(actions))} has no legal action, or shows no position of a game under way: only a "
                "seat to move can be asked"
            )
        return actions, points


def as_record(values: Mapping[str, float], kind: type) -> Any:
    """``values`` as a NumPy record of fields of one type: compiled code takes it by the names of its fields."""
    return np.array([tuple(values.values())], record_dtype([(name, kind) for name in values]))[0]
