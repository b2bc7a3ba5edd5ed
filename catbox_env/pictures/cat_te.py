"""A position of Cat Te as a picture: the tricks card by card, a hand, antes and side pot, all hands."""

from __future__ import annotations

from functools import partial
from textwrap import wrap

import numpy as np

from catbox_env.core.kernels import HIDDEN
from catbox_env.games.cat_te.rules import (
    HAND_SIZE,
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
from catbox_env.pictures.sheet import DIAMOND, LARGER, PADDING, PANEL, SPAN, TITLE, Sheet, Theme
from catbox_env.pictures.svg import number

#: The height of a row of the tricks, and of all in a large picture, where a row has at most that of a large one.
ROW, LARGE_ROWS, LARGE_ROW = 50, 200, 66
#: The height of a row beside all hands, and of a card there.
ROW_BESIDE_HANDS, CARD = 70, 48
#: The column of the first trick, the distance of the next, the width of a card at most; in a picture of one wide panel,
#: which may have a column for the antes.
LEFT, SPACING, WIDTH = 120, 31, 28
WIDE_LEFT, WIDE_SPACING, WIDE_WIDTH, SPACING_BESIDE_ANTES = 150, 70, 46, 60
#: Heights of the side pot, of a row of the hands, at most, and of how much is added for the side pot.
SIDE_POT, HAND_ROW, LARGEST_HAND_ROW = 52, 44, 60
#: The gap between cards in the hand, their width, and how much higher they are; in a picture of one wide panel, where
#: they stand below the tricks.
HAND_GAP, HAND_WIDTH, CARD_RATIO, WIDE_HAND_WIDTH = 4, 50, 1.5, 65
#: Heights of the room around the cards, of a button below them, with the room around it, of the whole panel, and of the
#: lines below, which in a picture of one wide panel stand before the cards.
HAND_PADDING, FOLD_HEIGHT, FOLDS_HEIGHT, FOOT = 6, 36, 44, 46
HAND = TITLE + CARD_RATIO * HAND_WIDTH + HAND_PADDING + FOLDS_HEIGHT
WIDE_HAND = 2 * HAND_PADDING + CARD_RATIO * WIDE_HAND_WIDTH + FOLDS_HEIGHT
#: The height of these lines, and about how many letters they have.
LINE, LETTERS = 17, 19
#: What an ante is.
ANTE = "An ante is what each player stakes in a round. Usually, whoever wins trick 6 takes them all."
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
    all_hands = sheet.seat is None
    # At the end all hands take the place of one, unless the side pot needs the column beside them.
    if sheet.is_large and (not all_hands or (view.mover < 0 and not view.rules.side_pot)):
        sheet.panel_width = SPAN
    _put_tricks(view, sheet)
    if sheet.panel_width == SPAN and all_hands:
        _put_hands(view, sheet)
        return sheet.picture(_note(view), _line(view, sheet), _tell)
    _put_hand(view, sheet)
    if view.rules.side_pot and sheet.panel_width == PANEL:
        sheet.panel(
            1 if sheet.is_large else None, SIDE_POT, _side_pot(view, sheet, PADDING, PANEL - PADDING, 0)
        )
    if all_hands:
        if sheet.is_large and {CLAIM, SHOW} & {*sheet.legal}:
            sheet.panel(1, FOOT, _foot(view, sheet, view.mover, 0))
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


def _columns(view: View, sheet: Sheet) -> tuple[int, int, int]:
    """The column of the first trick, the distance of the next, and the width of a card at most."""
    if sheet.panel_width < SPAN:
        return LEFT, SPACING, WIDTH
    return WIDE_LEFT, SPACING_BESIDE_ANTES if _has_antes(view) else WIDE_SPACING, WIDE_WIDTH


def _has_antes(view: View) -> bool:
    return view.mover < 0 or any(view.scores)


def _put_tricks(view: View, sheet: Sheet) -> None:
    """A row for each seat, a column for each trick; the best card of each trick has a crown. What each seat has won
    stands behind them, once there is something."""
    theme, players = sheet.theme, view.rules.num_players
    row = min(LARGE_ROW, LARGE_ROWS // players) if sheet.is_large else ROW
    if sheet.seat is None and sheet.is_wide and not sheet.is_large:
        row = ROW_BESIDE_HANDS
    left, spacing, _ = _columns(view, sheet)
    drawn, under_way = "", view.trick if view.mover >= 0 else NONE
    if under_way != NONE:
        drawn += svg.box(left + view.trick * spacing, 6, spacing, players * row + 28, theme.turn, radius=8)
    drawn += sheet.heading("Tricks")
    for trick in range(NUM_TRICKS):
        now = trick == under_way
        fill = theme.ink if now else theme.soft
        drawn += svg.centred(left + (trick + 0.5) * spacing, 19, trick + 1, 14, fill, bold=now)
    known = _face_down(view, sheet)
    drawn += "".join(_row(view, sheet, row, seat, known) for seat in range(players))
    if _has_antes(view):
        drawn += _antes(view, sheet, row)
    sheet.panel(0, TITLE + players * row + 6, drawn, "tricks")


def _antes(view: View, sheet: Sheet, row: float) -> str:
    """The antes that each seat has won, and below them in the last round, if it was not the only one."""
    rules, info, soft = view.rules, sheet.state.record.info, sheet.theme.soft
    left, spacing, _ = _columns(view, sheet)
    is_wide = sheet.panel_width == SPAN
    x = (left + NUM_TRICKS * spacing + sheet.panel_width) / 2
    drawn, words = svg.with_title(svg.centred(x, 19, "antes", 13 if is_wide else 12, soft), ANTE), []
    any_round = rules.num_rounds > 1 and bool(sheet.state.record.rounds_ended)
    for seat, score in enumerate(view.scores):
        y, change = TITLE + (seat + 0.5) * row, int(info[INFO_SCORE, seat])
        up = 8 if any_round else 0
        drawn += svg.centred(x, y - up, svg.signed(score), 18 if is_wide else 15, bold=True)
        if any_round:
            changed = f"+{change}" if change > 0 else svg.signed(change)
            told = "in this round" if view.mover < 0 else "in the last round"
            drawn += svg.with_title(svg.centred(x, y + 9, changed, 12, soft), told)
        words.append(f"player_{seat} {score}")
    return svg.figure(drawn, f"antes won: {', '.join(words)}")


def _row(view: View, sheet: Sheet, row: int, seat: int, known: dict[tuple[int, int], int]) -> str:
    """The row of a seat, ``row`` units high; face-down cards that the viewer knows (see `_face_down`) are shaded and
    have a bent corner."""
    theme, height, out = sheet.theme, min(row - 6, 54 if sheet.is_large else CARD), not view.in_round[seat]
    left, spacing, widest = _columns(view, sheet)
    width = min(widest, round(0.85 * height))
    top = TITLE + seat * row
    y = top + (row - height) / 2
    notes = ["dealer"] * (seat == view.dealer) + ["out"] * out
    words: list[str] = []
    drawn, who = sheet.seat_row(seat, top, row, notes, width=left - 10, faded=out)
    for trick, card in enumerate(view.table[seat]):
        x, wins = left + trick * spacing + (spacing - width) / 2, view.wins.get(trick) == seat
        if card >= 0:
            face = _face(theme, x, y, width, height, card, line=theme.ink if wins else "")
            # Not over the rank: beside a card with room, else on its lower corner.
            beside = spacing - width > 18
            face += sheet.crown(x + width + 9, y + height / 2, 7.5) if wins and beside else ""
            face += sheet.crown(x + width - 2, y + height - 1, 7) if wins and not beside else ""
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
        drawn += _winners(view, sheet)
    height = HAND if sheet.is_large else HAND + FOOT
    if sheet.panel_width == SPAN:
        height = WIDE_HAND + SIDE_POT * bool(view.rules.side_pot)
    sheet.panel(0 if sheet.is_large else 1, height, drawn, "hand")


def _winners(view: View, sheet: Sheet) -> str:
    drawn = ""
    for k, winner in enumerate(sheet.winners):
        x, y = PADDING + 12 + (PANEL / 2) * (k % 2), TITLE + 14 + 32 * (k // 2)
        drawn += sheet.token(winner, x, y, 11) + svg.text(x + 20, y, f"player_{winner}", 15, bold=True)
        drawn += sheet.crown(x + 110, y)
    return drawn + _told(view, sheet, PADDING, HAND - 18)


def _told(view: View, sheet: Sheet, x: float, y: float) -> str:
    """How the round was won, once it is over."""
    return svg.text(x, y, _how_won(view, sheet.state.record), 14, sheet.theme.soft)


def _hand(view: View, sheet: Sheet, seat: int) -> str:
    has_folds = any(FOLD <= action < CLAIM for action in sheet.legal)
    known = _face_down(view, sheet).values()
    unplaced = cards_to_string(card for card in view.folded.get(seat, ()) if card not in known)
    spans = sheet.panel_width == SPAN
    drawn = sheet.heading("" if spans else f"Hand of player_{seat}", f"folded {unplaced}" if unplaced else "")
    left, top, width, distance = PADDING, TITLE, HAND_WIDTH, HAND_WIDTH + HAND_GAP
    if spans:
        left, top, width, distance = WIDE_LEFT, HAND_PADDING, WIDE_HAND_WIDTH, WIDE_SPACING
        drawn += svg.text(PADDING, 19, f"Hand of player_{seat}", 14, bold=True)
    height = CARD_RATIO * width
    below = top + height + HAND_PADDING
    for k, card in enumerate(view.hands[seat]):
        x, playable = left + k * distance, card in sheet.legal
        y = top + (2 if playable else 6)
        shaded = bool(sheet.legal) and not playable
        face = _face(sheet.theme, x, y, width, height, card, shaded=shaded)
        drawn += svg.with_key(f"hand-{card}", face)
        drawn += sheet.choice(card, x, y, width, height, radius=5)
        if FOLD + card in sheet.legal:
            drawn += sheet.button(FOLD + card, x, below + 2, width, "fold", height=FOLD_HEIGHT)
    if spans:
        drawn += _foot(view, sheet, seat, TITLE)
        drawn += _side_pot(view, sheet, PADDING, WIDE_LEFT + width, WIDE_HAND) if view.rules.side_pot else ""
    elif not sheet.is_large:
        drawn += _foot(view, sheet, seat, below + (FOLDS_HEIGHT if has_folds else 8) - 6)
    return svg.group(drawn, f"player_{seat} holds {cards_to_string(view.hands[seat]) or 'no card'}")


def _side_pot(view: View, sheet: Sheet, left: float, right: float, top: float) -> str:
    """What is in the side pot, who claimed it, and the card that decides it."""
    what, middle = f"Side pot {view.pot}, {view.claim}", top + 26
    drawn = svg.text(left, middle - 9, f"Side pot {view.pot}")
    drawn += svg.text(left, middle + 11, view.claim, 13, sheet.theme.soft)
    drawn += _face(sheet.theme, right - 32, top + 6, 32, 40, view.upturned)
    return svg.figure(drawn, f"{what}; upturned {card_to_string(view.upturned)}")


def _foot(view: View, sheet: Sheet, seat: int, top: float) -> str:
    """What can be done, and below it what is at risk for the viewer; at the end how the round was won.

    In a picture of one wide panel it stands in short lines before the cards.
    """
    spans = sheet.panel_width == SPAN
    drawn, x, y = "", float(PADDING), top
    for action, words, what in ((CLAIM, "Claim", "the side pot"), (SHOW, "Show", "and win")):
        if action in sheet.legal:
            drawn += sheet.button(action, x, y + 2, 72, words)
            drawn += svg.text(x, y + 50, what, 13) if spans else svg.text(x + 80, y + 22, what)
            x, y = (x, y + 58) if spans else (x + 172, y)
    if drawn:
        return drawn
    asked = "Choose an outlined card." if seat == view.mover else ""
    if any(FOLD <= action < CLAIM for action in sheet.legal):
        asked = "Play a card, or fold one."
        if not _can_follow(view, seat):
            asked = f"You have no {SUITS[view.led]}: no card of yours can win."
    risk = _goal(view, seat) if seat == sheet.seat else ""
    if view.mover < 0:
        risk = _how_won(view, sheet.state.record)
    y = top + (LINE / 2 if spans else 18)
    for words, put in ((asked, svg.prompt), (risk, partial(svg.text, fill=sheet.theme.soft))):
        for line in wrap(words, LETTERS) if spans else filter(None, [words]):
            drawn, y = drawn + put(PADDING, y, line, 13), y + (LINE if spans else 20)
    return drawn


def _goal(view: View, seat: int) -> str:
    """What ``seat`` must do to stay in the round, if anything."""
    has_won = seat in (view.wins[trick] for trick in range(view.trick))
    is_safe = has_won or not view.rules.eliminates or view.trick >= NUM_EARLY_TRICKS
    if is_safe or view.mover < 0 or not view.in_round[seat]:
        return ""
    left = NUM_EARLY_TRICKS - view.trick
    if not view.trick:
        return "Win one of the first four tricks or you're out."
    return f"No trick yet: win {'this one' if left == 1 else f'one of the next {left}'} or you're out."


def _how_won(view: View, record: np.record) -> str:
    """How the last round was won: ``"player_2 won trick 6: 7H"``."""
    winner = int(np.argmax(record.info[INFO_WON, : view.rules.num_players]))
    last = view.table[winner][LAST_TRICK]
    if last >= 0:
        return f"player_{winner} won trick {LAST_TRICK + 1}: {card_to_string(last)}"
    return f"player_{winner} {'showed an instant win' if record.info[INFO_SHOWED, winner] else 'won all four tricks'}"


def _put_hands(view: View, sheet: Sheet) -> None:
    """The cards that all seats hold; at the end of a large picture they take the place of one hand, in two columns if
    the seats are many."""
    drawn, height, columns = sheet.heading("Hands"), float(HAND_ROW), 1
    room = height * len(view.hands)
    spans = sheet.panel_width == SPAN
    if spans:
        drawn = sheet.heading("Hands", _how_won(view, sheet.state.record))
        columns, room = (1 if len(view.hands) < 4 else 2), WIDE_HAND - TITLE - 6
        height = min(LARGEST_HAND_ROW, room / -(-len(view.hands) // columns))
    elif sheet.is_large:
        height = min(LARGEST_HAND_ROW, LARGER * LARGE_ROWS / len(view.hands))
        room = height * len(view.hands)
    card = height - 4
    across = sheet.panel_width / columns
    widest = (across - PADDING - 50) / HAND_SIZE - 3
    width, radius = min(0.85 * card, 44, widest), min(18, card / 2 / DIAMOND)
    for place, (seat, hand) in enumerate(view.hands.items()):
        x, y = PADDING + across * (place % columns), TITLE + place // columns * height
        row = sheet.token(seat, x + 18, y + card / 2, radius)
        row += "" if hand else svg.text(x + 44, y + card / 2, "no card", 13, sheet.theme.soft)
        for k, held in enumerate(hand):
            row += _face(sheet.theme, x + 44 + k * (width + 3), y, width, card, held)
        drawn += svg.figure(row, f"player_{seat} holds {cards_to_string(hand) or 'no card'}")
    column = 0 if spans else 1 if sheet.is_large else None
    sheet.panel(column, WIDE_HAND if spans else TITLE + room + 6, drawn, "hands")
