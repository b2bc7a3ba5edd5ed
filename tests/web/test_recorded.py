"""The page that `catbox replay --html` writes, opened as a file without any server."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from catbox_agents import read_record
from catbox_app.web.exported import replay_page
from tests.app.table import run
from tests.web.conftest import NewPage
from tests.web.test_accessibility import expect_accessible


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replay")
    ran = run(
        "watch", "random", "heuristic", "--players", "3", "--seed", "6", "--save", str(folder / "game.jsonl")
    )
    assert ran.exit_code == 0
    out = folder / "game.html"
    out.write_text(replay_page(read_record(folder / "game.jsonl")), encoding="utf-8")
    return out


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_a_page_is_stepped_through_by_keys_and_seen_from_any_seat(
    new_page: NewPage, exported: Path, width: int, theme: str
) -> None:
    page = new_page(width=width, theme=theme, url=exported.as_uri())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    table, said = page.locator(".table.replay"), page.locator(".said")
    expect(table).to_have_attribute("data-number", "0")
    for number, key in enumerate(["ArrowRight", "ArrowRight", "ArrowRight"], 1):
        page.keyboard.press(key)
        expect(table).to_have_attribute("data-number", str(number))
    expect(said).to_contain_text("Tom puts a")
    open_picture = page.locator(".picture svg").inner_html()
    page.get_by_label("View", exact=True).select_option("0")
    expect(said).to_have_text("Tom puts a card aside.")
    expect(page.locator(".picture [data-prompt]")).to_be_hidden()
    assert page.locator(".picture svg").inner_html() != open_picture
    page.keyboard.press("End")
    expect(said).to_contain_text(re.compile("Mochi|Luna|Tom"))
    expect(page.get_by_label("Action", exact=True)).to_have_value(str(table.get_attribute("data-number")))
    background = "document.querySelector('.picture svg rect').getAttribute('fill')"
    before = page.evaluate(background)
    page.get_by_role("button", name="Switch to the").click()
    page.wait_for_function(f"{background} !== {before!r}")
    expect_accessible(page)
    page.keyboard.press("Home")
    expect(table).to_have_attribute("data-number", "0")
    expect_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert asked == []


def test_a_review_is_part_of_a_page_and_hides_what_was_better(new_page: NewPage, tmp_path: Path) -> None:
    game, out = str(tmp_path / "game.jsonl"), tmp_path / "game.html"
    assert run("watch", "random", "--players", "3", "--seed", "6", "--save", game).exit_code == 0
    assert run("replay", game, "--review", "--seat", "1", "--html", str(out)).exit_code == 0
    page = new_page(url=out.as_uri())
    review = page.get_by_role("region", name="Review")
    expect(review.get_by_role("status")).to_contain_text(
        re.compile(r"Blunders \(1 point or more\): \d+\. Mistakes")
    )
    expect(review.get_by_role("img", name="Expected lead")).to_be_visible()
    expect(review).to_contain_text("decisions together earned")
    expect(review.locator(".mistakes li")).to_have_count(6)
    expect(review).not_to_contain_text("was best")
    expect(review.locator(".mistakes small").first).to_have_text(
        re.compile(r"^(Luna's (bid|discard)|Trick \d, Luna's (lead|card))$")
    )
    grades = "all => all.map(one => one.dataset.grade)"
    listed = review.locator(".mistakes [data-grade]").evaluate_all(grades)
    assert sorted(listed) == sorted(review.locator("circle.mistake").evaluate_all(grades))
    assert listed[0] == "Blunders"
    dots = review.locator("circle.mistake")
    fell = r" cost \d+\.\d: the expected lead fell from \u2212?\d+\.\d to \u2212?\d+\.\d$"
    assert all(re.search(fell, text) for text in dots.locator("title").all_text_contents())
    line = str(review.locator("polyline.lead").get_attribute("points")).split()
    ends = [end for start, end in pairwise(line) if start.split(",")[0] == end.split(",")[0]]
    places = dots.evaluate_all("all => all.map(dot => `${dot.getAttribute('cx')},${dot.getAttribute('cy')}`)")
    assert sorted(ends) == sorted(places), "each mistake is a fall of the line, to its dot"
    assert [review.locator(f"polygon.{half}").count() for half in ("above", "below")] == [1, 1]
    before = str(page.locator(".table.replay").get_attribute("data-number"))
    dots.last.click()
    expect(page.locator(".table.replay")).not_to_have_attribute("data-number", before)
    review.get_by_role("button", name="Show best move").first.click()
    expect(review.locator(".mistakes li").first).to_contain_text(re.compile(r" cost \d+\.\d: .* was best"))
    expect(review.locator("[aria-current=true]")).to_have_count(1)
    for kind in ("best", "wrong"):
        expect(page.locator(f".picture .coach-mark.{kind}")).to_have_count(1)
    review.get_by_role("button", name=re.compile(" cost ")).first.click()
    expect(page.locator(".table.replay")).not_to_have_attribute("data-number", "0")
    page.get_by_label("View", exact=True).select_option("0")
    expect(review.locator(".mistakes li")).to_have_count(6)
    expect(review.get_by_role("button", name="Review", exact=True)).to_be_hidden()  # the file has no other
    expect(page.locator(".company")).to_contain_text(re.compile(r"\(Random\)\. .* wins? "))
    for width, place, around in ((390, ".controls", ".centre"), (1280, ".side", ".side")):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator(place).get_by_role("button", name="Next mistake")).to_be_visible()
        expect(page.locator(f"{around} .graph")).to_be_visible()
    expect_accessible(page)


def test_a_page_without_a_review_offers_none(new_page: NewPage, exported: Path) -> None:
    page = new_page(url=exported.as_uri())
    expect(page.locator(".table.replay")).to_have_attribute("data-number", "0")
    expect(page.locator(".review")).to_be_hidden()
