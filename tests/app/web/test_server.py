"""The server: WebSockets, who may ask, what it survives."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from catbox_agents import Agent
from catbox_app.web import server
from catbox_app.web.guard import REFUSAL, check_url
from catbox_app.web.kept import KeptTables
from catbox_app.web.server import web_app
from catbox_app.web.tables import Tables
from tests.app.web.page import Page

HERE = "http://127.0.0.1:8000"
SOCKET = "ws://127.0.0.1:8000/ws"
#: A request for a WebSocket at a host.
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: %b\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Slow(Agent):
    """Thinks until it is released."""

    released = threading.Event()

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        assert self.released.wait(60)
        return int(action_mask.argmax())


class Unfit(Agent):
    """Cannot be made."""

    def __init__(self, game: Any, seed: Any = None) -> None:
        raise ModuleNotFoundError("no module named ideas")


SLOW, UNFIT = (f"{__name__}:{agent.__name__}" for agent in (Slow, Unfit))


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(web_app(Tables(also=[SLOW, UNFIT])), base_url=HERE) as client:
        yield client


def until(page: WebSocketTestSession, kind: str) -> dict[str, Any]:
    """The next message of that kind."""
    while True:
        message = json.loads(page.receive_text())
        if message["type"] == kind:
            return dict(message)


def sit(page: WebSocketTestSession, *seats: str, seed: int | None = None) -> str:
    """Open a table and sit down at its first seat of a person; its key."""
    message = {"game": "petrify_v0", "players": len(seats), "seats": seats, "seed": seed, "pace": 0}
    page.send_json({"type": "open", **message})
    key = next(seat["key"] for seat in until(page, "opened")["seats"] if seat["key"])
    page.send_json({"type": "join", "seat_key": key})
    return str(key)


def act(page: WebSocketTestSession, position: dict[str, Any]) -> None:
    """Take the first legal action."""
    page.send_json({"type": "act", "action": position["legal"][0]["action"], "number": position["number"]})


def play(page: WebSocketTestSession) -> dict[str, Any]:
    """Play to the end; the last position."""
    while True:
        position = until(page, "position")
        if position["waits_for"] == "over":
            return position
        if position["waits_for"] == "you":
            act(page, position)


def test_a_whole_game_over_a_websocket_is_told_as_it_is_without_one(client: TestClient) -> None:
    beside = Page(Tables())
    key = beside.open("person", "easy", game="petrify_v0", seed=1)[0]
    beside.told.clear()
    beside.send("join", seat_key=key)
    beside.play()
    assert beside.position["number"] > 3  # actions of both: this deal is a long one
    assert beside.told[-1]["type"] == "ended"
    told: list[dict[str, Any]] = []
    with client.websocket_connect(SOCKET) as page:
        sit(page, "person", "easy", seed=1)
        while not told or told[-1]["type"] not in ("ended", "refused", "failed"):
            told.append(json.loads(page.receive_text()))
            if told[-1].get("waits_for") == "you":
                act(page, told[-1])
    assert told == beside.told


def test_the_page_is_served_with_headers_that_keep_others_out(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "<script" in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "ws://127.0.0.1:8000" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    for path in ("/../../pyproject.toml", "/%2e%2e/server.py", "/nothing"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("host", "listening", "allowed"),
    [
        ("127.0.0.1:8000", "127.0.0.1", True),
        ("localhost:8000", "127.0.0.1", True),
        ("[::1]:8000", "127.0.0.1", True),
        ("evil.example", "127.0.0.1", False),
        ("127.0.0.1.evil.example:8000", "127.0.0.1", False),
        ("192.168.1.5:8000", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("a b", "127.0.0.1", False),
        ("127.0.0.1/x", "127.0.0.1", False),
        ("127.0.0.1:8000@evil.example", "127.0.0.1", False),
        ("[::1", "127.0.0.1", False),
        ("127.0.0.1:65536", "127.0.0.1", False),
        ("192.168.1.5:8000", "0.0.0.0", True),
        ("[fd00::5]:8000", "::", True),
        ("192.168.1.5.evil.example", "0.0.0.0", False),
        ("evil.example", "0.0.0.0", False),
        ("cards.example:8000", "cards.example", True),
    ],
)
def test_the_server_answers_to_its_own_names_alone(host: str, listening: str, allowed: bool) -> None:
    with TestClient(web_app(Tables(), listening), base_url=HERE) as client:
        assert client.get("/", headers={"Host": host}).status_code == (200 if allowed else 400)
        assert is_served(client, {"Host": host}) == allowed


def is_served(client: TestClient, headers: dict[str, str]) -> bool:
    """Whether a page gets a WebSocket that is answered; if not, it is told why."""
    with client.websocket_connect(SOCKET, headers=headers) as page:
        page.send_json({"type": "ping"})
        told = page.receive()
    if told["type"] == "websocket.send":
        return True
    assert (told["code"], told["reason"]) == (1008, REFUSAL)
    assert len(REFUSAL.encode()) <= 123
    return False


@pytest.mark.parametrize(
    ("host", "origin", "allowed"),
    [
        ("play.example.org", "https://play.example.org:8443", True),  # the proxy passes on the name
        ("play.example.org:8443", "https://play.example.org:8443", True),
        (
            "127.0.0.1:8000",
            "https://play.example.org:8443",
            True,
        ),  # it puts the address of this server in its place
        ("127.0.0.1:8000", HERE, True),  # no proxy
        ("127.0.0.1:8000", "http://play.example.org:8443", False),
        ("127.0.0.1:8000", "https://play.example.org", False),
        ("127.0.0.1:8000", "https://evil.play.example.org:8443", False),
        ("127.0.0.1:8000", "https://evil.example", False),
        ("play.example.org", "https://evil.example", False),
        ("evil.example", "https://play.example.org:8443", False),
    ],
)
def test_behind_a_proxy_the_server_answers_to_the_url_that_others_use(
    host: str, origin: str, allowed: bool
) -> None:
    app = web_app(Tables(), url=check_url("https://Play.example.org:8443/cards"))
    with TestClient(app, base_url=HERE) as client:
        assert is_served(client, {"Host": host, "Origin": origin}) == allowed
        policy = client.get("/", headers={"Host": "127.0.0.1:8000"}).headers["content-security-policy"]
        assert "wss://play.example.org:8443" in policy


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://Play.Example.org", "https://play.example.org/"),
        ("http://[fd00::5]:80/Cards", "http://[fd00::5]:80/Cards/"),
        ("play.example.org", None),
        ("ftp://play.example.org/", None),
        ("https://play.example.org/?a=1", None),
        ("https://a@play.example.org/", None),
        ("https://play.example.org/#seat=1", None),
        ("https:///cards/", None),
    ],
)
def test_the_url_that_others_use_is_one_that_a_browser_opens(url: str, shown: str | None) -> None:
    if shown is None:
        with pytest.raises(ValueError, match=r"^--url .*expected an address such as https://play\.example"):
            check_url(url)
    else:
        assert check_url(url) == shown


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (HERE, True),
        (None, True),
        ("http://evil.example", False),
        ("null", False),
        ("http://127.0.0.1:9", False),
        ("ftp://127.0.0.1:8000", False),
        ("http://[", False),
    ],
)
def test_a_page_of_another_place_gets_no_websocket(
    client: TestClient, origin: str | None, allowed: bool
) -> None:
    assert is_served(client, {} if origin is None else {"Origin": origin}) == allowed


def test_a_page_that_gets_no_websocket_can_ask_why(client: TestClient) -> None:
    answer = client.get("/ws")
    assert (answer.status_code, answer.headers["upgrade"]) == (426, "websocket")
    assert "headers Upgrade and Connection" in answer.text


def test_a_page_can_ask_whether_the_server_is_there(client: TestClient) -> None:
    with client.websocket_connect(SOCKET) as page:
        page.send_json({"type": "ping"})
        assert json.loads(page.receive_text()) == {"type": "pong"}


def test_rubbish_is_answered_and_another_page_plays_on(client: TestClient) -> None:
    with client.websocket_connect(SOCKET) as bad, client.websocket_connect(SOCKET) as page:
        sit(page, "person", "easy")
        bad.send_text("{")
        assert until(bad, "failed")["text"]
        bad.send_bytes(b"\xff\xfe")
        assert "JSON" in until(bad, "failed")["text"]
        assert play(page)["waits_for"] == "over"
        bad.send_json({"type": "lobby"})
        assert until(bad, "lobby")


def test_files_that_are_written_slowly_hold_up_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_write = threading.Event()
    write = server.write

    def write_late(changes: Any) -> None:
        assert may_write.wait(60)
        write(changes)

    monkeypatch.setattr(server, "write", write_late)
    app = web_app(Tables(), kept=KeptTables(tmp_path))
    with TestClient(app, base_url=HERE) as client, client.websocket_connect(SOCKET) as page:
        sit(page, "person", "easy")
        assert play(page)["waits_for"] == "over"
        assert not list(tmp_path.iterdir())
        may_write.set()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_page_opens_one_file_at_a_time() -> None:
    page = Page(Tables())
    page.send("replay", text="{}")
    page.send("replay", text="{}")
    assert "wait for it" in page.told[-1]["text"]
    page.tables.run_due()
    page.send("replay", text="{}")
    page.tables.run_due()
    assert "wait for it" not in page.told[-1]["text"]


def test_an_agent_that_thinks_long_holds_up_nobody_else(client: TestClient) -> None:
    Slow.released.clear()
    with client.websocket_connect(SOCKET) as slow, client.websocket_connect(SOCKET) as page:
        sit(slow, SLOW, "person")
        assert until(slow, "position")["waits_for"] == "agent"
        sit(page, "person", "easy")
        assert play(page)["waits_for"] == "over"
        Slow.released.set()
        assert until(slow, "position")["number"] == 1


def test_an_agent_that_cannot_be_made_is_told(client: TestClient) -> None:
    with client.websocket_connect(SOCKET) as page:
        page.send_json(
            {"type": "open", "game": "petrify_v0", "players": 2, "seats": ["person", UNFIT], "pace": 0}
        )
        assert "no module named ideas" in until(page, "failed")["text"]
        sit(page, "person", "easy")


def test_a_page_that_goes_frees_its_seat(client: TestClient) -> None:
    with client.websocket_connect(SOCKET) as page:
        key = sit(page, "person", "person")
        until(page, "position")
    with client.websocket_connect(SOCKET) as page:
        page.send_json({"type": "join", "seat_key": key})
        assert until(page, "joined")["seat"] == 0


def test_pages_are_bounded(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_PAGES", 1)
    with client.websocket_connect(SOCKET) as page:
        page.send_json({"type": "lobby"})
        until(page, "lobby")
        with client.websocket_connect(SOCKET) as other:
            with pytest.raises(WebSocketDisconnect) as closed:
                other.receive_text()
            assert (closed.value.code, closed.value.reason[:16]) == (1013, "1 pages are open")
        page.send_json({"type": "lobby"})
        until(page, "lobby")


def test_a_host_or_port_that_cannot_be_used_is_refused() -> None:
    with server.listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"--host 127.0.0.1 --port {port}: Address already in use"):
            server.listen("127.0.0.1", port)
    for host in ("256.1.1.1", "no-such-host.invalid", "192.0.2.1"):
        with pytest.raises(ValueError, match=f"--host {host}"):
            server.listen(host, 0)


@contextlib.contextmanager
def served(ping_seconds: float = 20.0) -> Iterator[tuple[str, int]]:
    """Uvicorn and a real socket, in a thread; its address."""
    listening = server.listen("127.0.0.1", 0)
    running = server.server_of(web_app(Tables()))
    running.config.ws_ping_interval = running.config.ws_ping_timeout = ping_seconds
    thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
    thread.start()
    yield listening.getsockname()
    running.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


@pytest.mark.faults
def test_a_page_that_answers_no_ping_is_closed() -> None:
    with served(ping_seconds=0.3) as place, socket.create_connection(place, timeout=20) as raw:
        raw.sendall(UPGRADE % f"127.0.0.1:{place[1]}".encode())
        assert raw.recv(12) == b"HTTP/1.1 101"
        while raw.recv(1 << 16):
            pass


@pytest.mark.faults
def test_a_request_that_is_never_complete_is_given_up_and_a_page_that_is_open_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from websockets.sync.client import connect

    monkeypatch.setattr(server, "REQUEST_SECONDS", 1.0)
    with served() as place, connect(f"ws://127.0.0.1:{place[1]}/ws", max_size=None) as page:
        whole = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{place[1]}\r\n\r\n".encode()
        for begun in (b"", whole[:9]):
            with socket.create_connection(place, timeout=20) as raw:
                raw.sendall(begun)
                assert raw.recv(4096) == b""
        with socket.create_connection(place, timeout=20) as raw:  # a second request that is not complete
            raw.sendall(whole)
            assert b"200 OK" in raw.recv(4096)
            raw.sendall(whole[:9])
            while raw.recv(1 << 16):
                pass
        with socket.create_connection(place, timeout=20) as raw:  # a page that comes over a connection in use
            raw.sendall(whole)
            assert b"200 OK" in raw.recv(4096)
            raw.sendall(UPGRADE % f"127.0.0.1:{place[1]}".encode())
            raw.settimeout(2)
            answer = raw.recv(1 << 20)
            while b"101 Switching Protocols" not in answer:
                received = raw.recv(1 << 20)
                assert received, "closed before it switched"
                answer += received
            with pytest.raises(TimeoutError):  # nothing comes, and it is not closed
                raw.recv(1)
        page.send(json.dumps({"type": "lobby"}))
        assert json.loads(page.recv())["type"] == "lobby"


def test_the_server_itself_serves_pages_and_refuses_messages_that_are_too_large() -> None:
    from websockets.exceptions import ConnectionClosedError
    from websockets.sync.client import connect

    with served() as address:
        place = f"127.0.0.1:{address[1]}"
        with connect(f"ws://{place}/ws", origin=f"http://{place}", max_size=None) as page:
            page.send(json.dumps({"type": "lobby"}))
            assert json.loads(page.recv())["type"] == "lobby"
            with contextlib.suppress(
                ConnectionClosedError
            ):  # the server may close while the page still sends
                page.send("x" * (server.LARGEST_MESSAGE + 1))
            with pytest.raises(ConnectionClosedError):
                page.recv()
        with socket.create_connection(address) as raw:
            raw.sendall(b"rubbish\r\n\r\n")
            assert b" 400 " in raw.recv(4096)
        with connect(f"ws://{place}/ws", max_size=None) as page:
            page.send(json.dumps({"type": "lobby"}))
            assert json.loads(page.recv())["type"] == "lobby"


def test_a_page_that_does_not_read_and_leaves_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        """A page that leaves while it is being given up."""

        def __init__(self) -> None:
            self.app = SimpleNamespace(state=SimpleNamespace(runner=server.JobRunner(Tables())))
            self.messages = [{"type": "websocket.receive", "text": '{"type": "lobby"}'}]

        async def accept(self) -> None:
            pass

        async def receive(self) -> dict[str, Any]:
            if self.messages:
                return self.messages.pop()
            return await server.asyncio.Event().wait()  # type: ignore[return-value]  # never

        async def send_text(self, text: str) -> None:
            await server.asyncio.Event().wait()

        async def close(self, code: int, reason: str) -> None:
            raise WebSocketDisconnect(1006)

    monkeypatch.setattr(server, "MAX_WAITING", 500)
    page: Any = Gone()
    server.asyncio.run(server.serve_page(page))
    assert page.app.state.runner.pages == 0


def test_a_missing_page_leads_back(client: TestClient) -> None:
    answer = client.get("/nope")
    assert answer.status_code == 404
    assert '<a href="./">' in answer.text  # also below the path of a proxy


def test_a_page_that_only_sends_is_slowed_down_and_given_up(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    sleep = server.asyncio.sleep

    async def note(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    async def never(*args: Any) -> None:
        await server.asyncio.Event().wait()

    monkeypatch.setattr(server.asyncio, "sleep", note)
    monkeypatch.setattr(server, "MAX_WAITING", 500)
    monkeypatch.setattr(server, "_send", never)
    with client.websocket_connect(SOCKET) as page:
        for _ in range(10):
            page.send_json({"type": "step"})
        with pytest.raises(WebSocketDisconnect) as closed:
            page.receive_text()
    assert (closed.value.code, closed.value.reason) == (1013, "This page has not read its messages.")
    assert any(0 < seconds < 1 for seconds in waits)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_for_this_machine_has_no_address_for_others(host: str) -> None:
    with server.listen(host, 0) as listening:
        assert server.address_for_others(listening, host) is None


def test_the_address_for_others_is_none_of_this_machine_alone() -> None:
    with server.listen("0.0.0.0", 0) as listening:
        address = server.address_for_others(listening, "0.0.0.0")
        assert address is not None
        assert f":{listening.getsockname()[1]}/" in address
        assert "0.0.0.0" not in address


def test_pages_are_told_the_address_for_their_invitations() -> None:
    tables = Tables()
    page = Page(tables)
    page.send("lobby")
    assert page.last("lobby")["address"] is None
    tables.address = "http://192.0.2.7:8000/"
    page.send("lobby")
    assert page.last("lobby")["address"] == tables.address
