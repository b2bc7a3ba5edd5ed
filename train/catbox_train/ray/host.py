"""What runs in each process of Ray Train: a worker of the run, and its meetings with the others.

The workers are the ranks of a process group of torch. The first one hears what the run wants of them, tells the others,
gathers their answers, and passes these on. In a gradient step nothing goes through it: each worker sends every other
one its share of the gradient of the weights that the other one moves, adds up what it is sent, in the order of the
workers, moves its part, and sends it to all (a reduce-scatter and an all-gather; Rajbhandari et al. 2020,
https://arxiv.org/abs/1910.02054, section 5.1). So the sums are those of workers in threads, to the last bit.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import ray
import torch
import torch.distributed as dist

import catbox_env
from catbox_train.algorithm import algorithm_class
from catbox_train.config import TrainConfig
from catbox_train.memory import check_memory, keep_freed_memory
from catbox_train.self_play.algorithm import SelfPlay
from catbox_train.self_play.crew import Meeting, run
from catbox_train.self_play.processes import reported
from catbox_train.self_play.update import interval_of
from catbox_train.self_play.weights import SharedWeights, add_up
from catbox_train.self_play.worker import Worker

#: How often the first worker says that there is nothing to do yet, in seconds: the others wait no longer than torch's
#: collective operations may take.
_INTERVAL = 60.0
#: What a worker writes in place of the squares of its gradient when it has left.
_LEFT = -1.0

#: The name of a method of ``Host``, its arguments, and further ones for each worker.
Message = tuple[str, tuple[Any, ...], Sequence[tuple[Any, ...]] | None]


def facts_of_process() -> dict[str, Any]:
    """What has to be the same, or is good to know, of the process of a worker."""
    return {
        "catbox": catbox_env.__version__,
        "python": sys.version.split()[0],
        "machine": socket.gethostname(),
        "node": ray.get_runtime_context().get_node_id(),
        "process": os.getpid(),
    }


def serve(settings: dict[str, Any]) -> None:
    """The function that Ray Train calls in each process: do what the run asks for, until it asks no more.

    ``settings``: ``channel``, the handle of the `Channel`, and ``folder``, the working directory of the run. An error
    that is raised here is one of the cluster, and Ray Train starts all workers anew; those of the worker are answers.
    """
    channel = settings["channel"]
    with suppress(OSError):  # paths in the settings are relative to it; a machine without it may need none
        os.chdir(settings["folder"])
    keep_freed_memory()
    torch.set_num_threads(1)
    number, count = dist.get_rank(), dist.get_world_size()
    facts: list[Any] = [None] * count
    dist.all_gather_object(facts, facts_of_process())
    generation = ray.get(channel.join.remote(facts)) if number == 0 else 0
    host = Host(number, count)
    while True:
        heard: list[Any] = [True, None]
        if number == 0:
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
        if answers is not None:
            ray.get(channel.answer.remote(generation, pickle.dumps(answers)))


def told(heard: list[Any]) -> tuple[bool, bytes | None]:
    """What the first worker has ``heard``, for all workers."""
    with _exchanging():
        dist.broadcast_object_list(heard, src=0)
    go_on, message = heard
    return go_on, message


class Host:
    """One worker of ``count``, its weights, and what the run can ask of it: the methods below."""

    def __init__(self, number: int, count: int) -> None:
        self.number, self.count = number, count
        self.meeting: RankMeeting
        self.worker: Worker

    def answer(self, message: Message) -> list[Any] | None:
        """Do what ``message`` says; to the first worker, the (error, result) of all."""
        name, args, each = message
        if each is not None:
            args = (*args, *each[self.number])
        result = error = None
        try:
            result = getattr(self, name)(*args)
        except Exception as raised:
            if isinstance(raised, MeetingLostError):  # nobody is there to gather the answers
                raise
            error = reported(raised, self.number)
        # The first worker's own answer may be large, and all that is gathered is made as large as the largest.
        others = [None] * self.count if self.number == 0 else None
        with _exchanging():
            dist.gather_object(None if self.number == 0 else (error, result), others, dst=0)
        return None if others is None else [(error, result), *others[1:]]

    def begin(self, config: TrainConfig, seeds: Any) -> None:
        """Make the worker, with its own of ``seeds``."""
        kind = algorithm_class(config.algorithm)
        assert issubclass(kind, SelfPlay)
        game = config.make_game()
        check_memory(kind.memory_needed(config, game) // self.count)
        weights = kind.make_weights(config, game, only=self.number)
        self.worker = kind.Worker(game, config, weights, seeds, self.number)
        self.worker.meeting = self.meeting = RankMeeting(weights, self.number, self.count)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """What ``function(worker, *args)`` returns."""
        self.meeting.begin()
        return run(self.worker, function, args)

    def publish(self, arrays: dict[str, np.ndarray]) -> None:
        """Take over ``arrays``, some of ``SharedWeights.kept()``."""
        weights = self.worker.networks.weights
        kept = weights.kept()
        for name, array in arrays.items():
            kept[name].copy_(torch.from_numpy(array))
        weights.refresh()

    def fetch(self) -> dict[str, np.ndarray] | None:
        """The weights and the optimizer's moments, from the first worker."""
        weights = self.worker.networks.weights
        kept = weights.kept()
        for name in ("exp_avg", "exp_avg_sq"):  # the weights all workers have whole
            self.meeting.all_gather(kept[name])
        names = ("vector", "exp_avg", "exp_avg_sq")
        return {name: kept[name].numpy() for name in names} if self.number == 0 else None


class MeetingLostError(RuntimeError):
    """Another worker is not there any more."""


class RankMeeting(Meeting):
    """The meetings of workers that have a memory each, as ranks of a process group of torch.

    A worker that leaves in the middle of its steps goes with the others to the end of the exchange that they are in,
    and tells them there. Raises ``MeetingLostError`` where a process or a machine is gone.
    """

    def __init__(self, weights: SharedWeights, number: int, count: int) -> None:
        self._number, self._count = number, count
        self._intervals = [interval_of(len(weights.vector), other, count) for other in range(count)]
        self._lengths = [part.stop - part.start for part in self._intervals]
        self._own = self._intervals[number]
        # Of each worker: its share of the gradient for this one's weights, and what it makes of its own.
        self._received = torch.zeros((count, self._lengths[number]), dtype=weights.precision)
        self._gathered = torch.zeros((count, max(self._lengths)))
        self._weights = weights
        #: Whether the others will come to the exchange of gradients next.
        self._in_steps = False

    def begin(self) -> None:
        """The worker is about to run a function, in which it has met nobody yet."""
        self._in_steps = False

    def wait(self, number: int) -> None:
        with _exchanging():
            dist.barrier()
        self._in_steps = True

    def leave(self) -> None:
        if self._in_steps:
            self._exchange_gradients()
            self._weights.squares[self._number] = _LEFT
            self._gather_squares()

    def add_up_gradients(self, weights: SharedWeights, number: int, parts: Sequence[slice]) -> None:
        self._exchange_gradients()
        add_up(self._received, weights.gradient[self._own])

    def share_squares(self, weights: SharedWeights, number: int) -> None:
        self._gather_squares()
        if (weights.squares == _LEFT).any():
            raise threading.BrokenBarrierError

    def share_weights(self, weights: SharedWeights, number: int) -> None:
        self.all_gather(weights.vector)
        weights.refresh()
        self._in_steps = True

    def average(self, gradient: torch.Tensor) -> None:
        with _exchanging():
            dist.all_reduce(gradient)
        gradient /= self._count

    def _exchange_gradients(self) -> None:
        self._in_steps = False
        share = self._weights.share_of(self._number)
        sizes = [length * share.itemsize for length in self._lengths]  # as bytes: Gloo knows no bfloat16
        own = [sizes[self._number]] * self._count
        with _exchanging():
            dist.all_to_all_single(
                self._received.view(-1).view(torch.uint8), share.view(torch.uint8), own, sizes
            )

    def _gather_squares(self) -> None:
        squares = torch.from_numpy(self._weights.squares)
        with _exchanging():
            dist.all_gather_into_tensor(squares.view(-1), squares[self._number].clone())

    def all_gather(self, vector: torch.Tensor) -> None:
        """Let every worker have all of ``vector`` (K,) float32, of which each has its own interval."""
        own = torch.zeros(self._gathered.shape[1])  # all of the same length
        own[: self._lengths[self._number]] = vector[self._own]
        with _exchanging():
            dist.all_gather_into_tensor(self._gathered.view(-1), own)
        for interval, length, found in zip(self._intervals, self._lengths, self._gathered, strict=True):
            vector[interval] = found[:length]


@contextmanager
def _exchanging() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # Gloo has none of its own for a connection that is closed
        raise MeetingLostError("another worker has closed its connection") from error
