"""The rules page of Petrify, sentence by sentence: moves, petrified players, the end."""

import pytest

from tests.petrify.positions import in_game, is_open, legal, place_of, places, play, start, tile_at, view

pytestmark = pytest.mark.nojit

PLAIN = [". . . .", ". . . .", ". . . .", ". . . ."]
DEAD_END = ["3 . . W", "W W . .", ". . . .", ". . . ."]
CORNERS = [(0, 0), (3, 3)]


def with_start(name, rows=PLAIN):
    """The board with this tile at (0, 0)."""
    first, *others = rows
    return [" ".join([name, *first.split()[1:]]), *others]


def near(*distances):
    """The cells of a board of 4 x 4 at these distances from (0, 0)."""
    return {(row, column) for row in range(4) for column in range(4) if row + column in distances}


# ---------------------------------------------------------------- where a player may go

#: A board, the pawns, where the player to move may go, and why.
ENDS = [
    (with_start("1"), CORNERS, near(1), "the symbol is the number of steps"),
    (with_start("2"), CORNERS, near(2), "the symbol is the number of steps"),
    (with_start("3"), CORNERS, near(1, 3), "(0, 1) is three steps away too, around the square"),
    (with_start("4"), CORNERS, near(2, 4), "the symbol is the number of steps"),
    (["3 . . .", "W . . .", *PLAIN[2:]], CORNERS, {(0, 3), (1, 2), (2, 1)}, "no way around to (0, 1)"),
    (["1 . .", ". . .", ". . ."], [(0, 0), (2, 2)], {(0, 1), (1, 0)}, "orthogonally, on the board"),
    ([". . .", ". 1 .", ". . ."], [(1, 1), (2, 2)], {(0, 1), (1, 0), (1, 2), (2, 1)}, "orthogonally"),
    ([". . .", ". . 1", ". . ."], [(1, 2), (2, 0)], {(0, 2), (1, 1), (2, 2)}, "the edges are not joined"),
    (DEAD_END, [(0, 0), (3, 0)], {(1, 2)}, "not back to the first cell of a dead end"),
    (with_start("2", DEAD_END), [(0, 0), (3, 0)], {(0, 2)}, "nor back to the start"),
    # (0,0) (0,1) (1,1) (2,1) (2,2) or (3,1); (0,0) (1,0) (1,1) and on alike.
    (["4 . W .", ". . W .", "W . . .", ". . . ."], CORNERS, {(2, 2), (3, 1)}, "not around to the start"),
    (with_start("2"), [(0, 0), (0, 1)], {(1, 1), (2, 0)}, "neither onto the other player nor through it"),
    (with_start("1"), [(0, 0), (0, 1)], {(1, 0)}, "not onto the other player"),
    (["2 W . .", *PLAIN[1:]], CORNERS, {(1, 1), (2, 0)}, "not through a wall"),
    (["1 W . .", *PLAIN[1:]], CORNERS, {(1, 0)}, "not onto a wall"),
    ([". T0 .", "0 1 *", ". W ."], [(1, 1), (2, 2)], {(0, 1), (1, 0), (1, 2)}, "onto any tile but a wall"),
]


@pytest.mark.parametrize(("board", "pawns", "ends", "why"), ENDS)
def test_where_a_player_may_go(board, pawns, ends, why):
    assert legal(start(board, pawns)) == ends, why


@pytest.mark.parametrize(("symbol", "steps"), [("1", 1), ("2", 2), ("3", 3), ("4", 4), ("*", 4)])
def test_up_to_x_steps(symbol, steps):
    state = start(with_start(symbol), CORNERS, move_rule="up_to")
    assert legal(state) == near(*range(1, steps + 1))


def test_a_wildcard_allows_one_to_four_steps_where_numbers_are_exact():
    assert legal(start(with_start("*"), CORNERS)) == near(1, 2, 3, 4)


@pytest.mark.parametrize("special", ["T0", "0", "*"])
def test_open_special_tiles_may_be_passed_over(special):
    state = start([f"2 {special} .", "W . .", "W . ."], [(0, 0), (2, 2)])
    assert legal(state) == {(0, 2), (1, 1)}
    play(state, (0, 2))
    assert place_of(state, 0) == (0, 2)
    assert tile_at(state, (0, 1)) == special, "passing has no effect"
    assert is_open(state, (0, 1))


# ---------------------------------------------------------------- the start cell closes


def test_the_cell_where_the_turn_began_is_closed_for_good():
    state = play(start(with_start("1"), [(0, 0), (3, 3)]), (0, 1))
    assert not is_open(state, (0, 0))
    assert is_open(state, (0, 1))
    assert view(state)["open"].sum() == 15
    assert place_of(state, 0) == (0, 1)
    play(state, (3, 2))
    assert legal(state) == {(0, 2), (1, 1)}, "no way back"


def test_a_closed_cell_is_closed_for_everybody():
    state = play(start(["1 2 .", ". W .", ". . ."], [(0, 0), (2, 2)]), (0, 1), (2, 1))
    assert legal(state) == {(1, 2)}, "not to (1, 0) over the closed (0, 0)"
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
