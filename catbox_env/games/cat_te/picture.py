"""A position of Cat Te as a picture: the tricks card by card, the hand, scores and pots, other hands."""

from __future__ import annotations

import numpy as np

from catbox_env.core.picture import (
    PANEL,
    Sheet,
    box,
    button,
    choice,
    crown,
    disc,
    figure,
    group,
    number,
    path,
    round_box,
    signed,
    text,
    token,
)
from catbox_env.core.state import GameState
from catbox_env.games.cat_te.picture_view import CHOSEN, EMPTY, FOLDED, View
from catbox_env.games.cat_te.rules import BLIND_TRICK, NUM_SUITS, NUM_TRICKS, RANKS, SUITS, Rules, card_to_string
from catbox_env.games.cat_te.state import CLAIM, FOLD, NONE, SHOW
from catbox_env.games.cat_te.text import action_to_string

PADDING, TITLE = 12, 34
#: The table of tricks: where its columns begin, how far they are apart, the height of its rows and of its cards.
LEFT, APART, ROW, CARD = 120, 36, 50, 42
#: Heights of the hand: of its cards, the buttons below them, the cards laid down, the line below.
HAND, FOLDS, ASIDE, FOOT = 82, 36, 40, 48
#: Heights of the scores, of the side pot, and of a row of another hand.
SCORES, SIDE_POT, HAND_ROW = 92, 44, 44
#: The suits around the origin, 10 units high: clubs, diamonds, hearts, spades.
SHAPES = (
    disc(0, -2.5, 2.5) + disc(-2.7, 1.2, 2.5) + disc(2.7, 1.2, 2.5) + "M-.6 0L-1.6 5H1.6L.6 0z",
    "M0 -5.6L4.3 0L0 5.6L-4.3 0z",
    "M0 5C-6.2 .4 -5.4 -4.6 -2.5 -4.6C-1.2 -4.6 -.2 -3.6 0 -2.4C.2 -3.6 1.2 -4.6 2.5 -4.6C5.4 -4.6 6.2 .4 0 5z",
    "M0 -5.2C5.6 -1 5.6 3.1 3.2 3.4C2 3.6 1 3 .6 2.2L1.6 5H-1.6L-.6 2.2C-1 3 -2 3.6 -3.2 3.4C-5.6 3.1 -5.6 -1 0 -5.2z",
)
#: Which colour of a theme each suit has; spades have that of the ink.
COLOR_OF = (3, 1, 0)


def draw(rules: Rules, params: np.record, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture as ``seat`` sees it, with every hand for None."""
    view = View.of(rules, params, state, seat)
    _Drawing(view, sheet).panels()
    return sheet.svg(
        title="Cat Te",
        note=_note(view),
        line=_line(view),
        last=view.last,
        seat=view.mover if view.mover >= 0 else None,
    )


def _note(view: View) -> str:
    rules, parts = view.rules, [view.rules.region]
    if rules.num_rounds > 1:
        parts.append(f"round {view.round} of {rules.num_rounds}")
    if view.trick < NUM_TRICKS:
        parts.append(f"trick {view.trick + 1} of {NUM_TRICKS}")
    return " · ".join(parts)


def _line(view: View) -> str:
    if view.mover < 0:
        names = " and ".join(f"player_{seat}" for seat in view.winners)
        return f"{names} {'wins' if len(view.winners) == 1 else 'share the win'}"
    if view.mover == view.leader:
        return f"player_{view.mover} leads"
    if view.rules.eliminates and view.trick == BLIND_TRICK:
        return f"player_{view.mover} chooses a card, {SUITS[view.led]} led"
    return f"player_{view.mover} follows {SUITS[view.led]} or folds"


class _Drawing:
    """The panels of one picture."""

    def __init__(self, view: View, sheet: Sheet) -> None:
        self.view, self.sheet, self.theme = view, sheet, sheet.theme
        self.legal = set(view.legal)

    def panels(self) -> None:
        """Put all panels on the sheet."""
        view, sheet, players = self.view, self.sheet, self.view.rules.num_players
        sheet.panel(0, TITLE + players * ROW + 6, self._table(), "tricks")
        sheet.panel(1, TITLE + HAND + FOLDS + ASIDE + FOOT, self._hand(), "hand")
        side_pot = SIDE_POT if view.rules.side_pot else 0
        sheet.panel(sheet.shorter_column(), TITLE + SCORES + side_pot, self._scores(), "scores")
        if view.seat is None:
            height = TITLE + players * HAND_ROW + 6
            sheet.panel(sheet.shorter_column(), height, self._hands(), "hands")

    def _card(
        self, x: float, y: float, width: float, height: float, card: int, *, line: str = "", faded: bool = False
    ) -> str:
        """A card face up; ``line`` frames it, ``faded`` says that it lies face down before others."""
        theme, suit = self.theme, card % NUM_SUITS
        fill = theme.words[COLOR_OF[suit]] if suit < len(COLOR_OF) else theme.ink
        face = theme.turn if faded else theme.face
        size = 0.36 * height
        drawn = box(x, y, width, height, face, radius=5, line=line or theme.line, weight=2.5 if line else 1.5)
        middle = x + width / 2
        drawn += text(middle, y + 0.29 * height, RANKS[card // NUM_SUITS], size, fill=fill, anchor="middle", bold=True)
        place = f"{number(middle)} {number(y + 0.7 * height)}"
        shape = f'<path transform="translate({place}) scale({number(0.035 * height)})" d="{SHAPES[suit]}" fill="{fill}"/>'
        return drawn + shape

    # The table of tricks.

    def _table(self) -> str:
        view, theme = self.view, self.theme
        drawn = ""
        if view.trick < NUM_TRICKS:
            height = view.rules.num_players * ROW + 28
            drawn += box(LEFT + view.trick * APART, 6, APART, height, theme.turn, radius=8)
        drawn += text(PADDING, 19, "Tricks", 15, bold=True)
        for trick in range(NUM_TRICKS):
            now = trick == view.trick
            fill = theme.ink if now else theme.soft
            drawn += text(LEFT + (trick + 0.5) * APART, 19, trick + 1, 14, fill=fill, anchor="middle", bold=now)
        return drawn + "".join(self._row(seat) for seat in range(view.rules.num_players))

    def _row(self, seat: int) -> str:
        view, theme = self.view, self.theme
        y, out = TITLE + seat * ROW, not view.in_round[seat]
        notes = ["you"] if seat == view.seat else []
        notes += ["dealer"] if seat == view.dealer else []
        notes += ["out"] if out else []
        drawn = box(6, y + 2, LEFT - 10, ROW - 4, theme.turn, radius=8) if seat == view.mover else ""
        drawn += token(theme, seat, 26, y + ROW / 2, 13, faded=out)
        name = y + ROW / 2 - (8 if notes else 0)
        bold = seat in (view.mover, view.seat)
        drawn += text(45, name, f"player_{seat}", 15, fill=theme.soft if out else "", bold=bold)
        if notes:
            drawn += text(45, y + ROW / 2 + 11, " · ".join(notes), 12, fill=theme.soft)
        words = []
        for trick, card in enumerate(view.table[seat]):
            x, wins = LEFT + trick * APART + 2, view.wins.get(trick) == seat
            if card >= 0:
                drawn += self._card(x, y + 4, APART - 4, CARD, card, line=theme.ink if wins else "")
                drawn += crown(theme, x + APART - 7, y + 6, 7.5) if wins else ""
                words.append(f"{card_to_string(card)}{' wins' if wins else ''}")
            elif card != EMPTY:
                drawn += self._hidden(x, y + 4, "?" if card == CHOSEN else "")
                words.append("face down" if card == CHOSEN else "folded")
            elif trick == view.trick and not out:
                drawn += box(x, y + 4, APART - 4, CARD, "none", radius=5, line=theme.soft, dashed=True)
        state = ", to move" if seat == view.mover else ""
        return figure(drawn, f"{', '.join([f'player_{seat}', *notes])}{state}: {', '.join(words) or 'no card'}")

    def _hidden(self, x: float, y: float, mark: str) -> str:
        """The back of a card."""
        theme, width = self.theme, APART - 4
        back = box(x, y, width, CARD, theme.back, radius=5)
        if mark:
            return back + text(x + width / 2, y + CARD / 2, mark, 20, anchor="middle", bold=True)
        lines = "".join(f"M{x + 5:g} {y + 10 + 8 * k:g}l{width - 10} -4" for k in range(4))
        return back + path(lines, "none", line=theme.panel, weight=1.5)

    # The hand.

    def _hand(self) -> str:
        view, theme = self.view, self.theme
        if view.shown < 0:
            return text(PADDING, 19, "The round is over.", 15, bold=True)
        seat = view.shown
        drawn = text(PADDING, 19, f"Hand of player_{seat}", 15, bold=True)
        for k, card in enumerate(view.hands[seat]):
            drawn += self._in_hand(PADDING + k * 54, TITLE + 10, card)
        drawn += self._aside(seat, TITLE + HAND + FOLDS)
        cards = " ".join(map(card_to_string, view.hands[seat]))
        return group(drawn + self._foot(TITLE + HAND + FOLDS + ASIDE), f"player_{seat} holds {cards or 'no card'}")

    def _in_hand(self, x: float, y: float, card: int) -> str:
        """A card, raised and framed if it can be played, and below it the button that folds it."""
        theme = self.theme
        if card in self.legal:
            face = self._card(x, y - 6, 50, 72, card, line=theme.ink)
            drawn = choice(card, action_to_string(card), face)
        else:
            drawn = self._card(x, y, 50, 72, card, faded=bool(self.legal))
        if FOLD + card in self.legal:
            y += HAND - 8
            face = box(x, y, 50, 28, theme.back, radius=7)
            words = text(x + 25, y + 14, "fold", 14, anchor="middle")
            drawn += choice(FOLD + card, action_to_string(FOLD + card), face + words)
        return drawn

    def _aside(self, seat: int, top: float) -> str:
        """The cards that lie face down before others."""
        view, theme = self.view, self.theme
        drawn, x = "", float(PADDING)
        for what, cards in (("folded", view.folded[seat]), ("chosen", [view.chosen[seat]] if seat in view.chosen else [])):
            if cards:
                drawn += text(x, top + 18, what, 13, fill=theme.soft)
                x += 50
                for card in cards:
                    drawn += self._card(x, top, 28, 36, card, faded=True)
                    x += 31
                x += 10
        return drawn

    def _foot(self, top: float) -> str:
        view, drawn, x = self.view, "", PADDING
        for action, words, width in ((CLAIM, "Claim the side pot", 180), (SHOW, "Show: it wins", 130)):
            if action in self.legal:
                drawn += button(self.theme, action, action_to_string(action), x, top + 2, width, words)
                x += width + 8
        if not drawn and view.mover >= 0:
            mine = view.shown == view.mover
            folds = any(FOLD <= action < CLAIM for action in self.legal)
            words = "Play a framed card or fold one." if folds else "Play a framed card."
            words = words if mine else f"Waiting for player_{view.mover}."
            drawn = text(PADDING, top + 22, words, 14, fill="" if mine else self.theme.soft)
        return drawn

    # Scores and pots.

    def _scores(self) -> str:
        view, theme, rules = self.view, self.theme, self.view.rules
        over = view.mover < 0
        note = "" if view.change is None else "in all, this round" if over else "in all, last round"
        drawn = text(PADDING, 19, "Antes won", 15, bold=True) + text(PANEL - PADDING, 19, note, 13, fill=theme.soft, anchor="end")
        apart = min(64, (PANEL - 2 * PADDING) / rules.num_players)
        words = []
        for seat, score in enumerate(view.scores):
            x = PADDING + 24 + seat * apart
            drawn += text(x, TITLE + 16, signed(score), 20, anchor="middle", bold=True)
            if view.change is not None:
                change = signed(view.change[seat]) if view.change[seat] <= 0 else f"+{view.change[seat]}"
                drawn += text(x, TITLE + 40, change, 13, fill=theme.soft, anchor="middle")
            drawn += token(theme, seat, x, TITLE + 68, 11)
            words.append(f"player_{seat} {score}")
        drawn = figure(drawn, f"antes won: {', '.join(words)}")
        return drawn + self._side_pot(TITLE + SCORES) if rules.side_pot else drawn

    def _side_pot(self, top: float) -> str:
        view = self.view
        claim = "not claimed" if view.claimed == NONE else f"claimed by player_{view.claimed}"
        words = f"Side pot {view.pot}, {claim}"
        drawn = text(PADDING, top + 18, words, 14) + text(PANEL - 52, top + 18, "upturned", 13, fill=self.theme.soft, anchor="end")
        drawn += self._card(PANEL - PADDING - 32, top - 2, 32, 40, view.upturned)
        return figure(drawn, f"{words}; upturned {card_to_string(view.upturned)}")

    # All hands.

    def _hands(self) -> str:
        view, theme = self.view, self.theme
        drawn = text(PADDING, 19, "Hands", 15, bold=True) + text(PANEL - PADDING, 19, "shaded: folded or chosen", 12, fill=theme.soft, anchor="end")
        for seat, hand in view.hands.items():
            y = TITLE + seat * HAND_ROW
            row, x = token(theme, seat, 26, y + 20, 12), 46.0
            chosen = [view.chosen[seat]] if seat in view.chosen else []
            for cards, faded in ((hand, False), (view.folded[seat], True), (chosen, True)):
                for card in cards:
                    row += self._card(x, y, 31, 40, card, faded=faded)
                    x += 34
                x += 8 if cards else 0
            words = [
                f"{what} {' '.join(map(card_to_string, cards))}"
                for what, cards in (("holds", hand), ("folded", view.folded[seat]), ("chose", chosen))
                if cards
            ]
            drawn += figure(row, f"player_{seat} {', '.join(words) or 'holds no card'}")
        return drawn
