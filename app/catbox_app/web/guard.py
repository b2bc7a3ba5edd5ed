"""Which requests the server answers: those of its own pages, to one of its own names.

A foreign page can make a browser send requests to 127.0.0.1, even under a domain of its own that resolves there (DNS
rebinding). So the Host header must name this server, and Origin, which browsers send with every WebSocket, must match
it, or the URL that the server was given because a proxy may replace Host.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

#: Names of the loopback interface.
LOCAL = ("localhost", "127.0.0.1", "::1")
#: A Host header in lower case: a name or an address, and perhaps a port.
_HOST = re.compile(r"(?:(?P<name>[a-z0-9._-]+)|\[(?P<address>[0-9a-f:.]+)\])(?::(?P<port>[0-9]{1,5}))?")
_URL = re.compile(rf"(?P<origin>https?://{_HOST.pattern})(?P<path>/[^?#\s]*)?", re.IGNORECASE)
#: At most 123 bytes, as the reason why a WebSocket is closed.
REFUSAL = "This server does not know the address of this page: use the one that it printed, or start it with --url URL"
#: Sent with every response. The keys of seats follow the # of a URL, which browsers do not send.
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

    ``host``: what the server listens on. If that is local, only `LOCAL` and ``host`` are accepted; otherwise also the
    machine's own name and any IP address, because a foreign page always comes under a name (so starlette's
    TrustedHostMiddleware, a list of names, is not enough). ``url``: where others reach it, as `check_url` returns it.
    """

    def __init__(self, app: ASGIApp, host: str, url: str | None = None) -> None:
        self._app = app
        self._any_address = not is_local(host)
        self._url = urlsplit(url or "")
        self._names = {*LOCAL, host.lower(), self._url.hostname}
        if self._any_address:
            own = socket.gethostname().lower()
            self._names |= {own, f"{own}.local", own.partition(".")[0]}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        is_socket = scope["type"] == "websocket"
        own_pages = (f"http://{host}", f"https://{host}", f"{self._url.scheme}://{self._url.netloc}")
        foreign = is_socket and origin is not None and origin.lower() not in own_pages
        if foreign or not self._is_own(host):
            if not is_socket:
                await PlainTextResponse(REFUSAL, 400)(scope, receive, send)
                return
            page = WebSocket(scope, receive, send)
            with contextlib.suppress(WebSocketDisconnect):  # it is gone already
                await page.accept()  # only then does the page learn the reason
                await page.close(1008, REFUSAL)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                sockets = " ".join(
                    f"ws://{place} wss://{place}" for place in {host, self._url.netloc or host}
                )
                for name, value in HEADERS.items():
                    sent[name] = value.replace("{sockets}", sockets)
            await send(message)

        await self._app(scope, receive, with_headers)

    def _is_own(self, host: str) -> bool:
        """Whether a Host header names this server."""
        found = _HOST.fullmatch(host)
        if not found or int(found["port"] or 0) >= 1 << 16:
            return False
        name = found["name"] or found["address"]
        return name in self._names or (self._any_address and _is_address(name))


def check_url(url: str) -> str:
    """``url`` with its name in lower case and a slash at the end. Raises ``ValueError`` if a browser cannot open it."""
    found = _URL.fullmatch(url)
    if not found:
        raise ValueError(f"--url {url}: expected an address such as https://play.example.org/cards/")
    return f"{found['origin'].lower()}{(found['path'] or '').rstrip('/')}/"


def is_local(host: str) -> bool:
    """Whether only this machine can reach a server on ``host``."""
    return host.lower() == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
