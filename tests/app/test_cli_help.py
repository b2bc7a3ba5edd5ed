"""The help of the command line, and what the shell completes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import catbox_env
from catbox_app import options, rules
from catbox_app.cli import app
from catbox_app.options import GameOptions, complete_agent, with_game
from catbox_app.rules import rule_help
from catbox_env.core.registry import game_class
from tests.app.table import run


@pytest.mark.parametrize("command", get_command(app).commands)  # type: ignore[attr-defined]  # a group
def test_every_command_has_help_with_an_example(command: str) -> None:
    assert f"catbox {command}" in run(command, "--help").stdout


@pytest.mark.parametrize(
    "command", ["train", "evaluate", "arena", "best-response", "exploitability", "play", "watch"]
)
def test_help_says_where_the_rules_are_listed_and_is_short(command: str) -> None:
    shown = run(command, "--help", columns=80).stdout
    assert "catbox info --help" in " ".join(shown.replace("│", " ").split())
    assert "Rules of" not in shown
    assert len(shown.splitlines()) <= (60 if command == "play" else 80)


def test_the_help_of_info_lists_every_rule_with_its_values_and_what_its_game_says_of_it() -> None:
    shown = run("info", "--help", columns=80).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    for game_id in catbox_env.GAMES:
        rules_class = game_class(game_id).rules_class
        assert f"Rules of {game_id}" in shown
        names = [field.name for field in dataclasses.fields(rules_class)]
        assert sorted(rule_help(rules_class)) == sorted(names)
        for name in names:
            assert f"--{name.replace('_', '-')} " in shown
    text = " ".join(shown.replace("│", " ").split())
    assert "2-5 in cat_in_the_box_v0; 2-6 in cat_te_v0; 2-4 in petrify_v0" in text
    assert "[default: (4 in cat_in_the_box_v0 and cat_te_v0, 2 in petrify_v0)]" in text
    for said in (
        "khmer|laos|vietnamese",
        "[default: (laos)]",
        "INT|random",
        "true|false",
        "The numbers of tricks that may be bid",
    ):
        assert said in text, said


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("ev", "evaluate"),
        ("info --game cat_i", "cat_in_the_box_v0"),
        *((f"{command} heu", "heuristic") for command in ("evaluate", "arena", "exploitability", "play")),
        ("watch search:f", "search:fast"),
        ("web --agent hard", "hard"),
        ("best-response --target har", "hard"),
        ("train --preset st", "standard strong"),
        ("train --algo e", "exit"),
        ("arena --deal-set te", "test"),
        ("play --rounds m", "match"),
        ("watch --region k", "khmer"),
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


def test_agents_are_completed_with_their_settings_and_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run [1]").mkdir()
    monkeypatch.chdir(tmp_path)
    assert complete_agent(f"{tmp_path}/ru") == [f"{tmp_path}/run [1]"]
    assert complete_agent("run [") == ["run [1]"]
    assert complete_agent("")[:5] == ["random", "heuristic", "best", "zoo", "search"]
    assert "zoo:cat_in_the_box-3p" in complete_agent("zoo:")
    assert complete_agent("pimc:samples=3,po") == ["pimc:samples=3,policy="]


def test_a_rule_that_is_named_like_another_option_is_set_by_rule(monkeypatch: pytest.MonkeyPatch) -> None:
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
