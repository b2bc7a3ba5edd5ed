"""`catbox evaluate` when it is interrupted, and when far more deals are asked for than will ever be played."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

import catbox_agents
import catbox_env
from tests.agents.test_evaluate import Impatient
from tests.app.table import run


class Leaving(Impatient):
    """Presses Ctrl-C in the third batch of games; it is made anew for each."""

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed, patience=700)


def evaluate(agent: str, folder: Path, deals: str) -> Any:
    files = ("--json", str(folder / "result.json"), "--csv", str(folder / "result.csv"))
    return run("evaluate", agent, "heuristic", "--players", "3", "--seed", "5", "--deals", deals, *files)


def test_ctrl_c_shows_and_writes_the_deals_that_were_finished(tmp_path: Path) -> None:
    deals = str(10**12)
    spec = f"{__name__}:Leaving"
    ran = evaluate(spec, tmp_path, deals)
    assert ran.exit_code == 130
    assert ran.stderr == f"catbox: interrupted: 40 of {deals} deals were finished\n"
    assert f"partial: 40 of {deals} deals x 3 rotations" in ran.stdout
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    whole = catbox_agents.evaluate(game, [Impatient(game, patience=10**6), "heuristic"], 40, seed=5)
    assert f"{whole['heuristic'].margin:+.2f} ± {whole['heuristic'].margin_ci95:.2f}" in ran.stdout
    written = json.loads((tmp_path / "result.json").read_text())
    assert (written["deals"], written["deals_planned"]) == (40, int(deals))
    assert written["standings"][1]["margin"] == whole["heuristic"].margin
    with (tmp_path / "result.csv").open(newline="") as lines:
        assert [row["name"] for row in csv.DictReader(lines)] == [spec, "heuristic"]


def test_the_table_fits_into_80_columns_with_every_word_of_its_headers() -> None:
    ran = run("evaluate", "heuristic", "random", "--deals", "10", "--players", "5", columns=80)
    assert ran.exit_code == 0
    assert "…" not in ran.stdout
    lines = ran.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.count("paradox") == 2 for line in lines)  # one's own, and anybody's
    for word in ("agent", "score", "margin", "wins", "tricks", "bonus", "paradox", "bid", "hit"):
        assert word in ran.stdout
    assert any("1 x heuristic" in line for line in lines)
    assert any("4 x random" in line for line in lines)


def test_every_mean_has_its_unit(tmp_path: Path) -> None:
    """In matches of three rounds the score and the margin are a match's, the game's own statistics a round's."""
    path = tmp_path / "r.json"
    rules = ["--players", "3", "--rounds", "3", "-n", "10"]
    ran = run("evaluate", "heuristic", "random", *rules, "--json", str(path), columns=200)
    lines = ran.stdout.splitlines()
    heads = next(line for line in lines if "agent" in line)
    assert heads.split()[:5] == ["agent", "score", "margin", "wins", "tricks"]
    assert "Score and margin per game, wins of all games, the others per round." in " ".join(
        ran.stdout.split()
    )
    row = next(line for line in lines if "1 x heuristic" in line).split("heuristic")[1].split()
    one = json.loads(path.read_text())["standings"][0]
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, rounds=3, reward="margin")
    result = catbox_agents.evaluate(game, ["heuristic", "random"], 10)
    assert float(row[0]) == pytest.approx(result.deal_scores[:, 0].mean(), abs=0.006)
    assert float(row[5]) == pytest.approx(one["statistics"]["tricks_won"], abs=0.006)


def test_the_finding_stands_below_the_table_with_what_its_columns_mean() -> None:
    ran = run("evaluate", "heuristic", "random", "--players", "3", "-n", "20", columns=80)
    assert ran.stdout.startswith("cat_in_the_box_v0, 20 deals x 3 rotations, seed 0")
    meanings = "any paradox (caused by anyone), bid hit (exactly the tricks bid)."
    assert meanings in " ".join(ran.stdout.split())
    end = r"\nheuristic is ahead of random by (\d\.\d\d ± \d\.\d\d) points a game\.\n$"
    (lead,) = re.findall(end, ran.stdout)
    assert f"+{lead} " in ran.stdout
    behind = run("evaluate", "random", "heuristic", "--players", "3", "-n", "20").stdout
    assert "\nrandom is behind heuristic by " in behind
    alike = run("evaluate", "random", "random", "--players", "3", "-n", "20").stdout
    assert "\nNo difference could be shown: random and random #2 are " in alike
