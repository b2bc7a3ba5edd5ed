"""The guide of a first game: each line once, when it first happens, and no line for what never happens."""

from __future__ import annotations

import re
from typing import Any

import pytest

from catbox_agents.arena.match import Match
from catbox_app import guide
from catbox_app.guide import LINES, Guide
from catbox_app.web.tables import Tables
from catbox_env import GAMES, make_game
from catbox_env.core.state import last_position
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
        tips = list(guide.begin)
        while not match.is_over:
            match.play_agent()
            tips += guide.lines(match.events(0, len(match.actions) - 1)[-1])
        rules = [rule for text in LINES[game_id].values() for rule in text.splitlines()]
        assert [place for _, _, place in tips] == [f"{k} of {len(rules)}" for k in range(1, len(tips) + 1)]
        assert len(tips) == len({rule for _, rule, _ in tips})
        said |= {re.sub(r"player_\d", "{player}", rule) for _, rule, _ in tips}
    told = {re.sub("on (red|blue|yellow|green) [1-9]", "on {color} {rank}", rule) for rule in said}
    assert told == set(rules)


@pytest.mark.parametrize(
    ("game_id", "rounds"),
    [
        *((game_id, {}) for game_id in GAMES),
        *((game_id, {"rounds": 2}) for game_id in GAMES if game_id != "petrify_v0"),
    ],
)
def test_what_a_line_is_about_is_in_the_picture_that_the_player_sees_then(
    game_id: str, rounds: dict[str, Any]
) -> None:
    """At the latest at the player's next decision. The page calls the player of the first seat, who has no name,
    "you"."""
    game = make_game(game_id, **RULES.get(game_id, {}), **rounds)
    for seed in range(40):
        guide, match = Guide(game_id), Match(game, ["random"] * game.num_players, seed)
        tips, shown = guide.begin, match.state
        missing: set[tuple[str, int]] = set()
        while True:
            missing |= {(part, size) for part, _, _ in tips for size in (360, 1000)}
            for size in {size for _, size in missing}:
                svg = game.render_svg(shown, None if match.is_over else 0, size)
                labels = re.findall(
                    'aria-label="([^"]*)"', svg.replace("hand of player_0", "your hand").lower()
                )
                missing -= {(part, size) for part, _ in missing if any(x.startswith(part) for x in labels)}
            if match.is_over or match.current_player == 0:
                assert not missing, seed
            if match.is_over:
                break
            match.play_agent()
            shown = last_position(match.states[-2], match.actions[-1], match.state)
            tips = guide.lines(match.events(0, len(match.actions) - 1)[-1])


def test_a_game_of_ones_own_has_no_guide() -> None:
    guide = Guide("my_game_v0")
    assert guide.begin == []
    assert guide.lines([]) == []


def test_a_line_that_means_no_part_of_the_picture_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(guide.LINES, "my_game_v0", {"begin": "One.\nTwo."})
    assert Guide("my_game_v0").begin == [("", "One.", "1 of 2"), ("", "Two.", "2 of 2")]


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
