"""Checkpoints of a run that are damaged, edited or made up: each is refused by name, or is as good as the original."""

from __future__ import annotations

import copy
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.runs.checkpoint import FORMAT
from catbox_train.runs.folder import open_run
from catbox_train.runs.loop import Loop, train
from tests.train.ppo_runs import quiet, reseal, small

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


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, whose last checkpoint is 00000003."""
    run = tmp_path_factory.mktemp("original") / "run"
    train(small(**TINY), run, quiet())
    return run


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


def play_on(trainer: PPO) -> None:
    """One more update."""
    for worker in trainer.workers:
        worker.collect()
    trainer.learn(1e-3, 0.01)


def edit_values(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads((folder / "training.json").read_text())
    change(values)
    (folder / "training.json").write_text(json.dumps(values))


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


def twice(file: Path) -> None:
    with zipfile.ZipFile(file) as content:
        data = content.read("weights.npy")
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as content:
        content.writestr("weights.npy", data)


ANY_FILE = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-40]),
    "a byte": lambda file: file.write_bytes(file.read_bytes()[:200] + b"~" + file.read_bytes()[201:]),
    "zeros": lambda file: file.write_bytes(bytes(len(file.read_bytes()))),
    "a folder": as_folder,
    "text": lambda file: file.write_text("these are no numbers"),
}
JSON_FILE = {
    "a list": lambda file: file.write_text("[]"),
    "no number": lambda file: file.write_text(
        file.read_text().replace('"decisions": 192', '"decisions": NaN')
    ),
    "nested": lambda file: file.write_text('{"format":' + "[" * 200_000 + "]" * 200_000 + "}"),
    "huge": lambda file: file.write_text('"' + "x" * (2 << 20) + '"'),
    "latin-1": lambda file: file.write_bytes(b'{"format": "\xe9"}'),
    "no format": lambda file: edit_values(file.parent, lambda v: v.pop("format")),
    "no config": lambda file: edit_values(file.parent, lambda v: v.pop("config")),
    "no workers": lambda file: edit_values(file.parent, lambda v: v["algorithm"].pop("workers")),
    "no counters": lambda file: edit_values(file.parent, lambda v: v.pop("update")),
}
ARRAYS_FILE = {
    "an array less": without("adam.exp_avg"),
    "an array more": with_array("more", lambda a: a),
    "an array twice": twice,
    "another type": with_array("weights", lambda a: a.astype(np.float64)),
    "another shape": with_array("weights", lambda a: a[:-1]),
    "another order": with_array("worker0.carried.masks", np.asfortranarray),
    "objects": with_array("weights", lambda a: a.astype(object)),
    "a bomb": bomb,
    "a pickle": lambda file: file.write_bytes(pickle.dumps([1])),
}
DAMAGES = [
    *(("policy.safetensors", kind, change) for kind, change in ANY_FILE.items()),
    *(("training.json", kind, change) for kind, change in {**ANY_FILE, **JSON_FILE}.items()),
    *(("training.npz", kind, change) for kind, change in {**ANY_FILE, **ARRAYS_FILE}.items()),
]


@pytest.mark.parametrize("sealed", [False, True], ids=["", "with new checksums"])
@pytest.mark.parametrize(("name", "kind", "change"), DAMAGES, ids=[f"{d[0]}: {d[1]}" for d in DAMAGES])
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
    """120 changes of single bits, lengths and ranges at random places."""
    folder, rng = run / "checkpoints" / "00000003", np.random.default_rng(5)
    for name in ("policy.safetensors", "training.npz", "training.json"):
        before = (folder / name).read_bytes()
        for kind in ("flip", "cut", "zero", "double") * 10:
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


def test_a_checkpoint_that_may_not_be_read_is_refused_by_name(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = Path.stat

    def denied(path: Path, **kwargs: bool) -> os.stat_result:
        if path.name == "training.npz":
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **kwargs)

    monkeypatch.setattr(Path, "stat", denied)
    with pytest.raises(ValueError, match=r"00000003 cannot be read \(.*training\.npz: Permission denied\)"):
        loaded(run)


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


@pytest.mark.parametrize("name", ["1²", "٣", "9", "000000004", "worst", "x", "00000009.old"])
def test_other_folders_among_the_checkpoints_do_not_matter(run: Path, name: str) -> None:
    (run / "checkpoints" / name).mkdir()
    (run / "checkpoints" / "00000007").write_text("a file, no folder")
    assert loaded(run).updates_done == 3
    assert (run / "checkpoints" / name).is_dir()


# Edits of every value.


def changed_json(value: Any) -> Iterator[Any]:
    """Other values in the place of ``value``, one at a time, at every depth."""
    yield from ("x", None, -1, True, 1e300, [], {})
    if isinstance(value, int):
        yield value + 1
    if isinstance(value, dict):
        for key in value:
            for other in changed_json(value[key]):
                yield {**value, key: other}
            yield {k: v for k, v in value.items() if k != key}
        yield {**value, "more": 1}
    if isinstance(value, list):
        for place in range(len(value)):
            for other in changed_json(value[place]):
                yield [*value[:place], other, *value[place + 1 :]]
        yield [*value, 1]


def changed_array(array: np.ndarray) -> Iterator[np.ndarray]:
    """Other numbers of the same shape and type."""
    if array.dtype.kind not in "fbiu":
        return
    if array.dtype.kind == "f":
        numbers: tuple[float, ...] = (np.nan, np.inf, -np.inf, 1.5, -1.5)
    elif array.dtype.kind == "b":
        numbers = (True, False)
    else:
        low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        numbers = (low, high, 0, 1, min(99, high))
    places = sorted({0, array.size // 2, array.size - 1}) if array.size else []
    for number in numbers:
        for place in places:
            other = array.copy()
            other.reshape(-1)[place] = number
            yield other
        yield np.full_like(array, number)
    if array.ndim:
        yield np.roll(array, 1, axis=0)
        yield array[::-1].copy()


def test_every_edit_of_a_value_is_refused_by_the_checksum(run: Path) -> None:
    folder = run / "checkpoints" / "00000003"
    file = folder / "training.json"
    before = json.loads(file.read_text())
    edits = [edit for edit in changed_json(before) if json.dumps(edit) != json.dumps(before)]
    assert len(edits) > 500
    for edit in edits[:: len(edits) // 60]:
        file.write_text(json.dumps(edit))
        with pytest.raises(ValueError, match=r"^checkpoint .*00000003 (is|was)"):
            loaded(run)


def test_every_edit_of_an_array_is_refused_by_the_checksum(run: Path) -> None:
    folder = run / "checkpoints" / "00000003"
    before = arrays_of(folder)
    for name, array in before.items():
        other = next((other for other in changed_array(array) if not np.array_equal(other, array)), None)
        if other is None:  # text, or nothing at all
            continue
        np.savez(folder / "training.npz", **{**before, name: other})
        with pytest.raises(ValueError, match=r"^checkpoint .*00000003 is damaged"):
            loaded(run)


def test_an_edited_array_with_a_new_checksum_is_refused_or_can_be_gone_on_with(run: Path) -> None:
    """Numbers that are not finite, out of range or illegal by the carried mask are refused; the rest is a decision that
    the run could have come to. The games themselves are checked by ``Vec.load``."""
    folder = run / "checkpoints" / "00000003"
    before = arrays_of(folder)
    refused = went_on = 0
    for name, array in before.items():
        if "worker0" in name:
            continue
        for other in changed_array(array):
            np.savez(folder / "training.npz", **{**before, name: other})
            assert reseal(folder)
            try:
                trainer = loaded(run)
            except ValueError:
                assert not np.array_equal(other, array)
                refused += 1
                continue
            assert array.dtype.kind != "f" or np.isfinite(other).all()
            went_on += 1
            if went_on % 20 == 0:
                play_on(trainer)
    assert refused > 60
    assert went_on > 10


WRONG = {
    "weights": [np.nan, np.inf],
    "adam.exp_avg": [np.nan],
    "adam.exp_avg_sq": [np.nan, -1e-3],
    "adam.step": [0, 7.5, np.nan],
    "worker0.carried.seats": [-2, 3, 99],
    "worker0.carried.actions": [-1, 1 << 40],
    "worker1.carried.log_probabilities": [0.5, np.nan, -np.inf],
    "worker1.carried.values": [np.nan, np.inf],
    "worker0.carried.rewards": [np.nan, np.inf],
    "worker0.carried.observations": [-128, 127],
    "worker0.carried.states": [-128, 127],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_number_that_no_run_comes_to_is_refused_by_name(run: Path, name: str) -> None:
    folder = run / "checkpoints" / "00000003"
    before = arrays_of(folder)
    held = np.argwhere(before[name.partition(".")[0] + ".carried.seats"] >= 0)[0] if "carried" in name else ()
    for number in WRONG[name]:
        array = before[name].copy()
        array[tuple(held)] = number
        np.savez(folder / "training.npz", **{**before, name: array})
        reseal(folder)
        with pytest.raises(ValueError, match=rf"00000003 is damaged \(.*{name.rpartition('.')[2]}"):
            loaded(run)


def test_an_illegal_carried_action_is_refused(run: Path) -> None:
    folder = run / "checkpoints" / "00000003"
    before = arrays_of(folder)
    seat, game = np.argwhere(before["worker0.carried.seats"] >= 0)[0]
    masks = before["worker0.carried.masks"].copy()
    masks[seat, game, before["worker0.carried.actions"][seat, game]] = False
    np.savez(folder / "training.npz", **{**before, "worker0.carried.masks": masks})
    reseal(folder)
    with pytest.raises(ValueError, match=r"worker0\.carried\.actions holds what no decision"):
        loaded(run)


def test_pay_of_a_seat_without_a_decision_is_refused(run: Path) -> None:
    folder = run / "checkpoints" / "00000003"
    before = arrays_of(folder)
    seats, rewards = before["worker0.carried.seats"].copy(), before["worker0.carried.rewards"].copy()
    seats[1, 0], rewards[1, 0] = -1, 2.0
    changed = {"worker0.carried.seats": seats, "worker0.carried.rewards": rewards}
    np.savez(folder / "training.npz", **{**before, **changed})
    reseal(folder)
    with pytest.raises(ValueError, match=r"worker0\.carried\.rewards holds what no decision"):
        loaded(run)


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.update(update=2),
        lambda v: v.update(update=True),
        lambda v: v.update(decisions=193),
        lambda v: v.update(decisions=192.0),
        lambda v: v.update(seconds=-1.0),
        lambda v: v.update(seconds="1"),
        lambda v: v.update(seconds=1),
        lambda v: v["algorithm"].update(workers=[]),
        lambda v: v["algorithm"]["workers"].append(v["algorithm"]["workers"][0]),
        lambda v: v["algorithm"].update(workers={}),
        lambda v: v["algorithm"]["workers"][1].update(generator=None),
        lambda v: v["algorithm"]["workers"][1]["generator"].update(bit_generator="MT19937"),
        lambda v: v["algorithm"]["workers"][1]["generator"].update(has_uint32=2),
        lambda v: v["algorithm"]["workers"][1]["generator"].update(uinteger=1 << 32),
        lambda v: v["algorithm"]["workers"][1]["generator"].update(uinteger=0.5),
        lambda v: v["algorithm"]["workers"][1]["generator"].update(more=1),
        lambda v: v["algorithm"]["workers"][1]["generator"].pop("state"),
        lambda v: v["algorithm"]["workers"][1]["generator"]["state"].update(state=1 << 128),
        lambda v: v["algorithm"]["workers"][1]["generator"]["state"].update(state=-1),
        lambda v: v["algorithm"]["workers"][1]["generator"]["state"].update(inc=4),
        lambda v: v["algorithm"]["workers"][1]["generator"]["state"].update(inc="5"),
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
