"""A position of Cat in the Box as a picture: research board and hand, trick or results, players, all hands."""

from __future__ import annotations

from catbox_env.core.kernels import HIDDEN
from catbox_env.core.state import GameState
from catbox_env.core.text import counted
from catbox_env.games.cat_in_the_box.play import trick_winner
from catbox_env.games.cat_in_the_box.rules import COLORS, Rules
from catbox_env.games.cat_in_the_box.show import View, card_to_string, largest_group
from catbox_env.games.cat_in_the_box.state import BID, DISCARD, NONE, PLAY, RED
from catbox_env.pictures import svg
from catbox_env.pictures.cat_in_the_box_board import Board, hand_in_words
from catbox_env.pictures.sheet import LETTERS, LOW_BUTTON, MAX_SEATS, PADDING, PANEL, TITLE, Sheet, Theme
from catbox_env.pictures.svg import number

#: Heights of a card of a trick, of a row of the players, in a narrow picture too, and of a hand.
TRICK_CARD, ROW, NARROW_ROW, HAND_ROW = 52, 31, 28, 34
#: In a large picture: the height of the trick and all rows of the players, and that of a row that is not enlarged.
LARGE_TRICK_AND_ROWS, GROWN_ROW = 434, 64
#: The height of a trick besides the cards, in a narrow picture too; the width of a card at most, and in a small one.
AROUND_TRICK, NARROW_AROUND, LARGEST_CARD, SMALL_CARD = 46, 41, 96, 44
#: Columns of the players: cards in hand, X-tokens, tricks won, group, score; the height of an X-token.
CARDS_LEFT, X_TOKENS, WON, GROUP, SCORE, X_TOKEN = 114, 146, 222, 289, 325, 16
#: In a large picture below the name, with a rule before the group, and the size of their heads.
LARGE_X_TOKENS, LARGE_WON, LARGE_RULE, LARGE_GROUP, LARGE_SCORE, LARGE_HEADS = 12, 124, 250, 273, 318, 14
#: The start of the cards of a hand, and the width of all ranks; the height of all hands below a large board; the start
#: and the end of the buttons in their title, and the width of one.
CARDS, ROOM, LARGE_HANDS, BUTTONS, BUTTONS_END, BUTTON = 40, 262, 101, 76, 288, 72


def draw(sheet: Sheet) -> str:
    """The picture as the viewer of ``sheet`` sees it."""
    state = sheet.state
    rules: Rules = state.game.rules
    view = View(rules, state.record, sheet.seat)
    completed = [] if view.plays else _last_trick(state)
    plays = view.plays or completed
    Board(view, sheet, plays[-1] if plays else None).put()
    # Beside a last board a page tells the result.
    is_last_board = sheet.is_of_page and (bool(plays) or _paradox_of(view, state) != NONE) and view.mover < 0
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
        return f"player_{mover} played {card_to_string(*rules.card_of(action))}"

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
        return sheet.turn_line("puts a card aside", "Put one card aside")
    if view.phase == BID:
        return sheet.turn_line("bids", "Bid: how many tricks will you win?")
    if sheet.legal == [view.rules.paradox]:
        return sheet.turn_line("must declare a paradox", "Declare a paradox")
    if not view.plays:
        return sheet.turn_line("leads", "Lead a card")
    led = COLORS[view.led]
    colors = {view.rules.card_of(action)[0] for action in sheet.legal}
    follow = f"No {led}: you lose its X-token" if view.costly else "Play a card"
    if view.led in colors:
        follow = f"Follow {led} or lose its X-token" if colors & view.costly else f"Follow {led}"
    return sheet.turn_line("plays a card", follow)


def _last_trick(state: GameState) -> list[tuple[int, int, int]]:
    """The cards (seat, colour, rank) of the trick just completed; none before the first one, or without a past."""
    rules, moves = state.game.rules, int(state.record.num_moves)
    plays = [
        (seat, *rules.card_of(action))
        for seat, action, _ in state._log[max(0, moves - rules.num_players) : moves].tolist()
        if rules.first_play <= action < rules.paradox
    ]
    return plays if len(plays) == rules.num_players else []


def _trick_card(sheet: Sheet) -> tuple[list[float], float, float]:
    """The middles, the width and the height of the cards of a trick; a large picture has cards as wide as fit."""
    places = sheet.places(LARGEST_CARD + 22 if sheet.is_large else 64)
    width = min(LARGEST_CARD, places[1] - places[0] - 12) if sheet.is_large else SMALL_CARD
    return places, width, round(1.4 * width) if sheet.is_large else TRICK_CARD


def _around_trick(sheet: Sheet) -> int:
    return AROUND_TRICK if sheet.is_wide else NARROW_AROUND


def _put_trick(view: View, completed: list[tuple[int, int, int]], sheet: Sheet) -> None:
    """The current trick; before its first card the one just ``completed``: (seat, colour, rank), as played."""
    theme, plays = sheet.theme, view.plays or completed
    state, by = sheet.state, _paradox_of(view, sheet.state)
    # Whoever won the completed trick leads the next one.
    winner = trick_winner(state.game.params[0], state.record) if view.plays else view.leader
    if completed:
        head, note = "Last trick", f"player_{winner} won"
    else:
        head = f"Trick {view.trick}" if view.phase == PLAY else "Trick"
        note = f"{COLORS[view.led]} led" if plays else f"player_{view.leader} leads"
        note = note if plays or by == NONE else f"player_{by}'s paradox"
    drawn = sheet.heading(head, note)
    first, y = plays[0][0] if plays else view.leader, TITLE + 8
    places, width, height = _trick_card(sheet)
    for turn, x in enumerate(places):
        seat, left = (first + turn) % view.rules.num_players, x - width / 2
        if turn < len(plays):
            _, color, rank = plays[turn]
            on, small = theme.on_colors[color], round(max(13, 0.34 * width), 1)
            card = (
                svg.box(left - 4, y - 4, width + 8, height + 8, theme.ink, radius=9) if seat == winner else ""
            )
            card += svg.box(left, y, width, height, theme.colors[color])
            card += svg.text(left + 0.13 * width, y + small, LETTERS[color], small, on, bold=True)
            card += svg.centred(x, y + 0.6 * height, rank + 1, round(0.64 * width), on, bold=True)
            card += sheet.crown(left + width - 2, y) if seat == winner else ""
            origin = f"hand-{rank}" if seat == sheet.seat else f"seat-{seat}"
            drawn += svg.with_key(f"card-{color}-{rank}", card, came_from=origin, goes_to=f"seat-{winner}")
        elif seat == by:
            on, arm = theme.on_colors[RED], 0.42 * width
            drawn += svg.box(left, y, width, height, theme.colors[RED])
            drawn += svg.path(
                svg.cross(x - arm / 2, y + 0.42 * height - arm / 2, arm), "none", line=on, weight=5
            )
            drawn += svg.centred(
                x, y + 0.84 * height, "paradox", max(12, min(17, 0.2 * width)), on, bold=width > 60
            )
        else:
            drawn += svg.box(left, y, width, height, "none", line=theme.soft, weight=1.5, dashed=True)
        drawn += sheet.token(seat, x, y + height + (19 if sheet.is_wide else 17), 11)
    cards = ", ".join(f"player_{seat} {card_to_string(color, rank)}" for seat, color, rank in plays)
    wins = f"; player_{winner} {'won' if completed else 'wins so far'}" if cards else ""
    caused = f"; player_{by} caused a paradox" if by != NONE else ""
    label = f"{head.lower()}, {note}: {cards or 'no card yet'}{wins}{caused}"
    sheet.panel(1, TITLE + height + _around_trick(sheet), svg.figure(drawn, label))


def _paradox_of(view: View, state: GameState) -> int:
    """The seat whose paradox ended the game; NONE without one, or before its end."""
    seats = range(view.rules.num_players) if view.mover < 0 else ()
    return next((seat for seat in seats if state.info(seat)["paradox"]), NONE)


def _put_results(view: View, sheet: Sheet) -> None:
    """Between two rounds, and at the end: each seat's score as a sum; at the end of a match, in large the total."""
    theme, infos = sheet.theme, [sheet.state.info(seat) for seat in range(view.rules.num_players)]
    head = "Result" if view.mover < 0 else "Last round"
    by = [seat for seat, info in enumerate(infos) if info["paradox"]]
    is_match_over = view.rules.num_rounds > 1 and view.mover < 0
    note = f"player_{by[0]}'s paradox" if by else "no paradox"
    drawn, words = sheet.heading(head, "total · last round" if is_match_over else note), []
    places, _, height = _trick_card(sheet)
    top = TITLE + (height - 66) / 2  # in the middle of a large picture's higher panel
    top -= AROUND_TRICK - _around_trick(sheet)
    for seat, (x, info) in enumerate(zip(places, infos, strict=True)):
        score, tricks, bonus = info["score"], info["tricks_won"], info["bonus"]
        addends = svg.signed(score - bonus) + (f" + {bonus}" if bonus else "")
        shown = score
        if is_match_over:
            shown, addends = view.scores[seat], f"{score:+d}"
        drawn += svg.centred(x, top + 20, svg.signed(shown), 26, bold=True)
        drawn += svg.centred(x, top + 46, addends, 13, theme.soft) if addends != svg.signed(shown) else ""
        bid = f"bid {info['bid']}" if view.rules.bids else ""
        drawn += svg.centred(x, top + 66, bid, 13, theme.soft) if bid else ""
        drawn += sheet.token(seat, x, top + 90, 11)
        total = f"{shown} points in all, in the last round " if is_match_over else ""
        words.append(
            f"player_{seat} {total}{score} points, {tricks} tricks, {bid}{', ' * bool(bid)}bonus {bonus}"
        )
    sheet.panel(
        1,
        TITLE + height + _around_trick(sheet),
        svg.figure(drawn, f"{head.lower()}, {note}: {'; '.join(words)}"),
    )


def _put_players(view: View, sheet: Sheet) -> None:
    """The public information about each seat: in a column each, or below its name in a large picture."""
    soft, scored = sheet.theme.soft, view.rules.num_rounds > 1 or view.mover < 0
    may = "The colours that a player may still declare. Not following a led colour costs its token."
    hit = "exactly the tricks bid" if view.rules.bids else f"at most {view.rules.bonus_max_tricks}"
    bonus = "The most tokens of a player that touch, side by side or one above the other. They are a bonus, one point "
    bonus += f"each, but only for winning {hit}."
    height, size = float(ROW if sheet.is_wide else NARROW_ROW), 12
    x_tokens, won, group, total = X_TOKENS, WON, GROUP, SCORE
    heads = 19 if sheet.is_wide else 15
    first = heads + 15  # where the first row begins
    if view.seat is None and sheet.is_wide:  # as high as the hands on the other side
        height += HAND_ROW - 8
    if sheet.is_large:
        _, _, card = _trick_card(sheet)
        height = (LARGE_TRICK_AND_ROWS - AROUND_TRICK - card) / view.rules.num_players
        x_tokens, won, group, total = LARGE_X_TOKENS, LARGE_WON, LARGE_GROUP, LARGE_SCORE
        size = LARGE_HEADS
    drawn = svg.with_title(svg.text(x_tokens, heads, "X-tokens", size, soft), may)
    drawn += svg.text(won, heads, "won/bid" if view.rules.bids else "won", size, soft)
    drawn += svg.with_title(svg.centred(group, heads, "group", size, soft), bonus)
    drawn += svg.centred(total, heads, "score", size, soft) if scored else ""
    for seat, kept in enumerate(view.x_tokens):
        score = view.scores[seat] if scored else None
        cards = int(sheet.state.record.hand[seat].sum()) if view.seat not in (None, seat) else 0
        group_size, top = len(largest_group(sheet.state, seat)), first + seat * height
        put = _large_row if sheet.is_large else _row
        row, who = put(view, sheet, seat, top, height, cards, group_size, score)
        words = [who, f"{view.tricks_won[seat]} tricks won"]
        words += [f"bid {view.bids[seat]}"] if view.bids[seat] is not None else []
        words += [f"{counted(cards, 'card')} in hand"] * bool(cards)
        words += [f"largest group {group_size}"] + [f"score {view.scores[seat]}"] * scored
        may = " ".join(COLORS[color] for color in kept)
        drawn += svg.figure(row, f"{', '.join(words)}, may declare {may or 'nothing'}")
    sheet.panel(1, first + height * view.rules.num_players + 4, drawn, "players")


def _notes(view: View, seat: int) -> list[str]:
    return ["leads first"] * (seat == view.start_player and view.phase != PLAY)


def _row(
    view: View, sheet: Sheet, seat: int, top: float, height: float, cards: int, group: int, score: int | None
) -> tuple[str, str]:  # fmt: skip
    """The row of a seat with so many unseen ``cards``, its largest ``group`` and ``score``; and who it is, in words."""
    y, (row, who) = top + height / 2, sheet.seat_row(seat, top, height, [], line=height)
    if cards:
        back = svg.box(CARDS_LEFT, y - 5, 6, 10, sheet.theme.soft, radius=1.5)
        count = svg.text(CARDS_LEFT + 8, y, f"\u00d7{cards}", 12, sheet.theme.soft)
        row += svg.with_title(back + count, f"{counted(cards, 'card')} in hand")
    row += _x_tokens(view, sheet.theme, seat, X_TOKENS, y - X_TOKEN / 2, X_TOKEN)
    row += _won_and_bid(view, sheet, seat, y, 1) + svg.centred(GROUP, y, group, 14)
    row += svg.centred(SCORE, y, svg.signed(score), 14, bold=True) if score is not None else ""
    return row, ", ".join([who, *_notes(view, seat)])


def _large_row(
    view: View, sheet: Sheet, seat: int, top: float, height: float, cards: int, group: int, score: int | None
) -> tuple[str, str]:  # fmt: skip
    """The same in two lines: the name and the cards in hand, and below what has a column. Few rows are larger."""
    grown = min(1.35, height / GROWN_ROW)
    space = (height - 54 * grown) / 3  # above, between and below the lines
    first = 2 * space + 27 * grown
    row, who = sheet.seat_row(seat, top, height, _notes(view, seat), line=first)
    if seat:
        row = svg.path(f"M{PADDING} {number(top)}h{PANEL - 2 * PADDING}", "none", line=sheet.theme.line) + row
    held, soft = counted(cards, "card") if cards else "", sheet.theme.soft
    row += svg.text(PANEL - PADDING, top + first / 2, held, 14, soft, anchor="end") if held else ""
    y = top + height - space - 13 * grown
    row += _x_tokens(view, sheet.theme, seat, LARGE_X_TOKENS, y - 11 * grown, 22 * grown)
    row += _won_and_bid(view, sheet, seat, y, grown)
    row += svg.path(
        f"M{LARGE_RULE} {number(y - 10 * grown)}v{number(20 * grown)}", "none", line=sheet.theme.back
    )
    row += svg.centred(LARGE_GROUP, y, group, round(16 * grown, 1))
    row += (
        svg.centred(LARGE_SCORE, y, svg.signed(score), round(16 * grown, 1), bold=True)
        if score is not None
        else ""
    )
    return row, who


def _x_tokens(view: View, theme: Theme, seat: int, x: float, y: float, height: float) -> str:
    """The right to declare each colour; crossed out when it is lost."""
    drawn, width, middle, across = "", min(22.0, height), y + height / 2, 0.44 * height
    for color in range(view.rules.num_colors):
        left = x + color * (width + 2)
        if color in view.x_tokens[seat]:
            drawn += svg.box(left, y, width, height, theme.colors[color], radius=4)
            size = max(12, round(height / 1.5, 1))
            drawn += svg.centred(
                left + width / 2, middle, LETTERS[color], size, theme.on_colors[color], bold=True
            )
        else:
            drawn += svg.box(left, y, width, height, "none", radius=4, line=theme.soft)
            lost = svg.cross(left + (width - across) / 2, middle - across / 2, across)
            drawn += svg.path(lost, "none", line=theme.soft, weight=1.5)
    return drawn


def _won_and_bid(view: View, sheet: Sheet, seat: int, y: float, grown: float) -> str:
    """Tricks won against the bid in words; in a large picture discs beside them, hollow ones still to be won."""
    theme, won, bid = sheet.theme, view.tricks_won[seat], view.bids[seat]
    words = won if bid is None else f"{won} of {bid}"
    if view.rules.bids and bid is None:
        words = "\u2013"
    if not sheet.is_large:
        return svg.text(WON, y, words, 14, bold=bid == won)
    total, disc_x = max(won, bid or 0), LARGE_WON + 56 * grown
    room = LARGE_RULE - 8 - disc_x
    drawn = svg.text(LARGE_WON, y, words, round(15 * grown, 1), bold=bid == won)
    spacing = min(9 * grown, room / max(total, 1))
    radius, places = min(3.5 * grown, 0.4 * spacing), [disc_x + spacing * k for k in range(total)]
    full = "".join(svg.disc(place, y, round(radius, 2)) for place in places[:won])
    drawn += svg.path(full, theme.ink) if full else ""
    hollow = "".join(svg.disc(place, y, round(radius - 0.5, 2)) for place in places[won:])
    return drawn + (svg.path(hollow, "none", line=theme.ink, weight=1.2) if hollow else "")


def _put_hands(view: View, sheet: Sheet) -> None:
    """The hands and discards of all seats; in a page they take the place of one, with what can be chosen."""
    theme, drawn = sheet.theme, sheet.heading("Hands", "aside")
    spacing = min(30.0, ROOM / view.rules.num_ranks)
    room = LARGE_HANDS if sheet.is_large else HAND_ROW * MAX_SEATS
    drawn += _buttons(view, sheet) if sheet.is_of_page else ""
    height = min(HAND_ROW, room / view.rules.num_players)
    card, is_low = height - 4, height < HAND_ROW - 4
    for seat, hand in view.hands.items():
        y = TITLE + seat * height
        half, chooses = y + card / 2, sheet.is_of_page and seat == view.mover
        row = svg.box(6, y - 2, PANEL - 12, height, theme.turn, radius=6) if chooses else ""
        row += sheet.token(seat, 21, half, min(11, 0.45 * height))
        for rank, count in enumerate(hand):
            if not count:
                continue
            x, middle = CARDS + rank * spacing, CARDS + rank * spacing + (spacing - 3) / 2
            row += svg.box(x, y, spacing - 3, card, theme.face, radius=4, line=theme.line, weight=1.5)
            several = count > 1
            across, up = (6.5, 0) if is_low else (0, 5)
            row += svg.centred(middle - several * across, half - several * up, rank + 1, 15, bold=True)
            if several:
                row += svg.centred(
                    middle + across - 2 * is_low, half + 1.4 * up, f"\u00d7{count}", 12, theme.soft
                )
            if chooses and rank in sheet.legal:  # to put it aside
                row += sheet.choice(rank, x, y, spacing - 3, card, radius=4)
        words = hand_in_words(view, seat)
        if seat in view.discards:
            row += svg.centred(PANEL - PADDING - 10, half, view.discards[seat] + 1, 15, theme.soft)
            words += f"; put aside {view.discards[seat] + 1}"
        drawn += svg.figure(row, f"hand of player_{seat}: {words}")
    column = 0 if sheet.is_of_page else None
    sheet.panel(column, TITLE + height * view.rules.num_players + 8, drawn, "hands")


def _buttons(view: View, sheet: Sheet) -> str:
    """What can be chosen without a card, beside the title of all hands: the bids, or a paradox."""
    rules = view.rules
    bids = [action for action in sheet.legal if rules.num_ranks <= action < rules.first_play]
    words: dict[int, object] = {action: rules.bids[action - rules.num_ranks] for action in bids}
    words |= {rules.paradox: "Paradox"} if rules.paradox in sheet.legal else {}
    width = min(BUTTON, (BUTTONS_END - BUTTONS) / max(1, len(words)))
    return "".join(
        sheet.button(action, BUTTONS + k * width, 3, width - 4, told, height=LOW_BUTTON)
        for k, (action, told) in enumerate(words.items())
    )
