"""A digest of the sources that a compiled function is made from.

Numba compiles the functions that a function calls, and the constants that it reads, into its machine code. They stand
in the module of the function and in those that this imports, directly or not, so `sources_digest` reads all of these.
What the sources do not say is added: which functions are meant where code is compiled for one game or another.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

_STARTED = time.time()
_OWN = ("catbox_env", "catbox_agents", "catbox_train")
_LIBRARIES = (
    f"{os.sep}site-packages{os.sep}",
    f"{os.sep}dist-packages{os.sep}",
    sysconfig.get_path("stdlib"),
)


def sources_digest(function: Any) -> str | None:
    """The digest of what ``function``, compiled or plain, is made from.

    None where that cannot be told: code that was typed into a notebook, or edited since this process began.
    """
    modules: dict[str, None] = {}
    texts = list(_describe(function, modules, {}))
    files = list(_files(modules))
    known = all(name in sys.modules and getattr(sys.modules[name], "__file__", None) for name in modules)
    if not known or any(os.path.getmtime(file) > _STARTED for file in files):
        return None
    digest = hashlib.sha256()
    for part in (*map(str.encode, texts), *map(_content, files)):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]


def _describe(value: Any, modules: dict[str, None], met: dict[int, Any]) -> Iterator[str]:
    """Texts that tell ``value`` from others that a function may close over; ``modules`` gets those of functions.

    ``met``: the functions that have been described, by ``id``, so that those that call each other come to an end.
    """
    function = getattr(value, "py_func", value)
    if not isinstance(function, FunctionType):
        yield value.tobytes().hex() if hasattr(value, "tobytes") else repr(value)
    elif id(function) not in met:
        met[id(function)] = function
        modules[function.__module__] = None
        options = sorted(getattr(value, "targetoptions", {}).items())
        yield f"{function.__module__} {function.__code__.co_qualname} {function.__code__.co_firstlineno} {options}"
        for cell in function.__closure__ or ():
            yield from _describe(cell.cell_contents, modules, met)
        for name in function.__code__.co_names:
            named = function.__globals__.get(name)
            if isinstance(getattr(named, "py_func", named), FunctionType):
                yield from _describe(named, modules, met)


def _files(modules: Iterable[str]) -> Iterator[str]:
    """The files of ``modules`` and of what they import, as long as it is ours or no installed library."""
    found, left = set[str](), list(modules)
    while left:
        name = left.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        is_own = name.partition(".")[0] in _OWN
        if name in found or not file or not (is_own or not any(path in file for path in _LIBRARIES)):
            continue
        found.add(name)
        left += _imports(name)
        yield file


@cache
def _content(file: str) -> bytes:
    return Path(file).read_bytes()


@cache
def _imports(name: str) -> list[str]:
    """The modules that the module ``name`` may name in its import statements, those in functions left out."""
    module = sys.modules[name]
    named = []
    for node in ast.parse(_content(str(module.__file__))).body:
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            origin = importlib.util.resolve_name(origin, module.__package__)
            named += [origin, *(f"{origin}.{alias.name}" for alias in node.names)]
    return named
