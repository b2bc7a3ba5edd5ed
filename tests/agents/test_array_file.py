"""Files of arrays: what the safetensors library writes is read, what is written the library reads, the rest refused."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from catbox_agents.networks.array_file import Header, array_file_bytes, read_arrays, read_header
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_env import make_game
from tests.agents.policies import network_for

Arrays = dict[str, NDArray[np.float32]]


def some_arrays(dtype: type = np.float32) -> Arrays:
    rng = np.random.default_rng(3)
    shapes = {"b": (3, 2), "a": (5,), "longer name": (1, 2, 3), "a number": ()}
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}


def read(data: bytes, most: int = 10) -> tuple[Header, Arrays]:
    file = io.BytesIO(data)
    header = read_header(file)
    return header, read_arrays(file, header, most)


def file_of(entries: object, data: bytes = b"") -> bytes:
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype: object = "F32", shape: object = (1,), offsets: object = (0, 4)) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_what_the_library_writes_is_read_as_float32(dtype: type) -> None:
    given = some_arrays(dtype)
    header, found = read(safetensors.numpy.save(given, metadata={"catbox": "ä text"}))
    assert header.metadata == {"catbox": "ä text"}
    assert found.keys() == given.keys()
    for name, array in given.items():
        assert (found[name].dtype, found[name].shape) == (np.float32, array.shape)
        assert np.array_equal(found[name], array.astype(np.float32))
        assert found[name].flags.writeable


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_library_reads_what_is_written(dtype: type, tmp_path: Path) -> None:
    given = some_arrays(dtype)
    given["b"] = np.asfortranarray(given["b"])
    (tmp_path / "file").write_bytes(array_file_bytes(given, {"catbox": "a text"}))
    found = safetensors.numpy.load_file(tmp_path / "file")
    assert found.keys() == given.keys()
    for name, array in given.items():
        assert found[name].dtype == dtype
        assert np.array_equal(found[name], array)
    with safetensors.safe_open(tmp_path / "file", "np") as content:
        assert content.metadata() == {"catbox": "a text"}


@pytest.mark.parametrize(
    ("entries", "data", "said"),
    [
        ([], b"", "not a JSON object"),
        ({"__metadata__": {"catbox": 5}}, b"", "expected texts"),
        ({"a": 5}, b"", "'a' is described by 5"),
        ({"a": entry(dtype="I32")}, bytes(4), "is of type 'I32', expected F32 or F16"),
        ({"a": entry(shape=[-1])}, bytes(4), "is of shape"),
        ({"a": entry(shape=[0, 2**61], offsets=[0, 0])}, b"", "is of shape"),
        ({"a": entry(shape=[2**40, 2**40])}, bytes(4), "expected a span of"),
        ({"a": entry(offsets=[0, 8])}, bytes(8), "expected a span of 4 bytes"),
        ({"a": entry(offsets=[-4, 0])}, bytes(4), "expected a span of 4 bytes"),
        ({"a": entry(offsets=[4, 8])}, bytes(8), "leave bytes out"),
        ({"a": entry(), "b": entry()}, bytes(4), "overlap"),
        ({"a": entry(), "b": entry(offsets=[2, 6])}, bytes(6), "overlap"),
        ({"a": entry()}, bytes(3), "have 3 bytes, expected 4"),
        ({str(k): entry(offsets=[4 * k, 4 * k + 4]) for k in range(11)}, bytes(44), "11 arrays, expected"),
    ],
)
def test_a_file_that_is_not_valid_is_refused(entries: object, data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(file_of(entries, data))


def test_headers_are_refused_before_they_are_read() -> None:
    for data, said in (
        (b"", "ends after 0 bytes"),
        (bytes(7), "ends after 7 bytes"),
        ((1 << 60).to_bytes(8, "little"), "its header has"),
        ((99).to_bytes(8, "little") + b"{}", "ends in its header"),
        ((2).to_bytes(8, "little") + b"\xff\xff", "utf-8"),
    ):
        with pytest.raises(ValueError, match=said):
            read(data)


@pytest.mark.faults
def test_every_truncated_file_is_refused_and_no_flipped_byte_does_harm(tmp_path: Path) -> None:
    """A flipped byte of a number may go unseen; anything else is refused as damaged, or as something else."""
    game, file = make_game("cat_in_the_box_v0", num_players=3), tmp_path / "policy.safetensors"
    save_checkpoint(file, network_for(game), game)
    whole = file.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    rng, read_again = np.random.default_rng(5), 0
    for length in [*range(12), *rng.integers(0, len(whole), 100)]:
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"policy\.safetensors is damaged"):
            load_checkpoint(file, game)
    for place in [*range(8), *rng.integers(8, start, 150), *rng.integers(start, len(whole), 50)]:
        flipped = bytearray(whole)
        flipped[place] ^= int(rng.integers(1, 256))
        file.write_bytes(flipped)
        try:
            network = load_checkpoint(file, game).network
        except ValueError as error:
            assert "policy.safetensors" in str(error)  # noqa: PT017  (some of these files are valid)
        else:
            read_again += 1
            assert place >= 8
            assert all(np.isfinite(array).all() for array in network.arrays().values())
    assert 0 < read_again < 200
    file.write_bytes(whole)
    assert load_checkpoint(file, game).network.describe() == network_for(game).describe()
