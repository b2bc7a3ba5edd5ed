"""The table in the browser.

A page exchanges messages (docs/protocol.md) with a `connection.Connection`; `tables.Tables` holds the games. Neither
depends on a server, threads or asyncio: `server` serves them over WebSockets, and a page that runs Python itself has a
`connection.Host`.
"""

from pathlib import Path

#: The files of the page.
STATIC = Path(__file__).parent / "static"
