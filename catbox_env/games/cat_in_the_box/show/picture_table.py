"""The panels beside the research board in a picture: the trick, the players, all hands."""

from __future__ import annotations

from catbox_env.core.picture import (
    LETTERS,
    PADDING,
    PANEL,
    TITLE,
    Sheet,
    Theme,
    box,
    centred,
    crown,
    disc,
    figure,
    heading,
    path,
    seat_row,
    signed,
    text,
    token,
)
from catbox_env.core.state import GameState
from catbox_env.games.cat_in_the_box.play.state import NONE, PLAY
from catbox_env.games.cat_in_the_box.rules import COLORS
from catbox_env.games.cat_in_the_box.show.picture_board import hand_in_words
from catbox_env.games.cat_in_the_box.show.view import View, card_to_string, largest_group, winning_play

#: Heights of the cards of a trick with the tokens below, of a row of the players, and of a row of a hand.
TRICK, ROW, HAND_ROW = 118, 44, 34
#: The middle of the first card of a trick, and the maximum spacing of cards.
FIRST_CARD, MOST_APART = 38, 64
#: Columns of the players: X-tokens, tricks won, group, score.
X_TOKENS, WON, GROUP, SCORE = 126, 211, 283, 322
#: The start of the cards of a hand, and the width of all ranks.
CARDS, ROOM = 40, 262


def _places(view: View) -> list[float]:
    """The middles of one place per seat."""
    apart = min(MOST_APART, (PANEL - 2 * PADDING) / view.rules.num_players)
    return [FIRST_CARD + k * apart for k in range(view.rules.num_players)]


def put_trick(view: View, completed: list[tuple[int, int, int]], sheet: Sheet) -> None:
    """The current trick; before its first card the one just ``completed``: (seat, colour, rank), as played."""
    theme, plays = sheet.theme, view.plays or completed
    winner = winning_play(plays)[0] if plays else NONE
    if completed:
        head, note = "Last trick", f"player_{winner} won"
    else:
        head = f"Trick {view.trick}" if view.phase == PLAY else "Trick"
        note = f"{COLORS[view.led]} led" if plays else f"player_{view.leader} leads"
    drawn = heading(theme, head, note)
    first = plays[0][0] if plays else view.leader
    for turn, x in enumerate(_places(view)):
        seat = (first + turn) % view.rules.num_players
        if turn < len(plays):
            _, color, rank = plays[turn]
            drawn += _card(theme, x, color, rank, wins=seat == winner)
        else:
            drawn += box(x - 22, TITLE + 8, 44, 66, "none", line=theme.soft, weight=1.5, dashed=True)
        drawn += token(theme, seat, x, TITLE + 94, 11)
    cards = ", ".join(f"player_{seat} {card_to_string(color, rank)}" for seat, color, rank in plays)
    wins = f"; player_{winner} {'won' if completed else 'wins so far'}" if cards else ""
    label = f"{head.lower()}, {note}: {cards or 'no card yet'}{wins}"
    sheet.panel(1, TITLE + TRICK, figure(drawn, label))


def _card(theme: Theme, x: float, color: int, rank: int, wins: bool) -> str:
    y, on = TITLE + 8, theme.on_colors[color]
    card = box(x - 26, y - 4, 52, 74, theme.ink, radius=9) if wins else ""
    card += box(x - 22, y, 44, 66, theme.colors[color])
    card += text(x - 16, y + 13, LETTERS[color], 13, on, bold=True)
    card += centred(x, y + 40, rank + 1, 28, on, bold=True)
    return card + (crown(theme, x + 20, y) if wins else "")


def put_results(view: View, state: GameState, sheet: Sheet) -> None:
    """Between two rounds, and at the end: each seat's score as a sum; at the end of a match, in large the total."""
    theme, infos = sheet.theme, [state.info(seat) for seat in range(view.rules.num_players)]
    head = "Result" if view.mover < 0 else "Last round"
    by = [seat for seat, info in enumerate(infos) if info["paradox"]]
    is_match_over = view.rules.num_rounds > 1 and view.mover < 0
    note = f"paradox of player_{by[0]}" if by else "no paradox"
    drawn, words = heading(theme, head, "in all, last round" if is_match_over else note), []
    for seat, (x, info) in enumerate(zip(_places(view), infos, strict=True)):
        score, tricks, bonus = info["score"], info["tricks_won"], info["bonus"]
        counted = signed(-tricks if seat in by else tricks) + (f" + {bonus}" if bonus else "")
        shown = score
        if is_match_over:
            shown, counted = view.scores[seat], f"{score:+d}"
        drawn += centred(x, TITLE + 28, signed(shown), 26, bold=True)
        drawn += centred(x, TITLE + 58, counted, 13, theme.soft) if counted != signed(shown) else ""
        drawn += token(theme, seat, x, TITLE + 94, 11)
        total = f"{shown} points in all, in the last round " if is_match_over else ""
        words.append(f"player_{seat} {total}{score} points, {tricks} tricks, bonus {bonus}")
    sheet.panel(1, TITLE + TRICK, figure(drawn, f"{head.lower()}, {note}: {'; '.join(words)}"))


def put_players(view: View, sheet: Sheet) -> None:
    """The public information about each seat."""
    theme, scored = sheet.theme, view.rules.num_rounds > 1 or view.mover < 0
    drawn = text(X_TOKENS, 19, "X-tokens", 12, theme.soft)
    drawn += text(WON, 19, "won/bid" if view.rules.bids else "won", 12, theme.soft)
    drawn += centred(GROUP, 19, "group", 12, theme.soft)
    drawn += centred(SCORE, 19, "score", 12, theme.soft) if scored else ""
    drawn += "".join(_player(view, theme, seat, scored) for seat in range(view.rules.num_players))
    sheet.panel(1, TITLE + ROW * view.rules.num_players + 4, drawn, "players")


def _player(view: View, theme: Theme, seat: int, scored: bool) -> str:
    top = TITLE + seat * ROW
    y, notes = top + ROW / 2, ["starts"] * (seat == view.start_player)
    drawn, who = seat_row(theme, seat, top, ROW, notes, viewer=view.seat, mover=view.mover)
    kept, size = view.x_tokens[seat], len(largest_group(view.board, seat))
    drawn += "".join(_x_token(theme, y, color, color in kept) for color in range(view.rules.num_colors))
    drawn += _won_and_bid(view, theme, seat, y) + centred(GROUP, y, size, 15)
    drawn += centred(SCORE, y, signed(view.scores[seat]), 15, bold=True) if scored else ""
    words = [who, f"{view.tricks_won[seat]} tricks won"]
    words += [f"bid {view.bids[seat]}"] if view.bids[seat] is not None else []
    words += [f"largest group {size}"] + [f"score {view.scores[seat]}"] * scored
    may = " ".join(COLORS[color] for color in kept)
    return figure(drawn, f"{', '.join(words)}, may declare {may or 'nothing'}")


def _x_token(theme: Theme, y: float, color: int, held: bool) -> str:
    """The right to declare a colour; crossed out when it is lost."""
    x, y = X_TOKENS + 20 * color, y - 9
    if held:
        chip = box(x, y, 18, 18, theme.colors[color], radius=4)
        return chip + centred(x + 9, y + 9, LETTERS[color], 12, theme.on_colors[color], bold=True)
    cross = path(f"M{x + 5} {y + 5:g}l8 8m0 -8l-8 8", "none", line=theme.soft, weight=1.5)
    return box(x, y, 18, 18, "none", radius=4, line=theme.soft) + cross


def _won_and_bid(view: View, theme: Theme, seat: int, y: float) -> str:
    """Tricks won against the bid, in words and as discs: full ones are won, hollow ones still to be won."""
    won, bid = view.tricks_won[seat], view.bids[seat]
    words = won if bid is None else f"{won} of {bid}"
    total = max(won, bid or 0)
    drawn = text(WON, y - 8 if total else y, words, 15, bold=bid == won)
    apart = min(9.0, 54 / max(total, 1))
    places = [WON + 4 + apart * k for k in range(total)]
    drawn += path("".join(disc(x, y + 11, 3.5) for x in places[:won]), theme.ink) if won else ""
    hollow = "".join(disc(x, y + 11, 3) for x in places[won:])
    return drawn + (path(hollow, "none", line=theme.ink, weight=1.2) if hollow else "")


def put_hands(view: View, sheet: Sheet) -> None:
    """The hands and discards of all seats."""
    theme = sheet.theme
    drawn = heading(theme, "Hands", "aside")
    apart = min(30.0, ROOM / view.rules.num_ranks)
    for seat, hand in view.hands.items():
        y = TITLE + seat * HAND_ROW
        row = token(theme, seat, 21, y + 15, 11)
        for rank, count in enumerate(hand):
            if count:
                row += _small_card(theme, CARDS + rank * apart, y, apart - 3, rank, count)
        words = hand_in_words(view, seat)
        if seat in view.discards:
            row += centred(PANEL - PADDING - 10, y + 15, view.discards[seat] + 1, 15, theme.soft)
            words += f"; put aside {view.discards[seat] + 1}"
        drawn += figure(row, f"hand of player_{seat}: {words}")
    sheet.panel(sheet.shorter_column(), TITLE + HAND_ROW * view.rules.num_players + 8, drawn, "hands")


def _small_card(theme: Theme, x: float, y: float, width: float, rank: int, count: int) -> str:
    card, middle = box(x, y, width, 30, theme.face, radius=4, line=theme.line, weight=1.5), x + width / 2
    if count == 1:
        return card + centred(middle, y + 15, rank + 1, 15, bold=True)
    return (
        card
        + centred(middle, y + 10, rank + 1, 15, bold=True)
        + centred(middle, y + 22, f"\u00d7{count}", 12, theme.soft)
    )
