"""What a picture of Petrify shows. Nothing is hidden, but the legal actions are shown to the mover alone."""

from __future__ import annotations

from dataclasses import dataclass

from catbox_env.core.picture import actions_shown, last_action
from catbox_env.core.state import GameState
from catbox_env.games.petrify.rules import NUM_SYMBOLS, Rules
from catbox_env.games.petrify.state import TILE_NAMES
from catbox_env.games.petrify.text import cell_name

#: A wall and a wildcard, by name.
WALL_NAME, WILDCARD_NAME = "W", "*"


@dataclass(frozen=True)
class View:
    """A position.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        legal: its legal actions; none where another seat looks.
        tiles: the tiles by name; is_open: whether each cell is open.
        positions, places: cell and finishing place of each seat (NONE: not decided).
        teleporting: whether the mover is to come out of a teleport.
        turn: the turn under way, from 1.
        last: the last action, in words.
    """

    rules: Rules
    seat: int | None
    mover: int
    legal: list[int]
    tiles: list[str]
    is_open: list[bool]
    positions: list[int]
    places: list[int]
    teleporting: bool
    turn: int
    last: str

    @classmethod
    def of(cls, rules: Rules, state: GameState, seat: int | None) -> View:
        """What ``seat`` sees of ``state``."""
        record, cells, mover = state.record, rules.num_cells, state.current_player
        opened = int(record.open)
        tiles = [TILE_NAMES[tile] for tile in record.tile[:cells].tolist()]
        is_open = [bool(opened >> cell & 1) for cell in range(cells)]
        # Each turn closes the cell that it begins on.
        closed = sum(tile != WALL_NAME and not free for tile, free in zip(tiles, is_open, strict=True))
        last = last_action(state, seat)
        return cls(
            rules=rules,
            seat=seat,
            mover=mover,
            legal=actions_shown(state, seat),
            tiles=tiles,
            is_open=is_open,
            positions=record.position[: rules.num_players].tolist(),
            places=record.place[: rules.num_players].tolist(),
            teleporting=bool(record.teleporting),
            turn=closed + (0 if record.terminated or record.teleporting else 1),
            last="" if last is None else f"player_{last[0]} moved to {cell_name(rules, last[1])}.",
        )


def steps_of(rules: Rules, tile: str) -> str:
    """How far a tile lets its player walk: ``"3 steps"``, ``"1\u20134 steps"``, ``"no steps"``."""
    if tile == WILDCARD_NAME:
        return f"1\u2013{NUM_SYMBOLS} steps"
    symbol = tile[0] if "." in tile else "no"  # of a number card, such as "3.2"
    if symbol == "1":
        return "1 step"
    return f"1\u2013{symbol} steps" if rules.move_rule == "up_to" and symbol != "no" else f"{symbol} steps"
