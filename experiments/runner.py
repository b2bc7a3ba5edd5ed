"""Trains what the studies ask for: each run in a folder of its own, by the public functions of ``catbox_train``."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from rich.console import Console

import catbox_env
from benchmarks.report import processor
from catbox_agents.files import writing
from catbox_train import TrainConfig, TrainingDiverged, resume, train
from catbox_train.runs.loop import check_run
from catbox_train.runs.metrics import read_metrics
from catbox_train.settings_file import read_settings
from experiments.results import Match, RunResult, append_result, read_results, results_file
from experiments.study import FOLDER, Run, differences, flat

ROOT = FOLDER.parent
CONFIG_FILE = "config.yaml"
#: Decimals of the margins in the curves.
DECIMALS = 4


@dataclass(frozen=True)
class Folders:
    """Where runs are trained and where their results are kept."""

    runs: Path
    results: Path

    def of(self, run: Run) -> Path:
        """The folder of one run."""
        return self.runs / run.study / run.rules / run.variant / f"seed {run.seed}"

    def results_of(self, study: str) -> list[RunResult]:
        """The results of a study so far."""
        return read_results(results_file(study, self.results))


def run_studies(studies: Mapping[str, Sequence[Run]], folders: Folders, console: Console) -> int:
    """Train each run that has no result yet, seed by seed; the number of runs that other processes were training.

    A run that diverges is a result too. One that any study has made with the same settings is not made again, unless
    its net is needed. Raises ``ValueError``, before anything is trained, for results and half-finished runs that were
    made with other settings and for a run that does not fit into memory; in training what ``catbox_train.train``
    raises.
    """
    results = {study: folders.results_of(study) for study in studies}
    for study, runs in studies.items():
        _check_settings(study, runs, results[study], folders)
    runs_to_do = sorted((run for runs in studies.values() for run in runs), key=lambda run: run.seed_place)
    unfinished = [run for run in runs_to_do if run.key not in {result.key for result in results[run.study]}]
    for run in unfinished:
        try:
            check_run(run.config)
        except ValueError as error:
            raise ValueError(f"{run}: {error}") from error
    say(console, f"{len(runs_to_do) - len(unfinished)} of {len(runs_to_do)} runs have results already.")
    elsewhere = 0
    for number, run in enumerate(runs_to_do, start=1):
        done = {study: {result.key for result in found} for study, found in results.items()}
        if run.key in done[run.study]:
            continue
        left = [other for other in runs_to_do[number - 1 :] if other.key not in done[other.study]]
        time_left = _time_left(left, [result for found in results.values() for result in found])
        say(console, f"\nRun {number} of {len(runs_to_do)}: {run}. {time_left}")
        folder = folders.of(run)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(folder / ".experiment.lock", timeout=0):
                results[run.study] = folders.results_of(run.study)
                if run.key in {result.key for result in results[run.study]}:  # of another process by now
                    continue
                same = None if run.net_needed else _made_with_the_same_settings(run, folders)
                if same:
                    say(
                        console,
                        f"Study {same.study!r} has made it, as variant {same.variant!r}: taken from there.",
                    )
                    changes = {"study": run.study, "rules": run.rules, "variant": run.variant}
                    result = same.model_copy(update=changes)
                else:
                    result = train_run(run, folder, console)
                append_result(results_file(run.study, folders.results), result)
        except Timeout:
            say(console, "Another process is training it.")
            elsewhere += 1
        results[run.study] = folders.results_of(run.study)
    return elsewhere


def _made_with_the_same_settings(run: Run, folders: Folders) -> RunResult | None:
    """A result of any study that was made with exactly the settings of ``run``."""
    settings = flat(run.config.settled())
    for file in sorted(folders.results.glob("*.jsonl")):
        for result in folders.results_of(file.stem):
            if result.config == settings:
                return result
    return None


def train_run(run: Run, folder: Path, console: Console) -> RunResult:
    """Train one run, or go on with it where its folder holds one; its result."""
    report: dict[str, Any] = {"matches": []}
    diverged: str | None = None
    try:
        report = train_in(folder, run.config, console)
    except TrainingDiverged as error:
        diverged = str(error).partition(". ")[0]  # without the paths that follow
        say(console, f"Recorded as a result: {diverged}.")
    except ValueError as error:
        raise ValueError(f"{run}: {error}") from error
    rows = read_metrics(folder)
    config = settings_of(folder)
    if diverged is None:
        decisions, seconds = report["training"]["decisions"], report["training"]["seconds"]
    else:
        decisions = int(rows[-1]["decisions"]) if rows else 0
        seconds = _seconds(rows)
    return RunResult(
        study=run.study,
        rules=run.rules,
        variant=run.variant,
        seed=run.seed,
        config=config,
        decisions=decisions,
        seconds=round(seconds, 2),
        decisions_per_second=round(decisions / max(seconds, 1e-9)),
        curves={opponent: _curve(rows, opponent) for opponent in run.config.opponents},
        matches=[_match(match) for match in report["matches"]],
        diverged=diverged,
        version=catbox_env.__version__,
        commit=commit(),
        machine=machine(),
    )


def train_in(folder: Path, config: TrainConfig, console: Console) -> dict[str, Any]:
    """Train as ``config`` says, or go on with the run that the folder holds; what its ``results.json`` holds."""
    if (folder / CONFIG_FILE).exists():
        return resume(
            folder, console, trust=True
        )  # trust: the caller has compared its settings with ``config``
    return train(config, folder, console)


def settings_of(folder: Path) -> dict[str, Any]:
    """The settings of the run in a folder. Raises ``ValueError`` when they are not valid."""
    return flat(TrainConfig(**read_settings(folder / CONFIG_FILE)))


def _check_settings(study: str, runs: Sequence[Run], results: Sequence[RunResult], folders: Folders) -> None:
    """Raise ``ValueError`` unless results and half-finished runs were made with the settings that the study has now."""
    finished = {result.key: result for result in results}
    for run in runs:
        now = flat(run.config)
        if run.key in finished:
            where = str(results_file(study, folders.results))
            changed = differences(finished[run.key].config, now)
            remedy = "to make them anew, delete the lines of the study there"
        elif (folders.of(run) / CONFIG_FILE).exists():
            where = str(folders.of(run))
            changed = differences(settings_of(folders.of(run)), now)
            remedy = "to start it anew, delete that folder"
        else:
            continue
        if changed:
            raise ValueError(
                f"{run}: {where} was made with other settings than the study has now ({', '.join(changed)}). To go on "
                f"with it, write the earlier values into the study; {remedy}"
            )


def _time_left(runs: Sequence[Run], results: Sequence[RunResult]) -> str:
    """How long ``runs`` take at the mean speed of the results so far."""
    to_do = f"{len(runs)} run{'s' if len(runs) > 1 else ''} to do"
    decisions = sum(result.decisions for result in results)
    if not decisions:
        return f"{to_do}."
    seconds = sum(result.seconds for result in results) / decisions
    minutes = sum(run.config.total_decisions for run in runs) * seconds / 60
    hours = f"{minutes / 60:.1f} hours" if minutes >= 90 else f"{minutes:.0f} minutes"
    return f"{to_do}, about {hours} of playing and learning."


def _seconds(rows: Sequence[Mapping[str, float]]) -> float:
    """Of playing and learning, from the decisions and the speed of each update."""
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
    """The commit of the checkout, with "+" behind it where the packages were changed since; empty without git.

    Agents of the zoo that were trained since are no change: what is recorded names each policy by its hash.
    """
    git = shutil.which("git")
    if git is None:
        return ""

    def answer(*arguments: str) -> str:
        command = [git, "-C", str(ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    made = [
        f":(exclude)agents/catbox_agents/zoo/{files}" for files in ("*.safetensors", "*.md", "index.json")
    ]
    changed = answer("status", "--porcelain", "--", "catbox_env", "agents", "train", *made)
    return answer("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def machine() -> str:
    """The processor, and what the packages are that compute."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("torch", "numpy", "numba"))
    return f"{processor()}; {platform.system()}, Python {platform.python_version()}, {versions}"


def say(console: Console, text: str) -> None:
    """A line as it is, without colours."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)
