"""A position of Cat Te as a picture: the tricks card by card, a hand, scores and side pot, all hands."""

from __future__ import annotations

from catbox_env.core.picture import (
    PADDING,
    PANEL,
    TITLE,
    Sheet,
    Theme,
    actions_shown,
    box,
    button,
    centred,
    choice,
    crown,
    disc,
    figure,
    forbidden,
    group,
    heading,
    last_action,
    number,
    path,
    prompt,
    seat_row,
    signed,
    text,
    token,
    winners_of,
    won_by,
)
from catbox_env.core.state import GameState
from catbox_env.games.cat_te.play.state import CLAIM, FOLD, INFO_SCORE, NONE, SHOW
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
    RANKS,
    SUITS,
    Rules,
    card_to_string,
)
from catbox_env.games.cat_te.show.text import action_to_string
from catbox_env.games.cat_te.show.view import CHOSEN, EMPTY, View, cards_to_string

#: The tricks: start and spacing of their columns; height of a row, width and height of a card.
LEFT, APART, ROW, WIDTH, HEIGHT = 128, 35, 50, 32, 42
#: Heights of the scores, of the side pot, and of a row of the hands.
SCORES, SIDE_POT, HAND_ROW = 92, 44, 44
#: Width, height and spacing of cards in the hand.
HAND_WIDTH, HAND_HEIGHT, HAND_APART = 50, 72, 54
#: Heights of the cards, of the buttons below them, of the face-down cards, and of the line below.
CARDS, FOLDS, FOOT, ASIDE = 82, 36, 40, 44
#: The suits around the origin, 10 units high: clubs, diamonds, hearts, spades.
SUIT_SHAPES = (
    disc(0, -2.5, 2.5) + disc(-2.7, 1.2, 2.5) + disc(2.7, 1.2, 2.5) + "M-.6 0L-1.6 5H1.6L.6 0z",
    "M0 -5.6L4.3 0L0 5.6L-4.3 0z",
    "M0 5C-6.2 .4 -5.4 -4.6 -2.5 -4.6C-1.2 -4.6 -.2 -3.6 0 -2.4C.2 -3.6 1.2 -4.6 2.5 -4.6C5.4 -4.6 6.2 .4 0 5z",
    "M0 -5.2C5.6 -1 5.6 3.1 3.2 3.4C2 3.6 1 3 .6 2.2L1.6 5H-1.6L-.6 2.2C-1 3 -2 3.6 -3.2 3.4C-5.6 3.1 -5.6 -1 0 -5.2z",
)
#: Indices into a theme's colours for clubs, diamonds and hearts; spades have the colour of the ink.
SUIT_COLORS = (3, 1, 0)


def draw(rules: Rules, state: GameState, seat: int | None, sheet: Sheet) -> str:
    """The picture as ``seat`` sees it, or with every hand for None."""
    view = View.of(rules, state.record, seat)
    _put_tricks(view, sheet)
    _put_hand(view, sheet, set(actions_shown(state, seat)), winners_of(state))
    _put_scores(view, sheet, state)
    if seat is None:
        _put_hands(view, sheet)
    line = won_by(winners_of(state)) if view.mover < 0 else _line(view)
    return sheet.svg("Cat Te", _note(view), line, _last_words(state, seat), view.mover)


def _note(view: View) -> str:
    """The progress of the game."""
    parts = [] if view.rules.region == "laos" else [view.rules.region.capitalize()]
    if view.rules.num_rounds > 1:
        parts.append(f"round {view.round} of {view.rules.num_rounds}")
    if view.mover >= 0:
        last = view.trick + 1 == NUM_TRICKS
        parts.append(f"trick {view.trick + 1} of {NUM_TRICKS}, {'which' if last else 'the last one'} pays")
    return " · ".join(parts)


def _line(view: View) -> str:
    """Who is to move, and what to do."""
    if view.mover == view.leader:
        return f"player_{view.mover} leads"
    if view.rules.eliminates and view.trick == BLIND_TRICK:
        return f"player_{view.mover} chooses, {SUITS[view.led]} led"
    seen = view.hands.get(view.mover, [])  # empty: not seen
    if seen and not any(card % NUM_SUITS == view.led for card in seen):
        return f"player_{view.mover} plays or folds"
    return f"player_{view.mover} follows {SUITS[view.led]} or folds"


def _last_words(state: GameState, seat: int | None) -> str:
    last = last_action(state, seat)
    if last is None:
        return ""
    mover, action = last
    if action < 0:  # folded, or chosen blind
        what = "folded a card, face down"
    elif action < FOLD:
        what = f"played {card_to_string(action)}"
    elif action < CLAIM:
        what = f"folded {card_to_string(action - FOLD)}"
    else:
        what = "claimed the side pot" if action == CLAIM else "showed an instant win"
    return f"player_{mover} {what}."


def _face(
    theme: Theme, x: float, y: float, width: float, height: float, card: int, *, line: str = "", shaded: bool = False
) -> str:  # fmt: skip
    """A face-up card: its rank, and its suit below. ``line``: the colour of a frame around it."""
    suit, middle = card % NUM_SUITS, x + width / 2
    fill = theme.words[SUIT_COLORS[suit]] if suit < len(SUIT_COLORS) else theme.ink
    ground = theme.page if shaded else theme.face
    drawn = box(x, y, width, height, ground, radius=5, line=line or theme.line, weight=2.5 if line else 1.5)
    drawn += centred(middle, y + 0.29 * height, RANKS[card // NUM_SUITS], 0.36 * height, fill, bold=True)
    place = f"translate({number(middle)} {number(y + 0.7 * height)}) scale({number(0.035 * height)})"
    return drawn + f'<path transform="{place}" d="{SUIT_SHAPES[suit]}" fill="{fill}"/>'


def _put_tricks(view: View, sheet: Sheet) -> None:
    """A row for each seat, a column for each trick; the best card of each trick has a crown."""
    theme, players = sheet.theme, view.rules.num_players
    drawn, under_way = "", view.trick if view.mover >= 0 else NONE
    if under_way != NONE:
        drawn += box(LEFT + view.trick * APART, 6, APART, players * ROW + 28, theme.turn, radius=8)
    drawn += heading(theme, "Tricks")
    for trick in range(NUM_TRICKS):
        now = trick == under_way
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
            drawn += _face(theme, x, y, WIDTH, HEIGHT, card, line=theme.ink if wins else "")
            drawn += crown(theme, x + WIDTH - 3, y + 2, 7.5) if wins else ""
            words.append(f"{card_to_string(card)}{' wins' if wins else ''}")
        elif card != EMPTY:
            drawn += _back(theme, x, y, "?" if card == CHOSEN else "")
            words.append("face down" if card == CHOSEN else "folded")
        elif trick == view.trick and view.mover >= 0 and not out:
            drawn += box(x, y, WIDTH, HEIGHT, "none", radius=5, line=theme.soft, dashed=True)
    return figure(drawn, f"{who}: {', '.join(words) or 'no card'}")


def _back(theme: Theme, x: float, y: float, mark: str) -> str:
    """A face-down card."""
    back = box(x, y, WIDTH, HEIGHT, theme.back, radius=5)
    if mark:
        return back + centred(x + WIDTH / 2, y + HEIGHT / 2, mark, 20, bold=True)
    lines = "".join(f"M{x + 5:g} {y + 10 + 8 * k:g}l{WIDTH - 10} -4" for k in range(4))
    return back + path(lines, "none", line=theme.panel, weight=1.5)


def _put_hand(view: View, sheet: Sheet, legal: set[int], winners: list[int]) -> None:
    """The hand of ``view.seat``, or of the seat to move: a framed card can be played, a button folds it.

    Who has won, if all hands are shown and nobody is to move.
    """
    theme, seat = sheet.theme, view.mover if view.seat is None else view.seat
    drawn = heading(theme, "The game is over") if seat < 0 else _hand(view, theme, seat, legal)
    for k, winner in enumerate(winners if seat < 0 else ()):
        y = TITLE + 24 + 32 * k
        drawn += token(theme, winner, PADDING + 12, y, 11) + text(
            PADDING + 32, y, f"player_{winner}", 15, bold=True
        )
        drawn += crown(theme, PANEL - PADDING - 10, y)
    sheet.panel(1, TITLE + CARDS + FOLDS + ASIDE + FOOT, drawn, "hand")


def _hand(view: View, theme: Theme, seat: int, legal: set[int]) -> str:
    early = view.mover >= 0 and view.trick < NUM_EARLY_TRICKS
    has_won = seat in (view.wins[trick] for trick in range(view.trick))
    at_risk = view.rules.eliminates and early and not has_won
    note = f"win one of tricks 1\u2013{NUM_EARLY_TRICKS}" if at_risk else ""
    drawn = heading(theme, f"Hand of player_{seat}", note)
    for k, card in enumerate(view.hands[seat]):
        drawn += _in_hand(theme, PADDING + k * HAND_APART, TITLE + 10, card, legal)
    drawn += _foot(view, theme, seat, TITLE + CARDS + FOLDS - 6, legal)
    x, y = PADDING, TITLE + CARDS + FOLDS + FOOT
    chosen = [view.chosen[seat]] if seat in view.chosen else []
    for what, cards in (("folded", view.folded[seat]), ("chosen", chosen)):
        if cards:
            drawn += text(x, y + 18, what, 13, theme.soft)
            drawn += "".join(
                _face(theme, x + 50 + 31 * k, y, 28, 36, card, shaded=True) for k, card in enumerate(cards)
            )
            x += 60 + 31 * len(cards)
    return group(drawn, f"player_{seat} holds {cards_to_string(view.hands[seat]) or 'no card'}")


def _in_hand(theme: Theme, x: float, y: float, card: int, legal: set[int]) -> str:
    drawn = ""
    if FOLD + card in legal:
        label = action_to_string(FOLD + card)
        drawn += button(theme, FOLD + card, label, x, y + CARDS - 8, HAND_WIDTH, "fold", small=True)
    if card not in legal:
        face = _face(theme, x, y, HAND_WIDTH, HAND_HEIGHT, card, shaded=bool(legal))
        return face + forbidden(card, x, y, HAND_WIDTH, HAND_HEIGHT) + drawn
    y -= 6
    framed = choice(theme, card, action_to_string(card), x, y, HAND_WIDTH, HAND_HEIGHT, radius=5)
    return _face(theme, x, y, HAND_WIDTH, HAND_HEIGHT, card) + framed + drawn


def _foot(view: View, theme: Theme, seat: int, top: float, legal: set[int]) -> str:
    """What can be done."""
    drawn, x = "", PADDING
    for action, words, what in ((CLAIM, "Claim", "the side pot"), (SHOW, "Show", "and win")):
        if action in legal:
            drawn += button(theme, action, action_to_string(action), x, top + 2, 72, words)
            drawn += text(x + 80, top + 22, what)
            x += 172
    if drawn or view.mover < 0:
        return drawn
    if view.mover != seat:
        return text(PADDING, top + 22, f"Waiting for player_{view.mover}.", fill=theme.soft)
    folds = any(FOLD <= action < CLAIM for action in legal)
    if folds and view.led >= 0 and not any(card % NUM_SUITS == view.led for card in view.hands[seat]):
        return prompt(PADDING, top + 22, f"No {SUITS[view.led]}: your card cannot win.")
    return prompt(PADDING, top + 22, "Play a framed card or fold one." if folds else "Play a framed card.")


def _put_scores(view: View, sheet: Sheet, state: GameState) -> None:
    """Each seat's score in total and in the last round; the side pot, if there is one."""
    theme, rules = sheet.theme, view.rules
    any_round = rules.num_rounds > 1 and bool(state.record.rounds_ended)
    note = "" if not any_round else "in all, this round" if view.mover < 0 else "in all, last round"
    drawn, words = heading(theme, "Antes won", note), []
    apart = min(64, (PANEL - 2 * PADDING) / rules.num_players)
    for seat, score in enumerate(view.scores):
        x = PADDING + 24 + seat * apart
        drawn += centred(x, TITLE + 16, signed(score), 20, bold=True)
        if any_round:
            change = int(state.record.info[INFO_SCORE, seat])
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
    words, right = f"Side pot {view.pot}, {view.claim}", PANEL - PADDING
    drawn = text(PADDING, top + 18, words) + text(
        right - 40, top + 18, "upturned", 13, theme.soft, anchor="end"
    )
    drawn += _face(theme, right - 32, top - 2, 32, 40, view.upturned)
    return figure(drawn, f"{words}; upturned {card_to_string(view.upturned)}")


def _put_hands(view: View, sheet: Sheet) -> None:
    """The cards of all seats; face-down ones are shaded."""
    theme = sheet.theme
    drawn = heading(theme, "Hands", "shaded: face down")
    for seat, hand in view.hands.items():
        y = TITLE + seat * HAND_ROW
        row, x, words = token(theme, seat, 26, y + 20, 12), 46, []
        chosen = [view.chosen[seat]] if seat in view.chosen else []
        for what, cards in (("holds", hand), ("folded", view.folded[seat]), ("chose", chosen)):
            for card in cards:
                row += _face(theme, x, y, 31, 40, card, shaded=what != "holds")
                x += 34
            if cards:
                x += 8
                words.append(f"{what} {cards_to_string(cards)}")
        drawn += figure(row, f"player_{seat} {', '.join(words) or 'holds no card'}")
    sheet.panel(sheet.shorter_column(), TITLE + len(view.hands) * HAND_ROW + 6, drawn, "hands")
