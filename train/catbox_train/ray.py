"""Training on a Ray cluster: the other processes of a run are actors on its machines (needs the extra ``ray``).

    with OnRay(8, address="auto") as make_algorithm:
        catbox_train.train(config, "runs/eight", make_algorithm=make_algorithm)

The run itself is process 0: it plays and learns as they do, on a machine of the cluster. Ray starts the others and
tells them what to call; ``torch.distributed`` sums their gradients.
"""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from typing import Any

import torch.distributed as dist

import catbox_env
from catbox_agents.system.ray_cluster import connected, short_reason
from catbox_env import Game
from catbox_train.algorithm import Algorithm, WorkersLost
from catbox_train.config import TrainConfig
from catbox_train.group import TIME_TO_JOIN, DistributedGroup, Group
from catbox_train.processes import ParallelAlgorithm, Worker, Workers

__all__ = ["OnRay"]

#: Seconds that the others may take to start.
TIME_TO_START = 300.0


class OnRay:
    """A context manager: connects to the cluster at ``address``, see `catbox_agents.system.ray_cluster.connected`.

    Called with the settings of a run and its game, it makes the algorithm, with ``config.workers`` - 1 actors. If one
    of them or its machine is lost, `train` starts them again and resumes from the last checkpoint.

    Entering the context raises ``ValueError`` if Ray is not installed, ``ConnectionError`` if no cluster answers.
    Settings with another number of workers raise ``ValueError``.
    """

    def __init__(self, workers: int, address: str | None = None) -> None:
        self._workers, self._address = workers, address

    def __enter__(self) -> OnRay:
        with ExitStack() as stack:
            stack.enter_context(connected(self._address, self._workers))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def __call__(self, config: TrainConfig, game: Game) -> Algorithm:
        if config.workers != self._workers:
            raise ValueError(
                f"workers = {config.workers}, but OnRay was made for {self._workers}: give both one number"
            )
        return ParallelAlgorithm(config, game, RayWorkers)


class RayWorkers(Workers):
    """Processes of a cluster, each an actor with a core and perhaps a GPU."""

    def __init__(self, config: TrainConfig) -> None:
        self._config = config
        self._group = Group()
        self._actors: list[Any] = []
        self._calls: list[Any] = []

    def start(self) -> Group:
        import ray  # slow

        config = self._config
        assert config.workers != "auto", "use config.resolved(game)"
        size, gpu = config.workers, config.device.startswith("cuda")
        actor = ray.remote(num_cpus=1, num_gpus=int(gpu), max_restarts=0)(RayWorker)
        self._actors = [actor.remote() for _ in range(1, size)]
        try:
            found = set(
                ray.get([actor.release.remote() for actor in self._actors], timeout=TIME_TO_START)
            ) - {catbox_env.__version__}
        except ray.exceptions.GetTimeoutError:
            raise ChildProcessError(
                f"{size - 1} more processes did not start within {TIME_TO_START:g} s"
            ) from None
        except ray.exceptions.RayError as error:
            raise self.lost(short_reason(error)) from error
        if found:
            raise ValueError(
                f"catbox is {found.pop()} there and {catbox_env.__version__} here: install the same release"
            )
        host = ray.util.get_node_ip_address()
        store = _store(host, is_master=True)
        # The GPU of an actor is the only one that it sees.
        settings = {**config.as_dict(), "device": "cuda:0" if gpu else config.device}
        self._calls = [
            actor.start.remote(settings, partial(_join, rank, size, host, store.port, gpu))
            for rank, actor in enumerate(self._actors, start=1)
        ]
        self._group = DistributedGroup(0, size, store, host, gpu, self.check)
        return self._group

    def call(self, name: str, *arguments: Any) -> None:
        self.check()
        self._calls += [actor.call.remote(name, *arguments) for actor in self._actors]

    def check(self) -> None:
        import ray  # slow

        if not self._calls:
            return
        done, self._calls = ray.wait(self._calls, num_returns=len(self._calls), timeout=0)
        try:
            errors = [error for error in ray.get(done) if error is not None]
        except ray.exceptions.RayError as error:
            raise self.lost(short_reason(error)) from error
        if errors:
            raise errors[0]

    def lost(self, reason: str) -> Exception:
        return WorkersLost(reason)

    def stop(self) -> None:
        import ray  # slow

        for actor in self._actors:
            ray.kill(actor)
        self._group.close()


class RayWorker(Worker):
    """A worker on a cluster."""

    def release(self) -> str:
        """The release of catbox that is installed there."""
        return catbox_env.__version__


def _store(host: str, port: int = 0, is_master: bool = False) -> Any:
    """Where the processes find one another."""
    time = timedelta(seconds=TIME_TO_JOIN)
    return dist.TCPStore(  # type: ignore[attr-defined]  # torch defines it under a condition
        host, port, is_master=is_master, timeout=time, wait_for_workers=False
    )


def _join(rank: int, size: int, host: str, port: int, on_gpus: bool) -> Group:
    return DistributedGroup(rank, size, _store(host, port), host, on_gpus)
