"""A position of Cat Te as a picture: the tricks card by card, a hand, scores and side pot, all hands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from catbox_env.core.kernels import HIDDEN
from catbox_env.games.cat_te.rules import (
    LAST_TRICK,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
    RANKS,
    SUITS,
    card_to_string,
)
from catbox_env.games.cat_te.state import CLAIM, FOLD, INFO_SCORE, INFO_SHOWED, INFO_WON, NONE, SHOW
from catbox_env.games.cat_te.view import CHOSEN, EMPTY, View, cards_to_string
from catbox_env.pictures import svg
from catbox_env.pictures.sheet import PADDING, PANEL, TITLE, Sheet, Theme
from catbox_env.pictures.svg import number

#: In a large picture: the height that the rows of the tricks fill, also above all hands, and that of a row at most.
LARGE_ROWS, ROWS_ABOVE_HANDS, LARGEST_ROW = 396, 248, 170
#: Heights of the scores, in a large picture too, of the changes among them, of the side pot, and of a row of the hands.
SCORES, LARGE_SCORES, CHANGES, SIDE_POT, HAND_ROW = 62, 80, 24, 52, 44
#: At the end of a large picture: the height of all hands, and of a row, the width of a row and of a card, at most.
LARGE_HANDS, LARGEST_HAND_ROW, HANDS_WIDTH, LARGEST_CARD = 272, 88, 286, 60
#: The gap between cards in the hand, their width, at most in a large picture too, and their height.
HAND_GAP, HAND_WIDTH, LARGE_HAND_WIDTH, HAND_HEIGHT, LARGE_HAND_HEIGHT = 4, 50, 76, 72, 116
#: Heights of the room around the cards, of the buttons below them, of the lines below, and of the face-down cards.
AROUND, FOLDS, FOOT, ASIDE = 10, 36, 46, 44
#: What the lines and the face-down cards have more in a large picture.
LARGE_FOOT, LARGE_ASIDE = 14, 12
#: The suits around the origin, 10 units high: clubs, diamonds, hearts, spades.
SUIT_SHAPES = (
    svg.disc(0, -2.5, 2.5) + svg.disc(-2.7, 1.2, 2.5) + svg.disc(2.7, 1.2, 2.5) + "M-.6 0L-1.6 5H1.6L.6 0z",
    "M0 -5.6L4.3 0L0 5.6L-4.3 0z",
    "M0 5C-6.2 .4 -5.4 -4.6 -2.5 -4.6C-1.2 -4.6 -.2 -3.6 0 -2.4C.2 -3.6 1.2 -4.6 2.5 -4.6C5.4 -4.6 6.2 .4 0 5z",
    "M0 -5.2C5.6 -1 5.6 3.1 3.2 3.4C2 3.6 1 3 .6 2.2L1.6 5H-1.6L-.6 2.2C-1 3 -2 3.6 -3.2 3.4C-5.6 3.1 -5.6 -1 0 -5.2z",
)


class _Rows(NamedTuple):
    """The rows of the tricks: the name is ``above`` the cards, or 0 on their left; ``card`` is the height of one."""

    height: int
    above: int
    left: int
    spacing: int
    width: int
    card: int


def _rows(view: View, sheet: Sheet) -> _Rows:
    """Few rows of a large picture are so high that the cards, below the name, can be wider."""
    room = ROWS_ABOVE_HANDS if view.seat is None and view.mover >= 0 else LARGE_ROWS
    height = min(LARGEST_ROW, room // view.rules.num_players) if sheet.is_large else 50
    if height < 90:
        return _Rows(height, 0, 128, 35, 32, height - 8)
    return _Rows(height, 38, 52, 47, 43, min(height - 42, 92))


def draw(sheet: Sheet) -> str:
    """The picture as the viewer of ``sheet`` sees it."""
    view = View.of(sheet.state.game, sheet.state.record, sheet.seat)
    sheet.larger = 1  # the tricks and the hand, side by side, are equally wide
    _put_tricks(view, sheet)
    _put_hand(view, sheet)
    _put_scores(view, sheet)
    if sheet.seat is None:
        _put_hands(view, sheet)
    return sheet.picture(_note(view), _line(view, sheet), _tell)


def _note(view: View) -> str:
    """The progress of the game."""
    parts = [] if view.rules.region == "laos" else [view.rules.region.capitalize()]
    if view.rules.num_rounds > 1:
        parts.append(f"round {view.round} of {view.rules.num_rounds}")
    if view.mover >= 0:
        last = view.trick + 1 == NUM_TRICKS
        hint = (
            ", which pays" if last else "" if parts else ", the last one pays"
        )  # no room for it beside other notes
        parts.append(f"trick {view.trick + 1} of {NUM_TRICKS}{hint}")
    return " · ".join(parts)


def _line(view: View, sheet: Sheet) -> str:
    """Who is to move, and what to do."""
    if view.mover == view.leader:
        return sheet.asked("leads", "Lead a card")
    led = SUITS[view.led]
    if view.is_blind:
        return sheet.asked(f"chooses, {led} led", f"{led.capitalize()} led: choose a card face down")
    if view.mover in view.hands and not _can_follow(view, view.mover):
        may = "Play or fold" if view.rules.offsuit_faceup else "Fold"
        return sheet.asked("plays or folds", f"{may} any card")
    return sheet.asked(f"follows {led} or folds", f"Follow {led} or fold")


def _can_follow(view: View, seat: int) -> bool:
    return any(card % NUM_SUITS == view.led for card in view.hands[seat])


def _tell(mover: int, action: int) -> str:
    if action == HIDDEN:  # folded, or chosen blind
        return f"player_{mover} folded a card, face down"
    if action < FOLD:
        return f"player_{mover} played {card_to_string(action)}"
    if action < CLAIM:
        return f"player_{mover} folded {card_to_string(action - FOLD)}"
    return f"player_{mover} {'claimed the side pot' if action == CLAIM else 'showed an instant win'}"


def _face(
    theme: Theme, x: float, y: float, width: float, height: float, card: int, *, line: str = "", shaded: bool = False
) -> str:  # fmt: skip
    """A face-up card: its rank, and its suit below. ``line``: the colour of a frame around it."""
    suit, middle = card % NUM_SUITS, x + width / 2
    red, blue, _, green = theme.words
    fill = (green, blue, red, theme.ink)[suit]
    ground = theme.page if shaded else theme.face
    drawn = svg.box(
        x, y, width, height, ground, radius=5, line=line or theme.line, weight=2.5 if line else 1.5
    )
    size = min(0.36 * height, 0.7 * width)  # "10" is as wide as a card
    drawn += svg.centred(middle, y + 0.29 * height, RANKS[card // NUM_SUITS], size, fill, bold=True)
    place = f"translate({number(middle)} {number(y + 0.7 * height)}) scale({number(0.035 * height)})"
    return drawn + f'<path transform="{place}" d="{SUIT_SHAPES[suit]}" fill="{fill}"/>'


def _back(theme: Theme, x: float, y: float) -> str:
    """The back of a small card: a frame and a diamond."""
    drawn = svg.box(x, y, 16, 22, theme.back, radius=3)
    drawn += svg.box(x + 2, y + 2, 12, 18, "none", radius=1, line=theme.panel)
    return drawn + svg.path(f"M{number(x + 8)} {number(y + 7)}l3 4l-3 4l-3 -4z", theme.panel)


def _put_tricks(view: View, sheet: Sheet) -> None:
    """A row for each seat, a column for each trick; the best card of each trick has a crown."""
    theme, players, rows = sheet.theme, view.rules.num_players, _rows(view, sheet)
    drawn, under_way = "", view.trick if view.mover >= 0 else NONE
    if under_way != NONE:
        x = rows.left + view.trick * rows.spacing
        # Names above the cards interrupt the column.
        parts = [(TITLE + seat * rows.height + rows.above - 4, rows.card + 8) for seat in range(players)]
        for top, height in [(6, TITLE - 10), *parts] if rows.above else [(6, players * rows.height + 28)]:
            drawn += svg.box(x, top, rows.spacing, height, theme.turn, radius=8)
    if not rows.above:
        drawn += sheet.heading("Tricks")
    for trick in range(NUM_TRICKS):
        now = trick == under_way
        fill = theme.ink if now else theme.soft
        drawn += svg.centred(rows.left + (trick + 0.5) * rows.spacing, 19, trick + 1, 14, fill, bold=now)
    drawn += "".join(_row(view, sheet, rows, seat) for seat in range(players))
    sheet.panel(0, TITLE + players * rows.height + 6, drawn, "tricks")


def _row(view: View, sheet: Sheet, rows: _Rows, seat: int) -> str:
    theme, width, height, out = sheet.theme, rows.width, rows.card, not view.in_round[seat]
    top = TITLE + seat * rows.height
    y = top + (rows.above or (rows.height - height) / 2)
    notes = ["dealer"] * (seat == view.dealer) + ["out"] * out
    words: list[str] = []
    if rows.above:
        drawn, who = sheet.seat_row(seat, top, rows.above, notes, faded=out, line=rows.above)
    else:
        drawn, who = sheet.seat_row(seat, top, rows.height, notes, width=rows.left - 10, faded=out)
    for trick, card in enumerate(view.table[seat]):
        x, wins = rows.left + trick * rows.spacing + 2, view.wins.get(trick) == seat
        if card >= 0:
            face = _face(theme, x, y, width, height, card, line=theme.ink if wins else "")
            face += sheet.crown(x + width - 3, y + 2, 7.5) if wins else ""
            origin = f"hand-{card}" if seat == sheet.seat else f"seat-{seat}"
            drawn += svg.keyed(f"card-{card}", face, came_from=origin)
            words.append(f"{card_to_string(card)}{' wins' if wins else ''}")
        elif card != EMPTY:
            drawn += svg.box(x, y, width, height, theme.back, radius=5)
            if card == CHOSEN:
                drawn += svg.centred(x + width / 2, y + height / 2, "?", 20, bold=True)
            else:
                first = y + height / 2 - 11
                lines = "".join(f"M{x + 5:g} {first + 8 * k:g}l{width - 10} -4" for k in range(4))
                drawn += svg.path(lines, "none", line=theme.panel, weight=1.5)
            words.append("face down" if card == CHOSEN else "folded")
        elif trick == view.trick and view.mover >= 0 and not out:
            drawn += svg.box(x, y, width, height, "none", radius=5, line=theme.soft, dashed=True)
        elif trick > view.trick and view.mover >= 0 and not out and seat not in view.hands:
            drawn += _back(theme, x + width / 2 - 8, y + height / 2 - 11)  # a card that is still in a hand
    return svg.figure(drawn, f"{who}: {', '.join(words) or 'no card'}")


def _put_hand(view: View, sheet: Sheet) -> None:
    """The hand of the viewer, or of the seat to move: a framed card can be played, a button folds it.

    Who has won, if the viewer has no hand and nobody is to move; a large picture with all hands has nothing there.
    """
    seat = view.mover if view.seat is None else view.seat
    if seat < 0 and view.seat is None and sheet.is_large:
        return
    if seat >= 0:
        drawn = _hand(view, sheet, seat)
    elif view.mover >= 0:
        drawn = sheet.heading("Hands are hidden")
        drawn += svg.text(PADDING, TITLE + 20, "Players see only their own.", fill=sheet.theme.soft)
    else:
        drawn = sheet.heading("The game is over")
    for k, winner in enumerate(sheet.winners if seat < 0 else ()):
        y = TITLE + 24 + 32 * k
        drawn += sheet.token(winner, PADDING + 12, y, 11)
        drawn += svg.text(PADDING + 32, y, f"player_{winner}", 15, bold=True)
        drawn += sheet.crown(PANEL - PADDING - 10, y)
    height = TITLE + _card_height(sheet) + AROUND + FOLDS + FOOT + ASIDE
    sheet.panel(1, height + (LARGE_FOOT + LARGE_ASIDE) * sheet.is_large, drawn, "hand")


def _card_height(sheet: Sheet) -> int:
    return LARGE_HAND_HEIGHT if sheet.is_large else HAND_HEIGHT


def _hand(view: View, sheet: Sheet, seat: int) -> str:
    height, has_folds = _card_height(sheet), any(FOLD <= action < CLAIM for action in sheet.legal)
    below = TITLE + height + AROUND
    drawn = sheet.heading(f"Hand of player_{seat}")
    width, room = HAND_WIDTH, PANEL - 2 * PADDING + HAND_GAP
    if sheet.is_large:
        width = min(LARGE_HAND_WIDTH, room // max(len(view.hands[seat]), 1) - HAND_GAP)
    for k, card in enumerate(view.hands[seat]):
        x, playable = PADDING + k * (width + HAND_GAP), card in sheet.legal
        y = TITLE + (4 if playable else 10)
        shaded = bool(sheet.legal) and not playable
        face = _face(sheet.theme, x, y, width, height, card, shaded=shaded)
        drawn += svg.keyed(f"hand-{card}", face)
        drawn += sheet.choice(card, x, y, width, height, radius=5)
        if FOLD + card in sheet.legal:
            drawn += sheet.button(FOLD + card, x, below + 2, width, "fold", small=True)
    drawn += _foot(view, sheet, seat, below + (FOLDS if has_folds else 8) - 6)
    x, y, more = PADDING, below + FOLDS + FOOT + LARGE_FOOT * sheet.is_large, LARGE_ASIDE * sheet.is_large
    for what, cards in _face_down(view, seat, "chosen"):
        drawn += svg.text(x, y + 18, what, 13, sheet.theme.soft)
        for k, card in enumerate(cards):
            drawn += _face(sheet.theme, x + 50 + 31 * k, y, 28, 36 + more, card, shaded=True)
        x += 60 + 31 * len(cards)
    return svg.group(drawn, f"player_{seat} holds {cards_to_string(view.hands[seat]) or 'no card'}")


def _face_down(view: View, seat: int, chosen: str) -> list[tuple[str, list[int]]]:
    """The face-down cards of ``seat``: what they are, in words, and which."""
    folded = [("folded", view.folded[seat])] if view.folded[seat] else []
    return folded + ([(chosen, [view.chosen[seat]])] if seat in view.chosen else [])


def _foot(view: View, sheet: Sheet, seat: int, top: float) -> str:
    """What can be done, and below it what is at risk."""
    drawn, x, line = "", PADDING, top + 18
    for action, words, what in ((CLAIM, "Claim", "the side pot"), (SHOW, "Show", "and win")):
        if action in sheet.legal:
            drawn += sheet.button(action, x, top + 2, 72, words)
            drawn += svg.text(x + 80, top + 22, what)
            x += 172
    if drawn or view.mover < 0:
        return drawn
    size = 14 + sheet.is_large
    if seat == view.mover:
        asked = "Choose an outlined card."
        if any(FOLD <= action < CLAIM for action in sheet.legal):
            asked = "Choose an outlined card or a fold button."
            if not _can_follow(view, seat):
                asked = f"No {SUITS[view.led]}: your card cannot win."
        drawn, line = svg.prompt(PADDING, line, asked, size), line + 1.4 * size
    has_won = seat in (view.wins[trick] for trick in range(view.trick))
    if view.rules.eliminates and view.trick < NUM_EARLY_TRICKS and not has_won and view.in_round[seat]:
        left = NUM_EARLY_TRICKS - view.trick
        goal = f"No trick yet: win {'this one' if left == 1 else f'one of the next {left}'} or you're out."
        goal = goal if view.trick else "Win one of the first four tricks or you're out."
        drawn += svg.text(PADDING, line, goal, size - 1, sheet.theme.soft)
    return drawn


def _put_scores(view: View, sheet: Sheet) -> None:
    """Each seat's score in total and in the last round; the side pot, if there is one.

    They are there from the start, so that all pictures are equally large (a film needs that).
    """
    rules, record = view.rules, sheet.state.record
    any_round = rules.num_rounds > 1 and bool(record.rounds_ended)
    note = "total · last round" if any_round else ""
    if view.mover < 0:
        note = "total · this round" if any_round else _how_won(view, record)
    drawn, words = sheet.heading("Antes won", note), []
    room, size, radius = (LARGE_SCORES, 26, 13) if sheet.is_large else (SCORES, 20, 11)
    height = TITLE + room + CHANGES * (rules.num_rounds > 1)
    for seat, (x, score) in enumerate(zip(sheet.places(), view.scores, strict=True)):
        drawn += svg.centred(x, TITLE + 16, svg.signed(score), size, bold=True)
        if any_round:
            change = int(record.info[INFO_SCORE, seat])
            words_of_change = f"+{change}" if change > 0 else svg.signed(change)
            drawn += svg.centred(x, TITLE + 40, words_of_change, 13, sheet.theme.soft)
        drawn += sheet.token(seat, x, height - (21 if sheet.is_large else 18), radius)
        words.append(f"player_{seat} {score}")
    drawn = svg.figure(drawn, f"antes won: {', '.join(words)}")
    if rules.side_pot:
        what, right = f"Side pot {view.pot}, {view.claim}", PANEL - PADDING
        side_pot = svg.text(PADDING, height + 26, what)
        side_pot += svg.text(right - 40, height + 26, "upturned", 13, sheet.theme.soft, anchor="end")
        side_pot += _face(sheet.theme, right - 32, height + 6, 32, 40, view.upturned)
        drawn += svg.figure(side_pot, f"{what}; upturned {card_to_string(view.upturned)}")
        height += SIDE_POT
    sheet.panel(1 if sheet.is_large else None, height, drawn, "scores")


def _how_won(view: View, record: np.record) -> str:
    """How the last round was won: ``"player_2 won trick 6: 7H"``."""
    winner = int(np.argmax(record.info[INFO_WON, : view.rules.num_players]))
    last = view.table[winner][LAST_TRICK]
    if last >= 0:
        return f"player_{winner} won trick {LAST_TRICK + 1}: {card_to_string(last)}"
    return f"player_{winner} {'showed an instant win' if record.info[INFO_SHOWED, winner] else 'won all four tricks'}"


def _put_hands(view: View, sheet: Sheet) -> None:
    """The cards of all seats; face-down ones are shaded. At the end, a large picture has room for larger ones."""
    drawn, height, pitch = sheet.heading("Hands", "shaded: face down"), float(HAND_ROW), 34.0
    held = {
        seat: [("holds", hand)] * bool(hand) + _face_down(view, seat, "chose")
        for seat, hand in view.hands.items()
    }
    if sheet.is_large and view.mover < 0:
        extra = (view.rules.num_rounds > 1) * CHANGES + bool(view.rules.side_pot) * SIDE_POT
        most = max(sum(len(cards) for _, cards in parts) for parts in held.values())
        pitch = min(LARGEST_CARD, (HANDS_WIDTH - 8) / max(most, 1))
        height = min(LARGEST_HAND_ROW, 1.5 * pitch, (LARGE_HANDS - extra) / len(held))
        pitch = min(pitch, height)
    for seat, parts in held.items():
        y = TITLE + seat * height
        row, x, words = sheet.token(seat, 26, y + (height - 4) / 2, 12), 46.0, []
        for what, cards in parts:
            for card in cards:
                row += _face(sheet.theme, x, y, pitch - 3, height - 4, card, shaded=what != "holds")
                x += pitch
            x += 8
            words.append(f"{what} {cards_to_string(cards)}")
        drawn += svg.figure(row, f"player_{seat} {', '.join(words) or 'holds no card'}")
    sheet.panel(None, TITLE + len(view.hands) * height + 6, drawn, "hands")
