"""Work that takes a while: an agent or a coach that thinks, a game that is set up.

It is split, so that a server can think in another thread: ``think`` touches no table; ``finish`` and ``fail`` are
called in the thread of the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """``finish`` gets the result of ``think``; ``fail`` gets the ``ValueError`` that it raised."""

    think: Callable[[], Any]
    finish: Callable[[Any], None]
    fail: Callable[[ValueError], None]

    def run(self) -> None:
        """Run all of it now, in this thread."""
        try:
            found = self.think()
        except ValueError as error:
            self.fail(error)
        else:
            self.finish(found)
