"""The help of the command line, what the shell completes, and how output fits a narrow terminal."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import catbox_env
from catbox_app import options, rules
from catbox_app.chosen_game import GameOptions
from catbox_app.cli import app
from catbox_app.options import complete_agent, with_game
from catbox_app.rules import rule_help
from catbox_env.core.registry import game_class


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "80"}, catch_exceptions=False)


@pytest.mark.parametrize(
    "command", ["train", "evaluate", "exploitability", "play", "watch", "web", "replay", "info"]
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    ran = run(command, "--help")
    assert ran.exit_code == 0
    assert f"catbox {command} " in ran.stdout


@pytest.mark.parametrize("command", ["train", "evaluate", "exploitability", "play", "watch", "info"])
def test_help_lists_every_rule_with_what_its_game_says_of_it(command: str) -> None:
    ran = run(command, "--help")
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert "…" not in ran.stdout
    for game_id in catbox_env.GAMES:
        rules_class = game_class(game_id).rules_class
        assert f"Rules of {game_id}" in ran.stdout
        names = [field.name for field in dataclasses.fields(rules_class)]
        assert sorted(rule_help(rules_class)) == sorted(names)
        for name in names:
            assert f"--{name.replace('_', '-')} " in ran.stdout
    assert "what may be bid, ascending" in " ".join(ran.stdout.replace("│", " ").split()).lower()


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("ev", "evaluate"),
        ("info --game cat_i", "cat_in_the_box_v0"),
        *(
            (f"{command} heu", "heuristic")
            for command in ("evaluate", "arena", "exploitability", "play", "watch")
        ),
        ("play easy zoo:petrify-4", "zoo:petrify-4x4"),
        ("watch search:f", "search:fast"),
        ("web --agent hard", "hard"),
        ("best-response --target har", "hard"),
        ("train --preset st", "standard strong"),
        ("best-response --preset q", "quick"),
        ("train --algo e", "exit"),
        ("train --device c", "cpu cuda"),
        ("arena --deal-set te", "test"),
        ("play --rounds m", "match"),
        ("watch --region k", "khmer"),
        ("info --move-rule up", "up_to"),
        ("play --start-player r", "random"),
        ("evaluate --instant-wins t", "true"),
    ],
)
def test_the_shell_completes(words: str, completed: str) -> None:
    asked = {
        "_CATBOX_COMPLETE": "complete_bash",
        "COMP_WORDS": f"catbox {words}",
        "COMP_CWORD": f"{words.count(' ') + 1}",
    }
    ran = CliRunner().invoke(app, [], prog_name="catbox", env=asked)
    assert sorted(ran.stdout.split()) == completed.split()


def test_help_lists_values_and_defaults() -> None:
    text = " ".join(run("watch", "--help").stdout.replace("│", " ").split())
    for said in (
        "cat_in_the_box_v0, cat_te_v0, petrify_v0",
        "2-5 in cat_in_the_box_v0; 2-6 in cat_te_v0; 2-4 in petrify_v0",
        "[default: (4 in cat_in_the_box_v0 and cat_te_v0, 2 in petrify_v0)]",
        "[default: (reward=margin)]",
        "khmer|laos|vietnamese",
        "[default: (laos)]",
        "exact|up_to",
        "INT|random",
        "INT|match",
        "true|false",
        "easy, normal, hard, random, heuristic, best, zoo:NAME",
        "[default: (0.5 on a terminal, else 0)]",
    ):
        assert said in text, said


def test_the_shell_completes_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run [1]").mkdir()
    monkeypatch.chdir(tmp_path)
    assert complete_agent(f"{tmp_path}/ru") == [f"{tmp_path}/run [1]"]
    assert complete_agent("run [") == ["run [1]"]
    assert complete_agent("")[:6] == ["random", "heuristic", "best", "search", "ismcts", "pimc"]
    assert "zoo:cat_in_the_box-3p" in complete_agent("zoo:")
    assert complete_agent("search:fa") == ["search:fast"]
    assert complete_agent("pimc:samples=3,po") == ["pimc:samples=3,policy="]


def test_the_results_fit_a_narrow_terminal_with_every_word_of_the_headers() -> None:
    ran = run("evaluate", "heuristic", "random", "-n", "10")
    assert "…" not in ran.stdout
    for word in ("agent", "score", "margin", "share", "tricks", "won", "bonus", "paradox", "bid", "hit"):
        assert word in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80


def test_a_rule_is_an_option_of_its_own() -> None:
    for arguments in (["--region", "khmer"], ["--region=khmer"], ["--rule", "region=khmer"]):
        result = CliRunner().invoke(app, ["info", "--game", "cat_te_v0", *arguments])
        assert result.exit_code == 0, result.output
        assert "khmer" in result.output
    assert CliRunner().invoke(app, ["info", "--game", "cat_te_v0", "--region"]).exit_code == 2
    assert CliRunner().invoke(app, ["info", "--num-ranks", "7", "--players", "3"]).exit_code == 0
    assert CliRunner().invoke(app, ["info", "--region", "khmer"]).exit_code == 2


def test_the_rule_that_is_left_out_is_set_by_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    rules_class = dataclasses.make_dataclass("Rules", [("seed", "int", 1), ("depth", "int", 1)])
    monkeypatch.setattr(rules, "game_class", lambda game_id: type("Any", (), {"rules_class": rules_class}))

    def command(game: GameOptions, seed: options.Seed = None) -> None:
        given.append((seed, game.rules))

    made = typer.Typer()
    made.command()(with_game(command))
    arguments = ["--seed", "5", "--rule", "seed=3", "--depth", "2"]
    assert CliRunner().invoke(made, arguments, catch_exceptions=False).exit_code == 0
    assert given == [(5, {"seed": "3", "depth": "2"})]
