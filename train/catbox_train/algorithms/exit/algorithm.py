"""Expert iteration (Anthony et al. 2017, https://arxiv.org/abs/1705.08439) in self-play.

The expert is a one-ply rollout search over worlds that agree with what a seat sees (``catbox_agents.search``). In each
update games are played by the current policy; a share of their decisions is searched; and the policy learns to answer
all searches of the last updates as the search did.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from catbox_agents.networks.checkpoint import load_checkpoint
from catbox_agents.search.rollout import MAX_GAMES
from catbox_env import Game
from catbox_train.algorithm import TrainingState
from catbox_train.algorithms.exit.loss import LEARNING_METRICS, check_outputs, loss_gradient
from catbox_train.algorithms.exit.options import ExitOptions, exit_options
from catbox_train.algorithms.exit.rollout import Worker
from catbox_train.algorithms.exit.window import window_bytes
from catbox_train.config import TrainConfig
from catbox_train.self_play.algorithm import SelfPlay, memory_of_weights
from catbox_train.self_play.weights import Actor, network_inputs
from catbox_train.self_play.worker import buffer_bytes


class ExpertIteration(SelfPlay[Worker]):
    """The policy, the optimizer, and the workers with their games and searched decisions."""

    Options = ExitOptions
    options: ExitOptions

    def make_networks(self) -> Actor:
        """The policy, that of ``start_from`` if it is given.

        Raises ``ValueError`` where that checkpoint is not there, damaged, or of another network or game.
        """
        networks = Actor(self.game, self.options, torch.Generator().manual_seed(self.config.seed))
        if path := self.options.start_from:
            try:
                found = load_checkpoint(path, self.game).network
            except (OSError, ValueError) as error:
                raise ValueError(f"start_from: {error}") from error
            there, wanted = found.describe(), networks.actor.describe()
            if there != wanted:
                raise ValueError(
                    f"start_from = {path!r} holds the network {there}, and the settings ask for {wanted}: set hidden, "
                    "activation, features, action_features and history as they were when it was trained"
                )
            networks.actor.load_state_dict(found.state_dict())
        return networks

    def make_worker(self, seed: np.random.SeedSequence, number: int) -> Worker:
        """Worker ``number``."""
        return Worker(self.game, self.config, self.weights, seed, number)

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
        )

    def update(self, through: float) -> dict[str, float]:
        """Play a batch, search some of its decisions, and learn from those of the window."""
        for worker in self.workers:
            worker.update = self.updates_done
        return super().update(through)

    def learn_at(self, through: float) -> dict[str, float]:
        """Improve the policy on the decisions in the window; without any, nothing is learned."""
        learning_rate, workers = self.learning_rate(through), self.workers
        rollouts, searched = sum(w.rollouts for w in workers), sum(w.searched for w in workers)
        learned: dict[str, float] = {
            "searched": searched,
            "rollouts": rollouts,
            "learning_rate": learning_rate,
        }
        learned["rollouts_per_second"] = rollouts / max(1e-9, max(worker.seconds for worker in workers))
        if searched:
            learned["corrected"] = sum(worker.corrected for worker in workers) / searched
        if not any(len(worker.ready) for worker in workers):
            return learned
        loss = partial(loss_gradient, entropy_weight=self.options.entropy)
        metrics, update = self.make_steps(loss, LEARNING_METRICS, self.num_minibatches(), learning_rate)
        # What the last step made of the network.
        list(self.threads.map(check_outputs, workers, update.last_rows))
        return metrics | learned

    def restore(self, state: TrainingState, update: int) -> None:
        """Go on from ``state``. Raises ``ValueError`` for what no run comes to after ``update`` updates."""
        for worker in self.workers:
            worker.update = update
        super().restore(state, update)

    def most_rows(self) -> int:
        """The largest number of rows that an update learns from: those of the windows."""
        return sum(len(worker.window.masks) for worker in self.workers)
