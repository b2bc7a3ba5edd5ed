"""The tables of a page that runs Python itself, in a Pyodide worker: the playground of the documentation site.

The worker passes on the page's messages, and wakes the host when the host asks for it. Unexpected errors reach the
worker, which then restarts.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from catbox_app.web.connection import Connection
from catbox_app.web.reading import Message
from catbox_app.web.tables import Tables


class Host:
    """Tables, and the connection of the one page that plays at them.

    ``send``: sends a message, JSON text, to the page.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        def send_message(message: Message) -> None:
            send(json.dumps(message))

        self._tables = Tables()
        self._connection = Connection(self._tables, send_message)

    def receive(self, text: str) -> float | None:
        """Handle a message of the page, JSON text. Returns the seconds until `work` is to be called; None: not before
        another message."""
        self._connection.receive_text(text)
        return self._tables.seconds_to_wait()

    def work(self) -> float | None:
        """Run what is due: one action of an agent per table. Returns what `receive` does."""
        self._tables.run_due()
        return self._tables.seconds_to_wait()
