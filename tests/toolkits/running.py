"""What the tests of all examples do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def check_example(name: str, amount: int, gain: float, lines: int = 80) -> None:
    """Run ``examples/NAME.py`` with an ``amount`` of training that is smaller than its own: it has at most so many
    ``lines``, and its policy gains at least ``gain`` points a round."""
    assert len((ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= lines
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), str(amount)]
    result = subprocess.run(
        command, cwd=tempfile.gettempdir(), capture_output=True, text=True, timeout=500, check=False
    )
    assert result.returncode == 0, result.stderr
    found = re.search(r"^Points .*: (\S+) before, (\S+) after ", result.stdout, re.MULTILINE)
    assert found, result.stdout
    before, after = map(float, found.groups())
    assert after - before >= gain, result.stdout


def returns_of_ended(rewards: np.ndarray, dones: np.ndarray) -> list[float]:
    """The returns, sorted, of the games that end in the steps (T, N)."""
    ended, running = [], np.zeros(rewards.shape[1])
    for paid, over in zip(rewards, dones > 0, strict=True):
        running += paid
        ended += list(running[over])
        running[over] = 0
    return sorted(ended)


def run_in_the_simulator(module: str, *arguments: str) -> None:
    """Run ``module`` where Numba simulates a GPU: in another Python process, in which nothing is compiled."""
    result = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
