"""The coach: an agent's probabilities, or points in sampled worlds, with every position of one's own."""

from __future__ import annotations

import pytest

from catbox_agents.search.action_values import action_values
from catbox_app.web.tables import Tables
from tests.app.web.page import TINY, Page


@pytest.fixture
def page() -> Page:
    page = Page(Tables())
    page.sit("person", "normal", seed=5, rules=TINY)
    return page


def test_the_probabilities_of_an_agent_come_with_each_own_position(page: Page) -> None:
    page.send("coach", agent="easy", shows="policy")
    page.tables.run_due()
    told = page.last("coach")
    assert (told["number"], told["agent"]) == (0, "easy")
    assert [one["action"] for one in told["values"]] == [one["action"] for one in page.position["legal"]]
    assert sum(one["value"] for one in told["values"]) == pytest.approx(1)
    assert {one["unit"] for one in told["values"]} == {"probability"}
    while page.position["waits_for"] != "over":
        page.tables.run_due()
        if page.position["waits_for"] == "you":
            page.tables.run_due()
            page.act()
    mine = {message["number"] for message in page.all("position") if message["waits_for"] == "you"}
    assert {message["number"] for message in page.all("coach")} == mine
    assert len(mine) > 2


def test_points_are_those_of_a_hint(page: Page) -> None:
    (table,) = page.tables
    page.send("coach", shows="points")
    page.tables.run_due()
    told = page.last("coach")
    state = table.match.state
    found = action_values(table.game, state.observation(0))
    assert told["best"] == found[0].action
    for one, estimate in zip(told["values"], found, strict=True):
        assert (one["action"], one["value"], one["unit"]) == (estimate.action, estimate.lead, "points")
        assert one["interval"] == estimate.interval


def test_advice_for_a_position_that_is_gone_is_not_sent(page: Page) -> None:
    page.send("coach", agent="normal", shows="policy")
    (job,) = page.tables.due()
    found = job.think()
    page.act()
    job.finish(found)
    assert not page.all("coach")
    page.send("coach", shows=None)
    page.play()
    assert not page.all("coach")


def test_an_agent_that_cannot_play_the_game_is_told(page: Page) -> None:
    page.send("coach", agent="zoo:petrify-full", shows="policy")
    page.tables.run_due()
    assert "petrify_v0" in page.last("failed")["text"]
    page.act()
    assert page.position["number"] == 1
