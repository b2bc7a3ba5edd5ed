"""Expert iteration (Anthony et al. 2017, https://arxiv.org/abs/1705.08439) in self-play.

The expert is a one-ply rollout search over worlds that agree with what a seat sees (``catbox_agents.search``). In each
update games are played by the current policy; a share of their decisions is searched; and the policy learns to answer
all searches of the last updates as the search did.
"""

from __future__ import annotations

from functools import partial

import torch

from catbox_agents.search.rollout import MAX_GAMES
from catbox_env import Game
from catbox_train.algorithms.exit.loss import LEARNING_METRICS, check_outputs, loss_gradient
from catbox_train.algorithms.exit.options import POLICY, ExitOptions, exit_options
from catbox_train.algorithms.exit.rollout import Worker, make_search
from catbox_train.algorithms.exit.window import window_bytes
from catbox_train.config import TrainConfig
from catbox_train.self_play.algorithm import SelfPlay, memory_of_weights
from catbox_train.self_play.weights import Actor, network_inputs
from catbox_train.self_play.worker import buffer_bytes


class ExpertIteration(SelfPlay[Worker]):
    """The policy, the optimizer, and the workers with their games and searched decisions."""

    Options = ExitOptions
    Worker = Worker
    processes_from = 50_000  # decisions cost far more here than in the other algorithms
    options: ExitOptions

    @classmethod
    def make_networks(cls, config: TrainConfig, game: Game) -> Actor:
        """The policy, that of ``start_from`` if it is given.

        Raises ``ValueError`` where that checkpoint is not there, damaged, of another network or game, or no policy.
        """
        options = exit_options(config)
        networks = Actor(game, options, torch.Generator().manual_seed(config.seed))
        networks.start_from(options.start_from, game)
        return networks

    @classmethod
    def check_run(cls, config: TrainConfig, game: Game) -> None:
        """Raise ``ValueError`` for a ``start_from`` or a rollout policy that cannot be used."""
        cls.make_networks(config, game)
        options = exit_options(config)
        if options.rollout_policy != POLICY:
            make_search(game, options, options.rollout_policy)

    @classmethod
    def memory_needed(cls, config: TrainConfig, game: Game) -> int:
        """Bytes of the weights, of a batch, of the window, of the games of a search, and of the earlier policies."""
        options = exit_options(config)
        inputs = network_inputs(game, options)
        searched = options.searched_by_worker(config)
        rows = config.num_workers * options.window * searched
        # Of each game of a search: observation and mask, and what the network takes.
        rollout = window_bytes(game, inputs, 1) + game.observation_layout.size
        games = config.num_workers * MAX_GAMES * rollout
        return (
            buffer_bytes(game, config, 0)
            + window_bytes(game, inputs, rows)
            + games
            + memory_of_weights(config, game)
            + cls.memory_of_processes(config)
        )

    def learn_at(self, through: float) -> dict[str, float]:
        """Improve the policy on the decisions in the window; without any, nothing is learned."""
        learning_rate = self.learning_rate(through)
        *counts, seconds, ready = zip(*self.crew.map(searches_of), strict=True)
        searched, rollouts, corrected = map(sum, counts)
        learned: dict[str, float] = {
            "searched": searched,
            "rollouts": rollouts,
            "learning_rate": learning_rate,
        }
        learned["rollouts_per_second"] = rollouts / max(1e-9, *seconds)
        if searched:
            learned["corrected"] = corrected / searched
        if not any(ready):
            return learned
        loss = partial(loss_gradient, entropy_weight=self.options.entropy)
        metrics = self.make_steps(loss, LEARNING_METRICS, self.num_minibatches(), learning_rate)
        # What the last step made of the network.
        self.crew.map(check_outputs)
        return metrics | learned

    def most_rows(self) -> int:
        """The largest number of rows that an update learns from: those of the windows."""
        return sum(self.crew.map(window_rows))


def window_rows(worker: Worker) -> int:
    """Rows of the window."""
    return len(worker.window.masks)


def searches_of(worker: Worker) -> tuple[int, int, int, float, int]:
    """Decisions that were searched, games of these searches, choices that they corrected, seconds that they took, and
    rows that can be learned from."""
    return worker.searched, worker.rollouts, worker.corrected, worker.seconds, len(worker.ready)
