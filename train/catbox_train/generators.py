"""The state of a random number generator, read back from a file."""

from __future__ import annotations

from typing import Any


def checked_generator(name: str, state: object) -> dict[str, Any]:
    """``state`` as a generator of NumPy, a PCG64, takes it. Raises ``ValueError``, with its ``name``, for any other."""

    def is_int(value: object, stop: int) -> bool:
        return type(value) is int and 0 <= value < stop

    inner = state.get("state") if isinstance(state, dict) else None
    if (
        not isinstance(state, dict)
        or not isinstance(inner, dict)
        or state.keys() != {"bit_generator", "state", "has_uint32", "uinteger"}
        or inner.keys() != {"state", "inc"}
        or state["bit_generator"] != "PCG64"
        or not is_int(state["has_uint32"], 2)
        or not is_int(state["uinteger"], 1 << 32)
        or not is_int(inner["state"], 1 << 128)
        or not is_int(inner["inc"], 1 << 128)
        or inner["inc"] % 2 == 0  # of a linear congruential generator of full period
    ):
        raise ValueError(f"{name}: expected the state of a PCG64, not {state!r:.200}")
    return state
