"""Compiled code that is kept on disk is never run after anything that it was compiled from has changed."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numba
import pytest

from catbox_env.core.compiled_cache import code_digest

PROGRAM = """
import enum
import types
from collections import namedtuple
import numba
import numpy as np
from catbox_env.core.compilation import cached_njit
PRICE, TABLE = 7, np.array([10, 20])
class Suit(enum.IntEnum):
    CLUBS = 1
Places = namedtuple('Places', 'first second')
AT = Places(0, 1)
module = types.ModuleType("module")
@numba.njit
def deep(x): return x + 100
@numba.njit
def named(x): return x + 1000
module.named = named
def plain(x): return x + 10000
@numba.njit
def middle(x): return deep(x)
def over(function):
    @cached_njit
    def closure(x): return function(x) + later(x)
    return closure
top = over(middle)
bound = numba.njit(plain)
@numba.njit
def later(x): return PRICE + Suit.CLUBS + AT.first + TABLE[1] + bound(x) + (5 if x in (3, 4) else 0)
"""
#: What is edited, and with what.
EDITS = {
    "a function two calls away": ("x + 100\n", "x + 101\n"),
    "a function that was compiled under another name": ("x + 10000\n", "x + 10001\n"),
    "which function is closed over": ("over(middle)", "over(plain)"),
    "a number": ("PRICE, TABLE = 7", "PRICE, TABLE = 8"),
    "a constant of a class": ("CLUBS = 1", "CLUBS = 2"),
    "the order of the names of a tuple": ("'first second'", "'second first'"),
    "an element of an array": ("[10, 20]", "[10, 21]"),
    "the type of an array": ("[10, 20]", "[10.0, 20]"),
    "a number in a tuple": ("(3, 4)", "(3, 5)"),
    "an option of the compiler": ("@numba.njit\ndef deep", "@numba.njit(fastmath=True)\ndef deep"),
}


def run(file: Path, program: str, *arguments: str) -> tuple[int, ...]:
    """The numbers that a program prints."""
    file.write_text(program)
    own = {"NUMBA_CACHE_DIR": f"{file.parent / 'kept'}", "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, str(file), *arguments],
        env={**os.environ, **own}, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tuple(map(int, done.stdout.split()))


@pytest.mark.slow
def test_code_is_kept_until_something_is_edited_that_is_compiled_in(tmp_path: Path) -> None:
    program = PROGRAM + "print(top(0), sum(top.stats.cache_misses.values()))\n"
    assert run(tmp_path / "top.py", program) == (10128, 1), (
        "the result, and how often it was compiled for that"
    )
    assert run(tmp_path / "top.py", program) == (10128, 0)
    assert run(tmp_path / "top.py", program.replace("x + 100\n", "x + 101\n")) == (10129, 1)


def digest(program: str, module: str = "kernels") -> str:
    names: dict[str, Any] = {"__name__": module}
    exec(program, names)
    return code_digest(names["top"])


def test_an_edit_of_anything_that_is_compiled_in_changes_the_digest_and_no_other_edit_does() -> None:
    for what, (old, new) in EDITS.items():
        assert PROGRAM.count(old) == 1
        assert digest(PROGRAM.replace(old, new)) != digest(PROGRAM), what
    assert digest(PROGRAM.replace("x + 1000\n", "x + 1001\n")) == digest(PROGRAM), "nothing calls it"
    by_module = PROGRAM.replace("bound(x)", "module.named(x)")
    assert digest(by_module.replace("x + 1000\n", "x + 1001\n")) != digest(by_module)
    assert digest(PROGRAM, "moved") != digest(PROGRAM), (
        "kept code names the modules that it was compiled from"
    )


def test_functions_of_one_name_are_told_apart_when_one_was_compiled_by_another_process(
    tmp_path: Path,
) -> None:
    program = textwrap.dedent("""
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
    """)
    assert run(tmp_path / "prices.py", program, "1") == (13,)
    assert run(tmp_path / "prices.py", program, "1000", "1") == (13000, 13)


def ping(x):
    return pong(x - 1) if x > 0 else 0


def pong(x):
    return ping(x) + 1


@pytest.mark.parametrize("compiled", [lambda function: function, numba.njit])
def test_functions_that_call_each_other_have_a_digest(compiled: Any) -> None:
    assert code_digest(compiled(ping)) == code_digest(compiled(ping)) != code_digest(compiled(pong))
