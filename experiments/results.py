"""The results of a study: a file of JSON lines, one line for each run.

| key | meaning |
|---|---|
| `study`, `rules`, `variant`, `seed` | which run |
| `config` | every setting, by its name for `catbox_train.load_config` |
| `decisions`, `seconds`, `decisions_per_second` | of playing and learning, without evaluations |
| `curves` | opponent -> [[decisions, margin, margin_ci95], ...] of one net among such opponents, on the way |
| `matches` | at the end, on other deals: agents [one, others], margin of the one, its 95 % interval, deals |
| `diverged` | what was not finite, where the run diverged; then there are no matches |
| `version`, `commit`, `machine` | of catbox; of the checkout, "+" if it was changed; processor and versions |
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from scipy.stats import t

from catbox_agents.files import parse_json, read_text, write_atomically, writing
from experiments.study import FOLDER

RESULTS = FOLDER / "results"


class Match(BaseModel):
    """One agent among others."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    agents: tuple[str, str]
    margin: float
    margin_ci95: float
    deals: int


class RunResult(BaseModel):
    """One line."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

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
        """What tells the run from the others of its study."""
        return self.rules, self.variant, self.seed


def results_file(name: str, folder: Path = RESULTS) -> Path:
    """The file of the study ``name``."""
    return folder / f"{name}.jsonl"


def read_results(file: Path) -> list[RunResult]:
    """The results in ``file``, none where there is no file.

    A last line that is damaged is left out, which is told on standard error: its run is not finished. Raises
    ``ValueError`` for any other damaged line, a line of another study, and two lines of one run.
    """
    lines = [line for line in file.read_bytes().split(b"\n") if line] if file.exists() else []
    results: list[RunResult] = []
    for number, line in enumerate(lines, start=1):
        try:
            result = RunResult.model_validate(parse_json(line.decode("utf-8")))
        except ValueError as error:
            what = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            if number == len(lines):
                left_out = f"left out the last line, which is damaged ({what}); its run has to be made again"
                print(f"experiments: {file}: {left_out}", file=sys.stderr)
                break
            raise ValueError(
                f"{file}, line {number} is damaged ({what}): put it back from version control, or delete it to "
                "make its run again"
            ) from None
        if result.study != file.stem:
            raise ValueError(
                f"{file}, line {number} is of study {result.study!r}: move it to that study's file"
            )
        if same := [i for i, other in enumerate(results, start=1) if other.key == result.key]:
            raise ValueError(f"{file}, lines {same[0]} and {number} are of the same run: delete one of them")
        results.append(result)
    return results


def append_result(file: Path, result: RunResult) -> None:
    """Add a line, whole or not at all; a damaged last line is dropped. Raises ``WriteError``."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(file.with_name(f".{file.name}.lock")):
        results = [*read_results(file), result]
        text = "".join(f"{line.model_dump_json()}\n" for line in results)
        write_atomically(file, text.encode())


Row = TypeVar("Row", bound=BaseModel)


def read_rows(file: Path, kind: type[Row]) -> list[Row]:
    """The list in a file of JSON, none where there is no file. Raises ``ValueError`` for a damaged one."""
    try:
        return TypeAdapter(list[kind]).validate_python(parse_json(read_text(file))) if file.exists() else []  # type: ignore[valid-type]
    except ValueError as error:
        raise ValueError(f"{file} is damaged ({error}): delete it, and make it again") from None


def write_rows(file: Path, rows: Sequence[BaseModel]) -> None:
    """Write ``rows`` as `read_rows` reads them, a line each. Raises ``WriteError``."""
    lines = [json.dumps(row.model_dump()) for row in rows]
    write_file(file, "[\n" + ",\n".join(lines) + "\n]\n")


def write_file(file: Path, text: str) -> None:
    """Write ``text``, whole or not at all, with the folder of the file. Raises ``WriteError``."""
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
