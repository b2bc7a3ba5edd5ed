"""The command `catbox web`: what it says and refuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from websockets.sync.client import connect

from catbox_agents import Agent
from catbox_app.web import server
from tests.app.table import CATBOX, ENVIRONMENT, refused, run


class Endless(Agent):
    """Thinks for ever."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        while True:
            time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_the_page_until_it_is_stopped_whoever_thinks(
    number: signal.Signals, tmp_path: Path
) -> None:
    endless = f"{__name__}:{Endless.__name__}"
    options = ["--no-browser", "--port", "0", "--agent", endless, "--tables", str(tmp_path / "kept")]
    program = [sys.executable, *CATBOX, "web", *options]
    with subprocess.Popen(
        program, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = said.partition("http://")[2].split()[0]
        with urlopen(f"http://{address}") as answer:
            assert answer.status == 200
        with connect(f"ws://{address}ws", max_size=None) as page:
            seats = [endless, "person"]
            page.send(json.dumps({"type": "open", "game": "petrify_v0", "seats": seats, "pace": 0}))
            key = json.loads(page.recv())["seats"][1]["key"]
            page.send(json.dumps({"type": "join", "seat_key": key}))
            while (told := json.loads(page.recv()))["type"] != "position":
                pass
            assert told["waits_for"] == "agent"
            began = time.monotonic()
            process.send_signal(number)
            rest, _ = process.communicate(timeout=60)
    assert time.monotonic() - began < 15
    assert "Traceback" not in rest
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_leaving_this_machine_is_said_with_what_it_means(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[object] = []
    monkeypatch.setattr(server, "get_ready", lambda: None)
    monkeypatch.setattr(server, "serve", lambda *given: served.append(given[2]))
    ran = run("web", "--host", "0.0.0.0", "--port", "0", columns=1000)
    assert ran.exit_code == 0
    assert "anyone who can reach this machine" in ran.stdout
    assert str(served[0]).startswith("http://127.0.0.1:")
    ran = run("web", "--port", "0", "--no-browser")
    assert "everybody" not in ran.stdout
    assert served[1] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "heruistic"], "did you mean 'heuristic'"),
        (["--agent", "runs/gone"], "runs/gone does not exist"),
        (["--agent", f"{__file__}.zip"], "No such file"),
        (["--agent", "tests.app.web.page:Nobody"], "has no class 'Nobody'"),
        (["--host", "no-such-host.invalid"], "--host no-such-host.invalid"),
        (["--tables", f"{__file__}/folder"], "cannot write"),
    ],
)
def test_what_cannot_be_served_is_refused_in_words(arguments: list[str], said: str) -> None:
    assert said in refused("web", *arguments)
