"""An agent that goes wrong stops the arena under its name; what was finished is kept, and played on after a fix."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catbox_agents
from catbox_agents.arena import seatings
from catbox_agents.arena.workers import NO_START
from catbox_agents.dataset.game_data import play_games
from tests.agents.arena_agents import (
    BadPolicy,
    Hanging,
    Highest,
    IllegalByte,
    Leaving,
    Lowest,
    Middle,
    NeverMade,
    Raising,
    Slow,
    spec,
)
from tests.agents.policies import checkpoint
from tests.agents.test_run_arena import same
from tests.small_games import game_for


def run(agent: type, num_deals: int = 12, players: int = 3, **arguments: Any) -> Any:
    agents = [spec(agent), spec(Lowest), "heuristic"]
    names = ["faulty", "lowest", "heuristic"]
    return catbox_agents.run_arena(game_for(players), agents, num_deals, names=names, seed=1, **arguments)


@pytest.mark.parametrize("processes", [None, 1])
@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (Raising, "agent 'faulty' raised RuntimeError: a card too high"),
        (IllegalByte, r"agent 'faulty' chose the illegal action 34 \(PARADOX: "),
    ],
)
def test_a_fault_stops_the_arena_and_names_the_agent(agent: type, said: str, processes: int | None) -> None:
    with pytest.raises(ValueError, match=f"(?i){said}"):
        run(agent, processes=processes)


def test_a_policy_that_is_none_stops_an_arena_that_records_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'faulty': policy_batch returned array\(\[nan, nan"):
        run(BadPolicy, record=tmp_path / "games.jsonl")
    assert run(BadPolicy).deals == 12


@pytest.mark.faults
@pytest.mark.parametrize(("agent", "processes"), [(Slow, 1), (Hanging, None)])
def test_an_agent_that_takes_too_long_for_a_move_stops_the_arena(
    agent: type, processes: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seatings, "WARM_UP", 1.0)  # of this process: it may fail there already
    game, agents = game_for(2), [spec(agent), spec(Lowest)]
    with pytest.raises(ValueError, match=r"agent 'slow' took more than [\d.]+ s for a move, the limit"):
        catbox_agents.run_arena(
            game, agents, 10, names=["slow", "low"], seed=1, move_time=0.06, processes=processes
        )


def test_a_time_limit_changes_no_result() -> None:
    game, agents = game_for(2), ["random", spec(Lowest)]
    limited = catbox_agents.run_arena(game, agents, 10, seed=1, move_time=100)
    assert same(limited, catbox_agents.run_arena(game, agents, 10, seed=1))


def test_a_process_that_may_start_none_says_so() -> None:
    game = game_for(2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        played = pool.apply_async(
            catbox_agents.run_arena, (game, ["random", "heuristic"], 10), {"processes": 2}
        )
        with pytest.raises(ChildProcessError, match=r"^processes=2 .* multiprocessing.Pool: play without "):
            played.get()


#: Without a main guard.
SCRIPT = """
import sys
import catbox_agents, catbox_env

try:
    catbox_agents.run_arena(catbox_env.make_game("petrify_v0"), ["random", "heuristic"], 10, processes=2)
except ChildProcessError as error:
    print(error)
"""


@pytest.mark.faults
def test_a_script_that_each_process_runs_again_is_told_to_guard_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == f"{NO_START}\n"


@pytest.mark.faults
@pytest.mark.parametrize("agent", [Leaving, NeverMade])
def test_a_process_that_ends_is_told_with_the_agents_that_it_played(agent: type) -> None:
    said = r"a process of the arena ended with exit code 3 while it played 'faulty'$"
    with pytest.raises(ChildProcessError, match=said):
        run(agent, 10, players=2, processes=1)


def test_after_a_fix_only_tables_of_the_changed_agent_are_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "own_player.py"
    code = "from tests.agents.arena_agents import Highest, Lowest, Raising\nclass Player({}):\n    pass\n"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    folder, record = tmp_path / "arena", tmp_path / "games.jsonl"

    def play(base: str, output: Path | None = folder, **arguments: Any) -> Any:
        module.write_text(code.format(base))
        monkeypatch.delitem(__import__("sys").modules, "own_player", raising=False)
        agents = ["heuristic", spec(Lowest), "own_player:Player"]
        return catbox_agents.run_arena(game_for(), agents, 12, seed=1, output=output, **arguments)

    with pytest.raises(catbox_agents.AgentError, match="'own_player:Player' raised RuntimeError: a card too"):
        play("Raising", record=record)
    before = (folder / "blocks.jsonl").read_bytes().splitlines()
    assert len(before) == 2  # each of the first two agents among itself and, in part, the other
    told: list[tuple[int, int]] = []
    fixed = play("Highest", record=record, progress=lambda *now: told.append(now))
    assert told[0][0] == 12 * (1 + 3)  # not played again
    fresh = play("Highest", None, record=tmp_path / "fresh.jsonl")
    assert same(fixed, fresh)
    assert record.read_bytes() == (tmp_path / "fresh.jsonl").read_bytes()
    told.clear()
    with pytest.raises(ValueError, match="holds other games"):
        play("Lowest", record=record)
    changed = play("Lowest", progress=lambda *now: told.append(now), record=tmp_path / "changed.jsonl")
    assert told[0][0] == 12 * (2 + 2 * 3)  # four tables of nine are those of the other two agents
    assert same(changed, play("Lowest", None))
    assert not np.array_equal(fixed.margins, changed.margins)
    names = {name for line in record.read_text().splitlines()[1:] for name in json.loads(line)["agents"]}
    assert names == {"heuristic", spec(Lowest), "own_player:Player"}


def test_two_agents_of_one_class_are_told_apart() -> None:
    game = game_for()
    agents = [Chosen(game, 0), Chosen(game, -1)]
    result = catbox_agents.run_arena(game, agents, 12, seed=1)
    assert result.agents == ["Chosen", "Chosen #2"]
    expected = catbox_agents.run_arena(game, [spec(Lowest), spec(Highest)], 12, seed=1)
    assert np.array_equal(result.margins, expected.margins)
    compared = catbox_agents.evaluate(game, agents, 12, seed=1)
    assert np.array_equal(compared.deal_margins.T[0], expected.margins[0, 1])
    chunks = list(play_games(game, agents, 3, seed=1).chunks)
    assert chunks[0].agents[0] == ["Chosen", "Chosen #2", "Chosen #2"]
    lowest = chunks[0].action == chunks[0].action_mask.argmax(axis=1)
    places = np.array([[name == "Chosen" for name in seats] for seats in chunks[0].agents])
    assert lowest[places[chunks[0].game, chunks[0].seat]].all()
    assert not lowest[~places[chunks[0].game, chunks[0].seat]].all()


class Chosen(Middle):
    """The legal id at one place."""

    def __init__(self, game: Any, place: int) -> None:
        super().__init__(game)
        self.place = place

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        return int(np.flatnonzero(action_mask)[self.place])


def test_numpy_numbers_are_numbers_and_any_name_can_be_written(tmp_path: Path) -> None:
    ten: Any
    three: Any
    ten, three = np.int64(10), np.int64(3)
    game = game_for()
    plain = catbox_agents.run_arena(game, ["random", spec(Lowest)], 10, seed=3)
    numpy = catbox_agents.run_arena(
        game, ["random", spec(Lowest)], ten, seed=three, output=tmp_path / "arena"
    )
    assert same(plain, numpy)
    assert catbox_agents.evaluate(game, ["random", "heuristic"], ten, seed=three).seed == 3
    folder, record = tmp_path / "odd", tmp_path / "odd.jsonl"
    odd = os.fsdecode(b"net\xff\x1b.safetensors")  # what a file may be called
    os.replace(checkpoint(tmp_path, game.id, 1, num_players=3), tmp_path / odd)
    result = catbox_agents.run_arena(game, [tmp_path / odd, "random"], 10, output=folder, record=record)
    assert result.agents == [f"{tmp_path}/net??.safetensors", "random"]
    assert "net??.safetensors |" in (folder / "results.md").read_text(encoding="utf-8")
    assert catbox_agents.read_record(record).agents == result.agents[:1] * 3
