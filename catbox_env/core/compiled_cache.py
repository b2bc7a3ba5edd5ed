"""A disk cache of compiled functions, with a file for each signature of each function.

Numba's own cache checks only the function's own file for changes (Numba's issue 1833), does not recognise a closure
that another process compiled, and raises if no folder is writable. Here a file's name contains a digest of everything
that is compiled into it (`code_digest`), so a function that changes gets another file. If the folder is not writable,
what it holds is used, one warning is given, and everything else is compiled in every process.

Files are replaced as a whole. So processes can share a folder; those that start together may compile the same function
twice. Nothing checks a file for damage, except that one that cannot be read is compiled again and replaced.

Nothing tells which files an edit has made useless, because several checkouts can share a folder. So a file that no
process has loaded or written for `KEPT_DAYS` is removed: a load renews the file's modification time if it is more than
a day old, and a process removes old files when it first writes one. No other files are removed.

Only `core.compilation` imports this module, and only if Numba is installed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import secrets
import sys
import time
import warnings
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

#: A file that no process has loaded or written for so many days is removed.
KEPT_DAYS = 30
_DAY = 24 * 60 * 60
#: The names of the files of this module, complete or half written: see `_DiskCache`.
_OWN_NAME = re.compile(r".+-[0-9a-f]{32}\.(nbc|[0-9a-f]{12}\.part)")

#: If set, called before each compilation of a function that is kept on disk.
before_compiling: Callable[[], None] | None = None


def folder() -> Path:
    """Where compiled code is cached: ``NUMBA_CACHE_DIR``, or a folder in the user's cache."""
    return Path(numba.config.CACHE_DIR or AppDirs("catbox", appauthor=False).user_cache_dir)


def keep_on_disk(dispatcher: Any) -> Any:
    """``dispatcher``, made by ``numba.njit``, with a disk cache."""
    if hasattr(dispatcher, "py_func"):  # with NUMBA_DISABLE_JIT, it is a plain function
        dispatcher._cache = _DiskCache(dispatcher)
    return dispatcher


def make_name_unique(function: Callable[..., Any]) -> None:
    """Give ``function`` a name in machine code that no other function has, in any process.

    Numba names a function by its module, its name, the types of its arguments and a number, which counts from 1 in
    every process. So one closure of a function could be taken for another one, which another process compiled.
    """
    function.__qualname__ = f"{_name_in_source(function)}@{secrets.token_hex(6)}"


def _name_in_source(function: Callable[..., Any]) -> str:
    return function.__qualname__.partition("@")[0]


class _DiskCache(NullCache):
    """What a dispatcher asks for a signature before it compiles it, and gives it to afterwards."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        target_context.refresh()
        file = self._file(sig, target_context.codegen())
        try:
            loaded = CompileResult._rebuild(target_context, *pickle.loads(file.read_bytes()))
        except Exception:  # noqa: BLE001  (no file, or a damaged one: unpickling it can raise anything)
            if before_compiling is not None:
                before_compiling()
            return None
        _renew(file)
        return loaded

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        if data.library.has_dynamic_globals:
            name = self._dispatcher.py_func.__name__
            _warn_once(f"{name} contains addresses of this process, such as that of a large constant array")
            return
        file = self._file(sig, data.codegen)
        part = file.with_suffix(f".{secrets.token_hex(6)}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(dumps(data._reduce()))
            part.replace(file)
            _remove_old_files(file.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink()
            if not file.exists():  # on Windows, another process may be reading what it has written just now
                _warn_once(
                    f"{file.parent} is not writable ({error.strerror}); set the environment variable NUMBA_CACHE_DIR "
                    "to a writable folder"
                )

    def _file(self, sig: Any, codegen: Any) -> Path:
        """The file for a signature, compiled for this processor by these versions with these settings."""
        compiler = (numba.__version__, sys.implementation.cache_tag, codegen.magic_tuple())
        settings = (numba.config.BOUNDSCHECK, numba.config.OPT)
        key = hashlib.sha256(f"{code_digest(self._dispatcher)} {sig} {compiler} {settings}".encode())
        function = self._dispatcher.py_func
        return folder() / f"{function.__module__}.{function.__name__}-{key.hexdigest()[:32]}.nbc"


def _renew(file: Path) -> None:
    """Set the modification time of ``file``, which has been loaded, to now if it is more than a day old."""
    with contextlib.suppress(OSError):  # another user's file, a read-only folder, or just removed
        if time.time() - file.stat().st_mtime > _DAY:
            os.utime(file)


@functools.cache
def _remove_old_files(folder: Path) -> None:
    """Remove what no process has loaded or written for `KEPT_DAYS`; once a process."""
    for file in folder.iterdir():
        with contextlib.suppress(OSError):  # another user's file, in use on Windows, or just removed
            if _OWN_NAME.fullmatch(file.name) and time.time() - file.stat().st_mtime > KEPT_DAYS * _DAY:
                file.unlink()


@functools.cache
def _warn_once(why: str) -> None:
    warnings.warn(
        f"compiled code is not cached on disk: {why}. Every start recompiles it, which can take a minute",
        RuntimeWarning,
        stacklevel=3,
    )


_CONSTANTS = (int, float, complex, str, bytes, NoneType, Enum, np.generic, np.dtype)


def code_digest(function: Any) -> str:
    """A digest of everything that a function, compiled or plain, is compiled from.

    Numba compiles the functions that it calls, and the constants that it reads, into its machine code. So the digest
    covers these recursively: bytecode, closures, global variables, attributes of modules and classes, and compiler
    options. Anything else, such as a NumPy function, counts by its name.
    """
    digest, met = hashlib.sha256(), dict[tuple[int, tuple[str, ...]], int]()

    def write(*words: Any) -> None:
        digest.update(f"{words!r};".encode())

    def add(value: Any, names: tuple[str, ...] = ()) -> None:
        """Add a value; of a module or class, only the attributes with these ``names``, which the code reads."""
        plain = getattr(value, "py_func", value)
        if isinstance(plain, _CONSTANTS):
            write(type(plain).__name__, plain)
        elif isinstance(plain, np.ndarray):
            write(plain.dtype, plain.shape, plain.tobytes())
        elif isinstance(plain, tuple | frozenset):
            write(type(plain).__name__, getattr(plain, "_fields", ()), len(plain))
            for item in plain if isinstance(plain, tuple) else sorted(plain, key=repr):
                add(item)
        elif isinstance(plain, CodeType):
            write(plain.co_code, plain.co_names, plain.co_varnames, plain.co_freevars)
            add(plain.co_consts)
        elif (key := (id(plain), names if isinstance(plain, ModuleType | type) else ())) in met:
            write("met", met[key])
        elif isinstance(plain, ModuleType | type):
            met[key] = len(met)
            write(plain.__name__, getattr(plain, "_fields", ()))
            for name in names:
                if name in vars(plain):
                    add(vars(plain)[name], names)
        elif isinstance(plain, FunctionType):
            met[key] = len(met)
            # Machine code contains the module names of its functions: a moved function is a different one.
            write(plain.__module__, _name_in_source(plain), getattr(value, "targetoptions", {}))
            add((plain.__code__, plain.__defaults__, *(plain.__kwdefaults__ or {}).items()))
            add(tuple(cell.cell_contents for cell in plain.__closure__ or ()))
            names = _names(plain.__code__)
            for name in names:
                add(plain.__globals__.get(name), names)
        elif isinstance(plain, numba.types.Type):
            write(plain)
        else:
            write(type(plain).__name__, getattr(plain, "__module__", ""), getattr(plain, "__name__", ""))

    add(function)
    return digest.hexdigest()


def _names(code: CodeType) -> tuple[str, ...]:
    """The names of global variables and attributes in ``code`` and in its nested functions."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return code.co_names + sum(inner, ())
