"""Games on a GPU, where there is none: what is missing is said. What they do is tested in tests/toolkits."""

from __future__ import annotations

from typing import Any

import pytest

import catbox_env


def _has_gpu() -> bool:
    try:
        catbox_env.make_vec("petrify_v0", 1, device="cuda")
    except ValueError:
        return False
    return True


@pytest.mark.skipif(_has_gpu(), reason="there is a GPU here")
def test_a_machine_without_a_gpu_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"device='cuda': games on a GPU need .*catbox-env\[gpu\]"):
        catbox_env.make_vec("petrify_v0", 4, device="cuda")


@pytest.mark.parametrize(("device", "threads"), [("gpu", 1), ("cuda:x", 1), (0, 1), ("cuda", 2)])
def test_a_wrong_device_is_refused(device: Any, threads: int) -> None:
    with pytest.raises(
        ValueError, match=r"expected 'cpu', 'cuda' or 'cuda:N'|threads are for games on the CPU"
    ):
        catbox_env.make_vec("petrify_v0", 4, device=device, num_threads=threads)
