"""Whether a record is a state of Petrify that play, a given board or a draw can lead to, whatever bytes it holds."""

from __future__ import annotations

from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.games.petrify.board import (
    EMPTY,
    holds,
    kind_of,
    seat_in_place,
    set_of,
    turns_taken,
)
from catbox_env.games.petrify.reach import all_can_move, legal_cells
from catbox_env.games.petrify.state import (
    FIRST_TELEPORT,
    INFO_PLACE,
    NONE,
    TELEPORT,
    WALL_TILE,
    ZERO_TILE,
)


@njit
def check_state(params, state):
    """Whether the game can be played on from ``state``, or is over; see ``core.kernels.Kernels``."""
    if not is_sound_board(params, state) or not is_sound_history(params, state):
        return False
    if state.terminated:
        return state.teleporting == 0 and is_sound_end(params, state)
    return is_sound_position(params, state)


@njit
def is_sound_board(params, state):
    """Whether the tiles are those of the rules, walls are closed, and each pawn stands on an open cell of its own."""
    board = EMPTY
    for cell in range(params.num_cells):
        tile = int(state.tile[cell])
        if tile < 0 or tile > ZERO_TILE:
            return False
        if tile != WALL_TILE:
            board |= set_of(cell)
    if state.open & ~board != EMPTY or not are_tiles_of_rules(params, state, popcount(board & ~state.open)):
        return False
    taken = EMPTY
    for seat in range(params.num_players):
        cell = int(state.position[seat])
        if cell < 0 or cell >= params.num_cells or holds(taken, cell) or not holds(state.open, cell):
            return False
        if state.tile[cell] == ZERO_TILE or not 0 <= state.info[INFO_PLACE, seat] < params.num_players:
            return False
        taken |= set_of(cell)
    return state.teleporting >= 0 and state.teleporting <= 1


@njit
def are_tiles_of_rules(params, state, turns):
    """Whether the special tiles are those of the rules, but for zeros that became copies: one a turn at most."""
    zeros, copies = 0, 0
    for tile in range(FIRST_TELEPORT, ZERO_TILE + 1):
        more = 0
        for cell in range(params.num_cells):
            more += 1 if state.tile[cell] == tile else 0
        for i in range(params.num_specials):
            more -= 1 if params.specials[i] == tile else 0
        if tile == ZERO_TILE:
            zeros = -more
        elif more < 0 or (more > 0 and tile == WALL_TILE):
            return False
        else:
            copies += more
    return copies <= zeros and zeros <= turns


@njit
def is_sound_history(params, state):
    """Whether the game can have taken the moves that it counts; a state that was drawn begins to count at 0."""
    a_turn = 1
    for i in range(params.num_specials):
        a_turn = 2 if kind_of(int(params.specials[i])) == TELEPORT else a_turn
    if state.rounds_ended != state.terminated or state.round_ended != state.terminated:
        return False
    return state.num_moves <= a_turn * turns_taken(params, state) - state.teleporting


@njit
def is_sound_end(params, state):
    """Whether everybody has a place of its own, and the first has won."""
    places = EMPTY
    for seat in range(params.num_players):
        place = int(state.place[seat])
        if place < 0 or place >= params.num_players or holds(places, place):
            return False
        places |= set_of(place)
        if state.win_shares[seat] != (1.0 if place == 0 else 0.0):
            return False
    return state.num_moves > 0


@njit
def is_sound_position(params, state):
    """Whether two players at least are in the game, it can be the turn of the seat to move, and that can move.

    The board is sound. Who can move where is the last question, because it looks at the fields of all seats.
    """
    mover = int(state.current_player)
    places, num_out = EMPTY, 0
    for seat in range(params.num_players):
        place = int(state.place[seat])
        if place < NONE or place >= params.num_players or state.win_shares[seat] != 0.0:
            return False
        if place != NONE:
            num_out += 1
            places |= set_of(place)
    # The last places are taken first, one for each of those out.
    for i in range(num_out):
        if not holds(places, params.num_players - 1 - i):
            return False
    if num_out + 2 > params.num_players or state.place[mover] != NONE:
        return False
    turns = turns_taken(params, state)
    if state.teleporting:
        turns -= 1
        if turns < 0 or kind_of(int(state.tile[state.position[mover]])) != TELEPORT:
            return False
    if not can_be_turn_of(params, state, mover, turns) or legal_cells(params, state) == EMPTY:
        return False
    return turns > 0 or state.teleporting != 0 or all_can_move(params, state)


@njit
def can_be_turn_of(params, state, mover, turns):
    """Whether ``mover`` can be to move after so many turns.

    When it has taken n turns, so have the others that are in the game, and those before it one more. A seat that is
    out has taken n at most, or n - 1 where its turn comes after, and fewer than who went out later: as many at most
    where its turn came before. Seat 0 has taken the first turn of all.
    """
    players = params.num_players
    for n in range(turns + 1):
        fewest, most, num_out = 0, 0, 0
        for seat in range(players):
            if state.place[seat] == NONE:
                fewest += n + 1 if seat < mover else n
            else:
                num_out += 1
        most = fewest
        later, limit = players, n
        for place in range(players - num_out, players):
            seat = seat_in_place(params, state, place)
            limit = min(n if seat < mover else n - 1, limit if seat < later else limit - 1)
            most += limit
            later = seat
        earlier, low = NONE, 0
        for i in range(num_out):
            seat = seat_in_place(params, state, players - 1 - i)
            low = max(1 if seat == 0 else 0, low if seat > earlier else low + 1)
            fewest += low
            earlier = seat
        # ``limit`` is that of the first that went out, ``low`` that of the last.
        if limit >= 0 and fewest <= turns and turns <= most:
            return True
    return False
