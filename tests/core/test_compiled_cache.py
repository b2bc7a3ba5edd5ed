"""Compiled code is loaded from disk until something changes that it was compiled from; all runs without a disk."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.registry import cpu_target

from catbox_env.core.compilation import cached_njit
from catbox_env.core.compiled_cache import _remove_old_files, code_digest

PROGRAM = """
import enum
import types
from typing import Any, NamedTuple
import numba
import numpy as np
from catbox_env.core.compilation import cached_njit
PRICE, TABLE, Number = 7, np.array([10, 20]), numba.int64
Suit = enum.IntEnum("Suit", {"CLUBS": 1})
Phase = enum.Enum("Phase", {"PLAY": 1})
PLAY = Phase.PLAY
AT = NamedTuple("Places", [("first", int), ("second", int)])(0, 1)
class Kernels(NamedTuple):
    apply: Any
    worth: int
def deep(x): return x + 100
def unused(x): return x + 1000
def plain(x): return x + 10000
module = types.ModuleType("module")
module.renamed = numba.njit(plain)
called = numba.njit(deep)
@numba.njit
def middle(x): return called(x)
def over(kernels):
    @cached_njit
    def closure(x): return kernels.apply(x) + kernels.worth + later(x)
    return closure
top = over(Kernels(middle, 3))
@numba.njit
def later(x):
    found = (5 if x in (3, 4) else 0) + (1 if Phase.PLAY == PLAY else 2)
    return Number(PRICE) + Suit.CLUBS + AT.first + TABLE[1] + module.renamed(x) + found
"""
#: What is edited, and with what.
EDITS = {
    "a function two calls away": ("x + 100\n", "x + 101\n"),
    "a function of a module, under another name": ("x + 10000\n", "x + 10001\n"),
    "which function is closed over": ("Kernels(middle", "Kernels(plain"),
    "a number that is closed over": (", 3))", ", 4))"),
    "a number": ("Number = 7", "Number = 8"),
    "a type of Numba": ("numba.int64", "numba.int32"),
    "a constant of a class": ('"CLUBS": 1', '"CLUBS": 2'),
    "a member of an enumeration": ('"PLAY": 1', '"PLAY": 2'),
    "the names of a tuple": ('("first", int), ("second", int)', '("second", int), ("first", int)'),
    "an element of an array": ("[10, 20]", "[10, 21]"),
    "the type of an array": ("[10, 20]", "[10.0, 20]"),
    "a number in a tuple": ("(3, 4)", "(3, 5)"),
    "an option of the compiler": ("numba.njit(deep)", "numba.njit(deep, fastmath=True)"),
}


def digest(program: str, module: str = "kernels") -> str:
    names: dict[str, Any] = {"__name__": module}
    exec(program, names)
    return code_digest(names["top"])


def test_an_edit_of_anything_that_is_compiled_in_changes_the_digest_and_no_other_edit_does() -> None:
    for what, (old, new) in EDITS.items():
        assert PROGRAM.count(old) == 1
        assert digest(PROGRAM.replace(old, new)) != digest(PROGRAM), what
    assert digest(PROGRAM.replace("x + 1000\n", "x + 1001\n")) == digest(PROGRAM), "nothing calls it"
    assert digest(PROGRAM, "moved") != digest(PROGRAM), "machine code names the modules of its functions"


def ping(x):
    return pong(x - 1) if x > 0 else 0


def pong(x):
    return ping(x) + 1


@pytest.mark.parametrize("compiled", [lambda function: function, numba.njit])
def test_functions_that_call_each_other_have_a_digest(compiled: Any) -> None:
    assert code_digest(compiled(ping)) == code_digest(compiled(ping)) != code_digest(compiled(pong))


@pytest.mark.parametrize("setting", ["BOUNDSCHECK", "OPT"])
def test_code_compiled_with_other_settings_has_files_of_its_own(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, codegen = cached_njit(ping)._cache, cpu_target.target_context.codegen()
    file = cache._file((numba.int64,), codegen)
    assert file == cache._file((numba.int64,), codegen) != cache._file((numba.int32,), codegen)
    monkeypatch.setattr(numba.config, setting, 1)
    assert cache._file((numba.int64,), codegen) != file


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the compiled code of this process, which has written none yet."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    _remove_old_files.cache_clear()
    return tmp_path


def made_days_ago(file: Path, days: float) -> Path:
    """``file``, last written so many days ago; empty if it was not there."""
    file.touch()
    os.utime(file, (time.time() - days * 86400,) * 2)
    return file


def double(x):
    return 2 * x


KEY, PART = 32 * "0", f"{32 * '0'}.{12 * '0'}.part"


def test_the_first_file_that_a_process_writes_removes_what_was_not_used_for_thirty_days(cache: Path) -> None:
    for name in (f"games.old-{KEY}.nbc", f"games.old-{PART}"):
        made_days_ago(cache / name, 31)
    kept = [
        *(made_days_ago(cache / name, 29) for name in (f"games.new-{KEY}.nbc", f"games.new-{PART}")),
        *(
            made_days_ago(cache / name, 99)
            for name in ("a.nbc", "download.part", f"{KEY}.txt", f"a-{KEY}.nbi")
        ),
    ]
    (cache / f"folder-{KEY}.nbc").mkdir()
    kept.append(made_days_ago(cache / f"folder-{KEY}.nbc" / f"games.old-{KEY}.nbc", 99))
    made_days_ago(cache / f"folder-{KEY}.nbc", 99)
    assert cached_njit(double)(2) == 4
    (written,) = cache.glob("*.double-*.nbc")
    assert {path for path in cache.rglob("*") if path.is_file()} == {*kept, written}
    later = made_days_ago(cache / f"games.later-{KEY}.nbc", 31)
    assert cached_njit(double)(2.0) == 4.0
    assert later.exists(), "it is the first file alone that a process looks for others after"


def test_a_load_renews_a_file_that_is_more_than_a_day_old_and_removes_none(cache: Path) -> None:
    assert cached_njit(double)(2) == 4
    (written,) = cache.iterdir()
    _remove_old_files.cache_clear()
    old = made_days_ago(cache / f"games.old-{KEY}.nbc", 31)
    for days, is_renewed in ((0.9, False), (1.1, True), (31, True)):
        before = made_days_ago(written, days).stat().st_mtime
        loaded = cached_njit(double)
        assert loaded(2) == 4
        assert sum(loaded.stats.cache_hits.values()) == 1
        after = written.stat().st_mtime
        assert after == (pytest.approx(time.time(), abs=3600) if is_renewed else before)
    assert old.exists()


@pytest.mark.parametrize("method", ["iterdir", "unlink"])
def test_code_is_kept_where_old_files_cannot_be_removed(
    cache: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def refuse(path: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(path)

    made_days_ago(cache / f"games.old-{KEY}.nbc", 31)
    with monkeypatch.context() as patch:
        patch.setattr(Path, method, refuse)
        assert cached_njit(double)(2) == 4
    assert len([*cache.glob("*.double-*.nbc")]) == 1


def test_code_is_loaded_where_files_cannot_be_renewed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError

    assert cached_njit(double)(2) == 4
    (written,) = cache.iterdir()
    before = made_days_ago(written, 31).stat().st_mtime
    monkeypatch.setattr(os, "utime", refuse)
    loaded = cached_njit(double)
    assert loaded(2) == 4
    assert sum(loaded.stats.cache_hits.values()) == 1
    assert written.stat().st_mtime == before


def start(program: str, cache: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        env={**os.environ, "NUMBA_DISABLE_JIT": "0", "NUMBA_CACHE_DIR": str(cache), **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def printed(process: subprocess.Popen[str]) -> list[str]:
    """What a process prints: three words, and the rest as one."""
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    return output.strip().split(maxsplit=3)


def run(program: str, cache: Path, *arguments: str, **environment: str) -> list[str]:
    return printed(start(program, cache, *arguments, **environment))


@pytest.mark.slow
def test_code_is_loaded_until_something_is_edited_that_is_compiled_in(tmp_path: Path) -> None:
    program = PROGRAM + "print(top(0), sum(top.stats.cache_misses.values()))\n"
    assert run(program, tmp_path) == ["10132", "1"], "the result, and how often it was compiled for that"
    assert run(program, tmp_path) == ["10132", "0"]
    assert run(program.replace("x + 100\n", "x + 101\n"), tmp_path) == ["10133", "1"]


#: Calls closures of one function.
CLOSURES = """
    import sys
    from catbox_env.core.compilation import cached_njit, njit

    def make_loop(price):
        @njit
        def kernel(n):  # calls itself, so that it keeps a name in the machine code
            return price if n <= 0 else kernel(n - 1) + kernel(n - 2)
        @cached_njit
        def loop(n):
            return kernel(n)
        return loop

    for loop in [make_loop(int(price)) for price in sys.argv[1:]]:
        print(loop(5))
"""


def test_closures_of_one_function_are_told_apart_when_another_process_compiled_one(tmp_path: Path) -> None:
    assert run(CLOSURES, tmp_path, "1") == ["13"]
    assert run(CLOSURES, tmp_path, "1000", "1") == ["13000", "13"]


#: Prints how often it is told of compiling, how many of two functions were compiled, the number of warnings, and them.
TWO_FUNCTIONS = """
    import warnings
    from catbox_env.core.compilation import cached_njit, on_first_compilation
    @cached_njit
    def double(x): return 2 * x
    @cached_njit
    def triple(x): return 3 * x
    told = []
    on_first_compilation(lambda: told.append(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert (double(2), triple(2)) == (4, 6)
    compiled = sum(sum(function.stats.cache_misses.values()) for function in (double, triple))
    print(len(told), compiled, len(caught), *[warning.message for warning in caught])
"""
COMPILED, LOADED = ["1", "2", "0"], ["0", "0", "0"]
FULL_DISK = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes there")
def test_a_folder_that_cannot_be_written_is_read_and_one_warning_says_what_is_not_added(
    tmp_path: Path,
) -> None:
    *counts, warning = run(FULL_DISK + TWO_FUNCTIONS, tmp_path)
    assert counts == ["1", "2", "1"]
    assert f"compiled code is not cached on disk: {tmp_path} is not writable" in warning
    assert list(tmp_path.iterdir()) == []
    assert run(TWO_FUNCTIONS, tmp_path) == COMPILED
    assert run(FULL_DISK + TWO_FUNCTIONS, tmp_path) == LOADED


def test_without_a_folder_code_is_compiled_with_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    *counts, warning = run(TWO_FUNCTIONS, tmp_path / "file" / "folder")
    assert counts == ["1", "2", "1"]
    assert "NUMBA_CACHE_DIR" in warning


@pytest.mark.skipif(sys.platform == "win32", reason="Windows says otherwise where a user's files are")
def test_code_is_kept_in_the_users_cache_and_not_beside_the_package(tmp_path: Path) -> None:
    home = {"HOME": f"{tmp_path}", "XDG_CACHE_HOME": f"{tmp_path / 'cache'}", "NUMBA_CACHE_DIR": ""}
    assert run(TWO_FUNCTIONS, tmp_path, **home) == COMPILED
    where = "from catbox_env.core.compilation import cache_folder; print(cache_folder())"
    folder = Path(*run(where, tmp_path, **home))
    assert folder.name == "catbox"
    assert len(list(folder.glob("*.nbc"))) == len(list(tmp_path.rglob("*.nbc"))) == 2


@pytest.mark.faults
def test_processes_that_start_together_share_a_folder_and_truncated_files_are_replaced(
    tmp_path: Path,
) -> None:
    for process in [start(TWO_FUNCTIONS, tmp_path) for _ in range(3)]:
        assert printed(process)[2] == "0"
    assert run(TWO_FUNCTIONS, tmp_path) == LOADED
    files = sorted(tmp_path.iterdir())
    assert [file.suffix for file in files] == [".nbc", ".nbc"]
    for number, file in enumerate(files):
        file.write_bytes(file.read_bytes()[: 1000 * number])
    assert run(TWO_FUNCTIONS, tmp_path) == COMPILED
    assert run(TWO_FUNCTIONS, tmp_path) == LOADED
