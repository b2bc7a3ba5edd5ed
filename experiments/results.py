"""The folders of experiments, and the results of a study: a JSON Lines file with one line for each run.

| key | meaning |
|---|---|
| `study`, `rules`, `variant`, `seed` | which run |
| `config` | every setting, by its name for `catbox_train.load_config` |
| `decisions`, `seconds`, `decisions_per_second` | of playing and learning, without evaluations |
| `curves` | opponent -> [[decisions, margin, margin_ci95], ...] of one net among such opponents, during training |
| `matches` | at the end, on other deals: agents [one, others], margin of the one, its 95 % interval, deals |
| `diverged` | what was not finite, if the run diverged; then there are no matches |
| `version`, `commit`, `machine` | of catbox; of the checkout, "+" if it was changed; processor and versions |
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field
from scipy.stats import t

from catbox_agents.system.files import write_atomically, writing

ROOT = Path(__file__).resolve().parent.parent


class Folders:
    """The folders of the checkout at ``root``.

    ``own``: settings of the zoo; ``studies``: a YAML file each; ``results``: what was measured; ``runs``: what is
    trained; ``docs``: the pages; ``submissions``: the rows of the leaderboard.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.own, self.runs, self.docs = root / "experiments", root / "runs", root / "docs"
        self.studies, self.results = self.own / "studies", self.own / "results"
        self.submissions = root / "benchmark" / "submissions"

    def results_of(self, study: str) -> list[RunResult]:
        """The results of a study so far."""
        return read_lines(self.results / f"{study}.jsonl", RunResult)


class Record(BaseModel):
    """The base of what result files hold."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Match(Record):
    """One agent among others."""

    agents: tuple[str, str]
    margin: float
    margin_ci95: float
    deals: int


class RunResult(Record):
    """One line of a result file."""

    study: str
    rules: str
    variant: str
    seed: int
    config: dict[str, Any]
    decisions: int = Field(ge=0)
    seconds: float = Field(ge=0)
    decisions_per_second: float = Field(ge=0)
    curves: dict[str, list[tuple[int, float, float]]]
    matches: list[Match]
    diverged: str | None
    version: str
    commit: str
    machine: str

    @property
    def key(self) -> tuple[str, str, int]:
        """What identifies the run within its study."""
        return self.rules, self.variant, self.seed


Row = TypeVar("Row", bound=Record)


def read_lines(file: Path, kind: type[Row]) -> list[Row]:
    """The lines of a JSON Lines file, none if it does not exist. Raises ``ValueError`` for a damaged line."""
    rows = []
    for number, line in enumerate(file.read_bytes().splitlines() if file.exists() else (), start=1):
        try:
            rows.append(kind.model_validate_json(line))
        except ValueError as error:
            raise ValueError(f"{file}, line {number} is damaged: {error}") from None
    return rows


def append_line(file: Path, row: Record) -> None:
    """Add a line atomically. Raises ``WriteError``."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{file}.lock"):  # several processes may work on one file
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        write_file(file, f"{before}{row.model_dump_json()}\n")


def write_file(file: Path, text: str) -> None:
    """Write ``text`` atomically, creating the folder if needed. Raises ``WriteError``."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, text.encode())


def mean_of(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean, and half the width of its 95 % interval (Student's t); None for a single value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    quantile = float(t.ppf(0.975, len(values) - 1))
    return mean, quantile * statistics.stdev(values) / math.sqrt(len(values))
