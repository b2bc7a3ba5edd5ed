"""The zoo and the leaderboard are made by commands, and their pages come from the results alone."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

import catbox_agents
from catbox_agents import zoo
from catbox_env import make_game
from catbox_train import load_config
from docs.generators.leaderboard import TITLES, Board, _with_the_best, command, leaderboard_pages, zoo_table
from docs.generators.studies import outdated_pages
from experiments import leaderboard
from experiments.leaderboard import read_parts
from experiments.results import Folders
from experiments.zoo import read_training, zoo_settings
from tests.experiments.small_studies import Workplace

SETTINGS = """\
petrify-small:
  game: petrify_v0
  game_options: {size: 3, walls: 3, wildcards: 6}
  total_decisions: 256
  games_per_update: 8
  workers: 1
  minibatch_size: 64
  hidden: [8]
  evaluate_deals: 10
  final_deals: 10
"""
PARTS = """\
- {name: all, title: All, rules: [petrify-small], agents: [zoo, heuristic, "pimc:samples=1,policy=zoo"], deals: 10}
- name: rivals
  title: Rivals
  rules: [petrify-small]
  options: {reward: score}
  agents: [zoo, heuristic, random]
  deals: 10
  page: zoo
"""


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """Files of settings, and a zoo without agents."""
    workplace = Workplace(tmp_path)
    (workplace.folders.own / "zoo.yaml").write_text(SETTINGS)
    (workplace.folders.own / "leaderboard.yaml").write_text(PARTS)
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / zoo.INDEX).write_text(json.dumps({"format": zoo.FORMAT, "agents": {}}))
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "zoo")
    # Other processes know the zoo of catbox alone.
    monkeypatch.setattr(leaderboard, "physical_cores", lambda: None)
    return workplace


def plain(page: str) -> str:
    """A page without bold type and with plain spaces within its numbers."""
    return page.replace("**", "").replace("\xa0", " ").replace("\u2212", "-")


@pytest.mark.slow
def test_the_zoo_is_trained_played_and_described(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workplace.run("zoo") == 0
    training = read_training("petrify-small", workplace.folders)
    assert 256 <= training.decisions < 300  # whole games
    assert training.config["hidden"] == [8]
    assert abs(training.half_precision[0]) < 0.5
    game = make_game("petrify_v0", size=3, walls=3, wildcards=6)
    assert [agent.spec for agent in zoo.zoo_agents(game)] == ["zoo:petrify-small"]
    assert zoo.zoo_agents()[0].path.stat().st_size < 10_000

    assert workplace.run("leaderboard") == 0
    _check_table_of_the_page_of_the_zoo(workplace)
    assert workplace.report() == 0
    overview = plain(workplace.page.with_name("leaderboard.md").read_text())
    details = plain(workplace.page.with_name("leaderboard_petrify.md").read_text())
    result = json.loads((workplace.results / "leaderboard" / "all-petrify-small.json").read_text())
    margin = next(
        row["margin"] for row in result["matrix"] if (row["agent"], row["field"]) == ("zoo", "heuristic")
    )
    assert "| table | trained agent | pimc:samples=1 |" in overview
    assert f"| Petrify, small | {margin:+.2f} ± " in overview
    assert "[Petrify](leaderboard_petrify.md)" in overview
    played = "10 deals a table, played by `zoo`, `heuristic`, `pimc:samples=1,policy=zoo`."
    _, _, table = details.partition(f"## All\n\n{played}\n\n### Small\n\n")
    header, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line
    )
    names = header[1:-2]
    assert sorted(names) == ["heuristic", "pimc:samples=1", "trained agent"]
    assert [row[0] for row in rows] == names
    ratings = [float(row[-2].split()[0]) for row in rows]
    assert ratings == sorted(ratings, reverse=True)
    trained = rows[names.index("trained agent")][1:]
    assert trained[names.index("trained agent")] == "0"
    assert trained[names.index("heuristic")].startswith(f"{margin:+.2f} ± ")
    assert result["deal_set"] == "test"
    card = zoo.zoo_agents()[0].card.read_text()
    front, _, text = card.removeprefix("---\n").partition("\n---\n")
    assert text.startswith("# petrify-small\n")
    hub = yaml.safe_load(front)
    assert (hub["license"], hub["library_name"], hub["tags"][-1]) == ("mit", "catbox", "petrify_v0")
    (found,) = hub["model-index"][0]["results"]
    assert found["metrics"][0]["value"].startswith(f"{margin:+.2f} ± ")
    assert f"{margin:+.2f} ± " in card
    assert f"| decisions | {training.decisions} |" in card
    assert workplace.report("--check") == 0
    zoo.zoo_agents()[0].card.write_text(card.replace(f"| {training.decisions} |", "| 512 |"))
    assert outdated_pages(workplace.folders) == [zoo.zoo_agents()[0].card]
    capsys.readouterr()

    # Again, as in a fresh clone: what is finished is left as it is; other settings are refused.
    shutil.rmtree(workplace.folders.runs / "leaderboard")
    results = {path: path.read_bytes() for path in workplace.results.rglob("*.json")}
    digest = zoo.zoo_agents()[0].sha256
    assert len(results) == 3
    for path in results:  # as if another commit had made them
        path.write_bytes(re.sub(rb'"commit": "[^"]*"', b'"commit": "0"', path.read_bytes()))
    assert workplace.run("zoo", "petrify-small") == workplace.run("leaderboard") == 0
    assert not (workplace.folders.runs / "leaderboard").exists()
    assert zoo.zoo_agents()[0].sha256 == digest
    assert all(b'"commit": "0"' in path.read_bytes() for path in results)
    for part, remedy in (
        ("zoo/petrify-small", "zoo petrify-small"),
        ("leaderboard/all-petrify-small", "leaderboard all/"),
    ):
        file = workplace.results / f"{part}.json"
        kept = file.read_bytes()
        file.write_bytes(kept.replace(digest.encode(), b"0" * 64))
        assert workplace.report() == 1
        assert f"run  python -m experiments {remedy}" in capsys.readouterr().err
        file.write_bytes(kept)
    (workplace.folders.own / "zoo.yaml").write_text(SETTINGS.replace("[8]", "[9]"))
    assert workplace.run("zoo") == 1
    assert "with other settings than the file has now (hidden: [8] -> [9])" in capsys.readouterr().err


def _check_table_of_the_page_of_the_zoo(workplace: Workplace) -> None:
    """Its cells are those of the arena, and the part has no section in the leaderboard."""
    file = workplace.results / "leaderboard" / "rivals-petrify-small.json"
    result = json.loads(file.read_text())
    assert result["options"]["reward"] == "score"
    table = zoo_table("rivals", ["zoo", "heuristic"], workplace.folders)
    header, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in plain(table).splitlines()
    )
    assert header == ["", "one agent", "among `zoo`", "among `heuristic`", "among `random`", "won"]
    assert [row[:2] for row in rows] == [
        ["Small", "`zoo`"], ["", "`heuristic`"], ["", "`zoo` minus `heuristic`"]
    ]  # fmt: skip
    margins = {(row["agent"], row["field"]): row["margin"] for row in result["matrix"]}
    scores = {
        (row["agent"], row["field"]): next(
            one["score"] for one in row["standings"] if one["name"] == row["agent"]
        )
        for row in result["tables"]
    }
    assert scores["zoo", "random"] != scores["random", "zoo"]
    for row, agent in zip(rows, ("zoo", "heuristic"), strict=False):
        for cell, field in zip(row[2:], result["agents"], strict=False):
            assert cell.endswith(f" ({scores[agent, field]:.2f})")
            if agent != field:
                assert cell.startswith(f"{margins[agent, field]:+.2f} ± ")
    among_zoo, among_heuristics, among_random = (float(cell.split()[0]) for cell in rows[2][2:5])
    assert among_zoo == pytest.approx(-margins["heuristic", "zoo"], abs=0.006)
    assert among_heuristics == pytest.approx(margins["zoo", "heuristic"], abs=0.006)
    assert among_random == pytest.approx(margins["zoo", "random"] - margins["heuristic", "random"], abs=0.011)
    pages = leaderboard_pages(workplace.folders)
    assert not any("Rivals" in page for page in pages.values()), "it belongs to docs/zoo.md"
    with pytest.raises(ValueError, match="part 'rival' of the leaderboard: expected one of all, rivals"):
        zoo_table("rival", ["zoo"], workplace.folders)


def test_unknown_names_are_refused(workplace: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    for words, name, near in (
        ("zoo", "petrify-smal", "petrify-small"),
        ("leaderboard", "al", "all"),
        ("run", "smal", "small"),
    ):
        assert workplace.run(words, name) == 1
        assert f"unknown name '{name}'; did you mean '{near}'" in capsys.readouterr().err
    (workplace.folders.own / "zoo.yaml").write_text(SETTINGS.replace("hidden", "hiden"))
    assert workplace.run("zoo") == 1
    assert "agent 'petrify-small' of the zoo: " in capsys.readouterr().err


def test_rules_without_an_agent_are_named_before_anything_is_played(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workplace.run("leaderboard") == 1
    assert "there is no agent 'petrify-small' in the zoo" in capsys.readouterr().err
    assert not workplace.folders.runs.exists()


def test_every_agent_of_the_zoo_has_its_own_rules_and_an_arena() -> None:
    configs = list(zoo_settings(Folders()))
    games = [(agent.game_id, str(agent.game.options)) for agent in zoo.zoo_agents()]
    assert len(set(games)) == len(games) == len(configs) == 16
    parts = read_parts(Folders())
    assert parts[0].rules == configs
    assert sorted(agent.name for agent in zoo.zoo_agents()) == sorted(configs)
    for part in parts:
        for agent in part.specs("petrify-4x4", Folders()):
            catbox_agents.specs.check_spec(agent.replace("zoo:petrify-4x4", "random"))


def test_the_overview_has_every_table_with_the_agents_of_the_first_arena() -> None:
    text = plain(leaderboard_pages(Folders())[Folders().docs / "leaderboard.md"])
    header, _, *rows = (line.strip("|").split("|") for line in text.splitlines() if line.startswith("|"))
    assert [row[0].strip() for row in rows][:2] == ["Cat in the Box, 2 players", "Cat in the Box, 3 players"]
    assert len(rows) == len(zoo_settings(Folders()))
    fast = "search:fast,policy=zoo,opponent_model=heuristic"
    for agent, part in {"zoo": "all", "random": "all", fast: "fast"}.items():
        file = Folders().results / "leaderboard" / f"{part}-cat_in_the_box-2p.json"
        margin = next(
            row["margin"]
            for row in json.loads(file.read_text())["matrix"]
            if (row["agent"], row["field"]) == (agent, "heuristic")
        )
        title = TITLES.get(agent.partition(",")[0], agent)
        assert rows[0][header.index(f" {title} ")].startswith(f" {margin:+.2f} ± ")


def test_bold_are_the_best_and_those_not_certainly_worse_on_the_same_deals(tmp_path: Path) -> None:
    def board(agents: dict[str, float], differences: dict[tuple[str, str], tuple[float, float]]) -> Board:
        row = {"field": "heuristic", "margin": 0.0, "low": -1.0, "high": 1.0}
        content = {
            "agents": [*agents, "heuristic"],
            "summaries": [],
            "tables": [],
            "matrix": [row | {"agent": agent, "margin": margin} for agent, margin in agents.items()],
            "differences": [
                row | {"agent": one, "other": other, "low": low, "high": high}
                for (one, other), (low, high) in differences.items()
            ],
        }
        (tmp_path / "board.json").write_text(json.dumps(content))
        return Board(tmp_path / "board.json")

    many = board({"zoo": 1.0, "random": -3.0}, {("zoo", "random"): (3.9, 4.1)})
    few = board(
        {"zoo": 1.1, "search": 1.2, "pimc": 1.15},
        {("zoo", "search"): (-0.3, 0.1), ("search", "pimc"): (0.01, 0.09), ("zoo", "pimc"): (-0.2, 0.1)},
    )
    cells = _with_the_best([many, few], ["zoo", "search", "pimc", "ismcts", "random"])
    assert [plain(cell) for cell in cells] == [
        "+1.00 ± 1.00",
        "+1.20 ± 1.00",
        "+1.15 ± 1.00",
        "\u2013",
        "-3.00 ± 1.00",
    ]
    assert [cell.startswith("**") for cell in cells] == [True, True, False, False, False]
    assert not any("**" in cell for cell in _with_the_best([many], ["zoo", "random"]))
    again = board({"zoo": 1.1, "search": 1.2}, {("zoo", "search"): (-0.3, -0.1)})
    assert "**" not in _with_the_best([few, again], ["zoo"])[0], "in one of two arenas it is certainly worse"
    assert _with_the_best([], ["zoo"]) == ["\u2013"]


def test_the_command_of_a_card() -> None:
    settings = {
        "preset": "standard",
        "game": "cat_te_v0",
        "game_options": {"num_players": 3, "region": "khmer"},
    }
    expected = "catbox train --preset standard --game cat_te_v0 --players 3 --set game_options.region=khmer"
    assert command(settings) == expected
    settings = {"preset": "standard", "opponents": {"random": "0.1", "heuristic": "0.6"}}
    expected = "catbox train --preset standard --set 'opponents={random: 0.1, heuristic: 0.6}'"
    assert command(settings) == expected
    name, _, value = shlex.split(expected)[-1].partition("=")
    config = load_config(preset="standard", overrides={name: yaml.safe_load(value)})
    assert config.opponents == {"random": 0.1, "heuristic": 0.6}  # type: ignore[attr-defined]
