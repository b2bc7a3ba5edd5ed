"""A host, a friend and a spectator, each in a browser of their own."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import NewPage
from tests.web.table import cards, is_over, name_oneself, number, open_table, play, play_at, wait_for_turn
from tests.web.test_accessibility import expect_accessible
from tests.web.test_people import HAND, open_for_two


def seat(page: Page, number: int) -> Locator:
    return page.locator(".people-list li").nth(number)


def watch_link(page: Page) -> str:
    return str(page.locator(".links li:not([data-seat]) .link").text_content())


def test_the_host_switches_the_coach_off_and_on_for_everybody(new_page: NewPage) -> None:
    host = new_page()
    friend = new_page(url=open_for_two(host))
    wait_for_turn(host)
    expect(seat(friend, 0)).to_contain_text("host")
    host.get_by_label("Show on my turn").select_option(label="The heuristic")
    expect(host.locator(".advice")).to_contain_text("would choose")
    expect(friend.get_by_label("People may use the coach")).to_be_hidden()
    host.get_by_label("People may use the coach").uncheck()
    for page in (host, friend):
        expect(page.locator(".people")).to_contain_text("The host has switched the coach off.")
        expect(page.get_by_label("Show on my turn")).to_be_hidden()
    expect(host.locator(".advice")).to_have_text("")
    host.reload()
    expect(host.get_by_label("People may use the coach")).not_to_be_checked()
    expect(host.get_by_label("Show on my turn")).to_be_hidden()
    host.get_by_label("People may use the coach").check()
    expect(friend.get_by_label("Show on my turn")).to_be_visible()
    expect(friend.locator(".people")).not_to_contain_text("coach off")


def test_while_the_host_is_away_a_friend_decides(new_page: NewPage) -> None:
    host = new_page()
    link = open_for_two(host)
    wait_for_turn(host)
    friend = new_page(url=link)
    own_link = host.url
    host.goto("about:blank")
    expect(seat(friend, 0)).to_contain_text("not here")
    expect(seat(friend, 1)).to_contain_text("host")
    friend.get_by_label("People may use the coach").uncheck()
    expect(friend.locator(".people")).to_contain_text("The host has switched the coach off.")
    friend.get_by_role("button", name="Let an agent play").click()
    expect(seat(friend, 0)).to_contain_text("not here, an agent plays")
    expect_accessible(friend)
    host.goto(own_link)
    expect(seat(friend, 0)).to_contain_text("host")
    expect(seat(friend, 0)).not_to_contain_text("agent plays")
    expect(friend.get_by_label("People may use the coach")).to_be_hidden()
    expect(host.get_by_label("People may use the coach")).not_to_be_checked()


def test_an_agent_plays_for_a_friend_who_has_left_until_the_friend_is_back(new_page: NewPage) -> None:
    host = new_page()
    friend = new_page(url=open_for_two(host))
    wait_for_turn(host)
    friend.get_by_role("button", name="New table").click()
    friend.get_by_role("button", name="Back to your table: Cat in the Box").wait_for()
    button = host.get_by_role("button", name="Let an agent play")
    at = number(host)
    cards(host).first.click()
    expect(host.get_by_role("heading", name="Waiting for Luna")).to_be_visible()
    expect_accessible(host)
    button.click()
    expect(seat(host, 1)).to_contain_text("not here, an agent plays")
    expect(button).to_have_count(0)
    wait_for_turn(host, at)
    friend.get_by_role("button", name="Back to your table: Cat in the Box").click()
    expect(friend.locator(HAND)).to_be_visible()
    expect(seat(host, 1)).not_to_contain_text("agent plays")
    while not cards(friend).count():
        wait_for_turn(host)
        play_at(host, [host, friend])
    expect(friend.locator(".table")).to_have_attribute("data-number", number(host))


def test_whoever_watches_sees_no_hand_and_chooses_nothing_until_the_game_is_over(new_page: NewPage) -> None:
    host = new_page()
    link = open_for_two(host, "Cat Te", 2)
    friend, watcher = new_page(url=link), new_page(url=watch_link(host))
    pages = [host, friend]
    expect(host.locator(".people")).to_contain_text("1 watching.")
    expect(watcher.locator(".people")).to_contain_text("You are watching")
    expect(watcher.locator(".picture svg")).to_be_visible()
    expect(watcher.locator(HAND)).to_have_count(0)
    assert "player_0 holds" not in watcher.content()
    for hidden in ("Your name", "Show on my turn", "Speed of the agents"):
        expect(watcher.get_by_label(hidden)).to_be_hidden()
    expect_accessible(watcher)
    wait_for_turn(host)
    while not is_over(host):
        assert cards(watcher).count() == 0
        mover = next(page for page in pages if cards(page).count() > 0)
        play_at(mover, [*pages, watcher])
    expect(watcher.get_by_role("region", name="End of the round")).to_be_visible()
    expect(watcher.get_by_role("button", name=re.compile("New deal"))).to_have_count(0)
    watcher.get_by_role("button", name="Review").click()
    expect(watcher.locator(".table.replay")).to_be_visible()


def test_a_table_is_found_again_from_the_lobby_of_this_browser_alone(new_page: NewPage) -> None:
    host = new_page()
    link = open_for_two(host)
    name_oneself(host, "Ada")
    wait_for_turn(host)
    other = host.context.new_page()
    other.goto(link.partition("#")[0])
    back = other.get_by_role("button", name="Back to your table: Cat in the Box (Ada, Luna, Tom)")
    expect(back).to_be_visible()
    expect_accessible(other)
    host.close()
    back.click()
    hand, take_over = other.locator(HAND), other.get_by_role("button", name="Take the seat over")
    hand.or_(take_over).first.wait_for()
    if take_over.is_visible():  # the server has not noticed yet that the first page is gone
        take_over.click()
    expect(hand).to_be_visible()
    stranger = new_page()
    expect(stranger.get_by_role("heading", name="Open a table")).to_be_visible()
    expect(stranger.get_by_role("button", name=re.compile("Back to"))).to_have_count(0)


def test_the_lobby_calls_the_only_person_of_a_table_you(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3)
    play(page)
    page.get_by_role("button", name="New table").click()
    back = page.get_by_role("button", name="Back to your table: Cat in the Box (You, Luna, Tom)")
    expect(back).to_be_visible()
