"""The command `catbox web`: what it says and refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from catbox_app import preconditions
from catbox_app.web import server, serving
from tests.app.table import ROOT, run


def started(*arguments: str) -> subprocess.Popen[str]:
    program = [sys.executable, "-c", "from catbox_app.__main__ import main; main()", "web", "--no-browser"]
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "agents", "train", "app"))
    environment = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "200"}
    return subprocess.Popen(
        [*program, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_it_serves_the_page_until_it_is_stopped(tmp_path: Path) -> None:
    with started("--port", "0", "--tables", str(tmp_path / "kept")) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = said.partition("http://")[2].split()[0]
        with urlopen(f"http://{address}") as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert "Traceback" not in rest
    assert (tmp_path / "kept").is_dir()


def test_leaving_this_machine_is_said_with_what_it_means(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[object] = []
    monkeypatch.setattr(server, "get_ready", lambda: None)
    monkeypatch.setattr(serving, "serve", lambda *given: served.append(given[2]))
    ran = run("web", "--host", "0.0.0.0", "--port", "0", columns=1000)
    assert ran.exit_code == 0
    assert "everybody who reaches this machine" in ran.stdout
    assert str(served[0]).startswith("http://127.0.0.1:")
    ran = run("web", "--port", "0", "--no-browser")
    assert "everybody" not in ran.stdout
    assert served[1] is None


def test_what_cannot_be_served_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, said in (
        (["--agent", "heruistic"], "did you mean 'heuristic'"),
        (["--host", "no-such-host.invalid"], "--host no-such-host.invalid"),
        (["--tables", str(tmp_path / "file" / "folder")], "cannot write"),
    ):
        (tmp_path / "file").touch()
        ran = run("web", *arguments)
        assert ran.exit_code == 2
        assert said in ran.stderr
    monkeypatch.setattr(preconditions.importlib.util, "find_spec", lambda name: None)
    ran = run("web")
    assert ran.exit_code == 2
    assert 'pip install "catbox-env[web]"' in ran.stderr
