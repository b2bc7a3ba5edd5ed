"""The settings that the self-play algorithms share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from catbox_train.algorithm import AlgorithmOptions
from catbox_train.network_options import NetworkOptions
from catbox_train.opponents import OpponentOptions
from catbox_train.settings import MAX_COUNT, Float, Integer, Text

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig


class LearningOptions(AlgorithmOptions):
    """How long and how fast to learn from a batch."""

    epochs: Integer = Field(2, ge=1, le=MAX_COUNT, description="passes over each batch")
    minibatch_size: Integer = Field(1024, ge=1, le=MAX_COUNT, description="decisions per gradient step")
    learning_rate: Float = Field(
        1e-3, gt=0, description="learning rate of Adam at the start, falling linearly to learning_rate_end"
    )
    learning_rate_end: Float = Field(5e-5, ge=0, description="learning rate at the end")
    max_grad_norm: Float = Field(0.5, gt=0, description="largest gradient norm, of each network")

    def safer(self) -> dict[str, float]:
        """A tenth of the learning rate, and nothing above the defaults."""
        default = type(self)()
        rate = min(self.learning_rate / 10, default.learning_rate)
        settings = {"learning_rate": rate}
        if self.learning_rate_end > rate:
            settings["learning_rate_end"] = min(rate, default.learning_rate_end)
        return settings


class ClippedOptions(LearningOptions):
    """Settings of PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347), shared by its implementations."""

    entropy: Float = Field(
        0.06, ge=0, description="weight of the entropy bonus at the start, falling linearly to entropy_end"
    )
    entropy_end: Float = Field(0.002, ge=0, description="weight of the entropy bonus at the end")
    clip: Float = Field(
        0.15,
        gt=0,
        description="the ratio of the new to the old probability is clipped to 1 - clip .. 1 + clip",
    )
    gamma: Float = Field(1.0, ge=0, le=1, description="discount between successive decisions of a seat")
    gae_lambda: Float = Field(
        0.95, ge=0, le=1, description="lambda of the advantage estimate (GAE), over a seat's own decisions"
    )

    def check(self, config: TrainConfig) -> list[str]:
        """The batch must divide into minibatches of equal size."""
        wrong = super().check(config)
        if config.batch_size % self.minibatch_size:
            wrong.append(
                f"batch_size = {config.batch_size}: expected a multiple of minibatch_size ({self.minibatch_size})"
            )
        return wrong

    def safer(self) -> dict[str, float]:
        """A tenth of the learning rate, and nothing above the defaults."""
        default, settings = type(self)(), super().safer()
        for name in ("entropy", "entropy_end"):
            if getattr(self, name) > getattr(default, name):
                settings[name] = getattr(default, name)
        return settings


class SelfPlayOptions(LearningOptions, OpponentOptions, NetworkOptions):
    """Settings of an algorithm whose networks play all seats but those of opponents."""


class PolicyOptions(SelfPlayOptions):
    """Settings of an algorithm whose network is a policy: it outputs action probabilities."""

    start_from: Text = Field(
        "",
        description="policy to start from: a checkpoint or zoo:NAME with the same hidden, activation and features",
    )


def self_play_options(config: TrainConfig) -> SelfPlayOptions:
    """The settings of ``config`` that all self-play algorithms share."""
    assert isinstance(config.algorithm_options, SelfPlayOptions)
    return config.algorithm_options
