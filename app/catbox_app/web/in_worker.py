"""The tables of a page that runs Python itself, in a Pyodide worker: the playground of the documentation site.

The worker passes on the page's messages and wakes the host when it asks to be woken. An error that is nobody's answer
goes through to the worker, which then starts anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from catbox_app.web.connection import Connection
from catbox_app.web.reading import Message
from catbox_app.web.tables import Tables


class Host:
    """Tables, and the connection of the one page that plays at them.

    ``send``: takes each message to the page, as JSON text.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        def send_message(message: Message) -> None:
            send(json.dumps(message))

        self._tables = Tables()
        self._connection = Connection(self._tables, send_message)

    def receive(self, text: str) -> float | None:
        """Take a message of the page, JSON text. Returns in how many seconds to call `work`; None: not before another
        message."""
        self._connection.receive_text(text)
        return self._tables.seconds_to_wait()

    def work(self) -> float | None:
        """Do what is due: at each table one action of an agent. Returns what `receive` does."""
        self._tables.run_due()
        return self._tables.seconds_to_wait()
