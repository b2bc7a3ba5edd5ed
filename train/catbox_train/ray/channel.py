"""How the run and its workers communicate: an actor on the machine of the run.

It passes on bytes without decoding them, so its process imports neither torch nor numba.
"""

from __future__ import annotations

import asyncio
from typing import Any


class Channel:
    """Messages of the run to the first of the workers, and its answers.

    Each start of the workers by Ray, the first or after one of them was lost, is a new ``generation``, from 1.
    Methods that wait return None after ``seconds``, or once the generation is over.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self.generation = 0
        #: What the first worker reports about them all.
        self.facts: Any = None
        self._over = True
        self._stopped = False
        self._why = ""
        self._message: bytes | None = None
        self._answer: bytes | None = None

    # For the workers.

    async def join(self, facts: Any) -> int:
        """The workers have started; returns their generation."""
        async with self._changed:
            self.generation += 1
            self.facts, self._over = facts, False
            self._message = self._answer = None
            self._changed.notify_all()
            return self.generation

    async def next(self, generation: int, seconds: float) -> tuple[bool, bytes | None]:
        """Whether the workers are to continue, and the next message."""
        await self._wait(
            lambda: self._stopped or generation != self.generation or self._message is not None, seconds
        )
        if self._stopped or generation != self.generation:
            return False, None
        message, self._message = self._message, None
        return True, message

    async def answer(self, generation: int, answer: bytes) -> None:
        """Give the workers' answer to the last message."""
        async with self._changed:
            if generation == self.generation:
                self._answer = answer
                self._changed.notify_all()

    # For the controller of Ray Train.

    async def lost(self, why: str) -> None:
        """A worker of this generation was lost."""
        async with self._changed:
            self._over, self._why = True, why
            self._changed.notify_all()

    # For the run.

    async def begun(self, after: int, seconds: float) -> tuple[int, Any] | None:
        """The number and the facts of a generation after ``after``."""
        await self._wait(lambda: self.generation > after and not self._over, seconds)
        return (self.generation, self.facts) if self.generation > after and not self._over else None

    async def ask(self, generation: int, message: bytes) -> bytes | None:
        """The workers' answer to ``message``; None if a worker was lost."""
        async with self._changed:
            if generation != self.generation or self._over:
                return None
            self._message, self._answer = message, None
            self._changed.notify_all()
        await self._wait(
            lambda: generation != self.generation or self._over or self._answer is not None, None
        )
        return self._answer if generation == self.generation and not self._over else None

    async def why(self) -> str:
        """Why the last worker was lost."""
        return self._why

    async def stop(self) -> None:
        """Make the workers end."""
        async with self._changed:
            self._stopped = True
            self._changed.notify_all()

    async def _wait(self, holds: Any, seconds: float | None) -> None:
        """Wait until ``holds()`` is true, at most ``seconds``."""
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(holds)
        except TimeoutError:
            pass
