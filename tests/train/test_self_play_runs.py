"""What holds for every algorithm of self-play beside PPO: workers, precisions, memory, bad input."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from catbox_train.self_play.algorithm import SelfPlay
from catbox_train.self_play.group import Group

from catbox_train.algorithm import algorithm_class
from catbox_train.config import TrainConfig
from catbox_train.runs.loop import train
from tests.train.agents_in_training import REMEMBERING
from tests.train.ppo_runs import quiet, small

OWN: dict[str, dict[str, Any]] = {
    "dmc": {"algorithm": "dmc", "epsilon": 0.3},
    "exit": {
        "algorithm": "exit",
        "search_worlds": 2,
        "search_share": 0.05,
        "window": 3,
        "minibatch_size": 16,
    },
}


def config_of(kind: str, **settings: Any) -> TrainConfig:
    return small(**{**OWN[kind], **settings})


def made(config: TrainConfig) -> closing[SelfPlay]:
    """To be used with ``with``."""
    return closing(algorithm_class(config.algorithm)(config, config.make_game()))  # type: ignore[type-var]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", OWN)
def test_more_workers_and_both_precisions_learn(kind: str, precision: str) -> None:
    with made(config_of(kind, precision=precision, workers=4)) as algorithm:
        for _ in range(4):
            metrics = algorithm.update(0.0)
    assert metrics["learning/actor_grad_norm"] > 0
    assert all(np.isfinite(value) for value in metrics.values())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "dmc", "epsilon": 1.5}, "epsilon = 1.5: expected a number from 0 to 1"),
        ({"algorithm": "dmc", "entropy": 0.1}, "unknown setting 'entropy'"),
        ({"algorithm": "exit", "search_worlds": 0}, "search_worlds = 0: expected an integer from 1"),
        ({"algorithm": "exit", "temperature": -1}, "temperature = -1: expected a number of 0 or more"),
        ({"algorithm": "exit", "window": 0}, "window = 0: expected an integer from 1"),
        (
            {"algorithm": "exit", "history": True},
            "rollout_policy = 'policy' with history = true: expected another",
        ),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**settings)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody", "^rollout_policy: unknown agent 'nobody'; expected policy, one of"),
        ("polcy", "^rollout_policy: unknown agent 'polcy'; did you mean 'policy'"),
        ("/no/such/checkpoint", "^rollout_policy: .*/no/such/checkpoint"),
        (REMEMBERING, "rollout_policy: .*needs its history"),
    ],
)
def test_a_rollout_policy_that_cannot_play_is_refused_before_training(
    tmp_path: Path, spec: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        train(config_of("exit", rollout_policy=spec), tmp_path / "run", quiet())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", OWN)
def test_the_memory_that_is_asked_for_is_about_what_is_taken(kind: str) -> None:
    config = config_of(kind, num_envs=512, batch_size=512 * 64, total_decisions=512 * 64)
    with made(config) as algorithm:
        held = [vars(algorithm), vars(algorithm.buffer)]
        held += [window.arrays for window in getattr(algorithm, "windows", {}).values()]
        buffers = sum(a.nbytes for part in held for a in part.values() if isinstance(a, np.ndarray))
        needed = type(algorithm).memory_needed
        searches = needed(config.replace(batch_size=512), algorithm.game) if kind == "exit" else 0
        assert buffers / 1.5 < needed(config, algorithm.game) < 2 * (buffers + searches)


class Four(Group):
    """The first of four processes that all have the same."""

    size = 4

    def gather(self, value: Any) -> list[Any]:
        return [value] * self.size


def test_a_group_makes_as_many_steps_as_one_process_with_all_its_decisions() -> None:
    with made(config_of("dmc", minibatch_size=32)) as algorithm:
        alone = algorithm.num_minibatches(400)
        algorithm.group = Four()
        assert algorithm.num_minibatches(100) == alone == 12
        assert algorithm.num_minibatches(5) == 1
        assert algorithm.num_minibatches(0) == 0


def test_torch_has_its_threads_back_after_a_run() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        with made(config_of("dmc", workers=2)) as algorithm:
            algorithm.update(0.0)
            assert torch.get_num_threads() == 2
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_a_device_without_enough_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catbox_train.self_play.algorithm.free_memory", lambda device: 1000)
    with pytest.raises(ValueError, match=r"not enough memory on cpu: .* make one of them smaller"):
        made(config_of("dmc"))
