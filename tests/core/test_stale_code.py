"""Compiled code that is kept on disk is never run after anything that it was compiled from has changed."""

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import pytest

from catbox_env.core.compiled_cache import code_digest

FILES = {
    "constants.py": """
        import numpy as np
        PRICE = 7
        TABLE = np.array([10, 20])
    """,
    "deep.py": """
        import numba
        @numba.njit
        def deep(x): return x + 100
        @numba.njit
        def named(x): return x + 1000
    """,
    "middle.py": """
        import numba
        from deep import deep
        def plain(x): return x + 10000
        @numba.njit
        def middle(x): return deep(x)
    """,
    "top.py": """
        import numba
        import deep
        from catbox_env.core.compilation import cached_njit
        from constants import PRICE, TABLE
        from middle import middle, plain
        bound = numba.njit(plain)
        def over(function):
            @cached_njit
            def closure(x): return function(x) + later(x)
            return closure
        top = over(middle)
        @numba.njit
        def later(x): return PRICE + TABLE[1] + deep.named(x) + bound(x) + (5 if x in (3, 4) else 0)
        if __name__ == "__main__":
            print(top(0), sum(top.stats.cache_misses.values()))
    """,
}

#: What is edited, and with what.
EDITS = {
    "a function two calls away": ("deep.py", "x + 100\n", "x + 101\n"),
    "a function that is named as an attribute of its module": ("deep.py", "x + 1000\n", "x + 1001\n"),
    "a function that was compiled in another file": ("middle.py", "x + 10000\n", "x + 10001\n"),
    "which function is closed over": ("top.py", "over(middle)", "over(plain)"),
    "an imported number": ("constants.py", "PRICE = 7\n", "PRICE = 8\n"),
    "an element of an imported array": ("constants.py", "[10, 20]", "[10, 21]"),
    "the type of an imported array": ("constants.py", "[10, 20]", "[10.0, 20]"),
    "a number in a tuple": ("top.py", "(3, 4)", "(3, 5)"),
    "an option of the compiler": ("deep.py", "@numba.njit\n", "@numba.njit(fastmath=True)\n"),
}


def write(path: Path, content: str) -> None:
    """Write a file of a fixed time, so that only its content tells that it was edited."""
    path.write_text(re.sub(r"^ {8}", "", content, flags=re.MULTILINE))
    os.utime(path, (1_700_000_000, 1_700_000_000))


def run(folder: Path, *arguments: str) -> tuple[int, ...]:
    """The numbers that a program of the folder prints."""
    own = {"NUMBA_CACHE_DIR": f"{folder / 'kept'}", "NUMBA_DISABLE_JIT": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **own}, cwd=folder, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tuple(map(int, done.stdout.split()))


def test_code_is_kept_until_something_is_edited_that_is_compiled_in(tmp_path: Path) -> None:
    for name, content in FILES.items():
        write(tmp_path / name, content)
    assert run(tmp_path, "top.py") == (11127, 1), "the result, and how often it was compiled for that"
    assert run(tmp_path, "top.py") == (11127, 0)
    write(tmp_path / "deep.py", FILES["deep.py"].replace("x + 100\n", "x + 101\n"))
    assert run(tmp_path, "top.py") == (11128, 1)


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, str]], str]]:
    """The digest of the function ``top``, for files with these contents."""
    names = [Path(name).stem for name in FILES]
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def digest_of(files: dict[str, str]) -> str:
        for name, content in files.items():
            write(tmp_path / name, content)
        for name in names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return code_digest(importlib.import_module("top").top)

    yield digest_of
    for name in names:
        sys.modules.pop(name, None)


def test_an_edit_of_anything_that_is_compiled_in_changes_the_digest_and_no_other_edit_does(
    digest: Callable[[dict[str, str]], str],
) -> None:
    kept = digest(FILES)
    for what, (name, old, new) in EDITS.items():
        assert old in FILES[name]
        assert digest({**FILES, name: FILES[name].replace(old, new)}) != kept, what
    assert (
        digest({**FILES, "deep.py": FILES["deep.py"] + "\n        def apart(): return 1  # not called"})
        == kept
    )


def test_functions_of_one_name_are_told_apart_when_one_was_compiled_by_another_process(
    tmp_path: Path,
) -> None:
    program = """
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

        print(*[make_loop(int(price))(5) for price in sys.argv[1:]])
    """
    write(tmp_path / "prices.py", program)
    assert run(tmp_path, "prices.py", "1") == (13,)
    assert run(tmp_path, "prices.py", "1000", "1") == (13000, 13)


def ping(x):
    return pong(x - 1) if x > 0 else 0


def pong(x):
    return ping(x) + 1


def test_functions_that_call_each_other_have_a_digest() -> None:
    assert code_digest(ping) != code_digest(pong)
    assert code_digest(numba.njit(ping)) == code_digest(numba.njit(ping))
