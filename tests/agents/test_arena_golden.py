"""The same deals give the same figures in every version: an arena's and a comparison's, to the last digit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import catbox_agents
import catbox_env

#: Written once, by the code of November 2026. A change of it is a change of what published results mean.
GOLDEN = Path(__file__).with_name("golden_arena.json")
#: What ``zoo:cat_in_the_box-3p`` was then.
TRAINED = str(
    Path(__file__).parents[2] / "experiments" / "previous_edition" / "cat_in_the_box-3p.safetensors"
)
AGENTS = ["heuristic", "random", TRAINED, "pimc:samples=4"]


def figures() -> dict[str, Any]:
    """What must stay, as plain values."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    arena = catbox_agents.run_arena(game, AGENTS, 32, mixed=True, seed=11).as_dict()
    compared = catbox_agents.evaluate(game, [TRAINED, "heuristic"], 100, seed=3)
    kept = {name: arena[name] for name in ("games", "matrix", "differences", "tables", "mixed_tables")}
    strengths = {summary["name"]: summary["rating"] for summary in arena["summaries"]}
    plain: dict[str, Any] = json.loads(
        json.dumps({**kept, "strengths": strengths, "evaluate": compared.as_dict()["standings"]}).replace(
            TRAINED, "zoo:cat_in_the_box-3p"
        )
    )
    return plain


def test_the_figures_of_agents_are_those_of_every_version() -> None:
    expected, found = json.loads(GOLDEN.read_text()), figures()
    fitted, strengths = expected.pop("strengths"), found.pop("strengths")
    assert found == expected
    for name, rating in fitted.items():  # fitted by a library, whose rounding may differ
        assert strengths[name] == pytest.approx(rating, abs=1e-3)
