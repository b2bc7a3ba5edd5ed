"""A position of Cat in the Box as a picture: research board and hand, trick or results, players, all hands."""

from __future__ import annotations

from catbox_env.core.game import GameState
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.show import counted
from catbox_env.games.cat_in_the_box.play import trick_winner
from catbox_env.games.cat_in_the_box.rules import COLORS, Rules
from catbox_env.games.cat_in_the_box.show import View, card_to_string, largest_group
from catbox_env.games.cat_in_the_box.state import BID, DISCARD, PLAY
from catbox_env.pictures import svg
from catbox_env.pictures.cat_in_the_box_board import Board, hand_in_words
from catbox_env.pictures.sheet import LETTERS, PADDING, PANEL, TITLE, Sheet, Theme

#: Heights of the cards of a trick with the tokens below, of a row of the players, of a hand.
TRICK, ROW, HAND_ROW = 112, 40, 34
#: In a large picture: the height of all rows of the players, the most for one, and that from which on they grow.
LARGE_ROWS, LARGEST_ROW, GROWN_ROW = 318, 130, 64
#: The middle of the first card of a trick.
FIRST_CARD = 38
#: Columns of the players: X-tokens, tricks won, group, score.
X_TOKENS, WON, GROUP, SCORE = 126, 211, 283, 322
#: The start of the cards of a hand, and the width of all ranks.
CARDS, ROOM = 40, 262


def draw(sheet: Sheet) -> str:
    """The picture as the viewer of ``sheet`` sees it."""
    state = sheet.state
    rules: Rules = state.game.rules
    view = View(rules, state.record, sheet.seat)
    completed = [] if view.plays else _last_trick(state)
    plays = view.plays or completed
    Board(view, sheet, plays[-1] if plays else None).put()
    is_last_board = bool(plays) and view.mover < 0 and sheet.is_large  # a page tells the result beside it
    if state.record.rounds_ended and (view.mover < 0 or view.phase != PLAY) and not is_last_board:
        _put_results(view, sheet)
    else:
        _put_trick(view, completed, sheet)
    _put_players(view, sheet)
    if sheet.seat is None:
        _put_hands(view, sheet)

    def describe(mover: int, action: int) -> str:
        if action == HIDDEN:
            return f"player_{mover} put a card aside"
        if action < rules.num_ranks:
            return f"player_{mover} put {action + 1} aside"
        if action < rules.first_play:
            return f"player_{mover} bid {rules.bids[action - rules.num_ranks]}"
        if action == rules.paradox:
            return f"player_{mover} caused a paradox"
        return f"player_{mover} played {card_to_string(*divmod(action - rules.first_play, rules.num_ranks))}"

    return sheet.picture(_note(view), _line(view, sheet), describe)


def _note(view: View) -> str:
    """The progress of the game."""
    rules, parts = view.rules, []
    if rules.num_rounds > 1:
        parts.append(f"round {view.round} of {rules.num_rounds}")
    if view.phase == PLAY and view.mover >= 0:
        parts.append(f"trick {view.trick} of {rules.num_tricks}")
    return " · ".join(parts) or f"{rules.num_players} players"


def _line(view: View, sheet: Sheet) -> str:
    """Who is to move, and what to do."""
    if view.phase == DISCARD:
        return sheet.asked("puts a card aside", "Put one card aside")
    if view.phase == BID:
        return sheet.asked("bids", "Bid: how many tricks will you win?")
    if sheet.legal == [view.rules.paradox]:
        return sheet.asked("must declare a paradox", "Declare a paradox")
    if not view.plays:
        return sheet.asked("leads", "Lead a card")
    led = COLORS[view.led]
    colors = {(action - view.rules.first_play) // view.rules.num_ranks for action in sheet.legal}
    follow = "Play a card"
    if view.led in view.x_tokens[view.mover]:
        may = "" if colors == {view.led} else " or give up its X-token"
        follow = f"Follow {led}{may}" if view.led in colors else f"No {led}: give up its X-token"
    return sheet.asked("plays a card", follow)


def _last_trick(state: GameState) -> list[tuple[int, int, int]]:
    """The cards (seat, colour, rank) of the trick just completed; none before the first one, or without a past."""
    rules, moves = state.game.rules, int(state.record.num_moves)
    plays = [
        (seat, *divmod(action - rules.first_play, rules.num_ranks))
        for seat, action, _ in state._log[max(0, moves - rules.num_players) : moves].tolist()
        if rules.first_play <= action < rules.paradox
    ]
    return plays if len(plays) == rules.num_players else []


def _put_trick(view: View, completed: list[tuple[int, int, int]], sheet: Sheet) -> None:
    """The current trick; before its first card the one just ``completed``: (seat, colour, rank), as played."""
    theme, plays = sheet.theme, view.plays or completed
    state = sheet.state
    # Whoever won the completed trick leads the next one.
    winner = trick_winner(state.game.params[0], state.record) if view.plays else view.leader
    if completed:
        head, note = "Last trick", f"player_{winner} won"
    else:
        head = f"Trick {view.trick}" if view.phase == PLAY else "Trick"
        note = f"{COLORS[view.led]} led" if plays else f"player_{view.leader} leads"
    drawn = sheet.heading(head, note)
    first, y = plays[0][0] if plays else view.leader, TITLE + 8
    for turn, x in enumerate(sheet.places(FIRST_CARD)):
        seat = (first + turn) % view.rules.num_players
        if turn < len(plays):
            _, color, rank = plays[turn]
            on = theme.on_colors[color]
            card = svg.box(x - 26, y - 4, 52, 74, theme.ink, radius=9) if seat == winner else ""
            card += svg.box(x - 22, y, 44, 66, theme.colors[color])
            card += svg.text(x - 16, y + 13, LETTERS[color], 13, on, bold=True)
            card += svg.centred(x, y + 40, rank + 1, 28, on, bold=True)
            card += sheet.crown(x + 20, y) if seat == winner else ""
            origin = f"hand-{rank}" if seat == sheet.seat else f"seat-{seat}"
            drawn += svg.keyed(f"card-{color}-{rank}", card, came_from=origin, goes_to=f"seat-{winner}")
        else:
            drawn += svg.box(x - 22, y, 44, 66, "none", line=theme.soft, weight=1.5, dashed=True)
        drawn += sheet.token(seat, x, TITLE + 93, 11)
    cards = ", ".join(f"player_{seat} {card_to_string(color, rank)}" for seat, color, rank in plays)
    wins = f"; player_{winner} {'won' if completed else 'wins so far'}" if cards else ""
    label = f"{head.lower()}, {note}: {cards or 'no card yet'}{wins}"
    sheet.panel(1, TITLE + TRICK, svg.figure(drawn, label))


def _put_results(view: View, sheet: Sheet) -> None:
    """Between two rounds, and at the end: each seat's score as a sum; at the end of a match, in large the total."""
    theme, infos = sheet.theme, [sheet.state.info(seat) for seat in range(view.rules.num_players)]
    head = "Result" if view.mover < 0 else "Last round"
    by = [seat for seat, info in enumerate(infos) if info["paradox"]]
    is_match_over = view.rules.num_rounds > 1 and view.mover < 0
    note = f"player_{by[0]}'s paradox" if by else "no paradox"
    drawn, words = sheet.heading(head, "total · last round" if is_match_over else note), []
    for seat, (x, info) in enumerate(zip(sheet.places(FIRST_CARD), infos, strict=True)):
        score, tricks, bonus = info["score"], info["tricks_won"], info["bonus"]
        addends = svg.signed(-tricks if seat in by else tricks) + (f" + {bonus}" if bonus else "")
        shown = score
        if is_match_over:
            shown, addends = view.scores[seat], f"{score:+d}"
        drawn += svg.centred(x, TITLE + 20, svg.signed(shown), 26, bold=True)
        drawn += svg.centred(x, TITLE + 46, addends, 13, theme.soft) if addends != svg.signed(shown) else ""
        bid = f"bid {info['bid']}" if view.rules.bids else ""
        drawn += svg.centred(x, TITLE + 66, bid, 13, theme.soft) if bid else ""
        drawn += sheet.token(seat, x, TITLE + 93, 11)
        total = f"{shown} points in all, in the last round " if is_match_over else ""
        words.append(
            f"player_{seat} {total}{score} points, {tricks} tricks, {bid}{', ' * bool(bid)}bonus {bonus}"
        )
    sheet.panel(1, TITLE + TRICK, svg.figure(drawn, f"{head.lower()}, {note}: {'; '.join(words)}"))


def _put_players(view: View, sheet: Sheet) -> None:
    """The public information about each seat."""
    height, back = ROW, 13.0
    if sheet.is_large:
        height, back = min(LARGEST_ROW, LARGE_ROWS // view.rules.num_players), 22.0
    grown = max(1.0, min(1.3, height / GROWN_ROW))  # fewer players, larger rows
    back, size = back * grown, round(15 * grown, 1)
    soft, scored = sheet.theme.soft, view.rules.num_rounds > 1 or view.mover < 0
    may = "The colours that a player may still declare. Not following a led colour costs its token."
    hit = "exactly the tricks bid" if view.rules.bids else f"at most {view.rules.bonus_max_tricks}"
    bonus = "The most tokens of a player that touch, side by side or one above the other. They are a bonus, one point "
    bonus += f"each, but only for winning {hit}."
    drawn = svg.explained(svg.text(X_TOKENS, 19, "X-tokens", 12, soft), may)
    drawn += svg.text(WON, 19, "won/bid" if view.rules.bids else "won", 12, soft)
    drawn += svg.explained(svg.centred(GROUP, 19, "group", 12, soft), bonus)
    drawn += svg.centred(SCORE, 19, "score", 12, soft) if scored else ""
    for seat, kept in enumerate(view.x_tokens):
        top, notes = TITLE + seat * height, ["starts"] * (seat == view.start_player)
        y, group = top + height / 2, len(largest_group(sheet.state, seat))
        row, who = sheet.seat_row(seat, top, height, notes)
        cards = int(sheet.state.record.hand[seat].sum()) if view.seat not in (None, seat) else 0
        up = y - (18 * grown + (3 * grown + back if cards else 0)) / 2
        for color in range(view.rules.num_colors):
            held = color in kept
            row += _x_token(sheet.theme, X_TOKENS + 20 * color, up, 18 * grown, color, held)
        row += sheet.backs(cards, X_TOKENS, up + 21 * grown, back)
        row += _won_and_bid(view, sheet.theme, seat, y, grown) + svg.centred(GROUP, y, group, size)
        row += svg.centred(SCORE, y, svg.signed(view.scores[seat]), size, bold=True) if scored else ""
        words = [who, f"{view.tricks_won[seat]} tricks won"]
        words += [f"bid {view.bids[seat]}"] if view.bids[seat] is not None else []
        words += [f"{counted(cards, 'card')} in hand"] * bool(cards)
        words += [f"largest group {group}"] + [f"score {view.scores[seat]}"] * scored
        may = " ".join(COLORS[color] for color in kept)
        drawn += svg.figure(row, f"{', '.join(words)}, may declare {may or 'nothing'}")
    sheet.panel(1, TITLE + height * view.rules.num_players + 4, drawn, "players")


def _x_token(theme: Theme, x: float, y: float, height: float, color: int, held: bool) -> str:
    """The right to declare a colour; crossed out when it is lost."""
    middle = y + height / 2
    if held:
        chip, on = svg.box(x, y, 18, height, theme.colors[color], radius=4), theme.on_colors[color]
        return chip + svg.centred(x + 9, middle, LETTERS[color], round(height / 1.5, 1), on, bold=True)
    lost = svg.path(svg.cross(x + 5, middle - 4, 8), "none", line=theme.soft, weight=1.5)
    return svg.box(x, y, 18, height, "none", radius=4, line=theme.soft) + lost


def _won_and_bid(view: View, theme: Theme, seat: int, y: float, grown: float) -> str:
    """Tricks won against the bid, in words and as discs: full ones are won, hollow ones still to be won."""
    won, bid = view.tricks_won[seat], view.bids[seat]
    words = won if bid is None else f"{won} of {bid}"
    if view.rules.bids and bid is None:
        words = "\u2013"
    total = max(won, bid or 0)
    drawn = svg.text(WON, y - 8 * grown if total else y, words, round(15 * grown, 1), bold=bid == won)
    spacing = min(9 * grown, 54 / max(total, 1))
    radius, places = min(3.5 * grown, 0.4 * spacing), [WON + 4 + spacing * k for k in range(total)]
    full = "".join(svg.disc(x, y + 11 * grown, round(radius, 2)) for x in places[:won])
    drawn += svg.path(full, theme.ink) if won else ""
    hollow = "".join(svg.disc(x, y + 11 * grown, round(radius - 0.5, 2)) for x in places[won:])
    return drawn + (svg.path(hollow, "none", line=theme.ink, weight=1.2) if hollow else "")


def _put_hands(view: View, sheet: Sheet) -> None:
    """The hands and discards of all seats."""
    theme, drawn = sheet.theme, sheet.heading("Hands", "aside")
    spacing = min(30.0, ROOM / view.rules.num_ranks)
    for seat, hand in view.hands.items():
        y = TITLE + seat * HAND_ROW
        row = sheet.token(seat, 21, y + 15, 11)
        for rank, count in enumerate(hand):
            if count:
                x, middle = CARDS + rank * spacing, CARDS + rank * spacing + (spacing - 3) / 2
                row += svg.box(x, y, spacing - 3, 30, theme.face, radius=4, line=theme.line, weight=1.5)
                row += svg.centred(middle, y + (15 if count == 1 else 10), rank + 1, 15, bold=True)
                row += svg.centred(middle, y + 22, f"\u00d7{count}", 12, theme.soft) if count > 1 else ""
        words = hand_in_words(view, seat)
        if seat in view.discards:
            row += svg.centred(PANEL - PADDING - 10, y + 15, view.discards[seat] + 1, 15, theme.soft)
            words += f"; put aside {view.discards[seat] + 1}"
        drawn += svg.figure(row, f"hand of player_{seat}: {words}")
    sheet.panel(None, TITLE + HAND_ROW * view.rules.num_players + 8, drawn, "hands")
