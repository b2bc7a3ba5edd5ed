"""Runs notebooks from top to bottom and writes their outputs into them.

.venv/bin/python notebooks/run.py                            # all of them: make notebooks
.venv/bin/python notebooks/run.py notebooks/05_search.ipynb
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
#: Seconds for one cell.
TIMEOUT = 600


def executed(path: Path, folder: Path) -> Any:
    """The notebook ``path`` with new outputs, run in ``folder``; the file stays as it is.

    Raises ``CellExecutionError`` for a cell that raises an error.
    """
    notebook = nbformat.read(path, as_version=4)
    # Times and pieces of printed text differ from run to run: they are left out of the file, and put together.
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    return client.execute()


def main() -> None:
    """Run the notebooks that the command names, or all."""
    for path in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(path, Path(folder))
        notebook.metadata["language_info"] = {"name": "python"}  # without the version that ran it
        nbformat.write(notebook, path)
        print(f"{path}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
