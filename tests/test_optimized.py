"""``PYTHONOPTIMIZE=2`` removes asserts and docstrings: games, searches and training are the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """
import json, sys
import catbox_agents, catbox_env
from catbox_train import load_config, train
from rich.console import Console

print(sys.flags.optimize, file=sys.stderr)
for game_id in catbox_env.GAMES:
    agents = ["search:worlds=2" if game_id == "petrify_v0" else "zoo", "heuristic", "random"]
    result = catbox_agents.evaluate(catbox_env.make_game(game_id, num_players=3), agents, 10, seed=1)
    print(json.dumps(result.as_dict()))
small = {"game_options.num_players": 3, "total_decisions": 1000, "workers": 1, "final_deals": 10, "evaluate_deals": 10}
train(load_config("quick", overrides=small), "run", Console(quiet=True))
print(open("run/checkpoints/00000001/policy.safetensors", "rb").read().hex())
"""


@pytest.mark.slow
def test_results_do_not_depend_on_asserts(tmp_path: Path) -> None:
    results = []
    for level in ("0", "2"):
        (folder := tmp_path / level).mkdir()
        path = os.pathsep.join(str(ROOT / part) for part in (".", "agents", "train", "app"))
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONOPTIMIZE": level, "PYTHONPATH": path},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stderr.startswith(level)
        results.append(ran.stdout)
    assert results[0].count("\n") == 4
    assert results[0] == results[1]
