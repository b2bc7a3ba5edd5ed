"""Writes the pictures of the browser table in the documentation: ``python -m tests.web.screenshots``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.web.server import ROOT, Server, find_browser
from tests.web.table import cards, number, open_table, wait_for_turn

FOLDER = ROOT / "docs" / "screenshots"
#: Own actions before the picture is taken.
ACTIONS = 5


def play_on(page: Page) -> None:
    """A few actions into a game of four, with the coach on."""
    open_table(page, "Cat in the Box", 4, seed=21)
    for _ in range(ACTIONS):
        before = number(page)
        cards(page).nth(1).click()
        wait_for_turn(page, before)
    page.get_by_label("Show on my turn").select_option("points")
    expect(page.locator(".coach-mark").first).to_be_visible(timeout=120_000)
    page.mouse.move(2, 2)


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        Server(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_browser())
        for theme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": 1040, "height": 772}, device_scale_factor=1.4, color_scheme=theme
            )
            page.goto(server.url)
            play_on(page)
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=FOLDER / f"browser-{theme}.png")
        browser.close()


if __name__ == "__main__":
    main()
