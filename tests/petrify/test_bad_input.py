"""What Petrify refuses, and that it says why and what to do."""

import dataclasses
from collections.abc import Callable
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
        ({"num_player": 3}, "unknown option 'num_player' of petrify_v0.*did you mean 'num_players'"),
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


def cell_of(parts: dict[str, np.ndarray], part: str, index: int) -> tuple[int, int]:
    row, column = np.argwhere(parts[part][index])[0]
    return int(row), int(column)


#: What is wrong with an observation: a change of its parts.
WRONG_PARTS: dict[str, Callable[[dict[str, np.ndarray]], None]] = {
    "two places": lambda parts: parts["positions"][0].fill(1),
    "no place": lambda parts: parts["positions"][1].fill(0),
    "two pawns on a cell": lambda parts: np.copyto(parts["positions"][1], parts["positions"][0]),
    "a pawn on a closed cell": lambda parts: parts["open"].__setitem__(cell_of(parts, "positions", 0), 0),
    "nobody to move": lambda parts: parts["to_move"].fill(0),
    "no seat": lambda parts: parts["seat"].fill(0),
    "a tile of no kind": lambda parts: parts["kinds"][:, 0, 0].fill(0),
    "a number without a colour": lambda parts: parts["colors"].__setitem__(
        (slice(None), *cell_of(parts, "kinds", 0)), [1, 0, 0, 0, 0]
    ),
    "an open wall": lambda parts: parts["open"].__setitem__(cell_of(parts, "kinds", 1), 1),
    "out without a place": lambda parts: parts["in_game"].__setitem__(2, 0),
    "a winner while others play": lambda parts: parts["place"].__setitem__((2, 0), 1),
    "nowhere to go": lambda parts: np.copyto(parts["open"], parts["positions"].sum(0)),
    "more than 1": lambda parts: np.multiply(parts["symbols"], 2, parts["symbols"]),
    "other end cells": lambda parts: parts["end_cells"][1].fill(0),
    "other end cells after": lambda parts: parts["end_cells_after"].fill(0),
}


@pytest.mark.nojit
@pytest.mark.parametrize("wrong", WRONG_PARTS)
def test_a_vector_that_no_seat_can_see_is_refused(wrong: str) -> None:
    game = make_game("petrify_v0", num_players=3, size=5, walls=2, teleports=2)
    observation = game.new_initial_state(seed=4).observation(0)
    assert game.sample_state(observation).legal_actions()
    WRONG_PARTS[wrong](game.observation_layout.unpack(observation))
    with pytest.raises(ValueError, match="no state of this game agrees with it"):
        game.sample_state(observation)


def put(name: str, value: Any, *place: int) -> Callable[[np.record], None]:
    return lambda record: record[name].__setitem__(place, value) if place else record.__setitem__(name, value)


#: What would not be safe to play: a change of the record of a game of three, and what is said.
UNSAFE: dict[str, tuple[Callable[[np.record], None], str]] = {
    "no such tile": (put("tile", 24, 8), "'tile' of game 0 is not within 0 .. 23"),
    "a pawn beyond the board": (put("position", 16, 0), "'position' of game 0 is not within 0 .. 15"),
    "an open cell beyond the board": (put("open", 1 << 16), "'open' of game 0 is not within 0 .. 65535"),
    "no such place": (put("place", 3, 1), "'place' of game 0 is not within -1 .. 2"),
    "two pawns on a cell": (put("position", 15, 0), "cannot be played on"),
    "a pawn on a closed cell": (put("position", 1, 0), "cannot be played on"),
    "nowhere to go": (put("open", 1 << 0 | 1 << 9 | 1 << 15), "cannot be played on"),
    "a mover that is out": (put("place", 2, 0), "cannot be played on"),
    "nobody left but the mover": (put("place", [-1, 1, 2, 0]), "cannot be played on"),
    "a place that is not the last": (put("place", 1, 2), "cannot be played on"),
    "a game longer than any": (put("num_moves", 1), "cannot be played on"),
    "an end with players in the game": (
        lambda record: (put("terminated", 1)(record), put("current_player", -1)(record)),  # type: ignore[func-returns-value]
        "cannot be played on",
    ),
}


@pytest.mark.nojit
@pytest.mark.parametrize("wrong", UNSAFE)
def test_a_state_that_could_not_be_played_to_its_end_is_refused(wrong: str) -> None:
    game = make_game("petrify_v0", num_players=3, teleports=2, walls=1)
    state = game.new_initial_state(deal=Deal(BOARD, [0, 15, 9]))
    assert game.deserialize_state(state.serialize()).legal_actions() == state.legal_actions()
    change, said = UNSAFE[wrong]
    change(state.record)
    with pytest.raises(ValueError, match=said):
        game.deserialize_state(state.serialize())


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
