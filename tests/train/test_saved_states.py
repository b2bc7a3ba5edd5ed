"""States with which a run could not go on are refused by name: compiled code relies on them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from catbox_train.opponents import PAST

from catbox_train.algorithm import TrainingState, algorithm_class
from catbox_train.config import load_config
from tests.train.ppo_runs import SMALL

#: Seats are paid while their decisions are carried; the pool has room for one more policy.
RUN: dict[str, Any] = {
    "game_options": {**SMALL["game_options"], "rounds": 2},  # type: ignore[dict-item]
    "opponents_in_training": {"random": 0.4, PAST: 0.3},
    "past_policies": 5,
    "past_every": 1,
}
KINDS: dict[str, dict[str, Any]] = {
    "ppo": {"privileged_critic": True, "history": True},
    "dmc": {"algorithm": "dmc"},
    "exit": {
        "algorithm": "exit",
        "search_worlds": 2,
        "search_share": 0.1,
        "window": 5,
        "history": True,
        "rollout_policy": "heuristic",
    },
}
#: At a place of the array that counts. (Numbers that are not finite are refused when a checkpoint is read.)
WRONG: dict[str, dict[str, list[Any]]] = {
    "ppo": {
        "adam.exp_avg_sq": [-1e-3],
        "adam.step": [-1],
        "pool.wins": [-1.0, 1e9],
        "pool.games": [1e300],
        "worker0.carried.seats": [-2, 3, 99],
        "worker0.carried.actions": [-1, 1 << 40],
        "worker0.carried.masks": [False],
        "worker0.carried.histories": [[3, 0], [-1, 0]],
        "worker0.tables.line_up": [[0, 6, 0], [0, -1, 0], [300, 0, 0]],
    },
    "dmc": {
        "adam.step": [-1.0],
        "worker0.carried.actions": [-1, 1 << 40],
    },
    "exit": {
        "worker0.window.histories": [[3, 0], [-1, 0]],
    },
}
OF_SELF_PLAY: list[Callable[[dict[str, Any]], object]] = [
    lambda v: v.update(pool=None),
    lambda v: v["pool"].update(count=1),
]


def held(arrays: dict[str, np.ndarray], name: str) -> tuple[Any, ...]:
    """A place in the array ``name`` that counts."""
    worker = name.partition(".")[0]
    if ".carried." in name:
        place = np.argwhere(arrays[f"{worker}.carried.seats"] >= 0)[0]
        return (*place, -1) if name.endswith("histories") else tuple(place)
    if ".window." in name:
        return (np.flatnonzero(arrays[f"{worker}.window.masks"].any(axis=1))[0], -1)
    return (0,) if arrays[name].ndim and not name.startswith("adam.") else ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_that_no_run_comes_to_is_refused(kind: str) -> None:
    settings = {**SMALL, **RUN, **KINDS[kind]}
    config = load_config(overrides={name: value for name, value in settings.items() if value is not None})
    algorithm: Any = algorithm_class(config.algorithm)(config, config.make_game())
    with closing(algorithm):
        for k in range(4):
            algorithm.update(k / 5)
        state = copy.deepcopy(algorithm.state())
        algorithm.restore(copy.deepcopy(state), 4)
        for name, numbers in WRONG[kind].items():
            for number in numbers:
                arrays = {**state.arrays, name: state.arrays[name].copy()}
                place = held(arrays, name)
                arrays[name][place] = number
                parts = name.split(".")
                with pytest.raises(
                    ValueError, match=f"{parts[-1]}|actions|window|pool|squares|not there|generator"
                ):
                    algorithm.restore(TrainingState(arrays, copy.deepcopy(state.values)), 4)
        for change in OF_SELF_PLAY:
            values = copy.deepcopy(state.values)
            change(values)
            with pytest.raises(ValueError, match=r"workers|worker1|generator|pool|tables|num_skipped"):
                algorithm.restore(TrainingState(dict(state.arrays), values), 4)
        algorithm.restore(state, 4)
        algorithm.update(0.8)
