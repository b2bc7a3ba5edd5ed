"""The state of a game of Petrify: one record, with the sizes of the largest rule set.

Cells are numbered ``row * size + column``. A set of cells is one unsigned 64-bit integer, one bit per cell. A tile is
one number, an index into ``rules.TILES``, so that placing, swapping and copying tiles are single assignments:

    0 .. 15     number card, symbol ``tile // 4 + 1``, colour ``tile % 4 + 1``
    16 .. 20    teleport of colour ``tile - 16``
    21, 22, 23  wall, wildcard, zero
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.kernels import core_state_fields, record_dtype
from catbox_env.games.petrify.rules import (
    KINDS,
    MAX_PLAYERS,
    MAX_SIZE,
    NUMBER_TILES,
    TILES,
    WALL_NAME,
    WILDCARD_NAME,
    ZERO_NAME,
)

MAX_CELLS = MAX_SIZE * MAX_SIZE
#: No seat to move, no finishing place yet.
NONE = -1
#: Kinds of tiles, in the order of ``rules.KINDS``.
NUMBER, WALL, WILDCARD, ZERO, TELEPORT = range(len(KINDS))
#: First tile of each group of the table above.
FIRST_TELEPORT = len(NUMBER_TILES)
WALL_TILE, WILDCARD_TILE, ZERO_TILE = map(TILES.index, (WALL_NAME, WILDCARD_NAME, ZERO_NAME))

#: Rows of ``state.info``: statistics of the finished game.
INFO = ("place",)
INFO_PLACE = 0

STATE = record_dtype(
    [
        *core_state_fields(MAX_PLAYERS, len(INFO)),
        # 1: the seat to move has landed on a teleport and chooses where it comes out
        ("teleporting", np.int8),
        ("position", np.int8, (MAX_PLAYERS,)),  # cell of each seat's pawn, petrified or not
        ("place", np.int8, (MAX_PLAYERS,)),  # finishing place of each seat, 0 the winner's; NONE: not decided
        ("tile", np.int8, (MAX_CELLS,)),  # tile of each cell, closed ones included
        ("open", np.uint64),  # set of cells that are not closed; walls are never open
    ]
)
