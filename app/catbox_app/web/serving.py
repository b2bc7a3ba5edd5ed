"""Starts the server of `catbox web`: a port that is free, an address to open, and a browser."""

from __future__ import annotations

import socket
import sys
import threading
import webbrowser

import uvicorn
from starlette.types import ASGIApp

from catbox_app.web.server import LARGEST_MESSAGE

#: How long a thread that thinks may keep the one that answers pages waiting, in seconds. Python's own 5 ms add up.
SWITCH_SECONDS = 0.0005


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
