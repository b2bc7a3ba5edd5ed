"""The rules page of Petrify, sentence by sentence: set-up, moves, the end."""

import random
from collections import Counter

import numpy as np
import pytest

import catbox_env
from tests.petrify_table import (
    as_reference,
    in_game,
    is_open,
    legal,
    place_of,
    places,
    play,
    start,
    tile_at,
    view,
)

pytestmark = pytest.mark.nojit

PLAIN = [". . . .", ". . . .", ". . . .", ". . . ."]


def with_start(name, rows=PLAIN):
    """The board with this tile at (0, 0)."""
    first, *others = rows
    return [" ".join([name, *first.split()[1:]]), *others]


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


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(
    "options", [{"size": 3, "walls": 3}, {"size": 3, "teleports": 3, "zeros": 2}, {"walls": 4}]
)
def test_board_and_places_are_drawn_until_everybody_could_move_first(players, options):
    game = catbox_env.make_game("petrify_v0", num_players=players, **options)
    for seed in range(40):
        reference = as_reference(game.new_initial_state(seed=seed))
        assert all(reference.end_cells(player) for player in range(players))


@pytest.mark.parametrize("size", [3, 4, 5, 8])
def test_as_many_walls_as_rows_can_be_played_on(size):
    game = catbox_env.make_game("petrify_v0", size=size, walls=size)
    assert [bool(game.new_initial_state(seed=seed).legal_actions()) for seed in range(20)] == [True] * 20


# ---------------------------------------------------------------- exactly X steps


@pytest.mark.parametrize(
    ("symbol", "ends"),
    [
        ("1", {(0, 1), (1, 0)}),
        ("2", {(0, 2), (1, 1), (2, 0)}),
        ("3", {(0, 1), (1, 0), (0, 3), (1, 2), (2, 1), (3, 0)}),
        ("4", {(0, 2), (1, 1), (2, 0), (1, 3), (2, 2), (3, 1)}),
    ],
)
def test_the_symbol_below_is_the_number_of_steps(symbol, ends):
    assert legal(start(with_start(symbol), [(0, 0), (3, 3)])) == ends


@pytest.mark.parametrize(
    ("symbol", "distances"), [("1", {1}), ("2", {1, 2}), ("3", {1, 2, 3}), ("4", {1, 2, 3, 4})]
)
def test_up_to_x_steps(symbol, distances):
    state = start(with_start(symbol), [(0, 0), (3, 3)], move_rule="up_to")
    assert legal(state) == {
        (row, column) for row in range(4) for column in range(4) if row + column in distances
    }


@pytest.mark.parametrize("move_rule", ["exact", "up_to"])
def test_a_wildcard_always_allows_one_to_four_steps(move_rule):
    state = start(with_start("*"), [(0, 0), (3, 3)], move_rule=move_rule)
    assert legal(state) == {(row, column) for row in range(4) for column in range(4) if 0 < row + column <= 4}


def test_steps_are_orthogonal_and_do_not_leave_the_board():
    state = start(["1 . .", ". . .", ". . ."], [(0, 0), (2, 2)])
    assert legal(state) == {(0, 1), (1, 0)}
    state = start([". . .", ". 1 .", ". . ."], [(1, 1), (2, 2)])
    assert legal(state) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    state = start([". . .", ". . 1", ". . ."], [(1, 2), (2, 0)])
    assert legal(state) == {(0, 2), (1, 1), (2, 2)}, "the right edge is not joined to the left"


def test_no_cell_is_visited_twice():
    """In a dead end of three cells, three steps do not lead back to the first of them."""
    board = ["3 . . W", "W W . .", ". . . .", ". . . ."]
    state = start(board, [(0, 0), (3, 0)])
    assert legal(state) == {(1, 2)}
    state = start(with_start("2", board), [(0, 0), (3, 0)])
    assert legal(state) == {(0, 2)}, "nor to the start"


def test_four_steps_around_a_square_do_not_end_on_the_start():
    state = start(["4 . W .", ". . W .", "W . . .", ". . . ."], [(0, 0), (3, 3)])
    # (0,0) (0,1) (1,1) (2,1) (2,2) or (3,1); (0,0) (1,0) (1,1) and on alike.
    assert legal(state) == {(2, 2), (3, 1)}


def test_any_path_may_lead_to_the_end_cell():
    """(0, 1) is next door, and three steps away around the square."""
    assert (0, 1) in legal(start(with_start("3"), [(0, 0), (3, 3)]))
    no_square = start(["3 . . .", "W . . .", ". . . .", ". . . ."], [(0, 0), (3, 3)])
    assert legal(no_square) == {(0, 3), (1, 2), (2, 1)}


def test_players_are_in_the_way():
    state = start(with_start("2"), [(0, 0), (0, 1)])
    assert legal(state) == {(1, 1), (2, 0)}, "neither onto the other player nor through it"
    state = start(with_start("1"), [(0, 0), (0, 1)])
    assert legal(state) == {(1, 0)}


def test_walls_are_in_the_way():
    state = start(["2 W . .", ". . . .", ". . . .", ". . . ."], [(0, 0), (3, 3)])
    assert legal(state) == {(1, 1), (2, 0)}
    state = start(["1 W . .", ". . . .", ". . . .", ". . . ."], [(0, 0), (3, 3)])
    assert legal(state) == {(1, 0)}
    before = state.serialize()
    with pytest.raises(ValueError, match="illegal"):
        play(state, (0, 1))
    assert state.serialize() == before


@pytest.mark.parametrize("special", ["T0", "0", "*"])
def test_open_special_tiles_may_be_passed_over(special):
    state = start([f"2 {special} .", "W . .", "W . ."], [(0, 0), (2, 2)])
    assert legal(state) == {(0, 2), (1, 1)}
    play(state, (0, 2))
    assert place_of(state, 0) == (0, 2)
    assert tile_at(state, (0, 1)) == special, "passing has no effect"
    assert is_open(state, (0, 1))


def test_every_kind_of_tile_but_a_wall_accepts_a_landing():
    state = start([". T0 .", "0 1 *", ". W ."], [(1, 1), (2, 2)])
    assert legal(state) == {(0, 1), (1, 0), (1, 2)}


# ---------------------------------------------------------------- the start cell closes


def test_the_cell_where_the_turn_began_is_closed_for_good():
    state = play(start(with_start("1"), [(0, 0), (3, 3)]), (0, 1))
    assert not is_open(state, (0, 0))
    assert is_open(state, (0, 1))
    assert view(state)["open"].sum() == 15
    assert place_of(state, 0) == (0, 1)
    play(state, (3, 2))
    assert legal(state) == {(0, 2), (1, 1)}, "no way back"


def test_a_closed_cell_cannot_be_passed_over():
    """From (0, 1), two steps lead to (1, 0) through the closed (0, 0) alone."""
    state = play(start(["1 2 .", ". W .", ". . ."], [(0, 0), (2, 2)]), (0, 1), (2, 1))
    assert not is_open(state, (0, 0))
    assert not is_open(state, (2, 2))
    assert legal(state) == {(1, 2)}


def test_a_closed_cell_is_closed_for_everybody():
    state = play(start(["1 1 1", "1 1 1", "1 1 1"], [(0, 1), (1, 0)]), (0, 2), (1, 1), (1, 2))
    assert state.current_player == 1
    assert legal(state) == {(2, 1)}, "(0, 1) was closed by seat 0, (1, 0) by seat 1"


def test_turns_go_in_seat_order():
    state = start(PLAIN, [(0, 0), (0, 3), (3, 0), (3, 3)])
    movers = []
    for cell in ((1, 0), (1, 3), (3, 1), (3, 2), (1, 1), (1, 2), (2, 1), (2, 2)):
        movers.append(state.current_player)
        for seat in range(4):
            assert state.action_mask(seat).any() == (seat == state.current_player)
        play(state, cell)
    assert movers == [0, 1, 2, 3, 0, 1, 2, 3]


# ---------------------------------------------------------------- petrified players


def test_a_player_that_cannot_move_is_petrified_and_the_last_one_left_wins():
    """Seat 1 has one way out, and seat 0 steps into it."""
    state = start(["1 . W", "W . 1", ". . W"], [(0, 1), (1, 2)])
    assert legal(state) == {(0, 0), (1, 1)}
    play(state, (1, 1))
    assert state.is_terminal()
    assert state.round_ended
    assert state.current_player == -1
    assert list(state.rewards()) == [1, -1]
    assert places(state) == [0, 1]
    assert state.legal_actions() == []
    with pytest.raises(ValueError, match="over"):
        play(state, (0, 0))


def test_who_cannot_move_is_out_only_when_its_turn_comes():
    """Seat 0 locks itself into its corner, and has lost when seat 1 has moved on."""
    state = play(start(["1 1 W", "1 W W", "1 . ."], [(0, 1), (1, 0)]), (0, 0))
    assert in_game(state) == [1, 1]
    play(state, (2, 0))
    assert state.is_terminal()
    assert list(state.rewards()) == [-1, 1]


def test_the_last_player_left_wins_although_it_could_not_move_either():
    """Seats 0 and 1 stand side by side between walls and the closed cell, and it is seat 1's turn."""
    state = play(start(["1 1 1", ". W W", ". . ."], [(0, 0), (0, 2)]), (0, 1))
    assert state.is_terminal()
    assert list(state.rewards()) == [1, -1]


def test_a_petrified_figure_stays_as_an_obstacle_and_play_passes_on():
    """Seat 1 is shut in at (0, 1) by seat 0 in (0, 0) and a wall; its figure blocks the top row."""
    board = [". 1 W", "1 W .", ". . ."]
    state = start(board, [(1, 0), (0, 1), (2, 2)])
    assert legal(state) == {(0, 0), (2, 0)}
    play(state, (0, 0))
    assert state.current_player == 2, "seat 1 has no action"
    assert in_game(state) == [1, 0, 1]
    assert place_of(state, 1) == (0, 1)
    assert is_open(state, (0, 1)), "a figure stands there, but the cell was not closed"
    assert not state.round_ended
    assert not any(state.rewards()), "paid at the end"
    assert view(state)["place"].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    play(state, (1, 2))
    assert state.is_terminal(), "seat 0 is shut in by the figure and the closed cell below"
    assert list(state.rewards()) == [0, -1, 1]
    assert places(state) == [1, 2, 0]


def test_a_petrified_player_is_passed_over_in_every_later_turn():
    """Seat 0 shuts seat 1 in its corner and goes on itself."""
    board = [". W . . .", ". . . . .", ". . . . .", ". . . . .", ". . . . ."]
    state = play(start(board, [(2, 0), (0, 0), (4, 4), (4, 2)]), (1, 0))
    movers = []
    for cell in ((3, 4), (3, 2), (1, 1), (2, 4), (2, 2), (1, 2)):
        assert in_game(state) == [1, 0, 1, 1]
        movers.append(state.current_player)
        play(state, cell)
    assert movers == [2, 3, 0, 2, 3, 0]
    assert place_of(state, 1) == (0, 0)


# ---------------------------------------------------------------- the end


@pytest.mark.parametrize(("players", "points"), [(2, [1, -1]), (3, [1, 0, -1]), (4, [1, 1 / 3, -1 / 3, -1])])
def test_rewards_follow_the_ranking(players, points):
    game = catbox_env.make_game("petrify_v0", num_players=players, size=5)
    rng = random.Random(players)
    for seed in range(15):
        state = game.new_initial_state(seed=seed)
        while not state.is_terminal():
            assert not any(state.rewards())
            state.apply_action(rng.choice(state.legal_actions()))
        assert sorted(places(state)) == list(range(players))
        assert list(state.rewards()) == pytest.approx([points[place] for place in places(state)])
        assert sum(state.rewards()) == pytest.approx(0)
        assert in_game(state) == [int(place == 0) for place in places(state)], "the winner is not petrified"


def test_the_other_kinds_of_reward():
    board = [". 1 W", "1 W .", ". . ."]
    for reward, expected in (("margin", [0, -1.5, 1.5]), ("win", [0, 0, 1])):
        state = play(start(board, [(1, 0), (0, 1), (2, 2)], reward=reward), (0, 0), (1, 2))
        assert list(state.rewards()) == expected


def test_everything_is_visible_to_everybody():
    state = catbox_env.make_game("petrify_v0", num_players=3, size=5, teleports=2).new_initial_state(seed=0)
    play(state, min(legal(state)))
    own = view(state, 0)
    for seat in (1, 2):
        parts = view(state, seat)
        for name in ("symbols", "colors", "kinds", "open", "teleporting"):
            assert np.array_equal(parts[name], own[name])
        for name in ("positions", "to_move", "in_game"):
            assert np.array_equal(parts[name], np.roll(own[name], -seat, axis=0))
        assert parts["seat"].tolist() == [int(place == seat) for place in range(3)]


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
