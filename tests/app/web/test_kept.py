"""Tables in a folder: a server that was stopped goes on with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from catbox_app.web import kept
from catbox_app.web.table import Table
from catbox_app.web.tables import Tables
from tests.app.web.page import Page


def kept_table(page: Page, folder: Path) -> Path:
    (table,) = page.tables
    path = kept.file_of(folder, table)
    kept.keep(path, kept.content_of(table))
    return path


def test_a_table_that_was_kept_goes_on_where_it_was(tmp_path: Path) -> None:
    page = Page(Tables())
    key = page.sit("person", "easy", "normal", seed=3)
    page.play(8)
    path = kept_table(page, tmp_path)
    assert path.stat().st_mode & 0o077 == 0
    assert key not in path.name
    tables = Tables()
    (found,), problems = kept.read_kept(tmp_path, tables.clock)
    assert not problems
    tables.add(found)
    later = Page(tables)
    later.send("join", seat_key=key)
    assert later.position == page.position
    assert later.all("events") == page.all("events")
    page.play()
    later.play()
    assert later.position == page.position
    page.send("save")
    later.send("save")
    assert page.last("record") == later.last("record")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:40],
        lambda text: "[]",
        lambda text: text.replace("easy", "gone/x.zip"),
        lambda text: text.replace('"pace":0', '"pace":1000'),
        lambda text: re.sub(r'"keys":\[.*?\]', '"keys":[]', text),
        lambda text: re.sub(r'"keys":\[.*?\]', '"keys":[null,null]', text),
    ],
)
def test_a_file_that_is_damaged_is_left_alone_and_told(damage: object, tmp_path: Path) -> None:
    page = Page(Tables())
    page.sit("person", "easy", seed=3)
    path = kept_table(page, tmp_path)
    path.write_text(damage(path.read_text()))  # type: ignore[operator]
    tables, (problem,) = kept.read_kept(tmp_path, page.tables.clock)
    assert tables == []
    assert str(path) in problem
    assert path.exists()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="cannot write"):
        kept.check_folder(tmp_path / "file" / "tables")


def test_the_file_follows_the_keys_wherever_the_seats_move(tmp_path: Path) -> None:
    page = Page(Tables())
    page.sit("person", "easy", "normal", seed=3)
    (table,) = page.tables
    before = kept.file_of(tmp_path, table)
    page.send("again", deal="next_seat")
    assert isinstance(table, Table)
    assert kept.file_of(tmp_path, table) == before
