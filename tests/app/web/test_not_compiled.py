"""Where catbox is not compiled, as in the playground, a table leaves out what would take too long."""

from __future__ import annotations

import json

import pytest

from catbox_app.web.connection import Host
from catbox_app.web.tables import Tables
from catbox_env.core import compilation
from tests.app.web.page import Page


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr(compilation, "HAS_NUMBA", False)
    return Page(Tables())


def test_the_lobby_offers_no_search_and_says_why(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    (lobby,) = page.send("lobby")
    offered = {agent["spec"] for agent in lobby["agents"]}
    assert {"easy", "normal", "best", "random", "heuristic"} <= offered
    assert not {spec for spec in offered if spec.startswith(("hard", "search", "ismcts", "pimc"))}
    assert not lobby["estimates"]
    assert "not compiled here" in lobby["note"]
    monkeypatch.setattr(compilation, "HAS_NUMBA", True)
    (lobby,) = page.send("lobby")
    assert {"hard", "pimc"} <= {agent["spec"] for agent in lobby["agents"]}
    assert lobby["estimates"]
    assert lobby["note"] is None


@pytest.mark.parametrize("spec", ["hard", "pimc", "search:worlds=2,policy=heuristic"])
def test_a_search_is_refused_as_an_opponent_and_as_a_coach(page: Page, spec: str) -> None:
    for kind, values in (
        ("open", {"game": "petrify_v0", "players": 2, "seats": ["person", spec]}),
        ("coach", {"agent": spec, "shows": "policy"}),
        ("coach", {"shows": "points"}),
        ("advise", {}),
    ):
        (answer,) = page.send(kind, **values)
        assert "not compiled here" in answer["text"]


def test_the_host_of_a_worker_says_when_it_wants_to_be_called_again() -> None:
    told: list[dict[str, object]] = []
    host = Host(lambda text: told.append(json.loads(text)))
    assert host.receive('{"type": "lobby"}') is None
    seats = ["person", "heuristic"]
    opening = {"type": "open", "game": "petrify_v0", "players": 2, "seats": seats, "seed": 1, "pace": 5}
    assert host.receive(json.dumps(opening)) == 0
    assert host.work() is None
    opened = told[-1]
    assert opened["type"] == "opened"
    key = opened["seats"][0]["key"]  # type: ignore[index]
    host.receive(json.dumps({"type": "join", "seat_key": key}))
    position = told[-2] if told[-1]["type"] == "people" else told[-1]
    assert position["waits_for"] == "you"
    action = position["legal"][0]["action"]  # type: ignore[index]
    wait = host.receive(json.dumps({"type": "act", "action": action, "number": position["number"]}))
    assert wait is not None
    assert 4 < wait <= 5
    assert host.receive("rubbish") is not None
    assert told[-1]["type"] == "failed"
