"""No page is ever sent a card that its seat cannot see.

Every message of a page is the same in every world that agrees with what its seat has seen: other hands, other cards put
aside, but the same messages, from the first to the last.
"""

from __future__ import annotations

import json
import secrets
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents.arena.match import Match
from catbox_app.web.table import PERSON, Table
from catbox_app.web.tables import Tables
from tests.agents.hidden_pairs import alike
from tests.app.web.page import Page

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 3}),
    ("cat_in_the_box_v0", {"num_players": 4}),
    ("cat_te_v0", {"num_players": 3}),
    ("petrify_v0", {"num_players": 2}),
]


def told_to(match: Match, seat: int, coach: bool) -> str:
    """All that a page is told that sits down at ``seat``, without the secret keys."""
    tables = Tables()
    table = tables.add(Table(match, [PERSON] * match.game.num_players, 0, tables.clock))
    page = Page(tables)
    if coach:
        page.send("coach", agent="heuristic", shows="policy")
    page.send("join", seat_key=table.keys[seat])
    tables.run_due()
    assert not page.all("failed")
    assert bool(page.all("coach")) == (coach and seat == match.current_player)
    return json.dumps(page.told)


@pytest.mark.parametrize(("game_id", "options"), GAMES[:3])  # Petrify hides nothing
def test_worlds_that_a_seat_cannot_tell_apart_give_it_the_same_messages(
    game_id: str, options: dict[str, Any]
) -> None:
    game = catbox_env.make_game(game_id, **options, reward="margin")
    rng = np.random.default_rng(0)
    people = [None] * game.num_players
    match = Match(game, people, seed=1)
    others = 0
    while not match.is_over:
        for seat in range(game.num_players):
            state = match.state
            told = told_to(match, seat, coach=True)
            for seed in range(2):
                world = alike(state, seat, seed)
                same = Match(game, people, seed=2, deal=game.deal_of(world))
                same.play_on(world.history(), [None] * len(match.actions))
                assert told_to(same, seat, coach=True) == told
                others += not np.array_equal(same.state.state_vector(), state.state_vector())
        match.play(match.current_player, int(rng.choice(match.state.legal_actions())))
    assert others > 50


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_what_pages_are_told_in_a_whole_game_is_what_their_seats_see(
    game_id: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Message by message, as the game goes on: nothing but pictures and events for the seat, and no seed."""
    game = catbox_env.make_game(game_id, **options, reward="margin")
    tables = Tables()
    pages = [Page(tables) for _ in range(game.num_players)]
    monkeypatch.setattr(secrets, "randbits", lambda bits: 987654321)
    keys = pages[0].open(*[PERSON] * game.num_players, game=game_id)
    pages[0].told.clear()
    for page, key in zip(pages, keys, strict=True):
        page.send("join", seat_key=key)
    (table,) = tables
    assert table.match.seed == 987654321
    while not table.match.is_over:
        to_move = table.match.current_player
        pages[to_move].act(max)
        number = len(table.match.actions)
        for seat, page in enumerate(pages):
            text = json.dumps(page.told)
            assert not any(key in text for key in keys if key)
            assert table.match.is_over or "987654321" not in text
            seen_by = None if table.match.is_over else seat
            assert page.position["svg"] == game.render_svg(table.match.state, seen_by)
            told = [event.text for event in table.match.events(seat, number - 1)[0]]
            lines = [line["text"].replace(" (person)", "") for line in page.last("events")["lines"]]
            assert lines == told
