"""Single keys from the terminal, without Enter."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: What terminals send for special keys.
SEQUENCES = {
    "\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", "\x1bOA": "up", "\x1bOB": "down",
    "\x1bOC": "right", "\x1bOD": "left", "\x1b[H": "home", "\x1b[F": "end", "\x1b[1~": "home", "\x1b[4~": "end",
    "\x1b[5~": "up", "\x1b[6~": "down", "\r": "enter", "\n": "enter", " ": "right", "\x7f": "left", "\x04": "q",
}  # fmt: skip
#: The same on Windows, after the first character of two.
WINDOWS = {"H": "up", "P": "down", "M": "right", "K": "left", "G": "home", "O": "end", "I": "up", "Q": "down"}
#: Seconds to wait for the rest of a sequence; nothing follows the Escape key alone.
REST = 0.05


def has_keys() -> bool:
    """Whether the input is a keyboard, so that `single_keys` can be used."""
    return sys.stdin.isatty()


@contextmanager
def single_keys() -> Iterator[None]:
    """In this block keys are read one by one, without echo; Ctrl-C still interrupts. Needs `has_keys`."""
    if sys.platform == "win32":
        yield
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def read_key() -> str:
    """The next key in a block of `single_keys`: a character, or left, right, up, down, home, end, enter.

    The space bar is right, and the end of the input is q.
    """
    if sys.platform == "win32":
        import msvcrt

        key = msvcrt.getwch()
        return WINDOWS.get(msvcrt.getwch(), "") if key in ("\x00", "\xe0") else SEQUENCES.get(key, key)
    terminal = sys.stdin.fileno()
    data = os.read(terminal, 1)
    while data[:1] == b"\x1b" and len(data) < 6 and select.select([terminal], [], [], REST)[0]:
        data += os.read(terminal, 1)
        if len(data) > 2 and (data[-1:].isalpha() or data[-1:] == b"~"):
            break
    text = data.decode(errors="replace")
    return SEQUENCES.get(text, text) if text else "q"
