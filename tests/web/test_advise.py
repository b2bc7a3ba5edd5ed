"""Advice in a game on a real table: entered by clicks and by typing, taken back, reloaded, in every game."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from catbox_env import make_game
from tests.app.real_game import told
from tests.web.conftest import NewPage
from tests.web.table import buttons, cards, expect_values, number, seat_choice, unfold_rules
from tests.web.test_accessibility import expect_accessible


def begin(page: Page, title: str, players: int, deal: str, seat: int = 0, clicked: str = "") -> None:
    page.get_by_role("radio", name=title).check(force=True)
    page.get_by_role("radio", name=str(players), exact=True).check(force=True)
    if seat:
        seat_choice(page, seat).select_option("you")
    send_deal(page, deal, clicked)
    wait_for(page, 0)


def send_deal(page: Page, deal: str, clicked: str = "") -> None:
    page.get_by_role("button", name="Enter the deal").click()
    offered(page).first.or_(page.get_by_label("What you see of the deal")).first.wait_for()
    if deal:
        type_deal(page, deal)
    for card in clicked.split():
        offered(page).get_by_text(card, exact=True).click()
    page.get_by_role("button", name="Advise me").click()


def type_deal(page: Page, deal: str) -> None:
    field = page.get_by_label("What you see of the deal")
    if not field.is_visible():
        page.get_by_text("Type or paste").click()
    field.fill(deal)


def offered(page: Page) -> Locator:
    """The cards that can be added to the deal."""
    return page.get_by_role("group", name="Add a card").get_by_role("button")


def held(page: Page) -> Locator:
    """The cards that have been entered."""
    return page.get_by_role("group", name="Your cards").get_by_role("button")


def wait_for(page: Page, at: int) -> None:
    expect(page.locator(".table.advise")).to_have_attribute("data-number", str(at))


def enter(page: Page, line: str) -> None:
    before = int(number(page))
    page.locator(".enter input").fill(line)
    page.keyboard.press("Enter")
    wait_for(page, before + 1)


def choose(page: Page, line: str) -> None:
    """Click what ``line`` says in the picture, or else in the list."""
    before = int(number(page))
    drawn = page.locator(f'.picture [data-action="{line[1:]}"]')
    if line == "":
        page.get_by_role("button", name="Face down").click()
    else:
        (drawn if drawn.count() else page.locator(f'.choices [data-choice="{line[1:]}"]')).click()
    wait_for(page, before + 1)


@pytest.mark.parametrize(
    ("title", "game_id", "players", "width", "theme"),
    [
        ("Cat in the Box", "cat_in_the_box_v0", 3, 390, "dark"),
        ("Cat Te", "cat_te_v0", 3, 1280, "light"),
        ("Petrify", "petrify_v0", 2, 390, "light"),
    ],
)
def test_a_game_is_entered_by_clicks_taken_back_and_reloaded(
    new_page: NewPage, title: str, game_id: str, players: int, width: int, theme: str
) -> None:
    deal, lines, _ = told(make_game(game_id, num_players=players), 1, 4, lambda legal: legal[len(legal) // 3])
    page = new_page(width=width, theme=theme)
    begin(page, title, players, deal, seat=1)
    faces = page.locator(".picture [data-key^=seat-] [data-face]").evaluate_all(
        "faces => faces.map(face => face.innerHTML)"
    )
    assert len(set(faces)) == players, "everybody has a face of their own"
    half = len(lines) // 2
    for line in lines[: half + 1]:
        choose(page, line)
    page.get_by_role("button", name="Undo").click()
    wait_for(page, half)
    page.reload()
    wait_for(page, half)
    expect_accessible(page)
    choose(page, lines[half])
    waits = page.locator(".table.advise")
    while waits.get_attribute("data-waits") != "you":
        choose(page, lines[int(number(page))])
    expect(page.locator(".advice")).to_contain_text("On average you end up")
    expect_values(page)
    leads = [
        text.split()[0].replace("\u2212", "-") for text in page.locator(".choice .value").all_inner_texts()
    ]
    assert leads == sorted(leads, key=float, reverse=True)
    expect_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    while waits.get_attribute("data-waits") != "over":
        choose(page, lines[int(number(page))])
    end = page.get_by_role("heading", name="The game is over")
    expect(end).to_be_visible()
    expect(end.locator("*")).to_have_count(0)  # nobody is to move
    expect(page.locator(".enter")).to_be_hidden()


def test_what_no_game_allows_is_answered_with_the_rule_and_nothing_is_lost(new_page: NewPage) -> None:
    page = new_page()
    begin(page, "Cat in the Box", 3, "1 1 2 2 3 3 4 5", clicked="6 6")
    for line in ["discard 1", "bid 2", "2", "3", "blue 4"]:
        enter(page, line)
    page.locator(".enter input").fill("blue 4")
    page.keyboard.press("Enter")
    notice = page.locator(".notice")
    expect(notice).to_contain_text("blue 4 is taken on the research board")
    expect(page.locator(".enter input")).to_have_value("blue 4")
    assert number(page) == "5"
    expect(page.locator(".picture [data-prompt]")).to_be_hidden()  # it says that the table waits for another
    cards(page).first.click()  # a cell, for another player
    wait_for(page, 6)
    expect(notice).to_be_hidden()
    page.go_back()
    page.get_by_text("Get advice for a game at a real table").wait_for()


def test_beside_the_deal_is_only_what_belongs_to_it(new_page: NewPage) -> None:
    page = new_page()
    rest = page.get_by_role("button", name=re.compile("Play|Easy|Choose a file|Learn"))
    expect(rest.first).to_be_visible()
    page.get_by_role("button", name="Enter the deal").click()
    expect(page.get_by_role("heading", name="Your game at a real table")).to_be_visible()
    expect(rest).to_have_count(0)
    page.get_by_label("Your seat").select_option("Luna")
    unfold_rules(page)
    starter = page.get_by_label("Who starts")
    expect(starter.locator("option")).to_have_text(["Mochi", "Luna", "Tom", "At random"])
    expect(starter).to_have_value("0")
    page.get_by_role("radio", name="2", exact=True).check(force=True)
    expect(starter.locator("option")).to_have_text(["Mochi", "Luna", "At random"])
    expect_accessible(page)
    page.get_by_role("button", name="Close").click()
    expect(seat_choice(page, 1)).to_have_value("you")
    expect(page.get_by_role("heading", name="Open a table")).to_be_visible()
    expect(offered(page)).to_have_count(0)


def test_a_deal_that_is_none_is_answered_in_the_lobby(new_page: NewPage) -> None:
    page = new_page()
    send_deal(page, "")
    wrong = page.locator(".watch .wrong")
    expect(wrong).to_have_text("Enter what you see of the deal first.")
    page.get_by_role("radio", name="3", exact=True).check(force=True)
    expect(offered(page)).to_have_text(["1", "2", "3", "4", "5", "6"])
    type_deal(page, "1 2 3")
    page.get_by_role("button", name="Advise me").click()
    expect(wrong).to_have_text("Enter your 10 cards: these are 3.")
    expect(page.locator(".watch small").first).to_have_text(re.compile(r"^All your cards, such as 1 2 3;"))
    expect(page.locator(".banner")).to_be_hidden()
    expect(page.get_by_label("What you see of the deal")).to_have_value("1 2 3")
    page.get_by_label("What you see of the deal").fill("hello 1 1 2 2 3 3 4 5 6")
    page.get_by_role("button", name="Advise me").click()
    expect(wrong).to_have_text("'hello' is not a card; expected integers from 1 to 6.")


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_the_cards_of_the_chosen_rules_are_put_into_the_hand_and_out_of_it(
    new_page: NewPage, width: int, theme: str
) -> None:
    page = new_page(width=width, theme=theme)
    page.get_by_role("radio", name="3", exact=True).check(force=True)
    page.get_by_role("button", name="Enter the deal").click()
    expect(offered(page)).to_have_text(list("123456"))
    unfold_rules(page)
    page.get_by_label("Highest rank").fill("7")
    page.keyboard.press("Tab")
    expect(offered(page)).to_have_text(list("1234567"))
    counter, advise = page.locator(".counter"), page.get_by_role("button", name="Advise me")
    for card in (7, 7, 7, 7, 7):
        offered(page).nth(card - 1).click()
    expect(offered(page).nth(6)).to_be_disabled()  # no copy is left
    expect(advise).to_be_focused()
    expect(counter).to_have_text("Your hand: 5 of 11 cards")
    held(page).nth(4).press("Enter")
    expect(held(page)).to_have_text(list("7777"))
    expect(advise).to_be_focused()
    held(page).nth(0).press("Enter")
    expect(held(page).nth(0)).to_be_focused()
    expect(page.get_by_label("What you see of the deal")).to_have_value("7 7 7")
    for card in (6, 1, 2, 3, 1, 5, 4, 7):
        offered(page).nth(card - 1).click()
    expect(held(page)).to_have_text(list("11234567777"))  # in order, as one holds them
    expect(counter).to_have_text("Your hand: 11 of 11 cards. Complete.")
    expect(offered(page).first).to_be_disabled()
    expect_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    advise.click()
    wait_for(page, 0)


def test_cards_turned_up_follow_those_of_the_hand(new_page: NewPage) -> None:
    page = new_page()
    page.get_by_role("radio", name="2", exact=True).check(force=True)
    send_deal(page, "", "1 1 1 2 2 3 3 4 4 5 5 5 4")
    wait_for(page, 0)


def test_a_card_of_the_hand_is_replaced_beside_cards_turned_up(new_page: NewPage) -> None:
    page = new_page(width=390)
    page.get_by_role("radio", name="2", exact=True).check(force=True)
    page.get_by_role("button", name="Enter the deal").click()
    offered(page).first.wait_for()
    for card in "1122334455123":
        offered(page).get_by_text(card, exact=True).click()
    turned = page.get_by_role("group", name="Cards turned up").get_by_role("button")
    held(page).last.click()
    expect(page.locator(".counter")).to_have_text("Your hand: 9 of 10 cards, and 3 of 3 turned up")
    expect(turned).to_have_text(list("123"))
    offered(page).get_by_text("4", exact=True).click()
    expect(held(page)).to_have_text(list("1122334445"))
    expect(turned).to_have_text(list("123"))
    expect(page.get_by_label("What you see of the deal")).to_have_value("1 1 2 2 3 3 4 4 5 4\n1 2 3")
    turned.first.click()  # nothing covers it
    expect(turned).to_have_text(list("23"))
    expect(turned.first).to_be_focused()


def test_the_panel_says_who_is_to_move(new_page: NewPage) -> None:
    page = new_page()
    begin(page, "Cat in the Box", 3, "1 1 2 2 3 3 4 5 6 6")
    panel = page.get_by_role("region", name="Your move")
    expect(panel.get_by_role("heading")).to_have_text("Your move")
    enter(page, "discard 1")
    enter(page, "bid 2")
    expect(panel.get_by_role("heading")).to_have_text("Enter what Luna does")
    expect(page).to_have_title("Enter what Luna does - Cat in the Box - catbox")
    panel.get_by_role("button", name="bid 2").click()  # the board has no bids of others
    wait_for(page, 3)
    panel.get_by_role("button", name="Undo").click()
    wait_for(page, 2)


def test_on_a_phone_what_others_do_is_entered_without_scrolling(new_page: NewPage) -> None:
    page = new_page(width=390)
    begin(page, "Cat in the Box", 3, "1 1 2 2 3 3 4 5 6 6")
    enter(page, "discard 1")
    enter(page, "bid 2")
    expect(page.get_by_role("heading", name="Enter what Luna does")).to_be_visible()
    page.evaluate("() => scrollTo(0, 0)")
    expect(buttons(page).first).to_be_in_viewport(ratio=1)


def test_the_actions_of_others_are_folded_where_the_board_has_them(new_page: NewPage) -> None:
    page = new_page()
    begin(page, "Cat in the Box", 3, "1 1 2 2 3 3 4 5 6 6")
    line, hint = page.get_by_text("List", exact=True), page.get_by_text("Click a dashed space on the board.")
    for entered in ["discard 1", "bid 2", "2", "3"]:
        expect(line.or_(hint).filter(visible=True)).to_have_count(0)
        enter(page, entered)
    enter(page, "blue 4")
    expect(page.get_by_role("heading", name="Enter what Luna does")).to_be_visible()
    expect(buttons(page)).to_have_count(0)
    expect(hint).to_be_visible()
    line.click()
    buttons(page).get_by_text("blue 5", exact=True).click()
    wait_for(page, 6)
    expect(buttons(page).first).to_be_visible()  # what the user has opened stays open
    for entered in ["blue 1", "green 6", "green 5"]:
        enter(page, entered)
    expect(line).to_be_hidden()
    enter(page, "green 3")
    expect(page.get_by_role("heading", name="Enter what Luna does")).to_be_visible()
    expect(line).to_be_visible()
    expect(buttons(page).first).to_be_visible()  # after the own turn, too
    expect_accessible(page)


def test_the_best_action_stands_in_a_sentence_above_bars(new_page: NewPage) -> None:
    page = new_page()
    begin(page, "Cat in the Box", 3, "1 2 3 4 4 5 6 6 6 6")
    expect_values(page)
    best = page.locator(".advice strong")
    expect(best).to_have_text(re.compile(r"^Discard 6: \d\.\d points better than the next\.$"))
    sizes = "(all, name) => all.map(one => parseFloat(one.style.getPropertyValue(name)))"
    bars, whiskers = (page.locator(".choice").evaluate_all(sizes, name) for name in ("--bar", "--within"))
    assert bars == sorted(bars, reverse=True)
    assert bars[0] + max(whiskers) >= 100 > bars[0]
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".advice span")).to_be_hidden()
    assert best.evaluate("one => one.getClientRects().length * one.clientHeight") < 30, "one line"


def test_the_next_round_of_a_match_is_asked_for(new_page: NewPage) -> None:
    deal, lines, _ = told(make_game("cat_te_v0", num_players=2, rounds=2), 0, 4, min)
    page = new_page()
    page.get_by_role("radio", name="Cat Te").check(force=True)
    unfold_rules(page)
    page.get_by_label("Rounds").select_option("2")
    begin(page, "Cat Te", 2, deal)
    for line in lines:
        if page.locator(".table").get_attribute("data-waits") == "deal" and not line.startswith("#"):
            expect(page.locator(".enter label")).to_contain_text("round" if len(line) == 1 else "new cards")
        enter(page, line)
    expect(page.get_by_role("heading", name="The game is over")).to_be_visible()


def test_a_board_is_entered_by_clicks(new_page: NewPage) -> None:
    page = new_page(width=390)
    page.get_by_role("radio", name="Petrify").check(force=True)
    page.get_by_role("radio", name="2", exact=True).check(force=True)
    page.get_by_role("button", name="Enter the deal").click()
    said = page.locator(".counter")
    board = page.get_by_role("group", name="The board").get_by_role("button")
    for k in range(16):
        offered(page).nth(k).click()
    expect(said).to_have_text("Click the tile where you stand.")
    expect(board.nth(0)).to_be_focused()
    board.nth(0).click()
    expect(said).to_have_text("Click the tile where Luna stands.")
    board.nth(5).click()
    expect(said).to_have_text("Complete.")
    expect(offered(page).first).to_be_disabled()
    expect_accessible(page)
    expect(board.nth(5)).to_have_accessible_name("Take Luna off 2.2")
    board.nth(15).click()  # is taken back, and replaced
    expect(said).to_have_text("Add the tiles row by row: 15 of 16")
    offered(page).nth(3).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.get_by_label("What you see of the deal")).to_have_value(
        "1.1@0 1.2 1.3 1.4\n2.1 2.2@1 2.3 2.4\n3.1 3.2 3.3 3.4\n4.1 4.2 4.3 1.4"
    )
    page.get_by_role("button", name="Advise me").click()
    wait_for(page, 0)


def test_other_rules_clear_the_board_and_fewer_players_take_their_pawns(new_page: NewPage) -> None:
    page = new_page()
    page.get_by_role("radio", name="Petrify").check(force=True)
    page.get_by_role("radio", name="3", exact=True).check(force=True)
    page.get_by_role("button", name="Enter the deal").click()
    for _ in range(16):
        offered(page).first.click()
    board = page.get_by_role("group", name="The board").get_by_role("button")
    for k in range(3):
        board.nth(k).click()
    expect(page.locator(".counter")).to_have_text("Complete.")
    page.get_by_role("radio", name="2", exact=True).check(force=True)
    expect(page.locator(".board .token")).to_have_count(2)
    expect(page.get_by_label("What you see of the deal")).to_have_value(re.compile(r"^1\.1@0 1\.1@1 1\.1 "))
    unfold_rules(page)
    page.get_by_label("Size").fill("5")
    page.get_by_label("Size").blur()
    expect(page.locator(".board > span")).to_have_count(25)
