"""The browser of the machine: nothing is downloaded."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str:
    """Its path. Raises ``FileNotFoundError``, with the line that installs one, where there is none."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise FileNotFoundError(
            f"no browser: none of {', '.join(NAMES)} is installed. Install one: sudo apt-get install chromium"
        )
    return path
