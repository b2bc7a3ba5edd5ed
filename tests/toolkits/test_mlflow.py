"""Trackers get the metrics of a run, Optuna prunes runs, OmegaConf configures them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import mlflow
import pytest
from omegaconf import OmegaConf

from catbox_train.registry import load_config
from catbox_train.runs.metrics import read_metrics
from tests.toolkits.running import ROOT
from tests.train.ppo_runs import BRIEF, SMALL, command

SETTINGS = [
    part
    for name, value in {**SMALL, **BRIEF, "workers": 1}.items()
    for part in ("--set", f"{name}={json.dumps(value)}")
]


def trained(run: Path, tracker: str) -> list[dict[str, float]]:
    code, error = command("train", *SETTINGS, "--tracker", tracker, "--output", str(run))
    assert code == 0, error
    rows = read_metrics(run)
    assert len(rows) == 5
    return rows


def test_mlflow_gets_every_row_and_the_settings(tmp_path: Path) -> None:
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    rows = trained(tmp_path / "run", "mlflow")
    (found,) = mlflow.search_runs(experiment_names=["catbox"], output_format="list")
    assert (found.info.run_name, found.info.status) == ("run", "FINISHED")
    assert found.data.params["minibatch_size"] == "128"
    client = mlflow.MlflowClient()
    for name in set(rows[-1]) - {"decisions"}:
        logged = {entry.step: entry.value for entry in client.get_metric_history(found.info.run_id, name)}
        assert logged == pytest.approx({int(row["decisions"]): row[name] for row in rows if name in row}), (
            name
        )


def test_the_example_prunes(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "optuna_search.py"), "6", "100000"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=500, check=False)
    assert ran.returncode == 0, ran.stderr
    found = re.search(r"^(\d+) runs complete, (\d+) pruned", ran.stdout, re.MULTILINE)
    assert found, ran.stdout
    complete, pruned = map(int, found.groups())
    assert complete + pruned == 6
    assert pruned > 0


def test_overrides_may_be_a_configuration_of_omegaconf() -> None:
    given = {"hidden": [8, 8], "seed": 3, "game_options": {"num_players": 4, "bids": [1, 3]}}
    config = OmegaConf.create({**given, "seed": "${hidden[0]}"})
    assert load_config("quick", overrides=config) == load_config("quick", overrides={**given, "seed": 8})
