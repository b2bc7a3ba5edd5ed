"""`catbox arena` as it is typed, and its records as `catbox replay` shows them."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import catbox_agents
import catbox_env
from catbox_agents.arena.report import terminal_tables
from catbox_agents.arena.results import Estimate
from tests.agents.arena_agents import Impatient, Lowest, Middle, Raising, spec
from tests.agents.test_run_arena import same
from tests.app.table import refused, run


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arena without processes of its own, which are tested elsewhere and take seconds to start."""
    play = catbox_agents.run_arena

    def run_here(*args: Any, processes: int, **arguments: Any) -> Any:
        assert processes >= 1
        return play(*args, processes=None, **arguments)

    monkeypatch.setattr(catbox_agents, "run_arena", run_here)


def test_the_command_plays_with_processes_and_writes_the_folder(tmp_path: Path) -> None:
    folder, record = tmp_path / "arena", tmp_path / "games.jsonl"
    agents = ["heuristic", spec(Middle)]
    ran = run(
        "arena", *agents, "--names", "strong, weak", "--players", "3", "--deals", "20", "--mixed", "--deal-set", "test",
        "--output", str(folder), "--record", str(record), "--processes", "2",
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, reward="margin")
    result = catbox_agents.run_arena(
        game, agents, 20, names=["strong", "weak"], mixed=True, deal_set="test", output=folder, record=record
    )
    assert "20 deals per table, deal set test" in ran.stdout
    assert str(result.margin("strong", "weak")) in ran.stdout
    assert f"Written to {folder}" in ran.stdout
    assert same(
        result,
        catbox_agents.run_arena(game, agents, 20, names=["strong", "weak"], mixed=True, deal_set="test"),
    )
    shown = run("replay", str(record), "--game", "11")
    assert shown.exit_code == 0
    line = json.loads(record.read_text().splitlines()[11])
    for seat, name in enumerate(line["agents"]):
        points = f"{line['returns'][seat]:g}"
        assert re.search(
            rf"player_{seat} \({name}\): (.* = {points}|{points} \(.* after the paradox\))\n", shown.stdout
        )


@pytest.mark.usefixtures("in_this_process")
def test_a_fault_of_an_agent_ends_the_arena_under_its_name() -> None:
    options = ["--names", "bad,random", "--players", "3", "--deals", "10", "--seed", "1"]
    ran = run("arena", spec(Raising), "random", *options)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.endswith("catbox: agent 'bad' raised RuntimeError: a card too high\n")


@pytest.mark.usefixtures("in_this_process")
def test_ctrl_c_tells_how_to_go_on(tmp_path: Path) -> None:
    Impatient.left = 20_000
    arguments = ["arena", spec(Impatient), spec(Lowest), "--names", "a,b", "--players", "3", "--deals", "960"]
    ran = run(*arguments, "--output", str(tmp_path / "arena"))
    assert ran.exit_code == 130
    assert "deals were finished at every table; run the same command to resume" in ran.stderr
    assert "partial: " in ran.stdout
    assert (tmp_path / "arena" / "results.json").exists()
    Impatient.left = 10
    ran = run(*arguments)
    assert ran.exit_code == 130
    assert "interrupted: 0 of 960 deals" in ran.stderr
    assert "give --output FOLDER to keep finished games" in ran.stderr


def test_a_wide_cell_in_a_later_part_of_the_matrix_is_not_folded() -> None:
    width = 77
    names = ["a much longer name than fits", *map(str, range(7))]
    agents = ["random"] * len(names)
    game = catbox_env.make_game("petrify_v0")
    result = catbox_agents.run_arena(game, agents, 10, names=names)
    wide = [[*row[:-1], Estimate(-100.25, -110.5, -90.0)] for row in result._matrix]
    console = Console(width=width, file=StringIO())
    for table in terminal_tables(replace(result, _matrix=wide), width):
        console.print(table)
    shown = console.file.getvalue()
    assert shown.count(" -100.25 ± 10.25") == len(names) - 1
    matrix, _, ratings = shown.partition("rating")
    rows = re.findall(
        r"^(\d) +[-+0]", matrix.partition("Margins")[2], re.M
    )  # several parts, each with all agents
    assert rows == list(map(str, range(1, len(names) + 1))) * (len(rows) // len(names))
    # A table that fits names its agents.
    assert all(re.search(rf"^{name} +[-+]?\d", ratings, re.M) for name in names)


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("width", "told"), [("0.0001", True), ("100", False)])
def test_intervals_that_stay_too_wide_are_told(width: str, told: bool) -> None:
    ran = run("arena", "random", "heuristic", "--players", "3", "--deals", "10", "--until-ci", width)
    assert ran.exit_code == 0
    assert ("After 10 deals the widest interval is ± " in ran.stdout) == told


@pytest.mark.parametrize(
    ("missing", "command", "extra"),
    [
        ("choix", ["arena", "random", "heuristic"], "arena"),
        ("ray", ["arena", "random", "heuristic", "--ray-address", "auto"], "ray"),
        ("ray", ["train", "--workers-on-ray", "2", "--output", "run"], "ray"),
        ("starlette", ["web"], "web"),
        ("pyvips", ["replay", "game.jsonl", "--gif", "game.gif"], "render"),
    ],
)
def test_a_missing_extra_is_named(
    missing: str, command: list[str], extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == missing else find(name, *more)
    )
    assert f"pip install -e '.[{extra}]'" in refused(*command)
    assert list(tmp_path.iterdir()) == []
