"""Several people at one table, each in a browser of their own."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.conftest import NewPage
from tests.web.table import (
    cards,
    is_over,
    name_oneself,
    number,
    open_more,
    play_at,
    seat_choice,
    unfold_rules,
    wait_for_turn,
)
from tests.web.test_accessibility import expect_accessible

HAND = ".picture [aria-label^='your hand'], .picture [aria-label^='hand of ']"


def open_for_two(page: Page, title: str = "Cat in the Box", players: int = 3, local: bool = True) -> str:
    """A table with another person, the other seats an agent's; the secret link to the seat of player_1. ``local``: no
    other machine reaches the server, as the page says."""
    page.get_by_role("radio", name=title).check(force=True)
    page.get_by_role("radio", name=str(players), exact=True).check(force=True)
    seat_choice(page, 1).select_option(label="Another person, by link")
    unfold_rules(page)
    expect(page.get_by_label("Seed")).to_be_disabled()
    page.get_by_label("Speed of the agents").select_option("0")
    warning = page.get_by_text("Only this machine can reach the server.")
    expect(warning).to_be_visible(visible=local)
    page.get_by_role("button", name="Open and invite").click()
    link = page.locator(".links [data-seat] .link")
    if local:
        expect(link).to_be_hidden()
        page.get_by_text("Links for other windows on this machine").click()
    expect(link).to_be_visible()
    expect(link).to_have_count(1)
    return link.inner_text()


def test_two_people_see_their_own_cards_alone(new_page: NewPage) -> None:
    first = new_page()
    link = open_for_two(first)
    expect(first.locator(".people-list li").nth(1)).to_contain_text("not here")
    expect(first.locator(".people")).to_contain_text("1 of 2 here.")
    expect_accessible(first)
    second = new_page(url=link)
    expect(first.locator(".people-list li").nth(1)).not_to_contain_text("not here")
    expect(first.locator(".people")).not_to_contain_text("here.")
    hands = [page.locator(HAND).get_attribute("aria-label") for page in (first, second)]
    assert [str(hand).partition(":")[0] for hand in hands] == ["your hand", "your hand"]
    assert str(hands[0]) not in second.content()
    assert str(hands[1]) not in first.content()

    wait_for_turn(first)
    name_oneself(second, "<b>Ada</b> Lovelace, countess")
    for page in (first, second):  # the first twenty letters, as they are
        expect(page.locator(".people-list li").nth(1)).to_contain_text("<b>Ada</b> Lovelace,")
        expect(page.locator(".picture")).to_contain_text("<b>Ada</")
    assert cards(second).count() == 0
    expect(second.get_by_role("heading", name="Waiting for Mochi")).to_be_visible()
    cards(first).first.click()
    wait_for_turn(second)
    expect(second.get_by_role("log")).to_contain_text("puts a card aside")
    at = number(second)
    cards(second).first.click()
    wait_for_turn(first, at)
    assert cards(first).count() > 0


def test_whoever_comes_without_a_name_is_asked_for_one(new_page: NewPage) -> None:
    first = new_page()
    second = new_page(width=390, height=844, url=open_for_two(first))
    people, log = (second.locator(part).bounding_box() for part in (".people", ".log"))
    assert people is not None
    assert log is not None
    assert people["y"] > log["y"]  # everybody is here
    second.get_by_label("Your name", exact=True).fill("Ada")
    expect_accessible(second)
    second.get_by_role("button", name="Sit down").click()
    expect(second.get_by_role("button", name="Sit down")).to_be_hidden()
    expect(first.locator(".people-list")).to_contain_text("Ada")
    second.reload()
    expect(second.get_by_label("Your name", exact=True)).to_have_value("Ada")
    expect(second.get_by_role("button", name="Sit down")).to_be_hidden()
    first.goto("about:blank")
    expect(second.locator(".people.missing")).to_be_visible()
    people, log = (second.locator(part).bounding_box() for part in (".people", ".log"))
    assert people is not None
    assert log is not None
    assert people["y"] < log["y"]  # somebody is missing


def test_the_seed_is_shown_when_the_game_is_over(new_page: NewPage) -> None:
    first = new_page()
    link = open_for_two(first, "Petrify", 2)
    pages = [first, new_page(url=link)]
    wait_for_turn(first)
    mover = 0
    while not is_over(first):
        expect(first.locator(".seed")).to_be_hidden()
        play_at(pages[mover], pages)
        mover = next((i for i, page in enumerate(pages) if cards(page).count() > 0), mover)
    for page in pages:
        open_more(page)
    seeds = [page.locator(".seed code") for page in pages]
    for seed in seeds:
        expect(seed).to_be_visible()
    assert seeds[0].inner_text().isdecimal()
    assert seeds[0].inner_text() == seeds[1].inner_text()


def test_a_seat_is_taken_by_one_page_at_a_time(new_page: NewPage) -> None:
    first = new_page()
    link = open_for_two(first)
    second = new_page(url=link)
    expect(second.locator(HAND)).to_be_visible()
    third = new_page(url=link)
    expect(third.locator(".banner")).to_contain_text("in another window")
    assert third.locator(HAND).count() == 0
    third.get_by_role("button", name="Take the seat over").click()
    expect(third.locator(HAND)).to_be_visible()
    expect(second.locator(".banner")).to_contain_text("taken over")


def test_a_link_that_leads_nowhere(new_page: NewPage) -> None:
    page = new_page()
    page.goto(f"{page.url}#seat=nobody")
    expect(page.locator(".banner")).to_contain_text("No seat has this link")
    page.get_by_role("button", name="Open a new table").click()
    expect(page.get_by_role("heading", name="Open a table")).to_be_visible()
    expect(page.locator(".banner")).to_be_hidden()
