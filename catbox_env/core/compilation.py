"""Compilation with Numba, or without it: all other modules import their decorators and record type from here.

``cached_njit`` is for functions called from Python: compiled and cached on disk (`core.compiled_cache`). ``njit`` is
for functions that only compiled code calls: compiled into their callers.

If Numba cannot be imported, one warning says so and both leave functions as they are: plain Python, which plays the
same games, slowly. This happens in a browser, and on a Python release that Numba does not support yet.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

try:
    import numba
except ImportError as error:
    warnings.warn(
        f"catbox runs without Numba ({error}): its functions are not compiled. The games are the same, but a move "
        "takes milliseconds, not microseconds, and batches, searches and training take 50 to 1,000 times as long. "
        "If Numba supports this Python and its NumPy, install it:  pip install numba",
        RuntimeWarning,
        stacklevel=2,
    )
    HAS_NUMBA = False
else:
    from numba.core.errors import NumbaExperimentalFeatureWarning

    from catbox_env.core import compiled_cache

    HAS_NUMBA = True
    # The weights of one hand-written player may begin with those of another, whose kernels it shares.
    warnings.filterwarnings("ignore", r"Record\(.*considered a subtype", NumbaExperimentalFeatureWarning)


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``numba.njit``: a decorator, with or without options."""
    if function is None:
        return lambda decorated: njit(decorated, **options)
    if not HAS_NUMBA:
        return function
    compiled_cache.make_name_unique(function)
    return numba.njit(function, **options)


def cached_njit(
    function: Callable[..., Any] | None = None,
    *,
    nogil: bool = False,
    plain: Callable[..., Any] | None = None,
) -> Any:
    """``function`` compiled in nopython mode at its first call, and cached on disk if possible.

    A decorator, with or without arguments. ``nogil``: whether it runs without the interpreter lock. ``plain``: its
    replacement without Numba, for loops that would be too slow in plain Python; it does the same with vectorised NumPy
    functions.
    """
    if function is None:
        return lambda decorated: cached_njit(decorated, nogil=nogil, plain=plain)
    if HAS_NUMBA:
        return compiled_cache.keep_on_disk(njit(function, nogil=nogil))
    return plain or function


class _PlainRecord(np.record):  # type: ignore[misc]  # only NumPy's stubs call one of its bases final
    """A record that looks up fields before other attributes, unlike ``np.record``.

    Plain Python plays three times as fast with it. Numba takes longer to recognise it than ``np.record``.
    """

    def __getattribute__(self, name: str) -> Any:
        try:
            return np.void.__getitem__(self, name)
        except ValueError:  # not a field
            return np.void.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        np.void.__setitem__(self, name, value)


#: A record of a structured array (a state, parameters, a generator): its fields can be read and written as attributes,
#: in Python and in compiled code.
Record: type[np.record] = np.record if HAS_NUMBA else _PlainRecord


def cache_folder() -> str | None:
    """The folder of compiled code; None without Numba."""
    return str(compiled_cache.folder()) if HAS_NUMBA else None


def on_first_compilation(callback: Callable[[], None]) -> None:
    """Call ``callback`` once, when this process first compiles a function, which can take long. Never without Numba."""
    if HAS_NUMBA:
        compiled_cache.before_compiling = cache(callback)
