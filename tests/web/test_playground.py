"""The playground in a real browser: all three games are played with no server but one that hands out files."""

from __future__ import annotations

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from docs.playground import build

CHROMIUM = "/usr/bin/chromium"
#: Milliseconds that loading Python may take on a machine that has other things to do.
PATIENCE = 120_000
PICTURES = Path(os.environ.get("CATBOX_SCREENSHOTS", "build/screenshots"))

#: Notes when an action was chosen and when a picture was shown, as the player sees them.
CLOCK = """
window.log = [];
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-choice]")) window.log.push(["chosen", performance.now()]);
}, true);
new MutationObserver((changes) => {
  if (changes.some(({target}) => target.closest?.(".picture") && target.matches(".picture"))) {
    window.log.push(["shown", performance.now()]);
  }
}).observe(document, {childList: true, subtree: true});
"""


class Files(http.server.SimpleHTTPRequestHandler):
    """Hands out files, as any static server does, and says nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("playground")
    build(path)
    return path


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    handler = functools.partial(Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page whose requests to any other host are refused, and noted as faults with all that its console says."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    faults: list[str] = []

    def only_here(route: Route) -> None:
        if route.request.url.startswith((address, "blob:", "data:")):
            route.continue_()
        else:
            faults.append(f"asked for {route.request.url}")
            route.abort()

    page.context.route("**/*", only_here)
    page.add_init_script(CLOCK)
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.faults = faults  # type: ignore[attr-defined]
    yield page
    page.close()


def open_table(page: Page, game: str, players: int, agent: str) -> None:
    page.check(f"input[name=catbox-game][value={game}]", force=True)
    page.check(f"input[name=catbox-players][value='{players}']", force=True)
    for seat in range(1, players):
        page.locator(".seats select").nth(seat).select_option(agent)
    page.get_by_label("Pace of the agents").select_option("0")
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Play").click()


def play_round(page: Page) -> int:
    """Takes the first legal action until the game is over; returns how many actions that were."""
    chosen = 0
    while True:
        page.wait_for_selector(".moves[data-waits=over], .moves[data-waits=you] .choice", timeout=PATIENCE)
        if page.locator(".moves[data-waits=over]").count():
            return chosen
        page.locator(".choice").first.click()
        chosen += 1


def moves_ms(log: list[list[Any]]) -> list[float]:
    """From an action that was chosen, or a picture, to the next picture: one's own move, or an agent's."""
    return [now - before for (_, before), (what, now) in zip(log, log[1:], strict=False) if what == "shown"]


@pytest.mark.parametrize(
    ("game", "players", "agent"),
    [
        ("cat_in_the_box_v0", 3, "heuristic"),
        ("cat_in_the_box_v0", 5, "heuristic"),
        ("cat_in_the_box_v0", 4, "zoo:cat_in_the_box-4p"),
        ("cat_te_v0", 5, "heuristic"),
        ("petrify_v0", 2, "heuristic"),
        ("petrify_v0", 2, "zoo:petrify-full"),
    ],
)
def test_a_round_is_played_with_the_network_off(
    page: Page, address: str, game: str, players: int, agent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page.goto(address)
    page.wait_for_selector(".lobby", timeout=PATIENCE)
    ready = page.evaluate("performance.now()")
    open_table(page, game, players, agent)
    page.wait_for_selector(".moves[data-waits=you] .choice", timeout=PATIENCE)
    first = page.evaluate("performance.now()")
    assert play_round(page) > 0
    moves = moves_ms(page.evaluate("log"))
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"playground-{game}-{players}-{agent.partition(':')[0]}.png")
    with capsys.disabled():
        print(
            f"\n{game}, {players} players, {agent}: lobby after {ready / 1000:.1f} s, first move possible after "
            f"{first / 1000:.1f} s, {len(moves)} moves of {sum(moves) / len(moves):.0f} ms, at most {max(moves):.0f} ms"
        )
    assert page.faults == []  # type: ignore[attr-defined]


def test_agents_that_search_are_not_offered_and_the_page_says_why(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".lobby", timeout=PATIENCE)
    offered = page.locator(".seats select").first.locator("option").evaluate_all("all => all.map((one) => one.value)")
    assert {"heuristic", "easy", "normal", "random"} <= set(offered)
    assert not [spec for spec in offered if spec.startswith(("hard", "search", "ismcts", "pimc"))]
    expect(page.locator(".lobby")).to_contain_text("not compiled")


def test_a_file_that_is_missing_is_named_and_can_be_asked_for_again(page: Page, address: str) -> None:
    page.route("**/catbox.zip", lambda route: route.fulfill(status=404))
    page.goto(address)
    expect(page.locator("#catbox")).to_contain_text("catbox.zip could not be loaded: 404", timeout=PATIENCE)
    page.unroute("**/catbox.zip")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".lobby", timeout=PATIENCE)
