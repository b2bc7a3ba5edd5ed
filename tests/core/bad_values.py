"""Values that no function expects, and the check that a function refuses them."""

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
import catbox_train


class Odd:
    """An object that no function expects."""

    def __repr__(self) -> str:
        return "<odd>"


#: Values of every kind. A case names those that its function accepts.
VALUES: list[Any] = [
    None, "no", "3", "", 2.5, 1.0, float("nan"), float("inf"), True, False, -1, 99_999, 2**63, -(2**63), 10**30,
    np.uint64(2**64 - 1), np.float32(1.0), np.bool_(True), b"x", [], [1.5], ["a"], [[1]], [[1], [1, 2]], (), {},
    {1}, Odd(), Odd,
    np.array([1.5]), np.zeros((2, 2, 2)), np.array(["a"]), np.array(None), np.array([]), 1j, "x" * 5000,
]  # fmt: skip

INTEGERS = [99_999, 2**63, 10**30, np.uint64(2**64 - 1)]
FLAGS = [True, False, np.bool_(True)]
NONE = [None]
TEXTS = ["no", "3", "", "x" * 5000]


def is_one_of(value: Any, others: list[Any]) -> bool:
    return any(type(value) is type(other) and repr(value) == repr(other) for other in others)


def is_named(value: Any, message: str) -> bool:
    """Whether ``message`` has its text, its type, its first item, its dtype and shape as an array, or its length."""
    ragged = isinstance(value, list) and value == [[1], [1, 2]]
    array = np.asarray(value, dtype=object if ragged or isinstance(value, set | dict) else None)
    names = [repr(value)[:20], str(value)[:20], type(value).__name__, repr(array)[:6], str(array.shape)]
    names.append(f"{array.dtype} of shape {array.shape}")
    if isinstance(value, list | tuple | dict | np.ndarray) and array.ndim:
        names += [str(len(value)), "[]", *(repr(item) for item in list(value)[:1])]
    return any(name in message for name in names)


def check_refusals(
    name: str, function: Callable[[Any], Any], taken: list[Any], fingerprint: Callable[[], bytes]
) -> None:
    """Check that ``function`` refuses every value that is not in ``taken``, and changes nothing.

    The error must come from catbox's own code, name the value, and say what to do.
    """
    refused = 0
    for value in VALUES:
        if is_one_of(value, taken):
            continue
        before = fingerprint()
        with pytest.raises((ValueError, TypeError)) as refusal:
            function(value)
        message = str(refusal.value)
        raised_in = traceback.extract_tb(refusal.value.__traceback__)[-1].filename
        ours = (*catbox_env.__path__, *catbox_agents.__path__, *catbox_train.__path__)
        assert raised_in.startswith(ours), f"{name} of {value!r}: not ours: {message}"
        assert "expected" in message or "; give" in message, f"{name} of {value!r}: no remedy: {message}"
        assert is_named(value, message), f"{name} of {value!r}: not named: {message}"
        assert len(message) < 1500, f"{name}: {len(message)} characters"
        assert fingerprint() == before, f"{name} of {value!r} changed something"
        refused += 1
    assert refused >= 25
