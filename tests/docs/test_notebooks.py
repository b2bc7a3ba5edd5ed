"""The notebooks run from top to bottom, and what is committed of their outputs is what they show."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from notebooks.run import executed

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: Bytes: larger ones are slow to open, and some sites show none of them.
LARGEST = 500_000
PICTURES = {"image/png", "image/svg+xml"}

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def without_numbers(text: str) -> list[str]:
    """The words of a text: numbers may differ from machine to machine."""
    return re.sub(r"[\d.,+±%:|-]+", " ", text).split()


def form(notebook: Any) -> list[list[Any]]:
    """What each code cell shows: the words that it prints and the kinds of what it displays."""
    return [
        [
            without_numbers(output.text) if output.output_type == "stream" else sorted(output.data)
            for output in cell.outputs
        ]
        for cell in code_cells(notebook)
    ]


@each_notebook
def test_committed_outputs_are_complete_and_small(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), "make notebooks"
    outputs = [output for cell in cells for output in cell.outputs]
    assert all(output.output_type != "error" for output in outputs)
    assert all(output.name == "stdout" for output in outputs if output.output_type == "stream")
    pictures = [output for output in outputs if PICTURES & set(output.get("data", ()))]
    assert len(pictures) >= 2
    assert path.stat().st_size < LARGEST
    said = "".join(output.get("text", "") for output in outputs)
    assert not re.search(r"(^|[\s'\"])(/\w+){2}", said, re.MULTILINE), "a path of the machine that ran it"


@pytest.mark.slow
@each_notebook
def test_notebooks_run_and_show_what_is_committed(path: Path, tmp_path: Path) -> None:
    committed = nbformat.read(path, as_version=4)
    anew = executed(path, tmp_path)
    assert form(anew) == form(committed), f"{path.name} shows something else now: make notebooks"
    assert list(tmp_path.iterdir()) == []
