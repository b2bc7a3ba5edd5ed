"""verifiers: whole games against a stub of a chat-completions server, each turn through its own program."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.runtimes.subprocess import SubprocessRuntime

from catbox_agents.text import TextGame
from catbox_env import make_game
from examples import verifiers_table
from examples.stand_in import StandIn
from tests.agents.chat_server import ChatServer

OPTIONS = {"num_players": 3, "num_ranks": 4, "hand_size": 4}  # short: each turn starts a program
TABLE = {"list_actions": True, "retries": 1}


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its chat program runs in this environment, which has what it needs, and not in one that uv downloads."""

    async def here(self: Any, script: str, env: Any = None, **_: Any) -> list[str]:
        path = f"program-{abs(hash(script))}.py"
        await self.write(path, script.encode())
        return [sys.executable, path]

    monkeypatch.setattr(SubprocessRuntime, "prepare_uv_script", here)


def episodes(answer: Callable[[list[dict[str, str]]], Any], **taskset: Any) -> list[vf.Episode]:
    """One episode of every task, with a server that answers so."""
    config = vf.resolve_env_config(
        {"taskset": {"id": "verifiers-table", "options": OPTIONS, "table": TABLE, **taskset}}
    )
    env = vf.load_environment(config)

    async def play(url: str) -> list[vf.Episode]:
        model = vf.ModelContext(
            model="stub",
            client=vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY"),
            sampling=vf.SamplingConfig(),
        )
        async with env.serving():
            return [await env.run_episode(task, model) for task in env.taskset]

    with ChatServer(answer) as server:
        return asyncio.run(play(server.url))


def test_whole_games_from_every_seat_pay_what_the_game_pays() -> None:
    found = episodes(lambda messages: StandIn(len(messages))(messages[-1]["content"]), deals=1, first_seed=4)
    assert len(found) == 3
    for seat, episode in enumerate(found):
        assert episode.ok, episode.errors
        (trace,) = episode.traces
        table = TextGame(make_game("cat_in_the_box_v0", **OPTIONS), **TABLE)
        told, reward, done = [table.reset(4, seat)], 0.0, False
        while not done:
            text, reward, done = table.step(StandIn(2 * len(told) - 1)(told[-1]))
            told.append(text)
        users = [node.message.content for node in trace.nodes if node.message.role == "user"]
        assert users == told[:-1]
        assert trace.rewards["game"].score == pytest.approx(reward)
        assert trace.metrics["points"] == table.points
        assert trace.metrics["first_try"] == table.counts["first_try"] == len(users)
        assert trace.metrics["finished"] == 1


def test_a_model_that_gives_no_legal_answer_loses() -> None:
    found = episodes(lambda messages: "bid 1", deals=1)
    for episode in found:
        (trace,) = episode.traces
        assert trace.rewards["game"].score == 0.0
        assert trace.metrics["points"] == make_game("cat_in_the_box_v0", **OPTIONS).min_utility
        assert trace.metrics["illegal"] == 2
        said = [node.message.content for node in trace.nodes if node.message.role == "user"]
        assert said[1].startswith("Illegal: bid 1: this is the time to discard, not to bid.")


def test_the_example_prints_the_results_of_every_seat(capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(lambda messages: "bid 1") as server:
        asyncio.run(verifiers_table.main("stub", server.url, options=OPTIONS, table={"retries": 0}))
    lowest = make_game("cat_in_the_box_v0", **OPTIONS).min_utility
    told = [f"cat_in_the_box_v0#0 in seat {seat}: {lowest:g} points, reward 0.00\n" for seat in range(3)]
    assert capsys.readouterr().out == "".join(told)


def test_wrong_settings_are_refused_before_the_first_game() -> None:
    with pytest.raises(ValueError, match="form='long': expected"):
        episodes(lambda messages: "", table={"form": "long"})
