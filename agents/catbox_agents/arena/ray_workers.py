"""Plays the blocks of an arena on the machines of a Ray cluster: a Ray task for each block.

Ray plays a block again if it is lost with its machine. The result is the same as on one machine.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache

import catbox_env
from catbox_agents.arena.results import Block
from catbox_agents.arena.seatings import Players, PlayTasks, Setup, Task
from catbox_agents.errors import portable
from catbox_agents.system.ray_cluster import connected, short_reason

#: How long the arena waits for the first free core of the cluster, in seconds.
TIME_TO_BEGIN = 300.0
#: How often a block that was lost with its machine is played again.
MAX_RETRIES = 3
#: Seconds between two checks for cores of new machines.
_INTERVAL = 5.0


def _play_there(
    pickled: bytes, fingerprints: Sequence[str], version: str, folder: str, path: Sequence[str], task: Task
) -> Block | Exception:
    """The Ray task: the block of ``task``, or the error that ends the arena."""
    if version != catbox_env.__version__:
        return ValueError(
            f"catbox is {version} where the arena was started and {catbox_env.__version__} on "
            f"{socket.gethostname()}: install the same release on all machines"
        )
    with suppress(OSError):  # agents' paths are relative to it; a machine without it may need none
        os.chdir(folder)
    sys.path.extend(entry for entry in path if entry not in sys.path)
    try:
        return task.play(_players(pickled, tuple(fingerprints)))
    except Exception as error:  # noqa: BLE001  (raised in the arena's process)
        return portable(error)


@cache
def _players(pickled: bytes, fingerprints: tuple[str, ...]) -> Players:
    """The agents of the pickled setup, made once in a process.

    Raises ``ValueError`` if one is missing or different here.
    """
    setup: Setup = pickle.loads(pickled)
    try:
        players = Players(setup)
    except (ValueError, OSError) as error:
        raise ValueError(f"an agent cannot be made on {socket.gethostname()}: {error}") from None
    for name, found, expected in zip(setup.names, players.fingerprints(), fingerprints, strict=True):
        if found != expected:
            raise ValueError(
                f"agent {name!r} is different on {socket.gethostname()}: put the same files there as here"
            )
    return players


@contextmanager
def on_cluster(
    setup: Setup, fingerprints: Sequence[str], address: str, most: int | None
) -> Iterator[PlayTasks]:
    """A function that plays tasks on the cores of a cluster.

    It raises what `play_block` raises, and ``ChildProcessError`` if a block is lost after all retries.

    Args:
        fingerprints: of the agents here, see `Players`.
        address: of the cluster; see `catbox_agents.system.ray_cluster.connected`.
        most: the most cores to use; None: all.
    """
    with connected(address, most or 1):
        import ray  # slow, and `connected` prepares it

        shared = pickle.dumps(setup), list(fingerprints), catbox_env.__version__
        given = [ray.put(value) for value in (*shared, os.getcwd(), list(sys.path))]
        begun = ray.remote(num_cpus=1)(lambda: None).remote()
        if not ray.wait([begun], timeout=TIME_TO_BEGIN)[0]:
            raise ChildProcessError(
                f"no core of the Ray cluster was free for {TIME_TO_BEGIN:g} s: it has "
                f"{ray.cluster_resources().get('CPU', 0):g}"
            )
        remote = ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(_play_there)

        def play(tasks: Iterable[Task]) -> Iterator[tuple[Task, Block]]:
            left, playing = list(tasks)[::-1], dict[object, Task]()
            try:
                while left or playing:
                    cores = max(1, int(ray.cluster_resources().get("CPU", 0)))
                    while left and len(playing) < min(cores, most or cores):
                        task = left.pop()
                        playing[remote.remote(*given, task)] = task
                    for answered in ray.wait(list(playing), timeout=_INTERVAL)[0]:
                        task = playing.pop(answered)
                        try:
                            answer = ray.get(answered)
                        except ray.exceptions.RayError as lost:
                            raise ChildProcessError(
                                f"processes of the Ray cluster were lost {MAX_RETRIES + 1} times while they played "
                                f"{setup.who(task)} with the same deals: {short_reason(lost)}"
                            ) from lost
                        if isinstance(answer, Exception):
                            raise answer
                        yield task, answer
            finally:
                for pending in playing:
                    ray.cancel(pending, force=True)

        yield play
