"""Plays the blocks of an arena on the machines of a Ray cluster.

Each core of the cluster gets a Ray actor, and each actor starts its own process, as `workers` does on this machine: the
same code handles agents that fail, take too long or end their process. Another actor replays the blocks of a lost one.
So the result is the same as on one machine.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import catbox_env
from catbox_agents.arena.results import Block
from catbox_agents.arena.setup import Setup, Task, fingerprint
from catbox_agents.arena.workers import Workers
from catbox_agents.errors import portable
from catbox_agents.ray_cluster import connected, short_reason
from catbox_agents.specs import make

#: How long the arena waits for a core of the cluster while nothing is being played, in seconds.
TIME_TO_BEGIN = 300.0
#: A block that was lost with its machine this many times is not retried.
MAX_LOSSES = 3
#: Seconds between two checks for cores of new machines.
_INTERVAL = 5.0


class Player:
    """The actor: plays blocks in a child process.

    Raises ``ValueError`` unless catbox and the agents are those of the arena.
    """

    def __init__(self, pickled: bytes, version: str, folder: str, path: Sequence[str]) -> None:
        if version != catbox_env.__version__:
            raise ValueError(
                f"catbox is {version} where the arena was started and {catbox_env.__version__} on "
                f"{socket.gethostname()}: install the same release on all machines"
            )
        with suppress(OSError):  # agents' paths are relative to it; a machine without it may need none
            os.chdir(folder)
        sys.path.extend(entry for entry in path if entry not in sys.path)
        self._setup: Setup = pickle.loads(pickled)
        _check_agents(self._setup)
        self._workers = Workers(self._setup, 1)

    def ready(self) -> None:
        """Return once the actor has started."""

    def play(self, task: Task) -> tuple[Exception | None, Block | None]:
        """The block of ``task``, or the error that ends the arena."""
        try:
            [(_, block)] = self._workers.play([task])
        except Exception as error:  # noqa: BLE001  (raised in the arena's process)
            return portable(error), None
        return None, block


def _check_agents(setup: Setup) -> None:
    """Raise ``ValueError`` for an agent that is missing or different on this machine."""
    for given, name, expected in zip(setup.agents, setup.names, setup.fingerprints, strict=True):
        if isinstance(given, bytes):
            continue
        try:
            found = fingerprint(given, make(given, setup.game), setup.game)
        except (ValueError, OSError) as error:
            raise ValueError(f"agent {name!r} cannot be made on {socket.gethostname()}: {error}") from None
        if found != expected:
            raise ValueError(
                f"agent {name!r} is different on {socket.gethostname()}: put the same files there as here"
            )


class RayWorkers:
    """The cores of a cluster, which play the tasks of an arena. A context manager, like `Workers`.

    Args:
        address: of the cluster; see `catbox_agents.ray_cluster.connected`.
        most: the most cores to use; None: all.
    """

    def __init__(self, setup: Setup, address: str, most: int | None) -> None:
        self._setup, self._address, self._most = setup, address, most
        self._given = pickle.dumps(setup), catbox_env.__version__, os.getcwd(), list(sys.path)
        self._actors: list[Any] = []
        self._waiting: dict[Any, Any] = {}  # pending answer -> the actor that is starting
        self._playing: dict[Any, tuple[Any, Task]] = {}
        self._lost: dict[Task, int] = {}

    def __enter__(self) -> RayWorkers:
        with ExitStack() as stack:
            stack.enter_context(connected(self._address, self._most or 1))
            import ray

            self._ray = ray
            # Each actor gets a new process, which ends with it.
            self._player = ray.remote(Player).options(num_cpus=1, max_restarts=0)
            stack.callback(self._end)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _end(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []

    def play(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Block]]:
        """Each task with its block, in the order in which they finish.

        Raises ``ChildProcessError`` if no core is free in time, or if a block is lost `MAX_LOSSES` times, and what a
        process of the arena raises.
        """
        ray, left = self._ray, list(tasks)[::-1]
        idle = [actor for actor in self._actors if actor not in self._waiting.values()]
        until = time.monotonic() + TIME_TO_BEGIN
        while left or self._playing:
            while idle and left:
                task, actor = left.pop(), idle.pop()
                self._playing[actor.play.remote(task)] = actor, task
            self._ask_for_cores(len(left))
            if self._playing:
                until = time.monotonic() + TIME_TO_BEGIN
            elif time.monotonic() > until:
                raise ChildProcessError(
                    f"no core of the Ray cluster was free for {TIME_TO_BEGIN:g} s: it has "
                    f"{ray.cluster_resources().get('CPU', 0):g}"
                )
            done, _ = ray.wait([*self._playing, *self._waiting], timeout=_INTERVAL)
            for answered in done:
                if answered in self._waiting:
                    actor = self._waiting.pop(answered)
                    if self._begun(answered, actor):
                        idle.append(actor)
                    continue
                actor, task = self._playing.pop(answered)
                block = self._heard(answered, actor, task)
                if block is None:
                    left.append(task)
                else:
                    idle.append(actor)
                    yield task, block

    def _ask_for_cores(self, wanted: int) -> None:
        """Request as many actors as there are cores and tasks for them."""
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        most = cores if self._most is None else min(cores, self._most)
        while len(self._actors) < most and len(self._waiting) < wanted:
            actor = self._player.remote(*self._given)
            self._actors.append(actor)
            self._waiting[actor.ready.remote()] = actor

    def _begun(self, answered: Any, actor: Any) -> bool:
        """Whether an actor has started. Raises what its constructor raised."""
        try:
            self._ray.get(answered)
        except self._ray.exceptions.ActorDiedError as error:
            self._actors.remove(actor)
            if isinstance(cause := getattr(error, "cause", None) or error.__cause__, ValueError):
                raise cause from None
            if "ValueError: " in str(error):  # of the constructor, as text
                raise ValueError(str(error).rpartition("ValueError: ")[2].strip()) from None
            return False
        except self._ray.exceptions.RayError:
            self._actors.remove(actor)
            return False
        return True

    def _heard(self, answered: Any, actor: Any, task: Task) -> Block | None:
        """The block that an actor has played; None if the actor was lost."""
        try:
            error, block = self._ray.get(answered)
        except self._ray.exceptions.RayError as lost:
            self._actors.remove(actor)
            with suppress(Exception):  # it may still run, only unreachable
                self._ray.kill(actor)
            self._lost[task] = self._lost.get(task, 0) + 1
            if self._lost[task] >= MAX_LOSSES:
                raise ChildProcessError(
                    f"machines of the Ray cluster were lost {MAX_LOSSES} times while they played the same deals: "
                    f"{short_reason(lost)}"
                ) from lost
            return None
        if error is not None:
            raise error
        found: Block = block
        return found
