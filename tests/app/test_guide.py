"""The guide of a first game: each line once, when it first happens, and no line for what never happens."""

from __future__ import annotations

import pytest

from catbox_agents.arena.match import Match
from catbox_app.guide import LINES, Guide
from catbox_app.web.tables import Tables
from catbox_env import GAMES, make_game
from tests.app.table import TINY, run, whole_game
from tests.app.web.page import Page

#: Rules under which everything that a guide explains can happen.
RULES = {
    "petrify_v0": {"size": 5, "teleports": 3, "zeros": 2},
    "cat_te_v0": {"num_players": 4, "side_pot": 1},
}


@pytest.mark.parametrize("game_id", GAMES)
def test_every_line_is_said_and_only_once(game_id: str) -> None:
    game, said = make_game(game_id, **RULES.get(game_id, {})), set()
    for seed in range(40):
        guide, match = Guide(game_id), Match(game, ["random"] * game.num_players, seed)
        lines = list(guide.begin)
        while not match.is_over:
            match.play_agent()
            lines += guide.lines(match.events(0, len(match.actions) - 1)[-1])
        assert len(lines) == len(set(lines))
        said |= set(lines)
    assert {rule for _, rule in said} == {
        rule for text in LINES[game_id].values() for rule in text.splitlines()
    }


def test_a_game_of_ones_own_has_no_guide() -> None:
    guide = Guide("my_game_v0")
    assert guide.begin == []
    assert guide.lines([]) == []


def test_the_prompt_explains_what_happens() -> None:
    ran = run("play", "random", *TINY, "--guide", typed=whole_game(2))
    assert ran.exit_code == 0
    lines = [line for line in ran.stdout.splitlines() if line.startswith("  → ")]
    assert lines[0].startswith("  → Cards have a number, but no colour yet.")
    assert len(lines) == len(set(lines)) > 3


def test_a_guided_table_explains_what_happens_also_after_a_reload() -> None:
    tables = Tables()
    page = Page(tables)
    key = page.sit("person", "easy", game="petrify_v0", seed=3, guide=True)
    assert page.last("joined")["guide"][0][1].startswith("The number under your pawn")
    page.play()
    told = {message["number"]: message["guide"] for message in page.all("events")}
    assert sum(map(len, told.values())) >= 2
    again = Page(tables)
    again.send("join", seat_key=key, take_over=True)
    assert {message["number"]: message["guide"] for message in again.all("events")} == told
    other = Page(tables)
    other.sit("person", "easy", game="petrify_v0", seed=3)
    assert other.last("joined")["guide"] == []
