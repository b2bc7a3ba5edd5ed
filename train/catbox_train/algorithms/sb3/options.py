"""The settings of self-play with MaskablePPO."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from catbox_agents.networks.network import MAX_HIDDEN_LAYERS
from catbox_train.algorithm import AlgorithmOptions
from catbox_train.network_options import Activation
from catbox_train.settings import MAX_COUNT, Flag, Float, Integer, OneOf, Shares, Widths

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig

#: What it needs beyond the extra "train", by import name.
NEEDED = ("stable_baselines3", "sb3_contrib")
#: Largest number of copies that are kept.
MAX_POOL = 64
#: Rounding in the sum of shares such as 0.1, 0.2, 0.7.
_ROUNDING = 1e-9


class SB3Options(AlgorithmOptions):
    """Settings of MaskablePPO (Huang and Ontañón 2020, https://arxiv.org/abs/2006.14171) in self-play."""

    cpu_only = True
    agent_settings: ClassVar[Mapping[str, tuple[str, ...]]] = {"opponents_in_training": ()}
    size_settings = ("hidden",)

    hidden: Widths = Field(
        (128, 128),
        min_length=1,
        max_length=MAX_HIDDEN_LAYERS,
        description="widths of the hidden layers of each network",
    )
    activation: Annotated[Activation, OneOf] = Field("relu", description="relu or tanh")
    features: Flag = Field(
        True,
        description="the networks also see the features of the position that the game computes, where it has any",
    )
    opponents_in_training: Shares = Field(
        {"random": 0.1},
        description="agent -> share of the other seats that it has, such as {heuristic: 0.1, random: 0.1}; frozen "
        "copies of the learner have the rest",
    )
    past_policies: Integer = Field(8, ge=1, le=MAX_POOL, description="frozen copies that are kept")
    past_every: Integer = Field(
        10, ge=1, le=MAX_COUNT, description="updates from one copy that is kept to the next"
    )
    epochs: Integer = Field(4, ge=1, le=MAX_COUNT, description="times that each batch is learned from")
    minibatch_size: Integer = Field(2048, ge=2, le=MAX_COUNT, description="decisions for each gradient step")
    learning_rate: Float = Field(
        1e-3, gt=0, description="of Adam at the start, falling linearly to learning_rate_end"
    )
    learning_rate_end: Float = Field(5e-5, ge=0, description="learning rate at the end")
    max_grad_norm: Float = Field(0.5, gt=0, description="longest gradient, of actor and critic together")
    entropy: Float = Field(
        0.02, ge=0, description="weight of the entropy bonus at the start, falling linearly to entropy_end"
    )
    entropy_end: Float = Field(0.002, ge=0, description="weight of the entropy bonus at the end")
    value_weight: Float = Field(0.5, ge=0, description="weight of the critic's loss")
    clip: Float = Field(
        0.2,
        gt=0,
        description="the ratio of the new to the old probability is clipped to 1 - clip .. 1 + clip",
    )
    gamma: Float = Field(1.0, ge=0, le=1, description="discount from one decision of the learner to its next")
    gae_lambda: Float = Field(0.95, ge=0, le=1, description="lambda of the advantage estimate")

    def check(self, config: TrainConfig) -> list[str]:
        """The packages are there, the minibatches share the batch in equal parts, and the agents the other seats."""
        wrong = []
        if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
            wrong.append(
                f"algorithm = 'sb3' needs {', '.join(missing)}, which this installation leaves out. Install the extra "
                '"sb3":  pip install "catbox-env[sb3,train]"'
            )
        if config.batch_size % self.minibatch_size:
            wrong.append(
                f"batch_size = {config.batch_size}: expected a multiple of minibatch_size ({self.minibatch_size})"
            )
        total = sum(self.opponents_in_training.values())
        if total > 1 + _ROUNDING:
            wrong.append(
                f"opponents_in_training = {self.opponents_in_training}: expected shares that add up to at most 1, not "
                f"{total:g}"
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


def sb3_options(config: TrainConfig) -> SB3Options:
    """The settings of self-play with MaskablePPO in ``config``."""
    assert isinstance(config.algorithm_options, SB3Options)
    return config.algorithm_options
