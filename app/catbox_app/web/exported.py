"""One page that holds a recorded game: the replay view of the browser table, with all messages built in.

For each seat's view, and with all hands open, the page has the events, the positions and the recorded policies as
`Recording` sends them, and each picture in both themes and both layouts. The pictures of a game share most of their
elements, so each is stored as a list of element numbers. All of it is gzip-compressed JSON in base64.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from catbox_agents.arena.records import GameRecord
from catbox_app.review import Reviewed
from catbox_app.web import STATIC
from catbox_app.web.messages import reviewed
from catbox_app.web.recording import Recording
from catbox_env.pictures.sheet import THEMES

#: Widths of pictures that the page requests (static/picture.js).
SIZES = (1000, 360)
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
script-src 'unsafe-inline'; font-src data:">
<title>{title}</title>
<style>
{style}</style>
</head>
<body class="catbox-page">
<div id="catbox"><p>Loading the game.</p></div>
<noscript><p>The game needs JavaScript, which is switched off in this browser.</p></noscript>
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
    decisions: Sequence[Reviewed] = (),
) -> str:
    """The page of a game, as HTML.

    ``seat``, ``number``: whose view to show first (None: all hands open), after how many actions. ``progress`` is
    called with (pictures drawn, total). ``decisions``: a review to show. Raises ValueError for a game that is too long
    (`messages.MAX_ACTIONS`).
    """
    recording = Recording(record)
    ends = [event.text for event in recording.events(recording.last, None) if event.kind == "game_end"]
    joined = {**recording.joined(min(number, recording.last), seat), "result": "".join(ends)}
    told = [reviewed(record.game, one, k, len(decisions)) for k, one in enumerate(decisions, 1)]
    messages = {"joined": joined, "reviewed": told, **recorded_messages(recording, progress)}
    packed = gzip.compress(json.dumps(messages, separators=(",", ":"), allow_nan=False).encode(), 9, mtime=0)
    font = base64.b64encode((STATIC / "figtree.woff2").read_bytes()).decode()
    style = "".join((STATIC / name).read_text(encoding="utf-8") for name in ("font.css", "style.css"))
    return _PAGE.format(
        title=escape(f"{joined['title']}: {', '.join(joined['names'])}"),
        style=style.replace("figtree.woff2", f"data:font/woff2;base64,{font}"),
        script=bundled("app.js", "recorded.js"),
        recorded=base64.b64encode(packed).decode(),
    )


def recorded_messages(recording: Recording, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """All messages about a game; static/recorded.js reads them.

    ``parts``: pieces of SVG; ``views``: for all hands open, then for each seat, ``events`` (messages), ``positions``
    (messages without ``svg``), ``policies`` (messages ``coach`` or null), and ``pictures``: by "theme-size", the
    numbers of the parts of each position.
    """
    numbers, seats = range(recording.last + 1), [None, *range(recording.record.game.num_players)]
    total, done = len(seats) * len(numbers) * len(THEMES) * len(SIZES), 0
    parts: dict[str, int] = {}
    views = []
    for seat in seats:
        pictures: dict[str, list[list[int]]] = {}
        for theme, size in itertools.product(THEMES, SIZES):
            positions = [recording.position(number, seat, theme, size) for number in numbers]
            drawn = [_PART.findall(position.pop("svg")) for position in positions]
            pictures[f"{theme}-{size}"] = [
                [parts.setdefault(part, len(parts)) for part in picture] for picture in drawn
            ]
            done += len(numbers)
            progress(done, total)
        policies = [recording.policy(number, seat) for number in numbers]
        events = recording.all_events(seat)
        views.append({"events": events, "positions": positions, "policies": policies, "pictures": pictures})
    return {"parts": list(parts), "views": views}


def bundled(*names: str) -> str:
    """Modules of the page and their imports as one script; their top-level names are unique."""
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
