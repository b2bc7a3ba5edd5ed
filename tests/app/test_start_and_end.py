"""How the command starts, and how it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from catbox_app import __main__, cli
from tests.app.table import ENVIRONMENT

#: Python calls what is registered first at the very end.
FROZEN = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count() > 1000))
from catbox_app.__main__ import main
sys.argv[1:] = ["--version"]
main()
"""


def test_ctrl_c_while_the_command_starts_shows_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 130


def test_the_command_ends_without_a_search_for_cycles() -> None:
    """It would take a second after training."""
    ran = subprocess.run(
        [sys.executable, "-c", FROZEN], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[1:] == ["True"]
