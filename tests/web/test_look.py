"""How the table looks and sounds: it fills the window, the end of a round stays, agents are cats."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.app.table import run
from tests.web.conftest import NewPage
from tests.web.table import (
    COMPILING,
    cards,
    expect_values,
    is_over,
    name_oneself,
    number,
    open_more,
    open_table,
    play,
    play_to_the_end_of_a_round,
    unfold,
    unfold_rules,
    wait_for_turn,
)
from tests.web.test_accessibility import expect_accessible

#: For each game, the least share of the window's height that its picture fills, and the panels that a move needs.
GAMES = {
    "Cat in the Box": (0.65, ["research board", "your hand", "trick, ", "players"]),
    "Cat Te": (0.55, ["tricks", "You hold "]),
    "Petrify": (0.65, ["board", "players"]),
}


def box_of(part: Locator) -> FloatRect:
    box = part.bounding_box()
    assert box is not None
    return box


def bottom(part: Locator) -> float:
    return box_of(part)["y"] + box_of(part)["height"]


def test_the_lobby_fits_into_a_window_and_a_phone_always_shows_play(new_page: NewPage) -> None:
    page = new_page(1440, 900)
    start = page.get_by_role("button", name="Play", exact=True)
    assert box_of(start)["width"] <= 420
    titles = ("Get advice for a game at a real table", "Open a saved game")
    others = [page.get_by_role("region", name=words) for words in titles]
    assert box_of(others[0])["y"] == box_of(others[1])["y"]
    for other in others:
        assert bottom(other) <= 900
        expect(other.get_by_role("button")).to_be_in_viewport(ratio=1)
    page = new_page(390, 844)
    start = page.get_by_role("button", name="Play", exact=True)
    expect(start).to_be_in_viewport(ratio=1)
    assert box_of(start)["width"] > 360
    for words in ("Enter the deal", "Choose a file"):
        expect(page.get_by_role("button", name=words)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_lobby_has_the_rules_in_two_columns_of_paragraphs(new_page: NewPage) -> None:
    page = new_page(1440, 900)
    page.get_by_text("How to play Cat in the Box").click()
    paragraphs = page.locator(".lobby .rules-text p")
    expect(paragraphs.first.locator("strong")).to_have_text("Cards:")
    expect(paragraphs.filter(has_text="Otherwise the round ends").locator("strong")).to_have_count(0)
    assert box_of(paragraphs.last)["x"] > 300 + box_of(paragraphs.first)["x"]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
@pytest.mark.parametrize("title", GAMES)
def test_the_picture_fills_the_window(new_page: NewPage, title: str, width: int, height: int) -> None:
    page = new_page(width, height)
    open_table(page, title, 4)
    play(page)
    least, parts = GAMES[title]
    picture = page.locator(".picture > svg")
    filled = "svg => svg.getScreenCTM().d * svg.viewBox.baseVal.height"
    assert picture.evaluate(filled) >= least * height
    drawn = "svg => svg.getScreenCTM().a * svg.viewBox.baseVal.width / svg.closest('.centre').clientWidth"
    assert picture.evaluate(drawn) > 0.98, "the board is narrower than what is below it"
    assert page.evaluate("scrollY") == 0
    assert page.evaluate("document.documentElement.scrollHeight") == height
    assert bottom(page.locator(".turn")) <= height
    hand = page.locator(f".picture [aria-label^='{parts[1]}']")
    assert bottom(hand) <= height


@pytest.mark.parametrize(("title", "players"), [("Cat in the Box", 5), ("Cat Te", 6), ("Petrify", 4)])
def test_a_phone_shows_what_a_move_needs_without_scrolling(
    new_page: NewPage, title: str, players: int
) -> None:
    page = new_page(390, 844)
    open_table(page, title, players, "heuristic")

    def expect_parts_above_the_bar() -> None:
        assert page.evaluate("scrollY") == 0
        for part in GAMES[title][1]:
            shown = page.locator(f".picture [aria-label^='{part}']").first
            assert bottom(shown) <= box_of(page.locator(".moves"))["y"] + 1, part

    expect_parts_above_the_bar()
    page.get_by_label("Show on my turn").select_option("heuristic")
    advice = page.locator(".advice")
    expect(advice).to_contain_text("would choose")
    page.evaluate("scrollTo(0, 0)")
    expect(advice).to_be_in_viewport(ratio=1)
    assert box_of(advice)["y"] >= box_of(page.locator(".moves"))["y"], "it is in the bar"
    expect_parts_above_the_bar()
    expect_accessible(page)
    assert page.locator(".log").get_attribute("open") is None
    page.locator(".log > summary").click()
    expect(page.get_by_role("log")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
def test_all_hands_of_a_saved_game_leave_the_board_as_large_as_in_play(
    new_page: NewPage, tmp_path: Path, width: int, height: int
) -> None:
    game = tmp_path / "game.jsonl"
    ran = run("watch", "heuristic", "--players", "5", "--seed", "6", "--save", str(game))
    assert ran.exit_code == 0
    page = new_page(width, height)
    page.get_by_label("File of games").set_input_files(game)
    view = page.get_by_label("View", exact=True)
    scale = "document.querySelector(`.picture [aria-label='research board'] rect`).getCTM().a"
    hands = page.locator(".picture [aria-label='hands']")
    for _ in range(2):
        expect(hands).to_be_visible()
        large = page.evaluate(scale)
        view.select_option("0")
        expect(hands).to_have_count(0)
        assert large == pytest.approx(page.evaluate(scale), rel=0.02)
        view.select_option("")
        page.keyboard.press("Tab")
        page.keyboard.press("End")
    expect(hands).to_be_visible()
    expect_accessible(page)


def open_match(page: Page, rounds: str = "2", pace: str = "0") -> None:
    unfold_rules(page)
    page.get_by_label("Rounds").select_option(rounds)
    open_table(page, "Cat in the Box", 3, pace=pace)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_last_board_of_a_round_stays_until_a_click(new_page: NewPage, width: int) -> None:
    page = new_page(width, 844)
    open_match(page)
    page.evaluate(
        """() => {
          const real = window.setTimeout;
          window.setTimeout = (call, ms, ...rest) => (ms === 2000 ? 0 : real(call, ms, ...rest));
        }"""
    )  # so that nothing goes on by itself
    play_to_the_end_of_a_round(page)
    at = number(page)
    expect(page.locator(".status")).to_have_text("The round is over")
    expect(page.locator(".picture")).to_contain_text("The round is over")
    assert cards(page).count() == 0
    end = page.get_by_role("region", name="End of the round")
    expect(end).to_be_in_viewport()
    expect(end.locator("thead th").last).to_have_text("Total")
    expect_accessible(page)
    page.get_by_role("button", name="Next round").click()
    expect(end).to_be_hidden()
    expect(page.locator(".picture")).not_to_contain_text("The round is over")
    wait_for_turn(page)
    assert int(number(page)) >= int(at)
    play(page)


def test_the_next_round_begins_by_itself_and_after_a_reload_too(new_page: NewPage) -> None:
    page = new_page()
    open_match(page)
    play_to_the_end_of_a_round(page)
    page.reload()
    expect(page.locator(".table")).to_have_attribute("data-waits", "next")
    expect(page.locator(".table")).not_to_have_attribute("data-waits", "next")
    wait_for_turn(page)
    expect(page.locator(".round-end")).to_be_hidden()


def test_agents_are_cats_with_a_face_and_a_level(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3, "easy")
    company = page.locator(".company")
    expect(company).to_have_text("You, Luna (Easy), Tom (Easy)")
    expect(page.locator(".people")).to_be_hidden()  # nobody is invited
    shown, look = (
        page.locator(".picture [data-key^=seat-] [data-face]"),
        "all => all.map(one => one.innerHTML)",
    )
    faces = shown.evaluate_all(look)
    assert len(set(faces)) == len(faces) == 3, "a person has a face of its own"
    page.reload()
    wait_for_turn(page)
    assert shown.evaluate_all(look) == faces
    open_more(page)
    name_oneself(page, "Ada")
    expect(company).to_contain_text("Ada")
    assert shown.count() == 3


def test_pawns_show_the_faces_of_the_players(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Petrify", 3, "easy")
    heads = page.locator(".picture [data-key^=pawn-] [data-face]")
    assert heads.count() == 3
    assert len({head.inner_html() for head in heads.all()}) == 3


def test_there_is_no_sound_until_it_is_switched_on(new_page: NewPage) -> None:
    page = new_page()
    page.evaluate(
        """() => {
          window.tones = 0;
          const start = OscillatorNode.prototype.start;
          OscillatorNode.prototype.start = function (...given) {
            window.tones += 1;
            return start.apply(this, given);
          };
        }"""
    )
    open_table(page, "Petrify", 2)
    play(page)
    assert page.evaluate("window.tones") == 0
    page.get_by_label("Sounds").check()
    assert page.evaluate("window.tones") == 1
    if not is_over(page):
        play(page)
        assert page.evaluate("window.tones") > 1
    page.get_by_label("Sounds").uncheck()
    page.reload()
    expect(page.get_by_label("Sounds")).not_to_be_checked()


def test_a_click_while_another_is_to_move_is_answered_above_the_table(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3, pace="3.5")
    cards(page).first.click()
    expect(page.locator(".table")).to_have_attribute("data-waits", "agent")
    notice = page.locator(".notice")
    for part in ("[data-forbidden]", "[aria-label='players']"):
        page.locator(f".picture {part}").first.click(force=True)
        expect(notice).to_contain_text("is thinking.")
        players = page.locator(".picture [aria-label='players']").bounding_box()
        assert players is not None
        assert bottom(notice) < players["y"]
        notice.click()
        expect(notice).to_be_hidden()


def test_what_is_tapped_and_what_is_best_look_different(new_page: NewPage) -> None:
    page = new_page(320, 844, touch=True)
    open_table(page, "Cat in the Box", 5)
    unfold(page)
    while page.locator(".picture [data-leads]").count() == 0:
        play(page)
    page.get_by_label("Show on my turn").select_option("heuristic")
    ring = page.locator(".picture .coach-mark .ring")
    expect(ring).to_have_count(1)
    expect(page.locator(".picture .coach-mark.best .sign")).to_have_count(1)
    cell = page.locator(".picture [data-action]").first
    cell.tap()
    expect(page.locator(".picture .tapped")).to_have_count(1)
    look = "one => { const {stroke, strokeDasharray} = getComputedStyle(one); return [stroke, strokeDasharray]; }"
    best, tapped = ring.evaluate(look), page.locator(".picture .tapped > rect").first.evaluate(look)
    assert best[0] != tapped[0]
    assert best[1] != tapped[1]
    page.get_by_label("Show on my turn").select_option("points")
    expect_values(page)  # in the list each action has its number, and in the picture each but the best ones
    others = page.locator(".coach .choice:not(.best)").count()
    assert others > 0
    expect(page.locator(".picture .coach-mark.value text")).to_have_count(others)
    assert page.locator(".picture .coach-mark.best").count() <= 3


def test_a_value_on_a_card_can_be_read_and_covers_no_count(new_page: NewPage) -> None:
    page = new_page(390, 844, touch=True)
    open_table(page, "Cat in the Box", 3)
    coach = page.get_by_role("button", name="Coach")
    expect(coach).to_be_in_viewport(ratio=1)
    coach.click()
    expect(coach).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Show on my turn")).to_have_value("points")
    marks = page.locator(".picture .coach-mark.value")
    expect(marks.first).to_be_visible(timeout=COMPILING)
    widths = "all => all.map(({firstChild: strip, lastChild: words}) => [strip.getBBox().width, words.getBBox().width])"
    assert all(strip >= words for strip, words in marks.evaluate_all(widths)), "no number is cut off"
    counts = page.locator(".picture [data-key^=hand-] text", has_text="\u00d7")
    assert counts.count() > 0
    edges = "all => all.map(one => one.getBoundingClientRect()).map(box => [box.left, box.top, box.right, box.bottom])"
    for left, top, right, bottom in marks.evaluate_all(edges):
        assert not [
            box for box in counts.evaluate_all(edges)
            if left < box[2] and box[0] < right and top < box[3] and box[1] < bottom
        ]  # fmt: skip
    scale = page.locator(".picture > svg").evaluate("svg => svg.getScreenCTM().a")
    sizes = marks.locator("text").evaluate_all("all => all.map(one => Number(one.getAttribute('font-size')))")
    assert min(sizes) * scale >= 11


def test_a_value_on_a_fold_button_is_within_it(new_page: NewPage) -> None:
    page = new_page(390, 844)
    open_table(page, "Cat Te", 4, seed=11)
    play(page)
    page.get_by_role("button", name="Coach").click()
    fold = page.locator(".picture [data-action][aria-label^='fold']")
    of = "all => all.map(one => one.dataset.action)"
    values = [page.locator(f".coach-mark.value[data-of='{action}']") for action in fold.evaluate_all(of)]
    expect(page.locator(".coach-mark").first).to_be_visible(timeout=COMPILING)
    shown = [(button, value) for button, value in zip(fold.all(), values, strict=True) if value.count()]
    assert shown
    assert all(bottom(value) <= bottom(button) for button, value in shown)


def test_an_option_out_of_range_is_answered_with_what_to_do(new_page: NewPage) -> None:
    page = new_page()
    rank = page.get_by_label("Highest rank")
    unfold_rules(page)
    rank.fill("99")
    page.locator(".lobby .rules > summary").click()  # the error opens it
    page.get_by_role("button", name="Play", exact=True).click()
    banner = page.locator(".banner")
    expect(banner).to_contain_text(
        "Highest rank 99: expected an integer from 1 to 9. Change it, then try again."
    )
    expect(banner).to_be_in_viewport()
    expect(rank).to_be_focused()
    rank.fill("6")
    page.get_by_role("button", name="Play", exact=True).click()
    wait_for_turn(page)
    expect(banner).to_be_hidden()


def test_the_rules_stay_neither_open_nor_unchosen_in_the_lobby(new_page: NewPage) -> None:
    page = new_page()
    unfold_rules(page)
    page.get_by_label("Who starts").select_option("Tom")
    page.get_by_role("button", name="Dark").click()
    expect(page.locator(".catbox")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_label("Who starts")).to_have_value("2")
    page.get_by_role("button", name="Play", exact=True).click()
    wait_for_turn(page)
    page.get_by_role("button", name="Rules").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("radio", name="Petrify")).to_be_attached()
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_trick_goes_to_its_winner(new_page: NewPage) -> None:
    page = new_page(1440, 900)
    open_table(page, "Cat in the Box", 3, seed=1)
    expect(page.locator(".picture [aria-label^='trick, you lead:']")).to_have_count(1)
    page.evaluate(
        """() => {
          window.ends = [];
          const animate = Element.prototype.animate;
          Element.prototype.animate = function (frames, ...given) {
            if (frames[1]?.opacity === 0.2) {
              const [x, y] = frames[1].transform.match(/-?[\\d.]+/g).map(Number);
              const {a, e, f} = this.getScreenCTM();
              const box = this.getBBox();
              const middle = [box.x + box.width / 2 + x, box.y + box.height / 2 + y];
              window.ends.push([a * middle[0] + e, a * middle[1] + f]);
            }
            return animate.call(this, frames, ...given);
          };
        }"""
    )
    note = page.locator(".picture [aria-label^='last trick, you won' i]")
    while note.count() == 0:
        at = number(page)
        cards(page).last.click()
        wait_for_turn(page, at)
    page.evaluate("window.ends = []")
    row = page.locator(".picture [data-key='seat-0']").bounding_box()
    assert row is not None
    play(page)
    ends = page.evaluate("window.ends")[:3]
    assert len(ends) == 3
    for x, y in ends:
        assert row["x"] - 2 <= x <= row["x"] + row["width"] + 2
        assert row["y"] - 2 <= y <= row["y"] + row["height"] + 2


def test_what_moves_is_above_everything_and_leaves_nothing_behind(new_page: NewPage) -> None:
    page = new_page(1440, 900)
    page.evaluate(
        """() => {
          window.flown = [];
          const animate = Element.prototype.animate;
          Element.prototype.animate = function (...given) {
            const carrier = this.parentNode;
            if (carrier.matches(".flying")) {
              const below = [...carrier.parentNode.children].filter((one) => !one.matches(".flying"));
              const last = below[below.length - 1];
              window.flown.push(Boolean(last.compareDocumentPosition(carrier) & Node.DOCUMENT_POSITION_FOLLOWING));
            }
            return animate.apply(this, given);
          };
        }"""
    )
    open_table(page, "Cat in the Box", 5)
    while page.locator('.picture [data-leads]:not([data-leads=""])').count() == 0:
        play(page)
    page.evaluate("window.flown = []")
    play(page)
    flown = page.evaluate("window.flown")
    assert len(flown) >= 2  # a card and a token
    assert all(flown)
    expect(page.locator(".picture .flying")).to_have_count(0)
    hidden = "found => found.filter(one => getComputedStyle(one).opacity !== '1').length"
    assert page.locator(".picture [data-key]").evaluate_all(hidden) == 0


def test_the_end_tells_ones_own_place_and_offers_what_comes_next(new_page: NewPage) -> None:
    page = new_page(1440, 900)
    open_table(page, "Cat in the Box", 3)
    page.get_by_label("Show on my turn").select_option("heuristic")
    while not is_over(page):
        play(page)
    assert box_of(page.locator(".coach"))["height"] < 80, "there is no empty box for advice"
    end = page.get_by_role("region", name="End of the round")
    expect(end.get_by_role("heading")).to_have_text(re.compile("^You "))
    expect(end.locator(".own th").first).to_contain_text("You")
    expect(end.locator("td").first).to_have_text(re.compile("^bid \\d, won \\d [\u2713\u2717]$"))
    places = end.locator(".medal").all_inner_texts()  # the rows are in their order
    assert places[0] == "1"
    assert places == sorted(places)
    own = "1" if "win" in end.get_by_role("heading").inner_text() else "[23]"
    expect(end.locator(".own .medal")).to_have_text(re.compile(own))
    assert end.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
    assert box_of(page.locator(".moves"))["height"] <= 1  # the result says that the game is over
    words = ["Rematch", "Play this deal again", "Review", "Save"]
    assert end.get_by_role("button").all_inner_texts() == words
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()
    expect(page.get_by_role("button", name="New deal")).to_be_hidden()


def test_a_phone_has_undo_at_hand(new_page: NewPage) -> None:
    page = new_page(390, 844)
    open_table(page, "Cat in the Box", 3)
    play(page)
    assert page.evaluate("scrollY") == 0
    expect(page.get_by_role("button", name="Undo")).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, 200)")
    expect(page.get_by_role("button", name="Undo")).to_be_in_viewport(ratio=1)


def test_a_window_of_medium_width_has_a_large_picture(new_page: NewPage) -> None:
    page = new_page(width=1100)
    open_table(page, "Cat in the Box", 3)
    assert picture_width(page) > 900


def test_a_window_that_was_narrow_for_a_while_has_its_large_picture_again(new_page: NewPage) -> None:
    page = new_page(width=1440)
    open_table(page, "Cat in the Box", 3)
    before = picture_width(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("() => document.querySelector('.picture svg').viewBox.baseVal.width < 500")
    page.set_viewport_size({"width": 1440, "height": 800})
    page.wait_for_function("() => document.querySelector('.picture svg').viewBox.baseVal.width > 500")
    assert picture_width(page) == pytest.approx(before, rel=0.1)


def picture_width(page: Page) -> float:
    return float(page.locator(".picture > svg").evaluate("svg => svg.getBoundingClientRect().width"))
