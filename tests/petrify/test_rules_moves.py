"""The rules page of Petrify, sentence by sentence: moves, petrified players, the end."""

import pytest

from tests.petrify.positions import in_game, is_open, legal, place_of, places, play, start, tile_at, view

pytestmark = pytest.mark.nojit

PLAIN = [". . . .", ". . . .", ". . . .", ". . . ."]


def with_start(name, rows=PLAIN):
    """The board with this tile at (0, 0)."""
    first, *others = rows
    return [" ".join([name, *first.split()[1:]]), *others]


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


def test_a_petrified_pawn_stays_as_an_obstacle_and_play_passes_on():
    """Seat 1 is shut in at (0, 1) by seat 0 in (0, 0) and a wall; its pawn blocks the top row."""
    board = [". 1 W", "1 W .", ". . ."]
    state = start(board, [(1, 0), (0, 1), (2, 2)])
    assert legal(state) == {(0, 0), (2, 0)}
    play(state, (0, 0))
    assert state.current_player == 2, "seat 1 has no action"
    assert in_game(state) == [1, 0, 1]
    assert place_of(state, 1) == (0, 1)
    assert is_open(state, (0, 1)), "a pawn stands there, but the cell was not closed"
    assert not state.round_ended
    assert not any(state.rewards()), "paid at the end"
    assert view(state)["place"].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    play(state, (1, 2))
    assert state.is_terminal(), "seat 0 is shut in by the pawn and the closed cell below"
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


def test_the_other_kinds_of_reward():
    board = [". 1 W", "1 W .", ". . ."]
    for reward, expected in (("margin", [0, -1.5, 1.5]), ("win", [0, 0, 1])):
        state = play(start(board, [(1, 0), (0, 1), (2, 2)], reward=reward), (0, 0), (1, 2))
        assert list(state.rewards()) == expected
