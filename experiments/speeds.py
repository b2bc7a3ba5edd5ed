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

from pydantic import Field
from rich.console import Console

from benchmarks.training import training_run
from catbox_train import load_config
from catbox_train.algorithm import algorithm_class
from catbox_train.opponents import OpponentOptions
from experiments.results import Record, read_rows, write_rows
from experiments.runner import machine, say
from experiments.study import Run, flat

FILE = "speeds.json"
#: Settings that change nothing of what an update takes.
OTHER_SETTINGS = {
    *("seed", "total_decisions", "checkpoint_every", "final_deals"),
    *("evaluate_every", "evaluate_deals", "opponents"),
}
#: Updates without the clock, then as many with it; the faster of the rounds counts.
UPDATES, ROUNDS = 2, 2


class Speed(Record):
    """Decisions a second, played and learned from, with the ``settings`` of a run (by name, as ``flat`` gives them)."""

    settings: dict[str, Any]
    decisions_per_second: float = Field(gt=0)
    machine: str


def read_speeds(folder: Path) -> dict[str, Speed]:
    """Those in the file of a folder by their `speed_key`. Raises ``ValueError`` for a damaged one."""
    return {speed_key(speed.settings): speed for speed in read_rows(folder / FILE, Speed)}


def speed_key(settings: Mapping[str, Any]) -> str:
    """What of the settings of a run, as ``flat`` gives them, counts for its speed.

    A setting that they lack, because another version made them, has its default.
    """
    return json.dumps(
        _that_count({**_defaults(settings.get("algorithm", "ppo")), **settings}), sort_keys=True
    )


def measure_speeds(runs: Iterable[Run], folder: Path, console: Console) -> None:
    """Measure what the ``runs`` need that is not in the file yet, and write it, one after the other.

    Updates of a new run are measured, with the pool of earlier policies filled from the first on.
    """
    speeds = read_speeds(folder)
    for run in runs:
        config = run.config.resolved()
        settings = flat(config)
        if (key := speed_key(settings)) in speeds:
            continue
        if isinstance(config.algorithm_options, OpponentOptions):
            config = config.replace(algorithm_options=config.algorithm_options.replace(past_every=1))
        rates = []
        for _ in range(ROUNDS):
            with ExitStack() as closing:
                update = training_run(config, UPDATES, closing, algorithm_class(config.algorithm))
                update()
                rates.append(update())
        rate = round(max(rates))
        speeds[key] = Speed(settings=_that_count(settings), decisions_per_second=rate, machine=machine())
        write_rows(folder / FILE, [found for _, found in sorted(speeds.items())])
        say(console, f"{run}: {rate:,} decisions a second")


@functools.cache
def _defaults(algorithm: str) -> dict[str, Any]:
    return flat(load_config(overrides={"algorithm": algorithm}))


def _that_count(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in OTHER_SETTINGS}
