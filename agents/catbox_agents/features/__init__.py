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
from catbox_env import Game, Layout
from catbox_env.core.checks import is_array, short_repr
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import part_offsets
from catbox_env.core.spec import check_game_object

__all__ = ["Features", "GameFacts", "facts", "features_of"]


def features_of(game: Game) -> Features | None:
    """The features of ``game``, or None if it has none. Equal games share one object."""
    check_game_object(game)
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
        features = _cached(function, game)
    except Exception as error:  # it is the user's own
        raise ValueError(f"features from {short_repr(source)}: {type(error).__name__}: {error}") from error
    if not isinstance(features, Features) or features.game != game:
        raise ValueError(
            f"features from {short_repr(source)}: expected a function that takes the game and returns its Features"
        )
    return replace(features, source=source)


def facts(game: Game | type[Game]) -> GameFacts:
    """The facts about ``game``, or about the games of a class, which are the same under all rules."""
    if not (isinstance(game, type) and issubclass(game, Game)):
        check_game_object(game)
    return getattr(_agent_module(game.id, game.agent_module), "FACTS", GameFacts())


@lru_cache(maxsize=128)
def _cached(make_features: Callable[[Game], Features], game: Game) -> Features:
    return make_features(game)


@cache
def _agent_module(game_id: str, name: str | None) -> ModuleType | None:
    """The module ``name`` or, for None, the one of this folder for ``game_id``, if there is one."""
    base = game_id.rpartition("_v0")[0]
    if name is None and base in {module.name for module in pkgutil.iter_modules(__path__)}:
        name = f"{__name__}.{base}"
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
        adaptable_options: options of which an agent also plays other values, such as fewer bids or no instant wins, if
            its actions and observations have all that these need (`catbox_agents.adaptation`).
        equivalent_values: values of an option that mean the same rules: option -> these values.
        axis_labels: ``axis_labels(game, part)``: what each axis of a part of the observation counts, as labels that
            mean the same under all rules. By default, the indices.
        statistics: ``statistics(game, info)``: statistics for training and evaluation, each (n, P) float64, computed
            from ``info`` arrays (n, P). By default, ``info`` itself.
        binary_statistics: those of the ``statistics`` that are 0 or 1 for a seat and matter to a player: hints show
            their probabilities. Some rules lack some of them.
        shares: all ``statistics`` that are 0 or 1 for a seat, so that their means are shares of rounds: name -> what
            it says of a round, in a few words.
        counted_values: ``counted_values(game)``: entries of ``info`` whose individual values evaluations count, such
            as bids: name -> values.
    """

    transferable_options: tuple[str, ...] = ()
    adaptable_options: tuple[str, ...] = ()
    equivalent_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    axis_labels: Callable[[Game, str], tuple[Sequence[Any], ...]] = axis_indices
    statistics: Callable[[Game, Mapping[str, np.ndarray]], dict[str, np.ndarray]] = info_itself
    binary_statistics: tuple[str, ...] = ()
    shares: Mapping[str, str] = field(default_factory=dict)
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
            yet: writes into ``out`` (F,) and ``action_out`` (A, K), which hold zeros. ``at``: a record that says where
            the part NAME of ``layout`` begins, and as ``action_NAME`` that of ``action_layout``; ``scratch``: a record
            to work in, whose content nobody keeps. It stays within its arrays whatever they hold. Compiled for GPUs
            too, where it cannot make arrays.
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
    shown = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else short_repr(array)
    raise ValueError(
        f"{name}: {shown}; expected an array of {np.dtype(dtype)} of shape {shape}, as a Vec of this game has"
    )


def _target(name: str, array: NDArray[np.int8] | None, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """``array``, checked, or a new one of this shape."""
    if array is None:
        return np.empty(shape, np.int8)
    if not _checked(name, array, np.int8, shape).flags.carray:
        raise ValueError(f"{name}: expected a C-contiguous, writable array, or None")
    return array
