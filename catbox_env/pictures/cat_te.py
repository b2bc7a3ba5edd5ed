"""A position of Cat Te as a picture: the tricks card by card, a hand, antes and side pot, all hands."""

from __future__ import annotations

import numpy as np

from catbox_env.core.kernels import HIDDEN
from catbox_env.games.cat_te.rules import (
    LAST_TRICK,
    NUM_EARLY_TRICKS,
    NUM_TRICKS,
    RANKS,
    SUITS,
    card_of,
    card_to_string,
    rank_of,
    suit_of,
)
from catbox_env.games.cat_te.state import CLAIM, FOLD, INFO_SCORE, INFO_SHOWED, INFO_WON, NONE, SHOW
from catbox_env.games.cat_te.view import CHOSEN, EMPTY, View, cards_to_string
from catbox_env.pictures import svg
from catbox_env.pictures.sheet import GAP, PADDING, PANEL, TITLE, Sheet, Theme
from catbox_env.pictures.svg import number

#: The height of a row of the tricks, and of all in a large picture, where a row has at most that of a large one.
ROW, LARGE_ROWS, LARGE_ROW = 50, 190, 60
#: The column of the first trick, the distance of the next, the width of a card.
LEFT, SPACING, WIDTH = 128, 35, 32
#: Heights of the antes, of all rows (above all hands too) and at most one in a large picture, of their changes, of the
#: side pot, of a row of the hands.
ANTES, LARGE_ANTES, ANTES_ABOVE, LARGE_ANTE, CHANGES, SIDE_POT, HAND_ROW = 46, 224, 120, 60, 24, 52, 44
#: The gap between cards in the hand, their width, and how much higher they are.
HAND_GAP, HAND_WIDTH, CARD_RATIO = 4, 50, 1.5
#: Heights of the room around the cards, of the buttons below them, of the whole panel, and of the lines below: in a
#: large picture they have a panel of their own.
HAND_PADDING, FOLDS_HEIGHT, FOOT = 10, 36, 46
HAND = TITLE + CARD_RATIO * HAND_WIDTH + HAND_PADDING + FOLDS_HEIGHT + 6
#: At the end of a large picture, where all hands take the place of one: the width of a row, and of a card at most.
HANDS_WIDTH, LARGEST_CARD = 286, 48
#: What an ante is.
ANTE = ("An ante is what each player stakes in a round.", "Usually, whoever wins trick 6 takes them all.")
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
    _put_tricks(view, sheet)
    ends_with_hands = sheet.is_large and sheet.seat is None and view.mover < 0
    put = _put_hands if ends_with_hands else _put_hand
    put(view, sheet)
    _put_antes(view, sheet)
    seat = view.mover if sheet.seat is None else sheet.seat
    has_foot = sheet.seat is not None or bool({CLAIM, SHOW} & {*sheet.legal})
    if sheet.is_large and seat >= 0 and has_foot:
        sheet.panel(1, FOOT, _foot(view, sheet, seat, 0))
    if sheet.seat is None and not ends_with_hands:
        _put_hands(view, sheet, FOOT + GAP if sheet.is_large and not has_foot else 0)
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
        return sheet.turn_line("leads", "Lead a card")
    led = SUITS[view.led]
    if view.is_blind:
        return sheet.turn_line(f"chooses, {led} led", f"{led.capitalize()} led: choose a card face down")
    if view.mover in view.hands and not _can_follow(view, view.mover):
        may = "Play or fold" if view.rules.offsuit_faceup else "Fold"
        return sheet.turn_line("plays or folds", f"{may} any card")
    return sheet.turn_line(f"follows {led} or folds", f"Follow {led} or fold")


def _can_follow(view: View, seat: int) -> bool:
    return any(suit_of(card) == view.led for card in view.hands[seat])


def _tell(mover: int, action: int) -> str:
    if action == HIDDEN:  # folded, or chosen blind
        return f"player_{mover} folded a card, face down"
    if action < CLAIM:
        return f"player_{mover} {'played' if action < FOLD else 'folded'} {card_to_string(card_of(action))}"
    return f"player_{mover} {'claimed the side pot' if action == CLAIM else 'showed an instant win'}"


def _face(
    theme: Theme, x: float, y: float, width: float, height: float, card: int, *, line: str = "", shaded: bool = False
) -> str:  # fmt: skip
    """A face-up card: its rank, and its suit below. ``line``: the colour of a frame around it."""
    suit, middle = suit_of(card), x + width / 2
    red, blue, _, green = theme.words
    fill = (green, blue, red, theme.ink)[suit]
    ground = theme.page if shaded else theme.face
    drawn = svg.box(
        x, y, width, height, ground, radius=5, line=line or theme.line, weight=2.5 if line else 1.5
    )
    size = min(0.36 * height, 0.7 * width)  # "10" is as wide as a card
    drawn += svg.centred(middle, y + 0.28 * height, RANKS[rank_of(card)], size, fill, bold=True)
    place = f"translate({number(middle)} {number(y + 0.66 * height)}) scale({number(0.035 * height)})"
    return drawn + f'<path transform="{place}" d="{SUIT_SHAPES[suit]}" fill="{fill}"/>'


def _back(theme: Theme, x: float, y: float, width: float, height: float) -> str:
    """The back of a card: a frame and a diamond."""
    edge, right, down = 0.11 * width, 0.2 * width, 0.2 * height
    drawn = svg.box(x, y, width, height, theme.back, radius=round(0.12 * width, 1))
    inner = round(0.08 * width, 1)
    drawn += svg.box(
        x + edge, y + edge, width - 2 * edge, height - 2 * edge, "none", radius=inner, line=theme.panel
    )
    top = f"M{number(x + width / 2)} {number(y + height / 2 - down)}"
    to_right, to_left = f"l{number(right)} {number(down)}", f"l-{number(right)} {number(down)}"
    return drawn + svg.path(f"{top}{to_right}{to_left}l-{number(right)} -{number(down)}z", theme.panel)


def _face_down(view: View, sheet: Sheet) -> dict[tuple[int, int], int]:
    """The face-down cards that the viewer knows, by seat and trick; of a state without its past, no folded ones."""
    known = {(seat, view.trick): card for seat, card in view.chosen.items()}
    moves = sheet.state._log[: int(sheet.state.record.num_moves), :2].tolist()
    for seat, folded in view.folded.items():
        # The last trick is played without a choice.
        tricks = [trick for trick in range(LAST_TRICK) if view.table[seat][trick] != EMPTY]
        taken = [action for mover, action in moves if mover == seat and action < CLAIM][-len(tricks) :]
        if len(taken) == len(tricks):
            own = zip(tricks, taken, strict=True)
            known |= {(seat, trick): card_of(action) for trick, action in own if card_of(action) in folded}
    return known


def _put_tricks(view: View, sheet: Sheet) -> None:
    """A row for each seat, a column for each trick; the best card of each trick has a crown."""
    theme, players = sheet.theme, view.rules.num_players
    row = min(LARGE_ROW, LARGE_ROWS // players) if sheet.is_large else ROW
    drawn, under_way = "", view.trick if view.mover >= 0 else NONE
    if under_way != NONE:
        drawn += svg.box(LEFT + view.trick * SPACING, 6, SPACING, players * row + 28, theme.turn, radius=8)
    drawn += sheet.heading("Tricks")
    for trick in range(NUM_TRICKS):
        now = trick == under_way
        fill = theme.ink if now else theme.soft
        drawn += svg.centred(LEFT + (trick + 0.5) * SPACING, 19, trick + 1, 14, fill, bold=now)
    known = _face_down(view, sheet)
    drawn += "".join(_row(view, sheet, row, seat, known) for seat in range(players))
    sheet.panel(0, TITLE + players * row + 6, drawn, "tricks")


def _row(view: View, sheet: Sheet, row: int, seat: int, known: dict[tuple[int, int], int]) -> str:
    """The row of a seat, ``row`` units high; face-down cards that the viewer knows (see `_face_down`) are shaded and
    have a bent corner."""
    theme, height, out = sheet.theme, min(row - 6, 54), not view.in_round[seat]
    width = min(WIDTH, round(0.85 * height))
    top = TITLE + seat * row
    y = top + (row - height) / 2
    notes = ["dealer"] * (seat == view.dealer) + ["out"] * out
    words: list[str] = []
    drawn, who = sheet.seat_row(seat, top, row, notes, width=LEFT - 10, faded=out)
    for trick, card in enumerate(view.table[seat]):
        x, wins = LEFT + trick * SPACING + (SPACING - width) / 2, view.wins.get(trick) == seat
        if card >= 0:
            face = _face(theme, x, y, width, height, card, line=theme.ink if wins else "")
            face += sheet.crown(x + width - 3, y + 2, 7.5) if wins else ""
            origin = f"hand-{card}" if seat == sheet.seat else f"seat-{seat}"
            drawn += svg.with_key(f"card-{card}", face, came_from=origin)
            words.append(f"{card_to_string(card)}{' wins' if wins else ''}")
        elif card != EMPTY:
            what = "chosen" if card == CHOSEN else "folded"
            if (seat, trick) in known:
                drawn += _face(theme, x, y, width, height, known[seat, trick], shaded=True)
                drawn += svg.path(f"M{number(x + width - 12)} {number(y)}h12v12z", theme.soft)
                what += f" {card_to_string(known[seat, trick])}"
            else:
                drawn += _back(theme, x, y, width, height)
                what = "face down" if card == CHOSEN else what
            words.append(what)
        elif trick == view.trick and view.mover >= 0 and not out:
            drawn += svg.box(x, y, width, height, "none", radius=5, line=theme.soft, dashed=True)
        elif trick > view.trick and view.mover >= 0 and not out and seat not in view.hands:
            # A card that is still in a hand.
            drawn += _back(theme, x + 0.2 * width, y + 0.2 * height, 0.6 * width, 0.6 * height)
    return svg.figure(drawn, f"{who}: {', '.join(words) or 'no card'}")


def _put_hand(view: View, sheet: Sheet) -> None:
    """The hand of the viewer, or of the seat to move: a framed card can be played, a button folds it.

    Who has won, if the viewer has no hand and nobody is to move.
    """
    seat = view.mover if view.seat is None else view.seat
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
    sheet.panel(*((0, HAND) if sheet.is_large else (1, HAND - 6 + FOOT)), drawn, "hand")


def _hand(view: View, sheet: Sheet, seat: int) -> str:
    has_folds = any(FOLD <= action < CLAIM for action in sheet.legal)
    known = _face_down(view, sheet).values()
    unplaced = cards_to_string(card for card in view.folded.get(seat, ()) if card not in known)
    drawn = sheet.heading(f"Hand of player_{seat}", f"folded {unplaced}" if unplaced else "")
    width, height = HAND_WIDTH, CARD_RATIO * HAND_WIDTH
    below = TITLE + height + HAND_PADDING
    for k, card in enumerate(view.hands[seat]):
        x, playable = PADDING + k * (width + HAND_GAP), card in sheet.legal
        y = TITLE + (4 if playable else 10)
        shaded = bool(sheet.legal) and not playable
        face = _face(sheet.theme, x, y, width, height, card, shaded=shaded)
        drawn += svg.with_key(f"hand-{card}", face)
        drawn += sheet.choice(card, x, y, width, height, radius=5)
        if FOLD + card in sheet.legal:
            drawn += sheet.button(FOLD + card, x, below + 2, width, "fold", small=True)
    if not sheet.is_large:
        drawn += _foot(view, sheet, seat, below + (FOLDS_HEIGHT if has_folds else 8) - 6)
    return svg.group(drawn, f"player_{seat} holds {cards_to_string(view.hands[seat]) or 'no card'}")


def _foot(view: View, sheet: Sheet, seat: int, top: float) -> str:
    """What can be done, and below it what is at risk for the viewer."""
    drawn, x, line = "", PADDING, top + 18
    for action, words, what in ((CLAIM, "Claim", "the side pot"), (SHOW, "Show", "and win")):
        if action in sheet.legal:
            drawn += sheet.button(action, x, top + 2, 72, words)
            drawn += svg.text(x + 80, top + 22, what)
            x += 172
    if drawn or view.mover < 0:
        return drawn
    if seat == view.mover:
        asked = "Choose an outlined card."
        if any(FOLD <= action < CLAIM for action in sheet.legal):
            asked = "Choose an outlined card or a fold button."
            if not _can_follow(view, seat):
                asked = f"No {SUITS[view.led]}: your card cannot win."
        drawn, line = svg.prompt(PADDING, line, asked), line + 20
    has_won = seat in (view.wins[trick] for trick in range(view.trick))
    at_risk = view.rules.eliminates and view.trick < NUM_EARLY_TRICKS and not has_won and view.in_round[seat]
    if at_risk and seat == sheet.seat:
        left = NUM_EARLY_TRICKS - view.trick
        goal = f"No trick yet: win {'this one' if left == 1 else f'one of the next {left}'} or you're out."
        goal = goal if view.trick else "Win one of the first four tricks or you're out."
        drawn += svg.text(PADDING, line, goal, 13, sheet.theme.soft)
    return drawn


def _put_antes(view: View, sheet: Sheet) -> None:
    """The antes that each seat has won in total and in the last round, in a row each in a large picture; the side pot,
    if there is one.

    They are there from the start, so that all pictures are equally large (a film needs that).
    """
    rules, record = view.rules, sheet.state.record
    any_round = rules.num_rounds > 1 and bool(record.rounds_ended)
    note = "total · last round" if any_round else ""
    if view.mover < 0:
        note = "total · this round" if any_round else _how_won(view, record)
    drawn, words = sheet.heading("Antes won", note), []
    row = min(LARGE_ANTE, (ANTES_ABOVE if sheet.seat is None else LARGE_ANTES) // rules.num_players)
    for seat, (x, score) in enumerate(zip(sheet.places(76), view.scores, strict=True)):
        change = int(record.info[INFO_SCORE, seat])
        changed = (f"+{change}" if change > 0 else svg.signed(change)) if any_round else ""
        if sheet.is_large:
            y, radius = TITLE + (seat + 0.5) * row, min(18, 0.4 * row)
            drawn += sheet.token(seat, PADDING + 18, y, radius) + svg.text(
                PADDING + 46, y, f"player_{seat}", 18
            )
            drawn += svg.text(
                PANEL - 84, y, svg.signed(score), round(0.8 + 1.3 * radius), bold=True, anchor="end"
            )
            drawn += svg.text(PANEL - PADDING, y, changed, 14, sheet.theme.soft, anchor="end")
        else:
            y = TITLE + ANTES / 2 - 4
            drawn += sheet.token(seat, x - 12, y, 11) + svg.text(x + 3, y, svg.signed(score), 16, bold=True)
            drawn += svg.centred(x, y + 25, changed, 13, sheet.theme.soft)
        words.append(f"player_{seat} {score}")
    height = TITLE + ANTES + CHANGES * (rules.num_rounds > 1)
    if sheet.is_large:
        height = TITLE + row * rules.num_players + 20
        for line in ANTE if sheet.seat is not None else ():
            drawn += svg.text(PADDING, height, line, 13, sheet.theme.soft)
            height += 20
    drawn = svg.figure(drawn, f"antes won: {', '.join(words)}")
    if rules.side_pot:
        what, right = f"Side pot {view.pot}, {view.claim}", PANEL - PADDING
        side_pot = svg.text(PADDING, height + 26, what)
        side_pot += svg.text(right - 40, height + 26, "upturned", 13, sheet.theme.soft, anchor="end")
        side_pot += _face(sheet.theme, right - 32, height + 6, 32, 40, view.upturned)
        drawn += svg.figure(side_pot, f"{what}; upturned {card_to_string(view.upturned)}")
        height += SIDE_POT
    sheet.panel(1 if sheet.is_large else None, height, drawn, "antes")


def _how_won(view: View, record: np.record) -> str:
    """How the last round was won: ``"player_2 won trick 6: 7H"``."""
    winner = int(np.argmax(record.info[INFO_WON, : view.rules.num_players]))
    last = view.table[winner][LAST_TRICK]
    if last >= 0:
        return f"player_{winner} won trick {LAST_TRICK + 1}: {card_to_string(last)}"
    return f"player_{winner} {'showed an instant win' if record.info[INFO_SHOWED, winner] else 'won all four tricks'}"


def _put_hands(view: View, sheet: Sheet, below: int = 0) -> None:
    """The cards that all seats hold, and free room ``below``. At the end of a large picture they are larger, in the
    place of a single hand."""
    drawn, height, pitch = sheet.heading("Hands"), float(HAND_ROW), 34.0
    column, room = 1 if sheet.is_large else None, height * len(view.hands)
    if sheet.is_large and view.mover < 0:
        most = max(len(hand) for hand in view.hands.values())
        column, room, pitch = 0, HAND - TITLE - 6, min(LARGEST_CARD, HANDS_WIDTH / max(most, 1))
        height = min(CARD_RATIO * pitch, room / len(view.hands))
        pitch = min(pitch, height)
    for seat, hand in view.hands.items():
        y = TITLE + seat * height
        row = sheet.token(seat, 26, y + (height - 4) / 2, 12)
        row += "" if hand else svg.text(46, y + (height - 4) / 2, "no card", 13, sheet.theme.soft)
        for k, card in enumerate(hand):
            row += _face(sheet.theme, 46 + k * pitch, y, pitch - 3, height - 4, card)
        drawn += svg.figure(row, f"player_{seat} holds {cards_to_string(hand) or 'no card'}")
    sheet.panel(column, TITLE + room + 6 + below, drawn, "hands")
