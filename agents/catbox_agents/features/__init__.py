"""What agents and the app use of a game beyond its rules: features for networks, and facts about its options.

`features_of(game)` returns the features of a game, `facts(game)` its facts. They stand in a module for each game: for
``NAME_v0`` in ``NAME.py`` of this folder; a game of your own names its module in ``Game.agent_module``. The module may
define

- ``make_features(game) -> Features``; by default a game has no features;
- ``FACTS``, a `GameFacts`; by default ``GameFacts()``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.imports import import_name, is_class
from catbox_agents.networks.numpy_network import NumpyMLP, PlayingNetwork
from catbox_env import Game, Layout
from catbox_env.core.checks import is_array, short_repr
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import part_offsets
from catbox_env.core.layout import Part

__all__ = ["Features", "GameFacts", "NetworkInputs", "facts", "features_of", "input_scale"]


def features_of(game: Game) -> Features | None:
    """The features of ``game``, or None if it has none. Equal games share one object."""
    make_features = getattr(_agent_module(game.id, game.agent_module), "make_features", None)
    return None if make_features is None else _cached(make_features, game)


def features_from(source: str, game: Game) -> Features:
    """The features of ``game`` that the function ``source`` makes, ``"package.module:function"``.

    Importing the module runs its code. Raises ``ValueError`` if there is no such function, or if it makes none.
    """
    if not is_class(source):
        raise ValueError(f"features from {short_repr(source)}: expected 'package.module:function'")
    function = import_name(source, "features")
    try:
        found = _cached(function, game)
    except Exception as error:  # it is the user's own
        raise ValueError(f"features from {short_repr(source)}: {type(error).__name__}: {error}") from error
    if not isinstance(found, Features) or found.game != game:
        raise ValueError(
            f"features from {short_repr(source)}: expected a function that takes the game and returns its Features"
        )
    return replace(found, source=source)


def facts(game: Game | type[Game]) -> GameFacts:
    """The facts about ``game``, or about the games of a class, which are the same under all rules."""
    return getattr(_agent_module(game.id, game.agent_module), "FACTS", GameFacts())


@lru_cache(maxsize=128)
def _cached(make_features: Callable[[Game], Features], game: Game) -> Features:
    return make_features(game)


@cache
def _agent_module(game_id: str, name: str | None) -> ModuleType | None:
    """The module ``name`` or, for None, the one of this folder for ``game_id``, if there is one."""
    own = game_id.rpartition("_v0")[0]
    if name is None and own in {module.name for module in pkgutil.iter_modules(__path__)}:
        name = f"{__name__}.{own}"
    if name is None:
        return None
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ValueError(
            f"agent_module={name!r} of the game {game_id!r} cannot be imported ({error}): name a module that can, or "
            "None"
        ) from error


def axis_indices(game: Game, part: str) -> tuple[Sequence[Any], ...]:
    """The indices along each axis of a part of the observation: the default of ``GameFacts.axis_labels``."""
    return tuple(range(length) for length in game.observation_layout[part].shape)


def info_itself(game: Game, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """``info`` as float64: the default of ``GameFacts.statistics``."""
    return {name: values.astype(np.float64) for name, values in info.items()}


def no_values(game: Game) -> Mapping[str, tuple[int, ...]]:
    """Nothing: the default of ``GameFacts.counted_values``."""
    return {}


@dataclass(frozen=True)
class GameFacts:
    """Which rules of a game are alike to an agent, and which statistics matter to a player.

    Attributes:
        transferable_options: options that do not change how an agent has to play, such as who begins: an agent made for
            other values may play if the observation has the same parts.
        adaptable_options: options of which an agent also plays a part, such as fewer bids (`catbox_agents.adaptation`).
        equivalent_values: values of an option that mean the same rules: option -> these values.
        axis_labels: ``axis_labels(game, part)``: what each axis of a part of the observation counts, as labels that
            mean the same under all rules. By default, the indices.
        statistics: ``statistics(game, info)``: statistics for training and evaluation, each (n, P) float64, computed
            from ``info`` arrays (n, P). By default, ``info`` itself.
        binary_statistics: those of the ``statistics`` that are 0 or 1 for a seat and matter to a player: hints show
            their probabilities. Some rules lack some of them.
        counted_values: ``counted_values(game)``: entries of ``info`` whose individual values evaluations count, such
            as bids: name -> values.
    """

    transferable_options: tuple[str, ...] = ()
    adaptable_options: tuple[str, ...] = ()
    equivalent_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    axis_labels: Callable[[Game, str], tuple[Sequence[Any], ...]] = axis_indices
    statistics: Callable[[Game, Mapping[str, np.ndarray]], dict[str, np.ndarray]] = info_itself
    binary_statistics: tuple[str, ...] = ()
    counted_values: Callable[[Game], Mapping[str, tuple[int, ...]]] = no_values


@dataclass(frozen=True, eq=False)
class Features:
    """The features of one game under one rule set: immutable, picklable (with its game).

    They depend only on an observation and its action mask, so they tell a player nothing that it cannot see.

    Attributes:
        game: the game; ``features_of(game)`` is this object.
        layout: the named parts of the features of a position (F,).
        action_layout: the named parts of the features of one action (K,).
        write: ``write(params, at, seen, mask, scratch, out, action_out)`` for one row, which is compiled if it is not
            yet: writes into ``out``
            (F,) and ``action_out`` (A, K), which hold zeros. ``at``: a record that says where the part NAME of
            ``layout`` begins, and as ``action_NAME`` that of ``action_layout``;
            ``scratch``: a record to work in, whose content nobody keeps. It stays within its arrays whatever they
            hold. Compiled for GPUs too, where it cannot make arrays.
        scratch: the dtype of that record.
        source: ``"package.module:function"`` if a function of a user's own made them from the game.
        fill: compiled ``fill(params, offsets, observations, masks, out, action_out)``: the same for rows (n, ...).
        offsets: the record ``at`` as an array (1,), see `catbox_env.core.kernels.part_offsets`.
    """

    game: Game
    layout: Layout
    action_layout: Layout
    write: Callable[..., None]
    scratch: np.dtype[Any]
    source: str = ""
    fill: Callable[..., None] = field(init=False)
    offsets: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        if not hasattr(self.write, "py_func"):
            object.__setattr__(self, "write", njit(self.write))
        object.__setattr__(self, "fill", make_fill(self.write, self.scratch))
        object.__setattr__(self, "offsets", part_offsets(self.layout, action=self.action_layout))

    def __reduce__(self) -> tuple:
        return (features_from, (self.source, self.game)) if self.source else (features_of, (self.game,))

    def compute(
        self,
        observations: NDArray[np.int8],
        masks: NDArray[np.bool_],
        out: NDArray[np.int8] | None = None,
        action_out: NDArray[np.int8] | None = None,
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The features of each row.

        Args:
            observations: int8 (n, O), of any seat.
            masks: bool (n, A), the legal actions of that seat; all False if it is not to move.
            out, action_out: int8 arrays (n, F) and (n, A, K) to write into, C-contiguous. None: new ones.

        Returns ``out`` and ``action_out``. The features of an illegal action are zeros. The features of a vector that
        no seat can see are meaningless. Raises ``ValueError`` for an array of the wrong dtype or shape, and for an
        output array that is not contiguous or not writable. It releases the interpreter lock.
        """
        rows = len(masks) if isinstance(masks, np.ndarray) and masks.ndim else 0
        wide, actions = self.game.observation_layout.size, self.game.num_actions
        seen = np.require(_checked("observations", observations, np.int8, (rows, wide)), None, ["C", "W"])
        legal = np.require(_checked("masks", masks, np.bool_, (rows, actions)), None, ["C", "W"])
        out = _target("out", out, (rows, self.layout.size))
        action_out = _target("action_out", action_out, (rows, actions, self.action_layout.size))
        self.fill(self.game.params, self.offsets, seen, legal, out, action_out)
        return out, action_out


@cache
def make_fill(write: Callable[..., None], scratch: np.dtype[Any]) -> Callable[..., None]:
    """The `Features.fill` of games with the same ``write`` and ``scratch``."""

    @cached_njit(nogil=True)
    def fill(params, offsets, observations, masks, out, action_out):
        # Keep the array: compiled code that holds only its record frees it.
        scratches = np.zeros(1, scratch)
        rules, at = params[0], offsets[0]
        for row in range(len(observations)):
            out[row] = 0
            action_out[row] = 0
            write(rules, at, observations[row], masks[row], scratches[0], out[row], action_out[row])

    return fill


def _checked(name: str, array: Any, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """``array`` itself. Raises ``ValueError`` unless it is an array of this dtype and shape."""
    if is_array(array, shape, np.dtype(dtype)):
        return array
    given = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else short_repr(array)
    raise ValueError(
        f"{name}: {given}; expected an array of {np.dtype(dtype)} of shape {shape}, as a Vec of this game has"
    )


def _target(name: str, array: NDArray[np.int8] | None, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """``array``, checked, or a new one of this shape."""
    if array is None:
        return np.empty(shape, np.int8)
    if not _checked(name, array, np.int8, shape).flags.carray:
        raise ValueError(f"{name}: expected a C-contiguous, writable array, or None")
    return array


def input_scale(layout: Layout) -> NDArray[np.float32]:
    """Factors (O,) float32 that scale the counts in a vector of ``layout`` to about the size of its one-hot parts.

    Each is the power of two nearest to 1/sqrt(largest magnitude): 1 for one-hot parts, 1/2 for a hand count of up to 5.
    Multiplying small integers by a power of two is exact, even in bfloat16.
    """
    largest = np.maximum(np.maximum(np.abs(layout.low.astype(int)), np.abs(layout.high.astype(int))), 1)
    return np.exp2(-np.round(np.log2(largest) / 2)).astype(np.float32)


class NetworkInputs:
    """The inputs of a policy for ``game``.

    ``features`` appends the features of the position to the observation; ``action_features`` passes those of each
    action to the network. A game without features has neither. ``source``, if given, names a function of your own that
    makes the features, see `features_from`.

    Attributes: ``features``, the `Features` that compute them, or None; ``size``, the number of inputs I;
    ``action_size``, the features K of an action, or 0; ``layout`` and ``action_layout``, their layouts, or None.
    """

    def __init__(
        self, game: Game, features: bool = False, action_features: bool = False, source: str = ""
    ) -> None:
        self.game, self.source = game, source
        self.features = given = features_from(source, game) if source else features_of(game)
        self.layout = given.layout if given and features else None
        self.action_layout = given.action_layout if given and action_features else None
        self.size = game.observation_layout.size + (self.layout.size if self.layout else 0)
        self.action_size = self.action_layout.size if self.action_layout else 0

    def parts(self) -> dict[str, tuple[slice, Part]]:
        """Where each part is in a vector (I,), and what it is: those of the observation by their names, those of the
        features as ``features.NAME``."""
        seen = self.game.observation_layout
        features: Mapping[str, Part] = self.layout or {}
        found = {name: (part.slice, part) for name, part in seen.items()}
        for name, part in features.items():
            found[f"features.{name}"] = (
                slice(seen.size + part.offset, seen.size + part.offset + part.size),
                part,
            )
        return found

    def describe(self) -> dict[str, Any]:
        """The features as a checkpoint describes them: the sizes of their parts, and who makes them."""
        sizes = {"features": part_sizes(self.layout), "action_features": part_sizes(self.action_layout)}
        own = {"features_from": self.source} if self.source else {}
        return {**{name: parts for name, parts in sizes.items() if parts}, **own}

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
        seen = self.game.observation_layout.size
        out[:, :seen] = observations
        if self.features is None or not (self.layout or self.action_layout):
            return
        features, _ = self.features.compute(
            observations, masks, action_out=action_out if self.action_layout else None
        )
        if self.layout:
            out[:, seen:] = features

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
    inputs = NetworkInputs(game, bool(network.features), bool(network.action_features), source)
    if not isinstance(network, NumpyMLP):
        _check_equal(network, inputs)
        return network, inputs
    seen, actions = game.observation_layout.size, game.num_actions
    # Where the inputs and outputs of the network are among those of one that takes all features.
    columns = _places("features", network.features, inputs.layout, game)
    columns = np.concatenate([np.arange(seen), seen + columns])
    weights = _places("action features", network.action_features, inputs.action_layout, game)
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
    made = {"inputs": inputs.size, "actions": inputs.game.num_actions, **inputs.describe()}
    if {name: network.describe().get(name) for name in made} != made:
        raise ValueError(f"a network for {network.describe()}, expected {made}: it was made for other rules")


def _places(name: str, taken: Mapping[str, int], layout: Layout | None, game: Game) -> NDArray[np.int64]:
    """Where the features ``taken`` are in ``layout``. Raises ``ValueError`` for parts that it lacks."""
    if layout is None:
        return np.zeros(0, np.int64)
    if taken.items() - part_sizes(layout).items():
        raise ValueError(
            f"its network takes the {name} {taken}, but {game.id} has {part_sizes(layout)}: it was trained with "
            "another version"
        )
    return np.concatenate([np.arange(layout.size)[layout[part].slice] for part in taken])
