"""Threads that wait for one another, and what becomes of an error in one of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.ppo import algorithm
from catbox_train.algorithms.ppo.networks import ActorCritic
from catbox_train.algorithms.ppo.options import ppo_options
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.self_play.crew import ThreadMeeting
from catbox_train.self_play.weights import SharedWeights
from tests.train.ppo_runs import small, trainer_of


@pytest.mark.parametrize("count", [1, 2, 5])
def test_no_thread_goes_on_before_all_have_come(count: int) -> None:
    """What every thread wrote before a meeting is there for every thread after it."""
    meeting, written = ThreadMeeting(count), np.zeros(count, int)

    def work(number: int) -> bool:
        seen = []
        for turn in range(1, 300):
            written[number] = turn
            meeting.wait(number)
            seen.append((written == turn).all())
            meeting.wait(number)
        return all(seen)

    with ThreadPoolExecutor(count) as pool:
        assert all(pool.map(work, range(count)))


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_the_error_of_one_worker_is_that_of_the_update(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """The other workers do not wait for it for ever, and their broken meeting does not hide it."""
    calls, loss_gradient = [], algorithm.loss_gradient

    def fail(worker: Worker, *given: Any, **settings: float) -> np.ndarray:
        if worker is trainer.workers[failing]:
            calls.append(1)
            if len(calls) == 3:
                raise DivergedError("a number of this worker")
        return loss_gradient(worker, *given, **settings)

    monkeypatch.setattr(algorithm, "loss_gradient", fail)
    config = small(workers=3, num_envs=48, batch_size=768)
    with trainer_of(config) as trainer:
        trainer.collect()
        with pytest.raises(DivergedError, match="a number of this worker"):
            trainer.learn(1e-3, 0.1)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("workers", [1, 3])
def test_shares_are_added_up(precision: str, workers: int) -> None:
    config = small(workers=workers, num_envs=48, batch_size=768, hidden=[40], precision=precision)
    weights = SharedWeights(
        ActorCritic(config.make_game(), ppo_options(config), config.seed), precision, workers
    )
    weights.shares.copy_(torch.randn(weights.shares.shape, generator=torch.Generator().manual_seed(1)))
    weights.gradient.fill_(7)
    part = slice(5, len(weights.vector) - 3)
    weights.add_up_shares(part)
    assert torch.allclose(weights.gradient[part], weights.shares.float().sum(0)[part], atol=1e-6)
    assert (weights.gradient[:5] == 7).all()
    assert (weights.gradient[-3:] == 7).all()
