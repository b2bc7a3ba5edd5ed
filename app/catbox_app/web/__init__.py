"""The table in the browser.

Messages go in and come out (docs/protocol.md): `connection.Connection` is what a page talks to, `tables.Tables` holds
the games. They know no server, no thread and no asyncio: `server` serves them over WebSockets, and a page that runs
Python itself calls them directly.
"""
