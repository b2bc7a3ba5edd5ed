"""Players of Cat in the Box with habits: the heuristic, except for what each class says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, SamplingAgent, Seed, sample_actions
from catbox_agents.heuristics.cat_in_the_box import CatInTheBoxHeuristic
from catbox_env import Game
from catbox_env.games.cat_in_the_box.state import RED

#: The share of random actions of the first habit.
NOISE = 0.2


class Habits(SamplingAgent):
    """The heuristic of Cat in the Box with a bad habit, which depends on the rank it has discarded.

    One of three: every fifth action is random; a colour other than red is declared only if nothing else is legal; the
    bid is one higher or lower. A seat's last discard before its first bid or play decides for the whole round.
    ``variant``: of the heuristic.
    """

    samples_actions = False  # it has no policy to tell

    def __init__(self, game: Game, seed: Seed = None, variant: int = 0) -> None:
        super().__init__(game, seed)
        self.heuristic = CatInTheBoxHeuristic(game, variant=variant)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        rules: Any = self.game.rules
        masks, chances = np.array(action_masks, bool), self.uniforms(len(action_masks))
        discarded = observations[:, self.game.observation_layout["discarded"].slice]
        rank = discarded.argmax(axis=1)
        habit = np.where(discarded.any(axis=1), rank % 3, -1)

        avoiding = np.flatnonzero(habit == 1)
        masks[avoiding] = without_color(
            rules, masks[avoiding], 1 + rank[avoiding] // 3 % (rules.num_colors - 1)
        )

        actions = self.heuristic.act_batch(observations, masks)
        bids = slice(rules.num_ranks, rules.first_play)
        shifted = np.flatnonzero((habit == 2) & masks[:, bids].any(axis=1))
        step = np.where(rank[shifted] // 3 % 2 == 0, 1, -1)
        actions[shifted] = np.clip(actions[shifted] + step, bids.start, bids.stop - 1)
        noisy = np.flatnonzero((habit == 0) & (chances < NOISE))
        actions[noisy] = sample_actions(masks[noisy].astype(float), chances[noisy] / NOISE)
        return actions


class NeverRed(Agent):
    """The heuristic of Cat in the Box that declares red only if nothing else is legal. No agent is trained with it.

    ``variant``: of the heuristic.
    """

    def __init__(self, game: Game, seed: Seed = None, variant: int = 0) -> None:
        super().__init__(game, seed)
        self.heuristic = CatInTheBoxHeuristic(game, variant=variant)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        colors = np.full(len(action_masks), RED)
        masks = without_color(self.game.rules, np.asarray(action_masks, bool), colors)
        return self.heuristic.act_batch(observations, masks)


def without_color(rules: Any, masks: NDArray[np.bool_], colors: NDArray[np.int64]) -> NDArray[np.bool_]:
    """``masks`` (n, A) without the declarations of ``colors`` (n,), wherever another action is legal."""
    first = rules.first_play + colors * rules.num_ranks
    kept = masks.copy()
    kept[np.arange(len(kept))[:, None], first[:, None] + np.arange(rules.num_ranks)] = False
    return np.where(kept.any(axis=1, keepdims=True), kept, masks)
