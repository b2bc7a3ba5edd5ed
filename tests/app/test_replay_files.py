"""`catbox replay --gif`, `--html` and `--web`: what is written, and what is refused before anything is."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from catbox_agents import read_record
from catbox_app.review import review
from catbox_app.web.exported import bundled, recorded_messages, replay_page
from catbox_app.web.recording import RecordedGame, Recording
from catbox_app.web.tables import Tables
from tests.app.table import TINY, refused, run
from tests.app.web.page import Page


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smallest game, in two rounds; the first seat's agent tells its policy."""
    path = tmp_path_factory.mktemp("games") / "game.jsonl"
    ran = run("watch", "random", "heuristic", *TINY, "--rounds", "2", "--seed", "6", "--save", str(path))
    assert ran.exit_code == 0
    return path


@pytest.fixture(scope="module")
def messages(saved: Path) -> dict[str, Any]:
    return recorded_messages(Recording(read_record(saved)), lambda done, total: None)


# As an animation --------------------------------------------------------------------------------------------------


def test_a_gif_shows_each_position_and_ends_of_rounds_longer(saved: Path, tmp_path: Path) -> None:
    pyvips = pytest.importorskip("pyvips")
    out, record = tmp_path / "game.gif", read_record(saved)
    ran = run("replay", str(saved), "--gif", str(out), "--width", "300", "--seconds", "0.5", "--seat", "1")
    assert ran.exit_code == 0
    assert f"{len(record.actions)} moves" in ran.stdout
    image = pyvips.Image.new_from_buffer(out.read_bytes(), "", n=-1)
    assert image.width == 300
    assert image.get("n-pages") == len(record.actions) + 1
    last = len(record.actions)
    ends = [n > 0 and (n == last or state.round_ended) for n, state in enumerate(record.states())]
    assert sum(ends) == 2
    assert image.get("delay") == [1500 if end else 500 for end in ends]


def test_the_frames_of_a_gif_are_the_pictures_of_that_seat_and_theme(saved: Path, tmp_path: Path) -> None:
    pyvips = pytest.importorskip("pyvips")
    from catbox_env.pictures.raster import rasterise

    out, record, first = tmp_path / "game.gif", read_record(saved), 3
    options = ["--seat", "0", "--theme", "dark", "--move", str(first)]
    assert run("replay", str(saved), "--gif", str(out), *options).exit_code == 0
    last = len(record.actions) - first
    for number in (first, first + 1, len(record.actions)):
        drawn = rasterise(record.game.render_svg(RecordedGame(record).shown(number), 0, 640, "dark"))
        frame = pyvips.Image.new_from_buffer(out.read_bytes(), "", page=number - first).numpy()[:, :, :3]
        assert frame.shape == drawn.shape
        assert abs(frame.astype(int) - drawn).mean() < 4
    assert pyvips.Image.new_from_buffer(out.read_bytes(), "").get("n-pages") == last + 1


# As a page --------------------------------------------------------------------------------------------------------


def packed_in(page: str) -> dict[str, Any]:
    packed = re.search(r'id="recorded">([^<]*)</script>', page)
    assert packed is not None
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return found


def test_a_page_holds_each_picture_of_every_view_theme_and_layout(
    saved: Path, messages: dict[str, Any]
) -> None:
    record = read_record(saved)
    assert len(messages["views"]) == 3
    for seat, view in zip((None, 0, 1), messages["views"], strict=True):
        assert view["pictures"].keys() == {"light-1000", "light-360", "dark-1000", "dark-360"}
        for number in range(len(record.actions) + 1):
            state = RecordedGame(record).shown(number)
            for name, pictures in view["pictures"].items():
                theme, size = name.split("-")
                svg = "".join(messages["parts"][part] for part in pictures[number])
                assert svg == record.game.render_svg(state, seat, int(size), theme)


def test_a_view_of_a_page_tells_what_its_seat_sees(saved: Path, messages: dict[str, Any]) -> None:
    record = read_record(saved)
    movers = [state.current_player for state in record.states()]
    for seat, view in zip((None, 0, 1), messages["views"], strict=True):
        assert [message["number"] for message in view["events"]] == list(range(1, len(record.actions) + 1))
        aside = [
            message for message in view["events"] if message["lines"][0]["text"].endswith("puts a card aside")
        ]
        assert bool(aside) == (seat is not None)
        for number, policy in enumerate(view["policies"]):
            told = number < len(record.actions) and record.policies[number] is not None
            hidden = seat not in (None, movers[number])
            if policy is not None:
                assert told
                assert not hidden
                assert policy["recorded"]
    assert any(policy is not None for policy in messages["views"][1]["policies"])
    assert not any(policy is not None for policy in messages["views"][2]["policies"])  # of the heuristic


def test_a_page_asks_for_nothing_else_and_begins_where_it_was_asked_to(saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "game.html"
    ran = run("replay", str(saved), "--html", str(out), "--seat", "1", "--move", "4")
    assert ran.exit_code == 0
    page = out.read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=|@import|url\((?!.data:)|^import |^export ", page, re.MULTILINE)
    assert page.count("</script>") == 2
    joined = packed_in(page)["joined"]
    assert (joined["view"], joined["number"], joined["mode"]) == (1, 4, "replay")
    assert packed_in(replay_page(read_record(saved), None, 9999))["joined"]["number"] == joined["length"]


def test_a_page_has_the_review_that_was_asked_for_and_no_other(saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "game.html"
    assert run("replay", str(saved), "--review", "--seat", "1", "--html", str(out)).exit_code == 0
    told = packed_in(out.read_text(encoding="utf-8"))["reviewed"]
    decisions = review(read_record(saved), [1])
    assert [(one["number"], one["lead"], one["cost"]) for one in told] == [
        (one.number, one.lead, one.cost) for one in decisions
    ]
    assert [(one["done"], one["total"]) for one in told] == [(k + 1, len(told)) for k in range(len(told))]
    assert packed_in(replay_page(read_record(saved)))["reviewed"] == []


def test_names_are_text_in_a_page(saved: Path, tmp_path: Path) -> None:
    lines = saved.read_text().splitlines()
    name = "</title><script>alert(1)</script>"
    changed = json.dumps({**json.loads(lines[1]), "agents": [name, "b"]})
    path = tmp_path / "games.jsonl"
    path.write_text(f"{lines[0]}\n{changed}\n")
    page = replay_page(read_record(path))
    assert "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "alert(1)</script>" not in page
    assert packed_in(page)["joined"]["names"][0] == name


# In the browser ---------------------------------------------------------------------------------------------------


def test_a_page_is_told_the_game_of_a_key_from_where_it_asks(saved: Path) -> None:
    page = Page(Tables())
    page.tables.recordings["secret"] = saved
    page.send("replay", key="secret", seat=1, number=5)
    page.tables.run_due()
    joined = page.last("joined")
    assert (joined["view"], joined["number"], joined["games"]) == (1, 5, 1)
    assert page.position["number"] == 5
    page.send("replay", key="secret", number=10**6)
    page.tables.run_due()
    assert page.last("joined")["view"] is None
    assert page.position["number"] == joined["length"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"key": "other"}, "No recorded game has this link"),
        ({"key": 3}, "key=3"),
        ({"key": "secret", "seat": 2}, "seat=2: expected a seat"),
        ({"key": "secret", "number": -1}, "number=-1"),
        ({"key": "secret", "game_number": 2}, "holds 1 game; asked for game 2"),
        ({"key": "gone"}, "No such file"),
    ],
)
def test_a_wrong_request_for_a_recorded_game_is_answered(
    saved: Path, values: dict[str, Any], said: str
) -> None:
    page = Page(Tables())
    page.tables.recordings |= {"secret": saved, "gone": saved.with_name("gone.jsonl")}
    page.send("replay", **values)
    page.tables.run_due()
    assert [message["type"] for message in page.told] == ["failed"]
    assert said in page.last("failed")["text"]


# Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--gif", "{out}", "--html", "{out}"], "--html and --gif: give only one of them"),
        (["--review", "--html", "{out}", "--json"], "--json and --html: give only one of them"),
        (["--review", "--gif", "{out}"], "--review and --gif: give only one of them"),
        (["--theme", "dark"], "--theme without --gif: add --gif"),
        (["--port", "80"], "--port without --web: add --web"),
        (["--gif", "{out}", "--theme", "blue"], "--theme='blue': expected one of 'light', 'dark'"),
        (["--seat", "2"], "seat=2: expected a seat, an integer from 0 to 1"),
        (["--html", "{folder}"], "it is a folder"),
        (["--html", "{file}"], "is the file of games itself"),
        (["--game", "2"], "holds 1 game; asked for game 2"),
    ],
)
def test_what_cannot_be_written_is_said_first(
    saved: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    before = saved.read_bytes()
    out = tmp_path / "out"
    given = [word.format(out=out, folder=tmp_path, file=saved) for word in options]
    assert said in refused("replay", str(saved), *given)
    assert not out.exists()
    assert saved.read_bytes() == before


def test_a_damaged_file_is_refused_in_every_way_of_showing_it(saved: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "games.jsonl", tmp_path / "out"
    header, line = map(json.loads, saved.read_text().splitlines())
    line["actions"] = line["actions"][::-1]
    path.write_text(f"{json.dumps(header)}\n{json.dumps(line)}\n")
    said = r"games\.jsonl, line 2: action \d+ of \d+: illegal action"
    for options in ([], ["--html", str(out)], ["--web", "--no-browser"]):
        assert re.search(said, refused("replay", str(path), *options))
    assert not out.exists()
    page = Page(Tables())
    page.tables.recordings["k"] = path
    page.send("replay", key="k")
    page.tables.run_due()
    assert re.search(said, page.last("failed")["text"])


def test_the_modules_of_the_page_share_no_name() -> None:
    """They become one script in an exported page."""
    names = re.findall(
        r"^(?:async )?(?:const|let|function|class) (\w+)", bundled("app.js", "recorded.js"), re.MULTILINE
    )
    assert sorted(names) == sorted(set(names))
