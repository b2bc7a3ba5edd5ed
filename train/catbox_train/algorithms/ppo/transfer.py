"""What travels between the games on the CPU and the networks on a device, and when it has arrived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from catbox_env import Game
from catbox_train.algorithms.ppo.options import PPOOptions
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.algorithms.ppo.torch_loss import Decisions
from catbox_train.self_play.weights import network_inputs

#: Rows are copied on the device in words of this many bytes.
_WORD = torch.int64.itemsize


class RowBytes:
    """Where the parts of a decision lie in a row of ``size`` bytes: ``parts``, name -> (start, stop, shape).

    The states of a critic that is not privileged are the observations.
    """

    def __init__(self, game: Game, options: PPOOptions) -> None:
        inputs = network_inputs(game, options)
        shapes: dict[str, tuple[int, ...]] = {
            "observations": (inputs.size,),
            "masks": (game.num_actions,),
            "action_features": (game.num_actions, inputs.action_size),
            "histories": (inputs.history_length, 2),
        }
        if options.privileged_critic:
            shapes["states"] = (game.state_layout.size,)
        stops = np.cumsum([0, *(np.prod(shape, dtype=int) for shape in shapes.values())]).tolist()
        self.parts = {
            name: (start, stop, shape)
            for (name, shape), (start, stop) in zip(shapes.items(), pairwise(stops), strict=True)
        }
        self.size = -(-stops[-1] // _WORD) * _WORD

    def pack(self, worker: Worker, row: int, out: np.ndarray) -> None:
        """Write ``row`` of the ``worker``'s N games to ``out`` (N, size) int8."""
        for name, (start, stop, _) in self.parts.items():
            out[:, start:stop] = getattr(worker, name)[row].reshape(len(out), stop - start)

    def unpack(self, rows: torch.Tensor) -> Decisions:
        """The decisions in ``rows`` (n, size) int8."""
        parts = {
            name: rows[:, start:stop].unflatten(1, shape) if len(shape) > 1 else rows[:, start:stop]
            for name, (start, stop, shape) in self.parts.items()
        }
        parts["masks"] = parts["masks"] != 0
        return Decisions(**{"states": parts["observations"], **parts})


class Group:
    """Workers whose games are shown to the device together.

    ``columns`` are their games among those of all workers. ``inputs`` (n, size) int8, ``actions`` (n,) int64 and
    ``log_probabilities`` (n,) float32 are what goes to the device and comes back at each step, in pinned memory for
    CUDA, which then copies while others compute; there, each group has a stream of its own.
    """

    def __init__(self, workers: Sequence[Worker], first: int, row_size: int, device: torch.device) -> None:
        num_games = sum(worker.vec.num_envs for worker in workers)
        self.workers, self.columns = workers, slice(first, first + num_games)
        self.is_cuda = device.type == "cuda"
        self.inputs = torch.zeros((num_games, row_size), dtype=torch.int8, pin_memory=self.is_cuda)
        self.actions = torch.zeros(num_games, dtype=torch.int64, pin_memory=self.is_cuda)
        self.log_probabilities = torch.zeros(num_games, pin_memory=self.is_cuda)
        self._stream = torch.cuda.Stream(device) if self.is_cuda else None
        self._arrived = torch.cuda.Event(blocking=True) if self.is_cuda else None  # threads sleep
        self._jobs: list[Future[None]] = []

    def start(self, threads: ThreadPoolExecutor, job: Callable[[Worker, slice], None]) -> None:
        """Begin ``job`` for each worker and its rows in ``inputs``, in a thread each."""
        stops = np.cumsum([0, *(worker.vec.num_envs for worker in self.workers)]).tolist()
        self._jobs = [
            threads.submit(job, worker, slice(start, stop))
            for worker, (start, stop) in zip(self.workers, pairwise(stops), strict=True)
        ]

    def finish(self) -> None:
        """Wait for the jobs; raises what they raised."""
        for job in self._jobs:
            job.result()

    def streaming(self) -> AbstractContextManager[Any]:
        """In this context, the device works on the group's own stream."""
        return torch.cuda.stream(self._stream) if self._stream else nullcontext()

    def begin(self) -> None:
        """The group's stream waits for what was asked of the device so far, such as new weights."""
        if self._stream:
            self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))

    def end(self) -> None:
        """What is asked of the device from now on waits for the group's stream."""
        if self._stream:
            torch.cuda.current_stream(self._stream.device).wait_stream(self._stream)

    def mark(self) -> None:
        """Call it when everything that a step needs of the device was asked for."""
        if self._arrived:
            self._arrived.record(self._stream)

    def wait_for_device(self) -> None:
        """Return when the device has done all up to ``mark``; threads call this, without the interpreter lock."""
        if self._arrived:
            self._arrived.synchronize()
