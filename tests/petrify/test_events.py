"""The events of Petrify: walks, teleports, zeros, who is petrified, and the places at the end."""

from __future__ import annotations

from typing import Any

import pytest

import catbox_env
from catbox_env.games.petrify.rules import Rules
from tests.core.events import of_kind, steps, texts, told
from tests.petrify.positions import play, start

BOARD = ["1.1 T0 T1 2.1", "1.2 W * 0", "2.2 3.1 4.2 1.1", "3.3 T2 1.4 2.2"]


def said(state: Any, cell: tuple[int, int]) -> list[str]:
    row, column = cell
    return texts(state, row * state.game.rules.size + column)


def test_a_walk_is_told_with_its_steps_and_the_cell_that_is_closed() -> None:
    state = start(BOARD, [(0, 0), (3, 3)])
    assert said(state, (1, 0)) == ["player_0 walks 1 step from a1 to a2, onto a 1.2. Tile a1 closes"]
    assert said(play(state, (1, 0)), (2, 2)) == [
        "player_1 walks 2 steps from d4 to c3, onto a 4.2. Tile d4 closes"
    ]
    up_to = start(BOARD, [(2, 0), (3, 3)], move_rule="up_to")
    assert said(up_to, (1, 0)) == ["player_0 walks from a3 to a2, onto a 1.2. Tile a3 closes"]


def test_a_teleport_is_told_with_where_it_leads_and_where_the_pawn_comes_out() -> None:
    state = start(BOARD, [(0, 0), (3, 3)])
    assert said(state, (0, 1)) == [
        "player_0 walks 1 step from a1 to b1, onto a teleport. Tile a1 closes",
        "player_0 is on a teleport and may come out on any free tile",
    ]
    assert said(play(state, (0, 1)), (2, 2)) == ["player_0 comes out of the teleport on b1 at c3, onto a 4.2"]


def test_a_teleport_that_leads_nowhere_is_told_to_keep_the_pawn() -> None:
    state = start(["1.2 T1 1.2", "1.2 1.2 1.2", "T0 1.2 1.2"], [(0, 0), (2, 2)])
    assert said(state, (0, 1))[1] == (
        "player_0 is on a teleport and stays there, because it does not lead to a free tile of colour 1"
    )


def test_a_zero_is_told_with_the_new_places_of_all() -> None:
    state = start(["1.1 0 1.1", "1.2 1.2 1.2", "1.1 1.3 2.1"], [(0, 0), (2, 2), (2, 0)])
    assert said(state, (0, 1))[1] == (
        "player_0 came to the zero on b1, so all change places: player_0 to c3, player_1 to a3, player_2 to b1; "
        "b1 is now 1.1"
    )


@pytest.mark.parametrize(
    "rules", [Rules(), Rules.full(3), Rules.full(4), Rules(num_players=4, move_rule="up_to")]
)
def test_places_are_told_as_they_fall_and_points_follow_from_them(rules: Rules) -> None:
    for seed in range(6):
        game = catbox_env.make_game("petrify_v0", rules=rules)
        petrified: list[int] = []
        for step in steps(game, seed):
            before, _, after = step
            events = told(step)
            assert events == told(step, seat=0)
            assert events[0].kind == ("teleport_exit" if before.record.teleporting else "move")
            for event in of_kind(events, "petrified"):
                petrified.append(event.seat)  # type: ignore[arg-type]
                place = {2: "2nd", 3: "3rd", 4: "4th"}[event.data["place"]]
                assert event.text == f"player_{event.seat} cannot move and turns to stone: {place} place"
                assert event.data["place"] == rules.num_players - len(petrified) + 1
            for event in of_kind(events, "rotation"):
                for moved in event.data["moved"]:
                    column, row = moved["cell"]
                    cell = "abcdefgh".index(column) + (int(row) - 1) * rules.size
                    assert after.record.position[moved["seat"]] == cell
            ended = of_kind(events, "score", "game_end")
            assert bool(ended) == after.is_terminal()
        winner = ended[-1].seat
        assert [*petrified, winner] == sorted(range(rules.num_players), key=lambda s: -after.info(s)["place"])
        assert {event.seat: event.data["score"] for event in ended[:-1]} == pytest.approx(
            dict(enumerate(after.returns())), abs=1e-6
        )
        for event in ended[:-1]:
            assert float(event.text.rpartition("= ")[2]) == pytest.approx(event.data["score"], abs=0.005)
