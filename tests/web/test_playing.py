"""A whole round of each game in a real browser: by keyboard alone, on a phone; by mouse in `test_accessibility`."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from catbox_app.guide import LINES
from tests.web.conftest import NewPage
from tests.web.table import (
    buttons,
    cards,
    expect_end,
    is_over,
    number,
    open_more,
    open_table,
    play,
    play_to_the_end,
    unfold,
    wait_for_turn,
)
from tests.web.test_accessibility import expect_accessible
from tests.web.test_people import open_for_two

GAMES = [("Cat in the Box", 3), ("Cat Te", 3), ("Petrify", 2)]


@pytest.mark.parametrize(("title", "players"), GAMES)
def test_what_cannot_be_chosen_says_the_rule_that_forbids_it(
    new_page: NewPage, title: str, players: int
) -> None:
    page = new_page()
    open_table(page, title, players)
    forbidden = page.locator(".picture [data-forbidden]")
    while forbidden.count() == 0:
        play(page)
    at, notice, moves = number(page), page.locator(".notice"), page.locator(".moves").bounding_box()
    expect(notice).to_be_hidden()
    forbidden.first.click()
    expect(notice).to_be_visible()
    expect(notice).to_contain_text("Not possible: ")
    assert page.locator(".moves").bounding_box() == moves  # the notice moves nothing
    assert number(page) == at
    play(page)
    expect(notice).to_be_hidden()


def test_a_card_of_the_hand_points_out_the_cells_to_which_it_can_go(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3)
    cards_in_hand = page.locator('.picture [data-leads]:not([data-leads=""])')
    while cards_in_hand.count() == 0:
        play(page)
    actions = str(cards_in_hand.first.get_attribute("data-leads")).split()
    cards_in_hand.first.click()
    assert page.locator(".picture .led").evaluate_all("led => led.map(one => one.dataset.action)") == actions
    cards(page).first.focus()
    page.locator(f'.picture [data-action="{actions[0]}"]').click()


@pytest.mark.parametrize(("title", "players"), GAMES)
def test_a_round_by_keyboard_alone(new_page: NewPage, title: str, players: int) -> None:
    page = new_page()
    page.locator(".lobby").wait_for()
    _tab_to(page, ".games input")
    while page.evaluate("document.activeElement.closest('label').querySelector('strong').innerText") != title:
        page.keyboard.press("ArrowRight")
    _tab_to(page, ".chips input")
    page.keyboard.press(str(players))
    while page.evaluate("document.activeElement.value") != str(players):
        page.keyboard.press("ArrowRight")
    if page.locator(".rules[open]").count() == 0:
        _tab_to(page, ".rules > summary")
        page.keyboard.press("Enter")
    _tab_to(page, "input[inputmode=numeric]")
    page.keyboard.type("7")
    _tab_to(page, "button.primary")
    page.keyboard.press("Enter")
    at = wait_for_turn(page)
    _tab_to(page, ".picture [data-action]")
    moved = False
    while not is_over(page):
        focused = page.evaluate("document.activeElement.dataset.action")
        assert focused is not None, "after each action the next legal ones have the focus"
        page.keyboard.press("ArrowRight")
        moved = moved or page.evaluate("document.activeElement.dataset.action") != focused
        page.keyboard.press("Enter")
        at = wait_for_turn(page, at)
    assert moved
    expect_end(page, players)
    assert int(at) >= 4
    _tab_to(page, ".round-end .row button")
    page.keyboard.press("Enter")
    expect(page.locator(".table")).not_to_have_attribute("data-waits", "over")


@pytest.mark.parametrize(("title", "players"), GAMES)
def test_a_phone(new_page: NewPage, title: str, players: int) -> None:
    page = new_page(360, 740)
    _expect_phone(page)
    open_table(page, title, players)
    unfold(page)
    for _ in range(3):
        at = number(page)
        buttons(page).last.click()
        wait_for_turn(page, at)
        _expect_phone(page)
    play_to_the_end(page)
    expect_end(page, players)
    expect(page.locator(".round-end")).to_be_in_viewport()
    _expect_phone(page)


def test_what_is_smaller_than_a_finger_is_tapped_twice_where_it_cannot_be_undone(new_page: NewPage) -> None:
    page = new_page(360, 740, touch=True)
    open_for_two(page, players=5)
    wait_for_turn(page)
    at, card = number(page), cards(page).first
    label = card.get_attribute("aria-label")
    card.tap()
    notice = page.locator(".notice")
    expect(notice).to_have_text(f"Tap again to {label}.")
    expect(notice).not_to_have_class("notice warning")
    assert number(page) == at
    card.tap()
    expect(page.locator(".table")).not_to_have_attribute("data-number", at)


@pytest.mark.parametrize("players", [3, 5])
def test_one_tap_is_enough_where_it_can_be_undone(new_page: NewPage, players: int) -> None:
    page = new_page(390, 844, touch=True)
    open_table(page, "Cat in the Box", players)
    for _ in range(3):  # a card aside, a bid, a cell
        at = number(page)
        cards(page).first.tap()
        wait_for_turn(page, at)


def test_the_log_shows_the_end_of_the_game(new_page: NewPage) -> None:
    page = new_page(1440, 900)
    open_table(page, "Petrify", 2, seed=5)
    play_to_the_end(page)
    expect(page.locator(".round-end")).to_be_visible()
    expect(page.locator(".log-list .event").last).to_be_in_viewport()


def test_the_advice_of_the_coach_moves_nothing(new_page: NewPage) -> None:
    page = new_page(390, 844)
    open_table(page, "Cat in the Box", 3)
    page.get_by_label("Speed of the agents").select_option("3.5")
    page.get_by_label("Show on my turn").select_option("normal")
    advice, place = page.locator(".advice"), "one => one.getBoundingClientRect().y + scrollY"
    expect(advice).to_contain_text("would choose")
    before = [page.locator(part).evaluate(place) for part in (".picture", ".log")]
    cards(page).first.click()
    expect(advice).to_be_empty()
    assert [page.locator(part).evaluate(place) for part in (".picture", ".log")] == before


def _expect_phone(page: Page) -> None:
    """Nothing sticks out to the side, and what is tapped beside the picture is 44 pixels high."""
    page.locator("button:visible").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    low = """found => found.filter(one => one.offsetParent !== null && one.getBoundingClientRect().height < 44)
        .map(one => one.outerHTML)"""
    assert page.locator("button, select, summary").evaluate_all(low) == []


def _tab_to(page: Page, selector: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"60 presses of the Tab key do not lead to {selector}")


def _count_movements(page: Page) -> None:
    page.evaluate(
        """() => {
          window.movements = [];
          const animate = Element.prototype.animate;
          Element.prototype.animate = function (...given) {
            window.movements.push(this.dataset?.key ?? "");
            return animate.apply(this, given);
          };
        }"""
    )


def test_what_moves_is_moved_unless_the_system_or_the_switch_says_no(new_page: NewPage) -> None:
    page = new_page()
    _count_movements(page)
    open_table(page, "Petrify", 2)
    play(page)
    assert "pawn-0" in page.evaluate("window.movements")
    page.evaluate("window.movements = []")
    for width, picture in ((390, 360), (1280, 1000)):  # another layout is not a move
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator(f".picture > svg[width='{picture}']")).to_be_visible()
    assert page.evaluate("window.movements") == []
    open_more(page)
    page.get_by_label("Animations").uncheck()
    page.evaluate("window.movements = []")
    play(page)
    assert page.evaluate("window.movements") == []
    page.get_by_label("Animations").check()
    page.emulate_media(reduced_motion="reduce")
    if not is_over(page):
        play(page)
    assert page.evaluate("window.movements") == []


def _first_play(page: Page) -> None:
    open_table(page, "Cat in the Box", 3)
    while page.locator('.picture [data-leads]:not([data-leads=""])').count() == 0:
        play(page)


def test_a_card_is_picked_first_and_then_its_cell(new_page: NewPage) -> None:
    page = new_page()
    _first_play(page)
    card = page.locator('.picture [data-leads]:not([data-leads=""])').first
    actions = str(card.get_attribute("data-leads")).split()
    card.click()
    expect(page.locator(".picture.choosing")).to_have_count(1)
    expect(page.locator(".picture .led")).to_have_count(len(actions))
    at = number(page)
    if len(actions) > 1:  # put back
        card.click()
        expect(page.locator(".picture.choosing")).to_have_count(0)
        card.click()
    page.locator(f'.picture [data-action="{actions[-1]}"]').click()
    wait_for_turn(page, at)
    expect(page.locator(".picture.choosing")).to_have_count(0)


def test_a_card_is_dragged_to_its_cell(new_page: NewPage) -> None:
    page = new_page()
    _first_play(page)
    card = page.locator('.picture [data-leads]:not([data-leads=""])').first
    action = str(card.get_attribute("data-leads")).split()[0]
    at = number(page)
    middles = []
    for one in (card, page.locator(f'.picture [data-action="{action}"]')):
        box = one.bounding_box()
        assert box is not None
        middles.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    page.mouse.move(*middles[0])
    page.mouse.down()
    page.mouse.move(*middles[1], steps=6)
    page.mouse.up()
    wait_for_turn(page, at)
    expect(page.locator(".notice")).to_be_hidden()


def test_the_end_of_a_game_leads_to_its_review(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3)
    play_to_the_end(page)
    page.get_by_role("button", name="Review", exact=True).click()
    panel = page.locator(".review")
    expect(panel.locator("p")).to_contain_text(
        re.compile(r"^(No decision was a clear mistake\.|Blunders .*: \d).* together earned"),
        timeout=120_000,
    )
    expect(panel.locator("svg")).to_be_visible()
    expect(page.get_by_label("View", exact=True)).to_have_value("0")
    table, worst = page.locator(".table"), panel.locator("li button").first
    at = str(worst.get_attribute("data-number"))
    expect(table).to_have_attribute("data-number", at)  # the worst mistake is shown at once
    rings = page.locator(".picture .coach-mark")
    expect(rings).to_have_count(1)  # around the mistake
    expect(rings).to_have_class("coach-mark wrong")
    panel.get_by_role("button", name="Show best move").first.click()
    expect(panel).to_contain_text(re.compile(r" cost \d+\.\d: .* was best"))
    expect(page.locator(".picture .coach-mark.best")).to_have_count(1)
    page.get_by_role("button", name="Forward").click()
    expect(table).not_to_have_attribute("data-number", at)
    expect(rings).to_have_count(0)
    page.get_by_role("button", name="Next mistake").click()
    expect(page.locator(".picture .coach-mark.wrong")).to_have_count(1)
    expect(panel.locator("svg")).to_contain_text("points ahead")
    panel.locator("svg").click(position={"x": 280, "y": 20})  # the last decision
    expect(table).not_to_have_attribute("data-number", at)
    worst.click()
    expect(table).to_have_attribute("data-number", at)
    for words in ("Player 0", "People may use the coach"):
        assert words not in page.locator("body").inner_text()
    start = panel.get_by_role("button", name="Review", exact=True)
    expect(start).to_be_hidden()
    page.get_by_label("View", exact=True).select_option("1")
    start.click()  # the decisions of another seat
    expect(panel.locator("svg .lead")).to_have_attribute("style", "stroke: var(--seat-1);", timeout=120_000)
    expect(start).to_be_hidden()
    page.get_by_label("Show at each decision").select_option("normal")
    expect(page.locator(".advice")).to_have_text("No advice for you in this view: choose All hands.")
    page.get_by_role("button", name="Back to the table").click()
    expect(page.locator(".table.play .status")).to_have_text("The game is over")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Forward").click()
    page.get_by_role("button", name="Play on from here").click()
    expect(page.locator(".table.play .status")).not_to_have_text("The game is over")


def test_a_first_game_is_explained(new_page: NewPage) -> None:
    page = new_page()
    page.get_by_role("button", name="New here? Learn in one game").click()
    wait_for_turn(page)
    guide, meant, onward = (
        page.locator(".guide p"),
        page.locator(".picture .meant"),
        page.get_by_role("button", name="Next", exact=True),
    )
    board = page.locator(".picture")
    expect(guide).to_have_text(LINES["cat_in_the_box_v0"]["begin"])
    top = board.evaluate("one => one.getBoundingClientRect().y")
    expect(meant).to_have_attribute("aria-label", re.compile("^your hand"))
    play(page)
    expect(guide).to_contain_text("Now bid")
    expect(page.locator(".guide small")).to_have_text("2 of 10")
    expect(meant).to_have_count(4)
    expect(meant.first).to_have_attribute("aria-label", "bid 1")
    expect(onward).to_be_hidden()
    play(page)  # the bid; now the player leads
    expect(guide).to_contain_text("its row the colour you declare")
    expect(meant).to_have_attribute("aria-label", "research board")
    onward.click()
    expect(guide).to_contain_text("Red is trump")
    expect(meant).to_have_attribute("aria-label", re.compile("^red"))
    expect_accessible(page)
    play(page)
    expect(guide).to_contain_text("You have a token on")
    play(page)
    play(page)
    expect(guide).to_contain_text("The highest red card wins")  # old ones are dropped
    onward.click()
    expect(guide).to_contain_text("Beware of a paradox")
    assert board.evaluate("one => one.getBoundingClientRect().y") == top, "the board stays where it is"
    page.get_by_role("button", name="Skip", exact=True).click()
    expect(page.locator(".guide")).to_be_hidden()
    expect(meant).to_have_count(0)
    play(page)
    expect(page.locator(".guide")).to_be_hidden()
