"""The command line: what it prints, what it writes, and that no typing of a person's breaks it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import catbox_agents
import catbox_env
from catbox_app.cli import app
from catbox_app.options import rule_options
from catbox_app.terminal import fill
from catbox_app.typed_actions import parse_action
from catbox_env.core.options import read_options

#: The smallest game: two players, three cards each, one trick.
TINY = ["--players", "2"]
for rule in ("num_ranks=3", "num_colors=2", "copies=3", "hand_size=3", "bids=0,1", "revealed_cards=0"):
    TINY += ["--rule", rule]


def run(*arguments: str, typed: str | None = None) -> Any:
    return CliRunner().invoke(
        app, list(arguments), input=typed, env={"COLUMNS": "200"}, catch_exceptions=False
    )


def refused(*arguments: str) -> str:
    """The one message of a command that is refused: exit code 2, nothing else said."""
    ran = run(*arguments)
    assert ran.exit_code == 2, ran.output
    assert ran.stdout == ""
    assert ran.stderr.startswith("catbox: ")
    assert ran.stderr.count("\n") == 1
    return ran.stderr


def whole_game(players: int, seed: int, **options: Any) -> str:
    """Lines that end any game: every id in turn, over and over; what is illegal is refused and asked again."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=players, **options)
    return "".join(f"#{action}\n" for action in range(game.num_actions)) * game.history_length


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


def test_agents_are_compared_by_the_margin_that_they_play_for(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    for rule, reward in (([], "margin"), (["--rule", "reward=score"], "score")):
        run("evaluate", "heuristic", "random", "--deals", "10", "--json", str(file), *rule)
        assert json.loads(file.read_text())["options"]["reward"] == reward


@pytest.mark.parametrize("option", ["--json", "--csv"])
def test_evaluate_finds_out_first_that_it_cannot_write(tmp_path: Path, option: str) -> None:
    (tmp_path / "file").write_text("kept")
    endless = ("evaluate", "heuristic", "random", "--deals", "1000000000", option)
    assert "it is a folder" in refused(*endless, str(tmp_path))
    assert "folder that exists" in refused(*endless, str(tmp_path / "missing" / "x"))
    assert "cannot write" in refused(*endless, str(tmp_path / "file" / "x"))
    assert (tmp_path / "file").read_text() == "kept"


def test_evaluate_that_fails_leaves_no_file(tmp_path: Path) -> None:
    refused("evaluate", "heuristic", "nobody", "--json", str(tmp_path / "result.json"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evaluate", "heuristc", "random"], "did you mean 'heuristic'"),
        (["evaluate", "random"], "expected at least 2"),
        (["evaluate", *["random"] * 4, "--players", "3"], "4 agents"),
        (["evaluate", "random", "heuristic", "--deals", "9"], "num_deals=9: expected at least 10"),
        (
            ["evaluate", "random", "heuristic", "--json", "out", "--csv", "./out"],
            "give each a file of its own",
        ),
        (["evaluate", "random", "heuristic", "--seed", "-1"], "seed=-1: expected"),
        (["evaluate", "os:getcwd", "random"], "no class 'getcwd'"),
        (["play", "--seed", "-1"], "seed=-1: expected"),
        (["watch", "--seed", "-1"], "seed=-1: expected"),
        (["evaluate", "random", "no/such/checkpoint"], "no/such/checkpoint"),
        (["evaluate", "random", "heuristic", "--game", "cat_in_the_bx_v0"], "cat_in_the_box_v0"),
        (["info", "--players", "7"], "num_players=7: expected an integer from 2 to 5"),
        (["info", "--rounds", "many"], "rounds='many'"),
        (["info", "--rule", "num_ranks"], "expected NAME=VALUE"),
        (["info", "--rule", "=3"], "expected NAME=VALUE"),
        (["info", "--rule", "num_rank=3"], "Did you mean 'num_ranks'"),
        (["info", "--players", "3", "--rule", "num_players=4"], "num_players was given before"),
        (["info", "--rule", "bids=1,3,4", "--bids", "1,3"], "--bids '1,3': bids was given before"),
        (["info", "--rule", "bids=1", "--rule", "bids=2"], "--rule 'bids=2': bids was given before"),
        (
            ["info", "--rule", "rules=1"],
            "unknown option 'rules' of cat_in_the_box_v0: expected reward or one of",
        ),
        (["info", "--rounds", "'7'"], "rounds='7': expected"),
        (["info", "--rule", "bids=4,2"], "ascending"),
        (["play", "--seat", "4", "--players", "3"], "seat 4: expected 0 to 2"),
        (["play", "random", "random", "random", "--players", "3"], "3 agents for 2 seats"),
        (["watch", "expert"], "unknown agent 'expert'"),
        (["watch", "zoo:expert"], "no agent 'expert' in the zoo"),
        (["train", "--preset", "quik"], "unknown preset 'quik'"),
        (["train", "--set", "sede=3"], "did you mean 'seed'"),
        (["train", "--set", "seed"], "--set 'seed': expected NAME=VALUE"),
        (["train", "--set", "seed=1", "--set", "seed=2"], "--set 'seed=2': seed was given before"),
        (["train", "--game", "petrify_v0", "--set", "game=cat_te_v0"], "game was given before"),
        (
            ["train", "--set", "game_options.bids=1,3", "--bids", "1,2,3"],
            "--set 'game_options.bids=1,3': game_options.bids was given before",
        ),
        (["train", "--set", "game_options={bids: 1}", "--bids", "2"], "bids in an override was given before"),
        (["train", "--rule", "rules=1"], "unknown option 'rules' of cat_in_the_box_v0"),
        (["train", "--rule", "rounds='7'"], "rounds='7': expected"),
        (["train", "--config", "no/such/file.yaml"], "no/such/file.yaml"),
        (["train", "--resume"], "--output"),
        (["train", "--resume", "--output", "x", "--players", "3"], "leave out all others"),
        (["train", "--resume", "--output", "no/such/run"], "no/such/run"),
        (["train", "--players", "9"], "num_players=9"),
    ],
)
def test_bad_input_is_one_clear_message(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_where_an_error_comes_from() -> None:
    with pytest.raises(ValueError, match="num_players=7"):
        run("--debug", "info", "--players", "7")


def test_the_real_command_has_no_traceback_and_a_fast_start() -> None:
    program = [sys.executable, "-m", "catbox_app"]
    wrong = subprocess.run([*program, "evaluate", "x", "random"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("catbox: unknown agent 'x'")
    assert "Traceback" not in wrong.stderr
    loaded = "import sys; from catbox_app.cli import app; app(['info'], standalone_mode=False);"
    loaded += "print([name for name in ('torch', 'matplotlib') if name in sys.modules])"
    right = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert right.stdout.rstrip().endswith("[]")


def test_an_agent_of_the_user_is_found_where_the_command_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bots_in_this_folder.py").write_text(
        "from catbox_agents import Agent\n"
        "class First(Agent):\n"
        "    def act(self, observation, action_mask, history=None):\n"
        "        return int(action_mask.argmax())\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", os.getcwd())])
    ran = run("evaluate", "bots_in_this_folder:First", "random", "--players", "2", "--deals", "10")
    assert ran.exit_code == 0, ran.output


# play --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--rounds", "2"], ["--seat", "1"]])
def test_a_person_can_play_to_the_end_whatever_they_type(options: list[str]) -> None:
    rubbish = "help\n\n?\nlist\nhint\ntable\nplay\nplay purple 3\nparadox\n#99\n-1\n7e5\n☃\n[bold]\ndiscard\n"
    typed = rubbish + whole_game(2, 3, num_ranks=3, num_colors=2, copies=3, hand_size=3, bids=(0, 1),
                                 revealed_cards=0, rounds=2)  # fmt: skip
    ran = run("play", "random", *TINY, "--seed", "3", *options, typed=typed)
    assert ran.exit_code == 0
    assert "Traceback" not in ran.output
    assert "<- best" in ran.stdout
    assert ran.stdout.count("paradox") >= 1
    assert "left the game" not in ran.stdout
    assert "Type what you want to do" in ran.stdout


def test_an_illegal_move_is_answered_with_the_rule() -> None:
    ran = run("play", "random", *TINY, "--seed", "3", typed="play red 1\nquit\n")
    assert "illegal action 5 (play red 1)" in ran.stdout
    assert ran.stdout.count("your move>") == 2
    short = run("play", "random", *TINY, "--seed", "3", typed="r1\nquit\n")
    assert "illegal action 5 (play red 1)" in short.stdout


def test_bytes_that_are_no_text_are_asked_again() -> None:
    program = [sys.executable, "-m", "catbox_app", "play", "random", *TINY, "--seed", "3"]
    env = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    ran = subprocess.run(program, input=b"\xff\xfe\nquit\n", capture_output=True, env=env, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count(b"your move>") == 2
    assert ran.stdout.endswith(b"Bye!\n")


@pytest.mark.parametrize("typed", ["", "quit\n", "discard", "hint\n"])
def test_leaving_is_polite(typed: str) -> None:
    ran = run("play", "random", *TINY, "--seed", "3", typed=typed)
    assert ran.exit_code == 0
    assert "Bye!" in ran.stdout


def test_a_person_sees_no_hidden_cards() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    ran = run("play", "heuristic", "--players", "3", "--seat", "2", "--seed", "1", typed="quit\n")
    assert ran.stdout.count("moves in secret") == 2
    assert "(heuristic): discard" not in ran.stdout
    state = game.new_initial_state(seed=5)
    assert ran.stdout.count("hand of") == 1 < game.render_text(state).count("hand of")


def test_the_opponents_are_named_and_the_strongest_where_none_are() -> None:
    ran = run("play", "random", "heuristic", "--players", "4", "--seat", "1", typed="quit\n")
    assert "You are player_1, against random, heuristic. Type help" in ran.stdout
    ran = run("play", "--players", "3", typed="quit\n")
    assert "You are player_0, against zoo:cat_in_the_box-3p. Type help" in ran.stdout
    ran = run("play", "--players", "3", "--rounds", "match", typed="quit\n")
    assert "You are player_0, against heuristic. Type help" in ran.stdout


def test_watching_shows_every_move_and_every_hand() -> None:
    ran = run("watch", "random", "heuristic", *TINY, "--seed", "2", "--reasons", "--step", typed="\n" * 20)
    assert ran.exit_code == 0
    moves = [line for line in ran.stdout.splitlines() if line.startswith("player_") and "): " in line]
    assert any(line.startswith("player_0 (random): discard") for line in moves)
    assert any(line.startswith("player_1 (heuristic): bid") for line in moves)
    assert "points by reason" in ran.stdout
    assert "this agent gives no reasons" in ran.stdout
    again = run("watch", "random", "heuristic", *TINY, "--seed", "2")
    assert [line for line in again.stdout.splitlines() if line in moves] == moves


class Nothing(catbox_agents.Agent):
    """Forgets to answer."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> Any:
        return None


class Illegal(Nothing):
    """Answers the last action, which is no discard."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> Any:
        return len(action_mask) - 1


@pytest.mark.parametrize(
    ("name", "said"), [("Nothing", "action None: expected"), ("Illegal", "illegal action")]
)
def test_an_agent_that_breaks_the_rules_is_named_at_the_table(name: str, said: str) -> None:
    ran = run("watch", f"{__name__}:{name}", *TINY)
    assert ran.exit_code == 2
    assert f"catbox: agent '{__name__}:{name}': {said}" in ran.stderr


@pytest.mark.parametrize("delay", ["inf", "1e12"])
def test_a_delay_is_an_hour_at_most(delay: str) -> None:
    ran = run("watch", *TINY, "--delay", delay)
    assert ran.exit_code == 2
    assert "3600" in ran.stderr


def test_stopping_to_watch_is_polite() -> None:
    ran = run("watch", *TINY, "--step", typed="\n")
    assert ran.exit_code == 0
    assert "Stopped watching" in ran.stdout


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("play yellow 5", "play yellow 5"),
        ("  PLAY  Yellow 5 ", "play yellow 5"),
        ("y5", "play yellow 5"),
        ("pl y 5", "play yellow 5"),
        ("yel 5", "play yellow 5"),
        ("id 32", "play yellow 5"),
        ("#32", "play yellow 5"),
        ("bid 2", "bid 2"),  # as is this, which may not be bid now
        ("r5", "play red 5"),  # and this
        ("play red 1", "play red 1"),  # in full, though it is illegal to lead: the game says why
    ],
)
def test_actions_may_be_shortened(typed: str, meant: str) -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
    plays = [
        game.string_to_action(f"play {color} {rank}")
        for color in ("blue", "yellow", "green")
        for rank in (1, 5)
    ]
    assert game.action_to_string(parse_action(game, plays, typed)) == meant


def test_a_number_means_what_it_says_before_it_means_an_id() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
    discards = list(range(8))
    assert game.action_to_string(parse_action(game, discards, "3")) == "discard 3"
    assert game.action_to_string(parse_action(game, discards, "#3")) == "discard 4"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("y", "could be: play yellow 1, play yellow 5"),
        ("x9", "unknown action"),
        ("32", "unknown action"),
        ("#70", "0 to 44"),
    ],
)
def test_what_is_not_understood_is_said(typed: str, said: str) -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
    plays = [game.string_to_action(f"play yellow {rank}") for rank in (1, 5)]
    with pytest.raises(ValueError, match=said):
        parse_action(game, plays, typed)


def test_the_last_agent_fills_the_seats() -> None:
    assert fill(["a", "b"], 4) == ["a", "b", "b", "b"]
    with pytest.raises(ValueError, match="0 agents for 4 seats"):
        fill([], 4)


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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("num_ranks=7", 7),
        ("bids=1,3,4", [1, 3, 4]),
        ("bids=[1, 3]", [1, 3]),
        ("bids=2", [2]),
        ("bids=", []),
        ("start_player=random", "random"),
    ],
)
def test_rules_are_read_as_what_they_are(text: str, value: Any) -> None:
    options = read_options("cat_in_the_box_v0", rule_options(None, None, [text]))
    assert options == {text.split("=")[0]: value}


def test_train_puts_its_settings_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from catbox_train import memory
    from catbox_train.runs import loop

    kept: list[bool] = []
    monkeypatch.setattr(memory, "keep_freed_memory", lambda: kept.append(True))
    calls: list[tuple[Any, Path]] = []
    monkeypatch.setattr(loop, "train", lambda config, output, make_crew: calls.append((config, Path(output))))
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "mine.yaml"
    settings.write_text("seed: 5\nepochs: 3\n")
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
    assert (own.seed, own.algorithm_options.epochs, second) == (8, 3, Path("runs/mine"))
    assert own.make_game() == catbox_env.make_game("cat_in_the_box_v0", num_players=4, bids=(1, 3))
    assert rule == setting
    assert rule.game_options == {"num_players": 3, "reward": "margin", "bids": [1, 3]}
    assert (match.game_options["rounds"], third) == ("match", Path("runs/quick-2"))


def test_train_lists_its_settings() -> None:
    ran = run("train", "--settings")
    assert "learning_rate" in ran.stdout
    assert "quick" in ran.stdout
