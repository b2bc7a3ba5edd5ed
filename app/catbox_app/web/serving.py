"""Starts the server of `catbox web`: a listening socket, the address to open, and a browser."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import webbrowser
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from catbox_app.web.server import LARGEST_MESSAGE

#: Seconds that a thinking thread may keep the one that answers pages waiting. Python's default of 5 ms adds up.
SWITCH_SECONDS = 0.0005
#: Seconds until a connection whose request is incomplete is closed.
REQUEST_SECONDS = 20.0


class Protocol(H11Protocol):
    """HTTP with a time limit for incomplete requests, which uvicorn lacks."""

    _timer: asyncio.TimerHandle | None = None
    _is_upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Stop the clock once a request is complete; start it with the next one."""
        super().data_received(data)
        if self._is_upgraded:
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self._cancel()
        elif self._timer is None:
            self._wait()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """From now on the connection belongs to another protocol."""
        super().handle_websocket_upgrade(event)
        self._is_upgraded = True
        self._cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._cancel()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. ``port`` 0: any free port. Raises ``ValueError`` that says what to do."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=128, dualstack_ipv6=both)
    except OSError as error:
        raise ValueError(
            f"--host {host} --port {port}: {error.strerror}; expected an address of this machine, such as 127.0.0.1, "
            "or 0.0.0.0 for all, and an unused port of 1024 or above, or 0 for any free port"
        ) from None


def address_of(listening: socket.socket, host: str) -> str:
    """The URL to open in a browser on this machine."""
    port = listening.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def server_of(app: ASGIApp) -> uvicorn.Server:
    """A server of ``app``; ``run(sockets=[...])`` returns when ``should_exit`` is set, or on Ctrl-C."""
    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="websockets-sansio",
        ws_max_size=LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def serve(app: ASGIApp, listening: socket.socket, open_browser: str | None = None) -> None:
    """Serve until Ctrl-C. ``open_browser``: the URL to open in a browser."""
    if open_browser is not None:
        threading.Thread(target=webbrowser.open, args=(open_browser,), daemon=True).start()
    sys.setswitchinterval(SWITCH_SECONDS)
    server_of(app).run(sockets=[listening])
