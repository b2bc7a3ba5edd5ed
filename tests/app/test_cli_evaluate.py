"""`catbox evaluate` when it is interrupted, and when far more deals are asked for than will ever be played."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import catbox_agents
import catbox_env
from catbox_app.cli import app
from tests.agents.test_evaluate import Impatient


class Leaving(Impatient):
    """Presses Ctrl-C in the third batch of games; each seat has an agent of its own."""

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed, patience=700)


def evaluate(agent: str, folder: Path, deals: str) -> Any:
    return CliRunner().invoke(
        app,
        ["evaluate", f"{agent}", "heuristic", "--players", "3", "--seed", "5", "--deals", deals]
        + ["--json", str(folder / "result.json"), "--csv", str(folder / "result.csv")],
        env={"COLUMNS": "200"},
        catch_exceptions=False,
    )


def test_ctrl_c_shows_and_writes_the_deals_that_were_finished(tmp_path: Path) -> None:
    deals = str(10**12)
    spec = f"{__name__}:Leaving"
    ran = evaluate(spec, tmp_path, deals)
    assert ran.exit_code == 130
    assert ran.stderr == f"catbox: interrupted: 76 of {deals} deals were finished\n"
    assert f"partial: 76 of {deals} deals x 3 rotations" in ran.stdout
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    whole = catbox_agents.evaluate(game, [Impatient(game, patience=10**6), "heuristic"], 76, seed=5)
    assert f"{whole['heuristic'].margin:+.2f} ± {whole['heuristic'].margin_ci95:.2f}" in ran.stdout
    written = json.loads((tmp_path / "result.json").read_text())
    assert (written["deals"], written["deals_planned"]) == (76, int(deals))
    assert written["standings"][1]["margin"] == whole["heuristic"].margin
    with (tmp_path / "result.csv").open(newline="") as lines:
        assert [row["name"] for row in csv.DictReader(lines)] == [spec, "heuristic"]


def test_the_table_tells_of_anybodys_paradox_and_fits_into_80_columns() -> None:
    ran = CliRunner().invoke(
        app,
        ["evaluate", "heuristic", "random", "--deals", "10", "--players", "5"],
        env={"COLUMNS": "80"},
        catch_exceptions=False,
    )
    assert ran.exit_code == 0
    lines = ran.stdout.splitlines()
    heads = next(i for i, line in enumerate(lines) if "agent" in line)
    assert lines[heads].count("paradox") == 2
    assert lines[heads - 1].split() == ["win", "tricks", "any", "bid"]
    assert any("1 x heuristic" in line for line in lines)
    assert any("4 x random" in line for line in lines)
