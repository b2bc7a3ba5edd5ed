"""How fast each variant of a study plays and learns, one after the other on an otherwise idle machine: the runs of a
study share it."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from catbox_agents.arena import MIN_DEALS
from catbox_train.runs.metrics import read_metrics
from experiments.results import Folders, write_file
from experiments.runner import say, train_in
from experiments.study import Run

#: Of a short run; the median of its updates counts.
DECISIONS = 1_500_000


def measure_speeds(studies: Mapping[str, Sequence[Run]], folders: Folders, console: Console) -> None:
    """Measure every variant of the ``studies`` under every rule set, and write what `read_speeds` reads."""
    for name, runs in studies.items():
        speeds: dict[str, dict[str, int]] = {}
        for run in runs:
            if run.variant in speeds.setdefault(run.rules, {}):
                continue  # another seed
            config = run.config.replace(
                total_decisions=DECISIONS,
                evaluate_every=DECISIONS,
                evaluate_deals=MIN_DEALS,
                final_deals=MIN_DEALS,
            )
            with tempfile.TemporaryDirectory() as folder:
                train_in(Path(folder) / "run", config, Console(quiet=True))
                rates = [row["speed/decisions_per_second"] for row in read_metrics(Path(folder) / "run")]
            speeds[run.rules][run.variant] = round(statistics.median(rates))
            say(console, f"{run}: {speeds[run.rules][run.variant]:,} decisions a second")
        write_file(_file(name, folders), json.dumps(speeds, indent=1) + "\n")


def read_speeds(study: str, folders: Folders) -> dict[str, dict[str, int]]:
    """Rule set -> variant -> decisions a second; empty if they have not been measured."""
    file = _file(study, folders)
    found: dict[str, dict[str, int]] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def _file(study: str, folders: Folders) -> Path:
    return folders.results / f"{study}.speeds.json"
