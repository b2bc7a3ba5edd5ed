"""Some seconds of a small game: the policy beats random play beyond doubt, whatever it learns with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from catbox_train.registry import load_config
from catbox_train.runs.loop import train
from catbox_train.runs.report import POLICY
from tests.train.ppo_runs import SMALL, quiet

GENERAL = {name: SMALL[name] for name in ("game_options", "device", "evaluate_deals")}
#: Games of 12 decisions: 4096 an update.
SIZES = {"games_per_update": 341, "minibatch_size": 512, "hidden": [64], "learning_rate": 3e-3}
#: Settings, and the least margin.
KINDS: dict[str, tuple[dict[str, Any], float]] = {
    "ppo": ({"total_decisions": 24 * 4096, **SIZES}, 1.0),
    "dmc": ({"total_decisions": 20 * 4096, **SIZES, "games_per_update": 130, "game_options": {"num_players": 3}}, 1.0),
    "exit": (
        {
            "total_decisions": 25 * 1024, "games_per_update": 85, "minibatch_size": 128, "hidden": [32],
            "search_share": 0.25, "learning_rate": 3e-3,
        },
        0.1,
    ),
    "examples.reinforce:Reinforce": (
        {"total_decisions": 20 * 4096, "games_per_update": 130, "game_options": {"num_players": 3}},
        0.3,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "algorithm",
    [
        "ppo",
        pytest.param("dmc", marks=pytest.mark.slow),
        "exit",
        "examples.reinforce:Reinforce",
    ],
)
def test_training_learns(algorithm: str, tmp_path: Path) -> None:
    settings, margin = KINDS[algorithm]
    rare = {
        "evaluate_every": 1000,
        "checkpoint_every": 1000,
        "final_deals": 300,
        "eval_opponents": ["random"],
    }
    config = load_config(overrides={"algorithm": algorithm, **GENERAL, **rare, **settings})
    results = train(config, tmp_path / "run", quiet())
    standing = next(s for s in results["matches"][0]["standings"] if s["name"] == POLICY)
    assert standing["margin"] - 2 * standing["margin_ci95"] > 0
    assert standing["margin"] - standing["margin_ci95"] > margin
