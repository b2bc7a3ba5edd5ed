"""Trains the runs of studies, each in its own folder, by the public functions of ``catbox_train``."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from rich.console import Console

import catbox_env
from benchmarks.report import processor
from catbox_train import TrainConfig, TrainingDiverged, resume, train
from catbox_train.registry import load_config, read_yaml
from catbox_train.runs.loop import check_run
from catbox_train.runs.metrics import read_metrics
from experiments.results import ROOT, Folders, Match, RunResult, append_line
from experiments.study import Run, check_unchanged, flat

#: Decimals of the margins in the curves.
DECIMALS = 4


def run_studies(studies: Mapping[str, Sequence[Run]], folders: Folders, console: Console) -> None:
    """Train each run that has no result yet, seed by seed; several processes that do so share the work.

    A run that diverges is a result too. Raises ``ValueError``, before anything is trained, for results and unfinished
    runs that were made with other settings and for a run that does not fit into memory; in training, what
    ``catbox_train.train`` raises.
    """
    to_do: list[Run] = []
    for study, runs in studies.items():
        results = {result.key: result for result in folders.results_of(study)}
        for run in runs:
            if run.key in results:
                was, remedy = results[run.key].config, "delete that line of its results"
                check_unchanged(str(run), was, flat(run.config), remedy)
                continue
            check_run_folder(run.folder(folders.runs), run.config)
            try:
                check_run(run.config)
            except ValueError as error:
                raise ValueError(f"{run}: {error}") from error
            to_do.append(run)
    total = sum(map(len, studies.values()))
    say(console, f"{total - len(to_do)} of {total} runs have results already.")
    for number, run in enumerate(to_do, start=1):
        folder = run.folder(folders.runs)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(f"{folder}.lock", timeout=0):
                if run.key in {result.key for result in folders.results_of(run.study)}:
                    continue  # another process has made it since
                say(console, f"\nRun {number} of {len(to_do)}: {run}.")
                append_line(folders.results / f"{run.study}.jsonl", train_run(run, folder, console))
        except Timeout:
            say(console, f"Another process trains {run}.")


def train_run(run: Run, folder: Path, console: Console) -> RunResult:
    """Train a run, or resume the one in its folder; returns its result."""
    report: dict[str, Any] | None = None
    diverged: str | None = None
    try:
        report = train_in(folder, run.config, console)
    except TrainingDiverged as error:
        diverged = str(error).partition(". ")[0]  # without the paths that follow
        say(console, f"Recorded as a result: {diverged}.")
    rows = read_metrics(folder)
    if report is not None:
        decisions, seconds = report["training"]["decisions"], report["training"]["seconds"]
    else:
        decisions, seconds = int(rows[-1]["decisions"]) if rows else 0, _seconds(rows)
    return RunResult(
        study=run.study,
        rules=run.rules,
        variant=run.variant,
        seed=run.seed,
        config=settings_of(folder),
        decisions=decisions,
        seconds=round(seconds, 2),
        decisions_per_second=round(decisions / max(seconds, 1e-9)),
        curves={opponent: _curve(rows, opponent) for opponent in run.config.eval_opponents},
        matches=[_match(match) for match in report["matches"]] if report is not None else [],
        diverged=diverged,
        version=catbox_env.__version__,
        commit=commit(),
        machine=machine(),
    )


def train_in(folder: Path, config: TrainConfig, console: Console) -> dict[str, Any]:
    """Train by ``config``, or resume the run in the folder; returns the content of its ``results.json``."""
    if (folder / "config.yaml").exists():
        return resume(folder, console, trust=True)  # trust: `check_run_folder` has compared its settings
    return train(config, folder, console)


def settings_of(folder: Path) -> dict[str, Any]:
    """The settings of the run in a folder. Raises ``ValueError`` if they are invalid."""
    return flat(load_config(overrides=read_yaml(folder / "config.yaml")))


def check_run_folder(folder: Path, config: TrainConfig) -> None:
    """Raise ``ValueError`` if the folder holds a run with other settings than ``config``."""
    if (folder / "config.yaml").exists():
        check_unchanged(str(folder), settings_of(folder), flat(config), "delete that folder")


def _seconds(rows: Sequence[Mapping[str, float]]) -> float:
    """Seconds of playing and learning, from the decisions and the speed of each update."""
    before = [0.0, *(row["decisions"] for row in rows)]
    return sum(
        (row["decisions"] - done) / row["speed/decisions_per_second"]
        for row, done in zip(rows, before, strict=False)
    )


def _curve(rows: Sequence[Mapping[str, float]], opponent: str) -> list[tuple[int, float, float]]:
    margin = f"evaluation/{opponent}/margin"
    return [
        (int(row["decisions"]), round(row[margin], DECIMALS), round(row[f"{margin}_ci95"], DECIMALS))
        for row in rows
        if margin in row
    ]


def _match(match: Mapping[str, Any]) -> Match:
    one, others = match["standings"]
    return Match(
        agents=(one["name"], others["name"]),
        margin=round(one["margin"], DECIMALS),
        margin_ci95=round(one["margin_ci95"], DECIMALS),
        deals=match["deals"],
    )


def provenance() -> dict[str, str]:
    """What made a result: version, commit, machine and date."""
    return {
        "version": catbox_env.__version__,
        "commit": commit(),
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def commit() -> str:
    """The commit of the checkout, followed by "+" if the packages have changed since.

    New agents of the zoo do not count as changes: results name each policy by its hash.
    """

    def answer(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    made = [
        f":(exclude)agents/catbox_agents/zoo/{files}" for files in ("*.safetensors", "*.md", "index.json")
    ]
    changed = answer("status", "--porcelain", "--", "catbox_env", "agents", "train", *made)
    return answer("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def machine() -> str:
    """The processor, and the versions of Python and of the numeric packages."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "numpy", "numba"))
    return f"{processor()}; {platform.system()}, Python {platform.python_version()}, {versions}"


def say(console: Console, text: str) -> None:
    """Print a line verbatim, without colours."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)
