"""The settings of Deep Monte Carlo."""

from __future__ import annotations

from pydantic import Field

from catbox_train.self_play.options import SelfPlayOptions
from catbox_train.settings import Share


class DMCOptions(SelfPlayOptions):
    """Settings of Deep Monte Carlo (DouZero, Zha et al. 2021, https://arxiv.org/abs/2106.06135)."""

    epsilon: Share = Field(
        0.1, description="probability of a random action at the start, falling linearly to epsilon_end"
    )
    epsilon_end: Share = Field(0.01, description="probability of a random action at the end")

    def epsilon_at(self, progress: float) -> float:
        """The probability in the update at ``progress``, 0 .. 1, of the run."""
        return self.epsilon + (self.epsilon_end - self.epsilon) * progress
