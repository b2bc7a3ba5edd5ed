"""The settings of PPO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from catbox_agents.networks.numpy_network import MAX_HIDDEN_LAYERS
from catbox_train.self_play.options import ClippedOptions, PolicyOptions
from catbox_train.settings import Flag, Widths

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig


class PPOOptions(ClippedOptions, PolicyOptions):
    """Settings of PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347)."""

    critic_hidden: Widths = Field(
        (64, 64),
        min_length=1,
        max_length=MAX_HIDDEN_LAYERS,
        description="widths of the hidden layers of the critic; hidden are those of the actor",
    )
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
