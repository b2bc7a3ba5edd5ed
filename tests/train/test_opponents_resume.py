"""Runs with opponents in training go on exactly, and refuse saved line-ups and pools that no run comes to."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_train.config import TrainConfig
from catbox_train.opponents import PAST
from tests.train.ppo_runs import reseal, small
from tests.train.test_training_damage import (
    TINY,
    arrays_of,
    loaded,
)

# Damage to checkpoint 00000003 of a tiny run, with three policies in a pool of four.


@pytest.fixture(scope="session")
def original(finished_run: Callable[[TrainConfig], Path]) -> Path:
    shares = {"random": 0.5, PAST: 0.4}
    return finished_run(
        small(
            **{**TINY, "total_decisions": 4 * 64}, opponents_in_training=shares, past_policies=4, past_every=1
        )
    )


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    shutil.copytree(original, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "00000004")
    return tmp_path / "run"


def save_changed(run: Path, changes: dict[str, np.ndarray]) -> None:
    folder = run / "checkpoints" / "00000003"
    np.savez(folder / "training.npz", **{**arrays_of(folder), **changes})
    assert reseal(folder)


def own_arrays(run: Path) -> dict[str, np.ndarray]:
    """Those that only a run with opponents has."""
    arrays = arrays_of(run / "checkpoints" / "00000003")
    own = {name: array for name, array in arrays.items() if "tables." in name or name.startswith("pool.")}
    assert sorted(own) == [
        "pool.games",
        "pool.vectors",
        "pool.wins",
        "worker0.tables.line_up",
        "worker0.tables.paid",
        "worker1.tables.line_up",
        "worker1.tables.paid",
    ]
    return own


@pytest.mark.parametrize(
    "players",
    [[0, 5, 0], [0, -1, 0], [0, 1, 2], [1, 1, 1], [300, 0, 0]],
    ids=["not in the pool yet", "negative", "two opponents", "no learner", "far outside"],
)
def test_line_ups_that_no_run_comes_to_are_refused(run: Path, players: list[int]) -> None:
    """1 is the agent, 2 to 4 the three policies in the pool."""
    arrays = arrays_of(run / "checkpoints" / "00000003")
    changes = {
        "worker0.carried.seats": np.full_like(arrays["worker0.carried.seats"], -1),
        "worker0.carried.rewards": np.zeros_like(arrays["worker0.carried.rewards"]),
        "worker0.tables.line_up": arrays["worker0.tables.line_up"].copy(),
    }
    changes["worker0.tables.line_up"][0] = [0, 4, 0]
    save_changed(run, changes)
    trainer = loaded(run)
    trainer.update(0.5)
    trainer.close()
    changes["worker0.tables.line_up"][0] = players
    save_changed(run, changes)
    with pytest.raises(ValueError, match=r"00000003 is damaged \(worker0\.line_up holds opponents"):
        loaded(run)


def test_a_decision_of_the_learner_in_an_opponents_seat_is_refused(run: Path) -> None:
    arrays = arrays_of(run / "checkpoints" / "00000003")
    seat, game = np.argwhere(arrays["worker0.carried.seats"] >= 0)[0]
    line_up = arrays["worker0.tables.line_up"].copy()
    line_up[game] = 0
    line_up[game, seat] = 1
    save_changed(run, {"worker0.tables.line_up": line_up})
    with pytest.raises(ValueError, match=r"worker0\.line_up holds .* where the learner decided"):
        loaded(run)


@pytest.mark.parametrize(
    ("name", "place", "number"),
    [
        ("wins", 0, -1.0),
        ("wins", 0, 1e9),  # more than games
        ("wins", 0, np.nan),
        ("games", 0, np.inf),
        ("games", 0, 1e300),
        ("games", 3, 1.0),  # no policy is there yet
        ("vectors", (0, 0), np.nan),
    ],
)
def test_numbers_of_the_pool_that_no_run_comes_to_are_refused(
    run: Path, name: str, place: Any, number: float
) -> None:
    array = own_arrays(run)[f"pool.{name}"]
    array[place] = number
    save_changed(run, {f"pool.{name}": array})
    with pytest.raises(ValueError, match=r"00000003 is damaged \(.*pool"):
        loaded(run)
