"""A position of Petrify as a picture: the board with its pawns, the players, and what the tiles mean."""

from __future__ import annotations

from catbox_env.core.picture import (
    GAP,
    PADDING,
    PANEL,
    TITLE,
    Sheet,
    Theme,
    actions_shown,
    centred,
    choice,
    figure,
    forbidden,
    heading,
    last_action,
    letters,
    seat_row,
    text,
    token,
)
from catbox_env.core.state import GameState
from catbox_env.games.petrify.play.state import NONE
from catbox_env.games.petrify.rules import COLUMN_LETTERS, Rules
from catbox_env.games.petrify.show.tiles import SMALL, draw_tile
from catbox_env.games.petrify.show.view import WALL_NAME, View, color_of_tile, colors_matter, steps_of

#: The corner of the first cell of the board, and the width of a row.
LEFT, TOP, ROOM = 26, 26, 310
#: Heights of a row of the players, and of a row of the legend.
ROW, LEGEND_ROW = 46, 38


def draw(rules: Rules, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture as ``seat`` sees it, or for None as all seats together see it."""
    view, last = View.of(rules, state.record), last_action(state, seat)
    _put_board(view, actions_shown(state, seat), sheet, asks=seat is not None and view.mover >= 0)
    _put_players(view, seat, sheet)
    _put_legend(rules, sheet)
    note = f"{rules.num_players} players · turn {view.turn}"
    told = "" if last is None else f"player_{last[0]} moved to {rules.cell_name(last[1])}."
    return sheet.svg("Petrify", note, _line(view), told, view.mover)


def _line(view: View) -> str:
    """Who is to move, and what to do."""
    if view.mover < 0:
        return f"player_{view.places.index(0)} wins"
    tile = view.tile_under(view.mover)
    if view.teleporting:
        color = color_of_tile(tile)
        return f"player_{view.mover} comes out on {f'colour {color}' if color else 'any colour'}"
    return f"player_{view.mover} walks {steps_of(view.rules, tile)}"


def _put_board(view: View, legal: list[int], sheet: Sheet, asks: bool) -> None:
    """The cells, the pawns on them, and a frame around those where the seat to move may go.

    ``asks``: whether a page may ask why the other cells are illegal.
    """
    theme, size = sheet.theme, view.rules.size
    pitch = 2 * ROOM // size / 2  # in halves of a unit
    middles = [(k + 0.5) * pitch - 2 for k in range(size)]
    heads = letters([LEFT + x for x in middles], 14, COLUMN_LETTERS[:size], 14, theme.soft)
    heads += "".join(centred(13, TOP + y, row + 1, 14, theme.soft) for row, y in enumerate(middles))
    walks = {} if view.mover < 0 or view.teleporting else view.walks()
    cells, choices = "", ""  # the walk of a choice lies on the cells that it crosses
    for cell in range(size * size):
        row, column = divmod(cell, size)
        x, y = LEFT + column * pitch, TOP + row * pitch
        cells += _cell(view, theme, x, y, pitch - 4, cell)
        if cell in legal:
            name = f"move to {view.rules.cell_name(cell)}"
            choices += choice(theme, cell, name, x, y, pitch - 4, pitch - 4, radius=5)
            if cell in walks:
                way = [(LEFT + middles[c % size], TOP + middles[c // size]) for c in walks[cell]]
                choices += _walk(theme, way)
        elif asks:
            cells += forbidden(cell, x, y, pitch - 4, pitch - 4)
    drawn = f'<g aria-hidden="true">{heads}</g>{cells}{choices}'
    sheet.panel(0, TOP + ROOM + GAP, drawn, "board")


def _walk(theme: Theme, points: list[tuple[float, float]]) -> str:
    """The way of a walk, after its choice, and hidden until a page shows it."""
    way = " ".join(f"{x:g},{y:g}" for x, y in points)
    return (
        f'<polyline data-walk="" points="{way}" fill="none" stroke="{theme.ink}" stroke-width="4" stroke-opacity="0.5" '
        'stroke-dasharray="1 8" stroke-linecap="round" visibility="hidden" pointer-events="none"/>'
    )


def _cell(view: View, theme: Theme, x: float, y: float, side: float, cell: int) -> str:
    tile, pawn = view.tile_left(cell), view.pawns.get(cell)
    drawn = draw_tile(
        theme, x, y, side, tile, holds_pawn=pawn is not None, numbers_color=colors_matter(view.rules)
    )
    label = f"{view.rules.cell_name(cell)} {tile or 'closed'}"
    if pawn is not None:
        middle = x + (0.5 if side >= SMALL else 0.42) * side
        faded, ringed = view.places[pawn] > 0, pawn == view.mover
        drawn += token(theme, pawn, middle, y + 0.6 * side, min(22, 0.3 * side), faded=faded, ringed=ringed)
        label += f", player_{pawn}"
    return figure(drawn, label)


def _put_players(view: View, viewer: int | None, sheet: Sheet) -> None:
    """The position and status of each seat."""
    theme = sheet.theme
    drawn = heading(theme, "Players")
    for seat, (cell, place) in enumerate(zip(view.positions, view.places, strict=True)):
        top, out = TITLE + seat * ROW, place > 0
        row, who = seat_row(theme, seat, top, ROW, [], viewer=viewer, mover=view.mover, faded=out)
        if place == NONE:
            how = f"on {view.rules.cell_name(cell)}: {steps_of(view.rules, view.tiles[cell])}"
        else:
            how = f"petrified, place {place + 1}" if out else "wins"
        fill = theme.soft if out else ""
        row += text(PANEL - PADDING - 6, top + ROW / 2, how, 14, fill, anchor="end", bold=place == 0)
        drawn += figure(row, f"{who}: {how}")
    sheet.panel(1, TITLE + view.rules.num_players * ROW + 6, drawn, "players")


def _put_legend(rules: Rules, sheet: Sheet) -> None:
    """The meaning of the tiles under these rules."""
    rows = [("3.2", f"from here you walk {steps_of(rules, '3.2')}"), ("", "closed: nobody can go here")]
    rows += [("*", f"from here you walk {steps_of(rules, '*')}")] * bool(rules.wildcards)
    rows += [("T0", "jumps to any free tile")] * bool(rules.teleports)
    rows += [("T1", "jumps to a free tile of its colour")] * (rules.teleports > 1)
    rows += [("0", "all pawns change places")] * bool(rules.zeros)
    rows += [(WALL_NAME, "a wall: nobody can go here")] * bool(rules.walls)
    numbers_color = colors_matter(rules)
    drawn = heading(
        sheet.theme, "Tiles", "big: steps · small: colour" if numbers_color else "colours do not matter"
    )
    for k, (tile, words) in enumerate(rows):
        y = TITLE + k * LEGEND_ROW
        drawn += draw_tile(sheet.theme, PADDING, y, 32, tile, numbers_color=numbers_color)
        drawn += text(56, y + 16, words, fill=sheet.theme.soft)
    sheet.panel(1, TITLE + len(rows) * LEGEND_ROW + 6, drawn)
