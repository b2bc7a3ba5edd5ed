"""Saved games: what a table saves is shown again, from any seat's view or with all hands open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import catbox_env
from catbox_agents import read_record
from catbox_app.review import review
from catbox_app.web.tables import Tables
from tests.app.web.page import Page


def saved(page: Page, *seats: str, **values: object) -> str:
    page.sit(*seats, **values)
    page.play()
    page.send("save")
    return str(page.last("record")["text"])


@pytest.mark.parametrize("game", catbox_env.GAMES)
def test_a_game_that_was_played_can_be_saved_and_watched(game: str, tmp_path: Path) -> None:
    page = Page(Tables())
    text = saved(page, "person", "easy", game=game, seed=5)
    assert page.last("record")["name"] == f"{game.removesuffix('_v0')}-5.jsonl"
    (tmp_path / "game.jsonl").write_text(text)
    record = read_record(tmp_path / "game.jsonl")
    assert record.agents == ["you", "easy"]
    page.told.clear()
    page.send("replay", text=text)
    page.tables.run_due()
    joined = page.last("joined")
    assert (joined["mode"], joined["length"], joined["games"]) == ("replay", len(record.actions), 1)
    assert [message["number"] for message in page.all("events")] == list(range(1, len(record.actions) + 1))
    states = [record.game.render_svg(state, 1) for state in record.states()]
    for number, svg in enumerate(states[:-1]):
        page.send("step", number=number, seat=1)
        assert page.position["svg"] == svg
        assert page.position["taken"] == record.actions[number]
        assert page.position["legal"] == []
    page.send("step", number=len(record.actions), seat=None)
    assert page.position["waits_for"] == "over"


def test_events_are_told_anew_for_another_view_and_hide_what_it_does_not_see() -> None:
    page = Page(Tables())
    text = saved(page, "person", "normal", "normal", seed=5)
    page.send("replay", text=text)
    page.tables.run_due()
    page.told.clear()
    page.send("step", number=0, seat=None)
    assert not page.all("events")
    page.send("step", number=2, seat=0)
    first = {message["number"]: message["lines"] for message in page.all("events")}
    page.told.clear()
    page.send("step", number=2, seat=1)
    other = {message["number"]: message["lines"] for message in page.all("events")}
    assert first.keys() == other.keys()
    assert first[1] != other[1]  # who put aside what
    assert first[max(first)] == other[max(other)]


def test_the_policy_of_an_agent_is_shown_where_the_view_shows_its_hand() -> None:
    page = Page(Tables())
    text = saved(page, "person", "easy", seed=5)
    record = json.loads(text.splitlines()[1])
    number = next(i for i, policy in enumerate(record["policies"]) if policy)
    page.send("replay", text=text)
    page.tables.run_due()
    for seat, shown in ((None, True), (1, True), (0, False)):
        page.told.clear()
        page.send("step", number=number, seat=seat)
        assert bool(page.all("coach")) == shown
    page.send("coach", agent="random", shows="policy")
    page.send("step", number=number, seat=1)
    page.tables.run_due()
    assert page.last("coach")["agent"] == "random"


def test_a_game_that_is_too_long_for_a_page_is_refused() -> None:
    page = Page(Tables())
    text = saved(page, "person", "random", seed=5)
    header, game = map(json.loads, text.splitlines())
    header["options"]["rounds"], game["returns"] = 127, None
    game["actions"] = game["actions"][:3]
    game.pop("policies", None)
    page.send("replay", text="\n".join(map(json.dumps, (header, game))))
    page.tables.run_due()
    assert "at most 2000 can be shown here" in page.last("failed")["text"]


def test_the_file_holds_other_games_too() -> None:
    page = Page(Tables())
    text = saved(page, "person", "random", seed=5)
    page.send("replay", text=text + text.splitlines()[1] + "\n", game_number=2)
    page.tables.run_due()
    assert (page.last("joined")["games"], page.last("joined")["game_number"]) == (2, 2)
    page.send("replay", text=text, game_number=2)
    page.tables.run_due()
    assert "asked for game 2" in page.last("failed")["text"]


def test_the_review_of_a_seat_comes_decision_by_decision(tmp_path: Path) -> None:
    page = Page(Tables())
    text = saved(page, "person", "easy", game="petrify_v0", seed=5)
    page.send("review", seat=0)
    assert "no recorded game is shown" in page.last("failed")["text"]
    (tmp_path / "game.jsonl").write_text(text)
    expected = review(read_record(tmp_path / "game.jsonl"), [0])
    page.send("replay", text=text)
    page.tables.run_due()
    page.send("review", seat=0)
    while page.tables.seconds_to_wait() == 0:
        page.tables.run_due()
    told = page.all("reviewed")
    assert [(one["done"], one["total"]) for one in told] == [
        (k + 1, len(expected)) for k in range(len(expected))
    ]
    assert [(one["number"], one["seat"], one["cost"]) for one in told] == [
        (one.number, one.seat, one.cost) for one in expected
    ]
    assert [one["taken"]["action"] for one in told] == [one.action for one in expected]
    better = [one["better"] and one["better"]["action"] for one in told]
    assert better == [one.best if one.is_mistake else None for one in expected]
    assert "seat" in page.send("review", seat=7)[-1]["text"]


def test_a_review_ends_when_another_game_is_shown() -> None:
    page = Page(Tables())
    text = saved(page, "person", "easy", game="petrify_v0", seed=5)
    page.send("replay", text=text)
    page.tables.run_due()
    page.send("review")
    page.tables.run_due()
    page.send("replay", text=text)
    page.tables.run_due()
    page.told.clear()
    for _ in range(5):
        page.tables.run_due()
    assert not page.all("reviewed")
