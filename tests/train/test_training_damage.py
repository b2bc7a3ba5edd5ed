"""Checkpoints of a run that are damaged, edited or made up: each is refused by name, or is as good as the original."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents.files import parse_json
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.config import TrainConfig
from catbox_train.runs.checkpoint import FORMAT, checksum
from catbox_train.runs.folder import open_run
from catbox_train.runs.loop import Loop
from tests.train.ppo_runs import small

pytestmark = pytest.mark.faults

#: Three updates of matches of six rounds: seats are paid while their decisions are carried.
TINY = {
    "game_options": {"num_players": 3, "num_ranks": 3, "copies": 4, "rounds": 6},
    "num_envs": 8,
    "batch_size": 64,
    "minibatch_size": 32,
    "total_decisions": 3 * 64,
    "hidden": [8],
    "privileged_critic": True,
    "checkpoint_every": 1,
    "evaluate_every": 100,
    "opponents": ["random"],
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


def new_loop(run: Path) -> Loop:
    """A run as it is before anything is loaded."""
    config = open_run(run)
    return Loop(config, config.make_game(), run, PPO(config, config.make_game()))


def loaded(run: Path) -> PPO:
    """The algorithm that goes on from the latest checkpoint."""
    loop = new_loop(run)
    loop.load_latest()
    assert isinstance(loop.algorithm, PPO)
    return loop.algorithm


def edit_values(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads((folder / "training.json").read_text())
    change(values)
    (folder / "training.json").write_text(json.dumps(values))


def reseal(folder: Path) -> bool:
    """Compute the checksums of an edited checkpoint anew, as one who made it up would; False where that cannot be."""
    try:
        values = parse_json((folder / "training.json").read_text())
        files = {
            name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
            for name in ("policy.safetensors", "training.npz")
        }
    except (OSError, ValueError):
        return False
    if not isinstance(values, dict):
        return False
    values = {name: value for name, value in values.items() if name != "checksum"} | {"files": files}
    (folder / "training.json").write_text(json.dumps({**values, "checksum": checksum(values)}))
    return True


def arrays_of(folder: Path) -> dict[str, np.ndarray]:
    with np.load(folder / "training.npz") as content:
        return dict(content)


# Damage of every kind.


def as_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def bomb(file: Path) -> None:
    """The arrays are packed, and one is much larger than it should be."""
    arrays = arrays_of(file.parent)
    np.savez_compressed(file, **{**arrays, "weights": np.zeros(1 << 22, np.float32)})


def without(name: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        arrays = arrays_of(file.parent)
        del arrays[name]
        np.savez(file, **arrays)

    return change


def with_array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def edit(file: Path) -> None:
        arrays = arrays_of(file.parent)
        arrays[name] = change(arrays[name]) if name in arrays else change(np.zeros(1))
        np.savez(file, **arrays)

    return edit


ANY_FILE = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-40]),
    "a byte": lambda file: file.write_bytes(file.read_bytes()[:200] + b"~" + file.read_bytes()[201:]),
    "a folder": as_folder,
}
#: With checksums that were computed anew.
MADE_UP = {
    "training.json": {
        "a list": lambda file: file.write_text("[]"),
        "no number": lambda file: file.write_text(
            file.read_text().replace('"decisions": 192', '"decisions": NaN')
        ),
        "nested": lambda file: file.write_text('{"format":' + "[" * 200_000 + "]" * 200_000 + "}"),
        "huge": lambda file: file.write_text('"' + "x" * (2 << 20) + '"'),
        "no config": lambda file: edit_values(file.parent, lambda v: v.pop("config")),
        "no workers": lambda file: edit_values(file.parent, lambda v: v["algorithm"].pop("workers")),
    },
    "training.npz": {
        "an array less": without("adam.exp_avg"),
        "an array more": with_array("more", lambda a: a),
        "another type": with_array("weights", lambda a: a.astype(np.float64)),
        "another shape": with_array("weights", lambda a: a[:-1]),
        "objects": with_array("weights", lambda a: a.astype(object)),
        "a bomb": bomb,
        "a pickle": lambda file: file.write_bytes(pickle.dumps([1])),
    },
}
DAMAGES = [
    *(
        (name, kind, change, False)
        for name in ("policy.safetensors", "training.json", "training.npz")
        for kind, change in ANY_FILE.items()
    ),
    *((name, kind, change, True) for name, changes in MADE_UP.items() for kind, change in changes.items()),
]


@pytest.mark.parametrize(
    ("name", "kind", "change", "sealed"), DAMAGES, ids=[f"{d[0]}: {d[1]}" for d in DAMAGES]
)
def test_a_damaged_checkpoint_is_refused_with_folder_and_remedy(
    run: Path, name: str, kind: str, change: Callable[[Path], None], sealed: bool
) -> None:
    folder = run / "checkpoints" / "00000003"
    change(folder / name)
    if sealed:
        reseal(folder)
    with pytest.raises(
        ValueError, match=r"^checkpoint .*00000003 (is|cannot).*: delete .* before it, 00000002$"
    ):
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
            with pytest.raises(ValueError, match=r"^checkpoint .*00000003 (is|was)"):
                loaded(run)
        (folder / name).write_bytes(before)
    assert loaded(run).updates_done == 3


def test_without_a_checkpoint_before_it_the_remedy_is_the_start(run: Path) -> None:
    shutil.rmtree(run / "checkpoints" / "00000002")
    (run / "checkpoints" / "00000003" / "training.npz").unlink()
    with pytest.raises(ValueError, match=r"none before it; delete .*00000003 to resume from the start"):
        loaded(run)
    shutil.rmtree(run / "checkpoints" / "00000003")
    assert loaded(run).updates_done == 0


@pytest.mark.parametrize(
    ("number", "said"), [(99, "newer version of catbox wrote it; upgrade"), (1, "an older version of catbox")]
)
def test_another_format_asks_for_another_version_not_for_deletion(run: Path, number: int, said: str) -> None:
    folder = run / "checkpoints" / "00000003"
    edit_values(folder, lambda values: values.update(format=f"{FORMAT.rpartition('-')[0]}-{number}"))
    with pytest.raises(ValueError, match=rf"checkpoint .*00000003 is of format .*{said}") as refusal:
        loaded(run)
    assert "delete" not in str(refusal.value)


# Checkpoints that somebody made up, with checksums that fit.


@pytest.mark.parametrize(
    "name", ["weights", "adam.exp_avg", "worker1.carried.values", "worker0.carried.rewards"]
)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_refused_by_name(run: Path, name: str, number: float) -> None:
    folder = run / "checkpoints" / "00000003"
    arrays = arrays_of(folder)
    arrays[name].flat[-1] = number
    np.savez(folder / "training.npz", **arrays)
    reseal(folder)
    with pytest.raises(ValueError, match=rf"00000003 is damaged \(.*{name.rpartition('.')[2]}"):
        loaded(run)


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.update(update=2),
        lambda v: v.update(decisions=193),
        lambda v: v.update(seconds=-1.0),
        lambda v: v["algorithm"].update(workers=[]),
    ],
)
def test_a_value_that_no_run_comes_to_is_refused(
    run: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    folder = run / "checkpoints" / "00000003"
    edit_values(folder, change)
    assert reseal(folder)
    with pytest.raises(ValueError, match=r"00000003 is damaged"):
        loaded(run)


def test_a_refused_checkpoint_leaves_the_trainer_as_it_was(run: Path) -> None:
    loop = new_loop(run)
    before = copy.deepcopy(loop.algorithm.state())
    folder = run / "checkpoints" / "00000003"
    edit_values(folder, lambda values: values.update(seconds=-1.0))
    reseal(folder)
    with pytest.raises(ValueError, match="is damaged"):
        loop.load_latest()
    after = loop.algorithm.state()
    assert after.values == before.values
    assert all(np.array_equal(array, before.arrays[name]) for name, array in after.arrays.items())
