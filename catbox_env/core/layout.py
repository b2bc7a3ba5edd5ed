"""Named parts of a flat vector: one object for the offsets, the views and the table in the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from catbox_env.core.bits import INT8_MAX, INT8_MIN
from catbox_env.core.checks import as_array, check_instance, check_list, is_integer, short_repr


@dataclass(frozen=True)
class Part:
    """One named part of a vector.

    Attributes: ``name``; ``shape``; ``doc``: what it holds; ``low``, ``high``: the range of its values; ``included``:
    whether these rules need it, otherwise the vector lacks it; ``offset``: where it begins (set by ``Layout``).

    Raises ``ValueError``, if these rules need it, for a range that does not fit in an int8, and for a shape that is not
    a tuple of integers of 0 or more.
    """

    name: str
    shape: tuple[int, ...]
    doc: str
    low: int = 0
    high: int = 1
    included: bool = True
    offset: int = 0

    def __post_init__(self) -> None:
        if not self.included:
            return
        low, high, shape = self.low, self.high, self.shape
        if not (is_integer(low) and is_integer(high) and INT8_MIN <= low <= high <= INT8_MAX):
            raise ValueError(
                f"part {self.name!r}: low={short_repr(low)}, high={short_repr(high)}; expected integers, low at most "
                f"high, from {INT8_MIN} to {INT8_MAX}: clip larger values, or split them into digits"
            )
        if not (isinstance(shape, tuple) and all(is_integer(length) and length >= 0 for length in shape)):
            raise ValueError(
                f"part {self.name!r}: shape={short_repr(shape)}; expected a tuple of integers of 0 or more, such as "
                "(1,)"
            )

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def slice(self) -> slice:
        """The place of the part in the vector."""
        return slice(self.offset, self.offset + self.size)


class Layout(Mapping[str, Part]):
    """The parts of a vector, in order: a read-only mapping from name to ``Part``, without those that rules do not need.

    Attributes: ``size``: number of elements; ``low``, ``high``: the range of every element, read-only int8 arrays
    ``(size,)``; ``names``: of all parts, those that these rules do not need included.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        for part in check_list("parts", parts, "Part"):
            check_instance("one of the parts", part, Part, "a Part")
        self.names = tuple(part.name for part in parts)
        if len({*self.names}) < len(parts):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ValueError(f"two parts have the name {twice!r}: give every part a unique name")
        self._parts: dict[str, Part] = {}
        self.size = 0
        for part in parts:
            if part.included:
                self._parts[part.name] = replace(part, offset=self.size)
                self.size += part.size
        self._places = [(part.name, part.slice, part.shape) for part in self._parts.values()]
        self.low, self.high = np.empty(self.size, np.int8), np.empty(self.size, np.int8)
        for part in self._parts.values():
            self.low[part.slice], self.high[part.slice] = part.low, part.high
        self.low.setflags(write=False)
        self.high.setflags(write=False)

    def __getitem__(self, name: str) -> Part:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._parts == other._parts

    __hash__ = None  # type: ignore[assignment]  # a mapping with __eq__, as dict is

    def unpack(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """Views of the parts of ``vector``: shape ``(size,)``, or a batch ``(..., size)``.

        A part of shape ``s`` has the shape ``(..., *s)`` here. The arrays are views: they change when the vector does.
        Raises ``ValueError`` unless the last axis has the length ``size``.
        """
        vector = as_array("vector", vector)
        if vector.ndim == 0 or vector.shape[-1] != self.size:
            raise ValueError(
                f"a vector of shape {vector.shape}: expected ({self.size},) or a batch (..., {self.size})"
            )
        batch = vector.shape[:-1]
        return {name: vector[..., place].reshape(batch + shape) for name, place, shape in self._places}

    def table(self) -> list[tuple[str, str, str, str, str]]:
        """Rows ``(name, offset, shape, range, what it holds)`` for documentation."""
        return [
            (
                part.name,
                f"{part.offset}",
                " x ".join(map(str, part.shape)),
                f"{part.low}..{part.high}",
                part.doc,
            )
            for part in self.values()
        ]
