"""Features that a game computes from an observation for a network: of the position and of each legal action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catbox_env.core.checks import brief, is_array
from catbox_env.core.kernels import record_dtype
from catbox_env.core.layout import Layout

if TYPE_CHECKING:
    from catbox_env.core.game import Game


@dataclass(frozen=True, eq=False)
class Features:
    """The features of one game under one rule set: immutable, picklable (with its game).

    They depend only on an observation and its action mask, so they tell a player nothing that it cannot see.

    Attributes:
        game: the game; ``game.features`` is this object.
        layout: the named parts of the features of a position (F,).
        action_layout: the named parts of the features of one action (K,).
        offsets: array (1,) of a record with the offset of each part of ``layout``, -1 for an omitted part.
        fill: compiled ``fill(params, offsets, observations, masks, out, action_out)``: writes every element of
            ``out`` (n, F) and ``action_out`` (n, A, K). It stays within its arrays whatever they hold.
    """

    game: Game
    layout: Layout
    action_layout: Layout
    offsets: np.ndarray
    fill: Callable[..., None]

    def __reduce__(self) -> tuple:
        return attrgetter("features"), (self.game,)

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


def part_offsets(layout: Layout, parts: Sequence[str]) -> np.ndarray:
    """Array (1,), read-only, of a record with the offset of each of ``parts``; -1 for an omitted part."""
    offsets = np.array([layout.offsets(parts)], record_dtype([(name, np.int64) for name in parts]))
    offsets.setflags(write=False)
    return offsets


def _checked(name: str, array: Any, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """``array`` itself. Raises ``ValueError`` unless it is an array of this dtype and shape."""
    if is_array(array, shape, np.dtype(dtype)):
        return array
    given = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else brief(array)
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
