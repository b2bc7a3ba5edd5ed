"""The base of the hand-written players: every legal action gets points for several reasons; most points win."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, RandomAgent, Seed, check_rows
from catbox_env import Game
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import record_dtype

#: A weight w of a variant is w * exp(a) + SHIFT * b, with a and b drawn from the normal distribution with standard
#: deviation `ReasonedAgent.variation`.
SHIFT = 0.5


class ReasonedAgent(Agent):
    """A deterministic player of one game whose choices can be explained.

    A subclass defines:

    - ``plays``: the id of the game; ``reasons``: what an action gets points for, in order.
    - ``weights``: by name, or by number of players if they differ.
    - ``choose(params, weights, seen, mask, scratch, points) -> action``: compiled. It returns the `best_action`, or -1
      if ``mask`` (A,) allows none or ``seen`` (O,) shows no game under way, and leaves the points of the legal actions
      in their rows of ``points`` (A, reasons). Compiled for GPUs too, where it cannot make arrays.
    - ``scratch``: the dtype of the record ``scratch``, whose content nobody keeps.
    - ``variation``: how far the weights of variants are from its own, see `SHIFT`.

    Attributes: ``weights_record``, its weights as an array (1,) of one record.

    ``variant``: a player with other habits, and often weaker: its weights are drawn with this number as seed. 0 is the
    player itself.
    """

    plays: ClassVar[str]
    reasons: ClassVar[tuple[str, ...]]
    weights: ClassVar[Mapping[Any, Any]]
    choose: ClassVar[Callable[..., int]]
    scratch: ClassVar[np.dtype[Any]]
    variation: ClassVar[float] = 0.7

    def __init__(self, game: Game, seed: Seed = None, variant: int = 0) -> None:
        super().__init__(game, seed)
        if game.id != self.plays:
            raise ValueError(f"this heuristic plays {self.plays}, not {game.id!r}")
        weights = self.weights.get(game.num_players, self.weights)
        values = np.array(list(weights.values()), np.float64)
        if variant:
            noise = np.random.default_rng(variant).normal(0.0, self.variation, (2, len(values)))
            values = values * np.exp(noise[0]) + SHIFT * noise[1]
        kind = record_dtype([(name, np.float64) for name in weights])
        self.weights_record = np.array([tuple(values)], kind)
        self._choose_rows = make_choose_rows(self.choose, self.scratch)

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
        self._choose_rows(self.game.params, self.weights_record, seen, masks, points, actions)
        if (actions < 0).any():
            raise ValueError(
                f"row {int(np.argmin(actions))} shows no position of a game under way: ask only for seats that are to "
                "move"
            )
        return actions, points


def plays_on_gpu(agent: Agent) -> bool:
    """Whether `catbox_agents.device` can play like ``agent``: the random agent, and players that are explained by
    `ReasonedAgent` and do not choose otherwise."""
    return type(agent) is RandomAgent or (
        isinstance(agent, ReasonedAgent) and type(agent).act_batch is ReasonedAgent.act_batch
    )


@cache
def make_choose_rows(choose: Callable[..., int], scratch: np.dtype[Any]) -> Callable[..., None]:
    """``choose`` for rows: it fills ``actions`` (N,), and leaves the points of the last row in ``points``."""

    @cached_njit(nogil=True)
    def choose_rows(params, weights, observations, masks, points, actions):  # type: ignore[no-untyped-def]
        scratches = np.zeros(1, scratch)
        for row in range(len(observations)):
            actions[row] = choose(params[0], weights[0], observations[row], masks[row], scratches[0], points)

    return choose_rows


@njit(inline="always")  # passing rows of arrays to a call costs reference counting
def best_action(mask: Any, points: Any) -> int:
    """The legal action of ``mask`` (A,) with most ``points`` (A, reasons), the lowest id among equals; -1: none."""
    best, choice = -np.inf, -1
    for action in range(len(mask)):
        if mask[action]:
            total = 0.0
            for reason in range(points.shape[1]):
                total += points[action, reason]
            if total > best:
                best, choice = total, action
    return choice
