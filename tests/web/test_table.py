"""What a table offers beside playing: coach, undo, other deals, saving and watching, themes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.web.conftest import NewPage
from tests.web.server import Server
from tests.web.table import (
    buttons,
    cards,
    expect_values,
    heard,
    is_over,
    number,
    numbered,
    open_more,
    open_table,
    play,
    play_to_the_end,
    play_to_the_end_of_a_round,
    seat_choice,
    unfold,
    unfold_rules,
    wait_for_turn,
)
from tests.web.test_accessibility import expect_accessible


def test_a_coach_marks_each_legal_action(new_page: NewPage) -> None:
    page = new_page()
    messages = heard(page)
    open_table(page, "Cat in the Box", 3)
    fold = page.locator(".moves .fold")
    expect(fold).not_to_have_attribute("open", "")
    page.get_by_label("Show on my turn").select_option("heuristic")
    unfold(page)
    for _ in range(2):
        expect_values(page)
        chances = [float(text.split()[0]) for text in page.locator(".choice .value").all_inner_texts()]
        assert abs(sum(chances) - 100) < 2
        expect(page.locator(".picture .coach-mark")).to_have_count(len(numbered(messages)))
        assert all("%" in text for text in page.locator(".picture .coach-mark text").all_text_contents())
        assert page.locator(".picture > svg > :last-child").get_attribute("class") == "coach-marks"
        expect(page.locator(".choice.best")).to_have_count(1)
        play(page)
    expect(page.locator(".picture [data-action] title").first).to_contain_text("%")  # what a pointer is told
    page.get_by_label("Show on my turn").select_option("points")
    expect_values(page)
    expect(page.locator(".advice")).to_contain_text("±")
    expect(page.locator(".picture [data-action] title").first).to_contain_text("±")
    page.get_by_label("Show on my turn").select_option("")
    expect(page.locator(".choice .value")).to_have_count(0)
    expect(page.locator(".coach-mark")).to_have_count(0)
    expect(page.locator(".picture [data-action] title").first).not_to_contain_text("±")


def test_a_match_shows_its_rounds_and_the_end_all_hands(new_page: NewPage) -> None:
    page = new_page()
    unfold_rules(page)
    page.get_by_label("Rounds").select_option("2")
    open_table(page, "Cat in the Box", 3)
    hands = page.locator(".picture [aria-label^='your hand'], .picture [aria-label^='hand of ']")
    play_to_the_end_of_a_round(page)
    expect(hands).to_have_count(1)
    column = (
        "rows => rows.map(row => Number(row.cells[row.cells.length - 2].innerText.replace('\u2212', '-')))"
    )
    first = page.locator(".result-table tbody tr").evaluate_all(column)
    play_to_the_end(page)
    rows = [row.locator("td").all_inner_texts() for row in page.locator(".result-table tbody tr").all()]
    points = [[int(one.replace("\u2212", "-")) for one in row] for row in rows]
    assert sorted(row[0] for row in points) == sorted(first)
    totals = [row[2] for row in points]
    assert totals == sorted(totals, reverse=True)
    assert all(row[0] + row[1] == row[2] for row in points)
    assert page.locator(".result-table .winner").count() >= 1
    expect(hands).to_have_count(3)
    expect_accessible(page)


def test_the_coach_says_when_there_is_nothing_to_choose(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Petrify", 2, "random", seed=11)
    page.get_by_label("Show on my turn").select_option("points")
    while cards(page).count() > 1:
        play(page)
    expect(page.locator(".advice")).to_contain_text("The only action: move to")
    expect(page.locator(".choice.best")).to_have_count(1)


def test_bids_that_are_about_as_good_have_bars_about_as_long_and_no_tick(new_page: NewPage) -> None:
    page = new_page(1440, 900)
    open_table(page, "Cat in the Box", 3, seed=21)
    before = number(page)
    cards(page).nth(1).click()
    wait_for_turn(page, before)
    page.get_by_label("Show on my turn").select_option("points")
    expect_values(page)
    expect(page.locator(".advice")).to_contain_text("No clear difference among 4.")
    expect(page.locator(".coach .choice.best")).to_have_count(0)
    expect(page.locator(".picture .coach-mark.value")).to_have_count(4)
    sizes = "(all, name) => all.map(one => parseFloat(one.style.getPropertyValue(name)))"
    bars, whiskers = (
        page.locator(".coach .choice").evaluate_all(sizes, name) for name in ("--bar", "--within")
    )
    assert max(bars) - min(bars) < 2 * max(whiskers) < 60
    play(page)
    expect_values(page)  # all of them, with nothing to scroll
    fold = page.locator(".coach .fold")
    assert fold.locator(".choice").count() > 12
    assert fold.evaluate("one => one.scrollHeight - one.clientHeight") <= 1


def test_undo_takes_back_ones_last_action_and_what_followed(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3)
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_disabled()
    play(page)
    at, told = number(page), page.get_by_role("log").inner_text()
    play(page)
    undo.click()
    expect(page.locator(".table")).to_have_attribute("data-number", at)
    expect(page.get_by_role("log")).to_have_text(told, use_inner_text=True)


def test_a_refused_move_shows_why(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3)
    at = number(page)
    cards(page).first.evaluate("card => card.dataset.action = 30")
    page.locator(".picture [data-action='30']").click()
    notice = page.locator(".notice")
    expect(notice).to_contain_text("Not possible: ")
    unfold(page)
    buttons(page).first.click()
    wait_for_turn(page, at)
    expect(notice).to_be_hidden()


def test_the_rules_are_one_click_away(new_page: NewPage) -> None:
    page = new_page(390, 844)
    rules = page.get_by_role("button", name="Rules", exact=True)
    expect(rules).to_be_hidden()
    open_table(page, "Cat in the Box", 3)
    rules.click()
    dialog = page.get_by_role("dialog", name="Rules")
    expect(dialog).to_contain_text("Paradox: ")
    expect_accessible(page)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    expect(rules).to_be_focused()


def test_other_deals(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3, seed=11)
    seed, hand = page.locator(".seed code"), page.locator(".picture [aria-label^='your hand']")
    dealt = hand.get_attribute("aria-label")
    play(page)
    at = number(page)
    open_more(page)
    page.get_by_role("button", name="Play this deal again", exact=True).click()  # it would lose the game
    assert number(page) == at
    page.get_by_role("button", name="Play this deal again: leave this game?").click()
    expect(page.locator(".table")).to_have_attribute("data-number", "0")
    assert hand.get_attribute("aria-label") == dealt
    expect(seed).to_have_text("11")
    page.get_by_role("button", name="New deal").click()
    expect(seed).not_to_have_text("11")
    wait_for_turn(page)


def test_the_theme_is_that_of_the_system_until_it_is_switched(new_page: NewPage) -> None:
    page = new_page(theme="dark")
    root, ground = page.locator("#catbox"), page.locator(".picture svg > rect").first
    expect(root).to_have_attribute("data-theme", "dark")
    open_table(page, "Petrify", 2)
    dark = ground.get_attribute("fill")
    page.get_by_role("button", name="Switch to the light theme").click()
    expect(root).to_have_attribute("data-theme", "light")
    expect(ground).not_to_have_attribute("fill", str(dark))
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")


def test_a_saved_game_is_watched_from_every_seat(new_page: NewPage, tmp_path: Path) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3)
    play_to_the_end(page)
    assert is_over(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save", exact=True).click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    played = len(json.loads(file.read_text().splitlines()[1])["actions"])

    page.get_by_role("button", name="New table").click()
    page.get_by_label("File of games").set_input_files(file)
    table, slider = page.locator(".table.replay"), page.get_by_label("Action", exact=True)
    expect(table).to_have_attribute("data-number", "0")
    expect(page.locator(".picture [aria-label^='hand of Luna']")).to_be_visible()
    slider.fill(str(played))
    expect(table).to_have_attribute("data-number", str(played))
    slider.press("ArrowLeft")
    expect(table).to_have_attribute("data-number", str(played - 1))
    page.get_by_role("button", name="First").click()
    page.get_by_role("button", name="Forward").click()
    expect(table).to_have_attribute("data-number", "1")
    expect(page.locator(".log .entry:visible")).to_have_count(1)  # what follows would give the result away
    expect_accessible(page)
    page.get_by_label("View", exact=True).select_option("2")
    expect(page.locator(".picture [aria-label^='hand of Luna']")).to_have_count(0)
    expect(page.locator(".picture [aria-label^='hand of Tom']")).to_be_visible()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(table).to_have_attribute("data-number", "3")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_a_finished_game_is_watched_with_one_click(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Petrify", 2)
    play_to_the_end(page)
    page.get_by_role("button", name="Review").click()
    expect(page.locator(".table.replay")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Rematch")).to_be_visible()


def test_who_has_no_name_is_you(new_page: NewPage) -> None:
    page = new_page()
    unfold_rules(page)
    page.get_by_label("Seed").fill("7")  # the player must cause a paradox
    open_table(page, "Cat in the Box", 3)
    expect(page.locator(".picture svg")).to_contain_text("Put one card aside")
    texts: list[str] = []
    while not is_over(page):
        texts.append(page.locator(".picture svg").text_content() or "")
        play(page)
    told = page.locator(".log-list").inner_text() + page.locator(".round-end").inner_text()
    assert "You bid" in told
    assert "Player 0" not in told + "".join(texts)
    assert not re.search(r"[Yy]ou (\w+s|ha|doe)\b", told + " ".join(texts))


def test_what_has_the_focus_in_the_lobby_is_not_behind_the_button(new_page: NewPage) -> None:
    for width, height in ((1280, 800), (390, 844)):
        page = new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.locator(".lobby").wait_for()
        page.locator(".lobby").evaluate("node => node.querySelector('input').focus()")
        for _ in range(20):
            page.keyboard.press("Tab")
            covered = page.evaluate(
                """() => {
                  const {left, top, width, height} = document.activeElement.getBoundingClientRect();
                  const seen = document.elementFromPoint(left + width / 2, top + height / 2);
                  return seen?.closest(".primary") && document.activeElement !== seen.closest(".primary");
                }"""
            )
            assert not covered, page.evaluate("document.activeElement.outerHTML")


def test_the_level_of_all_opponents_is_marked_and_who_gives_a_seat_away_gets_the_next(
    new_page: NewPage,
) -> None:
    page = new_page()
    pressed = page.locator(".lobby .chip-button[aria-pressed=true]")
    expect(pressed).to_have_text(["Normal"])
    page.get_by_role("button", name="Easy").click()
    expect(pressed).to_have_text(["Easy"])
    expect(page.locator(".seats label")).to_have_text(["Mochi", "Luna", "Tom"])
    seat_choice(page, 0).select_option("normal")
    expect(seat_choice(page, 1)).to_have_value("you")
    expect(page.locator(".seats label")).to_have_text(["Mochi", "Luna", "Tom"])


def test_a_trained_agent_that_the_host_offers_is_an_opponent_and_a_coach(
    new_page: NewPage, tmp_path: Path
) -> None:
    """It was hidden from both, as the bundled ones are beside "best"."""
    spec = "zoo:cat_in_the_box-3p"
    with Server(tmp_path, "--agent", spec) as own:
        page = new_page(url=own.url)
        open_table(page, "Cat in the Box", 3, spec)
        page.get_by_label("Show on my turn").select_option(spec)
        expect_values(page)
