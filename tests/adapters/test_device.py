"""Games on a GPU, where there is none: what is missing is said. What they do is tested in tests/toolkits."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import catbox_env

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_machine_without_a_gpu_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"the extra \"gpu\"|finds 0 NVIDIA GPUs here"):
        catbox_env.make_vec("petrify_v0", 4, device="cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
@pytest.mark.slow
@pytest.mark.parametrize("command", ["-m benchmarks engine gpu", "examples/cleanrl_ppo.py cuda"])
def test_a_command_says_so_in_one_line_before_it_measures_anything(command: str) -> None:
    ran = subprocess.run(
        [sys.executable, *command.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert re.fullmatch(r".*(the extra \"gpu\"|finds 0 NVIDIA GPUs here).*\n", ran.stderr)


@pytest.mark.parametrize(("device", "threads"), [("gpu", 1), ("cuda:x", 1), (0, 1), ("cuda", 2)])
def test_a_wrong_device_is_refused(device: Any, threads: int) -> None:
    with pytest.raises(
        ValueError, match=r"expected 'cpu', 'cuda' or 'cuda:N'|threads are for games on the CPU"
    ):
        catbox_env.make_vec("petrify_v0", 4, device=device, num_threads=threads)
