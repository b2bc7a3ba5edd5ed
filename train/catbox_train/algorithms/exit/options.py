"""The settings of expert iteration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from catbox_train.self_play.options import PolicyOptions
from catbox_train.settings import MAX_COUNT, Float, Integer, Share, Text

if TYPE_CHECKING:
    from catbox_train.config import TrainConfig

#: As ``rollout_policy``: the network that learns.
POLICY = "policy"
#: More worlds per decision than any search can use.
MAX_WORLDS = 2**20


class ExitOptions(PolicyOptions):
    """Settings of expert iteration (Anthony et al. 2017, https://arxiv.org/abs/1705.08439)."""

    agent_settings: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **PolicyOptions.agent_settings,
        "rollout_policy": (POLICY,),
    }

    rollout_policy: Text = Field(
        POLICY,
        description="who plays the rollouts of a search: policy (the network that learns), or an agent as in opponents",
    )
    search_share: Share = Field(0.05, description="share of the decisions of a batch to search")
    search_worlds: Integer = Field(
        16, ge=1, le=MAX_WORLDS, description="worlds per legal action of a searched decision"
    )
    temperature: Float = Field(
        0.5,
        ge=0,
        description="of the target: an action this many standard errors behind the best one has a weight e times "
        "smaller; 0: only the best action counts",
    )
    window: Integer = Field(
        8, ge=1, le=MAX_COUNT, description="latest updates whose searched decisions are learned from"
    )
    entropy: Float = Field(0.0, ge=0, description="weight of the entropy bonus")
    epochs: Integer = Field(1, ge=1, le=MAX_COUNT, description="passes over the whole window per update")
    minibatch_size: Integer = Field(512, ge=1, le=MAX_COUNT, description="decisions per gradient step")
    learning_rate: Float = Field(
        5e-4, gt=0, description="learning rate of Adam at the start, falling linearly to learning_rate_end"
    )

    def check(self, config: TrainConfig) -> list[str]:
        """A policy that takes histories cannot play rollouts."""
        wrong = super().check(config)
        if self.history and self.rollout_policy == POLICY:
            wrong.append(
                f"rollout_policy = {POLICY!r} with history = true: expected another one, such as heuristic, or history "
                "= false; the worlds that a search samples have no history for the policy"
            )
        return wrong

    def safer(self) -> dict[str, float]:
        """A tenth of the learning rate, and nothing above the defaults."""
        default, settings = type(self)(), super().safer()
        if self.entropy > default.entropy:
            settings["entropy"] = default.entropy
        return settings

    def searched_by_worker(self, config: TrainConfig) -> int:
        """Decisions that each worker searches per update."""
        return max(1, round(self.search_share * config.batch_size / config.num_workers))


def exit_options(config: TrainConfig) -> ExitOptions:
    """The settings of expert iteration in ``config``."""
    assert isinstance(config.algorithm_options, ExitOptions)
    return config.algorithm_options
