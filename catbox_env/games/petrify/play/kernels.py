"""The rules of Petrify as kernels: setup, legal end cells, moves, landing effects, petrification.

An action is a cell, ``row * size + column``: where the walk ends, or where the player comes out of a teleport.
"""

from __future__ import annotations

from catbox_env.core.bits import popcount
from catbox_env.core.compilation import njit
from catbox_env.core.rng import random_below
from catbox_env.games.petrify.play.board import (
    EMPTY,
    all_can_move,
    end_cells,
    holds,
    kind_of,
    legal_cells,
    next_in_game,
    set_of,
    teleport_cells,
)
from catbox_env.games.petrify.play.state import INFO_PLACE, NONE, NUMBER, TELEPORT, WALL, WILDCARD, ZERO_TILE
from catbox_env.games.petrify.rules import NUM_NUMBER_COLORS, NUM_SYMBOLS


@njit
def deal(params, generator, state):
    """Begin a new game: draw boards and positions until every player could move if it were first."""
    while True:
        lay_tiles(params, generator, state)
        place_pawns(params, generator, state)
        begin_play(params, state)
        if all_can_move(params, state):
            return


@njit
def lay_tiles(params, generator, state):
    """Shuffle the deck of number cards, some of them replaced by the special tiles, over the board."""
    cells = params.num_cells
    for i in range(cells):
        symbol, color = i % NUM_SYMBOLS, (i // NUM_SYMBOLS) % NUM_NUMBER_COLORS
        state.tile[i] = symbol * NUM_NUMBER_COLORS + color
    for i in range(params.num_specials):
        # The cards before i have been replaced: swap one of the others into place i, and replace it.
        swap_tiles(state, i, i + random_below(generator, cells - i))
        state.tile[i] = params.specials[i]
    for i in range(cells - 1):
        swap_tiles(state, i, i + random_below(generator, cells - i))


@njit
def swap_tiles(state, one, other):
    """Swap the tiles of two cells."""
    tile = int(state.tile[one])
    state.tile[one] = state.tile[other]
    state.tile[other] = tile


@njit
def place_pawns(params, generator, state):
    """Put every player on a random number or wildcard tile of its own."""
    taken = EMPTY
    for seat in range(params.num_players):
        while True:
            cell = random_below(generator, params.num_cells)
            kind = kind_of(int(state.tile[cell]))
            if kind in (NUMBER, WILDCARD) and not holds(taken, cell):
                break
        taken |= set_of(cell)
        state.position[seat] = cell


@njit
def begin_play(params, state):
    """Begin with these tiles and positions: open every cell except walls; nobody is petrified, seat 0 is to move."""
    state.open = EMPTY
    for cell in range(params.num_cells):
        if kind_of(int(state.tile[cell])) != WALL:
            state.open |= set_of(cell)
    for seat in range(params.num_players):
        state.place[seat] = NONE
    state.teleporting = 0
    state.current_player = 0


@njit
def write_mask(params, state, mask):
    """Write the legal actions of the seat to move into ``mask`` (A,)."""
    legal = legal_cells(params, state)
    for cell in range(len(mask)):
        mask[cell] = holds(legal, cell)


@njit
def public_action(params, state, action):
    """Everybody sees everything."""
    return action


@njit
def apply(params, generator, state, action):
    """Take a legal action of the seat to move."""
    seat = int(state.current_player)
    start = int(state.position[seat])
    state.position[seat] = action
    if state.teleporting:
        state.teleporting = 0
    else:
        state.open &= ~set_of(start)
        landed_on_teleport = kind_of(int(state.tile[action])) == TELEPORT
        if landed_on_teleport and teleport_cells(params, state, seat) != EMPTY:
            state.teleporting = 1
            return
    if state.tile[action] == ZERO_TILE:
        rotate(params, state, seat)
    pass_turn(params, state)


@njit
def rotate(params, state, seat):
    """``seat`` has landed on a zero: every player moves to the cell of the next one still in the game.

    The one before ``seat`` moves to the zero tile, which becomes a copy of the tile that player stood on.
    """
    zero = int(state.position[seat])
    current = seat
    while True:
        following = next_in_game(params, state, current)
        if following == seat:
            break
        state.position[current] = state.position[following]
        current = following
    state.tile[zero] = state.tile[state.position[current]]
    state.position[current] = zero


@njit
def pass_turn(params, state):
    """Give the turn to the next player that can move; those before it are petrified. The last one left wins."""
    num_in = 0
    for seat in range(params.num_players):
        num_in += state.place[seat] == NONE
    seat = next_in_game(params, state, int(state.current_player))
    while num_in > 1:
        if end_cells(params, state, seat) != EMPTY:
            state.current_player = seat
            return
        num_in -= 1
        state.place[seat] = num_in
        seat = next_in_game(params, state, seat)
    state.place[seat] = 0
    end_game(params, state)


@njit
def end_game(params, state):
    """Pay all places, which are decided: 1 for the first, -1 for the last, evenly spaced between."""
    players = params.num_players
    for seat in range(players):
        place = int(state.place[seat])
        state.rewards[seat] = 1.0 - 2.0 * place / (players - 1)
        state.win_shares[seat] = 1.0 if place == 0 else 0.0
        state.info[INFO_PLACE, seat] = place
    state.round_ended = 1
    state.terminated = 1
    state.current_player = NONE


@njit
def check_state(params, state):
    """Whether a state within its bounds can be played to its end; see ``core.kernels.Kernels``.

    Each pawn stands on an open cell of its own, seats that are out have the last places, the seat to move is in the
    game with another one and can move, and the remaining turns, each of which closes a cell, cannot exceed
    ``max_moves``. The game has one round.
    """
    pawns, places, num_in = EMPTY, EMPTY, 0
    for seat in range(params.num_players):
        pawns |= set_of(state.position[seat])
        if state.place[seat] == NONE:
            num_in += 1
        else:
            places |= set_of(state.place[seat])
    last_places = set_of(params.num_players) - set_of(num_in)
    if popcount(pawns & state.open) != params.num_players or places != last_places:
        return False
    if state.rounds_ended != state.terminated:
        return False
    if state.terminated:
        return num_in == 0
    mover = int(state.current_player)
    if num_in < 2 or state.place[mover] != NONE or legal_cells(params, state) == EMPTY:
        return False
    actions = 1  # per turn, at most
    for cell in range(params.num_cells):
        if kind_of(int(state.tile[cell])) == TELEPORT:
            actions = 2
    turns = popcount(state.open) - params.num_players
    return state.num_moves + actions * turns + state.teleporting <= params.max_moves
