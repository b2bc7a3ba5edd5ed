"""What the network of a policy reads: the observation, and the features of the game if it takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.features import features_from, features_of
from catbox_agents.networks.numpy_network import NumpyMLP, PlayingNetwork
from catbox_env import Game, Layout
from catbox_env.core.checks import check_instance
from catbox_env.core.layout import Part
from catbox_env.core.spec import check_game_object

__all__ = ["NetworkInputs", "input_scale"]


def input_scale(layout: Layout) -> NDArray[np.float32]:
    """Factors (O,) float32 that scale the counts in a vector of ``layout`` to about the size of its one-hot parts.

    Each is the power of two nearest to 1/sqrt(largest magnitude): 1 for one-hot parts, 1/2 for a hand count of up to 5.
    Multiplying small integers by a power of two is exact, even in bfloat16.
    """
    check_instance("layout", layout, Layout, "a layout, such as game.observation_layout")
    largest = np.maximum(np.maximum(np.abs(layout.low.astype(int)), np.abs(layout.high.astype(int))), 1)
    return np.exp2(-np.round(np.log2(largest) / 2)).astype(np.float32)


class NetworkInputs:
    """The inputs of a policy for ``game``.

    ``use_features`` appends the features of the position to the observation; ``use_action_features`` passes those of
    each action to the network. A game without features has neither. ``source``, if not empty, names a function of your
    own that makes the features, see `features_from`.

    Attributes: ``features``, the `Features` that compute them, or None; ``size``, the number of inputs I;
    ``action_size``, the features K of an action, or 0; ``layout`` and ``action_layout``, the layouts of the features in
    use, or None.
    """

    def __init__(
        self, game: Game, use_features: bool = False, use_action_features: bool = False, source: str = ""
    ) -> None:
        self.game = check_game_object(game)
        self.source = check_instance("source", source, str, "text, 'package.module:function'")
        self.features = features = features_from(source, game) if source else features_of(game)
        self.layout = features.layout if features and use_features else None
        self.action_layout = features.action_layout if features and use_action_features else None
        self.size = game.observation_layout.size + (self.layout.size if self.layout else 0)
        self.action_size = self.action_layout.size if self.action_layout else 0

    def parts(self) -> dict[str, tuple[slice, Part]]:
        """Where each part is in a vector (I,), and what it is: those of the observation by their names, those of the
        features as ``features.NAME``."""
        parts = {name: (part.slice, part) for name, part in self.game.observation_layout.items()}
        features: Mapping[str, Part] = self.layout or {}
        for name, part in features.items():
            begin = self.game.observation_layout.size + part.offset
            parts[f"features.{name}"] = slice(begin, begin + part.size), part
        return parts

    def describe(self) -> dict[str, Any]:
        """The features as a checkpoint describes them: the sizes of their parts, and who makes them."""
        sizes = {"features": part_sizes(self.layout), "action_features": part_sizes(self.action_layout)}
        source = {"features_from": self.source} if self.source else {}
        return {**{name: parts for name, parts in sizes.items() if parts}, **source}

    def bounds(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The lowest and the highest value of each input, (I,) each."""
        layouts = [self.game.observation_layout, *([self.layout] if self.layout else [])]
        return np.concatenate([part.low for part in layouts]), np.concatenate([part.high for part in layouts])

    def fill(
        self,
        observations: NDArray[np.int8],
        masks: NDArray[np.bool_],
        out: NDArray[np.int8],
        action_out: NDArray[np.int8],
    ) -> None:
        """Write the inputs of ``observations`` (n, O) and ``masks`` (n, A) to ``out`` (n, I) and ``action_out``
        (n, A, K)."""
        width = self.game.observation_layout.size
        out[:, :width] = observations
        if self.features is None or not (self.layout or self.action_layout):
            return
        features, _ = self.features.compute(
            observations, masks, action_out=action_out if self.action_layout else None
        )
        if self.layout:
            out[:, width:] = features

    def compute(
        self, observations: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """New arrays (n, I) and (n, A, K), as `fill` writes them."""
        out = np.empty((len(observations), self.size), np.int8)
        action_out = np.empty((*masks.shape, self.action_size), np.int8)
        self.fill(observations, masks, out, action_out)
        return out, action_out

    def scale(self) -> NDArray[np.float32]:
        """Factors (I,) of the inputs; see ``input_scale``."""
        layouts = [self.game.observation_layout, *([self.layout] if self.layout else [])]
        return np.concatenate([input_scale(layout) for layout in layouts])


def part_sizes(layout: Layout | None) -> dict[str, int]:
    """The size of each part of a layout, empty for None."""
    return {part.name: int(np.prod(part.shape)) for part in layout.values()} if layout else {}


def fit_network(network: PlayingNetwork, game: Game) -> tuple[PlayingNetwork, NetworkInputs]:
    """``network`` as it takes all features of ``game``, with weights of zero for those that it was trained without.

    So an MLP goes on playing as it did when a game gets new features. One that takes no features at all, or none of
    actions, stays without. Also returns its inputs. Raises ``ValueError`` if it takes features that the game does not
    have, and if it has the wrong size.
    """
    source = str(network.describe().get("features_from", ""))
    inputs = NetworkInputs(game, bool(network.feature_sizes), bool(network.action_feature_sizes), source)
    if not isinstance(network, NumpyMLP):
        _check_equal(network, inputs)
        return network, inputs
    width, actions = game.observation_layout.size, game.num_actions
    # Where the inputs and outputs of the network are among those of one that takes all features.
    columns = _places("features", network.feature_sizes, inputs.layout, game)
    columns = np.concatenate([np.arange(width), width + columns])
    weights = _places("action features", network.action_feature_sizes, inputs.action_layout, game)
    rows = np.concatenate([np.arange(actions), actions + weights])
    if (network.num_inputs, network.num_outputs) != (len(columns), len(rows)):
        raise ValueError(
            f"a network of {network.num_inputs} inputs and {network.num_outputs} outputs, expected {len(columns)} and "
            f"{len(rows)} in {game.id}: it was made for other rules, or by another version"
        )
    size = inputs.size, actions + inputs.action_size
    if size == (len(columns), len(rows)):
        return network, inputs
    arrays, described = network.arrays(), network.describe()
    first, last = "layers.0.weight", f"layers.{len(described['hidden'])}"
    for name, places, whole in (
        ("input_scale", columns, inputs.scale()),
        (first, columns, np.zeros((size[0], len(arrays[first])), np.float32)),
        (f"{last}.weight", rows, np.zeros((size[1], arrays[f"{last}.weight"].shape[1]), np.float32)),
        (f"{last}.bias", rows, np.zeros(size[1], np.float32)),
    ):
        whole[places] = arrays[name].T if name == first else arrays[name]
        arrays[name] = whole.T if name == first else whole
    described |= {"inputs": size[0], "outputs": size[1]}
    if inputs.layout:
        described["features"] = part_sizes(inputs.layout)
    if inputs.action_layout:
        described["action_features"] = part_sizes(inputs.action_layout)
        scale = input_scale(inputs.action_layout)
        scale[weights] = arrays["action_scale"]
        arrays["action_scale"] = scale
    return type(network)(arrays, described), inputs


def _check_equal(network: PlayingNetwork, inputs: NetworkInputs) -> None:
    """Raise ``ValueError`` unless ``network``, one of a user's own, was made for these ``inputs``."""
    expected = {"inputs": inputs.size, "actions": inputs.game.num_actions, **inputs.describe()}
    if {name: network.describe().get(name) for name in expected} != expected:
        raise ValueError(
            f"a network for {network.describe()}, expected {expected}: it was made for other rules"
        )


def _places(name: str, sizes: Mapping[str, int], layout: Layout | None, game: Game) -> NDArray[np.int64]:
    """Where the features of these ``sizes`` are in ``layout``. Raises ``ValueError`` for parts that it lacks."""
    if layout is None:
        return np.zeros(0, np.int64)
    if sizes.items() - part_sizes(layout).items():
        raise ValueError(
            f"its network takes the {name} {sizes}, but {game.id} has {part_sizes(layout)}: it was trained with "
            "another version"
        )
    return np.concatenate([np.arange(layout.size)[layout[part].slice] for part in sizes])
