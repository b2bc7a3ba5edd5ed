"""The examples of docs/ray.md run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "docs" / "ray.md").read_text(), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("block", range(len(BLOCKS)))
def test_python_examples_run(block: int, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", BLOCKS[block]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert result.returncode == 0, result.stderr
