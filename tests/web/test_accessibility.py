"""What axe-core finds: rules of WCAG 2.2, levels A and AA, and of good practice."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.web.conftest import NewPage
from tests.web.table import cards, expect_end, open_table, play_to_the_end, unfold_rules


def expect_accessible(page: Page) -> None:
    # Contrast is measured at rest, not while a colour changes.
    page.evaluate("Promise.allSettled(document.getAnimations().map(one => one.finished))")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")])
def test_lobby(new_page: NewPage, width: int, theme: str) -> None:
    page = new_page(width, theme=theme)
    page.locator(".lobby").wait_for()
    unfold_rules(page)
    expect_accessible(page)


@pytest.mark.parametrize(("title", "players"), [("Cat in the Box", 5), ("Cat Te", 3), ("Petrify", 2)])
@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_table(new_page: NewPage, width: int, theme: str, title: str, players: int) -> None:
    page = new_page(width, theme=theme)
    open_table(page, title, players)
    page.get_by_label("Show on my turn").select_option("heuristic")
    expect(page.locator(".choice.best")).to_have_count(1)
    expect_accessible(page)
    assert play_to_the_end(page) > 1
    expect_end(page, players)
    assert cards(page).count() == 0
    expect(page.locator(".log-list")).to_contain_text("Luna")
    expect_accessible(page)
