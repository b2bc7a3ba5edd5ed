"""PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347) in self-play: what is collected, and the loss.

Playing games and making gradient steps is shared by all algorithms: `SelfPlay`.

One network plays every seat, and its last output is the value of the position for the seat to move. Each seat's
transition runs from its own decision to its own next one (`gae`). Illegal actions do not exist for the policy: their
probability is exactly 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import torch

from catbox_agents.networks.inputs import input_scale
from catbox_agents.networks.mlp import MLP
from catbox_env import Game
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.ppo.gae import compute_advantages
from catbox_train.algorithms.ppo.options import PPOOptions, ppo_options
from catbox_train.config import TrainConfig
from catbox_train.devices import check_compiler
from catbox_train.self_play.algorithm import ILLEGAL, READ, SelfPlay, between
from catbox_train.self_play.distribution import sample_actions
from catbox_train.self_play.group import Group
from catbox_train.self_play.networks import network_inputs
from catbox_train.self_play.worker import Worker

#: Larger logits mean that the policy has diverged.
LARGEST_LOGIT = 1e8


class PPO(SelfPlay):
    """The network, or actor and privileged critic, the optimizer, and the workers with their games."""

    Options = PPOOptions
    options: PPOOptions

    def __init__(self, config: TrainConfig, game: Game, group: Group | None = None) -> None:
        super().__init__(config, game, group)
        self.critic = cast(MLP, self.networks["critic"]) if self.options.privileged_critic else None
        self.loss = self.plain_loss
        if self.options.compile and self.device.type != "cpu":
            check_compiler(self.device)
            self.loss = torch.compile(
                self.plain_loss, dynamic=True
            )  # minibatches differ in size by a few rows
        self.read = (*READ, "states") if self.critic else READ
        players, num_games = game.num_players, self.buffer.shape[1]
        self.log_probabilities = np.zeros(self.buffer.shape, np.float32)
        self.values = np.zeros(self.buffer.shape, np.float32)
        self.advantages = np.zeros(self.buffer.shape, np.float32)
        #: The targets of the values.
        self.returns = np.zeros(self.buffer.shape, np.float32)
        #: The row of each seat's pending decision in each game, or -1, and what it has been paid so far.
        self.pending_rows = np.full((players, num_games), -1, np.int64)
        self.pending_rewards = np.zeros((players, num_games), np.float32)

    @classmethod
    def make_networks(cls, config: TrainConfig, game: Game) -> dict[str, MLP]:
        """The actor, and the privileged critic if there is one; otherwise the actor outputs the values."""
        options = ppo_options(config)
        inputs, critic = network_inputs(game, options), options.privileged_critic
        networks = {"actor": MLP.for_policy(inputs, options.hidden, options.activation, 0 if critic else 1)}
        if critic:
            networks["critic"] = MLP(input_scale(game.state_layout), options.hidden, 1, options.activation)
        return networks

    @classmethod
    def carried_rows(cls, config: TrainConfig, game: Game) -> int:
        """One for each seat: its last decision, until its successor is known."""
        return game.num_players

    @classmethod
    def needs_state(cls, config: TrainConfig) -> bool:
        """Whether there is a critic that sees it."""
        return ppo_options(config).privileged_critic

    # Playing.

    def collect(self, progress: float) -> None:
        """Play ``num_steps`` steps of every game with the current policy, and estimate the advantages."""
        self.carry_pending_decisions()
        super().collect(progress)
        if self.critic:
            self.evaluate(self.critic)
        self.estimate()

    def choose(self, worker: Worker, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        """Draw the actions from the policy."""
        buffer, columns = self.buffer, worker.columns
        sample_actions(
            outputs,
            buffer.masks[row, columns],
            uniforms,
            buffer.actions[row, columns],
            self.log_probabilities[row, columns],
        )
        if not self.critic:
            self.values[row, columns] = outputs[:, -1]

    @torch.no_grad()
    def evaluate(self, critic: MLP) -> None:
        """Fill ``values`` of the rows after the carried ones; they are not needed before all are played."""
        states, (_, num_games), first = self.buffer.flat["states"], self.buffer.shape, self.buffer.carried
        parts = [
            critic(part, precision=self.precision)[:, 0]
            for part in states[first * num_games :].split(self.at_once)
        ]
        self.values[first:] = torch.cat(parts).view(-1, num_games).cpu().numpy()

    def estimate(self) -> None:
        """Fill ``advantages``, ``returns`` and ``ready``, the flat rows (n,) that can be learned from.

        Raises ``DivergedError`` for values that are not finite.
        """
        self.fill_advantages(self.options.gae_lambda, self.advantages)
        np.add(self.advantages, self.values, out=self.returns)
        if not np.isfinite(self.returns).all():
            raise DivergedError("a value is not finite")
        ready = (self.buffer.seats >= 0) & self.buffer.learns
        players, games = np.nonzero(self.pending_rows >= 0)
        ready[self.pending_rows[players, games], games] = False
        self.ready = np.flatnonzero(ready)

    def fill_advantages(self, gae_lambda: float, advantages: np.ndarray) -> None:
        """Fill ``advantages`` (R, N) float32 for ``gae_lambda``, and record the pending decisions."""
        buffer = self.buffer
        compute_advantages(
            buffer.seats,
            buffer.learns,
            self.values,
            buffer.rewards,
            buffer.terminated,
            self.options.gamma,
            gae_lambda,
            advantages,
            self.pending_rows,
            self.pending_rewards,
        )

    # Learning.

    def learn(self, progress: float) -> dict[str, float]:
        """Improve the networks on what the workers have collected; returns the metrics of this update.

        Raises ``DivergedError`` for a loss, gradient, weight or output that is not finite, and for huge logits;
        ``ValueError`` for a batch with fewer decisions to learn from than minibatches.
        """
        options, ready = self.options, self.ready
        num_minibatches = self.config.batch_size // options.minibatch_size
        self.check_enough_to_learn(num_minibatches)
        _, variance = self.mean_and_variance(self.returns.reshape(-1)[ready])
        _, of_errors = self.mean_and_variance((self.returns - self.values).reshape(-1)[ready])
        explained = 1 - of_errors / variance if variance > 0 else 0.0
        mean, of_advantages = self.mean_and_variance(self.advantages.reshape(-1)[ready])
        deviation = np.float32(of_advantages**0.5)
        columns = [
            torch.from_numpy(array.reshape(-1)).to(self.device)
            for array in (
                self.buffer.actions,
                self.log_probabilities,
                (self.advantages - np.float32(mean)) / (deviation + np.float32(1e-8)),
                self.returns,
            )
        ]
        entropy_weight = between(options.entropy, options.entropy_end, progress)
        # A tensor: another number would recompile the loss.
        weight = torch.tensor(entropy_weight, device=self.device)
        learning_rate = self.learning_rate(progress)

        def loss(rows: torch.Tensor) -> tuple[torch.Tensor, Mapping[str, torch.Tensor]]:
            taken = self.buffer.take(rows, *self.read)
            return self.loss(taken, [column.index_select(0, rows) for column in columns], weight)

        metrics = self.make_steps(loss, ready, num_minibatches, learning_rate)
        if metrics.pop("largest_logit") > LARGEST_LOGIT:
            raise DivergedError(f"a logit of the policy is larger than {LARGEST_LOGIT:.0e}")
        return metrics | {
            "explained_variance": explained,
            "learning_rate": learning_rate,
            "entropy_weight": entropy_weight,
        }

    def plain_loss(
        self, read: Sequence[torch.Tensor], learned: Sequence[torch.Tensor], entropy_weight: torch.Tensor
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """`ppo_loss` of the current networks for the inputs ``read``; ``learned`` are the arguments of `ppo_loss` after
        the masks."""
        observations, histories, action_features, masks, *states = read
        outputs = self.actor(observations, histories, precision=self.precision)
        values = self.critic(*states, precision=self.precision) if self.critic else outputs
        return ppo_loss(
            self.actor.logits_of(outputs, action_features, masks),
            values[:, -1],
            masks,
            *learned,
            clip=self.options.clip,
            value_weight=self.options.value_weight,
            entropy_weight=entropy_weight,
        )

    def check_enough_to_learn(self, num_minibatches: int) -> None:
        """Raise ``ValueError`` if a minibatch would be empty."""
        ready, steps, size = self.group.gather(len(self.ready)), self.config.num_steps, self.config.batch_size
        if min(ready) >= num_minibatches:
            return
        raise ValueError(
            f"only {sum(ready)} of the {size} decisions of update {self.updates_done + 1} can be learned from, too few "
            f"for {num_minibatches} minibatches: a decision counts once its seat decides again or the game ends, and "
            f"a batch has {steps} step{'s' * (steps > 1)} of each game. Make batch_size larger, or num_envs smaller"
        )

    # Decisions that are not learned from yet.

    def carry_pending_decisions(self) -> None:
        """Move the decisions that the last batch left pending into the carried rows."""
        buffer, (players, games) = self.buffer, np.nonzero(self.pending_rows >= 0)
        rows = self.pending_rows[players, games]
        # Seat p's decision goes to row p, which holds only seat p's: no row is overwritten before it is read.
        arrays = self._decision()
        carried = {name: array[rows, games] for name, array in arrays.items()}
        front = slice(0, buffer.carried)
        buffer.seats[front], buffer.learns[front] = -1, True
        buffer.rewards[front], buffer.terminated[front] = 0.0, False
        for name, array in arrays.items():
            array[players, games] = carried[name]
        buffer.rewards[players, games, players] = self.pending_rewards[players, games]
        self.pending_rows[players, games] = players  # carrying them again changes nothing

    def carried_arrays(self) -> dict[str, np.ndarray]:
        """The pending decisions, and what they have been paid so far."""
        self.carry_pending_decisions()
        front, empty = slice(0, self.buffer.carried), self.pending_rows < 0
        arrays = {name: array[front].copy() for name, array in self._decision().items()}
        for name, array in arrays.items():
            array[empty] = -1 if name == "seats" else 0
        return arrays | {"rewards": self.pending_rewards.copy()}

    def load_carried(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Resume from what `carried_arrays` returned. Raises ``ValueError`` for decisions impossible in this game."""
        self.check_carried(arrays)
        players = np.arange(self.buffer.carried)[:, None]
        if not ((arrays["seats"] == -1) | (arrays["seats"] == players)).all():
            raise ValueError("carried.seats holds a seat that is not that of its row")
        for name, array in self._decision().items():
            array[: self.buffer.carried] = arrays[name]
        self.pending_rewards[:] = arrays["rewards"]
        self.pending_rows[:] = np.where(arrays["seats"] >= 0, players, -1)

    def _decision(self) -> dict[str, np.ndarray]:
        """What a decision consists of: arrays over rows and games by name."""
        buffer = self.buffer
        found = {
            name: getattr(buffer, name) for name in ("observations", "action_features", "masks", "seats")
        }
        found |= {
            "actions": buffer.actions,
            "log_probabilities": self.log_probabilities,
            "values": self.values,
        }
        if self.inputs.max_game_length:
            found["histories"] = buffer.histories
        if self.options.privileged_critic:
            found["states"] = buffer.states
        return found


def ppo_loss(
    logits: torch.Tensor,
    values: torch.Tensor,
    masks: torch.Tensor,
    actions: torch.Tensor,
    log_probabilities: torch.Tensor,
    advantages: torch.Tensor,
    returns: torch.Tensor,
    *,
    clip: float,
    value_weight: float,
    entropy_weight: torch.Tensor | float,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The loss () to differentiate, equations 7 and 9 of the paper over n decisions, and metrics.

    Takes ``logits`` (n, A) and ``values`` (n,) float32 of the current networks, ``masks`` (n, A) bool,
    ``actions`` (n,) int64, and float32 (n,) ``advantages``, ``returns``, and ``log_probabilities`` under the policy
    that played. ``kl`` is estimator k3 of http://joschu.net/blog/kl-approx.html.
    """
    legal = logits.masked_fill(~masks, ILLEGAL)
    logs = legal.log_softmax(1)
    entropy = -(legal.softmax(1) * logs).sum(1).mean()  # exp(logs) is equal, but slow for illegal actions
    log_ratio = logs.gather(1, actions[:, None])[:, 0] - log_probabilities
    ratio = log_ratio.exp()
    gain = torch.minimum(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip)).mean()
    value_loss = (values - returns).square().mean()
    kl = (ratio - 1 - log_ratio).mean()
    with torch.no_grad():
        metrics = {
            "policy_loss": -gain,
            "value_loss": value_loss,
            "entropy": entropy,
            "kl": kl,
            "clip_fraction": ((ratio - 1).abs() > clip).float().mean(),
            "largest_logit": logits.abs().amax(),
        }
    return value_weight * value_loss - gain - entropy_weight * entropy, metrics
