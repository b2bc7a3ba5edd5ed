"""Mutated states, deals, observations and histories crash nothing, under any rules.

A child process reads and plays them with every index of the compiled code checked.
"""

import os
import re
import subprocess
import sys

import pytest

import catbox_env
from tests.core.fuzz import CHECKS


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_mutated_input_is_refused_or_harmless(game_id: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.core.fuzz", "--inputs", "120", "--seed", "1", "--game", game_id],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0"},  # not optimised, compiled in half the time
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, f"exit {done.returncode}: {done.stdout}{done.stderr[-3000:]}"
    refused = dict(re.findall(r"(.+): 120 inputs, (\d+) refused", done.stdout))
    assert set(refused) == set(CHECKS)
    assert all(int(number) > 15 for number in refused.values()), refused
