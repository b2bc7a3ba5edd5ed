"""Tests of the browser table in a real browser: ``make test-web``. ``make test`` leaves this folder out.

The browser is the one of the machine; Playwright only drives it. Each page's last screenshot is kept in
``.web-artefacts``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.web.server import Server, find_browser

ARTEFACTS = Path(__file__).resolve().parent.parent.parent / ".web-artefacts"
#: Milliseconds that a page may take for anything on a machine that is busy.
PATIENCE = 30_000

NewPage = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        path = find_browser()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path)
        yield running
        running.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`catbox web`, shared by the tests that do not stop it."""
    with Server(tmp_path_factory.mktemp("web"), "--agent", "tests.web.server:Failing") as running:
        yield running


@pytest.fixture
def new_page(browser: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[NewPage]:
    """Opens pages, each in a browser profile of its own; an error in the code of a page fails the test."""
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def new(
        width: int = 1280,
        height: int = 800,
        theme: str = "light",
        url: str | None = None,
        touch: bool = False,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, has_touch=touch
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: _note(message.type, message.text, errors))
        page.goto(url or server.url)
        return page

    yield new
    ARTEFACTS.mkdir(exist_ok=True)
    for i, context in enumerate(contexts):
        for page in context.pages:
            page.screenshot(path=ARTEFACTS / f"{request.node.name}-{i}.png", full_page=True)
        context.close()
    assert errors == []


def _note(kind: str, text: str, errors: list[str]) -> None:
    # A server that is down while it is started anew is no error of the page.
    if kind == "error" and "ERR_CONNECTION" not in text and "WebSocket" not in text:
        errors.append(text)
