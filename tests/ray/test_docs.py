"""The examples of docs/ray.md run."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_public_names import NEED_RAY, public_names

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


@pytest.mark.parametrize("name", NEED_RAY)
def test_the_list_of_public_names_is_the_one_in_the_docs(name: str) -> None:
    module = importlib.import_module(name)
    assert sorted(public_names()[name]) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)
