"""The rules page of Petrify, sentence by sentence: the deck, special tiles, places, what is refused."""

from collections import Counter

import numpy as np
import pytest

import catbox_env
from catbox_env.petrify_v0 import Rules
from tests.petrify.positions import is_open, place_of, start, tile_at, view

pytestmark = pytest.mark.nojit


# ---------------------------------------------------------------- set-up


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 8])
def test_the_deck_is_symbols_crossed_with_colours_repeated_to_fill_the_board(size):
    state = catbox_env.make_game("petrify_v0", size=size).new_initial_state(seed=size)
    expected = Counter(f"{1 + i % 4}.{1 + (i // 4) % 4}" for i in range(size * size))
    assert Counter(tile_at(state, (row, column)) for row in range(size) for column in range(size)) == expected
    assert view(state)["open"].all()


@pytest.mark.parametrize(
    "specials",
    [
        {"teleports": 7},
        {"walls": 5},
        {"wildcards": 3},
        {"zeros": 2},
        {"teleports": 3, "walls": 2, "wildcards": 2, "zeros": 1},
    ],
)
def test_each_special_tile_replaces_one_numbered_card(specials):
    game = catbox_env.make_game("petrify_v0", size=5, **specials)
    deck = Counter(f"{1 + i % 4}.{1 + (i // 4) % 4}" for i in range(25))
    special = Counter(
        {"W": specials.get("walls", 0), "*": specials.get("wildcards", 0), "0": specials.get("zeros", 0)}
    )
    special.update(f"T{k % 5}" for k in range(specials.get("teleports", 0)))
    replaced = Counter()
    for seed in range(20):
        state = game.new_initial_state(seed=seed)
        tiles = Counter(tile_at(state, (row, column)) for row in range(5) for column in range(5))
        numbers = Counter({name: count for name, count in tiles.items() if "." in name})
        assert tiles - numbers == +special
        assert not numbers - deck
        replaced += deck - numbers
        walls = {cell for cell in np.ndindex(5, 5) if tile_at(state, cell) == "W"}
        assert {cell for cell in np.ndindex(5, 5) if not is_open(state, cell)} == walls
    assert len(replaced) > 8, "which cards are replaced is drawn"


def test_walls_wildcards_and_zero_tiles_are_colourless():
    state = catbox_env.make_game("petrify_v0", size=5, walls=2, wildcards=2, zeros=2).new_initial_state(
        seed=0
    )
    parts = view(state)
    special = parts["kinds"][1:4].sum(axis=0)
    assert special.sum() == 6
    assert (parts["colors"][0] == special).all()
    assert (parts["symbols"].sum(axis=0) == parts["kinds"][0]).all()


def test_full_is_five_by_five_with_every_special_tile():
    rules = type(catbox_env.make_game("petrify_v0").rules).full()
    assert (rules.size, rules.teleports, rules.walls, rules.wildcards, rules.zeros) == (5, 3, 2, 2, 1)
    assert (rules.num_players, rules.move_rule) == (2, "exact")
    assert not catbox_env.make_game("petrify_v0", rules=rules).new_initial_state(seed=0).is_terminal()


def test_the_default_is_two_players_on_four_by_four_with_exact_moves():
    game = catbox_env.make_game("petrify_v0")
    rules = game.rules
    assert (rules.num_players, rules.size, rules.move_rule, game.num_actions) == (2, 4, "exact", 16)
    assert (rules.teleports, rules.walls, rules.wildcards, rules.zeros) == (0, 0, 0, 0)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_players_begin_on_different_numbers_or_wildcards(players):
    game = catbox_env.make_game("petrify_v0", num_players=players, teleports=4, walls=3, wildcards=2, zeros=2)
    cells = Counter()
    kinds = set()
    for seed in range(60):
        state = game.new_initial_state(seed=seed)
        begun = [place_of(state, player) for player in range(players)]
        assert len(set(begun)) == players
        names = [tile_at(state, cell) for cell in begun]
        assert all("." in name or name == "*" for name in names)
        cells.update(begun)
        kinds |= {name[0] for name in names}
        assert state.current_player == 0
    assert len(cells) == 16
    assert kinds == {"1", "2", "3", "4", "*"}


@pytest.mark.parametrize("size", [3, 4, 5, 8])
def test_as_many_walls_as_rows_can_be_played_on(size):
    game = catbox_env.make_game("petrify_v0", size=size, walls=size)
    assert [bool(game.new_initial_state(seed=seed).legal_actions()) for seed in range(20)] == [True] * 20


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 1},
        {"num_players": 5},
        {"size": 2},
        {"size": 9},
        {"move_rule": "at_most"},
        {"walls": 5},
        {"walls": -1},
        {"teleports": -1},
        {"teleports": 17},
        {"wildcards": 17},
        {"zeros": 17},
        {"zeros": 1.5},
    ],
)
def test_an_option_out_of_range_is_refused_by_name_and_value(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=name) as error:
        catbox_env.make_game("petrify_v0", **options)
    assert str(value) in str(error.value)


@pytest.mark.parametrize(
    ("players", "specials", "fits"),
    [
        (4, {"teleports": 5}, True),
        (4, {"teleports": 6}, False),
        (2, {"teleports": 4, "walls": 2, "zeros": 1}, True),
        (2, {"teleports": 4, "walls": 2, "zeros": 2}, False),
        (4, {"wildcards": 9}, True),
        (3, {"wildcards": 2, "teleports": 6}, True),
        (2, {"teleports": 5, "wildcards": 5}, False),
    ],
)
def test_fewer_valid_cells_than_players_are_refused(players, specials, fits):
    options = {"num_players": players, "size": 3, **specials}
    if fits:
        assert catbox_env.make_game("petrify_v0", **options).new_initial_state(seed=0).legal_actions()
    else:
        with pytest.raises(ValueError, match=r"num_players|special tiles"):
            catbox_env.make_game("petrify_v0", **options)


@pytest.mark.parametrize(
    ("rows", "begin"),
    [
        (["1 1 1", "1 1 1"], [(0, 0), (1, 1)]),
        (["1 1 1", "1 1 1", "1 1 1"], [(0, 0), (0, 0)]),
        (["1 1 1", "1 1 1", "1 1 1"], [(0, 0), (3, 3)]),
        (["1 1 1", "1 5.1 1", "1 1 1"], [(0, 0), (2, 2)]),
        (["1 1 1", "1 1.7 1", "1 1 1"], [(0, 0), (2, 2)]),
        (["1 1 1", "1 X 1", "1 1 1"], [(0, 0), (2, 2)]),
        (["1 1 1", "1 W 1", "1 1 1"], [(0, 0), (2, 2)]),  # no walls in these rules
    ],
)
def test_a_deal_that_cannot_come_up_is_refused(rows, begin):
    game = catbox_env.make_game("petrify_v0", size=3)
    tiles = [
        [name if "." in name or not name.isdigit() else f"{name}.1" for name in row.split()] for row in rows
    ]
    with pytest.raises(ValueError, match=r"deal|tile|position"):
        game.new_initial_state(seed=0, deal={"tiles": tiles, "positions": [3 * r + c for r, c in begin]})


@pytest.mark.parametrize(
    ("rows", "begin"),
    [(["1 W .", "W . .", ". . ."], [(0, 0), (2, 2)]), (["T0 . .", ". . .", ". . ."], [(0, 0), (2, 2)])],
)
def test_a_deal_that_would_have_been_drawn_again_is_refused(rows, begin):
    with pytest.raises(ValueError, match=r"deal|position"):
        start(rows, begin)


def test_the_tiny_rules_are_a_small_board_of_walls_and_wildcards():
    rules = Rules.tiny()
    assert (rules.num_players, rules.size, rules.walls, rules.wildcards) == (2, 3, 3, 6)
    deals = catbox_env.make_game("petrify_v0", rules=rules).chance_outcomes()
    assert len(deals) == 1896
    assert {tile for deal, _ in deals for row in deal.tiles for tile in row} == {"W", "*"}
