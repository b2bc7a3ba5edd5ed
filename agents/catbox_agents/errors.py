"""The error that wraps those of an agent's own code, and errors that can be sent to other processes."""

from __future__ import annotations

import pickle
import re
import traceback
from contextlib import suppress
from typing import Any

#: Packages whose frames are left out at the start of an agent's traceback.
OURS = re.compile(r"catbox_(env|agents|train|app)\b")


class AgentError(ValueError):
    """An agent's own code raised an error, which is the ``__cause__`` of this one."""

    def __init__(self, label: str, error: Exception) -> None:
        super().__init__(f"agent {label!r} raised {_in_words(error)}")
        self.label, self.error = label, error
        self._traceback: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process: a traceback cannot be pickled, and some errors cannot either."""
        error = portable(self.error)
        state = {**vars(self), "error": error, "args": self.args, "_traceback": self.agent_traceback()}
        return type(self), (self.label, error), state

    def agent_traceback(self) -> str:
        """The traceback of the error, from the agent's first frame on; empty for an agent that comes with catbox."""
        if self._traceback is not None:
            return self._traceback
        lines = self.error.__traceback__
        frames = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(lines)]
        if any(
            name.startswith("catbox_agents.text.") for name in frames
        ):  # frames of the HTTP library follow
            return ""
        while lines is not None and OURS.match(lines.tb_frame.f_globals.get("__name__", "")):
            lines = lines.tb_next
        if lines is None:
            return ""
        return encodable("".join(traceback.TracebackException(type(self.error), self.error, lines).format()))


def _in_words(error: Exception) -> str:
    """The type and the text of ``error``, even if its ``__str__`` raises; `encodable`."""
    try:
        return encodable(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001  (the error is of a user's class)
        return f"{type(error).__name__}, whose __str__ raises an error"


def encodable(text: str) -> str:
    """``text`` as UTF-8 can hold it, so that it can be shown and written: a lone surrogate becomes ``\\udc80``."""
    return text.encode(errors="backslashreplace").decode()


def portable(error: Exception) -> Exception:
    """``error``, or if it cannot be pickled, its nearest built-in type with the same text and notes."""
    with suppress(Exception):  # pickling and unpickling can raise anything
        if isinstance(pickle.loads(pickle.dumps(error)), type(error)):
            return error
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    try:
        plain: Exception = kind(str(error))
    except Exception:  # noqa: BLE001  (the type takes other arguments, or the error has no text)
        plain = RuntimeError(traceback.format_exception_only(error)[0].strip())
    for note in getattr(error, "__notes__", ()):
        plain.add_note(note)
    return plain
