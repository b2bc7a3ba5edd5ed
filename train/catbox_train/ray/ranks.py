"""What runs in each process of Ray Train: the algorithm, with a share of the games, as one rank of a group.

The ranks are those of a process group of torch. The first one receives the run's requests, tells the others, gathers
their answers, and sends these back. Gradient steps do not go through it: all ranks average their gradients (gloo on
CPUs, nccl on GPUs).
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import ray
import ray.train.torch
import torch
import torch.distributed as dist

import catbox_env
from catbox_agents.errors import portable
from catbox_train.algorithm import TrainingState, algorithm_class
from catbox_train.config import TrainConfig
from catbox_train.memory import check_memory, keep_freed_memory
from catbox_train.self_play.algorithm import SelfPlay
from catbox_train.self_play.group import Group

#: How often the first rank reports that there is nothing to do yet, in seconds: torch's collective operations, in which
#: the others wait, have a timeout.
_INTERVAL = 60.0

#: The name of a method of `Host`, and its arguments.
Message = tuple[str, tuple[Any, ...]]


class RankLostError(RuntimeError):
    """Another process was lost."""


class Ranks(Group):
    """The processes of Ray Train. Raises `RankLostError` if one of them, or a machine, is lost."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def average(self, tensor: torch.Tensor) -> None:
        with _exchanging():
            dist.all_reduce(tensor)
        tensor /= self.size

    def gather(self, value: Any) -> list[Any]:
        found: list[Any] = [None] * self.size
        with _exchanging():
            dist.all_gather_object(found, value)
        return found


class Host:
    """The algorithm of one rank; the run can call the methods below."""

    def __init__(self, group: Ranks) -> None:
        self.group = group
        self.algorithm: SelfPlay

    def answer(self, message: Message) -> list[tuple[BaseException | None, Any]]:
        """Do what ``message`` says; returns the (error, result) of every rank."""
        name, args = message
        result = error = None
        try:
            result = getattr(self, name)(*args)
        except Exception as raised:
            if isinstance(raised, RankLostError):  # the answers cannot be gathered
                raise
            error = portable(raised)
        return self.group.gather((error, result))

    def begin(self, config: TrainConfig) -> None:
        """Make the algorithm."""
        kind = algorithm_class(config.algorithm)
        assert issubclass(kind, SelfPlay)
        game = config.make_game()
        check_memory(kind.memory_needed(config, game) // self.group.size)
        if config.device == "cuda":
            config = config.replace(device=str(ray.train.torch.get_device()))
        self.algorithm = kind(config, game, group=self.group)

    def update(self, progress: float) -> dict[str, float]:
        """See `Algorithm.update`: the metrics are those of all ranks together."""
        return self.algorithm.update(progress)

    def policy(self) -> Any:
        """The network that plays, from the first rank, because all have the same."""
        return self.algorithm.policy() if self.group.rank == 0 else None

    def state(self) -> TrainingState:
        """The rank's own part; that of the first rank also holds what all share."""
        state = self.algorithm.state()
        if self.group.rank:
            own = {name: array for name, array in state.arrays.items() if name.startswith("worker")}
            return TrainingState(own, {})
        return state

    def restore(self, state: TrainingState, update: int) -> None:
        """See `Algorithm.restore`."""
        self.algorithm.restore(state, update)


def facts_of_process() -> dict[str, Any]:
    """What must match, or is useful to know, about the process of a worker."""
    return {
        "catbox": catbox_env.__version__,
        "python": sys.version.split()[0],
        "machine": socket.gethostname(),
        "node": ray.get_runtime_context().get_node_id(),
        "process": os.getpid(),
    }


def serve(settings: dict[str, Any]) -> None:
    """The function that Ray Train calls in each process: answer the requests of the run until it stops.

    ``settings``: ``channel``, the handle of the `Channel`, and ``folder``, the working directory of the run. An error
    raised here is one of the cluster, and makes Ray Train restart all workers; errors of the algorithm are answers.
    """
    channel = settings["channel"]
    with suppress(OSError):  # paths in the settings are relative to it; a machine without it may need none
        os.chdir(settings["folder"])
    keep_freed_memory()
    group = Ranks()
    facts = group.gather(facts_of_process())
    is_first = group.rank == 0
    generation = ray.get(channel.join.remote(facts)) if is_first else 0
    host = Host(group)
    while True:
        heard: list[Any] = [True, None]
        if is_first:
            try:
                heard = list(ray.get(channel.next.remote(generation, _INTERVAL)))
            except ray.exceptions.RayActorError:  # the run has ended, and its channel with it
                heard = [False, None]
        go_on, message = told(heard)
        if not go_on:
            return
        if message is None:
            continue
        answers = host.answer(pickle.loads(message))
        if is_first:
            ray.get(channel.answer.remote(generation, pickle.dumps(answers)))


def told(heard: list[Any]) -> tuple[bool, bytes | None]:
    """What the first rank has ``heard``, broadcast to all ranks."""
    with _exchanging():
        dist.broadcast_object_list(heard, src=0)
    go_on, message = heard
    return go_on, message


@contextmanager
def _exchanging() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # Gloo has no error class for a closed connection
        raise RankLostError("another process has closed its connection") from error
