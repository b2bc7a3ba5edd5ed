"""Checkpoints of a run that are damaged, edited or made up: each is refused by name, or is as good as the original."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents.system.files import parse_json
from catbox_train.config import TrainConfig
from catbox_train.ppo import PPO
from catbox_train.runs.checkpoint import FORMAT, checksum
from catbox_train.runs.folder import open_run
from catbox_train.runs.loop import Loop
from tests.train.ppo_runs import small

pytestmark = pytest.mark.faults

#: Three updates, of little.
TINY = {
    "games_per_update": 8,
    "minibatch_size": 32,
    "total_decisions": 3 * 96,
    "hidden": [8],
    "checkpoint_every": 1,
    "evaluate_every": 100,
    "opponents": {"past": 0.2},
    "past_every": 1,
    "eval_opponents": ["random"],
}


@pytest.fixture(scope="session")
def original(finished_run: Callable[[TrainConfig], Path]) -> Path:
    """A finished run, whose last checkpoint is 00000003."""
    return finished_run(small(**TINY))


@pytest.fixture
def run(original: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    shutil.copytree(original, tmp_path / "run")
    return tmp_path / "run"


def loaded(run: Path) -> Loop:
    """The run that goes on from the latest checkpoint."""
    config = open_run(run)
    algorithm = PPO(config, config.make_game())
    loop = Loop(config, algorithm.game, run, algorithm)
    loop.load_latest()
    return loop


def edit_values(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads((folder / "training.json").read_text())
    change(values)
    (folder / "training.json").write_text(json.dumps(values))


def edit_array(folder: Path, name: str, change: Callable[[np.ndarray], np.ndarray | None]) -> None:
    """The array ``name``, which may be new, becomes what ``change`` returns; None removes it."""
    with np.load(folder / "training.npz") as content:
        arrays = dict(content)
    array = change(arrays.pop(name, np.zeros(1)))
    np.savez(folder / "training.npz", **arrays, **({} if array is None else {name: array}))


def reseal(folder: Path) -> None:
    """Compute the checksums of an edited checkpoint anew, as one who made it up would, where that can be."""
    with suppress(OSError, ValueError, TypeError):
        values = parse_json((folder / "training.json").read_text())
        names = ("policy.safetensors", "training.npz")
        values["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
        del values["checksum"]
        (folder / "training.json").write_text(json.dumps({**values, "checksum": checksum(values)}))


# Damage of every kind, with checksums that fit where they can.


def bomb(folder: Path) -> None:
    """The arrays are packed, and one is much larger than it should be."""
    edit_array(folder, "weights", lambda weights: np.zeros(1 << 22, np.float32))
    with np.load(folder / "training.npz") as content:
        np.savez_compressed(folder / "training.npz", **content)


def as_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def text(old: str, new: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        file = folder / "training.json"
        file.write_text(file.read_text().replace(old, new) if old else new)

    return change


DAMAGES: dict[str, Callable[[Path], object]] = {
    "policy missing": lambda folder: (folder / "policy.safetensors").unlink(),
    "values missing": lambda folder: (folder / "training.json").unlink(),
    "arrays missing": lambda folder: (folder / "training.npz").unlink(),
    "policy a folder": lambda folder: as_folder(folder / "policy.safetensors"),
    "values a folder": lambda folder: as_folder(folder / "training.json"),
    "arrays a folder": lambda folder: as_folder(folder / "training.npz"),
    "a list": text("", "[]"),
    "no number": text('"decisions": 288', '"decisions": NaN'),
    "nested": text("", '{"format":' + "[" * 200_000 + "]" * 200_000 + "}"),
    "huge": text("", '"' + "x" * (2 << 20) + '"'),
    "no config": lambda folder: edit_values(folder, lambda v: v.pop("config")),
    "no counter": lambda folder: edit_values(folder, lambda v: v.pop("decisions")),
    "an array less": lambda folder: edit_array(folder, "adam.exp_avg", lambda a: None),
    "half an earlier policy": lambda folder: edit_array(folder, "past:3.layers.0.bias", lambda a: None),
    "a wrong earlier policy": lambda folder: edit_array(folder, "past:2.layers.1.bias", lambda a: a[1:]),
    "another type": lambda folder: edit_array(folder, "weights", lambda a: a.astype(np.float64)),
    "another shape": lambda folder: edit_array(folder, "weights", lambda a: a[:-1]),
    "objects": lambda folder: edit_array(folder, "weights", lambda a: a.astype(object)),
    "a bomb": bomb,
    "a pickle": lambda folder: (folder / "training.npz").write_bytes(pickle.dumps([1])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_refused_with_folder_and_remedy(run: Path, damage: str) -> None:
    folder = run / "checkpoints" / "00000003"
    DAMAGES[damage](folder)
    reseal(folder)
    with pytest.raises(
        ValueError, match=r"^checkpoint .*00000003 (is|cannot).*: delete .* before it, 00000002$"
    ):
        loaded(run)


@pytest.mark.parametrize(("name", "number"), [("past:2.layers.0.bias", np.nan)])
def test_a_number_that_is_not_finite_is_refused_by_name(run: Path, name: str, number: float) -> None:
    folder = run / "checkpoints" / "00000003"
    edit_array(folder, name, lambda array: np.full_like(array, number))
    reseal(folder)
    with pytest.raises(ValueError, match=rf"00000003 is damaged \(.*{name.rpartition('.')[2]}"):
        loaded(run)


def test_no_flipped_bit_and_no_cut_goes_unseen(run: Path) -> None:
    """Changes of single bits, lengths and ranges at random places."""
    folder, rng = run / "checkpoints" / "00000003", np.random.default_rng(5)
    for name in ("policy.safetensors", "training.npz", "training.json"):
        before = (folder / name).read_bytes()
        for kind in ("flip", "cut", "zero", "double") * 4:
            data, place = bytearray(before), int(rng.integers(len(before) - 1))
            if kind == "flip":
                data[place] ^= 1 << int(rng.integers(8))
            elif kind == "cut":
                del data[place:]
            elif kind == "zero":
                data[place : place + 50] = bytes(len(data[place : place + 50]))
            else:
                data[place:place] = data[place : place + 9]
            (folder / name).write_bytes(data)
            if bytes(data) == before:
                continue
            with pytest.raises(ValueError, match=r"^checkpoint .*00000003 (is|was|has)"):
                loaded(run)
        (folder / name).write_bytes(before)
    assert loaded(run).done.update == 3


def test_without_a_checkpoint_before_it_the_remedy_is_the_start(run: Path) -> None:
    shutil.rmtree(run / "checkpoints" / "00000002")
    (run / "checkpoints" / "00000003" / "training.npz").unlink()
    with pytest.raises(ValueError, match=r"none before it; delete .*00000003 to resume from the start"):
        loaded(run)
    shutil.rmtree(run / "checkpoints" / "00000003")
    assert loaded(run).done.update == 0


@pytest.mark.parametrize(
    ("number", "said"), [(99, "newer version of catbox wrote it; upgrade"), (1, "an older version of catbox")]
)
def test_another_format_asks_for_another_version_not_for_deletion(run: Path, number: int, said: str) -> None:
    folder = run / "checkpoints" / "00000003"
    edit_values(folder, lambda values: values.update(format=f"{FORMAT.rpartition('-')[0]}-{number}"))
    with pytest.raises(ValueError, match=rf"checkpoint .*00000003 has format .*{said}") as refusal:
        loaded(run)
    assert "delete" not in str(refusal.value)
