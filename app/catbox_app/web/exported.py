"""One page that holds a recorded game: the replay view of the browser table, with all its messages in place of a table.

For each seat's view, and all open, the page has the events, the positions and the recorded policies as `Recording`
sends them, and each picture in both themes and both layouts. Pictures of a game have most of their elements in common,
so a picture is kept as a list of numbers of elements. All of it is JSON, compressed by gzip, in base64.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable
from html import escape
from typing import Any

from catbox_agents.arena.records import GameRecord
from catbox_app.web.coach import Coach
from catbox_app.web.pages import STATIC, Viewer
from catbox_app.web.reading import Message
from catbox_app.web.recording import Recording
from catbox_env.core.checks import check_seat
from catbox_env.core.picture import THEMES

#: Widths of pictures that the page asks for (static/picture.js).
SIZES = (720, 360)
#: An element's tag and the text after it.
_PART = re.compile(r"[^<]*<[^>]*>[^<]*")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body class="catbox-page">
<div id="catbox"><p>Loading the game.</p></div>
<noscript><p>The game is shown by JavaScript, which is switched off in this browser.</p></noscript>
<script type="text/plain" id="recorded">{recorded}</script>
<script type="module">
{script}
start(document.getElementById("catbox"), recordedTransport(document.getElementById("recorded").textContent), \
{{lobby: false}});
</script>
</body>
</html>
"""


def replay_page(
    record: GameRecord,
    seat: int | None = None,
    number: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> str:
    """The page of a game, as HTML.

    ``seat``, ``number``: whose view is shown at first (None: all open), after how many actions. ``progress`` is called
    with (pictures drawn, pictures in all). Raises ValueError for a seat that the game does not have, and for a game
    that is too long (`pages.MOST_ACTIONS`).
    """
    if seat is not None:
        seat = check_seat("seat", seat, record.game.num_players)
    found = recorded_messages(record, progress)
    found["joined"] |= {"view": seat, "number": min(number, len(record.actions))}
    packed = gzip.compress(json.dumps(found, separators=(",", ":"), allow_nan=False).encode(), 9, mtime=0)
    return _PAGE.format(
        title=escape(f"{found['joined']['title']}: {', '.join(found['joined']['names'])}"),
        style=(STATIC / "style.css").read_text(encoding="utf-8"),
        script=bundled("app.js", "recorded.js"),
        recorded=base64.b64encode(packed).decode(),
    )


def recorded_messages(record: GameRecord, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Everything that a page can be told of a game; static/recorded.js reads it.

    ``joined``: the message; ``parts``: pieces of SVG; ``views``: for all open, then for each seat, ``events``
    (messages), ``positions`` (messages without ``svg``), ``policies`` (messages ``coach`` or null), and ``pictures``:
    by "theme-size" for each position the numbers of its parts.
    """
    sent: list[Message] = []
    viewer = Viewer(sent.append, Coach(sent.append, lambda job: None))
    recording = Recording(record)
    recording.begin(viewer)
    joined = sent[0]
    last, seats = len(record.actions), [None, *range(record.game.num_players)]
    total, done = len(seats) * (last + 1) * len(THEMES) * len(SIZES), 0
    parts: dict[str, int] = {}
    views = []
    for seat in seats:
        if seat is not None:
            sent.clear()
            recording.step(viewer, 0, seat)
        view: dict[str, Any] = {
            "events": [message for message in sent if message["type"] == "events"],
            "pictures": {},
        }
        for theme in THEMES:
            for size in SIZES:
                viewer.theme, viewer.size = theme, size
                pictures = view["pictures"][f"{theme}-{size}"] = []
                view["positions"], view["policies"] = [], []
                for number in range(last + 1):
                    sent.clear()
                    recording.step(viewer, number, seat)
                    position, *policy = sent
                    svg = position.pop("svg")
                    pictures.append([parts.setdefault(part, len(parts)) for part in _PART.findall(svg)])
                    view["positions"].append(position)
                    view["policies"].append(policy[0] if policy else None)
                    done += 1
                    progress(done, total)
        views.append(view)
    return {"joined": joined, "parts": list(parts), "views": views}


def bundled(*names: str) -> str:
    """Modules of the page, and what they import, as one script: names at the top of modules are unique."""
    taken: dict[str, str] = {}

    def take(name: str) -> None:
        if name in taken:
            return
        text = (STATIC / name).read_text(encoding="utf-8")
        taken[name] = ""  # modules may import one another
        for imported in _IMPORT.findall(text):
            take(imported)
        del taken[name]
        taken[name] = re.sub(r"^export ", "", _IMPORT.sub("", text), flags=re.MULTILINE)

    for name in names:
        take(name)
    return "\n".join(taken.values())
