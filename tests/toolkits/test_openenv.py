"""OpenEnv: whole games through a server, several sessions at once; the same texts and payments as of `TextGame`."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from catbox_agents.text import TextGame
from catbox_env import make_game
from examples.openenv_table import CatboxClient, TextAction, make_app
from examples.stand_in import StandIn
from tests.toolkits.running import ROOT

GAME = make_game("cat_in_the_box_v0", num_players=3, rounds=2)
TABLE: dict[str, Any] = {"opponents": "heuristic", "list_actions": True, "retries": 1}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server at a free port."""
    app = make_app(GAME, max_sessions=3, **TABLE)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def expected(seed: int, seat: int) -> tuple[list[str], float, TextGame]:
    """The texts and the reward of this game, without a server."""
    table, model = TextGame(GAME, **TABLE), StandIn(seed)
    texts, reward, done = [table.reset(seed, seat)], 0.0, False
    while not done:
        text, reward, done = table.step(model(texts[-1]))
        texts.append(text)
    return texts, reward, table


def test_sessions_at_once_play_whole_games_each_its_own(url: str) -> None:
    """Three clients in turn, one action each."""
    clients = [CatboxClient(url).sync() for _ in range(3)]
    models = [StandIn(seed) for seed in range(3)]
    results = [client.reset(seed=seed, seat=seed) for seed, client in enumerate(clients)]
    texts = [[result.observation.text] for result in results]
    while not all(result.done for result in results):
        for k, client in enumerate(clients):
            if not results[k].done:
                assert results[k].reward == 0.0
                results[k] = client.step(TextAction(action=models[k](texts[k][-1])))
                texts[k].append(results[k].observation.text)
    for k, client in enumerate(clients):
        told, reward, table = expected(k, k)
        assert texts[k] == told
        assert results[k].reward == pytest.approx(reward)
        state = client.state()
        assert (state.seat, state.points, state.step_count) == (k, table.points, len(told) - 1)
        assert state.counts == table.counts
        client.close()


def test_a_wrong_answer_is_told_why_and_an_action_without_a_game_is_an_error(url: str) -> None:
    no_game = r"no game is under way: call reset\(\)"
    with CatboxClient(url).sync() as client, pytest.raises(RuntimeError, match=no_game):
        client.step(TextAction(action="discard 1"))
    with CatboxClient(url).sync() as client:
        client.reset(seed=1, seat=0)
        result = client.step(TextAction(action="bid 1"))
        assert result.observation.text.startswith("Illegal: bid 1: this is the time to discard, not to bid.")
        assert not result.done
        result = client.step(TextAction(action="?"))
        assert (result.done, result.reward) == (True, 0.0)
        with pytest.raises(RuntimeError, match="seat=3: expected a seat"):
            client.reset(seed=1, seat=3)
        with pytest.raises(RuntimeError, match=r"reset\(seet\): unknown; expected seed, seat and"):
            client.reset(seed=1, seet=0)


def test_the_server_describes_what_it_takes_and_gives() -> None:
    with TestClient(make_app(GAME)) as client:
        schema = client.get("/schema").json()
        assert schema["action"]["required"] == ["action"]
        assert {"text", "reward", "done"} <= set(schema["observation"]["properties"])
        assert {"seat", "points", "counts"} <= set(schema["state"]["properties"])
        told = client.post("/reset", json={"seed": 4, "seat": 2}).json()
    assert told["observation"]["text"] == TextGame(GAME).reset(4, 2)


def test_wrong_settings_are_refused_when_the_server_is_made() -> None:
    with pytest.raises(ValueError, match="form='long': expected"):
        make_app(GAME, form="long")


def test_the_example_plays_a_game() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "openenv_table.py")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "The game is over." in ran.stdout
    assert "9 answers" in ran.stdout
