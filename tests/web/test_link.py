"""A link that dies without a word, as when a phone sleeps: the page finds out, and says what that means."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.web.conftest import NewPage
from tests.web.link import Link
from tests.web.server import Server
from tests.web.table import cards, number, open_table, play_at, wait_for_turn
from tests.web.test_accessibility import expect_accessible
from tests.web.test_people import open_for_two

#: Milliseconds in which an answer is expected, and of silence after which the page asks for one (connection.js).
PATIENCE, SILENCE = 5_000, 20_000


@pytest.fixture
def link(server: Server) -> Link:
    return Link(server.port)


def with_clock(page: Page) -> Page:
    """Loads a page again with a clock that can be set forward."""
    page.clock.install()
    page.reload()
    return page


@pytest.mark.parametrize("width", [1440, 390])
def test_a_click_that_is_not_answered_is_said_to_be_lost_when_the_connection_is_back(
    new_page: NewPage, link: Link, width: int
) -> None:
    page = with_clock(new_page(width=width, url=link.url))
    open_table(page, "Petrify", 2)
    before, banner = number(page), page.locator(".banner")
    link.cut()
    cards(page).first.click()
    page.clock.fast_forward(PATIENCE - 1000)
    expect(banner).to_be_hidden()
    page.clock.fast_forward(1000)
    expect(banner).to_contain_text("The connection to the table is lost. Reconnecting")
    link.mend()
    expect(banner).to_contain_text("The connection is back. What you chose last may be lost")
    expect_accessible(page)
    assert wait_for_turn(page) == before
    cards(page).first.click()
    wait_for_turn(page, before)
    banner.get_by_role("button", name="Close").click()
    expect(banner).to_be_hidden()


@pytest.mark.parametrize(
    "event",
    [
        "document.dispatchEvent(new Event('visibilitychange'))",
        "dispatchEvent(new Event('pageshow'))",
        "dispatchEvent(new Event('online'))",
        None,
    ],
)
def test_a_page_that_comes_back_or_hears_nothing_finds_out_and_takes_its_seat_again(
    new_page: NewPage, link: Link, event: str | None
) -> None:
    page = with_clock(new_page(url=link.url))
    friend = new_page(url=open_for_two(page, "Petrify", 2))
    wait_for_turn(page)
    banner = page.locator(".banner")
    link.cut()
    if event is None:
        page.clock.fast_forward(SILENCE)
    else:
        page.evaluate(event)
    page.clock.fast_forward(PATIENCE)
    expect(banner).to_contain_text("Reconnecting")
    link.mend()
    expect(banner).to_be_hidden()  # nothing was chosen, so nothing is lost
    play_at(page, [page, friend])


def test_a_page_that_comes_back_connects_at_once(new_page: NewPage, link: Link) -> None:
    page = with_clock(new_page(url=link.url))
    open_table(page, "Petrify", 2)
    page.clock.pause_at(page.evaluate("Date.now()") + 100)
    link.cut()
    page.evaluate("dispatchEvent(new Event('online'))")
    page.clock.run_for(PATIENCE)
    expect(page.locator(".banner")).to_contain_text("Reconnecting")
    link.mend()  # the clock stands: the next attempt is never due
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator(".banner")).to_be_hidden()


def test_what_is_chosen_without_a_connection_is_said_not_to_be_sent(new_page: NewPage, link: Link) -> None:
    page = with_clock(new_page(url=link.url))
    banner = page.locator(".banner")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    link.cut()
    page.evaluate("dispatchEvent(new Event('online'))")
    page.clock.fast_forward(PATIENCE)
    expect(banner).to_contain_text("nothing is sent until then")
    expect(banner.get_by_role("button")).to_have_count(0)  # it stays
    page.get_by_role("button", name="Play", exact=True).click()
    expect(banner).to_contain_text("nothing is sent until then")
    link.mend()
    expect(banner).to_be_hidden()
    expect(page.get_by_role("heading", name="Open a table")).to_be_visible()


def test_a_server_that_has_no_room_says_so_and_is_asked_again(new_page: NewPage) -> None:
    page = new_page()
    banner = page.locator(".banner")
    is_full = True

    def answer(socket: WebSocketRoute) -> None:
        if is_full:
            socket.on_message(lambda _: socket.close(code=1013, reason="400 pages are open."))
        else:
            socket.connect_to_server()

    page.route_web_socket("**/ws", answer)
    page.reload()
    expect(banner).to_contain_text("400 pages are open. Reconnecting")
    is_full = False
    expect(banner).to_be_hidden()
    expect(page.get_by_role("heading", name="Open a table")).to_be_visible()


def test_a_slow_link_gets_more_time_with_each_attempt(new_page: NewPage) -> None:
    page = new_page()
    banner = page.locator(".banner")
    held: list[Callable[[], None]] = []
    is_slow = True

    def slow(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        server.on_message(
            lambda told: held.append(lambda: socket.send(told)) if is_slow else socket.send(told)
        )

    page.route_web_socket("**/ws", slow)
    page = with_clock(page)
    for seconds in (5, 10, 20):
        expect(banner).to_be_hidden()  # connected
        page.clock.fast_forward(1000 * seconds - 1000)
        expect(banner).to_be_hidden()
        page.clock.fast_forward(1000)
        expect(banner).to_contain_text("Reconnecting")
    expect(banner).to_be_hidden()
    is_slow = False
    for answer in held:
        answer()
    expect(page.get_by_role("heading", name="Open a table")).to_be_visible()
