"""The research board in a picture, and below it a hand.

A card of the hand is below the column of its rank, and is declared by choosing a framed cell above it. A cell that
costs the X-token of the led colour shows that token.
"""

from __future__ import annotations

from catbox_env.core.picture import (
    LETTERS,
    PADDING,
    PANEL,
    Sheet,
    Theme,
    box,
    button,
    centred,
    choice,
    disc,
    figure,
    forbidden,
    group,
    letters,
    number,
    path,
    prompt,
    round_box,
    text,
    token,
)
from catbox_env.games.cat_in_the_box.play.state import DISCARD, NEUTRAL, NONE, PLAY, RED
from catbox_env.games.cat_in_the_box.rules import COLORS
from catbox_env.games.cat_in_the_box.show.text import action_to_string
from catbox_env.games.cat_in_the_box.show.view import Cell, View, largest_group

#: The corner of the first cell, the width of all columns, the height of a cell, the gap between cells.
LEFT, TOP, ROOM, CELL, SPACE = 40, 34, 296, 36, 4
#: The widest column and the widest card.
WIDEST, WIDEST_CARD = 64, 44
#: Heights of the hand, of a card in it, and of the line below it.
HAND, CARD, FOOT = 80, 46, 50


def hand_in_words(view: View, seat: int) -> str:
    """The ranks of a visible hand, such as ``"1 1 4"``."""
    return " ".join(str(rank + 1) for rank in view.cards(seat)) or "no card"


class Board:
    """Draws the board and the hand of one view.

    ``legal``: the actions that can be chosen; ``last``: the card just played; ``winners``: those of a finished game.
    """

    def __init__(
        self,
        view: View,
        legal: list[int],
        last: tuple[int, int, int] | None,
        winners: list[int],
        theme: Theme,
    ) -> None:
        self.view, self.legal, self.last, self.winners, self.theme = view, legal, last, winners, theme
        self.pitch = min(WIDEST, 2 * ROOM // view.rules.num_ranks / 2)  # in halves of a unit
        self.width = self.pitch - SPACE
        #: The middle of each column.
        self.columns = [LEFT + rank * self.pitch + self.width / 2 for rank in range(view.rules.num_ranks)]

    def put(self, sheet: Sheet) -> None:
        """Put the panel on the sheet."""
        below = TOP + self.view.rules.num_colors * (CELL + SPACE)
        ranks = "".join(str(rank + 1) for rank in range(self.view.rules.num_ranks))
        heads = letters(self.columns, 19, ranks, 14, self.theme.soft)
        drawn = f'<g aria-hidden="true">{heads}{self._outlines()}</g>'
        drawn += "".join(self._row(color) for color in range(self.view.rules.num_colors))
        below_board = self.view.mover if self.view.seat is None else self.view.seat
        if below_board >= 0:
            drawn += self._hand(below_board, below) + self._foot(below_board, below + HAND)
        sheet.panel(0, below + HAND + FOOT, drawn, "research board")

    def _outlines(self) -> str:
        """The largest group of the viewer, and at the end those of the winners; in the view of None, all of them."""
        view = self.view
        seats = range(view.rules.num_players) if view.seat is None else {view.seat, *self.winners}
        groups = {seat: largest_group(view.board, seat) for seat in seats}
        return "".join(
            path(self._ground(cells), self.theme.seats[seat])
            for seat, cells in groups.items()
            if len(cells) > 1
        )

    def _ground(self, cells: list[Cell]) -> str:
        """The background of a group: it shows around its cells and between them."""
        edge, held, parts = SPACE / 2 + 0.5, set(cells), []
        width, height = self.width + 2 * edge, CELL + 2 * edge
        for color, rank in cells:
            x, y = LEFT + rank * self.pitch - edge, TOP + color * (CELL + SPACE) - edge
            parts.append(round_box(x, y, width, height, 8))
            if (color, rank + 1) in held:
                parts.append(round_box(x + width - 8, y, 16, height, 0))
            if (color + 1, rank) in held:
                parts.append(round_box(x, y + height - 8, width, 16, 0))
        return "".join(parts)

    def _row(self, color: int) -> str:
        """The cells of a colour: free ones with their rank, owned ones with a token, legal ones with a frame."""
        view, theme, rules = self.view, self.theme, self.view.rules
        y = TOP + color * (CELL + SPACE)
        middle, first = y + CELL / 2, rules.first_play + color * rules.num_ranks
        free, ground, tokens, owners, choices = [], "", "", [], ""
        for rank, owner in enumerate(view.board[color]):
            x, column, action = LEFT + rank * self.pitch, self.columns[rank], first + rank
            ground += round_box(x, y, self.width, CELL, 6)
            if action in self.legal:
                tokens += centred(column, middle, rank + 1, 17, bold=True)
                label, note = action_to_string(rules, action), ""
                if view.costs_token(color):
                    tokens += self._x_token(x + self.width - 8, y + 8)
                    note = f"gives up the X-token of {COLORS[view.led]}"
                choices += choice(theme, action, label, x, y, self.width, CELL, note=note)
            elif owner == NONE:
                free.append(rank)
            elif owner == NEUTRAL:
                cross = f"M{column - 6:g} {y + 12}l12 12m0 -12l-12 12"
                tokens += path(cross, "none", line=theme.soft, weight=3)
                owners.append(f"{rank + 1} neutral")
            else:
                tokens += token(theme, owner, column, middle, 13.5, ringed=(owner, color, rank) == self.last)
                owners.append(f"{rank + 1} player_{owner}")
        drawn = self._chip(color, y) + path(ground, theme.tints[color])
        ranks = "".join(str(rank + 1) for rank in free)
        drawn += letters([self.columns[rank] for rank in free], middle, ranks, 14, theme.words[color])
        if view.seat is not None and view.mover >= 0:
            choices += "".join(
                forbidden(first + rank, LEFT + rank * self.pitch, y, self.width, CELL)
                for rank in range(rules.num_ranks)
                if first + rank not in self.legal
            )
        trump = "" if color != RED else ", trump, broken" if view.trump_broken else ", trump, not broken"
        label = f"{COLORS[color]}{trump}: {', '.join(owners) or 'nothing declared'}"
        return group(f'<g aria-hidden="true">{drawn}{tokens}</g>{choices}', label)

    def _x_token(self, x: float, y: float) -> str:
        """The X-token of the led colour, crossed out."""
        cross = f"M{number(x - 3)} {number(y - 3)}l6 6m0 -6l-6 6"
        led, on = self.theme.colors[self.view.led], self.theme.on_colors[self.view.led]
        return path(disc(x, y, 6.5), led, line=self.theme.panel, weight=1) + path(
            cross, "none", line=on, weight=1.8
        )

    def _chip(self, color: int, y: float) -> str:
        """The name of a row, hollow without an X-token for it; the red one has a lock until trump is broken."""
        theme, seat = self.theme, self.view.seat
        if seat is None or color in self.view.x_tokens[seat]:
            chip = box(8, y + 4, 26, 28, theme.colors[color])
            chip += centred(21, y + 18, LETTERS[color], 16, theme.on_colors[color], bold=True)
        else:
            chip = box(9, y + 5, 24, 26, "none", line=theme.colors[color], weight=2)
            chip += centred(21, y + 18, LETTERS[color], 16, theme.soft)
        if color == RED and not self.view.trump_broken:
            chip += path(disc(33.5, y + 5.5, 8.5), theme.panel)
            chip += path(f"M30.5 {y + 5}v-2.5a3 3 0 0 1 6 0v2.5", "none", line=theme.ink, weight=1.8)
            chip += box(29, y + 4.5, 9, 6.5, theme.ink, radius=1.5)
        return chip

    def _hand(self, seat: int, top: float) -> str:
        """The cards of ``seat``; playable ones are raised."""
        view, rules = self.view, self.view.rules
        playable = set(self.legal)
        if view.phase != DISCARD:
            plays = range(rules.first_play, rules.paradox)
            playable = {
                (action - rules.first_play) % rules.num_ranks for action in self.legal if action in plays
            }
        drawn = token(self.theme, seat, 21, top + 50, 12)
        for rank, count in enumerate(view.hands[seat]):
            if count:
                drawn += self._stack(
                    rank, count, top, raised=rank in playable, dimmed=bool(playable - {rank})
                )
        return group(drawn, f"hand of player_{seat}: {hand_in_words(view, seat)}")

    def _stack(self, rank: int, count: int, top: float, raised: bool, dimmed: bool) -> str:
        """The cards of one rank, one behind the other."""
        theme, middle = self.theme, self.columns[rank]
        width = min(self.width, WIDEST_CARD)
        x, y = middle - width / 2, top + HAND - CARD - (10 if raised else 4)
        drawn = ""
        for k in range(count - 1, -1, -1):
            drawn += box(x, y - 3 * k, width, CARD, theme.face, line=theme.line, weight=1.5)
        fill, up = theme.soft if dimmed and not raised else theme.ink, 6 if count > 1 else 0
        drawn += centred(middle, y + CARD / 2 - up, rank + 1, 22, fill, bold=True)
        drawn += centred(middle, y + CARD - 10, f"\u00d7{count}", 12, theme.soft) if count > 1 else ""
        if self.view.phase != DISCARD or not raised:
            return drawn if self.view.seat is None else drawn + self._leads(rank, x, y, width)
        return drawn + choice(theme, rank, action_to_string(self.view.rules, rank), x, y, width, CARD)

    def _leads(self, rank: int, x: float, y: float, width: float) -> str:
        """An area over a card of the hand that lists the cells where it can be declared."""
        rules = self.view.rules
        if self.view.phase != PLAY:
            return forbidden(rank, x, y, width, CARD)
        columns = range(rules.first_play + rank, rules.paradox, rules.num_ranks)
        cells = " ".join(str(action) for action in columns if action in self.legal)
        return (
            f'<rect data-leads="{cells}" x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{CARD}" '
            'fill="none" pointer-events="all"/>'
        )

    def _foot(self, seat: int, top: float) -> str:
        """What to do, and the discard of ``seat``."""
        view, theme, rules = self.view, self.theme, self.view.rules
        middle, drawn = top + 24, ""
        bids = [action for action in self.legal if rules.num_ranks <= action < rules.first_play]
        if bids:
            room = (PANEL - 2 * PADDING - 84) / len(bids)
            for k, action in enumerate(bids):
                words, label = rules.bids[action - rules.num_ranks], action_to_string(rules, action)
                drawn += button(theme, action, label, PADDING + k * room, top + 4, min(room - 6, 56), words)
        elif rules.paradox in self.legal:
            label = action_to_string(rules, rules.paradox)
            drawn += button(theme, rules.paradox, label, PADDING, top + 4, 160, "Paradox")
        elif self.legal:
            what = (
                "Put a card aside. You will not play it."
                if view.phase == DISCARD
                else "Choose a framed cell."
            )
            costs = view.phase == PLAY and any(
                view.costs_token((action - rules.first_play) // rules.num_ranks) for action in self.legal
            )
            drawn += prompt(PADDING, middle - 9 * costs, what)
            if costs:
                drawn += prompt(
                    PADDING, middle + 10, "A crossed token is what the cell costs.", 12, theme.soft
                )
        elif view.mover >= 0:
            drawn += text(PADDING, middle, f"Waiting for player_{view.mover}.", fill=theme.soft)
        if seat in view.discards:
            rank, right = view.discards[seat] + 1, PANEL - PADDING
            card = box(right - 28, top + 6, 28, 36, theme.face, line=theme.line, weight=1.5)
            card += centred(right - 14, middle, rank, 16, theme.soft)
            card += text(right - 36, middle, "aside", 13, theme.soft, anchor="end")
            drawn += figure(card, f"put aside: {rank}")
        return drawn
