"""The settings of PPO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from catbox_train.self_play.options import ClippedOptions, PolicyOptions
from catbox_train.settings import Flag, Float

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig


class PPOOptions(ClippedOptions, PolicyOptions):
    """Settings of PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347)."""

    value_weight: Float = Field(0.1, ge=0, description="weight of the value loss (squared error)")
    privileged_critic: Flag = Field(
        False,
        description="the critic is a separate network like the actor that sees the whole state, including hidden "
        "hands; otherwise it is an extra output of the actor",
    )
    compile: Flag = Field(
        False,
        description="on a GPU, compile the loss with torch.compile, which needs a C++ compiler and Triton",
    )


def ppo_options(config: TrainConfig) -> PPOOptions:
    """The settings of PPO in ``config``."""
    assert isinstance(config.algorithm_options, PPOOptions)
    return config.algorithm_options
