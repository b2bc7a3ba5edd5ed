"""Words that all games share: titles, seats, numbers, and the parts of a vector as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from catbox_env.core.layout import Layout

#: A piece of text and its rich style.
Segment = tuple[str, str]

#: Characters in a line of text.
LINE_LENGTH = 48
#: Words of a title without a capital letter.
_SMALL = {"in", "of", "the"}


def game_title(game_id: str) -> str:
    """What people call the game: ``"Cat in the Box"``."""
    words = game_id.rpartition("_v")[0].split("_")
    return " ".join(
        word if word in _SMALL and place else word.capitalize() for place, word in enumerate(words)
    )


def part_lines(layout: Layout, vector: np.ndarray) -> list[str]:
    """The named parts of ``vector`` (O,) as lines of text. A part of several rows omits those of zeros."""
    lines = []
    for name, values in layout.unpack(vector).items():
        part = layout[name]
        digits = max(len(str(part.low)), len(str(part.high)))
        for index in np.ndindex(values.shape[:-1]):
            row = np.atleast_1d(values[index]).tolist()
            head = " ".join([name, *map(str, index)]) + ":"
            most = max(1, (LINE_LENGTH - len(head)) // (digits + 1))
            for first in range(0, len(row) if any(row) or values.ndim < 2 else 0, most):
                lines.append(" ".join(["   " if first else head, *map(str, row[first : first + most])]))
    return lines


def names(seats: Sequence[int]) -> str:
    """``"player_0, player_1 and player_3"``."""
    listed = [f"player_{seat}" for seat in seats]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def counted(number: int, unit: str) -> str:
    """``"1 trick"``, ``"3 tricks"``."""
    return f"{number} {unit}{'' if abs(number) == 1 else 's'}"


def won_by(winners: Sequence[int]) -> str:
    """Who has won, in words."""
    return f"{names(winners)} {'wins' if len(winners) == 1 else 'share the win'}"
