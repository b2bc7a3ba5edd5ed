"""Language models as agents, asked through a stub server on this machine."""

from __future__ import annotations

import gzip
import json
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import catbox_agents
import catbox_env
from catbox_agents import AgentError
from catbox_agents.agent import agent_seed
from catbox_agents.arena.match import Match
from catbox_agents.arena.report import page, terminal_tables
from catbox_agents.settings import read_settings
from catbox_agents.specs import parse_spec
from catbox_agents.text import text_observation
from catbox_app.web.lobby import check_opponent
from catbox_env import Game, Vec
from catbox_train import load_config
from tests.agents.chat_server import ChatServer, SameChoice, chosen_name, legal, reply
from tests.small_games import game_for

pytest.importorskip("httpx2")
SECRET = "sk-test-0123456789"
SAME = f"{SameChoice.__module__}:{SameChoice.__name__}"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def positions(game: Game, number: int, moves: int = 4) -> Vec:
    """``number`` games after some random moves."""
    vec = Vec(game, number, seed=3, history=True, auto_deal=False)
    rng = np.random.default_rng(1)
    for _ in range(moves):
        vec.step((rng.random(vec.action_mask.shape) * vec.action_mask).argmax(1))
    return vec


def ask(agent: Any, vec: Vec) -> np.ndarray:
    found: np.ndarray = agent.act_batch(vec.observation, vec.action_mask, vec.history)
    return found


def counted(agent: Any) -> dict[str, float]:
    """What is not 0 of the tally, but times and tokens."""
    return {
        name: number
        for name, number in agent.tally.items()
        if number and name not in ("seconds", "input_tokens", "output_tokens", "answers")
    }


@pytest.mark.parametrize(
    ("players", "deals", "processes"), [(3, 10, None), pytest.param(2, 40, 2, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_an_arena_gives_the_results_of_an_agent_that_chooses_the_same(
    players: int, deals: int, processes: int | None, tmp_path: Path
) -> None:
    game = game_for(players)
    found, games = [], []
    with ChatServer() as server:
        for name, spec in (("asked", server.spec(list_actions="true")), ("same", SAME)):
            path = tmp_path / f"{name}.jsonl"
            agents = [spec, "random"]
            labels = ["one", "random"]
            found.append(
                catbox_agents.run_arena(game, agents, deals, names=labels, record=path, processes=processes)
            )
            games.append([json.loads(line) for line in path.read_text().splitlines()[1:]])
    assert games[0] == games[1]
    assert np.array_equal(found[0].margins, found[1].margins)
    assert np.abs(found[0].margins).max() > 0
    for pair, table in found[0].tables.items():
        assert np.array_equal(table.deal_scores, found[1].tables[pair].deal_scores)
    told = found[0].tallies["one"]
    assert told["first_try"] == told["answers"] == len(server.requests)
    assert told["repaired"] == told["fallen_back"] == 0
    assert told["input_tokens"] == 100 * len(server.requests)
    # Two players: both agents sit at one table, twice; three: one of it, then two, at three rotations each.
    assert told["games"] == deals * {2: 2 + 2, 3: 3 + 3 + 6}[players]
    assert found[1].tallies == {}


def test_the_prompt_is_what_the_seat_sees_and_nothing_else_is_sent() -> None:
    game = game_for(3)
    vec = positions(game, 3)
    with ChatServer() as server:
        for settings, options in (
            ({}, {"form": "long"}),
            ({"form": "short", "history": "false", "list_actions": "true"}, {"form": "short"}),
        ):
            server.requests.clear()
            server.answer = lambda _: "?"
            ask(catbox_agents.make(server.spec(repairs=0, parallel=1, **settings), game, 0), vec)
            prompts = [
                text_observation(
                    vec.observation[row],
                    game=game,
                    history=None if settings else vec.history[row],
                    list_actions=bool(settings),
                    **options,
                )
                for row in range(3)
            ]
            bodies = [body for body, _ in server.requests]
            assert bodies == [
                {"model": "stub", "messages": [{"role": "user", "content": prompt}]} for prompt in prompts
            ]


def test_a_failed_answer_is_given_back_with_the_reason() -> None:
    game = game_for(3)
    vec = positions(game, 1)
    answers = ["I pass", '{"action": "play purple 3"}', '{"action": "discard 1"}']

    def answer(messages: list[dict[str, str]]) -> str:
        tries = len(messages) // 2
        return answers[tries] if tries < len(answers) else legal(messages)

    with ChatServer(answer) as server:
        agent = catbox_agents.make(
            server.spec(list_actions="true", repairs=3, temperature=0.5, max_completion_tokens=99), game
        )
        actions = ask(agent, vec)
    assert actions[0] == SameChoice(game).act(vec.observation[0], vec.action_mask[0], vec.history[0])
    last = server.requests[-1][0]
    assert (last["temperature"], last["max_completion_tokens"]) == (0.5, 99)
    said = [message["content"] for message in last["messages"]]
    assert said[1::2] == answers
    assert [text.partition(":")[0] for text in said[2::2]] == ["Unparsable", "Unknown", "Illegal"]
    assert [text.rpartition("\n")[2] for text in said[2::2]] == [
        f"Answer again; tries left: {left}." for left in (3, 2, 1)
    ]
    assert counted(agent) == {"repaired": 1, "unparsable": 1, "unknown": 1, "illegal": 1}
    assert agent.tally["input_tokens"] == 400


@pytest.mark.parametrize("fallback", ["random", "heuristic"])
def test_without_a_legal_answer_the_fallback_decides(fallback: str) -> None:
    game = game_for(3)
    vec = positions(game, 6)
    with ChatServer(lambda messages: "no") as server:
        agent: Any = catbox_agents.make(server.spec(repairs=1, fallback=fallback), game, 0)
        seeds = np.arange(6, dtype=np.uint64) * np.uint64(2**61)
        agent.seed_decisions(seeds)
        actions = ask(agent, vec)
    other: Any = catbox_agents.make(fallback, game, 0)
    if fallback == "random":
        other.seed_decisions(seeds)
    assert actions.tolist() == ask(other, vec).tolist()
    assert counted(agent) == {"fallen_back": 6, "unparsable": 12}


@pytest.mark.slow
def test_with_the_fallback_stop_the_run_ends_and_names_the_agent(tmp_path: Path) -> None:
    game, log = game_for(2), tmp_path / "asked.jsonl"
    with ChatServer(lambda messages: "no") as server:
        agents = [server.spec(repairs=1, fallback="stop", parallel=1, log=log), "random"]
        with pytest.raises(
            AgentError,
            match=r"^agent 'llm:model=stub.*: stub named no legal action in 2 answers. Unparsable: ",
        ):
            catbox_agents.evaluate(game, agents, 10)
        assert len(server.requests) == 2
        (line,) = [json.loads(line) for line in log.read_text().splitlines()]
        assert (line["outcome"], line["action"], line["failures"]) == ("stop", None, ["unparsable"] * 2)
        check_stopped(agents, tmp_path, "stub named no legal action in 2 answers")


def check_stopped(agents: list[str], folder: Path, why: str) -> None:
    """An arena stops with this error, which names the agent, and stores no block; agents that play are played."""
    game = game_for(2)
    run: Callable[[list[str]], Any] = lambda agents: catbox_agents.run_arena(  # noqa: E731
        game, agents, 10, names=["model", "random"], output=folder / "arena"
    )
    with pytest.raises(AgentError, match=rf"^agent 'model' .*{why}") as stopped:
        run(agents)
    assert stopped.value.agent_traceback() == ""  # it comes with catbox
    with ChatServer() as server:
        result = run([server.spec(list_actions="true"), "random"])
    assert result.tallies["model"]["first_try"] > 0


# Servers in trouble ---------------------------------------------------------------------------------------------


def test_the_client_tries_again_after_429_and_500() -> None:
    game = game_for(3)
    vec = positions(game, 1)
    statuses = [429, 500, 503, 429]

    def answer(messages: list[dict[str, str]]) -> Any:
        return (statuses.pop(), {"error": {"message": "wait"}}) if statuses else legal(messages)

    with ChatServer(answer) as server:
        agent = catbox_agents.make(server.spec(list_actions="true"), game)
        ask(agent, vec)
    assert len(server.requests) == 5
    assert counted(agent) == {"first_try": 1}
    assert agent.tally["answers"] == 1


TROUBLE: dict[str, Any] = {
    "429": (429, {"error": {"message": "too many"}}),
    "500": (500, b"<html>oops</html>"),
    "401": (401, {"error": {"message": f"{'x' * 448} {SECRET}"}}),
    "no JSON": (200, b"<html>hello</html>"),
    "half of it": (200, json.dumps(reply("x")).encode()[:40]),
    "another form": (200, {"answer": "play red 3"}),
    "a list": (200, [1]),
    "null": (200, b"null"),
    "no choices": (200, {**reply("x"), "choices": []}),
    "choices as an object": (200, {**reply("x"), "choices": reply("x")["choices"][0]}),
    "choices as a text": (200, {**reply("x"), "choices": "play red 3"}),
    "no message": (200, {**reply("x"), "choices": [{"index": 0}]}),
    "nested too deeply": (200, b"[" * 100_000),
    "30 MB": (200, reply("x" * 30_000_000)),
    "compressed": (200, gzip.compress(json.dumps(reply("x")).encode())),
}


@pytest.mark.parametrize("kind", TROUBLE)
def test_a_server_that_does_not_answer_is_an_error_without_the_key(kind: str) -> None:
    game = game_for(3)
    vec = positions(game, 4)
    with ChatServer() as server:
        agent: Any = catbox_agents.make(server.spec(list_actions="true", max_retries=1), game, 0)
        ask(agent, vec)
        server.answer = lambda _: TROUBLE[kind]
        with pytest.raises(RuntimeError, match=r"^stub has not answered: ") as caught:
            ask(agent, vec)
    assert SECRET[:9] not in str(caught.value)  # nor its beginning, where a message is cut
    assert len(str(caught.value)) < 600
    assert counted(agent) == {"first_try": 4}


@pytest.mark.parametrize("kind", [
    "401", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("500", "no JSON"))
])  # fmt: skip
def test_a_server_that_does_not_answer_stops_the_arena_and_nothing_is_stored(
    kind: str, tmp_path: Path
) -> None:
    with ChatServer(lambda _: TROUBLE[kind]) as server:
        check_stopped([server.spec(max_retries=0), "random"], tmp_path, "stub has not answered: ")
    agent = catbox_agents.make(server.spec(max_retries=0), game_for(3))  # nobody listens there any more
    with pytest.raises(RuntimeError, match="stub has not answered: ConnectError"):
        ask(agent, positions(game_for(3), 2))


def parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


@pytest.mark.parametrize("content", [
    parts('{"action": ', '"NAME"}'), [{"type": "image_url"}, *parts('{"action": "NAME"}')], ['{"action": "NAME"}'],
])  # fmt: skip
def test_a_content_in_parts_is_their_text(content: Any) -> None:
    game = game_for(3)
    vec = positions(game, 1)

    def answer(messages: list[dict[str, str]]) -> Any:
        chosen = chosen_name(messages[0]["content"])
        return 200, json.loads(json.dumps(reply(content)).replace("NAME", chosen))

    with ChatServer(answer) as server:
        agent: Any = catbox_agents.make(server.spec(list_actions="true"), game)
        assert ask(agent, vec).tolist() == ask(SameChoice(game), vec).tolist()
    assert counted(agent) == {"first_try": 1}


@pytest.mark.parametrize("content", [None, 3, {"text": "x"}, [], [3, None], "\ud800 \x00", parts("\udfff")])
def test_any_other_content_is_an_answer_without_an_action(content: Any, tmp_path: Path) -> None:
    game = game_for(3)
    with ChatServer(lambda _: (200, reply(content))) as server:
        agent: Any = catbox_agents.make(server.spec(repairs=1, log=tmp_path / "log"), game)
        ask(agent, positions(game, 1))
    assert len(server.requests) == 2
    assert counted(agent) == {"fallen_back": 1, "unparsable": 2}


@pytest.mark.parametrize("usage", [
    "100 tokens", None, [100], {}, {"prompt_tokens": "100", "completion_tokens": None},
    {"prompt_tokens": float("nan"), "completion_tokens": float("-inf")},
    {"prompt_tokens": 10**400, "completion_tokens": -1},
])  # fmt: skip
def test_a_usage_that_is_no_number_counts_as_none(usage: Any) -> None:
    game = game_for(3)
    with ChatServer(lambda messages: (200, {**reply(legal(messages)), "usage": usage})) as server:
        agent: Any = catbox_agents.make(server.spec(list_actions="true", input_price=1, output_price=1), game)
        ask(agent, positions(game, 1))
    assert counted(agent) == {"first_try": 1}
    assert (agent.tally["input_tokens"], agent.tally["output_tokens"], agent.tally["cost"]) == (0, 0, 0)


@pytest.mark.parametrize("beginning", ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\n"])
def test_a_reply_that_is_not_complete_in_time_is_none(beginning: str) -> None:
    """A server that is silent, or that drips its headers or its body, a byte at a time."""
    game = game_for(3)
    over = threading.Event()

    def drip(server: socket.socket) -> None:
        with server.accept()[0] as connection, suppress(OSError):
            connection.sendall(beginning.encode())
            while beginning and not over.wait(0.02):
                connection.sendall(b" " if beginning.endswith("\r\n\r\n") else b"x")
            over.wait(30)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        agent = catbox_agents.make(f"llm:model=stub,base_url={url},timeout=300ms,max_retries=0", game)
        with pytest.raises(RuntimeError, match=r"stub has not answered: no complete reply within 0\.3 s"):
            ask(agent, positions(game, 1))
        over.set()
        thread.join()


def test_so_many_requests_run_in_parallel_and_no_more() -> None:
    game = game_for(3)
    vec = positions(game, 12)
    four = threading.Barrier(4, timeout=20)
    lock, now, most = threading.Lock(), 0, 0

    def answer(messages: list[dict[str, str]]) -> str:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        four.wait()  # broken, and so an error, unless four requests are here at once
        with lock:
            now -= 1
        return legal(messages)

    with ChatServer(answer) as server:
        actions = ask(catbox_agents.make(server.spec(list_actions="true", parallel=4), game), vec)
    assert most == 4
    assert actions.tolist() == ask(SameChoice(game), vec).tolist()


# What is kept ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_key_is_sent_and_kept_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = game_for(2)
    with ChatServer(lambda messages: f"{SECRET} {legal(messages)}") as server:
        spec = server.spec(list_actions="true", log=tmp_path / "asked.jsonl")
        agent: Any = catbox_agents.make(spec, game)
        ask(agent, positions(game, 2))
        assert server.requests[0][1]["authorization"] == f"Bearer {SECRET}"
        pickled = pickle.dumps(agent)
        assert SECRET.encode() not in pickled
        assert (
            ask(pickle.loads(pickled), positions(game, 2)).tolist() == ask(agent, positions(game, 2)).tolist()
        )
        folder = tmp_path / "arena"
        record = tmp_path / "games.jsonl"
        catbox_agents.run_arena(game, [spec, "random"], 10, output=folder, record=record)
        monkeypatch.delenv("OPENAI_API_KEY")
        server.requests.clear()
        ask(catbox_agents.make(server.spec(list_actions="true"), game), positions(game, 1))
        assert SECRET not in str(server.requests[0][1])
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    with pytest.raises(ValueError, match="set the environment variable OPENAI_API_KEY, or give base_url=URL"):
        catbox_agents.make("llm:model=stub", game)


def test_everything_asked_and_answered_is_logged(tmp_path: Path) -> None:
    game = game_for(3)
    vec = positions(game, 5)
    log = tmp_path / "asked.jsonl"
    with ChatServer(lambda messages: legal(messages) if len(messages) > 1 else "hm") as server:
        ask(catbox_agents.make(server.spec(list_actions="true", log=log), game), vec)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) == 5
    bodies = {json.dumps(body["messages"]) for body, _ in server.requests}
    for line in lines:
        assert [message["role"] for message in line["messages"]] == ["user", "assistant", "user", "assistant"]
        assert json.dumps(line["messages"][:3]) in bodies
        assert line["action"] in line["messages"][3]["content"]
        assert (line["model"], line["outcome"], line["failures"]) == ("stub", "repaired", ["unparsable"])
        assert (line["input_tokens"], line["output_tokens"]) == (200, 20)
    with pytest.raises(OSError, match=r"cannot write .*its folder does not exist"):
        catbox_agents.make(server.spec(log=tmp_path / "none" / "asked.jsonl"), game)


@pytest.mark.slow
def test_the_report_shows_how_the_model_answered(tmp_path: Path) -> None:
    game = game_for(2)

    def answer(messages: list[dict[str, str]]) -> str:
        return "no" if "discard" in messages[0]["content"].rpartition("Legal actions")[2] else legal(messages)

    with ChatServer(answer) as server:
        agents = [server.spec(list_actions="true", repairs=1, input_price=2, output_price=20), "random"]
        run: Callable[[], Any] = lambda: catbox_agents.run_arena(  # noqa: E731
            game, agents, 10, names=["model", "random"], output=tmp_path / "arena"
        )
        result = run()
        asked = len(server.requests)
        again = run()  # from the folder
    assert len(server.requests) == asked
    assert again.tallies == result.tallies
    told = result.tallies["model"]
    decisions = told["first_try"] + told["fallen_back"]
    assert (told["games"], told["fallen_back"], told["unparsable"]) == (40, 40, 80)
    assert told["answers"] == asked == decisions + 40
    assert told["cost"] == pytest.approx(asked * (100 * 2 + 10 * 20) / 1e6)
    stored = json.loads((tmp_path / "arena" / "results.json").read_text())
    assert stored["tallies"] == result.tallies
    row = next(
        line for line in page(result, "").split("## Language models")[1].splitlines() if "model |" in line
    )
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:5] == [
        "model",
        f"{decisions:,.0f}",
        f"{told['first_try'] / decisions:.1%}",
        "0.0%",
        f"{40 / decisions:.1%}",
    ]
    assert cells[5:8] == ["80", "0", "0"]
    assert cells[8:11] == [f"{asked * 2.5:,.0f}", f"{asked * 0.25:,.0f}", f"{told['cost'] / 40:.3g}"]
    assert float(cells[11]) > 0
    console = Console(width=300, record=True, file=sys.stderr, quiet=False)
    for table in terminal_tables(result, 300):
        console.print(table)
    shown = " ".join(console.export_text().split())
    assert "legal" in shown
    assert f"model {decisions:,.0f} {told['first_try'] / decisions:.1%}" in shown


# Where it goes --------------------------------------------------------------------------------------------------


def test_it_plays_at_a_table() -> None:
    game = catbox_env.make_game("cat_te_v0", num_players=3)
    with ChatServer() as server:
        seats = [server.spec(list_actions="true"), "random", SAME]
        match = Match(game, seats, seed=1)
        while not match.is_over:
            match.play_agent()
        assert match.record()["agents"][0].startswith("llm:model=stub")
    assert len(server.requests) == match.movers.count(0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("llm", r"agent 'llm': model is missing; expected llm:model=NAME,"),
        ("llm:base_url=http://127.0.0.1/v1", "model is missing"),
        ("llm:model=", "model='': expected a text"),
        (
            f"llm:model=a,api_key={SECRET}",
            "unknown setting 'api_key'.*environment variable OPENAI_API_KEY alone",
        ),
        (f"llm:model=a,api-key={SECRET}", "unknown setting 'api-key'"),
        ("llm:model=a,temprature=1", "unknown setting 'temprature'; did you mean 'temperature'"),
        ("llm:model=a,base_url=localhost:8000", "base_url: expected http://HOST:PORT/PATH"),
        (f"llm:model=a,base_url=http://me:{SECRET}@host/v1", "without a user name, a query or a fragment"),
        (f"llm:model=a,base_url=http://host/v1?key={SECRET}", "without a user name, a query or a fragment"),
        ("llm:model=a,fallback=best", "fallback='best': expected one of 'random', 'heuristic', 'stop'"),
        ("llm:model=a,history=2", "history=2: expected True or False"),
        ("llm:model=a,parallel=0", "parallel=0: expected an integer from 1"),
        ("llm:model=a,repairs=-1", "repairs=-1: expected an integer"),
        ("llm:model=a,timeout=0", "timeout=.*: expected a time above 0"),
        ("lmm:model=a", "unknown agent 'lmm:model=a'.*'llm:model=NAME'"),
        ("search:worlds=64,polcy=random", "unknown setting 'polcy'; did you mean 'policy'"),
    ],
)
def test_wrong_settings_are_refused_without_the_key(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse_spec(spec)
    assert SECRET not in str(caught.value)


def test_an_address_and_a_model_may_hold_colons_commas_and_equal_signs() -> None:
    spec = "llm:model=org/gpt-oss:20b,fast,base_url=http://127.0.0.1:8000/a=b/v1,log=out,1.jsonl"
    assert read_settings(spec) == {
        "model": "org/gpt-oss:20b,fast",
        "base_url": "http://127.0.0.1:8000/a=b/v1",
        "log": "out,1.jsonl",
    }


def test_pages_and_files_may_not_name_a_server(tmp_path: Path) -> None:
    spec = "llm:model=a,base_url=http://127.0.0.1:1/v1"
    assert parse_spec(spec).asks_server
    assert parse_spec(f"pimc:policy={spec}").asks_server
    assert not parse_spec("pimc:policy=random").asks_server
    assert not any(name.startswith("llm") for name in catbox_agents.known_agents())
    with pytest.raises(ValueError, match="must be given when the server is started: catbox web --agent SPEC"):
        check_opponent(spec)
    with pytest.raises(ValueError, match="must be given when"):
        check_opponent(f"pimc:policy={spec}", [spec])
    check_opponent(spec, [spec])
    file = tmp_path / "own.yaml"
    file.write_text(f"eval_opponents: ['{spec}']\n")
    with pytest.raises(ValueError, match=r"a server that would be sent your key: .*llm:model=a.*--trust"):
        load_config(file=file)


def test_without_the_client_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"the agent llm needs httpx2.*pip install -e '\.\[llm\]'"):
        catbox_agents.make("llm:model=a", game_for(3), agent_seed(1))


@pytest.mark.parametrize("key", ["null", "1", "x"])
def test_a_placeholder_for_a_key_spoils_no_log(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    game, file = game_for(3), tmp_path / "asked.jsonl"
    with ChatServer() as server:
        vec = positions(game, 2)
        agent = catbox_agents.make(server.spec(log=file, list_actions="true"), game)
        agent.act_batch(vec.observation, vec.action_mask, vec.history)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    prompts = [line["messages"][0]["content"] for line in lines]
    assert len(lines) == 2
    assert not any("OPENAI_API_KEY" in prompt for prompt in prompts)


def test_a_key_in_an_answer_is_not_logged(tmp_path: Path) -> None:
    game, file = game_for(3), tmp_path / "asked.jsonl"
    with ChatServer(lambda messages: f"Your key is {SECRET}.") as server:
        vec = positions(game, 1)
        agent = catbox_agents.make(server.spec(log=file), game)
        agent.act_batch(vec.observation, vec.action_mask, vec.history)
    assert SECRET not in file.read_text()
    assert "Your key is [OPENAI_API_KEY]." in file.read_text()


def test_white_space_around_the_key_is_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {SECRET}\r\n")
    with ChatServer(lambda messages: f"{SECRET} {legal(messages)}") as server:
        agent: Any = catbox_agents.make(server.spec(list_actions="true"), game_for(3))
        ask(agent, positions(game_for(3), 1))
    assert server.requests[0][1]["authorization"] == f"Bearer {SECRET}"
    monkeypatch.setenv("OPENAI_API_KEY", " \n")
    with pytest.raises(ValueError, match="set the environment variable OPENAI_API_KEY"):
        catbox_agents.make("llm:model=stub", game_for(3))


@pytest.mark.parametrize("key", ["schlüssel", "sk-1\n2"])
def test_a_key_with_other_letters_is_refused(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ValueError, match="OPENAI_API_KEY holds characters that no key has"):
        catbox_agents.make("llm:model=a", game_for(3))


@pytest.mark.parametrize("command", ["watch", "evaluate"])
def test_ctrl_c_ends_the_process_while_the_model_is_silent(command: str) -> None:
    asked, over = threading.Event(), threading.Event()

    def answer(messages: list[dict[str, str]]) -> str:
        asked.set()
        over.wait(600)
        return ""

    with ChatServer(answer) as server:
        spec = server.spec(parallel=2, timeout="600s")
        process = subprocess.Popen(
            [sys.executable, "-m", "catbox_app", command, spec, "random", "--players", "3"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert asked.wait(100)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        over.set()
    assert process.returncode == {"watch": 0, "evaluate": 130}[command], said
