"""A robust disk cache of compiled functions: if it cannot work, the program runs without it.

Numba's own cache raises when no folder is writable, when the disk is full, and when one of its files is truncated; it
checks only the function's own file for changes (Numba's issue 1833); and processes that start together all compile
the same functions. The cache here works without a folder after one warning, recompiles a damaged entry, names its
entries by a digest of all that is compiled in (`code_digest`), lets one process compile while the others wait for it,
and also reads a folder named by ``NUMBA_CACHE_DIR`` that is not writable (in a container, say).

Only `core.compilation` imports this module, and only if Numba is installed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import secrets
import time
import warnings
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.core.compiler_lock import global_compiler_lock
from numba.misc.appdirs import AppDirs

try:
    import fcntl
except ImportError:  # Windows: processes that start together compile side by side
    fcntl = None  # type: ignore[assignment]

#: How long a process waits for another one to compile the same function before it compiles it too, in seconds.
LONGEST_WAIT = 300.0
#: How often it checks whether the other process is done, in seconds.
_INTERVAL = 0.02
_CHECKSUM_SIZE = hashlib.sha256().digest_size
#: Suffix of the names of functions that this process compiles.
_OF_PROCESS = f"_{secrets.token_hex(6)}"

#: Called when this process first compiles something, or waits for another one that does.
_tell: Callable[[], None] | None = None


def folder() -> str:
    """Where compiled code is cached if that is writable: ``NUMBA_CACHE_DIR``, or in the user's cache."""
    return numba.config.CACHE_DIR or AppDirs("catbox", appauthor=False).user_cache_dir


def tell_of_compiling(tell: Callable[[], None]) -> None:
    """Call ``tell`` once, when this process first compiles a function, or waits for another one that does."""
    global _tell
    _tell = tell


def name_apart(function: Callable[..., Any]) -> None:
    """Give ``function`` a name in machine code that is unique to this process and its forks.

    Numba names a function by its module, its name, the types of its arguments and a number, which counts from 1 in
    every process. So one version of a function, compiled by this process, could be taken for another version, cached
    on disk by an earlier process: two closures of one function, for example.
    """
    if not function.__qualname__.endswith(_OF_PROCESS):
        function.__qualname__ += _OF_PROCESS


def keep_on_disk(dispatcher: Any) -> Any:
    """``dispatcher``, made by ``numba.njit``, with a disk cache if possible.

    It opens the cache at the first call: only then are all names that the function uses defined.
    """
    if not hasattr(dispatcher, "enable_caching"):  # NUMBA_DISABLE_JIT
        return dispatcher
    compile_plainly, cache = dispatcher.compile, None
    looked = False

    def compile_with_cache(signature: Any) -> Any:
        nonlocal cache, looked
        with global_compiler_lock:
            if not looked:
                looked, cache = True, _make_cache(dispatcher.py_func, code_digest(dispatcher))
                dispatcher._cache = cache or dispatcher._cache
            if cache is None:
                _tell_once()
                return compile_plainly(signature)
            try:
                return compile_plainly(signature)
            finally:
                cache.release()

    dispatcher.compile = compile_with_cache
    return dispatcher


def code_digest(function: Any) -> str:
    """A digest of everything that a function, compiled or plain, is compiled from.

    Numba compiles the functions that it calls, and the constants that it reads, into its machine code. So the digest
    covers these recursively: bytecode, closures, global variables, attributes of modules, and compiler options.
    Anything else, such as a NumPy function, counts by its name.
    """
    digest, met = hashlib.sha256(), dict[tuple[int, tuple[str, ...]], Any]()

    def add(value: Any, names: tuple[str, ...] = ()) -> None:
        plain = getattr(value, "py_func", value)
        if isinstance(plain, int | float | complex | str | bytes | None | np.dtype):
            digest.update(f"{type(plain).__name__} {plain!r};".encode())
        elif isinstance(plain, np.ndarray | np.generic):
            digest.update(f"{plain.dtype} {plain.shape};".encode() + plain.tobytes())
        elif isinstance(plain, tuple | frozenset):
            fields = getattr(plain, "_fields", "")  # of a named tuple: code reads its items by these names
            digest.update(f"{type(plain).__name__} {fields} {len(plain)} items;".encode())
            for item in plain if isinstance(plain, tuple) else sorted(plain, key=repr):
                add(item)
        elif (key := (id(plain), names if isinstance(plain, ModuleType | type) else ())) in met:
            digest.update(f"met {list(met).index(key)};".encode())
        elif isinstance(plain, ModuleType | type):
            met[key] = plain
            digest.update(f"{plain.__name__} {getattr(plain, '_fields', '')};".encode())
            for name in names:
                if name in vars(plain):
                    add(vars(plain)[name], names)
        elif isinstance(plain, CodeType):
            digest.update(plain.co_code)
            for part in (plain.co_consts, plain.co_names, plain.co_varnames, plain.co_freevars):
                add(part)
        elif isinstance(plain, FunctionType):
            met[key] = plain
            # Compiled code contains the module names of its functions: a moved function is a different one.
            name = f"{plain.__module__}.{plain.__qualname__.removesuffix(_OF_PROCESS)}"
            digest.update(f"{name} {sorted(getattr(value, 'targetoptions', {}).items())};".encode())
            add(plain.__code__)
            add((plain.__defaults__, *sorted((plain.__kwdefaults__ or {}).items())))
            for cell in plain.__closure__ or ():
                add(cell.cell_contents)
            named = _names(plain.__code__)
            for name in named:
                add(plain.__globals__.get(name), named)
        else:
            of = plain if hasattr(plain, "__qualname__") else type(plain)
            digest.update(f"{getattr(of, '__module__', '')}.{of.__qualname__};".encode())

    add(function)
    return digest.hexdigest()[:16]


def _names(code: CodeType) -> tuple[str, ...]:
    """The names of global variables and attributes in ``code`` and in its nested functions."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return code.co_names + sum(inner, ())


def _make_cache(function: Callable[..., Any], digest: str) -> _Cache | None:
    """The cache of a function; None if its file does not exist (it was typed in, or lies in an archive), or, with a
    warning, if no folder is writable."""
    if not os.path.exists(function.__code__.co_filename):
        return None
    try:
        return _Cache(function, digest)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        _warn("no folder for it is writable")
        return None


class _ReadOnlyLocator(UserProvidedCacheLocator):
    """The folder of ``NUMBA_CACHE_DIR`` if it is readable but not writable."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        if not numba.config.CACHE_DIR or not os.path.exists(py_file):
            return None
        locator = cls(py_func, py_file)
        return locator if os.path.isdir(locator.get_cache_path()) else None


class _UserLocator(UserWideCacheLocator):
    """A folder in the user's cache named after catbox."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = os.path.join(folder(), self.get_suitable_cache_subpath(py_file))


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = [  # noqa: RUF012  (Numba declares it so)
        UserProvidedCacheLocator,
        _ReadOnlyLocator,
        _UserLocator,
        *CompileResultCacheImpl._locator_classes[1:],  # if that is not writable
    ]

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Like Numba's, with separate files for code that checks its indices (``NUMBA_BOUNDSCHECK=1``) or is less
        optimised (``NUMBA_OPT``)."""
        kind = ".boundscheck" if numba.config.BOUNDSCHECK else ""
        kind += f".opt{numba.config.OPT:d}" if numba.config.OPT < 3 else ""
        return super().get_filename_base(fullname.replace(_OF_PROCESS, "") + kind, abiflags)


class _CheckedFile(IndexDataCacheFile):
    """Numba's pair of files, with a checksum of the compiled code: a damaged file counts as missing."""

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            checked = file.read()
        checksum, content = checked[:_CHECKSUM_SIZE], checked[_CHECKSUM_SIZE:]
        if hashlib.sha256(content).digest() != checksum:
            raise OSError("damaged")  # as if the file were missing
        return pickle.loads(content)

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # noqa: BLE001  (unpickling damaged bytes can raise anything)
            return {}


class _Cache(FunctionCache):
    """Numba's cache of one function. One process at a time fills it; file errors never reach the caller."""

    _impl_class = _CacheImpl

    def __init__(self, function: Callable[..., Any], digest: str) -> None:
        super().__init__(function)
        self._name_on_disk = f"{self._impl.filename_base}.{digest}"
        self._cache_file = _CheckedFile(self._cache_path, self._name_on_disk, source_stamp=digest)
        self._lock: int | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None:
            _tell_once()
            if self._lock is None:
                self._wait_for_lock()
                found = self._load(sig, target_context)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn(f"{self._cache_path} is not writable ({error})")

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Like Numba's without its hash of the closure, which differs between processes; the digest covers it."""
        return sig, codegen.magic_tuple()

    def release(self) -> None:
        """Let the next process compile."""
        lock, self._lock = self._lock, None  # in one step: another thread may be here too
        if lock is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_UN)  # a child forked in between holds the file open
            os.close(lock)

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None

    def _wait_for_lock(self) -> None:
        """Take the lock of this function, or continue without it if locking fails or another process keeps it."""
        if fcntl is None:
            return
        with contextlib.suppress(OSError):
            path = os.path.join(self._cache_path, f"{self._name_on_disk}.lock")
            self._lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            until = time.monotonic() + LONGEST_WAIT
            while time.monotonic() < until:  # a stopped process may keep the lock forever
                try:
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(_INTERVAL)


def _tell_once() -> None:
    global _tell
    tell, _tell = _tell, None
    if tell is not None:
        tell()


@functools.cache
def _warn(why: str) -> None:
    """Warn once per process that compiled code is not cached."""
    warnings.warn(
        f"compiled code is not cached on disk: {why}. Every start recompiles it, which takes several seconds; set the "
        f"environment variable NUMBA_CACHE_DIR to a writable folder",
        RuntimeWarning,
        stacklevel=3,
    )
