"""A digest of everything that compiled code is made from, in whatever file it stands.

Numba compiles the functions that a function calls, and the global constants that it reads, into its machine code.
`code_digest` follows them all, so that machine code kept under its digest can never be run after one of them changed.
It looks at the functions themselves, not at their files: these may have been edited since they were imported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

#: Values that their ``repr`` tells apart.
_PLAIN = (type(None), type(...), bool, int, float, complex, str, bytes, np.generic, np.dtype)
#: Packages that are not followed: Numba has its own implementations of their functions.
_NOT_FOLLOWED = ("numba", "numpy")


def code_digest(function: Callable[..., Any]) -> str:
    """The digest of ``function``, compiled or plain, and of all that its compiled code depends on.

    Followed are the globals, closure cells and default values that its code names: functions (with what they name in
    turn), attributes of modules and classes, numbers, text, tuples and other containers, arrays and dtypes. Not
    followed are attributes of other objects, implementations registered with Numba (``numba.extending``), ufuncs made
    with ``numba.vectorize``, and what NumPy and Numba themselves do.
    """
    digest = hashlib.sha256()
    for text in _describe(function, (), {}):
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:16]


def _describe(value: Any, names: tuple[str, ...], met: dict[int, Any]) -> Iterator[str]:
    """Texts that tell ``value`` from every other value that compiled code may find in its place.

    ``names``: those in the code that uses it. ``met``: what has been described already, by ``id``, so that functions
    that call each other come to an end.
    """
    if hasattr(value, "py_func"):
        yield f"compiled {sorted(value.targetoptions.items())}"
        value = value.py_func
    yield type(value).__qualname__
    if isinstance(value, _PLAIN):
        yield repr(value)
    elif isinstance(value, CodeType):
        yield from _describe_code(value, names, met)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype!r} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, tuple | list):
        yield f"{len(value)}"
        for item in value:
            yield from _describe(item, names, met)
    elif isinstance(value, dict):
        yield from _describe([*value.items()], names, met)
    elif isinstance(value, set | frozenset):
        yield repr(sorted(map(repr, value)))
    elif id(value) in met:
        yield f"number {list(met).index(id(value))}"
    else:
        met[id(value)] = value
        yield " ".join(f"{getattr(value, name, '')}" for name in ("__module__", "__name__", "_fields"))
        if not _is_followed(value):
            return
        if isinstance(value, FunctionType):
            yield from _describe_function(value, met)
        elif isinstance(value, ModuleType | type):
            for name in names:
                if name in vars(value):
                    yield name
                    yield from _describe(vars(value)[name], names, met)


def _is_followed(value: Any) -> bool:
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return (module or "").partition(".")[0] not in _NOT_FOLLOWED


def _describe_function(function: FunctionType, met: dict[int, Any]) -> Iterator[str]:
    code = function.__code__
    names = tuple(sorted(_names(code)))
    yield from _describe(code, names, met)
    yield from _describe((function.__defaults__, function.__kwdefaults__), names, met)
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        found[f"{name} of the function around it"] = cell.cell_contents
    for name, value in found.items():
        yield name
        yield from _describe(value, names, met)


def _describe_code(code: CodeType, names: tuple[str, ...], met: dict[int, Any]) -> Iterator[str]:
    yield code.co_code.hex()
    yield code.co_exceptiontable.hex()
    yield f"{code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount} {code.co_flags}"
    yield f"{code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars}"
    yield from _describe(code.co_consts, names, met)


def _names(code: CodeType) -> set[str]:
    """The globals and attributes that ``code`` and the functions in it name."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))
