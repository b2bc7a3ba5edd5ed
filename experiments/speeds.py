"""How fast each variant plays and learns, measured for all of them in turn on a machine that does nothing else.

The seconds of the runs themselves say little where runs shared the machine. What counts for the speed are the
settings, so one file serves all studies.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console

from benchmarks.training import training_run
from catbox_train import load_config
from catbox_train.algorithm import algorithm_class
from catbox_train.opponents import OpponentOptions
from experiments.results import read_rows, write_rows
from experiments.runner import machine, say
from experiments.study import Run, flat

FILE = "speeds.json"
#: Settings that change nothing of what an update takes.
OTHER_SETTINGS = frozenset(
    (
        "seed",
        "total_decisions",
        "checkpoint_every",
        "evaluate_every",
        "evaluate_deals",
        "final_deals",
        "opponents",
    )
)
#: Updates without the clock, then as many with it; the faster of the rounds counts.
UPDATES, ROUNDS = 2, 2


class Speed(BaseModel):
    """Decisions a second, played and learned from, with the ``settings`` of a run (by name, as ``flat`` gives them)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    settings: dict[str, Any]
    decisions_per_second: float = Field(gt=0)
    machine: str


class Speeds:
    """Those in the file of a folder, none where there is no file. Raises ``ValueError`` for a damaged one."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        self._found = {_key(speed.settings): speed for speed in read_rows(self.file, Speed)}

    def of(self, settings: Mapping[str, Any]) -> Speed | None:
        """That of a run with ``settings``, as ``flat`` gives them; None if it was not measured.

        A setting that it lacks, because another version made it, has its default.
        """
        return self._found.get(_key(settings))

    def add(self, speed: Speed) -> None:
        """Write it to the file."""
        self._found[_key(speed.settings)] = speed
        write_rows(self.file, [found for _, found in sorted(self._found.items())])


def measure_speeds(runs: Iterable[Run], folder: Path, console: Console) -> None:
    """Measure what the ``runs`` need that is not in the file yet, and write it, one after the other.

    Updates of a new run are measured, with the pool of earlier policies filled from the first on. Raises
    ``ValueError`` for a damaged file.
    """
    speeds = Speeds(folder)
    to_do: dict[str, Run] = {}
    for run in runs:
        settings = flat(run.config.settled())
        if speeds.of(settings) is None:
            to_do.setdefault(_key(settings), run)
    for number, run in enumerate(to_do.values(), start=1):
        settings = _that_count(flat(run.config.settled()))
        measured = max(_measure(run) for _ in range(ROUNDS))
        speeds.add(Speed(settings=settings, decisions_per_second=round(measured), machine=machine()))
        what = f"study {run.study!r}, {run.rules}, variant {run.variant!r}"
        say(console, f"{number} of {len(to_do)}: {what}: {measured:,.0f} decisions a second")


def _measure(run: Run) -> float:
    """Decisions a second of the updates after the first ones."""
    config = run.config.settled()
    if isinstance(config.algorithm_options, OpponentOptions):
        config = config.replace(algorithm_options=config.algorithm_options.replace(past_every=1))
    with ExitStack() as closing:
        update = training_run(config, UPDATES, closing, algorithm_class(config.algorithm))
        update()
        return update()


def _key(settings: Mapping[str, Any]) -> str:
    default = _defaults(settings.get("algorithm", "ppo"))
    return json.dumps(_that_count({**default, **settings}), sort_keys=True)


@functools.cache
def _defaults(algorithm: str) -> dict[str, Any]:
    return flat(load_config(overrides={"algorithm": algorithm}))


def _that_count(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in OTHER_SETTINGS}
