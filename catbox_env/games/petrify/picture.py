"""A position of Petrify as a picture: the board with its pawns, the players, and what the tiles mean."""

from __future__ import annotations

from catbox_env.core.picture import (
    GAP,
    PADDING,
    PANEL,
    TITLE,
    Sheet,
    Theme,
    centred,
    choice,
    figure,
    heading,
    letters,
    seat_row,
    text,
    token,
)
from catbox_env.core.state import GameState
from catbox_env.games.petrify.picture_tiles import SMALL, draw_tile
from catbox_env.games.petrify.picture_view import WALL_NAME, View, steps_of
from catbox_env.games.petrify.rules import Rules
from catbox_env.games.petrify.state import NONE
from catbox_env.games.petrify.text import COLUMN_LETTERS, cell_name

#: Where the cells of the board begin, and the room for a row of them.
LEFT, TOP, ROOM = 26, 26, 310
#: Heights of a row of the players, and of a tile that is explained.
ROW, LEGEND_ROW = 46, 38


def draw(rules: Rules, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture as ``seat`` sees it, as everybody together for None."""
    view = View.of(rules, state, seat)
    _put_board(view, sheet)
    _put_players(view, sheet)
    _put_legend(rules, sheet)
    note = f"{rules.num_players} players · turn {view.turn}"
    return sheet.svg("Petrify", note, _line(view), view.last, view.mover)


def _line(view: View) -> str:
    """Who is to move, and what it has to do."""
    if view.mover < 0:
        return f"player_{view.places.index(0)} wins"
    tile = view.tiles[view.positions[view.mover]]
    if view.teleporting:
        where = "any colour" if tile == "T0" else f"colour {tile[1]}"
        return f"player_{view.mover} comes out on {where}"
    return f"player_{view.mover} walks {steps_of(view.rules, tile)}"


def _put_board(view: View, sheet: Sheet) -> None:
    """The cells, the pawns on them, and a frame around those where the seat to move may go."""
    theme, size = sheet.theme, view.rules.size
    pitch = 2 * ROOM // size / 2  # in halves of a unit
    middles = [(k + 0.5) * pitch - 2 for k in range(size)]
    heads = letters([LEFT + x for x in middles], 14, COLUMN_LETTERS[:size], 14, theme.soft)
    heads += "".join(centred(13, TOP + y, row + 1, 14, theme.soft) for row, y in enumerate(middles))
    pawns = {cell: seat for seat, cell in enumerate(view.positions)}
    cells = []
    for cell in range(size * size):
        row, column = divmod(cell, size)
        x, y = LEFT + column * pitch, TOP + row * pitch
        cells.append(_cell(view, theme, x, y, pitch - 4, cell, pawns.get(cell, NONE)))
    drawn = f'<g aria-hidden="true">{heads}</g>{"".join(cells)}'
    sheet.panel(0, TOP + ROOM + GAP, drawn, "board")


def _cell(view: View, theme: Theme, x: float, y: float, side: float, cell: int, pawn: int) -> str:
    tile, name = view.tiles[cell], cell_name(view.rules, cell)
    if not view.is_open[cell] and tile != WALL_NAME:
        tile = ""
    drawn = draw_tile(theme, x, y, side, tile, holds_pawn=pawn != NONE)
    if pawn != NONE:
        middle = x + (0.5 if side >= SMALL else 0.42) * side
        faded, ringed = view.places[pawn] > 0, pawn == view.mover
        drawn += token(theme, pawn, middle, y + 0.6 * side, min(22, 0.3 * side), faded=faded, ringed=ringed)
    drawn = figure(drawn, f"{name} {tile or 'closed'}{f', player_{pawn}' if pawn != NONE else ''}")
    if cell in view.legal:
        drawn += choice(theme, cell, f"move to {name}", x, y, side, side, radius=5)
    return drawn


def _put_players(view: View, sheet: Sheet) -> None:
    """Where each seat stands, and how it fares."""
    theme = sheet.theme
    drawn = heading(theme, "Players")
    for seat, (cell, place) in enumerate(zip(view.positions, view.places, strict=True)):
        top, out = TITLE + seat * ROW, place > 0
        row, who = seat_row(theme, seat, top, ROW, [], viewer=view.seat, mover=view.mover, faded=out)
        if place == NONE:
            how = f"on {cell_name(view.rules, cell)}: {steps_of(view.rules, view.tiles[cell])}"
        else:
            how = f"petrified, place {place + 1}" if out else "wins"
        fill = theme.soft if out else ""
        row += text(PANEL - PADDING - 6, top + ROW / 2, how, 14, fill, anchor="end", bold=place == 0)
        drawn += figure(row, f"{who}: {how}")
    sheet.panel(1, TITLE + view.rules.num_players * ROW + 6, drawn, "players")


def _put_legend(rules: Rules, sheet: Sheet) -> None:
    """What the tiles mean that these rules have."""
    rows = [("3.2", f"gives {steps_of(rules, '3.2')}; its colour is 2"), ("", "closed for good")]
    rows += [("*", f"gives {steps_of(rules, '*')}")] * bool(rules.wildcards)
    rows += [("T0", "leads to a free tile of any colour")] * bool(rules.teleports)
    rows += [("T1", "leads to a free tile of its colour")] * (rules.teleports > 1)
    rows += [("0", "all players change places")] * bool(rules.zeros)
    rows += [(WALL_NAME, "a wall")] * bool(rules.walls)
    drawn = heading(sheet.theme, "Tiles")
    for k, (tile, words) in enumerate(rows):
        y = TITLE + k * LEGEND_ROW
        drawn += draw_tile(sheet.theme, PADDING, y, 32, tile) + text(56, y + 16, words, fill=sheet.theme.soft)
    sheet.panel(1, TITLE + len(rows) * LEGEND_ROW + 6, drawn)
