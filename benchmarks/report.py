"""One metric, the machine it was measured on, repeats that alternate, and the table."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Metric:
    """One line of the table."""

    name: str
    value: float
    #: "/s" (decisions per second), "s", "ms", "x" (a ratio), "%" (of 1) or "" (a count)
    unit: str
    #: the bound it should reach; None where it is only there to be compared with
    target: float | None = None
    #: the target is an upper bound
    at_most: bool = False
    #: smallest and largest of the repeats
    spread: Sequence[float] | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one."""
        if self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target

    def row(self) -> list[str]:
        """The cells of the table."""
        target = ""
        if self.target is not None:
            target = f"{'at most' if self.at_most else 'at least'} {_number(self.target, self.unit)}"
        spread = " - ".join(_number(value, self.unit) for value in self.spread) if self.spread else ""
        reached = {None: "", True: "yes", False: "no"}[self.met]
        return [self.name, _number(self.value, self.unit), spread, target, reached]


def metric_of(
    name: str, values: Sequence[float], unit: str, target: float | None = None, at_most: bool = False
) -> Metric:
    """The median of repeats, with their spread."""
    return Metric(name, statistics.median(values), unit, target, at_most, (min(values), max(values)))


def ratio_of(name: str, values: Sequence[float], others: Sequence[float], target: float | None) -> Metric:
    """The median of the ratios of repeats that ran one right after the other."""
    return metric_of(name, [a / b for a, b in zip(values, others, strict=True)], "x", target)


def alternate(runs: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """``repeats`` results of each run, in turn: a slow minute of the machine then slows all of them."""
    results: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            results[name].append(run())
    return results


def processor() -> str:
    """Model and number of cores."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [
            line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line
        ]
        model = models[0] if models else model
    return f"{model}, {os.cpu_count()} cores"


def machine() -> str:
    """Processor, cores, load, and the versions that matter."""
    load = f", load {os.getloadavg()[0]:.2f} at the start" if hasattr(os, "getloadavg") else ""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    return f"{processor()}{load}; {platform.system()}, Python {platform.python_version()}, {versions}"


def table(metrics: Sequence[Metric]) -> str:
    """The metrics as a Markdown table."""
    rows = [
        ["metric", "median", "smallest - largest", "target", "reached"],
        *(metric.row() for metric in metrics),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _number(value: float, unit: str) -> str:
    if unit == "/s":
        return f"{value:,.0f}/s"
    if unit == "%":
        return f"{value:.0%}"
    if unit in ("s", "ms"):
        return f"{value:.2f} {unit}"
    if unit == "":
        return f"{value:,.0f}"
    return f"{value:,.1f}x" if value >= 10 else f"{value:.2f}x"
