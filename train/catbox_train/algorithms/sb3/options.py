"""The settings of self-play with MaskablePPO."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from catbox_agents.networks.numpy_network import MAX_HIDDEN_LAYERS
from catbox_env.core.extras import install_line
from catbox_train.network_options import LayerOptions
from catbox_train.opponents import wrong_shares
from catbox_train.self_play.options import ClippedOptions
from catbox_train.settings import MAX_COUNT, Float, Integer, Shares, Widths

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig

#: Packages needed beyond the extra "train", by import name.
NEEDED = ("stable_baselines3", "sb3_contrib")
#: Largest number of copies to keep.
MAX_POOL = 64


class SB3Options(ClippedOptions, LayerOptions):
    """Settings of MaskablePPO (Huang and Ontañón 2020, https://arxiv.org/abs/2006.14171) in self-play."""

    cpu_only = True
    agent_settings: ClassVar[Mapping[str, tuple[str, ...]]] = {"opponents_in_training": ()}

    hidden: Widths = Field(
        (128, 128),
        min_length=1,
        max_length=MAX_HIDDEN_LAYERS,
        description="widths of the hidden layers of each network",
    )
    opponents_in_training: Shares = Field(
        {"random": 0.1},
        description="agent -> its share of the other seats, such as {heuristic: 0.1, random: 0.1}; frozen copies of "
        "the learner have the rest",
    )
    past_policies: Integer = Field(8, ge=1, le=MAX_POOL, description="frozen copies to keep")
    past_every: Integer = Field(10, ge=1, le=MAX_COUNT, description="updates between copies")
    epochs: Integer = Field(4, ge=1, le=MAX_COUNT, description="passes over each batch")
    minibatch_size: Integer = Field(2048, ge=2, le=MAX_COUNT, description="decisions per gradient step")
    max_grad_norm: Float = Field(0.5, gt=0, description="largest gradient norm, of actor and critic together")
    entropy: Float = Field(
        0.02, ge=0, description="weight of the entropy bonus at the start, falling linearly to entropy_end"
    )
    value_weight: Float = Field(0.5, ge=0, description="weight of the critic's loss")
    clip: Float = Field(
        0.2,
        gt=0,
        description="the ratio of the new to the old probability is clipped to 1 - clip .. 1 + clip",
    )

    def check(self, config: TrainConfig) -> list[str]:
        """The packages must be installed, and the agents' shares must not exceed 1 in total."""
        wrong = super().check(config)
        if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
            wrong.append(
                f"algorithm = 'sb3' needs {', '.join(missing)}, which this installation leaves out. "
                f"{install_line('sb3', 'train')}"
            )
        return wrong + wrong_shares(self.opponents_in_training)


def sb3_options(config: TrainConfig) -> SB3Options:
    """The settings of self-play with MaskablePPO in ``config``."""
    assert isinstance(config.algorithm_options, SB3Options)
    return config.algorithm_options
