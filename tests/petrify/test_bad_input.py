"""What Petrify refuses, and that it says why and what to do."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from catbox_env import make_game, petrify_v0
from catbox_env.petrify_v0 import Deal, Rules

TILES = [["1.1", "2.2", "3.3"], ["1.4", "2.3", "3.2"], ["1.3", "2.4", "1.2"]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_players": 1}, "num_players=1: expected an integer from 2 to 4"),
        ({"num_players": 5}, "num_players=5: expected an integer from 2 to 4"),
        ({"num_players": True}, "num_players=True: expected an integer"),
        ({"size": 2}, "size=2: expected an integer from 3 to 8"),
        ({"size": 9}, "size=9: expected an integer from 3 to 8"),
        ({"size": 4.0}, "size=4.0: expected an integer"),
        ({"move_rule": "at_most"}, "move_rule='at_most': expected one of 'exact', 'up_to'"),
        ({"move_rule": None}, "move_rule=None: expected one of 'exact', 'up_to'"),
        ({"walls": 5}, r"walls=5: expected an integer from 0 to 4 \(the size, 4\)"),
        ({"walls": -1}, "walls=-1: expected an integer from 0 to 4"),
        ({"teleports": -1}, "teleports=-1: expected an integer of 0 or more"),
        ({"wildcards": "2"}, "wildcards='2': expected an integer of 0 or more"),
        ({"zeros": 1.5}, "zeros=1.5: expected an integer of 0 or more"),
        ({"wildcards": 17}, "17 special tiles, but a board of size 4 has 16 cells; give fewer"),
        ({"wildcards": 10, "zeros": 7}, "17 special tiles, but a board of size 4 has 16 cells; give fewer"),
        ({"teleports": 8, "zeros": 7}, "num_players=2: with 8 teleports, .* only 1 of 16 cells hold"),
        (
            {"num_players": 4, "size": 3, "walls": 3, "teleports": 3},
            "num_players=4: with .* only 3 of 9 cells hold",
        ),
        ({"num_player": 3}, "unknown option 'num_player' of petrify_v0.*Did you mean 'num_players'"),
        ({"reward": "points"}, "reward='points': expected one of 'score', 'margin', 'win'"),
        ({"rules": {"size": 4}}, "petrify_v0 expected a catbox_env.games.petrify.rules.Rules"),
        ({"rules": Rules.full(), "size": 4}, "rules and size were both given"),
    ],
)
def test_rules_that_cannot_be_laid_out_are_refused(options: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        petrify_v0.raw_env(**options)


def changed(row: int, column: int, name: Any) -> list[list[Any]]:
    return [[name if (r, c) == (row, column) else TILES[r][c] for c in range(3)] for r in range(3)]


@pytest.mark.parametrize(
    ("deal", "said"),
    [
        (Deal(TILES[:2], [0, 8]), r"rows of \[3, 3\] tiles; expected 3 rows of 3"),
        (Deal([row[:2] for row in TILES], [0, 8]), r"rows of \[2, 2, 2\] tiles"),
        (Deal(changed(1, 1, "5.1"), [0, 8]), "tile '5.1'; expected a number card such as '2.3'"),
        (Deal(changed(1, 1, "2.0"), [0, 8]), "tile '2.0'"),
        (Deal(changed(1, 1, "T5"), [0, 8]), "tile 'T5'.*'T0' .. 'T4'"),
        (Deal(changed(1, 1, 0), [0, 8]), "tile 0; expected"),
        (
            Deal(changed(1, 1, "W"), [0, 8]),
            r"special tiles \['W'\]; the rules have \[\]: change the tiles, or",
        ),
        (Deal(TILES, [0]), "1 positions; expected one for each of 2 players"),
        (Deal(TILES, [0, 1, 2]), "3 positions; expected one for each of 2 players"),
        (Deal(TILES, [0, 9]), "position 9; expected a cell from 0 to 8"),
        (Deal(TILES, [-1, 8]), "position -1; expected a cell from 0 to 8"),
        (Deal(TILES, [0.0, 8]), "position 0.0; expected a cell"),  # type: ignore[list-item]  # on purpose
        (Deal(TILES, [4, 4]), r"positions \[4, 4\]; players begin on different cells"),
        (
            {"tiles": None, "positions": [0, 8]},
            "deal: None in tiles; expected a sequence of sequences of names",
        ),
        ({"tiles": [5, 5, 5], "positions": [0, 8]}, "deal: 5 in tiles; expected a sequence of names"),
        ({"tiles": TILES, "positions": None}, "deal: None in positions; expected a sequence of cells"),
        (Deal(changed(1, 1, []), [0, 8]), r"tile \[\]; expected a number card"),
        ({"tiles": TILES}, r"expected Deal\(tiles, positions\) or a dict with these keys"),
        ({"tiles": TILES, "positions": [0, 8], "seat": 0}, "expected Deal"),
        ("empty", "deal='empty': expected Deal"),
    ],
)
def test_a_deal_that_the_rules_do_not_allow_is_refused(deal: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_game("petrify_v0", size=3).new_initial_state(deal=deal)


def test_players_begin_on_numbers_and_wildcards_only() -> None:
    game = make_game("petrify_v0", size=3, teleports=1, wildcards=1)
    tiles = [["T0", "2.2", "*"], ["1.4", "2.3", "3.2"], ["1.3", "2.4", "1.2"]]
    with pytest.raises(
        ValueError, match="position 0 is on tile 'T0'; players begin on number cards or wildcards"
    ):
        game.new_initial_state(deal=Deal(tiles, [0, 8]))
    assert game.new_initial_state(deal=Deal(tiles, [2, 8])).legal_actions()


def test_a_deal_in_which_somebody_could_not_move_first_is_refused() -> None:
    game = make_game("petrify_v0", size=3, walls=2)
    tiles = [["1.1", "W", "3.3"], ["W", "2.3", "3.2"], ["1.3", "2.4", "1.2"]]
    with pytest.raises(ValueError, match="player_1 has no legal end cell"):
        game.new_initial_state(deal=Deal(tiles, [8, 0]))


@pytest.mark.nojit
def test_a_deal_is_laid_out_as_given() -> None:
    game = make_game("petrify_v0", size=3, teleports=1, walls=1, wildcards=1, zeros=1)
    tiles = [["4.1", "2.2", "*"], ["W", "0", "T0"], ["1.3", "2.4", "1.2"]]
    state = game.new_initial_state(deal={"tiles": tiles, "positions": [2, 8]})
    parts = game.observation_layout.unpack(state.observation(0))
    assert np.argwhere(parts["symbols"]).tolist() == [
        [0, 2, 0], [0, 2, 2], [1, 0, 1], [1, 2, 1], [3, 0, 0],
    ]  # fmt: skip
    assert np.argwhere(parts["colors"][1:]).tolist() == [
        [0, 0, 0],
        [1, 0, 1],
        [1, 2, 2],
        [2, 2, 0],
        [3, 2, 1],
    ]
    assert parts["colors"].sum() == 9
    assert np.argwhere(parts["kinds"][1:]).tolist() == [[0, 1, 0], [1, 0, 2], [2, 1, 1], [3, 1, 2]]
    assert parts["open"].tolist() == [[1, 1, 1], [0, 1, 1], [1, 1, 1]]
    assert np.argwhere(parts["positions"]).tolist() == [[0, 0, 2], [1, 2, 2]]


BOARD = [["2.1", "W", "1.3", "1.1"], ["T1", "4.2", "2.1", "T0"], ["1.2", "1.4", "1.3", "4.4"], ["3.1"] * 4]


@pytest.mark.parametrize(
    ("before", "action", "said"),
    [
        ([], 0, "holds the pawn of player_0"),
        ([], 15, "holds the pawn of player_1"),
        ([], 1, "b1 is a wall"),
        ([], 4, "no path of exactly 2 steps over free cells ends on a2"),
        ([], 3, "no path of exactly 2 steps over free cells ends on d1"),
        ([5, 12], 0, "a1 is closed"),
        ([8, 12, 4], 7, "d2 is a teleport, and a teleport does not lead to another"),
        ([8, 12, 4], 2, "the teleport has colour 1 and c1 has colour 3"),
        ([8, 12, 4], 8, "a3 is closed"),
    ],
)
@pytest.mark.nojit
def test_an_illegal_move_says_which_rule_forbids_it_and_changes_nothing(
    before: list[int], action: int, said: str
) -> None:
    game = make_game("petrify_v0", teleports=2, walls=1)
    state = game.new_initial_state(deal=Deal(BOARD, [0, 15]))
    for move in before:
        state.apply_action(move)
    data = state.serialize()
    with pytest.raises(ValueError, match=f"illegal action {action} .*{said}"):
        state.apply_action(action)
    assert state.serialize() == data


@pytest.mark.parametrize("text", ["b9", "move to i1", "move to a0", "jump"])
def test_an_unknown_action_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="unknown action"):
        make_game("petrify_v0", size=8).string_to_action(text)


def two_places(parts: dict[str, np.ndarray]) -> None:
    parts["positions"][0, :] = 1


def no_place(parts: dict[str, np.ndarray]) -> None:
    parts["positions"][1] = 0


def on_one_cell(parts: dict[str, np.ndarray]) -> None:
    parts["positions"][1] = parts["positions"][0]


def on_a_closed_cell(parts: dict[str, np.ndarray]) -> None:
    parts["open"][parts["positions"][0] == 1] = 0


def nobody_to_move(parts: dict[str, np.ndarray]) -> None:
    parts["to_move"][:] = 0


def no_seat(parts: dict[str, np.ndarray]) -> None:
    parts["seat"][:] = 0


def no_kind(parts: dict[str, np.ndarray]) -> None:
    parts["kinds"][:, 0, 0] = 0


def colourless_number(parts: dict[str, np.ndarray]) -> None:
    cell = np.argwhere(parts["kinds"][0])[0]
    parts["colors"][:, cell[0], cell[1]] = [1, 0, 0, 0, 0]


def open_wall(parts: dict[str, np.ndarray]) -> None:
    parts["open"][parts["kinds"][1] == 1] = 1


def out_without_a_place(parts: dict[str, np.ndarray]) -> None:
    parts["in_game"][2] = 0


def winner_while_others_play(parts: dict[str, np.ndarray]) -> None:
    parts["in_game"][2] = 0
    parts["place"][2] = [1, 0, 0]


def teleporting_from_a_number(parts: dict[str, np.ndarray]) -> None:
    parts["teleporting"][0] = 1


def nowhere_to_go(parts: dict[str, np.ndarray]) -> None:
    parts["open"][:] = parts["positions"].sum(0)


def not_binary(parts: dict[str, np.ndarray]) -> None:
    parts["symbols"] *= 2


def other_end_cells(parts: dict[str, np.ndarray]) -> None:
    parts["end_cells"][1] = 0


def other_end_cells_after(parts: dict[str, np.ndarray]) -> None:
    parts["end_cells_after"][parts["end_cells_after"] > 0] += 1


@pytest.mark.parametrize(
    "spoil",
    [
        two_places, no_place, on_one_cell, on_a_closed_cell, nobody_to_move, no_seat, no_kind, colourless_number,
        open_wall, out_without_a_place, winner_while_others_play, teleporting_from_a_number, nowhere_to_go, not_binary,
        other_end_cells, other_end_cells_after,
    ],
)  # fmt: skip
@pytest.mark.nojit
def test_a_vector_that_no_seat_can_see_is_refused(spoil: Any) -> None:
    game = make_game("petrify_v0", num_players=3, size=5, walls=2, teleports=2)
    observation = game.new_initial_state(seed=4).observation(0)
    assert game.sample_state(observation).legal_actions()
    spoil(game.observation_layout.unpack(observation))
    with pytest.raises(ValueError, match="no state of this game agrees with it"):
        game.sample_state(observation)


def test_what_is_seen_after_the_end_gives_no_state() -> None:
    game = make_game("petrify_v0")
    state = game.new_initial_state(seed=0)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="before the end"):
        game.sample_state(state.observation(0))


def test_rules_are_frozen_and_replaced_ones_are_checked_again() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().size = 5  # type: ignore[misc]  # on purpose
    with pytest.raises(ValueError, match="walls=5"):
        dataclasses.replace(Rules.full(), size=4, walls=5)
