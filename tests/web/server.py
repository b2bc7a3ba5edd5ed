"""What the tests run: the command ``catbox web`` as a process of its own, an opponent that fails, and the browser."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from catbox_agents import Agent

ROOT = Path(__file__).resolve().parent.parent.parent
#: Names of a browser of the machine; nothing is downloaded.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
#: Seconds that the server may take to answer for the first time: it may have to compile the games.
STARTS_WITHIN = 180.0


class Failing(Agent):
    """Raises an error at its first move."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        raise RuntimeError("the cat has left the box")


def find_browser() -> str:
    """Its path. Raises ``FileNotFoundError``, with the line that installs one, where there is none."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise FileNotFoundError(
            f"no browser: none of {', '.join(BROWSERS)} is installed. Install one: sudo apt-get install chromium"
        )
    return path


class Server:
    """`catbox web` on a free port; what it prints goes to ``log.txt`` in ``folder``."""

    def __init__(self, folder: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log = folder / "log.txt"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        command = [sys.executable, "-m", "catbox_app", "web", "--port", str(self.port), "--no-browser"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([*command, *self._options], stdout=log, stderr=log, cwd=ROOT)
        deadline = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < deadline:
            assert self._process.poll() is None, self.log.read_text()
            try:
                with urllib.request.urlopen(self.url, timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.1)
        raise AssertionError(f"no answer from {self.url}: {self.log.read_text()}")

    def stop(self) -> None:
        """Stops it as Ctrl+C does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
