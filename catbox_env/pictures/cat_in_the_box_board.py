"""The research board in a picture of Cat in the Box, and below it a hand.

A card of the hand is below the column of its rank, and is declared by choosing a framed cell above it. A cell that
costs the X-token of the led colour shows that token.
"""

from __future__ import annotations

from catbox_env.core.checks import PUBLIC
from catbox_env.games.cat_in_the_box.rules import COLORS
from catbox_env.games.cat_in_the_box.show import Cell, View, largest_group
from catbox_env.games.cat_in_the_box.state import DISCARD, NEUTRAL, NONE, PLAY, RED
from catbox_env.pictures import svg
from catbox_env.pictures.sheet import LETTERS, PADDING, PANEL, Sheet
from catbox_env.pictures.svg import number

#: The top of the first cell; its left edge, the width of all columns, the height of a cell, the gap between cells, in a
#: narrow picture too, where cells are tapped.
TOP = 34
WIDE, NARROW = (40, 296, 36, 4), (37, 305, 40, 3)
#: The widest column and the widest card.
WIDEST, WIDEST_CARD = 64, 44
#: From this width on, a cell has room for an X-token beside its number.
WIDE_CELL = 38
#: Height of a card of the hand, in a large picture too; of the room above it, in a narrow picture too, and of the line
#: below.
CARD, LARGE_CARD, ABOVE, NARROW_ABOVE, FOOT = 46, 66, 30, 20, 46


def hand_in_words(view: View, seat: int) -> str:
    """The ranks of a visible hand, such as ``"1 1 4"``."""
    return " ".join(str(rank + 1) for rank in view.cards(seat)) or "no card"


class Board:
    """Draws the board and the hand of one view on a sheet; ``last`` is the card just played."""

    def __init__(self, view: View, sheet: Sheet, last: tuple[int, int, int] | None) -> None:
        self.view, self.sheet, self.last = view, sheet, last
        self.rules, self.theme, self.legal = view.rules, sheet.theme, sheet.legal
        self.left, room, self.cell, self.space = WIDE if sheet.is_wide else NARROW
        self.pitch = min(WIDEST, 2 * room // self.rules.num_ranks / 2)  # in halves of a unit
        self.width = self.pitch - self.space
        self.card = LARGE_CARD if sheet.is_large else CARD
        self.above = ABOVE if sheet.is_wide else NARROW_ABOVE
        #: Whether all hands are below the board, in the place of one.
        self.has_hands = sheet.is_of_page and self.view.seat is None
        #: The middle of each column.
        self.columns = [
            self.left + rank * self.pitch + self.width / 2 for rank in range(self.rules.num_ranks)
        ]

    def put(self) -> None:
        """Put the panel on the sheet."""
        below = TOP + self.rules.num_colors * (self.cell + self.space)
        ranks = "".join(str(rank + 1) for rank in range(self.rules.num_ranks))
        heads = svg.letters(self.columns, 19, ranks, 14, self.theme.soft)
        drawn = f'<g aria-hidden="true">{heads}{self._outlines()}</g>'
        drawn += "".join(self._row(color) for color in range(self.rules.num_colors))
        below_board = self.view.mover if self.view.seat is None else self.view.seat
        foot = below + self.above + self.card
        if self.has_hands:
            foot = below - FOOT
        elif below_board >= 0:
            drawn += self._hand(below_board, below) + self._foot(below_board, foot)
        elif self.view.mover >= 0:
            drawn += svg.text(PADDING, foot, "The hands are hidden.", fill=self.theme.soft)
        self.sheet.panel(0, foot + FOOT, drawn, "research board")

    def _outlines(self) -> str:
        """The largest group of the viewer, and at the end those of the winners; in the view of None, all of them."""
        seats = {*self.view.hands, *self.sheet.winners}
        groups = {seat: largest_group(self.sheet.state, seat) for seat in seats}
        return "".join(
            svg.path(self._ground(cells), self.theme.seats[seat])
            for seat, cells in groups.items()
            if len(cells) > 1
        )

    def _ground(self, cells: list[Cell]) -> str:
        """The background of a group: it shows around its cells and between them."""
        edge, held, parts = self.space / 2 + 0.5, set(cells), []
        width, height = self.width + 2 * edge, self.cell + 2 * edge
        for color, rank in cells:
            x, y = self.left + rank * self.pitch - edge, TOP + color * (self.cell + self.space) - edge
            parts.append(svg.round_box(x, y, width, height, 8))
            if (color, rank + 1) in held:
                parts.append(svg.round_box(x + width - 8, y, 16, height, 0))
            if (color + 1, rank) in held:
                parts.append(svg.round_box(x, y + height - 8, width, 16, 0))
        return "".join(parts)

    def _row(self, color: int) -> str:
        """The cells of a colour: free ones with their rank, owned ones with a token, legal ones with a frame."""
        view, theme, rules = self.view, self.theme, self.rules
        y = TOP + color * (self.cell + self.space)
        middle, first = y + self.cell / 2, rules.first_play + color * rules.num_ranks
        free, ground, tokens, owners, choices, others = [], "", "", [], "", ""
        for rank, owner in enumerate(view.board[color]):
            x, column, action = self.left + rank * self.pitch, self.columns[rank], first + rank
            ground += svg.round_box(x, y, self.width, self.cell, 6)
            if action in self.legal:
                tokens += svg.centred(column, middle - 2.5, rank + 1, 17, bold=True)
                note = ""
                if color in view.costly:
                    tokens += self._x_token(x + self.width, y)
                    note = f"gives up the {COLORS[view.led]} X-token"
                choices += self.sheet.choice(action, x, y, self.width, self.cell, note=note)
                continue
            others += (
                self.sheet.choice(action, x, y, self.width, self.cell) if self.sheet.explains_illegal else ""
            )
            if owner == NONE:
                free.append(rank)
            elif owner == NEUTRAL:
                tokens += svg.path(svg.cross(column - 6, middle - 6, 12), "none", line=theme.soft, weight=3)
                owners.append(f"{rank + 1} neutral")
            else:
                is_last = (owner, color, rank) == self.last
                token = self.sheet.token(owner, column, middle, min(14.5, self.width / 2.45), ringed=is_last)
                tokens += svg.with_key(f"cell-{color}-{rank}", token, came_from=self._origin(owner, rank))
                owners.append(f"{rank + 1} player_{owner}")
        drawn = self._chip(color, y) + svg.path(ground, theme.tints[color])
        ranks = "".join(str(rank + 1) for rank in free)
        drawn += svg.letters([self.columns[rank] for rank in free], middle, ranks, 14, theme.words[color])
        trump = "" if color != RED else ", trump, broken" if view.trump_broken else ", trump, not broken"
        label = f"{COLORS[color]}{trump}: {', '.join(owners) or 'nothing declared'}"
        return svg.group(f'<g aria-hidden="true">{drawn}{tokens}</g>{choices}{others}', label)

    def _origin(self, seat: int, rank: int) -> str:
        """The key of what a card of ``seat`` comes from: a card below the board, or else the seat."""
        return f"hand-{rank}" if seat == self.view.seat else f"seat-{seat}"

    def _x_token(self, right: float, top: float) -> str:
        """The X-token of the led colour, crossed out, in the corner of a cell; it is small where the cell is narrow."""
        led, on = self.theme.colors[self.view.led], self.theme.on_colors[self.view.led]
        size = 1.0 if self.width >= WIDE_CELL else 0.64
        x, y, arm = right - 8 * size, top + 8 * size, 3 * size
        token = svg.path(svg.disc(x, y, 6.5 * size), led, line=self.theme.panel)
        return token + svg.path(svg.cross(x - arm, y - arm, 2 * arm), "none", line=on, weight=1.8 * size)

    def _chip(self, color: int, y: float) -> str:
        """The name of a row, hollow without an X-token for it; the red one has a lock until trump is broken."""
        theme, seat, x, y = self.theme, self.view.seat, self.left - 32, y + self.cell / 2 - 14
        if seat in (None, PUBLIC) or color in self.view.x_tokens[seat]:
            chip = svg.box(x, y, 26, 28, theme.colors[color])
            chip += svg.centred(x + 13, y + 14, LETTERS[color], 16, theme.on_colors[color], bold=True)
        else:
            chip = svg.box(x + 1, y + 1, 24, 26, "none", line=theme.colors[color], weight=2)
            chip += svg.centred(x + 13, y + 14, LETTERS[color], 16, theme.soft)
        if color == RED and not self.view.trump_broken:
            chip += svg.path(svg.disc(x + 25.5, y + 1.5, 8.5), theme.panel)
            shackle = f"M{number(x + 22.5)} {number(y + 1)}v-2.5a3 3 0 0 1 6 0v2.5"
            chip += svg.path(shackle, "none", line=theme.ink, weight=1.8)
            chip += svg.box(x + 21, y + 0.5, 9, 6.5, theme.ink, radius=1.5)
            locked = "Red may not be led until somebody has played red, unless nothing else can be led."
            return svg.with_title(chip, locked)
        return chip

    def _hand(self, seat: int, top: float) -> str:
        """The cards of ``seat``; playable ones are raised."""
        rules, playable = self.rules, set(self.legal)
        if self.view.phase != DISCARD:
            plays = playable & set(range(rules.first_play, rules.paradox))
            playable = {rules.card_of(action)[1] for action in plays}
        drawn = self.sheet.token(seat, self.left - 19, top + self.above - 7 + self.card / 2, 12)
        for rank, count in enumerate(self.view.hands[seat]):
            if count:
                raised, dimmed = rank in playable, bool(playable - {rank})
                drawn += self._stack(rank, count, top, raised, dimmed)
        return svg.group(drawn, f"hand of player_{seat}: {hand_in_words(self.view, seat)}")

    def _stack(self, rank: int, count: int, top: float, raised: bool, dimmed: bool) -> str:
        """The cards of one rank, one behind the other, and what choosing them does."""
        theme, rules, middle = self.theme, self.rules, self.columns[rank]
        width = min(self.width, WIDEST_CARD)
        x, y, height = middle - width / 2, top + self.above - (10 if raised else 4), self.card
        drawn = ""
        for k in range(count - 1, -1, -1):
            drawn += svg.box(x, y - 3 * k, width, height, theme.face, line=theme.line, weight=1.5)
        fill, size = theme.soft if dimmed and not raised else theme.ink, 30 if self.sheet.is_large else 22
        drawn += svg.centred(middle, y + height / 2, rank + 1, size, fill, bold=True)
        if count > 1:
            drawn += svg.text(x + width - 4, y + 9, f"\u00d7{count}", 12, theme.soft, anchor="end")
        drawn = svg.with_key(f"hand-{rank}", drawn)
        if self.view.phase != PLAY and (raised or self.view.seat is not None):
            return drawn + self.sheet.choice(rank, x, y, width, height)
        if self.view.seat is None:
            return drawn
        # An area that lists the cells where the card can be declared, for a page.
        columns = range(rules.first_play + rank, rules.paradox, rules.num_ranks)
        cells = " ".join(str(action) for action in columns if action in self.legal)
        return drawn + svg.area("leads", cells, x, y, width, height, rank=rank)

    def _foot(self, seat: int, top: float) -> str:
        """What to do, and the discard of ``seat``."""
        view, theme, rules, sheet = self.view, self.theme, self.rules, self.sheet
        middle, drawn = top + 24, ""
        bids = [action for action in self.legal if rules.num_ranks <= action < rules.first_play]
        if bids:
            room = (PANEL - 2 * PADDING - 84) / len(bids)
            for k, action in enumerate(bids):
                words = rules.bids[action - rules.num_ranks]
                drawn += sheet.button(action, PADDING + k * room, top + 4, min(room - 6, 56), words)
        elif rules.paradox in self.legal:
            drawn += sheet.button(rules.paradox, PADDING, top + 4, 160, "Paradox")
        elif self.legal and view.phase == DISCARD:
            drawn += svg.prompt(PADDING, middle, "Choose a card; you won't play it.")
        elif self.legal:
            costs = any(rules.card_of(action)[0] in view.costly for action in self.legal)
            drawn += svg.prompt(PADDING, middle - 9 * costs, "Choose an outlined cell.")
            if costs:
                what = f"A badge costs your {COLORS[view.led]} X-token."
                drawn += svg.prompt(PADDING, middle + 10, what, 12, theme.soft)
        if seat in view.discards:
            rank, right = view.discards[seat] + 1, PANEL - PADDING
            card = svg.box(right - 28, top + 6, 28, 36, theme.face, line=theme.line, weight=1.5)
            card += svg.centred(right - 14, middle, rank, 16, theme.soft)
            card += svg.text(right - 36, middle, "aside", 13, theme.soft, anchor="end")
            drawn += svg.figure(card, f"put aside: {rank}")
        return drawn
