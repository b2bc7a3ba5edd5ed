"""`catbox evaluate` when it is interrupted, and when far more deals are asked for than will ever be played."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import catbox_agents
import catbox_env
from tests.agents.test_evaluate import Impatient
from tests.app.table import CATBOX, ENVIRONMENT, run


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
    heads = next(i for i, line in enumerate(lines) if "agent" in line)
    assert lines[heads].count("paradox") == 2  # one's own, and anybody's
    for word in ("agent", "score", "margin", "share", "tricks", "won", "bonus", "paradox", "bid", "hit"):
        assert word in ran.stdout
    assert any("1 x heuristic" in line for line in lines)
    assert any("4 x random" in line for line in lines)


@pytest.mark.parametrize(
    ("shell", "encoding", "exit_codes"),
    [
        ("{} | true", "utf-8", {0}),
        ("{}", "ascii", {0}),
        ("{} 2>&-", "utf-8", {0}),
        ("{} >/dev/full", "utf-8", {1, 2}),
    ],
)
def test_what_cannot_be_printed_loses_no_result(
    tmp_path: Path, shell: str, encoding: str, exit_codes: set[int]
) -> None:
    file = tmp_path / "r.json"
    given = ["evaluate", "heuristic", "random", "-p", "3", "-n", "10", "--json", str(file)]
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": encoding}
    line = shell.format('"$@"')
    ran = subprocess.run(
        ["sh", "-c", line, "sh", sys.executable, *CATBOX, *given], env=environment, check=False
    )
    assert ran.returncode in exit_codes
    assert json.loads(file.read_text())["deals"] == 10
