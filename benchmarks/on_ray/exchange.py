"""What workers do to measure their exchanges. It is imported in their processes, by its name."""

from __future__ import annotations

import time

from catbox_train.self_play.update import parts_of
from catbox_train.self_play.worker import Worker


def seconds_of_exchange(worker: Worker, count: int, repeats: int) -> float:
    """Seconds that an exchange takes this worker, one of ``count``."""
    weights, number, meeting = worker.networks.weights, worker.networks.number, worker.meeting
    parts = parts_of(weights, number, count)
    meeting.wait(number)
    began = 0.0
    for turn in range(repeats + 2):
        if turn == 2:  # the first ones open connections
            began = time.perf_counter()
        meeting.add_up_gradients(weights, number, parts)
        meeting.share_squares(weights, number)
        meeting.share_weights(weights, number)
    return (time.perf_counter() - began) / repeats


def nothing(worker: Worker) -> None:
    """Only answer."""
