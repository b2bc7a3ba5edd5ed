"""A position of Cat Te as a picture: the tricks card by card, a hand, scores and side pot, all hands."""

from __future__ import annotations

import numpy as np

from catbox_env.core.picture import (
    PADDING,
    PANEL,
    TITLE,
    Sheet,
    Theme,
    box,
    centred,
    crown,
    figure,
    heading,
    path,
    seat_row,
    signed,
    text,
    token,
    won_by,
)
from catbox_env.core.state import GameState
from catbox_env.games.cat_te.play.state import NONE
from catbox_env.games.cat_te.rules import BLIND_TRICK, NUM_TRICKS, SUITS, Rules, card_to_string
from catbox_env.games.cat_te.show.picture_hand import face, put_hand
from catbox_env.games.cat_te.show.view import CHOSEN, EMPTY, View

#: The tricks: where their columns begin, how far they are apart; height of a row, width and height of a card.
LEFT, APART, ROW, WIDTH, HEIGHT = 120, 36, 50, 32, 42
#: Heights of the scores, of the side pot, and of a row of the hands.
SCORES, SIDE_POT, HAND_ROW = 92, 44, 44


def draw(rules: Rules, params: np.record, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture as ``seat`` sees it, with every hand for None."""
    view = View.of(rules, params, state, seat)
    _put_tricks(view, sheet)
    put_hand(view, sheet)
    _put_scores(view, sheet)
    if seat is None:
        _put_hands(view, sheet)
    return sheet.svg("Cat Te", _note(view), _line(view), view.last, view.mover)


def _note(view: View) -> str:
    """Where in the game we are."""
    parts = [view.rules.region]
    if view.rules.num_rounds > 1:
        parts.append(f"round {view.round} of {view.rules.num_rounds}")
    if view.trick < NUM_TRICKS:
        parts.append(f"trick {view.trick + 1} of {NUM_TRICKS}")
    return " · ".join(parts)


def _line(view: View) -> str:
    """Who is to move, and what it has to do."""
    if view.mover < 0:
        return won_by(view.winners)
    if view.mover == view.leader:
        return f"player_{view.mover} leads"
    if view.rules.eliminates and view.trick == BLIND_TRICK:
        return f"player_{view.mover} chooses, {SUITS[view.led]} led"
    return f"player_{view.mover} follows {SUITS[view.led]} or folds"


def _put_tricks(view: View, sheet: Sheet) -> None:
    """A row for each seat, a column for each trick; the best card of each trick has a crown."""
    theme, players = sheet.theme, view.rules.num_players
    drawn = ""
    if view.trick < NUM_TRICKS:
        drawn += box(LEFT + view.trick * APART, 6, APART, players * ROW + 28, theme.turn, radius=8)
    drawn += heading(theme, "Tricks")
    for trick in range(NUM_TRICKS):
        now = trick == view.trick
        fill = theme.ink if now else theme.soft
        drawn += centred(LEFT + (trick + 0.5) * APART, 19, trick + 1, 14, fill, bold=now)
    drawn += "".join(_row(view, theme, seat) for seat in range(players))
    sheet.panel(0, TITLE + players * ROW + 6, drawn, "tricks")


def _row(view: View, theme: Theme, seat: int) -> str:
    top, out = TITLE + seat * ROW, not view.in_round[seat]
    notes = ["dealer"] * (seat == view.dealer) + ["out"] * out
    drawn, who = seat_row(
        theme, seat, top, ROW, notes, viewer=view.seat, mover=view.mover, width=LEFT - 10, faded=out
    )
    words = []
    for trick, card in enumerate(view.table[seat]):
        x, y, wins = LEFT + trick * APART + 2, top + 4, view.wins.get(trick) == seat
        if card >= 0:
            drawn += face(theme, x, y, WIDTH, HEIGHT, card, line=theme.ink if wins else "")
            drawn += crown(theme, x + WIDTH - 3, y + 2, 7.5) if wins else ""
            words.append(f"{card_to_string(card)}{' wins' if wins else ''}")
        elif card != EMPTY:
            drawn += _back(theme, x, y, "?" if card == CHOSEN else "")
            words.append("face down" if card == CHOSEN else "folded")
        elif trick == view.trick and not out:
            drawn += box(x, y, WIDTH, HEIGHT, "none", radius=5, line=theme.soft, dashed=True)
    return figure(drawn, f"{who}: {', '.join(words) or 'no card'}")


def _back(theme: Theme, x: float, y: float, mark: str) -> str:
    """A card that lies face down."""
    back = box(x, y, WIDTH, HEIGHT, theme.back, radius=5)
    if mark:
        return back + centred(x + WIDTH / 2, y + HEIGHT / 2, mark, 20, bold=True)
    lines = "".join(f"M{x + 5:g} {y + 10 + 8 * k:g}l{WIDTH - 10} -4" for k in range(4))
    return back + path(lines, "none", line=theme.panel, weight=1.5)


def _put_scores(view: View, sheet: Sheet) -> None:
    """What each seat has won, and in the last round; the side pot, where there is one."""
    theme, rules = sheet.theme, view.rules
    note = "" if view.change is None else "in all, this round" if view.mover < 0 else "in all, last round"
    drawn, words = heading(theme, "Antes won", note), []
    apart = min(64, (PANEL - 2 * PADDING) / rules.num_players)
    for seat, score in enumerate(view.scores):
        x = PADDING + 24 + seat * apart
        drawn += centred(x, TITLE + 16, signed(score), 20, bold=True)
        if view.change is not None:
            change = view.change[seat]
            drawn += centred(x, TITLE + 40, f"+{change}" if change > 0 else signed(change), 13, theme.soft)
        drawn += token(theme, seat, x, TITLE + 68, 11)
        words.append(f"player_{seat} {score}")
    drawn = figure(drawn, f"antes won: {', '.join(words)}")
    height = TITLE + SCORES
    if rules.side_pot:
        drawn += _side_pot(view, theme, height)
        height += SIDE_POT
    sheet.panel(sheet.shorter_column(), height, drawn, "scores")


def _side_pot(view: View, theme: Theme, top: float) -> str:
    claim = "not claimed" if view.claimed == NONE else f"claimed by player_{view.claimed}"
    words, right = f"Side pot {view.pot}, {claim}", PANEL - PADDING
    drawn = text(PADDING, top + 18, words) + text(
        right - 40, top + 18, "upturned", 13, theme.soft, anchor="end"
    )
    drawn += face(theme, right - 32, top - 2, 32, 40, view.upturned)
    return figure(drawn, f"{words}; upturned {card_to_string(view.upturned)}")


def _put_hands(view: View, sheet: Sheet) -> None:
    """The cards of all seats; shaded those that lie face down."""
    theme = sheet.theme
    drawn = heading(theme, "Hands", "shaded: face down")
    for seat, hand in view.hands.items():
        y = TITLE + seat * HAND_ROW
        row, x, words = token(theme, seat, 26, y + 20, 12), 46, []
        chosen = [view.chosen[seat]] if seat in view.chosen else []
        for what, cards in (("holds", hand), ("folded", view.folded[seat]), ("chose", chosen)):
            for card in cards:
                row += face(theme, x, y, 31, 40, card, shaded=what != "holds")
                x += 34
            if cards:
                x += 8
                words.append(f"{what} {' '.join(map(card_to_string, cards))}")
        drawn += figure(row, f"player_{seat} {', '.join(words) or 'holds no card'}")
    sheet.panel(sheet.shorter_column(), TITLE + len(view.hands) * HAND_ROW + 6, drawn, "hands")
