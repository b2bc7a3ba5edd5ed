"""The playground: the table in a page that needs no server. catbox's own code runs in the browser, in Pyodide.

`python -m docs.playground FOLDER` writes it: a folder that any static web server serves.

| in the folder | what it is |
|---|---|
| `index.html` and other files | the front end of `catbox web` (app/catbox_app/web/static), with another `main.js` |
| `worker.js`, `worker_transport.js` | the worker in which Python runs, and how the page's messages get there |
| `catbox.zip` | the packages catbox_env, catbox_agents and catbox_app of this checkout |
| `zoo/` | the trained agents, each fetched when it first plays |
| `files.json` | how much there is to load, and the names in `zoo/` |
| `pyodide/` | Pyodide and NumPy |
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .pyodide_files import FILES, NUMPY, NUMPY_VERSION, VERSION, kept_files

ROOT = Path(__file__).resolve().parents[2]
FRONT_END = ROOT / "app" / "catbox_app" / "web" / "static"
HERE = Path(__file__).parent
PACKAGES = (ROOT / "catbox_env", ROOT / "agents" / "catbox_agents", ROOT / "app" / "catbox_app")
ZOO = ROOT / "agents" / "catbox_agents" / "zoo"
#: Where it is on the site, and what `TABLE` replaces in the text of its page.
FOLDER = "table"
PLACE = re.compile(r"<!-- the table -->.*?<!-- end -->", re.DOTALL)
#: What a zip archive says of the time of its files: the same checkout gives the same archive.
NO_TIME = (1980, 1, 1, 0, 0, 0)

#: A page that was opened as a file may load no module: it says so.
FROM_A_FILE = """  <script>
    if (location.protocol === "file:") {
      document.getElementById("catbox").textContent = "To play, serve this folder: python -m http.server";
    }
  </script>
"""
TABLE = f"""
<div id="catbox"><p>Loading the table.</p><progress aria-label="Loaded"></progress></div>
<link rel="stylesheet" href="{FOLDER}/font.css">
<link rel="stylesheet" href="{FOLDER}/style.css">
<noscript><p>The table needs JavaScript, which is switched off in this browser.</p></noscript>
{FROM_A_FILE}<script type="module" src="{FOLDER}/main.js"></script>
"""

LICENCES = f"""Pyodide {VERSION} (pyodide.org), under the Mozilla Public License 2.0, unchanged. It contains
CPython (python.org), under the PSF License Agreement. The wheel is NumPy {NUMPY_VERSION} (numpy.org), under the
BSD 3-Clause License, which is in the wheel.
"""


def build(folder: Path) -> None:
    """Write the playground into ``folder``, which is made anew.

    Raises ``OSError`` where Pyodide is neither kept nor can be fetched, and ``ValueError`` for a folder that holds
    anything but a playground.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / "catbox.zip").is_file():
        raise ValueError(f"{folder} is not empty and no playground: name a new folder")
    pyodide = kept_files()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(FRONT_END, folder, ignore=shutil.ignore_patterns("__pycache__"))
    index = folder / "index.html"
    index.write_text(
        index.read_text(encoding="utf-8").replace("</body>", f"{FROM_A_FILE}</body>"), encoding="utf-8"
    )
    for file in HERE.glob("*.js"):
        shutil.copy(file, folder)
    (folder / "pyodide").mkdir()
    for name, path in pyodide.items():
        shutil.copyfile(path, folder / "pyodide" / name)
    (folder / "pyodide" / "pyodide-lock.json").write_text(json.dumps(lock(), indent=1), encoding="utf-8")
    (folder / "pyodide" / "LICENCES.txt").write_text(LICENCES, encoding="utf-8")
    (folder / "zoo").mkdir()
    nets = sorted(ZOO.glob("*.safetensors"))
    for net in nets:
        shutil.copyfile(net, folder / "zoo" / net.name)
    with zipfile.ZipFile(folder / "catbox.zip", "w") as archive:
        for path, name in code():
            archive.writestr(zipfile.ZipInfo(name, NO_TIME), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    # Of Pyodide's files these are not fetched but imported, of which no progress is told.
    fetched = [path for path in (folder / "pyodide").iterdir() if path.suffix not in (".js", ".mjs", ".txt")]
    files = {
        "bytes": sum(path.stat().st_size for path in [*fetched, folder / "catbox.zip"]),
        "zoo": [net.name for net in nets],
    }
    (folder / "files.json").write_text(json.dumps(files), encoding="utf-8")


def code() -> Iterator[tuple[Path, str]]:
    """The files of catbox that play, with their names in the archive."""
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            yield path, path.relative_to(package.parent).as_posix()
    yield ZOO / "index.json", "catbox_agents/zoo/index.json"


def lock() -> dict[str, Any]:
    """What Pyodide reads to find its packages: NumPy alone. It checks the SHA-256 too."""
    numpy = {
        "name": "numpy",
        "version": NUMPY_VERSION,
        "file_name": NUMPY,
        "install_dir": "site",
        "sha256": FILES[NUMPY],
        "package_type": "package",
        "imports": ["numpy"],
        "depends": [],
        "unvendored_tests": False,
    }
    return {
        "info": {
            "abi_version": "2024_0",
            "arch": "wasm32",
            "platform": "emscripten_3_1_58",
            "python": "3.12.7",
            "version": VERSION,
        },
        "packages": {"numpy": numpy},
    }
