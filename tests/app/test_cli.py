"""The command line: what it prints, what it writes, and that no typing of a person's breaks it."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

import catbox_agents
import catbox_env
from catbox_app import cli
from tests.app.table import refused, run

# evaluate ----------------------------------------------------------------------------------------------------------


def test_evaluate_shows_and_writes_what_the_arena_finds(tmp_path: Path) -> None:
    json_file, csv_file = tmp_path / "result.json", tmp_path / "result.csv"
    ran = run(
        *("evaluate", "heuristic", "random", "--players", "3", "--deals", "20"),
        *("--seed", "5", "--rounds", "2"),
        *("--json", str(json_file), "--csv", str(csv_file)),
    )
    assert ran.exit_code == 0, ran.output
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, rounds=2, reward="margin")
    expected = catbox_agents.evaluate(game, ["heuristic", "random"], 20, seed=5)
    assert json.loads(json_file.read_text()) == json.loads(json.dumps(expected.as_dict()))
    with csv_file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["name"] for row in rows] == ["heuristic", "random"]
    assert float(rows[0]["margin"]) == expected["heuristic"].margin
    standing = expected["heuristic"]
    assert f"{standing.margin:+.2f} ± {standing.margin_ci95:.2f}" in ran.stdout
    assert "paradox" in ran.stdout
    assert "hit" in ran.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.csv", "result.json"]


@pytest.mark.parametrize("option", ["--json", "--csv"])
def test_evaluate_finds_out_first_that_it_cannot_write(tmp_path: Path, option: str) -> None:
    (tmp_path / "file").write_text("kept")
    endless = ("evaluate", "heuristic", "random", "--deals", "1000000000", option)
    assert "it is a folder" in refused(*endless, str(tmp_path))
    assert "existing folder" in refused(*endless, str(tmp_path / "missing" / "x"))
    assert "cannot write" in refused(*endless, str(tmp_path / "file" / "x"))
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluate", "heuristc", "random", "--json", "out"], "did you mean 'heuristic'"),
        (
            ["evaluate", "random", "heuristic", "--json", "out", "--csv", "./out"],
            "give each its own file",
        ),
        (["evaluate", "random", "heuristic", "--game", "cat_in_the_bx_v0"], "cat_in_the_box_v0"),
        (["play", "--seed", "-1"], "seed=-1: expected"),
        (["info", "--players", "7"], "num_players=7: expected an integer from 2 to 5"),
        (["info", "--rule", "num_ranks"], "expected NAME=VALUE"),
        (["info", "--players", "3", "--rule", "num_players=4"], "num_players was given before"),
        (["info", "--rule", "bids=1,3,4", "--bids", "1,3"], "--rule 'bids=1,3,4': bids was given before"),
        (["play", "--seat", "4", "--players", "3"], "seat=4: expected a seat, an integer from 0 to 2"),
        (["play", "random", "random", "random", "--players", "3"], "3 agents for 2 seats"),
        (["play", "--players", "1", "--game", "petrify_v0"], "num_players=1"),
        (["dataset", "--players", "3"], "give the agents that play, or --records FILE"),
        (["dataset", "zoo"], "give --output FOLDER, --minari ID, or both"),
        (["dataset", "easy", "--rule", "num_ranks=99"], "num_ranks=99: expected an integer from 1 to 9"),
        (["train", "--preset", "quik"], "unknown preset 'quik'"),
        (["train", "--set", "sede=3"], "did you mean 'seed'"),
        (["train", "--set", "hidden=&a [*a]"], "write the value itself instead of the anchor &a"),
        (["train", "--set", "seed=" + 5000 * "9"], "is not valid YAML: Exceeds the limit"),
        (
            ["train", "--set", "game_options.bids=1,3", "--bids", "1,2,3"],
            "game_options.bids was given before",
        ),
        (["train", "--config", "no/such/file.yaml"], "no/such/file.yaml"),
        (["train", "--resume"], "--output"),
        (["train", "--resume", "--output", "x", "--players", "3"], "leave out all others"),
        (["train", "--resume", "--output", "no/such/run"], "no/such/run"),
        (
            ["train", "--resume", "--output", "x", "--set", "total_decisions=null"],
            "total_decisions=None: expected an",
        ),
        (
            ["train", "--resume", "--output", "x", "--set", "seed=2"],
            "leave out all others but --device and --set",
        ),
    ],
)
def test_bad_input_is_one_clear_message(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused(*arguments)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ["play"], ["watch"], ["evaluate", "random"], ["arena", "random"], ["dataset"], ["exploitability"],
        ["best-response", "--target"], ["web", "--agent"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_command_answers_a_wrong_agent_alike(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = "catbox: unknown agent 'heuristc'; did you mean 'heuristic'"
    assert refused(*command, "heuristc").startswith(said)


def test_debug_shows_where_an_error_comes_from() -> None:
    with pytest.raises(ValueError, match="num_players=7"):
        run("--debug", "info", "--players", "7")


@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_on_a_terminal_it_says_when_it_compiles(
    on_a_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[Callable[[], None]] = []
    monkeypatch.setattr(cli, "on_first_compilation", found.append)
    monkeypatch.setattr(cli, "app", lambda **_: [tell() for tell in found])
    monkeypatch.setattr(cli, "make_lenient", lambda: None)  # the streams are those of the test
    monkeypatch.setattr(sys.stderr, "isatty", lambda: on_a_terminal)
    cli.main()
    assert capsys.readouterr().err == (cli.COMPILING + "\n") * on_a_terminal


def test_compile_refuses_a_folder_that_it_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file" / "folder"))
    assert refused("compile").startswith(f"catbox: {tmp_path / 'file' / 'folder'}: ")


# info, train -------------------------------------------------------------------------------------------------------


def test_info_describes_any_rule_set() -> None:
    ran = run("info", "--players", "2", "--rounds", "match", "--rule", "bids=1", "--rule", "revealed_cards=0")
    game = catbox_env.make_game(
        "cat_in_the_box_v0", num_players=2, rounds="match", bids=(1,), revealed_cards=0
    )
    assert f"Actions: {game.num_actions}" in ran.stdout
    assert f"Observation: {game.observation_layout.size} x int8" in ran.stdout
    for name, part in game.observation_layout.items():
        assert any(name in line and f" {part.offset} " in line for line in ran.stdout.splitlines())


def test_a_rule_is_an_option_of_its_own_and_is_read_as_what_it_is() -> None:
    for arguments in (["--bids", "1,3"], ["--rule", "bids=[1, 3]"], ["--num-ranks", "6", "--bids=1,3"]):
        assert re.search(r"bids +│ \[1, 3\]", run("info", "--players", "3", *arguments).stdout)
    assert run("info", "--game", "cat_te_v0", "--region").exit_code == 2
    assert "region" in refused("info", "--region", "khmer")  # not of this game


def test_train_puts_its_settings_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from catbox_train import memory
    from catbox_train.runs import loop

    kept: list[bool] = []
    monkeypatch.setattr(memory, "keep_freed_memory", lambda: kept.append(True))
    calls: list[tuple[Any, Path]] = []

    def train(config: Any, output: Path, *, make_algorithm: Any, options: list[str], on_update: Any) -> None:
        assert options == []  # of Ray or a tracker, that a later command needs too
        assert on_update is None
        calls.append((config, output))

    monkeypatch.setattr(loop, "train", train)
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "mine.yaml"
    settings.write_text("seed: 5\nupdate_epochs: 3\n")
    assert run("train").exit_code == 0
    arguments = ["--config", str(settings), "--players", "4", "--rule", "bids=1,3", "--set", "seed=8"]
    assert run("train", *arguments).exit_code == 0
    (tmp_path / "runs" / "quick").mkdir(parents=True)
    assert run("train", "--preset", "quick", "--rounds", "match").exit_code == 0
    assert run("train", "--output", "x", "--bids", "1,3").exit_code == 0
    assert run("train", "--output", "x", "--set", "game_options.bids=1,3").exit_code == 0
    assert len(kept) == len(calls) == 5
    (default, first), (own, second), (match, third), (rule, _), (setting, _) = calls
    assert (default.game_options, first) == ({"num_players": 3, "reward": "margin"}, Path("runs/quick"))
    assert (own.seed, own.update_epochs, second) == (8, 3, Path("runs/mine"))
    assert own.make_game() == catbox_env.make_game("cat_in_the_box_v0", num_players=4, bids=(1, 3))
    assert rule == setting
    assert rule.game_options == {"num_players": 3, "reward": "margin", "bids": [1, 3]}
    assert (match.game_options["rounds"], third) == ("match", Path("runs/quick-2"))


def test_train_lists_its_settings() -> None:
    told = run("train", "--settings").stdout
    assert "learning_rate" in told
    assert "quick" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "--set", "lr=0.001"], "unknown setting 'lr'; did you mean 'learning_rate'?"),
        (["info", "--region", "laos"], "it is an option of cat_te_v0"),
        (["info", "--game", "cat_te_v0", "--region", "viet"], "did you mean 'vietnamese'?"),
        (["play", "easy", "hard", "--players", "2"], "2 agents for 1 seat: name one, or set --players"),
        (["evaluate", "llm:gpt-4", "random"], "write llm:model=gpt-4"),
        (["exploitability", "heuristic", "--players", "5"], "give others too, such as a smaller hand"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(arguments: list[str], said: str) -> None:
    if arguments[0] == "exploitability":
        pytest.importorskip("pyspiel")
    assert said in refused(*arguments)


def test_info_shows_the_reward_that_commands_use() -> None:
    assert "margin" in run("info", "--players", "3").stdout
