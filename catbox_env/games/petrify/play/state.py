"""The state of a game of Petrify: one record, with the sizes of the largest rule set.

Cells are numbered ``row * size + column``. A set of cells is one unsigned 64-bit integer, one bit per cell. A tile is
one number, so that placing, swapping and copying tiles are single assignments:

    0 .. 15     number card, symbol ``tile // 4 + 1``, colour ``tile % 4 + 1``
    16 .. 20    teleport of colour ``tile - 16``
    21, 22, 23  wall, wildcard, zero
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.kernels import CORE_PARAMS, REWARDS, core_state_fields, record_dtype
from catbox_env.games.petrify.observe.layout import PARTS, observation_layout
from catbox_env.games.petrify.rules import (
    KINDS,
    MAX_PLAYERS,
    MAX_SIZE,
    NUM_COLORS,
    NUM_NUMBER_COLORS,
    NUM_SYMBOLS,
    NUMBER_TILES,
    TELEPORT_TILES,
    Rules,
    special_tiles,
)

MAX_CELLS = MAX_SIZE * MAX_SIZE
#: No seat to move, no finishing place yet.
NONE = -1
#: Kinds of tiles, in the order of ``rules.KINDS``.
NUMBER, WALL, WILDCARD, ZERO, TELEPORT = range(len(KINDS))
#: First tile of each group of the table above.
FIRST_TELEPORT = NUM_SYMBOLS * NUM_NUMBER_COLORS
WALL_TILE = FIRST_TELEPORT + NUM_COLORS
WILDCARD_TILE = WALL_TILE + 1
ZERO_TILE = WILDCARD_TILE + 1

#: Tile -> its name in a ``Deal``.
TILE_NAMES = (*NUMBER_TILES, *TELEPORT_TILES, "W", "*", "0")

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

#: The offset of each part of the observation.
OFFSETS = record_dtype([(name, np.int64) for name in PARTS])

PARAMS = record_dtype(
    [
        *CORE_PARAMS,
        ("width", np.int64),  # rows and columns
        ("num_cells", np.int64),
        ("up_to", np.int64),  # 1: a number allows fewer steps as well
        ("max_moves", np.int64),  # most actions in a game
        ("num_specials", np.int64),
        ("specials", np.int8, (MAX_CELLS,)),  # the special tiles, in any order
        ("not_first_column", np.uint64),  # set of the cells that a step to the right can end on
        ("not_last_column", np.uint64),  # set of the cells that a step to the left can end on
        ("at", OFFSETS),
    ]
)


def make_params(rules: Rules, reward: str) -> np.ndarray:
    """``rules`` as an array (1,) of PARAMS for the kernels."""
    params = np.zeros(1, PARAMS)
    record = params[0]
    record.num_players = rules.num_players
    record.num_actions = rules.num_cells
    record.reward_mode = REWARDS.index(reward)
    record.width = rules.size
    record.num_cells = rules.num_cells
    record.up_to = rules.move_rule == "up_to"
    record.max_moves = rules.max_moves
    record.num_specials = rules.num_specials
    record.specials[: rules.num_specials] = [TILE_NAMES.index(name) for name in special_tiles(rules)]
    columns = [cell % rules.size for cell in range(rules.num_cells)]
    record.not_first_column = sum(1 << cell for cell, column in enumerate(columns) if column > 0)
    record.not_last_column = sum(1 << cell for cell, column in enumerate(columns) if column < rules.size - 1)
    record.at = observation_layout(rules).offsets(PARTS)
    return params


def state_bounds(rules: Rules) -> dict[str, tuple[int, int]]:
    """The lowest and highest value of each field of a state under ``rules``; see ``core.game.Game``."""
    last_seat, last_cell = rules.num_players - 1, rules.num_cells - 1
    return {
        "info": (0, last_seat),
        "teleporting": (0, 1),
        "position": (0, last_cell),
        "place": (NONE, last_seat),
        "tile": (0, ZERO_TILE),
        "open": (0, 2**rules.num_cells - 1),
    }
