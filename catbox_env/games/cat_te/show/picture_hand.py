"""Cards of Cat Te in a picture, and the hand of a seat with what it can do."""

from __future__ import annotations

from catbox_env.core.picture import (
    PADDING,
    TITLE,
    Sheet,
    Theme,
    box,
    button,
    centred,
    choice,
    disc,
    group,
    heading,
    number,
    text,
)
from catbox_env.games.cat_te.play.state import CLAIM, FOLD, SHOW
from catbox_env.games.cat_te.rules import NUM_SUITS, RANKS, card_to_string
from catbox_env.games.cat_te.show.text import action_to_string
from catbox_env.games.cat_te.show.view import View

#: Width and height of a card in the hand, and how far cards are apart.
WIDTH, HEIGHT, APART = 50, 72, 54
#: Heights of the cards, of the buttons below them, of the cards that lie face down, and of the line below.
CARDS, FOLDS, ASIDE, FOOT = 82, 36, 40, 48
#: The suits around the origin, 10 units high: clubs, diamonds, hearts, spades.
SUIT_SHAPES = (
    disc(0, -2.5, 2.5) + disc(-2.7, 1.2, 2.5) + disc(2.7, 1.2, 2.5) + "M-.6 0L-1.6 5H1.6L.6 0z",
    "M0 -5.6L4.3 0L0 5.6L-4.3 0z",
    "M0 5C-6.2 .4 -5.4 -4.6 -2.5 -4.6C-1.2 -4.6 -.2 -3.6 0 -2.4C.2 -3.6 1.2 -4.6 2.5 -4.6C5.4 -4.6 6.2 .4 0 5z",
    "M0 -5.2C5.6 -1 5.6 3.1 3.2 3.4C2 3.6 1 3 .6 2.2L1.6 5H-1.6L-.6 2.2C-1 3 -2 3.6 -3.2 3.4C-5.6 3.1 -5.6 -1 0 -5.2z",
)
#: Which of a theme's colours clubs, diamonds and hearts have; spades have that of the ink.
SUIT_COLORS = (3, 1, 0)


def face(
    theme: Theme, x: float, y: float, width: float, height: float, card: int, *, line: str = "", shaded: bool = False
) -> str:  # fmt: skip
    """An open card: its rank, and its suit below. ``line``: the colour of a frame around it."""
    suit, middle = card % NUM_SUITS, x + width / 2
    fill = theme.words[SUIT_COLORS[suit]] if suit < len(SUIT_COLORS) else theme.ink
    ground = theme.turn if shaded else theme.face
    drawn = box(x, y, width, height, ground, radius=5, line=line or theme.line, weight=2.5 if line else 1.5)
    drawn += centred(middle, y + 0.29 * height, RANKS[card // NUM_SUITS], 0.36 * height, fill, bold=True)
    place = f"translate({number(middle)} {number(y + 0.7 * height)}) scale({number(0.035 * height)})"
    return drawn + f'<path transform="{place}" d="{SUIT_SHAPES[suit]}" fill="{fill}"/>'


def put_hand(view: View, sheet: Sheet) -> None:
    """The hand of the seat that looks, or of the one to move: a framed card can be played, a button folds it."""
    theme, seat = sheet.theme, view.shown
    drawn = "" if seat < 0 else _hand(view, theme, seat)
    sheet.panel(1, TITLE + CARDS + FOLDS + ASIDE + FOOT, drawn or heading(theme, "The game is over"), "hand")


def _hand(view: View, theme: Theme, seat: int) -> str:
    drawn, legal = heading(theme, f"Hand of player_{seat}"), set(view.legal)
    for k, card in enumerate(view.hands[seat]):
        drawn += _in_hand(theme, PADDING + k * APART, TITLE + 10, card, legal)
    x, y = PADDING, TITLE + CARDS + FOLDS
    chosen = [view.chosen[seat]] if seat in view.chosen else []
    for what, cards in (("folded", view.folded[seat]), ("chosen", chosen)):
        if cards:
            drawn += text(x, y + 18, what, 13, theme.soft)
            drawn += "".join(
                face(theme, x + 50 + 31 * k, y, 28, 36, card, shaded=True) for k, card in enumerate(cards)
            )
            x += 60 + 31 * len(cards)
    drawn += _foot(view, theme, seat, y + ASIDE, legal)
    return group(drawn, f"player_{seat} holds {' '.join(map(card_to_string, view.hands[seat])) or 'no card'}")


def _in_hand(theme: Theme, x: float, y: float, card: int, legal: set[int]) -> str:
    drawn = ""
    if FOLD + card in legal:
        label = action_to_string(FOLD + card)
        drawn += button(theme, FOLD + card, label, x, y + CARDS - 8, WIDTH, "fold", small=True)
    if card not in legal:
        return face(theme, x, y, WIDTH, HEIGHT, card, shaded=bool(legal)) + drawn
    y -= 6
    framed = choice(theme, card, action_to_string(card), x, y, WIDTH, HEIGHT, radius=5)
    return face(theme, x, y, WIDTH, HEIGHT, card) + framed + drawn


def _foot(view: View, theme: Theme, seat: int, top: float, legal: set[int]) -> str:
    """What to do."""
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
    return text(PADDING, top + 22, "Play a framed card or fold one." if folds else "Play a framed card.")
