"""Who may ask the server: pages that it has sent itself, under a name that it goes by.

A foreign page can make a browser send requests to 127.0.0.1, also under a name of its own that it lets point there. So
the header Host must name this server, and Origin, which browsers send with every WebSocket, must be the same place.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Names of this machine for itself.
LOCAL = ("localhost", "127.0.0.1", "::1")
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
    addresses, the machine's own name, and ``host``.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app, self._names = app, {*LOCAL, host.lower()}
        self._open = not is_local(host)
        if self._open:
            own = socket.gethostname().lower()
            self._names |= {own, f"{own}.local", own.partition(".")[0]}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if (why := self._refusal(scope, headers, host)) is not None:
            refuse = PlainTextResponse(why, 403)
            if scope["type"] == "http":
                await refuse(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008, "reason": "foreign page"})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = Headers(raw=message["headers"]).mutablecopy()
                for name, value in HEADERS.items():
                    sent[name] = value.replace("{sockets}", f"ws://{host} wss://{host}")
                message["headers"] = sent.raw
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: Headers, host: str) -> str | None:
        """Why the request is refused; None: it is not."""
        if not self._is_own(host):
            return (
                "This server does not go by the name under which you came here. Use the address that catbox web has "
                "shown, or name yours: catbox web --host NAME.\n"
            )
        origin = headers.get("origin")
        if scope["type"] == "websocket" and origin is not None and _place(origin) != host.lower():
            return "A page of another place asks for a table: refused.\n"
        return None

    def _is_own(self, host: str) -> bool:
        name = _name(host)
        return name is not None and (name in self._names or (self._open and _is_address(name)))


def is_local(host: str) -> bool:
    """Whether only this machine reaches what listens on ``host``."""
    return host.lower() == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _name(host: str) -> str | None:
    """The name or address in a header Host, without the port; None where it is none."""
    try:
        return urlsplit(f"//{host}").hostname if not set(host) & set("/?#@\\ ") else None
    except ValueError:
        return None


def _place(origin: str) -> str | None:
    """``host:port`` of a header Origin."""
    scheme, _, place = origin.partition("://")
    return place.lower() if scheme in ("http", "https") else None
