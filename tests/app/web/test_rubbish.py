"""Whatever a page sends is answered in words; nothing else happens."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import catbox_env
from catbox_app.web.connection import KINDS
from catbox_app.web.lobby import check_opponent
from catbox_app.web.tables import Tables
from tests.app.web.page import Page

OPEN = {"game": "cat_in_the_box_v0", "players": 2, "seats": ["person", "random"]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "not JSON"),
        ("[1, 2]", "expected an object"),
        ('{"type": NaN}', "NaN"),
        ('{"type": ' + "[" * 100_000, "not JSON"),
        ('{"type": ' + "9" * 5000 + "}", "not JSON"),
        ('{"type": ["act"]}', "expected one of"),
        ('{"type": "atc"}', "did you mean 'act'"),
        ('{"type": "join", "seat_key": "\\ud800"}', "No seat has this link"),
        ('{"type": "join", "seat_key": 7}', "expected a text"),
        ('{"type": "view", "theme": "pink", "size": 700}', "'light', 'dark'"),
        ('{"type": "view", "theme": "dark", "size": 1e300}', "size"),
        ('{"type": "act", "action": 0, "number": 0}', "are not seated"),
        ('{"type": "step", "number": 0}', "no recorded game"),
        ('{"type": "coach", "agent": "/etc/passwd", "shows": "policy"}', "/etc/passwd"),
    ],
)
def test_a_message_that_is_rubbish_is_answered(text: str, said: str) -> None:
    page = Page(Tables())
    page.connection.receive_text(text)
    (answer,) = page.told
    assert answer["type"] == "failed"
    assert said in answer["text"]
    assert len(answer["text"]) < 2000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"game": "chess"}, "expected one of"),
        ({"players": 99}, "players"),
        ({"players": 3}, "expected 3"),
        ({"seats": ["random", "random"]}, "person"),
        ({"seats": ["person", None]}, "seat"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**70}, "seed"),
        ({"pace": 1e9}, "pace"),
        ({"rules": [1]}, "rules"),
        ({"rules": {"num_cats": 9}}, "num_cats"),
        ({"rules": {"rounds": 127}}, "fewer rounds"),
        ({"rules": {"num_ranks": {"a": [None]}}}, "num_ranks"),
        ({"rules": {"bids": 10**400}}, "bids"),
        ({"rules": {"bids": "{[1]: 2}"}}, "bids"),
        ({"rules": {"bids": "[1,1]" * 1000}}, "at most 2000 characters"),
        ({"seats": ["person", "search:worlds={[1]}"]}, "--agent"),
        ({"seats": ["person", "zoo:cat_in_the_box-5p"]}, "zoo:cat_in_the_box-5p"),
        ({"seats": ["person", "zoo:../../secret"]}, "others, such as a checkpoint, must be given"),
        ({"seats": ["person", "runs/quick"]}, "--agent"),
        ({"seats": ["person", "os:system"]}, "--agent"),
        ({"seats": ["person", "search:policy=os:system"]}, "--agent"),
        ({"seats": ["person", "search:worlds=64"]}, "--agent"),
        ({"seats": ["person", " hard"]}, "hard"),
    ],
)
def test_a_table_that_cannot_be_opened_is_refused_with_the_reason(change: dict[str, Any], said: str) -> None:
    page = Page(Tables())
    page.send("open", **{**OPEN, **change})
    page.tables.run_due()
    (answer,) = page.told
    assert answer["type"] == "failed"
    assert said in answer["text"]
    assert not list(page.tables)
    page.sit("person", "random")
    assert page.position["number"] == 0


def test_a_page_names_agents_that_come_with_catbox_and_those_of_the_host_alone() -> None:
    for spec in ("easy", "best", "zoo:petrify-full", "search:fast", "mine.zip"):
        check_opponent(spec, ["mine.zip"])
    for spec in (" best", "mine.zip ", "", "zoo:", "search:policy=other.zip", "random_agent:RandomAgent"):
        with pytest.raises(ValueError, match="agent"):
            check_opponent(spec, ["mine.zip"])


def test_a_table_survives_whatever_pages_send() -> None:
    """Messages of every type with values of every kind, some of which go through."""
    rng = random.Random(0)
    tables = Tables(most=5)
    pages = [Page(tables) for _ in range(3)]
    key = pages[0].sit("person", "random", "random", seed=0)
    values: list[Any] = [None, True, -1, 0, 1, 2, 720, 1.5, 1e308, 10**30, "", "\x00", "x" * 10_000, [], {}]
    values += [key, "light", "same", "points", "best", "person", ["person", "random"], {"rounds": 2}]
    values += catbox_env.GAMES
    names = ["seat_key", "take_over", "action", "number", "deal", "seconds", "agent", "shows", "theme"]
    names += ["size", "text", "game_number", "seat", "game", "players", "rules", "seats", "seed", "pace"]
    for _ in range(3000):
        page = rng.choice(pages)
        page.told.clear()
        message = {name: rng.choice(values) for name in rng.sample(names, rng.randrange(8))}
        page.connection.receive({**message, "type": rng.choice(KINDS)})
        tables.run_due()
    assert any(table.keys[0] == key or key in table.keys for table in tables)
    pages[2].send("join", seat_key=key, take_over=True)
    pages[2].send("again", deal="same")
    pages[2].send("pace", seconds=0)
    assert pages[2].last("joined")["game"] == "cat_in_the_box_v0"
    assert json.dumps(pages[2].position)
    pages[2].play(5)
    assert pages[2].position["number"] >= 5


def test_the_lobby_offers_every_game_with_its_rules_and_agents_that_can_be_named() -> None:
    page = Page(Tables(also=["runs/mine"]))
    (lobby,) = page.send("lobby", theme="dark")
    assert [game["id"] for game in lobby["games"]] == list(catbox_env.GAMES)
    cat = lobby["games"][0]
    assert (cat["title"], cat["players"]) == ("Cat in the Box", [2, 3, 4, 5])
    rules = {rule["name"]: rule for rule in cat["rules"]}
    assert rules["rounds"]["default"] == 1
    assert rules["rounds"]["help"]
    assert all(game["svg"].startswith("<svg") for game in lobby["games"])
    specs = [agent["spec"] for agent in lobby["agents"]]
    assert specs[:4] == ["runs/mine", "easy", "normal", "hard"]
    for spec in specs:
        check_opponent(spec, ["runs/mine"])
