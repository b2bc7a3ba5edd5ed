"""Who may ask the server: pages that it has sent itself, under a name that it goes by.

A foreign page can make a browser send requests to 127.0.0.1, also under a name of its own that it lets point there. So
the header Host must name this server, and Origin, which browsers send with every WebSocket, must be the same place.
"""

from __future__ import annotations

import ipaddress
import re
import socket

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Names of this machine for itself.
LOCAL = ("localhost", "127.0.0.1", "[::1]")
#: Sent with every answer. Keys of seats stand behind the # of an address, which browsers do not send.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self' {sockets}",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Guard:
    """``app`` behind checks of Host and Origin, with the headers above.

    ``host``: what the server listens on. On 127.0.0.1 only the names of this machine for itself are answered; else also
    the machine's own name, ``host``, and all addresses, for a foreign page comes under a name.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        names = {*LOCAL, f"[{host.lower()}]" if ":" in host else host.lower()}
        self._open = not is_local(host)
        if self._open:
            own = socket.gethostname().lower()
            names |= {own, f"{own}.local", own.partition(".")[0]}
        self._app = app
        self._named = TrustedHostMiddleware(app, sorted(names), www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] in ("http", "websocket") else Headers()
        host, origin = headers.get("host", ""), headers.get("origin")
        if scope["type"] == "websocket" and origin is not None and _place(origin) != host.lower():
            await send({"type": "websocket.close", "code": 1008, "reason": "foreign page"})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = Headers(raw=message["headers"]).mutablecopy()
                for name, value in HEADERS.items():
                    sent[name] = value.replace("{sockets}", f"ws://{host} wss://{host}")
                message["headers"] = sent.raw
            elif (
                message["type"] == "websocket.http.response.start"
            ):  # a refused name: Uvicorn takes no body here
                message = {"type": "websocket.close", "code": 1008, "reason": "foreign name"}
            elif message["type"] == "websocket.http.response.body":
                return
            await send(message)

        by_address = re.fullmatch(r"\[?([\d.]+|[\da-f:.]+)\]?(:\d+)?", host)
        known = self._open and by_address is not None and _is_address(by_address[1])
        await (self._app if known else self._named)(scope, receive, with_headers)


def is_local(host: str) -> bool:
    """Whether only this machine reaches what listens on ``host``."""
    return host.lower() == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _place(origin: str) -> str | None:
    """``host:port`` of a header Origin."""
    scheme, _, place = origin.partition("://")
    return place.lower() if scheme in ("http", "https") else None
