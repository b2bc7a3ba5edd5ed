"""The command's output: what cannot be printed neither ends the work nor loses a result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from catbox_app import output
from tests.app.table import CATBOX, ENVIRONMENT

EVALUATE = ("evaluate", "heuristic", "random", "--players", "3", "-n", "10")


def shell(line: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``line`` in bash, where "$@" is the command `catbox` with ``arguments``."""
    command = ["bash", "-c", f"set -o pipefail; {line}", "bash", sys.executable, *CATBOX, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, timeout=300
    )


def test_a_reader_that_has_gone_loses_no_result(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    ran = shell('"$@" | true', *EVALUATE, "--json", str(file))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(file.read_text())["deals"] == 10


def test_a_terminal_without_some_characters_shows_the_others(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    ran = shell('"$@"', *EVALUATE, "--json", str(file), PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stderr) == (0, "")
    margin = json.loads(file.read_text())["standings"][0]
    assert f"{margin['margin']:+.2f} ? {margin['margin_ci95']:.2f}" in ran.stdout


def test_a_full_disk_is_told_after_the_files_are_written(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    ran = shell('"$@" > /dev/full', *EVALUATE, "--json", str(file))
    assert (ran.returncode, ran.stderr) == (1, "catbox: standard output: No space left on device\n")
    assert file.exists()


@pytest.mark.parametrize(("closed", "shown"), [("2>&-", True), (">&-", False), (">&- 2>&-", False)])
def test_a_closed_stream_leads_nowhere(closed: str, shown: bool) -> None:
    ran = shell(f'"$@" {closed}', "info")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ("players" in ran.stdout) is shown


def test_errors_keep_their_exit_codes_when_nobody_reads_them() -> None:
    assert shell('"$@" 2>&-', "evaluate", "nobody", "random").returncode == 2
    assert shell('"$@" > /dev/full', "evaluate", "nobody", "random").returncode == 2


def test_without_a_terminal_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.games_progress("games") as show:
        show(10, 2000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "LINE_SECONDS", 0.0)
    with output.games_progress("games") as show:
        show(1000, 2000)
        show(3, None)
    assert capsys.readouterr() == ("", "games: 1,000 of 2,000\ngames: 3\n")
