"""A worker of expert iteration: the games, and the searches of some of the decisions in them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from catbox_agents.search import RolloutSearch, policy_target
from catbox_agents.specs import AgentSpec
from catbox_env import Game
from catbox_train.algorithms.exit.options import POLICY, ExitOptions, exit_options
from catbox_train.algorithms.exit.rollout_policy import RolloutPolicy
from catbox_train.algorithms.exit.window import Window
from catbox_train.config import TrainConfig
from catbox_train.self_play import worker as self_play
from catbox_train.self_play.distribution import sample_actions
from catbox_train.self_play.weights import Networks, SharedWeights


class Worker(self_play.Worker):
    """One worker's share of the games, and of the decisions that were searched.

    ``window`` holds these; ``ready`` are its rows, not those of the buffer. Of the last batch: ``searched``, how many
    decisions, ``rollouts``, in how many games, ``seconds``, in what time, and ``corrected``, how often the search chose
    another action than the most probable one.
    """

    def __init__(
        self,
        game: Game,
        config: TrainConfig,
        weights: SharedWeights,
        seed: np.random.SeedSequence,
        number: int = 0,
    ) -> None:
        super().__init__(game, config, Networks(weights, number), seed, carried=0)
        self.options = exit_options(config)
        size = self.options.searched_by_worker(config)
        self.window = Window(game, self.network_inputs, self.options.window, size)
        self.policy = RolloutPolicy(game, self.networks, self.network_inputs)
        self._log_probabilities = np.zeros(self.shape[1], np.float32)
        self.searched = self.rollouts = self.corrected = 0
        self.seconds = 0.0

    def collect(self) -> None:
        """Play ``num_steps`` steps of every game with the current policy, and search some of its decisions."""
        self.play()
        began = time.perf_counter()
        self.search()
        self.seconds = time.perf_counter() - began
        self.ready = self.window.filled()

    def choose(self, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        """Draw ``actions`` of ``row`` from the policy."""
        sample_actions(outputs, self.masks[row], uniforms, self.actions[row], self._log_probabilities)

    def search(self) -> None:
        """Search decisions drawn from those of the batch with a choice, and put what is found into the window.

        The target is the policy times what the search says for each action: what the search cannot tell apart stays as
        it is, and what it finds again and again adds up.
        """
        options, game, flat = self.options, self.vec.game, self.flat
        choices = self.learns.reshape(-1) & (flat["masks"].sum(axis=1) > 1)
        candidates = np.flatnonzero(choices)
        rows = self.generator.choice(candidates, min(len(candidates), self.window.size), replace=False)
        seed = int.from_bytes(self.generator.bytes(16), "little")
        inputs, action_features, histories, masks = (
            flat[name][rows] for name in ("observations", "action_features", "histories", "masks")
        )
        # Made anew: an agent with random numbers of its own then gives the same in a run that was resumed.
        spec = options.rollout_policy
        search = make_search(game, options, self.policy if spec == POLICY else spec)
        found = search.search(inputs[:, : game.observation_layout.size], masks, seed)
        logits = np.where(masks, self.policy.logits(inputs, action_features, histories, masks), -np.inf)
        targets = improved_policy(logits, policy_target(found, options.temperature))
        self.window.put(self.updates_done, inputs, action_features, histories, masks, targets)
        self.searched, self.rollouts = len(rows), int(found.visits.sum())
        self.corrected = int((logits.argmax(axis=1) != found.actions).sum())

    def save(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything that the worker's future depends on besides the weights: arrays, and JSON values."""
        arrays, values = super().save()
        return arrays | {f"window.{name}": array for name, array in self.window.save().items()}, values

    def load(self, arrays: dict[str, np.ndarray], values: dict[str, Any], num_past: int = 0) -> None:
        """Go on from what ``save`` returned, after ``updates_done`` updates; see `self_play.worker.Worker.load`."""
        prefix = "window."
        window = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        super().load(arrays, values, num_past)
        self.window.load(window, self.updates_done)


def make_search(game: Game, options: ExitOptions, policy: AgentSpec) -> RolloutSearch:
    """The search in which ``policy`` plays on. Raises ``ValueError`` for one that cannot."""
    try:
        return RolloutSearch(game, policy, options.search_worlds)
    except ValueError as error:
        raise ValueError(f"rollout_policy: {error}") from error


def improved_policy(logits: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Probabilities (n, A) float32 in proportion to the softmax of ``logits`` (n, A) times ``factors`` (n, A).

    Illegal actions have the logit minus infinity. Where the two together leave nothing, the factors alone count.
    """
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True)) * factors
    totals = weights.sum(axis=1, keepdims=True)
    found = np.divide(weights, totals, out=factors.astype(np.float64), where=totals > 0)
    return found.astype(np.float32)
