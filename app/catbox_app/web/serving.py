"""Starts the server of `catbox web`: a port that is free, an address to open, and a browser."""

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

#: How long a thread that thinks may keep the one that answers pages waiting, in seconds. Python's own 5 ms add up.
SWITCH_SECONDS = 0.0005
#: A connection is closed that leaves a request unfinished for so many seconds.
REQUEST_SECONDS = 20.0


class Protocol(H11Protocol):
    """HTTP that does not wait for ever until a request is complete, which uvicorn has no option for."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A browser connects."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(REQUEST_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        """It sends a part of a request."""
        super().data_received(data)
        is_waited_for = self.cycle is None or self.cycle.response_complete
        if self._timer is not None and not is_waited_for:
            self._timer.cancel()
            self._timer = None
        elif self._timer is None and is_waited_for:
            self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """The request is complete, and the connection another protocol's from now on."""
        super().handle_websocket_upgrade(event)
        if self._timer is not None:
            self._timer.cancel()


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. ``port`` 0: any that is free. Raises ``ValueError`` with what to do."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=128, dualstack_ipv6=both)
    except OSError as error:
        raise ValueError(
            f"--host {host} --port {port}: {error.strerror}; expected an address of this machine, such as 127.0.0.1, "
            "or 0.0.0.0 for all, and a port from 1024 on that nothing else uses, or 0: any that is free"
        ) from None


def address_of(listening: socket.socket, host: str) -> str:
    """What is typed into a browser on this machine."""
    port = listening.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def server_of(app: ASGIApp) -> uvicorn.Server:
    """What serves ``app``; ``run(sockets=[...])`` ends when ``should_exit`` is set, or with Ctrl-C."""
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
    """Serve until Ctrl-C. ``open_browser``: an address that a browser opens."""
    if open_browser is not None:
        threading.Thread(target=webbrowser.open, args=(open_browser,), daemon=True).start()
    sys.setswitchinterval(SWITCH_SECONDS)
    server_of(app).run(sockets=[listening])
