"""What a picture of Petrify tells: by its labels, which say what is drawn."""

from xml.etree import ElementTree

import numpy as np
import pytest

from catbox_env import GameState, make_game
from catbox_env.core.checks import PUBLIC
from catbox_env.games.petrify.show import View
from catbox_env.pictures.petrify import shortest_walks
from catbox_env.pictures.sheet import GAP, LARGER, THEMES
from tests.petrify.positions import play, start
from tests.pictures.checks import SVG, labels, texts


def test_each_cell_says_its_tile_and_the_pawn_on_it() -> None:
    state = start(["1.2 * W", "2.3 T0 0", "1 1 1"], [(0, 0), (2, 2)], move_rule="up_to")
    assert {"a1 1.2, player_0", "b1 *", "c1 W", "a2 2.3", "b2 T0", "c2 0", "c3 1.1, player_1"} <= set(
        labels(state)
    )
    play(state, (1, 0))
    assert "a1 closed" in labels(state)
    assert "a2 2.3, player_0" in labels(state)


def test_where_the_seat_to_move_may_go_are_buttons_for_it_alone() -> None:
    state = start(["1 1 1", "1 1 1", "1 1 1"], [(0, 0), (2, 2)])
    assert {"move to b1", "move to a2"} <= set(labels(state, 0))
    assert not any(label.startswith("move to") for label in labels(state, 1))
    assert "player_0 walks 1 step" in texts(state, 1)


def test_the_players_say_where_they_stand_how_far_they_walk_and_who_is_petrified() -> None:
    state = start(["1 1 1", "1 4 *", "1 1 1"], [(0, 0), (1, 2)])
    seen = labels(state, 1)
    assert "player_0, to move: on a1: 1 step, 2 tiles in reach" in seen
    assert "player_1, you: on c2: 1\u20134 steps, 7 tiles in reach" in seen
    assert "free tiles: 7" in texts(state, 1)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    loser = state.returns().index(-1.0)
    assert f"player_{loser}: petrified, 2nd, \u22121 points" in labels(state)
    assert f"player_{1 - loser} wins" in texts(state)


def test_tiles_that_can_be_chosen_stand_out_and_petrified_pawns_keep_their_colour() -> None:
    state = start(["1 1 1 1", "1 1 1 1", "1 1 1 1", "1 1 1 1"], [(0, 0), (0, 3), (3, 3)])
    theme = THEMES["light"]
    fills = {label: _cell(state, label) for label in ("b1 1.1", "c1 1.1")}
    assert fills["b1 1.1"].count(theme.open) == 1, "player_0 may go there"
    assert fills["c1 1.1"].count(theme.open) == 0
    assert "you can go here" in texts(state)
    while not any(place > 0 for place in View(state.game.rules, state.record).places):
        state.apply_action(state.legal_actions()[0])
    view = View(state.game.rules, state.record)
    out = next(seat for seat, place in enumerate(view.places) if place > 0)
    assert f'fill="{theme.back}" stroke="{theme.seats[out]}"' in _pawn(state, out)
    assert theme.back not in _pawn(state, (out + 1) % 3)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_rows_beside_a_large_board_fill_its_height(players: int) -> None:
    state = make_game("petrify_v0", num_players=players).new_initial_state(seed=0)
    root = ElementTree.fromstring(state.game.render_svg(state, 0, 1000))
    board, seats, tiles = (float(panel[0][0].attrib["height"]) for panel in root[-3:])
    assert seats + GAP + tiles == pytest.approx(LARGER * board, abs=2)
    last_tile = max(float(text.attrib["y"]) for text in root[-1].iter(f"{{{SVG}}}text"))
    assert tiles - last_tile < 100


def test_whoever_is_to_move_reads_what_to_do_and_the_others_what_it_does() -> None:
    state = start(["1 1 1", "1 1 1", "1 1 1"], [(0, 0), (2, 2)])
    assert "Walk 1 step" in texts(state, 0)
    for seat in (None, PUBLIC, 1):
        assert "player_0 walks 1 step" in texts(state, seat)


def _pawn(state: GameState, seat: int) -> str:
    """The elements of a pawn."""
    return state.game.render_svg(state).partition(f'data-key="pawn-{seat}"')[2].partition("</g></g></g>")[0]


def _cell(state: GameState, label: str) -> str:
    """The elements of the cell with this label."""
    return (
        state.game.render_svg(state, state.current_player)
        .partition(f'aria-label="{label}"')[2]
        .partition('role="img"')[0]
    )


def test_a_player_on_a_teleport_is_told_where_it_may_come_out() -> None:
    state = play(start(["1 T1 1.2", "1 1 1", "1 T0 1"], [(0, 0), (2, 2)]), (0, 1))
    assert "player_0 comes out on colour 1" in texts(state)
    assert "move to a3" in labels(state, 0)
    assert "move to c1" not in labels(state, 0)


def test_only_tiles_that_the_rules_have_are_explained() -> None:
    plain = texts(start(["1 1 1", "1 1 1", "1 1 1"], [(0, 0), (2, 2)]))
    assert "closed: nobody can go here" in plain
    assert "a wall: nobody can go here" not in plain
    assert "a wall: nobody can go here" in texts(start(["1 1 1", "1 W 1", "1 1 1"], [(0, 0), (2, 2)]))


@pytest.mark.parametrize("move_rule", ["exact", "up_to"])
def test_every_legal_walk_has_a_way(move_rule: str) -> None:
    tiles = {"walls": 2, "wildcards": 3, "teleports": 2, "zeros": 1}
    game = make_game("petrify_v0", num_players=3, size=5, move_rule=move_rule, **tiles)
    rng = np.random.default_rng(5)
    for seed in range(20):
        state = game.new_initial_state(seed=seed)
        while not state.is_terminal():
            view, walks = View(game.rules, state.record), shortest_walks(state)
            assert sorted(walks) == ([] if view.teleporting else state.legal_actions())
            for end, way in walks.items():
                assert (way[0], way[-1]) == (view.positions[view.mover], end)
                assert len(set(way)) == len(way)
            assert game.render_svg(state, state.current_player).count("data-walk") == len(walks)
            state.apply_action(int(rng.choice(state.legal_actions())))
