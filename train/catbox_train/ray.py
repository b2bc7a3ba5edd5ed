"""Training on a Ray cluster: the other processes of a run are tasks on its machines (needs the extra ``ray``).

    with OnRay(address="auto") as make_algorithm:
        catbox_train.train(config, "runs/eight", make_algorithm=make_algorithm)

The run itself is the first process: it plays and learns as they do, on a machine of the cluster.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import catbox_env
from catbox_agents.system.ray_cluster import connected, short_reason
from catbox_env import Game
from catbox_train.algorithm import Algorithm, WorkersLost
from catbox_train.config import TrainConfig
from catbox_train.processes import Others, Together

__all__ = ["OnRay"]


class OnRay:
    """A context manager: connects to the cluster at ``address``, see `catbox_agents.system.ray_cluster.connected`.

    Called with the settings of a run and its game, it makes the algorithm, with ``config.workers`` - 1 tasks. If one of
    them or its machine is lost, `train` starts them again and resumes from the last checkpoint.

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
        import ray  # slow

        if config.workers != self._workers:
            raise ValueError(
                f"workers = {config.workers}, but OnRay was made for {self._workers}: give both one number"
            )
        host = ray.util.get_node_ip_address()
        gpu = config.device.startswith("cuda")
        return Together(
            config, game, lambda port, token, size: RayProcesses(host, port, token, size, gpu), host
        )


class RayProcesses(Others):
    """The processes 1 .. ``size`` - 1, each a task with a core and perhaps a GPU."""

    def __init__(self, host: str, port: int, token: bytes, size: int, gpu: bool) -> None:
        import ray  # slow

        task = ray.remote(num_cpus=1, num_gpus=int(gpu), max_retries=0)(_work)
        self._tasks = [
            task.remote(host, port, token, rank, size, catbox_env.__version__) for rank in range(1, size)
        ]

    def lost(self) -> str:
        import ray  # slow

        for task in ray.wait(self._tasks, num_returns=1, timeout=0)[0]:
            try:
                ray.get(task)
            except ray.exceptions.RayError as error:
                return short_reason(error)
            return "it has ended"
        return ""

    def error(self, reason: str) -> Exception:
        return WorkersLost(reason)

    def stop(self) -> None:
        import ray  # slow

        for task in self._tasks:
            ray.cancel(task, force=True)


def _work(host: str, port: int, token: bytes, rank: int, size: int, version: str) -> Any:
    """What a task does."""
    from catbox_train.memory import keep_freed_memory  # in the process of the task alone
    from catbox_train.processes import work

    if catbox_env.__version__ != version:
        raise ValueError(
            f"catbox is {version} there and {catbox_env.__version__} here: install the same release"
        )
    keep_freed_memory()
    work(host, port, token, rank, size)
