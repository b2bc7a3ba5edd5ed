"""The files that come from results, and whether they are out of date."""

from __future__ import annotations

from pathlib import Path

from catbox_agents.system.files import write_atomically
from docs.generators import quick_run
from docs.generators.cards import cards
from docs.generators.figures import Picture
from docs.generators.leaderboard import zoo_cards
from docs.generators.studies import study_pictures
from experiments.results import Folders

#: The names of the pictures that come from results.
PATTERNS = ("experiments-*", "bench-*", f"{quick_run.CURVES}*", f"{quick_run.ARENA}*")


def write_files(folders: Folders) -> list[Path]:
    """Make the pictures and the cards of the zoo; what was written. Pictures of no result are removed."""
    made = _made(folders)
    for file, content in made.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content.svg() if isinstance(content, Picture) else content.encode())
    for stray in _pictures(folders) - made.keys():
        stray.unlink()
    return list(made)


def outdated_files(folders: Folders) -> list[Path]:
    """The files that are not what the results give: a card by its text, a picture by its checksum."""
    made = _made(folders)
    return [
        *(file for file, content in made.items() if not _is_current(file, content)),
        *sorted(_pictures(folders) - made.keys()),
    ]


def _is_current(file: Path, content: str | Picture) -> bool:
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return content.checksum in text if isinstance(content, Picture) else content == text


def _pictures(folders: Folders) -> set[Path]:
    """The pictures that come from results."""
    return {file for pattern in PATTERNS for file in (folders.docs / "pictures").glob(f"{pattern}.svg")}


def _made(folders: Folders) -> dict[Path, str | Picture]:
    """File -> each picture, and the text of each card. Raises what `cards` raises."""
    return {
        **study_pictures(folders),
        **zoo_cards(folders),
        **quick_run.quick_run_pictures(folders),
        **cards(folders),
    }
