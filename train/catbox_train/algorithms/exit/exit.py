"""Expert iteration (Anthony et al. 2017, https://arxiv.org/abs/1705.08439) in self-play.

The expert is a one-ply rollout search over worlds consistent with what a seat sees (``catbox_agents.search``). In each
update the current policy plays games, a share of their decisions is searched, and the policy learns from all searches
of the last updates.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.search import RolloutSearch, policy_target
from catbox_agents.search.rollout import MAX_GAMES
from catbox_agents.specs import AgentSpec
from catbox_env import Game
from catbox_train.algorithms.exit.options import POLICY, ExitOptions, exit_options
from catbox_train.algorithms.exit.window import Window, window_bytes
from catbox_train.config import TrainConfig
from catbox_train.self_play.algorithm import ILLEGAL, READ, SelfPlay
from catbox_train.self_play.distribution import sample_actions
from catbox_train.self_play.group import Group
from catbox_train.self_play.networks import network_inputs
from catbox_train.self_play.worker import Worker


@dataclass
class Searched:
    """The searches of one worker in a batch: the numbers of decisions, rollouts and seconds; and how often the search
    chose an action other than the most probable one."""

    decisions: int = 0
    rollouts: int = 0
    corrected: int = 0
    seconds: float = 0.0


class ExpertIteration(SelfPlay):
    """The policy, the optimizer, and the workers with their games.

    ``windows`` holds, for each worker, the decisions that it searched in the last updates.
    """

    Options = ExitOptions
    options: ExitOptions

    def __init__(self, config: TrainConfig, game: Game, group: Group | None = None) -> None:
        super().__init__(config, game, group)
        size = self.options.searched_by_worker(config)
        self.windows = {
            worker.number: Window(game, self.inputs, self.options.window, size) for worker in self.workers
        }
        self.searched: list[Searched] = []

    @classmethod
    def check_run(cls, config: TrainConfig, game: Game) -> None:
        """Raise ``ValueError`` for a ``start_from`` or a rollout policy that cannot be used."""
        super().check_run(config, game)
        options = exit_options(config)
        if options.rollout_policy != POLICY:
            make_search(game, options, options.rollout_policy)

    @classmethod
    def memory_needed(cls, config: TrainConfig, game: Game) -> int:
        """Besides what all algorithms need, the windows, and the games of the running searches."""
        options = exit_options(config)
        inputs = network_inputs(game, options)
        rows = config.num_workers * options.window * options.searched_by_worker(config)
        # For each game of a search: observation and mask, and the inputs of the network.
        rollout = window_bytes(game, inputs, 1) + game.observation_layout.size
        games = config.num_workers * MAX_GAMES * rollout
        return super().memory_needed(config, game) + window_bytes(game, inputs, rows) + games

    def collect(self, progress: float) -> None:
        """Play ``num_steps`` steps of every game with the current policy, and search some of its decisions."""
        super().collect(progress)
        self.searched = self.in_threads(self.search)

    def choose(self, worker: Worker, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        """Draw the actions from the policy."""
        masks, actions = self.buffer.masks[row, worker.columns], self.buffer.actions[row, worker.columns]
        sample_actions(outputs, masks, uniforms, actions, np.empty(len(actions), np.float32))

    @torch.no_grad()
    def search(self, worker: Worker) -> Searched:
        """Search decisions drawn from those of a worker's games with a choice, and put the results into its window.

        The target is the policy times the search's factor for each action: actions that the search cannot tell apart
        keep their proportions, and what it finds repeatedly adds up.
        """
        began, options, game, buffer = time.perf_counter(), self.options, self.game, self.buffer
        window, columns = self.windows[worker.number], worker.columns
        choices = buffer.learns[:, columns] & (buffer.masks[:, columns].sum(axis=2) > 1)
        candidates = np.argwhere(choices)
        drawn = worker.generator.choice(
            len(candidates), min(len(candidates), window.size), replace=False, shuffle=True
        )
        rows, games = candidates[drawn].T
        seed = int.from_bytes(worker.generator.bytes(16), "little")
        found = {
            name: getattr(buffer, name)[rows, columns.start + games]
            for name in ("observations", "histories", "action_features", "masks")
        }
        # Made anew, so that an agent with its own random numbers plays the same in a resumed run.
        spec = options.rollout_policy
        search = make_search(game, options, PolicyAgent(self.policy(), game) if spec == POLICY else spec)
        masks = found["masks"]
        answers = search.search(found["observations"][:, : game.observation_layout.size], masks, seed)
        logits = np.where(masks, self.logits(**found), -np.inf)
        targets = improved_policy(logits, policy_target(answers, options.temperature))
        window.put(self.updates_done, found | {"targets": targets})
        corrected = int((logits.argmax(axis=1) != answers.actions).sum())
        seconds = time.perf_counter() - began
        return Searched(len(rows), int(answers.visits.sum()), corrected, seconds)

    @torch.no_grad()
    def logits(
        self,
        observations: np.ndarray,
        histories: np.ndarray,
        action_features: np.ndarray,
        masks: np.ndarray,
    ) -> np.ndarray:
        """Logits (n, A) float32 of the legal actions; those of others are meaningless."""
        found = np.empty(masks.shape, np.float32)
        for start in range(0, len(masks), self.at_once):
            rows = slice(start, start + self.at_once)
            seen = (torch.from_numpy(array[rows]).to(self.device) for array in (observations, histories))
            outputs = self.player(*seen, precision=self.precision).cpu().numpy()
            self.add_scores(outputs, masks[rows], action_features[rows])
            found[rows] = outputs[:, : masks.shape[1]]
        return found

    def learn(self, progress: float) -> dict[str, float]:
        """Improve the policy on the decisions in the windows; if there are none, nothing is learned."""
        learning_rate, done = self.learning_rate(progress), self.searched
        own = [sum(s.decisions for s in done), sum(s.rollouts for s in done), sum(s.corrected for s in done)]
        decisions, rollouts, corrected = np.sum(self.group.gather(own), axis=0).tolist()
        seconds = max(self.group.gather(max(s.seconds for s in done)))
        learned: dict[str, float] = {
            "searched": decisions,
            "rollouts": rollouts,
            "learning_rate": learning_rate,
            "rollouts_per_second": rollouts / max(1e-9, seconds),
        }
        if decisions:
            learned["corrected"] = corrected / decisions
        windows = [window.arrays for window in self.windows.values()]
        filled = [window.filled() for window in self.windows.values()]
        num_ready = sum(map(len, filled))
        if not (num_minibatches := self.num_minibatches(num_ready)):
            return learned
        columns = {
            name: torch.from_numpy(
                np.concatenate([arrays[name][rows] for arrays, rows in zip(windows, filled, strict=True)])
            ).to(self.device)
            for name in windows[0]
        }

        def loss(rows: torch.Tensor) -> tuple[torch.Tensor, Mapping[str, torch.Tensor]]:
            taken = {name: column.index_select(0, rows) for name, column in columns.items()}
            masks, targets = taken["masks"], taken["targets"]
            logits = self.actor.logits(*(taken[name] for name in READ), precision=self.precision)
            logs = logits.masked_fill(~masks, ILLEGAL).log_softmax(1)
            entropy = -(logs.exp() * logs).sum(1).mean()
            target_kl = (torch.xlogy(targets, targets) - targets * logs).sum(1).mean()
            return target_kl - self.options.entropy * entropy, {"target_kl": target_kl, "entropy": entropy}

        return self.make_steps(loss, np.arange(num_ready), num_minibatches, learning_rate) | learned

    def worker_arrays(self, worker: Worker) -> dict[str, np.ndarray]:
        """The games of a worker, and its window."""
        window = self.windows[worker.number].arrays
        return super().worker_arrays(worker) | {f"window.{name}": array for name, array in window.items()}

    def load_worker(self, worker: Worker, arrays: Mapping[str, np.ndarray]) -> None:
        """Resume from what `worker_arrays` returned."""
        super().load_worker(worker, arrays)
        window = self.windows[worker.number]
        window.load({name: arrays[f"window.{name}"] for name in window.arrays})
        self.check_histories(window.arrays["histories"][window.filled()])


def make_search(game: Game, options: ExitOptions, policy: AgentSpec) -> RolloutSearch:
    """The search whose rollouts ``policy`` plays. Raises ``ValueError`` for one that cannot."""
    try:
        return RolloutSearch(game, policy, options.search_worlds)
    except ValueError as error:
        raise ValueError(f"rollout_policy: {error}") from error


def improved_policy(logits: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Probabilities (n, A) float32 in proportion to the softmax of ``logits`` (n, A) times ``factors`` (n, A).

    Illegal actions have the logit minus infinity. Where the product is 0 everywhere, the factors alone count.
    """
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True)) * factors
    totals = weights.sum(axis=1, keepdims=True)
    found = np.divide(weights, totals, out=factors.astype(np.float64), where=totals > 0)
    return found.astype(np.float32)
