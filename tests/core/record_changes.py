"""Changes to the record of a state, for the tests of positions that cannot be played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def set_field(name: str, value: Any, *place: int) -> Callable[[np.record], None]:
    """A change that puts ``value`` into the field ``name``, at ``place`` where one is given."""

    def change(record: np.record) -> None:
        if place:
            record[name][place] = value
        else:
            record[name] = value

    return change
