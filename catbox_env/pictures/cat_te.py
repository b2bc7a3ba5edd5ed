"""A position of Cat Te as a picture: the tricks card by card, a hand, scores and side pot, all hands."""

from __future__ import annotations

from catbox_env.core.kernels import HIDDEN
from catbox_env.games.cat_te.rules import (
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
    RANKS,
    SUITS,
    card_to_string,
)
from catbox_env.games.cat_te.state import CLAIM, FOLD, INFO_SCORE, NONE, SHOW
from catbox_env.games.cat_te.view import CHOSEN, EMPTY, View, cards_to_string
from catbox_env.pictures import svg
from catbox_env.pictures.sheet import PADDING, PANEL, TITLE, Sheet, Theme
from catbox_env.pictures.svg import number

#: The tricks: start and spacing of their columns, width of a card; height of a row and of a card.
LEFT, SPACING, WIDTH, ROW, HEIGHT = 128, 35, 32, 50, 42
#: In a large picture: the height that the rows fill, that of a row at least and at most, and of a card.
LARGE_ROWS, LEAST_ROW, LARGEST_ROW, LARGE_HEIGHT = 248, 62, 80, 54
#: Heights of the scores, of the side pot, and of a row of the hands.
SCORES, SIDE_POT, HAND_ROW = 86, 52, 44
#: Width and spacing of cards in the hand, and their height, in a large picture too.
HAND_WIDTH, HAND_SPACING, HAND_HEIGHT, LARGE_HAND_HEIGHT = 50, 54, 72, 104
#: Heights of the room around the cards, of the buttons below them, of the lines below, and of the face-down cards.
AROUND, FOLDS, FOOT, ASIDE = 10, 36, 46, 44
#: The suits around the origin, 10 units high: clubs, diamonds, hearts, spades.
SUIT_SHAPES = (
    svg.disc(0, -2.5, 2.5) + svg.disc(-2.7, 1.2, 2.5) + svg.disc(2.7, 1.2, 2.5) + "M-.6 0L-1.6 5H1.6L.6 0z",
    "M0 -5.6L4.3 0L0 5.6L-4.3 0z",
    "M0 5C-6.2 .4 -5.4 -4.6 -2.5 -4.6C-1.2 -4.6 -.2 -3.6 0 -2.4C.2 -3.6 1.2 -4.6 2.5 -4.6C5.4 -4.6 6.2 .4 0 5z",
    "M0 -5.2C5.6 -1 5.6 3.1 3.2 3.4C2 3.6 1 3 .6 2.2L1.6 5H-1.6L-.6 2.2C-1 3 -2 3.6 -3.2 3.4C-5.6 3.1 -5.6 -1 0 -5.2z",
)


def draw(sheet: Sheet) -> str:
    """The picture as the viewer of ``sheet`` sees it."""
    view = View.of(sheet.state.game, sheet.state.record, sheet.seat)
    sheet.larger = 1  # the tricks and the hand, side by side, are equally wide
    _put_tricks(view, sheet)
    _put_hand(view, sheet)
    _put_scores(view, sheet)
    if sheet.seat is None:
        _put_hands(view, sheet)
    return sheet.picture(_note(view), _line(view), _tell)


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


def _line(view: View) -> str:
    """Who is to move, and what to do."""
    if view.mover == view.leader:
        return f"player_{view.mover} leads"
    if view.is_blind:
        return f"player_{view.mover} chooses, {SUITS[view.led]} led"
    if view.mover in view.hands and not _can_follow(view, view.mover):
        return f"player_{view.mover} plays or folds"
    return f"player_{view.mover} follows {SUITS[view.led]} or folds"


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
    drawn += svg.centred(middle, y + 0.29 * height, RANKS[card // NUM_SUITS], 0.36 * height, fill, bold=True)
    place = f"translate({number(middle)} {number(y + 0.7 * height)}) scale({number(0.035 * height)})"
    return drawn + f'<path transform="{place}" d="{SUIT_SHAPES[suit]}" fill="{fill}"/>'


def _back(theme: Theme, x: float, y: float) -> str:
    """The back of a small card: a frame and a diamond."""
    drawn = svg.box(x, y, 16, 22, theme.back, radius=3)
    drawn += svg.box(x + 2, y + 2, 12, 18, "none", radius=1, line=theme.panel)
    return drawn + svg.path(f"M{number(x + 8)} {number(y + 7)}l3 4l-3 4l-3 -4z", theme.panel)


def _put_tricks(view: View, sheet: Sheet) -> None:
    """A row for each seat, a column for each trick; the best card of each trick has a crown."""
    theme, players, (row, _) = sheet.theme, view.rules.num_players, _heights(view, sheet)
    drawn, under_way = "", view.trick if view.mover >= 0 else NONE
    if under_way != NONE:
        drawn += svg.box(LEFT + view.trick * SPACING, 6, SPACING, players * row + 28, theme.turn, radius=8)
    drawn += sheet.heading("Tricks")
    for trick in range(NUM_TRICKS):
        now = trick == under_way
        fill = theme.ink if now else theme.soft
        drawn += svg.centred(LEFT + (trick + 0.5) * SPACING, 19, trick + 1, 14, fill, bold=now)
    drawn += "".join(_row(view, sheet, seat) for seat in range(players))
    sheet.panel(0, TITLE + players * row + 6, drawn, "tricks")


def _heights(view: View, sheet: Sheet) -> tuple[int, int]:
    """The heights of a row of the tricks and of a card in it."""
    if not sheet.is_large:
        return ROW, HEIGHT
    return max(LEAST_ROW, min(LARGEST_ROW, LARGE_ROWS // view.rules.num_players)), LARGE_HEIGHT


def _row(view: View, sheet: Sheet, seat: int) -> str:
    theme, (row, height), out = sheet.theme, _heights(view, sheet), not view.in_round[seat]
    top = TITLE + seat * row
    y = top + (row - height) / 2
    notes = ["dealer"] * (seat == view.dealer) + ["out"] * out
    drawn, who = sheet.seat_row(seat, top, row, notes, width=LEFT - 10, faded=out)
    words = []
    for trick, card in enumerate(view.table[seat]):
        x, wins = LEFT + trick * SPACING + 2, view.wins.get(trick) == seat
        if card >= 0:
            face = _face(theme, x, y, WIDTH, height, card, line=theme.ink if wins else "")
            face += sheet.crown(x + WIDTH - 3, y + 2, 7.5) if wins else ""
            origin = f"hand-{card}" if seat == sheet.seat else f"seat-{seat}"
            drawn += svg.keyed(f"card-{card}", face, came_from=origin)
            words.append(f"{card_to_string(card)}{' wins' if wins else ''}")
        elif card != EMPTY:
            drawn += svg.box(x, y, WIDTH, height, theme.back, radius=5)
            if card == CHOSEN:
                drawn += svg.centred(x + WIDTH / 2, y + height / 2, "?", 20, bold=True)
            else:
                first = y + height / 2 - 11
                lines = "".join(f"M{x + 5:g} {first + 8 * k:g}l{WIDTH - 10} -4" for k in range(4))
                drawn += svg.path(lines, "none", line=theme.panel, weight=1.5)
            words.append("face down" if card == CHOSEN else "folded")
        elif trick == view.trick and view.mover >= 0 and not out:
            drawn += svg.box(x, y, WIDTH, height, "none", radius=5, line=theme.soft, dashed=True)
        elif trick > view.trick and view.mover >= 0 and not out and seat not in view.hands:
            drawn += _back(theme, x + 8, y + height / 2 - 11)  # a card that is still in a hand
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
        drawn = sheet.heading("Hands are hidden") + sheet.waiting(TITLE + 20)
    else:
        drawn = sheet.heading("The game is over")
    for k, winner in enumerate(sheet.winners if seat < 0 else ()):
        y = TITLE + 24 + 32 * k
        drawn += sheet.token(winner, PADDING + 12, y, 11)
        drawn += svg.text(PADDING + 32, y, f"player_{winner}", 15, bold=True)
        drawn += sheet.crown(PANEL - PADDING - 10, y)
    sheet.panel(1, TITLE + _card_height(sheet) + AROUND + FOLDS + FOOT + ASIDE, drawn, "hand")


def _card_height(sheet: Sheet) -> int:
    return LARGE_HAND_HEIGHT if sheet.is_large else HAND_HEIGHT


def _hand(view: View, sheet: Sheet, seat: int) -> str:
    height, has_folds = _card_height(sheet), any(FOLD <= action < CLAIM for action in sheet.legal)
    below = TITLE + height + AROUND
    drawn = sheet.heading(f"Hand of player_{seat}")
    for k, card in enumerate(view.hands[seat]):
        x, playable = PADDING + k * HAND_SPACING, card in sheet.legal
        y = TITLE + (4 if playable else 10)
        shaded = bool(sheet.legal) and not playable
        face = _face(sheet.theme, x, y, HAND_WIDTH, height, card, shaded=shaded)
        drawn += svg.keyed(f"hand-{card}", face)
        drawn += sheet.choice(card, x, y, HAND_WIDTH, height, radius=5)
        if FOLD + card in sheet.legal:
            drawn += sheet.button(FOLD + card, x, below + 2, HAND_WIDTH, "fold", small=True)
    drawn += _foot(view, sheet, seat, below + (FOLDS if has_folds else 0) - 6)
    x, y = PADDING, below + FOLDS + FOOT
    for what, cards in _face_down(view, seat, "chosen"):
        drawn += svg.text(x, y + 18, what, 13, sheet.theme.soft)
        for k, card in enumerate(cards):
            drawn += _face(sheet.theme, x + 50 + 31 * k, y, 28, 36, card, shaded=True)
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
    has_won = seat in (view.wins[trick] for trick in range(view.trick))
    if view.rules.eliminates and view.trick < NUM_EARLY_TRICKS and not has_won:
        out = f"Win a trick by trick {NUM_EARLY_TRICKS} or you are out."
        drawn = svg.text(PADDING, top + 37, out, 13, sheet.theme.soft)
    if view.mover != seat:
        return sheet.waiting(line) + drawn
    folds = any(FOLD <= action < CLAIM for action in sheet.legal)
    if folds and view.led >= 0 and not _can_follow(view, seat):
        return svg.prompt(PADDING, line, f"No {SUITS[view.led]}: your card cannot win.") + drawn
    return (
        svg.prompt(PADDING, line, "Play a framed card or fold one." if folds else "Play a framed card.")
        + drawn
    )


def _put_scores(view: View, sheet: Sheet) -> None:
    """Each seat's score in total and in the last round; the side pot, if there is one.

    A large picture of what one seat sees, which stands beside a table of the result, has the scores once a round of
    several has ended; any other has them from the start, so that all are equally large (a film needs that).
    """
    rules, record, drawn, height = view.rules, sheet.state.record, "", 0
    any_round = rules.num_rounds > 1 and bool(record.rounds_ended)
    if not sheet.is_large or ((any_round or view.seat is None) and view.mover >= 0):
        note = "" if not any_round else "in all, this round" if view.mover < 0 else "in all, last round"
        drawn, words = sheet.heading("Antes won", note), []
        for seat, (x, score) in enumerate(zip(sheet.places(PADDING + 24), view.scores, strict=True)):
            drawn += svg.centred(x, TITLE + 16, svg.signed(score), 20, bold=True)
            if any_round:
                change = int(record.info[INFO_SCORE, seat])
                words_of_change = f"+{change}" if change > 0 else svg.signed(change)
                drawn += svg.centred(x, TITLE + 40, words_of_change, 13, sheet.theme.soft)
            drawn += sheet.token(seat, x, TITLE + 68, 11)
            words.append(f"player_{seat} {score}")
        drawn = svg.figure(drawn, f"antes won: {', '.join(words)}")
        height = TITLE + SCORES
    if rules.side_pot:
        what, right = f"Side pot {view.pot}, {view.claim}", PANEL - PADDING
        side_pot = svg.text(PADDING, height + 26, what)
        side_pot += svg.text(right - 40, height + 26, "upturned", 13, sheet.theme.soft, anchor="end")
        side_pot += _face(sheet.theme, right - 32, height + 6, 32, 40, view.upturned)
        drawn += svg.figure(side_pot, f"{what}; upturned {card_to_string(view.upturned)}")
        height += SIDE_POT
    if height:
        sheet.panel(None, height, drawn, "scores")


def _put_hands(view: View, sheet: Sheet) -> None:
    """The cards of all seats; face-down ones are shaded."""
    drawn = sheet.heading("Hands", "shaded: face down")
    for seat, hand in view.hands.items():
        y = TITLE + seat * HAND_ROW
        row, x, words = sheet.token(seat, 26, y + 20, 12), 46, []
        held = [("holds", hand)] if hand else []
        for what, cards in held + _face_down(view, seat, "chose"):
            for card in cards:
                row += _face(sheet.theme, x, y, 31, 40, card, shaded=what != "holds")
                x += 34
            x += 8
            words.append(f"{what} {cards_to_string(cards)}")
        drawn += svg.figure(row, f"player_{seat} {', '.join(words) or 'holds no card'}")
    sheet.panel(None, TITLE + len(view.hands) * HAND_ROW + 6, drawn, "hands")
