"""The loops of ``core.loops``, compiled over the kernels of one game."""

from __future__ import annotations

from functools import cache
from types import FunctionType, SimpleNamespace
from typing import Any

from catbox_env.core import loops
from catbox_env.core.compilation import cached_njit, njit
from catbox_env.core.kernels import Kernels


@cache
def bind(kernels: Kernels) -> SimpleNamespace:
    """The compiled functions of ``core.loops`` for the games with these kernels, by name.

    Each is written with the kernels as free names; here it gets a namespace that binds them to the game's kernels.
    """
    namespace: dict[str, Any] = {
        **vars(loops),
        **{name: getattr(kernels, name) for name in Kernels.__dataclass_fields__},
    }
    called_from_python = loops.LOOPS + loops.SINGLE_LOOPS
    for name in loops.ONE_GAME + called_from_python:
        plain = getattr(loops, name)
        bound = FunctionType(plain.__code__, namespace, name)
        bound.__module__ = plain.__module__
        bound.__doc__ = plain.__doc__
        if name in called_from_python:
            namespace[name] = cached_njit(bound, nogil=name in loops.LOOPS)
        else:
            # Inlined: a call with rows of arrays as arguments counts references to them, a tenth of the time.
            namespace[name] = njit(bound, inline="always")
    return SimpleNamespace(**{name: namespace[name] for name in loops.ONE_GAME + called_from_python})
