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

from catbox_env.core import sources
from catbox_env.core.sources import sources_digest

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
        def later(x): return PRICE + TABLE[1] + deep.named(x) + bound(x)
        if __name__ == "__main__":
            print(top(0), sum(top.stats.cache_misses.values()))
    """,
}

#: What is edited, and by how much that changes the result.
EDITS = {
    "a function two calls away": ("deep.py", "x + 100\n", "x + 101\n"),
    "a function that is named as an attribute of its module": ("deep.py", "x + 1000\n", "x + 1001\n"),
    "a function that was compiled in another file": ("middle.py", "x + 10000\n", "x + 10001\n"),
    "an imported number": ("constants.py", "PRICE = 7\n", "PRICE = 8\n"),
    "an element of an imported array": ("constants.py", "[10, 20]", "[10, 21]"),
}


def write(path: Path, content: str) -> None:
    """Write a file of a fixed time, so that only its content tells that it was edited."""
    path.write_text(re.sub(r"^ {8}", "", content, flags=re.MULTILINE))
    os.utime(path, (1_700_000_000, 1_700_000_000))


def run(folder: Path, *arguments: str) -> tuple[int, ...]:
    """The numbers that a program of the folder prints."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": f"{folder / 'kept'}",
        "NUMBA_DISABLE_JIT": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True, timeout=100
    )
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
def digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[dict[str, str]], str | None]]:
    """The digest of the function ``top``, for files with these contents."""
    names = [Path(name).stem for name in FILES]
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def digest_of(files: dict[str, str]) -> str | None:
        for name, content in files.items():
            write(tmp_path / name, content)
        for name in names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        sources._content.cache_clear()
        sources._imports.cache_clear()
        return sources_digest(importlib.import_module("top").top)

    yield digest_of
    for name in names:
        sys.modules.pop(name, None)


def test_an_edit_of_anything_that_is_compiled_in_changes_the_digest(
    digest: Callable[[dict[str, str]], str | None],
) -> None:
    kept = digest(FILES)
    assert kept is not None
    assert kept == digest({**FILES, "apart.py": "nothing imports this"})
    for what, (name, old, new) in EDITS.items():
        assert FILES[name].count(old) == 1
        assert digest({**FILES, name: FILES[name].replace(old, new)}) not in (None, kept), what
    assert digest(FILES) == kept


def test_code_of_a_file_that_was_edited_while_this_process_runs_is_not_kept(
    digest: Callable[[dict[str, str]], str | None], tmp_path: Path
) -> None:
    """It may have been imported before the edit."""
    assert digest(FILES) is not None
    function = sys.modules["top"].top
    (tmp_path / "constants.py").touch()
    assert sources_digest(function) is None


OF_ONE_NAME = """
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


def test_functions_of_one_name_are_told_apart_when_one_was_compiled_by_another_process(
    tmp_path: Path,
) -> None:
    write(tmp_path / "prices.py", OF_ONE_NAME)
    assert run(tmp_path, "prices.py", "1") == (13,)
    assert run(tmp_path, "prices.py", "1000", "1") == (13000, 13)


def ping(x):
    return pong(x - 1) if x > 0 else 0


def pong(x):
    return ping(x) + 1


def test_functions_that_call_each_other_have_a_digest() -> None:
    assert sources_digest(ping) != sources_digest(pong)
    assert sources_digest(ping) == sources_digest(ping)


@pytest.mark.parametrize("options", [{"fastmath": True}, {"error_model": "numpy"}])
def test_options_of_the_compiler_are_part_of_the_digest(options: dict[str, object]) -> None:
    assert sources_digest(numba.njit(ping)) != sources_digest(numba.njit(**options)(ping))


def test_every_function_of_ours_that_is_kept_on_disk_goes_through_cached_njit() -> None:
    root = Path(__file__).parents[2]
    own_ways = re.compile(r"cache\s*=\s*True|enable_caching\(")
    sources = [
        path for name in ("catbox_env", "agents", "train", "app") for path in (root / name).rglob("*.py")
    ]
    assert len(sources) > 100
    assert not [str(path) for path in sources if own_ways.search(path.read_text())]
