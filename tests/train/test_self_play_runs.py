"""What holds for runs of every algorithm of self-play beside PPO: exact resuming, damage, divergence, bad input."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents.networks.checkpoint import latest_checkpoint
from catbox_train.algorithm import algorithm_class
from catbox_train.algorithms.dmc.algorithm import DMC
from catbox_train.algorithms.exit.algorithm import ExpertIteration
from catbox_train.config import TrainConfig
from catbox_train.opponents import PAST
from catbox_train.runs.folder import open_run
from catbox_train.runs.loop import Loop, train
from catbox_train.self_play.algorithm import SelfPlay
from tests.train.agents_in_training import DRAWING, REMEMBERING
from tests.train.ppo_runs import SMALL, final_arrays, quiet, reseal, small

#: Matches of two rounds, which end at different places of a batch; opponents of every kind.
RUN: dict[str, Any] = {
    "game_options": {**SMALL["game_options"], "rounds": 2},  # type: ignore[dict-item]
    "total_decisions": 6 * 416,
    "batch_size": 416,
    "opponents_in_training": {PAST: 0.3, DRAWING: 0.2, "heuristic": 0.1},
    "past_policies": 2,
    "past_every": 1,
    "checkpoint_every": 2,
    "evaluate_every": 100,
    "opponents": ["random"],
}
OWN: dict[str, dict[str, Any]] = {
    "dmc": {"algorithm": "dmc", "epsilon": 0.3},
    "exit": {
        "algorithm": "exit",
        "search_worlds": 2,
        "search_share": 0.05,
        "window": 3,
        "minibatch_size": 16,
    },
    "exit with an agent": {
        "algorithm": "exit",
        "search_worlds": 2,
        "search_share": 0.05,
        "window": 3,
        "minibatch_size": 16,
        "rollout_policy": DRAWING,
    },
}


def config_of(kind: str, **settings: Any) -> TrainConfig:
    return small(**{**RUN, **OWN[kind], **settings})


def made(config: TrainConfig) -> SelfPlay[Any]:
    algorithm = algorithm_class(config.algorithm)(config, config.make_game())
    assert isinstance(algorithm, SelfPlay)
    return algorithm


@pytest.fixture(params=list(OWN))
def finished(request: pytest.FixtureRequest, finished_run: Callable[[TrainConfig], Path]) -> tuple[str, Path]:
    """What it is a run of, and the run, which was never stopped."""
    return request.param, finished_run(config_of(request.param))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", ["dmc", "exit"])
def test_more_workers_and_both_precisions_learn(kind: str, precision: str) -> None:
    config = config_of(kind, precision=precision, workers=4, opponents_in_training={})
    with closing(made(config)) as algorithm:
        for _ in range(4):
            metrics = algorithm.update(0.0)
        assert metrics["learning/actor_grad_norm"] > 0
        assert all(np.isfinite(value) for value in metrics.values())


# Checkpoints.


@pytest.fixture
def copied(finished: tuple[str, Path], tmp_path: Path) -> tuple[str, Path]:
    kind, run = finished
    return kind, Path(shutil.copytree(run, tmp_path / "run"))


def load(run: Path) -> Loop:
    config = open_run(run, trust=True)
    algorithm = made(config)
    loop = Loop(config, config.make_game(), run, algorithm)
    try:
        loop.load_latest()
    finally:
        algorithm.close()
    return loop


def held(arrays: dict[str, np.ndarray], name: str) -> tuple[int, ...]:
    """A place in the array ``name`` that counts."""
    worker = name.partition(".")[0]
    if ".carried." in name:
        return tuple(np.argwhere(arrays[f"{worker}.carried.seats"] >= 0)[0])
    if ".window." in name:
        return tuple(np.argwhere(arrays[f"{worker}.window.masks"].any(axis=1))[0])
    return ()


WRONG = {
    "dmc": {
        "adam.step": [7.5, -1.0, 1e6],
        "adam.exp_avg_sq": [-1e-3],
        "weights": [np.nan],
        "worker0.carried.seats": [-2, 3],
        "worker0.carried.actions": [-1, 1 << 40],
        "worker1.carried.observations": [-128, 127],
        "worker1.carried.returns": [np.nan, np.inf],
        "worker1.carried.masks": [False],
    },
    "exit": {
        "adam.step": [7.5, -1.0, 1e6],
        "worker0.window.observations": [-128, 127],
        "worker0.window.targets": [-0.5, 2.0, np.nan],
        "worker1.window.masks": [False],
    },
}


def test_an_array_that_no_run_comes_to_is_refused_by_name(copied: tuple[str, Path]) -> None:
    kind, run = copied
    folder = latest_checkpoint(run)
    assert folder is not None
    before = final_arrays(run)
    for name, numbers in WRONG[kind.partition(" ")[0]].items():
        for number in numbers:
            array = before[name].copy()
            array[held(before, name)] = number
            np.savez(folder / "training.npz", **{**before, name: array})
            assert reseal(folder)
            with pytest.raises(ValueError, match=r"00000006 is damaged \(.*" + name.split(".")[0]):
                load(run)
    np.savez(folder / "training.npz", **before)
    assert reseal(folder)
    assert load(run).done.update == 6


# Bad input.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "dmc", "epsilon": 1.5}, "epsilon = 1.5: expected a number from 0 to 1"),
        ({"algorithm": "dmc", "entropy": 0.1}, "unknown setting 'entropy'"),
        ({"algorithm": "exit", "search_worlds": 0}, "search_worlds = 0: expected an integer from 1"),
        ({"algorithm": "exit", "search_share": 2}, "search_share = 2: expected a number from 0 to 1"),
        ({"algorithm": "exit", "temperature": -1}, "temperature = -1: expected a number of 0 or more"),
        ({"algorithm": "exit", "window": 0}, "window = 0: expected an integer from 1"),
        ({"algorithm": "dmc", "device": "cuda"}, "device = 'cuda': dmc computes on the CPU; use cpu or auto"),
        ({"algorithm": "exit", "device": "mps"}, "device = 'mps': exit computes on the CPU; use cpu or auto"),
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
        (REMEMBERING, "rollout_policy: .*asks for its history"),
    ],
)
def test_a_rollout_policy_that_cannot_play_is_refused_before_training(
    tmp_path: Path, spec: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        train(config_of("exit", rollout_policy=spec), tmp_path / "run", quiet())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("kind", [DMC, ExpertIteration])
def test_the_memory_that_is_asked_for_is_about_what_is_taken(kind: type[SelfPlay[Any]]) -> None:
    name = "dmc" if kind is DMC else "exit"
    config = config_of(name, num_envs=512, batch_size=512 * 64, total_decisions=512 * 64)
    game = config.make_game()
    with closing(made(config)) as algorithm:
        buffers = sum(
            array.nbytes
            for worker in algorithm.workers
            for holder in (worker, getattr(worker, "window", None))
            if holder is not None
            for array in vars(holder).values()
            if isinstance(array, np.ndarray)
        )
    searches = 0 if kind is DMC else kind.memory_needed(config.replace(batch_size=512, num_envs=512), game)
    assert buffers / 1.5 < kind.memory_needed(config, game) < 2 * (buffers + searches)
