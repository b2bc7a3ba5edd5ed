"""Proximal policy optimisation (Schulman et al. 2017, https://arxiv.org/abs/1707.06347) in self-play.

One network plays every seat, unless there are opponents. An update plays whole games, estimates the advantage of every
decision (GAE, Schulman et al. 2016, https://arxiv.org/abs/1506.02438), and makes gradient steps on minibatches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from pydantic import Field

from catbox_agents.features import NetworkInputs
from catbox_agents.networks.mlp import MLP, sample_legal
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.algorithm import Algorithm, DivergedError, Metrics, State
from catbox_train.config import Number
from catbox_train.device_rollout import make_rollout
from catbox_train.group import Group
from catbox_train.learner import (
    PRECISIONS,
    Learner,
    Past,
    between,
    game_metrics,
    mean_and_variance,
    mean_metrics,
    memory_needed,
    start_from,
)
from catbox_train.rollout import Decisions, SelfPlayConfig

#: Logits beyond this are no policy any more; training has diverged.
LARGEST_LOGIT = 1e8


class PPOConfig(SelfPlayConfig):
    """The settings of PPO."""

    games_on_gpu = True

    ent_coef: Number = Field(
        0.06, ge=0, description="weight of the entropy bonus at the start, falling linearly to ent_coef_end"
    )
    ent_coef_end: Number = Field(0.002, ge=0, description="weight of the entropy bonus at the end")
    clip_coef: Number = Field(
        0.15,
        gt=0,
        description="the ratio of the new to the old probability is clipped to 1 - clip_coef .. 1 + clip_coef",
    )
    vf_coef: Number = Field(0.1, ge=0, description="weight of the value loss (squared error)")
    gamma: Number = Field(1.0, ge=0, le=1, description="discount between successive decisions of a seat")
    gae_lambda: Number = Field(
        0.95, ge=0, le=1, description="lambda of the advantage estimate (GAE), over a seat's own decisions"
    )

    def safer(self) -> dict[str, float]:
        """A tenth of the learning rate, and nothing above the defaults."""
        default, settings = type(self)(), super().safer()
        for name in ("ent_coef", "ent_coef_end"):
            if getattr(self, name) > getattr(default, name):
                settings[name] = getattr(default, name)
        return settings


@dataclass(frozen=True)
class Minibatch:
    """n decisions, tensors on the device: what the network reads, and what the loss compares with.

    Attributes: ``inputs`` (n, I) int8; ``action_features`` (n, A, K) int8; ``masks`` (n, A) bool; ``actions`` (n,)
    int64; float32 (n,) ``log_probs`` of the actions under the policy that played, ``advantages``, and ``returns``, the
    targets of the values.
    """

    inputs: torch.Tensor
    action_features: torch.Tensor
    masks: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor

    def take(self, rows: torch.Tensor) -> Minibatch:
        """The decisions ``rows`` (m,) int64."""
        return Minibatch(**{name: column.index_select(0, rows) for name, column in vars(self).items()})


class PPO(Algorithm):
    """The network, whose last output is the value, its optimizer, and the games."""

    Config = PPOConfig
    processes = True
    config: PPOConfig

    def __init__(self, config: PPOConfig, game: Game, group: Group = Group()) -> None:
        super().__init__(config, game)
        self.actor = make_actor(config, game)
        self.precision = PRECISIONS[config.precision]
        self.learner = Learner(self.actor, config, game, group)
        inputs = NetworkInputs(game, config.features, config.action_features)
        self.rollout = make_rollout(config, game, inputs, group.rank, group.size)
        self.past = Past(config, self.actor, game, greedy=False)
        self.ent_coef = torch.zeros((), device=self.learner.device)
        self.names: list[str] = []
        self.step = self.rollout.gradient_steps(self.gradient_step)

    @classmethod
    def memory_needed(cls, config: PPOConfig, game: Game) -> int:
        """Bytes that a run needs in each process."""
        with torch.device("meta"):  # a network without memory
            actor = make_actor(config, game)
        return memory_needed(config, game, actor)

    @classmethod
    def check_run(cls, config: PPOConfig, game: Game) -> None:
        """Raise ``ValueError`` for a ``start_from`` that is missing, damaged, of another network or game, or not a
        policy."""
        start_from(make_actor(config, game), config.start_from, game)

    def update(self, update: int, progress: float) -> tuple[int, Metrics]:
        """Play the games of an update, and learn from the learner's decisions.

        Raises ``DivergedError`` for a value, loss, gradient or weight that is not finite, and for huge logits.
        """
        config, learner = self.config, self.learner
        self.player = self.rollout.player(self.actor, self.precision)
        decisions = self.rollout.play(update, self.choose, self.past.agents)
        self.learned, explained_variance = self.batch(decisions)

        learning_rate = between(config.learning_rate, config.learning_rate_end, progress)
        ent_coef = between(config.ent_coef, config.ent_coef_end, progress)
        learner.set_learning_rate(learning_rate)
        self.ent_coef.fill_(ent_coef)
        equal = self.rollout.equal_minibatches
        records = [
            self.step(rows, total) for rows, total in learner.minibatches(decisions.rows, update, equal)
        ]
        learner.check_finite()
        self.past.add(update + 1)

        learned = mean_metrics(self.names, records, learner)
        if learned.pop("largest_logit", 0.0) > LARGEST_LOGIT:
            raise DivergedError(f"a logit of the policy is larger than {LARGEST_LOGIT:.0e}")
        learned |= {
            "explained_variance": explained_variance,
            "learning_rate": learning_rate,
            "ent_coef": ent_coef,
        }
        played, of_games = game_metrics(decisions, learner)
        return played, of_games | {f"learning/{name}": value for name, value in learned.items()}

    @torch.no_grad()
    def choose(
        self,
        inputs: torch.Tensor,
        action_features: torch.Tensor,
        masks: torch.Tensor,
        uniforms: torch.Tensor,
    ) -> Mapping[str, torch.Tensor]:
        """Draw actions from the policy: their log-probabilities and the values stand beside them."""
        outputs = self.player(inputs.to(self.learner.device), precision=self.precision).to(masks.device)
        logits = self.actor.action_logits(outputs, action_features, masks)
        actions, log_probs = sample_legal(logits, masks, uniforms)
        return {"actions": actions, "log_probs": log_probs, "values": outputs[:, -1]}

    def batch(self, decisions: Decisions) -> tuple[Minibatch, float]:
        """All decisions with their advantages, normalised, and the share of the variance of the returns that the values
        explain."""
        columns, learner, rows = decisions.columns, self.learner, decisions.rows
        values = columns["values"]
        advantages = gae(decisions, values, self.config.gamma, self.config.gae_lambda)
        returns = advantages + values
        mean, variance = mean_and_variance(advantages[rows], learner)
        _, of_returns = mean_and_variance(returns[rows], learner)
        if not math.isfinite(of_returns):
            raise DivergedError("a value is not finite")
        unexplained = mean_and_variance((returns - values)[rows], learner)[1]
        explained = 1 - unexplained / of_returns if of_returns > 0 else 0.0
        names = ("inputs", "action_features", "masks", "actions", "log_probs")
        found = {
            **{name: columns[name] for name in names},
            "advantages": self.rollout.keep("advantages", (advantages - mean) / (variance**0.5 + 1e-8)),
            "returns": self.rollout.keep("returns", returns),
        }
        return Minibatch(**{name: column.to(learner.device) for name, column in found.items()}), explained

    def gradient_step(self, rows: torch.Tensor, total: int) -> torch.Tensor:
        """A step on the decisions ``rows`` (m,) int64 of a minibatch of ``total`` in all processes; returns the metrics
        ``names`` (k,)."""
        batch = self.learned.take(rows)
        outputs = self.actor(batch.inputs, precision=self.precision)
        logits = self.actor.logits_of(outputs, batch.action_features, batch.masks)
        loss, metrics = ppo_loss(logits, outputs[:, -1], batch, self.config, self.ent_coef, total)
        self.names = [*metrics, "grad_norm"]
        return torch.stack([*metrics.values(), self.learner.step(loss)])

    def policy(self) -> PolicyAgent:
        """The actor as it is now, which takes its most probable action."""
        return PolicyAgent(self.actor, self.game)

    def state(self) -> State:
        """Weights, Adam's moments, and earlier policies."""
        return self.learner.state() | self.past.state()

    def restore(self, state: State) -> None:
        """Resume from what ``state`` returned."""
        self.learner.restore(state)
        self.past.restore(state)


def gae(decisions: Decisions, values: torch.Tensor, gamma: float, gae_lambda: float) -> torch.Tensor:
    """The advantage (m,) float32 of each row, given its value: backwards over the decisions of each seat.

    A decision is paid all rewards until the seat's next one; ``gamma`` and ``gae_lambda`` apply once per own decision.
    """
    values = torch.cat([values, values.new_zeros(1)])
    advantages = torch.zeros_like(values)
    for rows in reversed(decisions.steps):
        after = decisions.next_rows[rows]  # -1, the zeros at the end, where there is no next one
        errors = decisions.rewards[rows] + gamma * values[after] - values[rows]
        advantages[rows] = errors + gamma * gae_lambda * advantages[after]
    return advantages[:-1]


def ppo_loss(
    logits: torch.Tensor,
    values: torch.Tensor,
    batch: Minibatch,
    config: PPOConfig,
    ent_coef: torch.Tensor | float,
    total: int,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The loss () to differentiate, equations 7 and 9 of the paper, and metrics.

    Takes ``logits`` (n, A), those of illegal actions ``ILLEGAL``, and ``values`` (n,) float32 of the current network.
    Both are sums over these decisions divided by ``total``, the number of decisions of the minibatch in all processes;
    ``largest_logit`` is that of this process. ``approx_kl`` is estimator k3 of http://joschu.net/blog/kl-approx.html.
    """
    logs = logits.log_softmax(1)
    entropy = -(logits.softmax(1) * logs).sum() / total  # exp(logs) is equal, but slow for illegal actions
    log_ratio = logs.gather(1, batch.actions[:, None])[:, 0] - batch.log_probs
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - config.clip_coef, 1 + config.clip_coef)
    gain = torch.minimum(batch.advantages * ratio, batch.advantages * clipped).sum() / total
    value_loss = (values - batch.returns).square().sum() / total
    loss = config.vf_coef * value_loss - gain - ent_coef * entropy
    with torch.no_grad():
        metrics = {
            "policy_loss": -gain,
            "value_loss": value_loss,
            "entropy": entropy,
            "approx_kl": (ratio - 1 - log_ratio).sum() / total,
            "clip_fraction": ((ratio - 1).abs() > config.clip_coef).sum() / total,
            "largest_logit": logits.amax() if len(logits) else logits.sum(),  # 0 of no decisions
        }
    return loss, metrics


def make_actor(config: PPOConfig, game: Game) -> MLP:
    """A policy with one more output, the value."""
    inputs = NetworkInputs(game, config.features, config.action_features)
    return MLP.for_policy(inputs, config.hidden, config.activation, num_values=1)
