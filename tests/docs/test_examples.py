"""The Python examples of the pages run as they stand, without a warning."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
#: Pages whose examples need an environment of their own: tests/ray runs these.
ELSEWHERE = ("ray.md",)
#: Pages whose examples need a GPU.
ON_GPU = ("gpu.md",)


def examples() -> list[tuple[str, str]]:
    """Each example with its name: page and number."""
    pages = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    return [
        (f"{page.name}-{number}", code)
        for page in pages
        if page.name not in ELSEWHERE
        for number, code in enumerate(
            re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        )
    ]


@pytest.mark.slow
@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in examples()])
def test_python_examples_run(code: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if request.node.callspec.id.rpartition("-")[0] in ON_GPU and not (
        find_spec("numba_cuda") and torch.cuda.is_available()
    ):
        pytest.skip("no GPU here")
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
