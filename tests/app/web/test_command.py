"""The command `catbox web`: what it says and refuses."""

from __future__ import annotations

import json
import logging
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from starlette.applications import Starlette
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
    opened: list[str | None] = []
    monkeypatch.setattr(server, "get_ready", lambda: None)
    monkeypatch.setattr(server, "serve", lambda *given: opened.append(given[2]))
    ran = run("web", "--host", "0.0.0.0", "--port", "0", columns=1000)
    assert ran.exit_code == 0
    assert "Anyone who can reach it can open tables" in ran.stdout
    assert "Nothing is encrypted" in ran.stdout
    assert str(opened[0]).startswith("http://127.0.0.1:")
    ran = run("web", "--port", "0", "--no-browser", "--url", "https://play.example.org/cards")
    assert "Others reach it at https://play.example.org/cards/\n" in ran.stdout
    assert "Anyone who can reach it can open tables" in ran.stdout
    assert "Nothing is encrypted" not in ran.stdout
    ran = run("web", "--port", "0", "--no-browser")
    assert "Anyone" not in ran.stdout
    assert opened[1:] == [None, None]


def test_nobody_is_let_in_before_the_server_can_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with server.listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(server, "get_ready", lambda: pytest.fail("compiles games for nothing"))
        assert "Address already in use" in refused("web", "--port", str(port))
    done: list[str] = []
    make = server.server_of

    def refuses(what: str) -> None:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        done.append(what)

    def server_of(app: Any) -> Any:
        made = make(app)
        assert made.config.loaded
        refuses("made")
        return made

    monkeypatch.setattr(server, "get_ready", lambda: refuses("compiled"))
    monkeypatch.setattr(server, "server_of", server_of)
    monkeypatch.setattr(server, "serve", lambda *given: done.append("served"))
    assert run("web", "--port", str(port), "--no-browser").exit_code == 0
    assert done == ["compiled", "made", "served"]


def test_the_server_leaves_the_logging_of_this_process_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "close", lambda: closed.append(True))
    server.server_of(Starlette())
    assert not closed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agent", "heruistic"], "did you mean 'heuristic'"),
        (["--agent", "runs/gone"], "runs/gone does not exist"),
        (["--agent", f"{__file__}.zip"], "No such file"),
        (["--agent", "tests.app.web.page:Nobody"], "has no class 'Nobody'"),
        (["--host", "no-such-host.invalid"], "--host no-such-host.invalid"),
        (["--host", "play.example.invalid"], "--url is for the name that others use"),
        (["--url", "play.example.org"], "--url play.example.org: expected an address such as https://"),
        (["--tables", f"{__file__}/folder"], "cannot write"),
    ],
)
def test_what_cannot_be_served_is_refused_in_words(arguments: list[str], said: str) -> None:
    assert said in refused("web", *arguments)
