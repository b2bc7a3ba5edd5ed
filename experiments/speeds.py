"""How fast each variant plays and learns, measured one after the other on an otherwise idle machine.

The seconds of the runs themselves are unreliable if runs shared the machine. The speed depends only on the settings, so
one file serves all studies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field
from rich.console import Console

from benchmarks.training import training_run
from catbox_train.self_play_config import SelfPlayConfig
from experiments.results import Record, read_rows, write_rows
from experiments.runner import machine, say
from experiments.study import Run, flat

FILE = "speeds.json"
#: Settings that do not affect the speed of an update.
OTHER_SETTINGS = {
    *("seed", "total_decisions", "checkpoint_every", "final_deals"),
    *("evaluate_every", "evaluate_deals", "eval_opponents"),
}
#: Updates before timing, then as many with timing; the fastest round counts.
UPDATES, ROUNDS = 2, 2


class Speed(Record):
    """Decisions a second, played and learned from, with the ``settings`` of a run (by name, as ``flat`` gives them)."""

    settings: dict[str, Any]
    decisions_per_second: float = Field(gt=0)
    machine: str


def read_speeds(folder: Path) -> list[Speed]:
    """The speeds in the file of a folder. Raises ``ValueError`` for a damaged file."""
    return read_rows(folder / FILE, Speed)


def speed_of(settings: Mapping[str, Any], speeds: Iterable[Speed]) -> Speed | None:
    """The speed that was measured with the settings of a run, as ``flat`` gives them; None if there is none.

    Settings that only one of the two has belong to another version and are ignored, as are `OTHER_SETTINGS`.
    """
    own = _that_count(settings)
    for speed in speeds:
        if all(speed.settings[name] == value for name, value in own.items() if name in speed.settings):
            return speed
    return None


def measure_speeds(runs: Iterable[Run], folder: Path, console: Console) -> None:
    """Measure the speeds of ``runs`` that are not in the file yet, and write each into it.

    The measured updates are those of a new run whose pool of earlier policies is already full.
    """
    speeds = read_speeds(folder)
    for run in runs:
        config = run.config.resolved(run.config.make_game())
        settings = flat(config)
        if speed_of(settings, speeds) is not None:
            continue
        if isinstance(config, SelfPlayConfig):
            config = config.replace(past_every=1)
        update = training_run(config, UPDATES)
        update()
        rates = [update() for _ in range(ROUNDS)]
        rate = round(max(rates))
        speeds.append(Speed(settings=_that_count(settings), decisions_per_second=rate, machine=machine()))
        write_rows(folder / FILE, speeds)
        say(console, f"{run}: {rate:,} decisions a second")


def _that_count(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in OTHER_SETTINGS}
