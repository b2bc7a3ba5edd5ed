"""The command `catbox web`: what it says and refuses."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from catbox_app.web import server, serving
from tests.app.table import CATBOX, ENVIRONMENT, refused, run


def test_it_serves_the_page_until_it_is_stopped(tmp_path: Path) -> None:
    program = [
        sys.executable,
        *CATBOX,
        "web",
        "--no-browser",
        "--port",
        "0",
        "--tables",
        str(tmp_path / "kept"),
    ]
    with subprocess.Popen(
        program, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "heruistic"], "did you mean 'heuristic'"),
        (["--host", "no-such-host.invalid"], "--host no-such-host.invalid"),
        (["--tables", f"{__file__}/folder"], "cannot write"),
    ],
)
def test_what_cannot_be_served_is_refused_in_words(arguments: list[str], said: str) -> None:
    assert said in refused("web", *arguments)
