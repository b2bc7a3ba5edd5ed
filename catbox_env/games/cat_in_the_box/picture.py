"""A position of Cat in the Box as a picture: research board with the hand below, trick, seats, other hands.

The hand lies under the columns of its ranks: a card is declared by choosing a framed cell above it.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.picture import (
    LETTERS,
    PANEL,
    Sheet,
    box,
    button,
    choice,
    crown,
    disc,
    figure,
    group,
    path,
    round_box,
    signed,
    text,
    texts,
    token,
)
from catbox_env.core.state import GameState
from catbox_env.games.cat_in_the_box.picture_view import Cell, View
from catbox_env.games.cat_in_the_box.rules import COLORS, Rules
from catbox_env.games.cat_in_the_box.state import BID, DISCARD, NEUTRAL, NONE, PLAY, RED
from catbox_env.games.cat_in_the_box.text import action_to_string

#: The board: where its first cell begins, the room for all columns, height of a cell, gap between cells.
LEFT, TOP, ROOM, CELL, SPACE = 40, 34, 296, 36, 4
#: Heights of the hand, of a card in it, and of the line below the hand.
HAND, CARD, FOOT = 70, 46, 50
#: Heights of a title, of the cards of a trick, of a row of the seats, and of a row of another hand.
TITLE, TRICK, ROW, HAND_ROW = 34, 118, 44, 34
PADDING = 12


def draw(rules: Rules, params: np.record, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture as ``seat`` sees it, with every hand for None."""
    view = View.of(rules, params, state, seat)
    _Drawing(view, sheet).panels()
    return sheet.svg(
        title="Cat in the Box",
        note=_note(view),
        line=_line(view),
        last=view.last,
        seat=view.mover if view.mover >= 0 else None,
    )


def _note(view: View) -> str:
    rules, parts = view.rules, []
    if rules.num_rounds > 1:
        parts.append(f"round {view.round} of {rules.num_rounds}")
    if view.phase == PLAY:
        parts.append(f"trick {view.trick} of {rules.num_tricks}")
    return " · ".join(parts) or f"{rules.num_players} players"


def _line(view: View) -> str:
    if view.mover < 0:
        return f"{' and '.join(f'player_{seat}' for seat in view.winners)} {'wins' if len(view.winners) == 1 else 'share the win'}"
    what = {DISCARD: "puts a card aside", BID: "bids"}.get(view.phase)
    if what is None:
        paradox = view.legal == [view.rules.paradox]
        what = "has to cause a paradox" if paradox else "declares a card" if view.plays and not view.is_over else "leads"
    return f"player_{view.mover} {what}"


class _Drawing:
    """The panels of one picture."""

    def __init__(self, view: View, sheet: Sheet) -> None:
        self.view, self.sheet, self.theme = view, sheet, sheet.theme
        self.pitch = min(64.0, ROOM * 2 // view.rules.num_ranks / 2)
        self.width = self.pitch - SPACE
        self.legal = set(view.legal)

    def panels(self) -> None:
        """Put all panels on the sheet."""
        view, sheet = self.view, self.sheet
        hand_top = TOP + view.rules.num_colors * (CELL + SPACE) + 10
        below = self._hand(hand_top) + self._foot(hand_top + HAND)
        sheet.panel(0, hand_top + HAND + FOOT, self._board() + below, "research board")
        sheet.panel(1, TITLE + TRICK, self._results() if self._shows_results() else self._trick())
        sheet.panel(1, TITLE + ROW * view.rules.num_players + 4, self._seats(), "players")
        if view.seat is None:
            height = TITLE + HAND_ROW * view.rules.num_players + 8
            sheet.panel(sheet.shorter_column(), height, self._hands(), "hands")

    # The research board.

    def _place(self, color: int, rank: int) -> tuple[float, float]:
        return LEFT + rank * self.pitch, TOP + color * (CELL + SPACE)

    def _board(self) -> str:
        ranks = range(self.view.rules.num_ranks)
        middles = [LEFT + rank * self.pitch + self.width / 2 for rank in ranks]
        heads = texts(middles, 19, "".join(str(rank + 1) for rank in ranks), 14, self.theme.soft)
        rows = "".join(self._row(color, middles) for color in range(self.view.rules.num_colors))
        return f'<g aria-hidden="true">{heads}{self._outlines()}</g>{rows}'

    def _outlines(self) -> str:
        """Whoever looks sees the largest group of its own; all together see those of all."""
        view = self.view
        seats = range(view.rules.num_players) if view.seat is None else (view.seat,)
        return "".join(
            path("".join(self._linked(view.groups[seat])), self.theme.seats[seat])
            for seat in seats
            if len(view.groups[seat]) > 1
        )

    def _linked(self, cells: list[Cell]) -> list[str]:
        """The ground of a group, which shows around its cells and between them."""
        edge, held = SPACE / 2 + 0.5, set(cells)
        parts = []
        for color, rank in cells:
            x, y = self._place(color, rank)
            parts.append(round_box(x - edge, y - edge, self.width + 2 * edge, CELL + 2 * edge, 8))
            if (color, rank + 1) in held:
                parts.append(round_box(x + self.width - 6, y - edge, SPACE + 12, CELL + 2 * edge, 0))
            if (color + 1, rank) in held:
                parts.append(round_box(x - edge, y + CELL - 6, self.width + 2 * edge, SPACE + 12, 0))
        return parts

    def _row(self, color: int, middles: list[float]) -> str:
        view, theme, rules = self.view, self.theme, self.view.rules
        first = rules.first_play + color * rules.num_ranks
        y = TOP + color * (CELL + SPACE)
        name = COLORS[color]
        free, cells, tokens, owners, choices = [], [], [], [], []
        for rank, owner in enumerate(view.board[color]):
            x = LEFT + rank * self.pitch
            action = first + rank
            if action in self.legal:
                framed = box(x, y, self.width, CELL, theme.tints[color], line=theme.ink, weight=2.5)
                words = text(middles[rank], y + CELL / 2, rank + 1, 17, anchor="middle", bold=True)
                choices.append(choice(action, action_to_string(rules, action), framed + words))
                continue
            cells.append(round_box(x, y, self.width, CELL, 6))
            if owner == NONE:
                free.append(rank)
                continue
            owners.append(f"{rank + 1} {'neutral' if owner == NEUTRAL else f'player_{owner}'}")
            if owner == NEUTRAL:
                cross = f"M{middles[rank] - 6:g} {y + 12}l12 12m0 -12l-12 12"
                tokens.append(path(cross, "none", line=theme.soft, weight=3))
            else:
                played = [(play_color, play_rank) for _, play_color, play_rank in view.plays[-1:]]
                tokens.append(
                    token(theme, owner, middles[rank], y + CELL / 2, 13.5, ringed=(color, rank) in played)
                )
        trump = "" if color != RED else ", trump, broken" if view.trump_broken else ", trump, not broken"
        drawn = self._color_chip(color, y) + path("".join(cells), theme.tints[color])
        if free:
            letters = "".join(str(rank + 1) for rank in free)
            drawn += texts([middles[rank] for rank in free], y + CELL / 2, letters, 14, theme.words[color])
        label = f"{name}{trump}: {', '.join(owners) or 'nothing declared'}"
        return group(f'<g aria-hidden="true">{drawn}{"".join(tokens)}</g>{"".join(choices)}', label)

    def _color_chip(self, color: int, y: float) -> str:
        theme = self.theme
        chip = box(8, y + 4, 26, 28, theme.colors[color])
        chip += text(21, y + 18, LETTERS[color], 16, fill=theme.on_colors[color], anchor="middle", bold=True)
        if color == RED and not self.view.trump_broken:  # a lock: red cannot be led
            lock = path("M30.5 {0}v-2.5a3 3 0 0 1 6 0v2.5".format(y + 5), "none", line=theme.ink, weight=1.8)
            chip += path(disc(33.5, y + 5.5, 8.5), theme.panel) + lock + box(29, y + 4.5, 9, 6.5, theme.ink, radius=1.5)
        return chip

    # The hand below it.

    def _hand(self, top: float) -> str:
        view, theme = self.view, self.theme
        if view.shown < 0:
            return ""
        rules, ranks = view.rules, view.rules.num_ranks
        if view.phase == DISCARD:
            chosen = self.legal
        else:
            chosen = {(action - rules.first_play) % ranks for action in self.legal if rules.first_play <= action < rules.paradox}
        cards = [token(theme, view.shown, 21, top + 40, 12)]
        label = ", ".join(
            f"{count} x {rank + 1}" for rank, count in enumerate(view.hands[view.shown]) if count
        )
        for rank, count in enumerate(view.hands[view.shown]):
            if not count:
                continue
            drawn = self._stack(rank, count, top, raised=rank in chosen)
            if view.phase == DISCARD and rank in self.legal:
                drawn = choice(rank, action_to_string(rules, rank), drawn)
            cards.append(drawn)
        return group("".join(cards), f"hand of player_{view.shown}: {label or 'empty'}")

    def _stack(self, rank: int, count: int, top: float, raised: bool) -> str:
        """The cards of one rank, one behind the other; ``raised`` and framed if one of them can be played."""
        theme = self.theme
        width = min(self.width, 44)
        x = LEFT + rank * self.pitch + (self.width - width) / 2
        y = top + HAND - CARD - (10 if raised else 4)
        line, weight = (theme.ink, 2.5) if raised else (theme.line, 1.5)
        behind = "".join(
            box(x, y - 3 * k, width, CARD, theme.face, line=line, weight=1.5) for k in range(count - 1, 0, -1)
        )
        card = behind + box(x, y, width, CARD, theme.face, line=line, weight=weight)
        fill = theme.ink if raised or not self.legal else theme.soft
        middle = y + CARD / 2 - (6 if count > 1 else 0)
        card += text(x + width / 2, middle, rank + 1, 22, fill=fill, anchor="middle", bold=True)
        if count > 1:
            card += text(x + width / 2, y + CARD - 10, f"×{count}", 12, fill=theme.soft, anchor="middle")
        return card

    def _foot(self, top: float) -> str:
        """What to do, and the card that was put aside."""
        view, theme, rules = self.view, self.theme, self.view.rules
        right, drawn = PANEL - PADDING, ""
        if view.shown in view.discards:
            card = box(right - 28, top + 6, 28, 36, theme.face, line=theme.line, weight=1.5)
            card += text(right - 14, top + 24, view.discards[view.shown] + 1, 16, fill=theme.soft, anchor="middle")
            card += text(right - 36, top + 24, "aside", 13, fill=theme.soft, anchor="end")
            drawn = figure(card, f"put aside: {view.discards[view.shown] + 1}")
        bids = [action for action in view.legal if rules.num_ranks <= action < rules.first_play]
        if bids:
            room = (right - 84 - PADDING) / len(bids)
            for k, action in enumerate(bids):
                label = action_to_string(rules, action)
                words = rules.bids[action - rules.num_ranks]
                drawn += button(theme, action, label, PADDING + k * room, top + 4, min(room - 6, 56), words)
        elif rules.paradox in self.legal:
            drawn += button(theme, rules.paradox, "paradox", PADDING, top + 4, 160, "Paradox")
        elif self.legal:
            what = "Choose a card to put aside." if view.phase == DISCARD else "Choose a framed cell."
            drawn += text(PADDING, top + 24, what, 14)
        elif view.mover >= 0:
            drawn += text(PADDING, top + 24, f"Waiting for player_{view.mover}.", 14, fill=theme.soft)
        return drawn

    # The trick.

    def _shows_results(self) -> bool:
        return self.view.results is not None and (self.view.mover < 0 or self.view.phase != PLAY)

    def _slots(self) -> tuple[float, float]:
        """Where the first of as many places as there are seats has its middle, and how far apart they are."""
        apart = min(64, (PANEL - 2 * PADDING) / self.view.rules.num_players)
        return PADDING + 26, apart

    def _trick(self) -> str:
        view, theme = self.view, self.theme
        head = "Last trick" if view.is_over else f"Trick {view.trick}" if view.phase == PLAY else "Trick"
        if view.is_over:
            note = f"player_{view.winner} won"
        elif view.plays:
            note = f"{COLORS[view.led]} led"
        else:
            note = f"player_{view.leader if view.phase == PLAY else view.start_player} leads"
        drawn = text(PADDING, 20, head, 15, bold=True) + text(PANEL - PADDING, 20, note, 13, fill=theme.soft, anchor="end")
        middle, apart = self._slots()
        first = view.plays[0][0] if view.plays else view.leader
        for turn in range(view.rules.num_players):
            seat = (first + turn) % view.rules.num_players
            x = middle + turn * apart
            if turn < len(view.plays):
                drawn += self._card(x, *view.plays[turn][1:], wins=seat == view.winner)
            else:
                drawn += box(x - 22, TITLE + 8, 44, 66, "none", line=theme.soft, weight=1.5, dashed=True)
            drawn += token(theme, seat, x, TITLE + 94, 11)
        return figure(drawn, self._trick_label(note))

    def _trick_label(self, note: str) -> str:
        view = self.view
        cards = [f"player_{seat} {COLORS[color]} {rank + 1}" for seat, color, rank in view.plays]
        wins = f"; player_{view.winner} {'won' if view.is_over else 'wins so far'}" if cards else ""
        return f"{'last trick' if view.is_over else 'trick'}, {note}: {', '.join(cards) or 'no card yet'}{wins}"

    def _card(self, x: float, color: int, rank: int, wins: bool) -> str:
        theme, y = self.theme, TITLE + 8
        on = theme.on_colors[color]
        frame = box(x - 26, y - 4, 52, 74, theme.ink, radius=9) if wins else ""
        card = frame + box(x - 22, y, 44, 66, theme.colors[color])
        card += text(x - 16, y + 13, LETTERS[color], 13, fill=on, bold=True)
        card += text(x, y + 40, rank + 1, 28, fill=on, anchor="middle", bold=True)
        return card + (crown(theme, x + 20, y) if wins else "")

    def _results(self) -> str:
        """The points of the round that has ended, in place of the trick."""
        view, theme = self.view, self.theme
        assert view.results is not None
        head = "Result" if view.mover < 0 else "Last round"
        paradox = f"paradox of player_{view.paradox}" if view.paradox >= 0 else "no paradox"
        drawn = text(PADDING, 20, head, 15, bold=True) + text(PANEL - PADDING, 20, paradox, 13, fill=theme.soft, anchor="end")
        middle, apart = self._slots()
        words = []
        for seat, (score, tricks, bonus) in enumerate(view.results):
            x = middle + seat * apart
            counted = signed(-tricks if seat == view.paradox else tricks) + (f" + {bonus}" if bonus else "")
            drawn += text(x, TITLE + 28, signed(score), 26, anchor="middle", bold=True)
            drawn += text(x, TITLE + 58, counted, 13, fill=theme.soft, anchor="middle")
            drawn += token(theme, seat, x, TITLE + 94, 11)
            words.append(f"player_{seat} {score} points, {tricks} tricks, bonus {bonus}")
        return figure(drawn, f"{head}, {paradox}: {'; '.join(words)}")

    # The seats.

    def _seats(self) -> str:
        view, theme = self.view, self.theme
        drawn = text(124, 19, "declares", 12, fill=theme.soft)
        drawn += text(209, 19, "won/bid" if view.rules.bids else "won", 12, fill=theme.soft)
        drawn += text(286, 19, "group", 12, fill=theme.soft, anchor="middle")
        if self._shows_scores():
            drawn += text(322, 19, "score", 12, fill=theme.soft, anchor="middle")
        return drawn + "".join(self._seat(seat) for seat in range(view.rules.num_players))

    def _seat(self, seat: int) -> str:
        view, theme, rules = self.view, self.theme, self.view.rules
        y = TITLE + seat * ROW
        middle, notes = y + ROW / 2, []
        notes += ["you"] if seat == view.seat else []
        notes += ["starts"] if seat == view.start_player else []
        drawn = box(6, y + 2, PANEL - 12, ROW - 4, theme.turn, radius=8) if seat == view.mover else ""
        drawn += token(theme, seat, 26, middle, 13)
        drawn += text(46, middle - (8 if notes else 0), f"player_{seat}", 15, bold=seat in (view.mover, view.seat))
        if notes:
            drawn += text(46, middle + 11, " · ".join(notes), 12, fill=theme.soft)
        kept = view.x_tokens[seat]
        drawn += "".join(self._x_token(124 + 20 * color, middle - 9, color, bool(may)) for color, may in enumerate(kept))
        drawn += self._bid(seat, middle)
        drawn += text(286, middle, len(view.groups[seat]), 15, anchor="middle")
        if self._shows_scores():
            drawn += text(322, middle, signed(view.scores[seat]), 15, anchor="middle", bold=True)
        may = [COLORS[color] for color, held in enumerate(kept) if held]
        return figure(drawn, f"{self._seat_label(seat, notes)}; may declare {', '.join(may) or 'nothing'}")

    def _shows_scores(self) -> bool:
        return self.view.rules.num_rounds > 1 or self.view.mover < 0

    def _seat_label(self, seat: int, notes: list[str]) -> str:
        view = self.view
        bid = "" if view.bids[seat] is None else f", bid {view.bids[seat]}"
        turn = ", to move" if seat == view.mover else ""
        turn += f", score {view.scores[seat]}" if self._shows_scores() else ""
        return (
            f"{', '.join([f'player_{seat}', *notes])}{turn}: {view.tricks_won[seat]} tricks won{bid}, "
            f"largest group {len(view.groups[seat])}"
        )

    def _x_token(self, x: float, y: float, color: int, held: bool) -> str:
        """The right to declare a colour; crossed out when it is lost."""
        theme = self.theme
        if held:
            chip = box(x, y, 18, 18, theme.colors[color], radius=4)
            return chip + text(x + 9, y + 9, LETTERS[color], 12, fill=theme.on_colors[color], anchor="middle", bold=True)
        chip = box(x, y, 18, 18, "none", radius=4, line=theme.soft)
        return chip + path(f"M{x + 5:g} {y + 5:g}l8 8m0 -8l-8 8", "none", line=theme.soft, weight=1.5)

    def _bid(self, seat: int, middle: float) -> str:
        """Tricks won against the bid: in words, and as discs: full ones are won, hollow ones are still to be won."""
        view, theme = self.view, self.theme
        won, bid = view.tricks_won[seat], view.bids[seat]
        if not view.rules.bids:
            wanted, words = won, f"{won}"
        else:
            wanted, words = (0, f"{won} of \u2013") if bid is None else (bid, f"{won} of {bid}")
        drawn = text(209, middle - 8, words, 15, bold=bid == won)
        apart = min(9.0, 54 / max(won, wanted, 1))
        places = [213 + apart * k for k in range(max(won, wanted))]
        if won:
            drawn += path("".join(disc(x, middle + 11, 3.5) for x in places[:won]), theme.ink)
        if wanted > won:
            drawn += path("".join(disc(x, middle + 11, 3) for x in places[won:]), "none", line=theme.ink, weight=1.2)
        return drawn

    # All hands.

    def _hands(self) -> str:
        view, theme = self.view, self.theme
        drawn = text(PADDING, 19, "Hands", 15, bold=True) + text(PANEL - PADDING, 19, "aside", 12, fill=theme.soft, anchor="end")
        for seat, hand in view.hands.items():
            y = TITLE + seat * HAND_ROW
            row, apart = token(theme, seat, 21, y + 15, 11), min(30.0, 262 / len(hand))
            for rank, count in enumerate(hand):
                if count:
                    x = LEFT + rank * apart
                    row += box(x, y, apart - 3, 30, theme.face, radius=4, line=theme.line, weight=1.5)
                    middle, up = x + apart / 2 - 1.5, 5 if count > 1 else 0
                    row += text(middle, y + 15 - up, rank + 1, 15, anchor="middle", bold=True)
                    if count > 1:
                        row += text(middle, y + 22, f"×{count}", 12, fill=theme.soft, anchor="middle")
            if seat in view.discards:
                row += text(PANEL - PADDING - 10, y + 15, view.discards[seat] + 1, 15, fill=theme.soft, anchor="middle")
            cards = " ".join(str(rank + 1) for rank, count in enumerate(hand) for _ in range(count))
            aside = f"; put aside {view.discards[seat] + 1}" if seat in view.discards else ""
            drawn += figure(row, f"hand of player_{seat}: {cards}{aside}")
        return drawn
