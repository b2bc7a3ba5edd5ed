"""Tables in a folder: a server that was stopped goes on with them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from catbox_app.web.kept import KeptTables, write
from catbox_app.web.tables import Tables
from tests.app.web.page import Clock, Page


def kept_table(page: Page, folder: Path) -> Path:
    write(KeptTables(folder).changes(page.tables))
    (path,) = folder.iterdir()
    return path


def test_a_table_that_was_kept_goes_on_where_it_was(tmp_path: Path) -> None:
    page = Page(Tables())
    key = page.sit("person", "easy", "normal", seed=3)
    page.play(8)
    path = kept_table(page, tmp_path)
    assert path.stat().st_mode & 0o077 == 0
    assert key not in path.name
    tables = Tables()
    (found,), problems = KeptTables(tmp_path).read(tables.clock)
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
        lambda text: text.replace('"guide":false', '"guide":5'),
        lambda text: re.sub(r'"keys":\[.*?\]', '"keys":[]', text),
        lambda text: re.sub(r'"keys":\[.*?\]', '"keys":[null,null]', text),
        lambda text: re.sub(r'"keys":\[.*?\]', '"keys":[["x"],null]', text),
        lambda text: re.sub(r'"keys":\[.*?\]', '"keys":[5,null]', text),
        lambda text: re.sub(r'"keys":\[.*?\]', '"keys":["x",null]', text),
        lambda text: text.replace('"actions":[]', '"actions":[0]').replace(
            '"policies":[]', '"policies":[[1]]'
        ),
        lambda text: text.replace('"policies":[]', '"policies":"x"'),
        lambda text: re.sub(r'"specs":\[.*?\]', '"specs":["person",["easy"]]', text),
        lambda text: text.replace('"easy"', '"tests.app.web.module_that_runs:Agent"'),
        lambda text: text.replace('"easy"', '"search:policy=tests.app.web.module_that_runs:Agent"'),
    ],
)
def test_a_file_that_is_damaged_is_left_alone_and_told(damage: object, tmp_path: Path) -> None:
    page = Page(Tables())
    page.sit("person", "easy", seed=3)
    path = kept_table(page, tmp_path)
    path.write_text(damage(path.read_text()))  # type: ignore[operator]
    tables, (problem,) = KeptTables(tmp_path).read(page.tables.clock)
    assert tables == []
    assert str(path) in problem
    assert path.exists()


@pytest.mark.parametrize("guide", [False, True])
def test_a_guided_table_stays_guided(guide: bool, tmp_path: Path) -> None:
    page = Page(Tables())
    page.sit("person", "easy", seed=3, guide=guide)
    path = kept_table(page, tmp_path)
    (table,), _ = KeptTables(tmp_path).read(page.tables.clock)
    assert table.is_guided == guide
    path.write_text(path.read_text().replace(f',"guide":{str(guide).lower()}', ""))  # of an older version
    (table,), _ = KeptTables(tmp_path).read(page.tables.clock)
    assert not table.is_guided


def test_a_file_that_is_no_file_and_one_that_is_there_twice_are_told(tmp_path: Path) -> None:
    page = Page(Tables())
    page.sit("person", "easy", seed=3)
    path = kept_table(page, tmp_path)
    (tmp_path / "copy.json").write_bytes(path.read_bytes())
    os.mkfifo(tmp_path / "pipe.json")
    tables, problems = KeptTables(tmp_path).read(page.tables.clock)
    assert len(tables) == 1
    assert "the same keys" in problems[0]
    assert "pipe.json" in problems[1]


def test_an_agent_of_the_host_is_taken_up_again_where_the_host_still_has_it(tmp_path: Path) -> None:
    own = "tests.app.web.test_server:Slow"
    page = Page(Tables(also=[own]))
    page.sit("person", own, seed=3)
    kept_table(page, tmp_path)
    assert len(KeptTables(tmp_path).read(page.tables.clock, [own])[0]) == 1
    tables, (problem,) = KeptTables(tmp_path).read(page.tables.clock)
    assert not tables
    assert "--agent" in problem


def test_what_has_changed_is_written_and_what_is_closed_is_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    page, kept = Page(Tables(clock=clock, idle_seconds=60)), KeptTables(tmp_path)
    page.sit("person", "easy", "normal", seed=3)
    (path,) = kept.changes(page.tables)
    assert kept.changes(page.tables) == {}
    page.send("again", deal="same")
    assert kept.changes(page.tables).keys() == {path}
    page.connection.close()
    clock.now += 61
    page.tables.close_idle()
    path.touch()
    write(kept.changes(page.tables))
    assert not path.exists()
    path.mkdir()
    write({path: None})
    assert f"cannot write {path}" in capsys.readouterr().err
