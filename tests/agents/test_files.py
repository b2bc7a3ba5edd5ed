"""Files that are written whole or not at all, and what a killed process leaves of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from catbox_agents.system.files import unfinished, write_atomically, writing_name


def test_what_a_killed_process_has_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "[data].json"
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    left = path.with_name(f".{path.name}.{ended.pid}.writing")
    running = path.with_name(f".{path.name}.{os.getppid()}.writing")
    of_another_file = path.with_name(f".other.json.{ended.pid}.writing")
    for file in (left, running, of_another_file, writing_name(path)):
        file.write_bytes(b"half")
    assert unfinished(path) == [left]
    write_atomically(path, b"all")
    assert path.read_bytes() == b"all"
    assert sorted(tmp_path.iterdir()) == sorted([path, running, of_another_file])
