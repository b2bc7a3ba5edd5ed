"""The network for playing, in NumPy and compiled code. The one for training is in ``mlp``, which needs torch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from catbox_agents.networks.action_head import action_logits
from catbox_agents.networks.layer_kernels import add_layer

ACTIVATIONS = ("relu", "tanh")
#: The arrays of a critic: its weights (1, H) of the last hidden units, and its bias (1,).
CRITIC = ("critic.weight", "critic.bias")
MAX_HIDDEN_LAYERS = 64
#: The most arrays of a network.
MAX_ARRAYS = 1024
#: Rows that pass through all layers before the next ones do: the hidden units stay in the nearer caches.
_ROWS_AT_ONCE = 256


class PlayingNetwork(Protocol):
    """What a `PolicyAgent` plays with, and what checkpoint files hold: `NumpyMLP`, or
    `catbox_agents.networks.network.TorchPlayingNetwork`.

    Attributes: ``feature_sizes`` and ``action_feature_sizes``: the parts of the game's features that it takes, name ->
    size; ``has_critic``, whether it has `values`.
    """

    feature_sizes: dict[str, int]
    action_feature_sizes: dict[str, int]
    has_critic: bool

    def logits(
        self, vectors: NDArray[np.int8], action_features: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Logits (n, A) for ``vectors`` (n, I), ``action_features`` (n, A, K) and ``masks`` (n, A); those of illegal
        actions mean nothing."""

    def values(
        self, vectors: NDArray[np.int8], action_features: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """What the critic expects the seats to move to be paid from here on, (n,); arguments as in `logits`."""

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Its arrays, named as in ``checkpoint``."""

    def describe(self) -> dict[str, Any]:
        """JSON values from which it can be rebuilt, with its arrays."""


class NumpyMLP:
    """Fully connected layers from an int8 vector to float32 outputs, one for each action.

    With an action head (see ``action_head``) the last outputs are weights of the features of actions. With a critic
    (`CRITIC`), its value of the position is one more output of the last layer.

    Args:
        arrays: float32, named as in ``checkpoint``. They are not copied: do not change them.
        described: ``inputs``, ``hidden``, ``outputs`` and ``activation``; if the network takes them, ``features`` and
            ``action_features`` of the game, each a mapping from names to sizes.

    Attributes: ``num_inputs`` I, the length of a vector; ``num_outputs``, for actions alone; ``activation``;
    ``has_critic``; ``feature_sizes`` and ``action_feature_sizes``, possibly empty; ``action_scale`` (K,) float32,
    factors of the features of actions.

    Raises ``ValueError`` if the arrays do not fit each other and ``described``, and for numbers that are not finite.
    """

    def __init__(self, arrays: Mapping[str, NDArray[np.float32]], described: Mapping[str, Any]) -> None:
        for name, array in arrays.items():
            if array.dtype != np.float32 or not np.isfinite(array).all():
                raise ValueError(f"{name} ({array.dtype}) holds numbers that are not finite or not float32")
        self._arrays = dict(arrays)
        self.feature_sizes = _part_sizes("features", described)
        self.action_feature_sizes = _part_sizes("action_features", described)
        shapes = {name: array.shape for name, array in arrays.items()}
        if "history" in described:
            raise ValueError(
                "it takes histories through an encoder, which catbox no longer has; use catbox 0.1.0, or train again"
            )
        self._described = self._checked(shapes, described)
        self.num_inputs, self.num_outputs = self._described["inputs"], self._described["outputs"]
        self.activation = self._described["activation"]
        hidden = self._described["hidden"]
        check_hidden_layers(hidden, self.activation)
        self._layers = [
            (_transposed(arrays[f"layers.{k}.weight"]), arrays[f"layers.{k}.bias"])
            for k in range(len(hidden) + 1)
        ]
        self.has_critic = all(name in arrays for name in CRITIC)
        first, bias = self._layers[0]
        with np.errstate(over="ignore"):
            first = first * arrays["input_scale"][:, None]
        if not np.isfinite(first).all():  # 0 times such a weight would not be 0
            raise ValueError("layers.0.weight times input_scale holds numbers that are not finite")
        self._layers[0] = first, bias
        self.action_scale = arrays.get("action_scale", np.zeros(0, np.float32))

    def _checked(self, shapes: Mapping[str, tuple[int, ...]], header: Mapping[str, Any]) -> dict[str, Any]:
        """The description of arrays of ``shapes``, from which every size comes. Raises ``ValueError`` unless it equals
        ``header`` and the arrays are those of such a network."""
        sizes = [math.prod(shapes.get("input_scale", ()))]
        expected: dict[str, tuple[int, ...]] = {"input_scale": (sizes[0],)}
        while (name := f"layers.{len(sizes) - 1}.weight") in shapes:
            outputs = shapes[name][0] if shapes[name] else 0
            expected |= {name: (outputs, sizes[-1]), name.replace("weight", "bias"): (outputs,)}
            sizes.append(outputs)
        inputs, *hidden, outputs = sizes if len(sizes) > 1 else [*sizes, 0]
        described: dict[str, Any] = {"inputs": inputs, "hidden": hidden, "outputs": outputs}
        described["activation"] = header.get("activation")
        if self.feature_sizes:
            described["features"] = self.feature_sizes
        if "features_from" in header:
            described["features_from"] = str(header["features_from"])
        if self.action_feature_sizes:
            described["action_features"] = self.action_feature_sizes
            expected["action_scale"] = (sum(self.action_feature_sizes.values()),)
        if any(name in shapes for name in CRITIC):
            expected |= dict(zip(CRITIC, ((1, [inputs, *hidden][-1]), (1,)), strict=True))
        if shapes != expected or header != described or min(sizes) < 1:
            raise ValueError(f"its arrays do not fit its header {header!r:.200}")
        return described

    @property
    def layers(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Weights (in, out) and biases (out,) of the layers; the first weights include the scale of the inputs."""
        return list(self._layers)

    def layers_with_critic(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """`layers`, the last of which also outputs the value of the position, as its last output."""
        *others, (weights, bias) = self._layers
        of_value, value_bias = self._critic()
        return [*others, (np.ascontiguousarray(np.hstack([weights, of_value])), np.append(bias, value_bias))]

    def _critic(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The weights (H, 1) and the bias (1,) of the critic."""
        weight, bias = (self._arrays[name] for name in CRITIC)
        return _transposed(weight), bias

    @property
    def is_relu(self) -> bool:
        """Whether its hidden units are rectified."""
        return bool(self.activation == "relu")

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Its arrays, named as in ``checkpoint``; do not change them."""
        return dict(self._arrays)

    def describe(self) -> dict[str, Any]:
        """JSON values from which it can be rebuilt, with its arrays."""
        return dict(self._described)

    def outputs(self, vectors: NDArray[np.int8]) -> NDArray[np.float32]:
        """Outputs (n, num_outputs) for ``vectors`` (n, I) int8. Raises ``ValueError`` for other shapes and types."""
        return self._through(self._layers, vectors)

    def _through(
        self, layers: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]], vectors: NDArray[np.int8]
    ) -> NDArray[np.float32]:
        """The outputs of ``layers`` for ``vectors``; errors as in `outputs`."""
        if vectors.dtype != np.int8 or vectors.ndim != 2 or vectors.shape[1] != self.num_inputs:
            raise ValueError(
                f"vectors {vectors.dtype} of shape {vectors.shape}: expected int8 of shape (n, {self.num_inputs})"
            )
        outputs = np.empty((len(vectors), len(layers[-1][1])), np.float32)
        last, relu = len(layers) - 1, self.is_relu
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            numbers: NDArray[Any] = vectors[start : start + _ROWS_AT_ONCE]
            for number, (weights, bias) in enumerate(layers):
                sums = np.empty((len(numbers), len(bias)), np.float32)
                sums[:] = bias
                add_layer(numbers, weights, sums, relu and number < last)
                if not relu and number < last:
                    np.tanh(sums, out=sums)
                numbers = sums
            outputs[start : start + _ROWS_AT_ONCE] = numbers
        return outputs

    def logits(
        self, vectors: NDArray[np.int8], action_features: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Logits (n, A) of the actions that are legal by ``masks`` (n, A); those of others are undefined.

        An action head reads ``action_features`` (n, A, K) int8. Errors as in `outputs`.
        """
        outputs = self.outputs(vectors)
        if not len(self.action_scale):
            return outputs
        for name, array, kind in (("masks", masks, np.bool_), ("action features", action_features, np.int8)):
            if array.dtype != kind:
                raise ValueError(f"{name} {array.dtype}: expected {np.dtype(kind)}")
        return action_logits(outputs, masks, action_features, self.action_scale)

    def values(
        self, vectors: NDArray[np.int8], action_features: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """See `PlayingNetwork`; it needs the ``vectors`` alone. Errors as in `outputs`."""
        return self._through([*self._layers[:-1], self._critic()], vectors)[:, 0]


def check_hidden_layers(hidden: Sequence[int], activation: object) -> None:
    """Raise ``ValueError`` for an activation not in `ACTIVATIONS`, and for no hidden layers or too many."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"unknown activation {activation!r:.80}: choose one of {', '.join(ACTIVATIONS)}")
    if not 1 <= len(hidden) <= MAX_HIDDEN_LAYERS:
        raise ValueError(f"{len(hidden)} hidden layers: expected 1 to {MAX_HIDDEN_LAYERS}")


def _transposed(weight: NDArray[np.float32]) -> NDArray[np.float32]:
    """``weight`` (out, in) as (in, out), so that the weights of one input lie side by side."""
    return np.ascontiguousarray(weight.T)


def _part_sizes(name: str, described: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of the features ``name``. Raises ``ValueError`` for anything else."""
    value = described.get(name, {})
    if not isinstance(value, dict) or not all(type(size) is int and size > 0 for size in value.values()):
        raise ValueError(f"{name} = {value!r:.80}, expected names and sizes")
    return value
