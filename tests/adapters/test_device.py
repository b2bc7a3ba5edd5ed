"""Games on a GPU, where there is none: what is missing is said. What they do is tested in tests/toolkits."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import catbox_env


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_machine_without_a_gpu_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"the extra \"gpu\"|finds 0 NVIDIA GPUs here"):
        catbox_env.make_vec("petrify_v0", 4, device="cuda")


@pytest.mark.parametrize(("device", "threads"), [("gpu", 1), ("cuda:x", 1), (0, 1), ("cuda", 2)])
def test_a_wrong_device_is_refused(device: Any, threads: int) -> None:
    with pytest.raises(
        ValueError, match=r"expected 'cpu', 'cuda' or 'cuda:N'|threads are for games on the CPU"
    ):
        catbox_env.make_vec("petrify_v0", 4, device=device, num_threads=threads)
