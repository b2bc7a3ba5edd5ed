"""The settings of PPO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from catbox_train.self_play.options import PolicyOptions
from catbox_train.settings import Flag, Float

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig


class PPOOptions(PolicyOptions):
    """Settings of PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347)."""

    privileged_critic: Flag = Field(
        False,
        description="the critic sees the whole state, hidden hands included (only training needs the critic)",
    )
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

    def calmer(self) -> dict[str, float]:
        """A tenth of the learning rate, and nothing above the defaults."""
        default, settings = type(self)(), super().calmer()
        for name in ("entropy", "entropy_end"):
            if getattr(self, name) > getattr(default, name):
                settings[name] = getattr(default, name)
        return settings


def ppo_options(config: TrainConfig) -> PPOOptions:
    """The settings of PPO in ``config``."""
    assert isinstance(config.algorithm_options, PPOOptions)
    return config.algorithm_options
