"""A page that is loaded again, a server that is started anew, an opponent that fails."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.app.table import run
from tests.web.conftest import NewPage
from tests.web.server import Server
from tests.web.table import (
    cards,
    mark_picture,
    open_table,
    play,
    play_to_the_end,
    wait_for_new_picture,
    wait_for_turn,
)
from tests.web.test_accessibility import expect_accessible


def test_a_reload_in_the_middle_of_a_game(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Cat in the Box", 3)
    for _ in range(3):
        at = play(page)
    told = page.get_by_role("log").inner_text()
    page.reload()
    assert wait_for_turn(page) == at
    expect(page.get_by_role("log")).to_have_text(told, use_inner_text=True)
    play_to_the_end(page)


def test_a_server_that_keeps_its_tables(new_page: NewPage, tmp_path: Path) -> None:
    with Server(tmp_path, "--tables", str(tmp_path / "tables")) as own:
        page = new_page(url=own.url)
        open_table(page, "Petrify", 2)
        at = play(page)
        told = page.get_by_role("log").inner_text()
        mark_picture(page)
        own.stop()
        expect(page.locator(".banner")).to_contain_text("The connection to the table is lost")
        expect_accessible(page)
        own.start()
        expect(page.locator(".banner")).to_be_hidden()
        wait_for_new_picture(page)
        assert wait_for_turn(page) == at
        expect(page.get_by_role("log")).to_have_text(told, use_inner_text=True)
        play_to_the_end(page)


def test_a_server_that_has_forgotten_its_tables(new_page: NewPage, tmp_path: Path) -> None:
    with Server(tmp_path) as own:
        page = new_page(url=own.url)
        open_table(page, "Petrify", 2)
        own.stop()
        banner = page.locator(".banner")
        expect(banner).to_contain_text("The connection to the table is lost")
        own.start()
        page.get_by_role("button", name="Open a new table").click()
        expect(banner).to_be_hidden()
        expect(page.get_by_role("heading", name="Open a table")).to_be_visible()


def test_a_recorded_game_goes_on_where_it_was_when_the_server_is_back(
    new_page: NewPage, tmp_path: Path
) -> None:
    file = tmp_path / "game.jsonl"
    ran = run("watch", "random", "random", "--game", "petrify_v0", "--seed", "3", "--save", str(file))
    assert ran.exit_code == 0
    with Server(tmp_path) as own:
        page = new_page(url=own.url)
        page.get_by_label("File of games").set_input_files(file)
        table = page.locator(".table.replay")
        for number in ("1", "2"):
            page.get_by_role("button", name="Forward").click()
            expect(table).to_have_attribute("data-number", number)
        mark_picture(page)
        own.stop()
        expect(page.locator(".banner")).to_contain_text("The connection to the table is lost")
        own.start()
        wait_for_new_picture(page)
        expect(table).to_have_attribute("data-number", "2")
        expect(page.locator(".place")).to_contain_text("2 of ")


def test_an_opponent_that_fails(new_page: NewPage) -> None:
    page = new_page()
    open_table(page, "Petrify", 2, "tests.web.server:Failing")
    cards(page).first.click()
    notice = page.locator(".notice")
    expect(notice).to_contain_text("the cat has left the box")
    page.get_by_role("button", name="Undo").click()
    expect(notice).to_be_hidden()
    wait_for_turn(page)
    assert cards(page).count() > 0
