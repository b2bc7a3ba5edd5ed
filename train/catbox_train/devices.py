"""The device of a run's networks."""

from __future__ import annotations

import torch


def check_device(name: str) -> str:
    """The device that ``name`` (auto, cpu, cuda, cuda:N) stands for here: cpu or cuda:N.

    ``auto`` is the first CUDA GPU, or the CPU if there is none. Raises ``ValueError`` for a GPU that is not available.
    """
    if name == "auto":
        return "cuda:0" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda"):
        _, _, number = name.partition(":")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if int(number or 0) >= count:
            found = f"torch finds {count} CUDA device{'s' * (count != 1)} here"
            raise ValueError(f"device = {name!r} is not available: {found}; use auto, cpu or another number")
        return f"cuda:{int(number or 0)}"
    return name


def device_of(device: str, rank: int, size: int) -> str:
    """The device of process ``rank`` of ``size`` on this machine: a GPU for each, from ``device`` on, if there are as
    many; otherwise ``device``, which they share."""
    count = torch.cuda.device_count() if device.startswith("cuda") else 0
    if size > count:
        return device
    return f"cuda:{((torch.device(device).index or 0) + rank) % count}"


def native_precision(device: str) -> str:
    """``"bfloat16"`` if ``device`` multiplies it natively (at least twice as fast), else ``"float32"``."""
    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    # Older versions of torch cannot tell; float32 works everywhere.
    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    native = capabilities.get("avx512_bf16") or capabilities.get("amx_bf16")
    return "bfloat16" if native else "float32"


def free_memory(device: torch.device) -> int | None:
    """Free bytes on ``device``; None if torch does not know (all but CUDA)."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else None
