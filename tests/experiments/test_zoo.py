"""The zoo and the leaderboard are made by commands, and their pages come from the results alone."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

import catbox_agents
from catbox_agents import zoo
from catbox_env import make_game
from catbox_train import load_config
from experiments import leaderboard as leaderboard_module
from experiments import zoo as zoo_module
from experiments.__main__ import main
from experiments.leaderboard import read_parts
from experiments.zoo import read_training, zoo_configs
from experiments.zoo_pages import check_pages, command

SETTINGS = """\
petrify-small:
  game: petrify_v0
  game_options: {size: 3, walls: 3, wildcards: 6}
  total_decisions: 256
  batch_size: 128
  num_envs: 16
  workers: 1
  minibatch_size: 64
  hidden: [8]
  evaluate_deals: 10
  final_deals: 10
"""
PARTS = """\
- {name: all, title: All, rules: [petrify-small], agents: [zoo, heuristic, "pimc:samples=1,policy=zoo"], deals: 10}
"""


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of settings, and a zoo without agents."""
    (tmp_path / "zoo.yaml").write_text(SETTINGS)
    (tmp_path / "leaderboard.yaml").write_text(PARTS)
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / zoo.INDEX).write_text(json.dumps({"format": zoo.FORMAT, "agents": {}}))
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "zoo")
    monkeypatch.setattr(zoo_module, "ZOO_FILE", tmp_path / "zoo.yaml")
    monkeypatch.setattr(leaderboard_module, "LEADERBOARD_FILE", tmp_path / "leaderboard.yaml")
    monkeypatch.setattr(
        leaderboard_module, "physical_cores", lambda: None
    )  # others know the zoo of catbox alone
    return tmp_path


def run(workplace: Path, *arguments: str) -> int:
    folders = ["--results", str(workplace / "results")]
    if arguments[0] != "report":
        folders += ["--runs", str(workplace / "runs" / arguments[0])]
    return main([*arguments, *folders])


def test_the_zoo_is_trained_played_and_described(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(workplace, "zoo") == 0
    training = read_training("petrify-small", workplace / "results")
    assert training.decisions == 256
    assert training.config["hidden"] == [8]
    assert abs(training.half_precision[0]) < 0.5
    game = make_game("petrify_v0", size=3, walls=3, wildcards=6)
    assert [agent.spec for agent in zoo.zoo_agents(game)] == ["zoo:petrify-small"]
    assert zoo.zoo_agents()[0].path.stat().st_size < 10_000

    assert run(workplace, "leaderboard") == 0
    page = workplace / "docs" / "experiments.md"
    studies = ["--studies", str(workplace / "studies"), "--page", str(page)]
    (workplace / "studies").mkdir()
    assert run(workplace, "report", *studies) == 0
    text = page.with_name("leaderboard.md").read_text()
    result = json.loads((workplace / "results" / "leaderboard" / "all-petrify-small.json").read_text())
    margin = next(
        row["margin"] for row in result["matrix"] if (row["agent"], row["field"]) == ("zoo", "heuristic")
    )
    assert f"{margin:+.2f} ± " in text
    assert result["deal_set"] == "test"
    card = zoo.zoo_agents()[0].card.read_text()
    assert card.startswith("# petrify-small\n")
    assert f"{margin:+.2f} ± " in card
    assert "| decisions | 256 |" in card
    assert run(workplace, "report", *studies, "--check") == 0
    zoo.zoo_agents()[0].card.write_text(card.replace("256", "512"))
    assert check_pages(workplace / "results", page.with_name("leaderboard.md")) == [zoo.zoo_agents()[0].card]
    capsys.readouterr()

    # Again: what is finished is left as it is; other settings are refused.
    results = {path: path.read_bytes() for path in (workplace / "results").rglob("*.json")}
    digest = zoo.zoo_agents()[0].sha256
    assert len(results) == 2
    for path in results:  # as if another commit had made them
        path.write_bytes(re.sub(rb'"commit": "[^"]*"', b'"commit": "0"', path.read_bytes()))
    assert run(workplace, "zoo", "petrify-small") == run(workplace, "leaderboard") == 0
    assert zoo.zoo_agents()[0].sha256 == digest
    assert all(b'"commit": "0"' in path.read_bytes() for path in results)
    for part, remedy in (
        ("zoo/petrify-small", "zoo petrify-small"),
        ("leaderboard/all-petrify-small", "leaderboard all/"),
    ):
        file = workplace / "results" / f"{part}.json"
        kept = file.read_bytes()
        file.write_bytes(kept.replace(digest.encode(), b"0" * 64))
        assert run(workplace, "report", *studies) == 1
        assert f"run  python -m experiments {remedy}" in capsys.readouterr().err
        file.write_bytes(kept)
    (workplace / "zoo.yaml").write_text(SETTINGS.replace("[8]", "[9]"))
    assert run(workplace, "zoo") == 1
    assert (
        "was made with other settings than zoo.yaml has now (hidden: [8] -> [9])" in capsys.readouterr().err
    )


def test_unknown_names_are_refused(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(workplace, "zoo", "petrify-smal") == 1
    assert "unknown agent of the zoo 'petrify-smal'; did you mean 'petrify-small'?" in capsys.readouterr().err
    assert run(workplace, "leaderboard", "al") == 1
    assert "no arena 'al' in leaderboard.yaml; did you mean 'all'" in capsys.readouterr().err
    (workplace / "zoo.yaml").write_text(SETTINGS.replace("hidden", "hiden"))
    assert run(workplace, "zoo") == 1
    assert "agent 'petrify-small' of the zoo: " in capsys.readouterr().err


def test_rules_without_an_agent_are_named_before_anything_is_played(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workplace / "leaderboard.yaml").write_text(
        PARTS.replace("[petrify-small]", "[petrify-small, petrify-large]").replace("name: all", "name: some")
        + PARTS
    )
    assert run(workplace, "leaderboard") == 1
    expected = (
        "experiments: the zoo has no agent for petrify-small, petrify-large: train them first, with "
        "`python -m experiments zoo petrify-small petrify-large`"
    )
    assert expected in capsys.readouterr().err
    assert not (workplace / "runs").exists()


def test_every_agent_of_the_zoo_has_its_own_rules_and_an_arena() -> None:
    configs = zoo_configs()
    games = [(config.game, str(config.make_game().options)) for config in configs.values()]
    assert len(set(games)) == len(games) == 16
    everybody = read_parts()[0]
    assert everybody.rules == list(configs)
    assert sorted(agent.name for agent in zoo.zoo_agents()) == sorted(configs)
    for part in read_parts():
        for agent in part.specs("petrify-4x4"):
            catbox_agents.specs.check_spec(agent.replace("zoo:petrify-4x4", "random"))


def test_the_command_of_a_card() -> None:
    settings = {
        "preset": "standard",
        "game": "cat_te_v0",
        "game_options": {"num_players": 3, "region": "khmer"},
    }
    expected = "catbox train --preset standard --game cat_te_v0 --players 3 --set game_options.region=khmer"
    assert command(settings) == expected
    settings = {"preset": "standard", "opponents_in_training": {"random": "0.1", "heuristic": "0.6"}}
    expected = "catbox train --preset standard --set 'opponents_in_training={random: 0.1, heuristic: 0.6}'"
    assert command(settings) == expected
    name, _, value = shlex.split(expected)[-1].partition("=")
    config = load_config(preset="standard", overrides={name: value})
    assert config.algorithm_options.opponents_in_training == {"random": 0.1, "heuristic": 0.6}  # type: ignore[attr-defined]
