"""Settings of the networks, which several algorithms share."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field

from catbox_agents.networks.numpy_network import MAX_HIDDEN_LAYERS
from catbox_train.algorithm import AlgorithmOptions
from catbox_train.settings import Flag, OneOf, Widths

Activation = Literal["relu", "tanh"]
Precision = Literal["auto", "float32", "bfloat16"]


class LayerOptions(AlgorithmOptions):
    """The architecture of the networks."""

    size_settings = ("hidden",)

    hidden: Widths = Field(
        (256, 256),
        min_length=1,
        max_length=MAX_HIDDEN_LAYERS,
        description="widths of the hidden layers of each network",
    )
    activation: Annotated[Activation, OneOf] = Field("relu", description="relu or tanh")
    features: Flag = Field(
        True,
        description="the networks also see the features of the position, if the game has any",
    )


class NetworkOptions(LayerOptions):
    """Further inputs of the project's own networks, and their precision."""

    action_features: Flag = Field(
        True,
        description="the policy also sees the features of each legal action, with weights shared by all actions",
    )
    history: Flag = Field(
        False,
        description="the networks also see the sequence of actions of the game so far, through an encoder",
    )
    precision: Annotated[Precision, OneOf] = Field(
        "auto",
        description="precision of the layers: float32, bfloat16, or auto (bfloat16 if the device supports it natively)",
    )

    def resolved(self, device: str) -> Self:
        """A copy with the precision that ``auto`` stands for on ``device``."""
        if self.precision != "auto":
            return self
        from catbox_train.devices import native_precision  # needs torch

        return self.replace(precision=native_precision(device))
