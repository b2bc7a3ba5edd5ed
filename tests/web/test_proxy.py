"""The table behind nginx, with the settings of docs/playing.md and with those that people forget."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.web.server import ROOT, Server
from tests.web.table import open_table, play
from tests.web.test_people import HAND, open_for_two

#: A name that browsers look for on their own machine, in the place of the one in docs/playing.md.
NAME = "play.localhost"
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed: apt-get install nginx-light")


def documented() -> str:
    """The settings in docs/playing.md."""
    found = re.search(r"```nginx\n(.*?)```", (ROOT / "docs/playing.md").read_text(), re.DOTALL)
    assert found is not None
    return found[1]


@contextmanager
def nginx(folder: Path, settings: str, port: int, server: int) -> Iterator[None]:
    """nginx with these ``settings`` of its own ``port`` and that of the server, and a certificate of its own."""
    key, certificate = folder / "play.key", folder / "play.pem"
    making = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={NAME}"]
    subprocess.run([*making, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    here = {
        "listen 443": f"listen 127.0.0.1:{port}",
        "play.example.org": NAME,
        "/etc/ssl/certs/play.pem": str(certificate),
        "/etc/ssl/private/play.key": str(key),
        "127.0.0.1:8000": f"127.0.0.1:{server}",
    }
    for documented, own in here.items():
        assert documented in settings
        settings = settings.replace(documented, own)
    temporary = [
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    ]
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{ access_log off; {' '.join(temporary)}\n{settings}}}\n"
    )
    with subprocess.Popen([str(NGINX), "-p", folder, "-c", file, "-e", folder / "error.log"]) as process:
        try:
            while True:
                assert process.poll() is None, (folder / "error.log").read_text()
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", port)) == 0:
                        break
            yield
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def port() -> int:
    """Where nginx listens."""
    return free_port()


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Server]:
    """The server that is told the address of the proxy."""
    url = f"https://{NAME}:{port}/cards/"
    with Server(tmp_path_factory.mktemp("behind"), "--url", url) as server:
        yield server


@pytest.fixture
def visit(browser: Browser, port: int) -> Iterator[Callable[[], Page]]:
    """Opens the lobby through nginx, each time in a browser of its own."""
    contexts = []

    def new(url: str = f"https://{NAME}:{port}/cards/") -> Page:
        contexts.append(browser.new_context(ignore_https_errors=True))
        page = contexts[-1].new_page()
        page.goto(url)
        return page

    yield new
    for context in contexts:
        context.close()


@pytest.mark.parametrize("host", ["", "proxy_set_header Host $host;", "proxy_set_header Host $http_host;"])
def test_people_play_behind_nginx_whatever_becomes_of_the_host_header(
    tmp_path: Path, behind: Server, port: int, visit: Callable[..., Page], host: str
) -> None:
    settings = documented().replace("proxy_http_version", f"{host} proxy_http_version")
    with nginx(tmp_path, settings, port, behind.port):
        first = visit()
        link = open_for_two(first, local=False)
        assert link.startswith(f"https://{NAME}:{port}/cards/#seat=")
        expect(visit(link).locator(HAND)).to_be_visible()
        page = visit()
        open_table(page, "Petrify", 2)
        play(page)


def test_a_page_that_gets_no_websocket_through_the_proxy_says_why(
    tmp_path: Path, behind: Server, port: int, visit: Callable[[], Page]
) -> None:
    settings = re.sub("proxy_set_header (Upgrade|Connection).*;", "", documented())
    with nginx(tmp_path, settings, port, behind.port):
        page = visit()
        banner = page.locator(".banner")
        expect(banner).to_contain_text("it must pass on the headers Upgrade and Connection")
    with nginx(tmp_path, documented(), port, behind.port):
        banner.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Open a table")).to_be_visible()
        expect(banner).to_be_hidden()


def test_a_page_of_an_address_that_the_server_does_not_know_says_why_and_does_not_connect_again(
    tmp_path: Path, server: Server, port: int, visit: Callable[[], Page]
) -> None:
    with nginx(tmp_path, documented(), port, server.port):
        page = visit()
        banner, sockets = page.locator(".banner"), list[WebSocket]()
        expect(banner).to_contain_text("start it with --url")
        page.on("websocket", lambda socket: sockets.append(socket))
        page.clock.install()
        page.reload()
        expect(banner).to_contain_text("start it with --url")
        page.clock.fast_forward(60_000)
        expect(banner.get_by_role("button", name="Try again")).to_be_visible()
        assert len(sockets) == 1
    passes_on = documented().replace("proxy_http", "proxy_set_header Host $host; proxy_http")
    with nginx(tmp_path, passes_on, port, server.port):
        page.reload()
        expect(page.locator("body")).to_contain_text("start it with --url")
