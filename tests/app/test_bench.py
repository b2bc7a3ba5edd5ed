"""The command `catbox bench`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catbox_agents.bench import TRACKS, suite_names
from catbox_agents.zoo import zoo_agent
from catbox_app.commands import bench
from tests.agents.bench.small import _few_deals, change  # noqa: F401  (a fixture)
from tests.app.table import run


def test_a_suite_is_listed_with_questions_and_at_length_with_hashes(tmp_path: Path) -> None:
    short = run("bench", "list", "--suite", "petrify", columns=80).stdout
    assert max(map(len, short.splitlines())) <= 80
    assert "petrify: 14 scenarios at 2 tables (4x4, full)" in short
    assert "does it hold its own against one?" in " ".join(short.split())
    assert "-v1" not in short
    shown = run("bench", "list", "--suite", "petrify", "--long", "--json", str(tmp_path / "list.json")).stdout
    found = json.loads((tmp_path / "list.json").read_text())
    assert len(found) == 14
    for scenario in found:
        assert scenario["name"] in shown
        assert scenario["hash"] in shown
        assert scenario["asks"].endswith("?") or scenario["asks"].endswith(".")
        assert "/" not in scenario["spec"], "no path of this machine"


def test_an_agent_is_run_verified_and_compared(tmp_path: Path) -> None:
    out = tmp_path / "out"
    played = run(
        *("bench", "run", "heuristic:3", "--suite", "petrify", "--quick", "--output", str(out), "--processes", "1"),
        *("--name", "three", "--track", "learn-10M", "--decisions", "10", "--seed", "3", "--settings", "none"),
    )  # fmt: skip
    assert played.exit_code == 0, played.output
    assert "three, petrify: " in " ".join(played.stdout.split())
    assert sorted(path.name for path in out.iterdir()) == ["card.svg", "games.jsonl", "submission.json"]
    verified = run("bench", "verify", str(out), "--processes", "1")
    assert verified.exit_code == 0, verified.output
    assert "is valid: games, opponents and numbers" in verified.stdout
    table = run(
        "bench", "table", str(out), "--json", str(tmp_path / "t.json"), "--page", str(tmp_path / "t.md")
    )
    assert "three, 1 of 5 seeds (quick)" in " ".join(table.stdout.split())
    (row,) = json.loads((tmp_path / "t.json").read_text())
    assert (row["track"], row["decisions"]) == ("learn-10M", 10)
    assert (tmp_path / "t.md").read_text().startswith("## petrify\n")
    assert "the agent was not asked. What it declares" in verified.stdout
    change(out, lambda content: content.update(games="0" * 64))  # seen before anything is played
    forged = run("bench", "verify", str(out), "--processes", "1")
    assert forged.exit_code == 1
    assert "does not hold: games.jsonl is not the file" in forged.stderr


def test_it_is_said_which_policies_were_asked(tmp_path: Path) -> None:
    out, policy = tmp_path / "out", str(zoo_agent("zoo:petrify-4x4").path)
    played = run(
        "bench", "run", policy, "--suite", "petrify", "--quick", "--output", str(out), "--processes", "1"
    )
    assert played.exit_code == 0, played.output
    assert sorted(path.name for path in out.iterdir()) == [
        *("card.svg", "games.jsonl", "petrify-4x4.safetensors", "submission.json")
    ]
    verified = run("bench", "verify", str(out), "--processes", "1")
    assert "is valid: games, opponents, numbers and the agent. What" in verified.stdout
    assert "It has a score for petrify-4x4, none for the suite." in verified.stdout
    change(out, lambda content: content["agent"]["specs"].update({"petrify-4x4": "mine"}))
    assert (
        "numbers; the agent was not asked. What"
        in run("bench", "verify", str(out), "--processes", "1").stdout
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "random", "--suite", "petrif", "--output", "x"], "unknown suite 'petrif'; did you mean 'petrify'?"),
        (["run", "randm", "--suite", "petrify", "--output", "x"], "unknown agent 'randm'; did you mean 'random'?"),
        (["run", "random", "--suite", "petrify", "--output", "x", "--track", "y"], "unknown track 'y'"),
        (["run", "random", "--suite", "petrify", "--output", "x", "--private-seed", "y"], "at least 16 characters"),
        (["verify", "nowhere"], "nowhere/submission.json: No such file or directory"),
        (["table", "nowhere"], "nowhere/submission.json: No such file or directory"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = run("bench", *arguments)
    assert failed.exit_code == 2
    assert message in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert not (tmp_path / "x" / "submission.json").exists()


def test_the_words_of_the_options_are_those_of_the_benchmark() -> None:
    assert list(bench.SUITES) == suite_names()
    assert list(bench.TRACKS) == list(TRACKS)
