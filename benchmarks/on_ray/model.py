"""What an update of training takes with K workers: a model, and its numbers from what was measured.

    seconds = rows / K * (play + epochs * learn) + steps * exchange(K) + fixed
    exchange(K) = messages * latency + bytes / bandwidth

``rows`` are the decisions of a batch. In each of the ``steps`` gradient steps a worker sends every other one a part of
its gradient and later its part of the weights, and with these the lengths of its gradients: 3 (K - 1) messages and
(K - 1) / K of the bytes of the gradient and of the weights.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MEASURED = Path(__file__).parent / "measured.json"
#: Workers that the tables tell of.
WORKERS = (1, 2, 8, 64, 512)
#: Between the machines of a cluster, where nothing was measured: seconds a message, bytes a second.
ETHERNET = (50e-6, 1.25e9)


@dataclass(frozen=True)
class Model:
    """Seconds of a decision that is played, and of one that is learned from once; of a message; bytes a second; and the
    seconds of an update that do not depend on its size."""

    play: float
    learn: float
    latency: float
    bandwidth: float
    fixed: float

    def exchange(self, workers: int, weight_bytes: int) -> float:
        """Seconds that the workers take to exchange gradients and weights, in one step."""
        return 3 * (workers - 1) * self.latency + sent_bytes(workers, weight_bytes) / self.bandwidth

    def update(self, workers: int, rows: int, steps: int, epochs: int, weight_bytes: int) -> float:
        """Seconds of an update of ``rows`` decisions, all workers together."""
        compute = rows / workers * (self.play + epochs * self.learn)
        return compute + steps * self.exchange(workers, weight_bytes) + self.fixed


def sent_bytes(workers: int, weight_bytes: int) -> float:
    """Bytes that a worker sends in one step: its gradient and its weights, both in float32."""
    return 2 * weight_bytes * (workers - 1) / workers


def fit(measured: dict[str, Any]) -> Model:
    """The model of the machine that was measured; latency and bandwidth by least squares of the relative errors."""
    rows = [(3 * (e["workers"] - 1), sent_bytes(e["workers"], e["bytes"])) for e in measured["exchange"]]
    seconds = np.array([e["seconds"] for e in measured["exchange"]])
    scaled = np.array(rows) / seconds[:, None]
    latency, slowness = _not_negative(scaled, np.ones(len(seconds)))
    return Model(
        measured["seconds"]["play"],
        measured["seconds"]["learn"],
        latency,
        1 / max(slowness, 1e-15),
        measured["seconds"]["fixed"],
    )


def between_machines(measured: dict[str, Any]) -> Model:
    """The model of a cluster of such machines."""
    model = fit(measured)
    return Model(model.play, model.learn, *ETHERNET, model.fixed)


def _not_negative(left: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Least squares with two unknowns, none of them under 0."""
    found, *_ = np.linalg.lstsq(left, right, rcond=None)
    if (found < 0).any():
        kept = int(np.argmax(found))
        found = np.zeros(2)
        found[kept] = left[:, kept] @ right / (left[:, kept] @ left[:, kept])
    return float(found[0]), float(found[1])


def load() -> dict[str, Any]:
    """What was measured last."""
    measured: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return measured


def measured_rows(measured: dict[str, Any]) -> list[Sequence[object]]:
    """Decisions a second, as measured."""
    speeds = {name: float(np.median(values)) for name, values in measured["speeds"].items()}
    first = next(iter(speeds.values()))
    rows: list[Sequence[object]] = [("workers", "decisions a second", "to one worker without Ray")]
    return rows + [(name, f"{speed:,.0f}", f"{speed / first:.2f} x") for name, speed in speeds.items()]


def exchange_rows(measured: dict[str, Any]) -> list[Sequence[object]]:
    """Seconds of an exchange, as measured and by the model."""
    model = fit(measured)
    rows: list[Sequence[object]] = [
        ("workers", "weights", "bytes that a worker sends a step", "measured", "by the model")
    ]
    for found in measured["exchange"]:
        workers, size = found["workers"], found["bytes"]
        rows.append(
            (
                workers,
                f"{size // 4:,}",
                f"{sent_bytes(workers, size):,.0f}",
                f"{1e3 * found['seconds']:.2f} ms",
                f"{1e3 * model.exchange(workers, size):.2f} ms",
            )
        )
    return rows


def scaling_rows(measured: dict[str, Any], grows: bool) -> list[Sequence[object]]:
    """What to expect of each number of workers.

    ``grows``: each worker has as many decisions of a batch, and of a minibatch, as one worker alone; otherwise they
    share these. The workers are on machines between which `ETHERNET` is assumed.
    """
    run, model = measured["run"], between_machines(measured)
    alone = model.update(1, run["rows"], run["steps"], run["epochs"], run["weight_bytes"])
    rows: list[Sequence[object]] = [
        (
            "workers",
            "decisions of a batch",
            "seconds of an update",
            "of them exchange",
            "decisions a second",
            "efficiency",
        )
    ]
    for workers in WORKERS:
        batch = run["rows"] * (workers if grows else 1)
        seconds = model.update(workers, batch, run["steps"], run["epochs"], run["weight_bytes"])
        exchange = run["steps"] * model.exchange(workers, run["weight_bytes"])
        speed = batch / seconds
        efficiency = speed / (run["rows"] / alone) / workers
        rows.append(
            (
                workers,
                f"{batch:,}",
                f"{seconds:.2f}",
                f"{exchange / seconds:.0%}",
                f"{speed:,.0f}",
                f"{efficiency:.0%}",
            )
        )
    return rows


def most_workers(measured: dict[str, Any], grows: bool) -> int:
    """The largest number of workers, a power of 2, that wait for at most half of the time."""
    run, model = measured["run"], between_machines(measured)
    alone = model.update(1, run["rows"], run["steps"], run["epochs"], run["weight_bytes"]) / run["rows"]
    best = 1
    for workers in (2**power for power in range(1, 13)):
        batch = run["rows"] * (workers if grows else 1)
        seconds = model.update(workers, batch, run["steps"], run["epochs"], run["weight_bytes"])
        if alone * batch / seconds / workers >= 0.5:
            best = workers
    return best


def model_in_words(measured: dict[str, Any]) -> str:
    """The numbers of the model."""
    model, run = fit(measured), measured["run"]
    return (
        f"As measured: to play a decision takes {1e6 * model.play:.1f} microseconds and to learn from it once "
        f"{1e6 * model.learn:.1f};\na message {1e6 * model.latency:.0f} microseconds, at {model.bandwidth / 1e9:.2g} "
        "GB/s; "
        f"the rest of an update {1e3 * model.fixed:.0f} ms. The run has\n{run['weight_bytes'] // 4:,} weights, "
        f"{run['rows']:,} decisions of a batch, and {run['steps']} gradient steps in an update."
    )


def advice(measured: dict[str, Any]) -> str:
    """Where more workers stop paying."""
    same, grown = (most_workers(measured, grows) for grows in (False, True))
    return (
        f"With the same batch more than about {same} workers wait for more than half of the time, and with a batch "
        f"that grows\nmore than about {grown}: each worker sends a message to every other one, so the time of a step "
        "grows with their number."
    )
