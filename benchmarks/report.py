"""Metrics, the machine they were measured on, alternating repeats, and the table."""

from __future__ import annotations

import importlib
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from catbox_agents.arena.report import markdown_table


class Clock:
    """Sums the ``seconds`` of its ``with`` blocks."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._began


@dataclass(frozen=True)
class Metric:
    """One line of the table."""

    name: str
    value: float
    #: "/s" (decisions per second), "x" (a ratio), "%" (of 1), "s", "ms" or "" (a count)
    unit: str
    #: the bound it should reach, an upper one for times and counts; None if it is only a baseline
    target: float | None = None
    #: smallest and largest of the repeats
    spread: Sequence[float] = ()

    def row(self) -> list[str]:
        """The cells of the table."""
        target = reached = ""
        if self.target is not None:
            at_most = self.unit in ("s", "ms", "")
            target = f"{'at most' if at_most else 'at least'} {_number(self.target, self.unit)}"
            reached = "yes" if (self.value <= self.target if at_most else self.value >= self.target) else "no"
        spread = " - ".join(_number(value, self.unit) for value in self.spread)
        return [self.name, _number(self.value, self.unit), spread, target, reached]


def metric_of(name: str, values: Sequence[float], unit: str = "/s", target: float | None = None) -> Metric:
    """The median of repeats, with their spread."""
    return Metric(name, statistics.median(values), unit, target, (min(values), max(values)))


def ratio_of(
    name: str, values: Sequence[float], others: Sequence[float], target: float | None = None
) -> Metric:
    """The median of the ratios of repeats that ran right after each other."""
    return metric_of(name, [a / b for a, b in zip(values, others, strict=True)], "x", target)


def alternate(runs: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """``repeats`` results of each run, in turn, so that a slow minute of the machine affects all runs."""
    rounds = [{name: run() for name, run in runs.items()} for _ in range(repeats)]
    return {name: [found[name] for found in rounds] for name in runs}


def measure(name: str, quick: bool) -> list[Metric]:
    """The metrics of the module ``name``, measured in this process."""
    metrics: list[Metric] = importlib.import_module(f"benchmarks.{name}").measure(quick)
    return metrics


def processor() -> str:
    """The processor's model and number of cores."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), model)
    return f"{model}, {os.cpu_count()} cores"


def machine() -> str:
    """Processor, cores, load, and the versions that matter."""
    load = f", load {os.getloadavg()[0]:.2f} at the start" if hasattr(os, "getloadavg") else ""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    return f"{processor()}{load}; {platform.system()}, Python {platform.python_version()}, {versions}"


def table(metrics: Sequence[Metric]) -> str:
    """The metrics as a Markdown table."""
    header = ["metric", "median", "smallest - largest", "target", "reached"]
    return markdown_table([header, *(metric.row() for metric in metrics)])


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{value:.0%}"
    if unit in ("s", "ms"):
        return f"{value:.2f} {unit}"
    if unit == "x":
        return f"{value:,.1f}x" if value >= 10 else f"{value:.2f}x"
    return f"{value:,.0f}{unit}"
