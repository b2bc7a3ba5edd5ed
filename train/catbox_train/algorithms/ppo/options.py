"""The settings of PPO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from catbox_train.self_play.options import ClippedOptions, PolicyOptions
from catbox_train.settings import Flag

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig


class PPOOptions(ClippedOptions, PolicyOptions):
    """Settings of PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347)."""

    privileged_critic: Flag = Field(
        False,
        description="the critic sees the whole state, hidden hands included (only training needs the critic)",
    )
    compile: Flag = Field(
        False,
        description="on a GPU, learning is compiled by torch.compile, which takes a C++ compiler and Triton",
    )


def ppo_options(config: TrainConfig) -> PPOOptions:
    """The settings of PPO in ``config``."""
    assert isinstance(config.algorithm_options, PPOOptions)
    return config.algorithm_options
