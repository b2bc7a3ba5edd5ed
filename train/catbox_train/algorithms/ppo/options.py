"""The settings of PPO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from catbox_train.network_options import NetworkOptions
from catbox_train.opponents import OpponentOptions
from catbox_train.settings import MAX_COUNT, Flag, Float, Integer

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig


class PPOOptions(OpponentOptions, NetworkOptions):
    """Settings of PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347)."""

    privileged_critic: Flag = Field(
        False,
        description="the critic sees the whole state, hidden hands included (only training needs the critic)",
    )
    epochs: Integer = Field(2, ge=1, le=MAX_COUNT, description="times that each batch is learned from")
    minibatch_size: Integer = Field(1024, ge=1, le=MAX_COUNT, description="decisions for each gradient step")
    learning_rate: Float = Field(
        1e-3, gt=0, description="of Adam at the start, falling linearly to learning_rate_end"
    )
    learning_rate_end: Float = Field(5e-5, ge=0, description="learning rate at the end")
    entropy: Float = Field(
        0.06, ge=0, description="weight of the entropy bonus at the start, falling linearly to entropy_end"
    )
    entropy_end: Float = Field(0.002, ge=0, description="weight of the entropy bonus at the end")
    clip: Float = Field(
        0.15,
        gt=0,
        description="the ratio of the new to the old probability is clipped to 1 - clip .. 1 + clip",
    )
    gamma: Float = Field(
        1.0, ge=0, le=1, description="discount from one of a seat's own decisions to its next"
    )
    gae_lambda: Float = Field(
        0.95, ge=0, le=1, description="lambda of the advantage estimate, counted in the seat's own decisions"
    )
    max_grad_norm: Float = Field(
        0.5, gt=0, description="longest gradient, of the actor and of the critic each"
    )
    compile: Flag = Field(
        False,
        description="on a GPU, learning is compiled by torch.compile, which takes a C++ compiler and Triton",
    )

    def check(self, config: TrainConfig) -> list[str]:
        """The minibatches share the batch in equal parts, and the opponents the tables."""
        wrong = super().check(config)
        if config.batch_size % self.minibatch_size:
            wrong.append(
                f"batch_size = {config.batch_size}: expected a multiple of minibatch_size ({self.minibatch_size})"
            )
        return wrong

    def calmer(self) -> dict[str, Any]:
        """A tenth of the learning rate, and nothing above the defaults."""
        default = type(self)()
        rate = min(self.learning_rate / 10, default.learning_rate)
        settings = {"learning_rate": rate}
        if self.learning_rate_end > rate:
            settings["learning_rate_end"] = min(rate, default.learning_rate_end)
        for name in ("entropy", "entropy_end"):
            if getattr(self, name) > getattr(default, name):
                settings[name] = getattr(default, name)
        return settings


def ppo_options(config: TrainConfig) -> PPOOptions:
    """The settings of PPO in ``config``."""
    assert isinstance(config.algorithm_options, PPOOptions)
    return config.algorithm_options
