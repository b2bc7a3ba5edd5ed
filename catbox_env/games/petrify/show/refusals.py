"""Why an action of Petrify is illegal, in words."""

from __future__ import annotations

from catbox_env.games.petrify.show.text import energy
from catbox_env.games.petrify.show.view import WALL_NAME, View, color_of_tile


def why_illegal(view: View, action: int) -> str:
    """The rule that forbids an illegal ``action``."""
    where, tile, own = view.rules.cell_name(action), view.tiles[action], view.tile_under(view.mover)
    if action in view.pawns:
        return f"{where} holds the pawn of player_{view.pawns[action]}"
    if tile == WALL_NAME:
        return f"{where} is a wall"
    if not view.is_open[action]:
        return f"{where} is closed"
    if not view.teleporting:
        return f"no path of {energy(view.rules, own)} over free cells ends on {where}"
    if tile[0] == "T":
        return f"{where} is a teleport, and a teleport does not lead to another"
    return f"the teleport has colour {color_of_tile(own)} and {where} has colour {color_of_tile(tile)}"
