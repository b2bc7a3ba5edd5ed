"""``python -m docs.playground FOLDER`` writes the playground into FOLDER."""

import sys
from pathlib import Path

from . import build

if len(sys.argv) != 2:
    sys.exit("usage: python -m docs.playground FOLDER")
folder = Path(sys.argv[1])
try:
    build(folder)
except (ValueError, OSError) as error:
    sys.exit(f"error: {error}")
size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
print(f"{folder}: {size / 2**20:.1f} MB. To try it:  {sys.executable} -m http.server --directory {folder}")
