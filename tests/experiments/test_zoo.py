"""The agents of the zoo are made and measured by a command, and their cards come from the results alone."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

import catbox_agents
from catbox_agents import zoo
from catbox_env import make_game
from catbox_train import load_config
from docs.generators.cards import command
from docs.generators.files import outdated_files
from docs.generators.leaderboard import leaderboard_table, margins_in_short
from experiments import zoo as zoo_experiments
from experiments.results import Folders
from experiments.study import checked_config
from experiments.zoo import ZOO, read_training, zoo_settings
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


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """Files of settings, and a zoo without agents."""
    workplace = Workplace(tmp_path)
    (workplace.folders.own / "zoo.yaml").write_text(SETTINGS)
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / zoo.INDEX).write_text(json.dumps({"format": zoo.FORMAT, "agents": {}}))
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "zoo")
    # Other processes know the zoo of catbox alone.
    monkeypatch.setattr(zoo_experiments, "physical_cores", lambda: None)
    monkeypatch.setattr(zoo_experiments, "REPORT_DEALS", 20)
    return workplace


@pytest.mark.slow
def test_the_zoo_is_trained_measured_and_described(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workplace.run("zoo") == 0
    training = read_training("petrify-small", workplace.folders)
    assert training is not None
    assert 256 <= training.decisions < 300  # whole games
    assert training.config["hidden"] == [8]
    assert abs(training.half_precision[0]) < 0.5
    game = make_game("petrify_v0", size=3, walls=3, wildcards=6)
    assert [agent.spec for agent in zoo.zoo_agents(game)] == ["zoo:petrify-small"]
    (agent,) = zoo.zoo_agents()
    assert agent.path.stat().st_size < 10_000

    again = catbox_agents.run_arena(
        agent.game,
        [agent.spec, "heuristic", "random"],
        20,
        deal_set="report",
        names=[ZOO, "heuristic", "random"],
    )
    assert {(row["agent"], row["field"]): row["margin"] for row in again.as_dict()["matrix"]} == {
        (row.agent, row.field): row.margin for row in training.report.margins
    }
    margin = str(training.margin(ZOO, "heuristic"))

    assert workplace.report() == 0
    card = agent.card.read_text()
    front, _, text = card.removeprefix("---\n").partition("\n---\n")
    assert text.startswith("# petrify-small\n")
    hub = yaml.safe_load(front)
    assert (hub["license"], hub["library_name"], hub["tags"][-1]) == ("mit", "catbox", "petrify_v0")
    (found,) = hub["model-index"][0]["results"]
    assert found["metrics"][0]["value"] == margin
    assert f"| `zoo` | 0 | {margin} |" in text
    assert f"| decisions | {training.decisions} |" in card
    assert workplace.report("--check") == 0
    agent.card.write_text(card.replace(f"| {training.decisions} |", "| 512 |"))
    assert outdated_files(workplace.folders) == [agent.card]
    capsys.readouterr()

    # Again, as in a fresh clone: what is finished is left as it is; what lacks a report is measured alone.
    file = workplace.results / "zoo" / "petrify-small.json"
    made = re.sub(rb'"commit": "[^"]*"', b'"commit": "0"', file.read_bytes())
    file.write_bytes(made)
    (workplace.folders.runs / "zoo").rename(workplace.root / "elsewhere")
    assert workplace.run("zoo", "petrify-small") == 0
    assert file.read_bytes() == made
    assert not (workplace.folders.runs / "zoo").exists()
    file.write_text(json.dumps({**json.loads(made), "report": None}))
    assert workplace.run("zoo") == 0
    assert read_training("petrify-small", workplace.folders).report.margins == training.report.margins
    digest = agent.sha256
    file.write_bytes(made.replace(digest.encode(), b"0" * 64))
    assert workplace.report() == 1
    assert "run  python -m experiments zoo petrify-small" in capsys.readouterr().err
    file.write_bytes(made)
    (workplace.root / "elsewhere").rename(workplace.folders.runs / "zoo")
    (workplace.folders.own / "zoo.yaml").write_text(SETTINGS.replace("[8]", "[9]"))
    assert workplace.run("zoo") == 1
    assert "with other settings than the file has now (hidden: [8] -> [9])" in capsys.readouterr().err


def test_unknown_names_are_refused(workplace: Workplace, capsys: pytest.CaptureFixture[str]) -> None:
    for words, name, near in (("zoo", "petrify-smal", "petrify-small"), ("run", "smal", "small")):
        assert workplace.run(words, name) == 1
        assert f"unknown name '{name}'; did you mean '{near}'" in capsys.readouterr().err
    (workplace.folders.own / "zoo.yaml").write_text(SETTINGS.replace("hidden", "hiden"))
    assert workplace.run("zoo") == 1
    assert "agent 'petrify-small' of the zoo: " in capsys.readouterr().err


def test_every_agent_of_the_zoo_has_its_own_rules_and_a_report() -> None:
    settings = zoo_settings(Folders())
    games = [(agent.game_id, str(agent.game.options)) for agent in zoo.zoo_agents()]
    assert len(set(games)) == len(games) == len(settings)
    assert sorted(agent.name for agent in zoo.zoo_agents()) == sorted(settings)
    for name in settings:
        training = read_training(name, Folders())
        assert training is not None
        assert training.report is not None, name
        assert training.report.deal_set == "report", "not the deals by which agents were chosen"
    _, figures = margins_in_short(Folders())
    assert [figure.partition(":")[0] for figure in figures.split("<br>")] == [
        f"{n}\u00a0players" for n in (2, 3, 4, 5)
    ]


@pytest.mark.parametrize("suite", ["cat_in_the_box", "cat_te", "petrify"])
def test_the_leaderboard_is_that_of_the_submissions(suite: str) -> None:
    board, scenarios = leaderboard_table(suite, Folders()).split("<details markdown>")
    lines = [line for line in board.splitlines() if line.startswith("|")]
    assert lines[0].startswith("|agent|all|")
    assert any(line.startswith("|random|\u2212") for line in lines)
    assert "outdated" not in board
    tables = lines[0].partition("|worst|")[0].split("|")[3:]
    assert f"|zoo|{'|'.join(tables)}|" in scenarios
    assert re.search(
        r"\n\|among \[heuristic\]\(benchmark\.md#opponents\)\|\+\d+\u00a0\u00b1\u00a0\d+\|", scenarios
    )
    totals = [line.split("|")[2] for line in lines[2:]]
    of_all = [total for total in totals if total]
    assert totals[: len(of_all)] == of_all, "rows of single tables come last"
    scores = [float(total.split()[0].replace("\u2212", "-")) for total in of_all]
    assert scores == sorted(scores, reverse=True)


def test_a_suite_without_submissions_is_named(workplace: Workplace) -> None:
    with pytest.raises(ValueError, match="no submission to 'petrify'"):
        leaderboard_table("petrify", workplace.folders)


@pytest.mark.parametrize("name", zoo_settings(Folders()))
def test_every_recipe_is_one_that_can_be_trained_today(name: str) -> None:
    settings = zoo_settings(Folders())[name]
    made = checked_config(name, settings).make_game()
    assert made.options | {"reward": ""} == zoo.zoo_agent(f"zoo:{name}").options | {"reward": ""}


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
