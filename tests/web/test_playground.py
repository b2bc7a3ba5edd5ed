"""The playground: a table in the page itself, from a folder that a plain web server hands out, with the network off."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from docs.playground import TABLE, build
from tests.web.conftest import ARTEFACTS
from tests.web.table import (
    expect_end,
    open_table,
    play_to_the_end,
    seat_choice,
)

#: Milliseconds that loading Python may take on a machine that is busy.
LOADING = 180_000

KEEP_WORKER = """
window.Worker = class extends Worker {
  constructor(...all) {
    super(...all);
    window.worker = this;
  }
};
"""

Open = Callable[[], Page]


class Files(http.server.SimpleHTTPRequestHandler):
    """Hands out files and says nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site") / "table"
    build(folder)
    handler = functools.partial(Files, directory=str(folder.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/table/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def faults() -> list[str]:
    """What pages asked for elsewhere, and all that their consoles said."""
    return []


@pytest.fixture(scope="module")
def new_playground(browser: Browser, address: str, faults: list[str]) -> Iterator[Open]:
    """Opens pages, each in a profile of its own, whose requests to any other host are refused."""
    contexts = []

    def only_here(route: Route) -> None:
        if route.request.url.startswith(address):
            route.continue_()
        else:
            faults.append(f"asked for {route.request.url}")
            route.abort()

    def new() -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        context.route("**/*", only_here)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        return page

    yield new
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def playground(new_playground: Open, address: str) -> Page:
    """One page for the tests that only play."""
    page = new_playground()
    page.goto(address)
    page.wait_for_selector("form.lobby", timeout=LOADING)
    return page


@pytest.mark.parametrize(
    ("title", "players", "agent"),
    [
        ("Cat in the Box", 3, "heuristic"),
        ("Cat in the Box", 5, "best"),
        ("Cat Te", 5, "heuristic"),
        ("Petrify", 4, "heuristic"),
        ("Petrify", 2, "best"),
    ],
)
def test_a_game_is_played_with_the_network_off(
    playground: Page, faults: list[str], title: str, players: int, agent: str
) -> None:
    leave = playground.get_by_role("button", name="New table")
    if leave.is_visible():
        leave.click()
    open_table(playground, title, players, agent)
    assert play_to_the_end(playground) > 0
    expect_end(playground, players)
    ARTEFACTS.mkdir(exist_ok=True)
    name = f"playground-{title}-{players}-{agent}.png".replace(" ", "_").replace(":", "_")
    playground.screenshot(path=ARTEFACTS / name, full_page=True)
    assert faults == []


def test_agents_that_search_are_left_out_and_the_page_says_so(new_playground: Open, address: str) -> None:
    page = new_playground()
    page.goto(address)
    seat = seat_choice(page, 1)
    expect(seat).to_be_visible(timeout=LOADING)
    offered = seat.locator("option").evaluate_all("all => all.map((one) => one.value)")
    assert {"heuristic", "easy", "normal", "random", "best"} <= set(offered)
    assert not [spec for spec in offered if spec.startswith(("hard", "search", "ismcts", "pimc"))]
    expect(page.locator("form.lobby")).to_contain_text("catbox is not compiled here")


def test_on_the_site_progress_is_shown_before_any_script_has_arrived(
    new_playground: Open, address: str
) -> None:
    page = new_playground()
    html = (
        f'<!doctype html><html><head><base href="../"></head><body><article>{TABLE}</article></body></html>'
    )
    page.route(f"{address}page.html", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.route("**/main.js", lambda _: None)  # never answered
    page.goto(f"{address}page.html", wait_until="commit")
    expect(page.get_by_role("progressbar")).to_be_visible()


def test_on_the_site_it_has_the_tables_font_and_scrolls_to_the_board(
    new_playground: Open, address: str
) -> None:
    page = new_playground()
    body = (
        f'<body data-md-color-scheme="default"><article><p style="height: 800px"></p>{TABLE}</article></body>'
    )
    html = f'<!doctype html><html><head><base href="../"></head>{body}</html>'
    page.route(f"{address}page.html", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto(f"{address}page.html")
    page.wait_for_selector("form.lobby", timeout=LOADING)
    assert page.evaluate("document.fonts.load('16px Figtree').then((found) => found.length)") == 1
    open_table(page, "Petrify", 2)
    page.wait_for_selector(".picture svg")
    page.wait_for_function("Math.abs(document.getElementById('catbox').getBoundingClientRect().top) < 2")
    assert page.evaluate("scrollY") >= 800


def test_when_python_breaks_down_a_new_table_can_be_opened(
    new_playground: Open, address: str, faults: list[str]
) -> None:
    page = new_playground()
    page.add_init_script(KEEP_WORKER)
    page.goto(address)
    page.wait_for_selector("form.lobby", timeout=LOADING)
    open_table(page, "Petrify", 2)
    page.evaluate("void worker.dispatchEvent(new ErrorEvent('error', {message: 'out of memory'}))")
    expect(page.get_by_role("alert").first).to_contain_text("connection to the table is lost")
    page.get_by_role("button", name="Open a new table").click(timeout=LOADING)
    open_table(page, "Petrify", 2)
    assert play_to_the_end(page) > 0
    assert faults == ["out of memory"]
    faults.clear()


def test_a_file_that_is_missing_is_named_and_can_be_asked_for_again(
    new_playground: Open, address: str, faults: list[str]
) -> None:
    page = new_playground()
    page.context.route("**/catbox.zip", lambda route: route.fulfill(status=404))
    page.goto(address)
    expect(page.get_by_role("alert")).to_contain_text("catbox.zip could not be loaded: 404", timeout=LOADING)
    page.screenshot(path=ARTEFACTS / "playground-missing-file.png")
    page.context.unroute("**/catbox.zip")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("progress")
    page.screenshot(path=ARTEFACTS / "playground-loading.png")
    page.wait_for_selector("form.lobby", timeout=LOADING)
    faults.clear()
