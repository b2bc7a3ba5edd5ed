"""The zoo and the leaderboard are made by commands, and their pages come from the results alone."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import catbox_agents
from catbox_agents import zoo
from catbox_agents.arena.results import Estimate
from catbox_agents.system import machine
from catbox_app.cli import app
from catbox_env import make_game
from catbox_train import load_config
from docs.generators.cards import command
from docs.generators.figures import Picture
from docs.generators.leaderboard import (
    Board,
    _commands,
    _heat_maps_of_the_zoo,
    among_heuristics,
    arena_command,
    boards,
    leaderboard_pages,
    margin_in_short,
    zoo_table,
)
from docs.generators.studies import outdated_pages
from experiments import leaderboard
from experiments.leaderboard import Part, read_parts
from experiments.results import Folders
from experiments.study import checked_config
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
    for module in (leaderboard, machine):
        monkeypatch.setattr(module, "physical_cores", lambda: None)
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
    _check_pictures_of_the_page_of_the_zoo(workplace)
    assert workplace.report() == 0
    overview = plain(workplace.page.with_name("leaderboard.md").read_text())
    details = plain(workplace.page.with_name("leaderboard_petrify.md").read_text())
    result = json.loads((workplace.results / "leaderboard" / "all-petrify-small.json").read_text())
    margin = next(
        row["margin"] for row in result["matrix"] if (row["agent"], row["field"]) == ("zoo", "heuristic")
    )
    assert "## Petrify\n" in overview
    assert "](leaderboard_petrify.md)" in overview
    assert "| `all/petrify-small` |" in overview, "the numbers, and what plays them"
    assert 'srcset="pictures/leaderboard-petrify-narrow.svg"' in overview
    assert "Not played yet" not in overview
    assert "## All\n\n10 deals per table. Milliseconds per move: trained agent " in details
    assert f"![Small: trained agent among heuristics {margin:+.2f} ± " in details
    assert "](pictures/leaderboard-all-petrify-small.svg)" in details
    drawn = workplace.page.parent / "pictures"
    names = {
        "leaderboard-petrify",
        "leaderboard-petrify-narrow",
        "leaderboard-all-petrify-small",
        "leaderboard-rivals",
        "leaderboard-rivals-difference",
    }
    assert {file.stem for file in drawn.iterdir()} == names
    svg = plain((drawn / "leaderboard-all-petrify-small.svg").read_text())
    for name in ("trained agent", "heuristic", "pimc:samples=1", "rating", f"{margin:+.2f}"):
        assert f">{name}</text>" in svg
    (line,) = re.findall("^catbox (arena .*)$", details.replace("\\\n", ""), re.MULTILINE)
    _check_that_the_command_gives_it_again(line, result, workplace.root / "again")
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


def _check_that_the_command_gives_it_again(line: str, result: dict[str, Any], folder: Path) -> None:
    """The margins and the ratings: exactly."""
    words = [*shlex.split(line), "--output", str(folder)]
    played = CliRunner().invoke(app, words)
    assert played.exit_code == 0, played.output
    again = json.loads((folder / "results.json").read_text())
    assert again["matrix"] == result["matrix"]
    ratings, expected = ([row["rating"] for row in found["summaries"]] for found in (again, result))
    assert ratings == expected


def _check_pictures_of_the_page_of_the_zoo(workplace: Workplace) -> None:
    """Their cells are those of the arena, and the part has no section in the leaderboard."""
    result = json.loads((workplace.results / "leaderboard" / "rivals-petrify-small.json").read_text())
    assert result["options"]["reward"] == "score"
    shown = zoo_table("rivals", workplace.folders)
    assert "](pictures/leaderboard-rivals.svg)\n![" in shown
    assert "](pictures/leaderboard-rivals-difference.svg)\n" in shown
    assert "--rule reward=score --deals 10 --deal-set test" in shown
    margins = {(row["agent"], row["field"]): row["margin"] for row in result["matrix"]}
    (part, played) = boards(workplace.folders)[1]
    alone, more = _heat_maps_of_the_zoo(part, played).values()
    assert (alone.rows, alone.columns) == (["Small"], ["trained agent", "heuristic", "random"])
    own, among_heuristics, among_random = alone.margins[0]
    assert own is None
    assert among_heuristics is not None
    assert among_heuristics.mean == margins["zoo", "heuristic"]
    assert among_random is not None
    assert among_random.mean == margins["zoo", "random"]
    found = [one.mean for one in more.margins[0] if one is not None]
    random = margins["zoo", "random"] - margins["heuristic", "random"]
    assert found == pytest.approx([-margins["heuristic", "zoo"], margins["zoo", "heuristic"], random])
    pages = leaderboard_pages(workplace.folders)
    assert not any("Rivals" in page for page in pages.values() if isinstance(page, str)), (
        "it belongs to docs/zoo.md"
    )
    with pytest.raises(ValueError, match="part 'rival' of the leaderboard: expected one of all, rivals"):
        zoo_table("rival", workplace.folders)


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
    assert "unknown agent 'petrify-small' of the zoo" in capsys.readouterr().err
    assert not workplace.folders.runs.exists()


def test_every_agent_of_the_zoo_has_its_own_rules_and_an_arena() -> None:
    configs = list(zoo_settings(Folders()))
    games = [(agent.game_id, str(agent.game.options)) for agent in zoo.zoo_agents()]
    assert len(set(games)) == len(games) == len(configs)
    parts = read_parts(Folders())
    assert parts[0].rules == configs
    assert sorted(agent.name for agent in zoo.zoo_agents()) == sorted(configs)
    for part in parts:
        for agent in part.specs("petrify-4x4", Folders()):
            catbox_agents.specs.parse_spec(agent.replace("zoo:petrify-4x4", "random"))


@pytest.mark.parametrize("name", zoo_settings(Folders()))
def test_every_recipe_is_one_that_can_be_trained_today(name: str) -> None:
    settings = zoo_settings(Folders())[name]
    made = checked_config(name, settings).make_game()
    assert made.options | {"reward": ""} == zoo.zoo_agent(f"zoo:{name}").options | {"reward": ""}


def made_board(
    folder: Path,
    agents: Mapping[str, float],
    differences: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    **more: Any,
) -> Board:
    """A result of ``agents`` among heuristics: their margins, ± 1, and intervals of differences."""
    row = {"field": "heuristic", "margin": 0.0, "low": -1.0, "high": 1.0}
    content = {
        "agents": [*agents, "heuristic"],
        "summaries": [],
        "tables": [],
        "matrix": [
            row | {"agent": agent, "margin": margin, "low": margin - 1, "high": margin + 1}
            for agent, margin in agents.items()
        ],
        "differences": [
            row | {"agent": one, "other": other, "low": low, "high": high}
            for (one, other), (low, high) in (differences or {}).items()
        ],
        **more,
    }
    (folder / "board.json").write_text(json.dumps(content))
    return Board(folder / "board.json")


def test_best_are_those_not_certainly_worse_on_the_same_deals(tmp_path: Path) -> None:
    many = made_board(tmp_path, {"zoo": 2.0, "random": -3.0}, {("zoo", "random"): (3.9, 4.1)})
    few = made_board(
        tmp_path,
        {"zoo": 2.1, "search": 2.2, "pimc": 2.15, "ismcts": 0.9},
        {
            ("zoo", "search"): (-0.3, 0.1),
            ("search", "pimc"): (0.01, 0.09),
            ("zoo", "pimc"): (-0.2, 0.1),
            ("search", "ismcts"): (1.0, 1.5),
        },
    )
    found = among_heuristics([many, few])
    assert {agent: (margin.mean, kind) for agent, (margin, kind) in found.items()} == {
        "zoo": (2.0, "best"),
        "search": (2.2, "best"),
        "pimc": (2.15, "better"),
        "ismcts": (0.9, "unclear"),
        "random": (-3.0, "worse"),
    }
    again = made_board(tmp_path, {"zoo": 2.1, "search": 2.2}, {("zoo", "search"): (-0.3, -0.1)})
    assert among_heuristics([few, again])["zoo"][1] == "better", "in one of two arenas it is certainly worse"
    assert among_heuristics([]) == {}


def test_names_of_tables_and_their_commands(tmp_path: Path) -> None:
    agents = ["zoo", "previous_edition", "heuristic"]
    part = Part(name="rivals", title="Rivals", rules=["x"], agents=agents, deals=2000)
    for rules, game, options, table, words in (
        ("cat_in_the_box-4p", "cat_in_the_box_v0", {"num_players": 4}, "4 players", "--players 4"),
        (
            "cat_in_the_box-3p-7ranks",
            "cat_in_the_box_v0",
            {"num_players": 3, "num_ranks": 7},
            "3 players, 7 ranks",
            "--players 3 --rule num_ranks=7 --rule hand_size=11",
        ),
        (
            "cat_te-5p-khmer",
            "cat_te_v0",
            {"num_players": 5, "region": "khmer"},
            "5 players, Khmer",
            "--game cat_te_v0 --players 5 --rule region=khmer",
        ),
        ("petrify-4x4", "petrify_v0", {}, "2 players, 4 x 4 tiles", "--players 2 --game petrify_v0"),
    ):
        full = make_game(game, reward="margin", **options).options
        board = made_board(tmp_path, {"zoo": 1.0}, rules=rules, game=game, options=full)
        assert board.table == table
        previous = f"experiments/previous_edition/{rules}.safetensors"
        assert arena_command(part, board) == (
            f"catbox arena zoo {previous} heuristic {words} --deals 2000 --deal-set test --mixed"
        )


def test_results_of_a_former_edition_are_shown_until_others_are_played(tmp_path: Path) -> None:
    part = Part(name="rivals", title="Rivals", rules=["x"], agents=["zoo", "new", "heuristic"], deals=10)
    old = {"field": "heuristic", "low": 0.0, "high": 1.0, "margin": 0.5, "agent": "old", "other": "zoo"}
    three, four = (
        made_board(tmp_path, {"zoo": 2.0, name: 1.0}, rules=f"game-{players}p")
        for players, name in ((3, "old"), (4, "new"))
    )
    for board, name in ((three, "old"), (four, "new")):
        for pair in (("zoo", name), ("heuristic", name), (name, "zoo"), ("heuristic", "zoo")):
            board.margins[pair] = Estimate(0.3, 0.2, 0.4)
        board.content["differences"] = [old | {"agent": "zoo", "other": "heuristic", "field": name}]
    alone, more = _heat_maps_of_the_zoo(part, {"game-3p": three, "game-4p": four}).values()
    for drawn in (alone, more):
        assert drawn.columns == ["trained agent", "old", "heuristic", "new"]
        assert [[margin is None for margin in row][1:] for row in drawn.margins] == [
            [False, False, True],
            [True, False, False],
        ]
    assert _commands(part, [three, four]) == [
        "`python -m experiments leaderboard rivals` plays it again with the agents of today."
    ]


def test_what_has_not_been_played_is_named(workplace: Workplace) -> None:
    """Also of rules for which the zoo has no agent yet."""
    pages = leaderboard_pages(workplace.folders)
    assert [file.name for file in pages] == ["leaderboard.md"]
    page = pages[workplace.folders.docs / "leaderboard.md"]
    words = "`python -m experiments leaderboard all/petrify-small rivals/petrify-small`"
    assert f"Not played yet: {words}." in str(page)
    assert zoo_table("rivals", workplace.folders) == (
        "Not played yet: `python -m experiments leaderboard rivals`."
    )
    assert margin_in_short(workplace.folders)[1] == "not played yet"


def every_command(page: str) -> list[str]:
    """The commands of a page, those of its loops too."""
    text = re.sub(r" \\\n +", " ", page)
    loops = re.findall(r"^for n in ([\d ]+); do\n  (.*)\ndone$", text, re.MULTILINE)
    looped = [command.replace("${n}", number) for numbers, command in loops for number in numbers.split()]
    return [*re.findall(r"^catbox .*$", text, re.MULTILINE), *looped]


def test_the_overview_has_every_table_and_the_pages_every_command() -> None:
    pages = leaderboard_pages(Folders())
    docs = Folders().docs
    svgs = {}
    for game in ("cat_in_the_box", "cat_te", "petrify"):
        overview = pages[docs / "pictures" / f"leaderboard-{game}.svg"]
        assert isinstance(overview, Picture)
        svgs[f"{game}_v0"] = plain(overview.svg().decode())
    played = [(part, board) for part, arenas in boards(Folders()) for board in arenas.values()]
    for part, board in played:
        svg = svgs[board.content["game"]]
        if part.page == "leaderboard":
            name = board.content["game"].rpartition("_v")[0]
            page = str(pages[docs / f"leaderboard_{name}.md"])
            assert arena_command(part, board) in every_command(page)
            assert f"](pictures/leaderboard-{part.name}-{board.content['rules']}.svg)" in page
            assert f">{board.table}</text>" in svg
        if part.name == "all":
            assert f">{plain(str(board.margins['zoo', 'heuristic']))}</text>" in svg
    assert not any(">random</text>" in svg for svg in svgs.values())


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
