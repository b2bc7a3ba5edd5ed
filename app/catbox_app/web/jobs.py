"""Work that takes a while: an agent that thinks, a coach, a game that is set up.

It is split in two, so that a server can think in another thread: ``think`` touches no table, ``finish`` and ``fail``
are called where the tables live.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """``think`` finds something, which ``finish`` is given; ``fail`` is given the ``ValueError`` that it raised."""

    think: Callable[[], Any]
    finish: Callable[[Any], None]
    fail: Callable[[ValueError], None]

    def run(self) -> None:
        """All of it, here and now."""
        try:
            found = self.think()
        except ValueError as error:
            self.fail(error)
        else:
            self.finish(found)
