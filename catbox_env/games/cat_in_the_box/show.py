"""Cat in the Box in words: actions, refusals, the rules, a position as styled text, and what an action did.

| kind of event | what happened |
|---|---|
| ``discard``, ``bid``, ``play`` | a card was put aside, a bid made, a card played as a colour |
| ``trump_broken`` | the first red card of the round was played |
| ``x_token_lost`` | a follower did not follow the led colour and lost its X-token |
| ``trick_won`` | a trick is complete: its winner, and why |
| ``paradox_due`` | only for the seat to move: it has no declaration left |
| ``paradox``, ``paradox_card`` | a seat had no declaration left, and the round ends; why, for each card |
| ``round_end``, ``score``, ``hand`` | why the round ended; the points of each seat as a sum; its cards, revealed |
| ``round_begin``, ``game_end`` | the next round; who has won |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from catbox_env.core.checks import hands_seen
from catbox_env.core.game import Game
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.state import Event, GameState, last_action, last_position
from catbox_env.core.text import Segment, counted
from catbox_env.games.cat_in_the_box.play import costs_token, largest_group_of, made_bid
from catbox_env.games.cat_in_the_box.rules import COLORS, MAX_COLORS, PHASES, Rules
from catbox_env.games.cat_in_the_box.state import BID, DISCARD, NEUTRAL, NONE, PLAY, RED
from catbox_env.games.standings import winners_event

Cell = tuple[int, int]

TAKEN, LOST = "taken", "token lost"


class View:
    """A position as ``seat`` sees it, all seats together for None, or everybody for PUBLIC. It holds nothing hidden.

    Ranks and colours are indices from 0.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        hands: cards of each rank, by the seats whose hands are visible; discards: the ranks they discarded.
        board: the owner of each cell, by colour and rank: a seat, NONE or NEUTRAL.
        x_tokens: the colours that each seat may declare.
        bids: each seat's bid, None before it bids.
        plays: the cards of the trick, (seat, colour, rank) in the order of play.
        led: the colour led, or NONE; costly: the colours that cost the seat to move its X-token of it.
        trick, round: the current ones, from 1; after the end the last ones.
    """

    def __init__(self, rules: Rules, record: np.record, seat: int | None) -> None:
        players, colors = range(rules.num_players), range(rules.num_colors)
        seen = hands_seen(seat, len(players))
        discarded, bids = record.discarded.tolist(), record.bids[: len(players)].tolist()
        trick = list(zip(players, record.trick_color.tolist(), record.trick_rank.tolist(), strict=False))
        self.rules, self.seat, self.mover = rules, seat, int(record.current_player)
        self.phase, self.leader, self.led = int(record.phase), int(record.leader), int(record.led)
        self.start_player, self.trump_broken = int(record.start_player), bool(record.trump_broken)
        self.hands = {other: record.hand[other, : rules.num_ranks].tolist() for other in seen}
        self.discards = {other: discarded[other] for other in seen if discarded[other] != NONE}
        self.board = record.board[: len(colors), : rules.num_ranks].tolist()
        self.x_tokens = [[color for color in colors if record.x_tokens[other, color]] for other in players]
        moving = self.mover != NONE
        self.costly = {color for color in colors if moving and costs_token(record, self.mover, color)}
        self.bids = [None if bid == NONE else rules.bids[bid] for bid in bids]
        self.tricks_won = record.tricks_won[: len(players)].tolist()
        self.scores = record.scores[: len(players)].tolist()
        self.plays = [play for play in trick[self.leader :] + trick[: self.leader] if play[1] != NONE]
        self.trick = min(rules.num_tricks - int(record.tricks_left) + 1, rules.num_tricks)
        self.round = rules.num_rounds - int(record.rounds_left)

    def cards(self, seat: int) -> list[int]:
        """The ranks in a visible hand, ascending, with repetitions."""
        return [rank for rank, count in enumerate(self.hands[seat]) for _ in range(count)]


# Actions and rules.


class Words(Game):
    """Cat in the Box in words."""

    rules: Rules

    def _action_text(self, action: int) -> str:
        """``"discard 3"``, ``"bid 2"``, ``"play yellow 7"`` or ``"paradox"``."""
        rules = self.rules
        ranks, bids = rules.num_ranks, rules.bids
        if action < ranks:
            return f"discard {action + 1}"
        if action < rules.first_play:
            return f"bid {bids[action - ranks]}"
        if action == rules.paradox:
            return "paradox"
        return f"play {card_to_string(*rules.card_of(action))}"

    def describe_actions(self) -> list[tuple[int, int, str]]:
        """Rows (first id, last id, what they do)."""
        rules = self.rules
        ranks, first_play = rules.num_ranks, rules.first_play
        rows = [(0, ranks - 1, f"discard rank 1..{ranks}")]
        if rules.bids:
            rows.append((ranks, first_play - 1, f"bid {', '.join(map(str, rules.bids))}"))
        for first in range(first_play, rules.paradox, ranks):
            rows.append((first, first + ranks - 1, f"{self._action_text(first)}..{ranks}"))
        rows.append((rules.paradox, rules.paradox, "PARADOX (legal only when nothing else is)"))
        return rows

    def _illegal_reason(self, record: np.record, action: int) -> str:
        """The rule that forbids an illegal ``action`` in ``record``."""
        rules = self.rules
        seat = record.current_player
        kind = DISCARD if action < rules.num_ranks else BID if action < rules.first_play else PLAY
        if kind != record.phase:
            return f"this is the time to {PHASES[record.phase]}, not to {PHASES[kind]}"
        if kind == DISCARD:
            return f"player_{seat} has no {action + 1}"
        if action == rules.paradox:
            return "a paradox is the last resort: a card can still be declared"
        color, rank = rules.card_of(action)
        owner = record.board[color, rank]
        if owner != NONE:  # first what everybody sees
            whose = f"a token of seat {owner}" if owner >= 0 else "a neutral token"
            return f"{card_to_string(color, rank)} is taken on the research board by {whose}"
        if not record.hand[seat, rank]:
            return f"player_{seat} has no {rank + 1}"
        if not record.x_tokens[seat, color]:
            return f"the {COLORS[color]} X-token has been given up"
        assert color == RED, "every other declaration is legal"
        return "red cannot be led before trump is broken: lead another colour"

    def describe_rules(self) -> list[str]:
        """A summary of the rules."""
        rules = self.rules
        ranks, tricks, players = rules.num_ranks, rules.num_tricks, rules.num_players
        paragraphs = [
            f"Cards: ranks 1 to {ranks}, {rules.copies} of each; each of {players} players gets {rules.hand_size}. A "
            "card has no colour until it is played: whoever plays it says one of "
            f"{', '.join(COLORS[: rules.num_colors])}.",
            "Discard: first everybody puts one card aside, face down.",
        ]
        if rules.revealed_cards:
            paragraphs.append(
                f"Neutral tokens: {rules.revealed_cards} cards that were not dealt are shown, and each blocks a cell "
                "of the research board with its rank."
            )
        if rules.bids:
            bids = ", ".join(map(str, rules.bids))
            paragraphs.append(f"Bid: then everybody says how many tricks they will win: {bids}.")
        paragraphs += [
            "Playing a card: its cell on the research board, of that colour and rank, has to be empty, and you need "
            "your X-token of the colour. Your token goes on the cell. You need not follow the led colour, but "
            "whoever does not loses its X-token of the led colour for the rest of the round.",
            "Trick: red is trump. The highest red card wins, without one the highest card of the led colour; the "
            "winner leads next. Red can be led only when somebody has played red before, or when nothing else can "
            "be led.",
            "Paradox: whoever can play no card in any colour causes a paradox. The round ends, and this player loses a "
            "point for each trick that it won.",
            f"Otherwise the round ends after {counted(tricks, 'trick')}, when everybody has one card left.",
        ]
        condition = "won exactly their bid" if rules.bids else f"won at most {rules.bonus_max_tricks}"
        paragraphs.append(
            f"Points: 1 for each trick. Whoever {condition}, and caused no paradox, adds the size of their largest "
            "group of own tokens that touch, side by side or one above the other."
        )
        if rules.num_rounds == 1:
            return [*paragraphs, "One round is played; most points win."]
        return [
            *paragraphs,
            f"{rules.num_rounds} rounds are played, and the start player moves on by one seat. Most points in all win; "
            "between equals, the points of the last round count.",
        ]

    def _styled_text(self, record: np.record, seat: int | None) -> list[Segment]:
        """The headline, the board, the seats, the trick and the visible hands."""
        rules = self.rules
        view = View(rules, record, seat)
        legal: list[Cell] = []  # only of a hand that is seen
        if view.phase == PLAY and view.mover in view.hands:
            legal = [
                rules.card_of(action) for action in self._legal_actions(record) if action < rules.paradox
            ]
        board = _board(view, legal)
        lines = [[(_headline(view), "bold")], [], *board, [], *_seats(view), [], _trick(view)]
        lines += [_hand(view, seat) for seat in view.hands]
        return [segment for line in lines for segment in [*line, ("\n", "")]]

    def _events(self, before: GameState, action: int, after: GameState, viewer: int | None) -> list[Event]:
        """What ``action`` did, as ``viewer`` sees it; None: everything."""
        rules = self.rules
        old = View(rules, before.record, None)
        last = last_position(before, action, after)  # still in the same round, even if it has ended
        new = View(rules, last.record, None)
        mover = old.mover
        if action == rules.paradox:
            found = _paradox(old, mover)
        elif action >= rules.first_play:
            color, rank = rules.card_of(action)
            found = _play(old, color, rank)
            if sum(new.tricks_won) > sum(old.tricks_won):
                found.append(_trick_won(old.trick, [*old.plays, (mover, color, rank)], new.leader))
        elif action >= rules.num_ranks:
            bid = rules.bids[action - rules.num_ranks]
            found = [Event("bid", mover, f"player_{mover} bids {bid}", {"bid": bid})]
        else:
            seen = last_action(after, viewer) != (mover, HIDDEN)
            text = f"player_{mover} puts {a_card(action) if seen else 'a card'} aside"
            found = [Event("discard", mover, text, {"rank": action + 1} if seen else {})]
        if after.round_ended:
            found += _round_end(last, old.round, after)
        elif after.current_player == viewer and after.legal_actions() == [rules.paradox]:
            text = f"player_{viewer} has no legal declaration left and must declare a paradox"
            found.append(Event("paradox_due", viewer, text))
        return found


# A position.


def _headline(view: View) -> str:
    rules, where = view.rules, ""
    if rules.num_rounds > 1:
        where = f"round {view.round} of {rules.num_rounds}, "
    if view.mover == NONE:
        what = "the round is over" if view.round < rules.num_rounds else "the game is over"
    elif view.phase == PLAY:
        broken = "broken" if view.trump_broken else "not broken"
        what = f"trick {view.trick} of {rules.num_tricks}, trump {broken}, player_{view.mover} to move"
    else:
        what = f"{PHASES[view.phase]}, player_{view.mover} to move"
    return f"Cat in the Box: {where}{what}"


def _board(view: View, legal: list[Cell]) -> list[list[Segment]]:
    """A row for each colour, a column for each rank; the owner's seat, # for neutral, a dot for empty.

    The viewer's own cells are reversed, and the ``legal`` ones have their colour.
    """
    ranks = "".join(f"{rank + 1:>3}" for rank in range(view.rules.num_ranks))
    rows: list[list[Segment]] = [[("        " + ranks, "bold")]]
    for color, owners in enumerate(view.board):
        row: list[Segment] = [(f"{COLORS[color]:<8}", COLORS[color])]
        for rank, owner in enumerate(owners):
            mark = "." if owner == NONE else "#" if owner == NEUTRAL else str(owner)
            style = f"bold {COLORS[color]}{' reverse' * (owner >= 0 and owner == view.seat)}"
            row += [("  ", ""), (mark, style if owner != NONE or (color, rank) in legal else "dim")]
        rows.append(row)
    return rows


def _seats(view: View) -> list[list[Segment]]:
    rules, several = view.rules, view.rules.num_rounds > 1
    rows: list[list[Segment]] = [
        [("            X-tokens  bid  tricks" + ("  score" if several else ""), "bold")]
    ]
    for seat in range(rules.num_players):
        turn = ">" if seat == view.mover else " "
        row: list[Segment] = [(f"{turn} player_{seat}  ", "bold" if turn == ">" else "")]
        for color in range(MAX_COLORS):
            lost = "-" if color < rules.num_colors else " "
            row.append((COLORS[color][0].upper() if color in view.x_tokens[seat] else lost, COLORS[color]))
        bid = "-" if view.bids[seat] is None else view.bids[seat]
        row.append((f"{'':<6}{bid:>3}{view.tricks_won[seat]:>8}", ""))
        if several:
            row.append((f"{view.scores[seat]:>7}", ""))
        if seat == view.start_player:
            row.append(("  (start player)", "dim"))
        rows.append(row)
    return rows


def _trick(view: View) -> list[Segment]:
    row: list[Segment] = [("trick:", "bold")]
    for seat, color, rank in view.plays:
        row += [("  ", ""), (f"player_{seat} ", ""), (card_to_string(color, rank), COLORS[color])]
    if not view.plays:
        row += [("  ", ""), (f"player_{view.leader} leads" if view.mover != NONE else "none", "")]
    return row


def _hand(view: View, seat: int) -> list[Segment]:
    cards = " ".join(str(rank + 1) for rank in view.cards(seat))
    aside = f"   discarded {view.discards[seat] + 1}" if seat in view.discards else ""
    return [(f"hand of player_{seat}: ", "bold"), (cards + aside, "")]


# What an action did.


def a_card(rank: int) -> str:
    """A card of a rank with its article: "a 7", "an 8"."""
    return f"{'an' if rank + 1 == 8 else 'a'} {rank + 1}"


def _play(view: View, color: int, rank: int) -> list[Event]:
    mover, leads = view.mover, view.led == NONE
    text = f"player_{mover} {'leads' if leads else 'plays'} {card_to_string(color, rank)}"
    found = [Event("play", mover, text, {"color": COLORS[color], "rank": rank + 1, "leads": leads})]
    if color == RED and not view.trump_broken:
        text = f"player_{mover} breaks trump: from now on red may be led"
        found.append(Event("trump_broken", mover, text))
    if color in view.costly:
        led = COLORS[view.led]
        text = f"player_{mover} does not follow {led}, and loses the {led} X-token"
        found.append(Event("x_token_lost", mover, text, {"color": led}))
    return found


def _trick_won(number: int, plays: list[tuple[int, int, int]], winner: int) -> Event:
    color, rank = next((color, rank) for seat, color, rank in plays if seat == winner)
    which = "only" if sum(other == color for _, other, _ in plays) == 1 else "highest"
    if color == RED:
        why = f"the {which} red card"
    else:
        why = f"the {which} card of the led colour, as nobody played red"
    text = f"player_{winner} wins trick {number}: {card_to_string(color, rank)} is {why}"
    played = [{"seat": seat, "color": COLORS[color], "rank": rank + 1} for seat, color, rank in plays]
    return Event("trick_won", winner, text, {"trick": number, "cards": played})


def _paradox(view: View, seat: int) -> list[Event]:
    """Events that ``seat`` causes a paradox, and why each of its cards has no colour left."""
    ranks = [rank for rank, count in enumerate(view.hands[seat]) if count]
    text = f"player_{seat} causes a paradox, and the round ends"
    found = [Event("paradox", seat, text, {"ranks": [rank + 1 for rank in ranks]})]
    for rank in ranks:
        reasons: dict[str, dict[str, Any]] = {}
        why = []
        for color, owners in enumerate(view.board):
            name = COLORS[color]
            if color not in view.x_tokens[seat]:
                reasons[name] = {"why": LOST}
                why.append(f"{name} X-token lost")
            else:
                owner = None if owners[rank] == NEUTRAL else owners[rank]
                reasons[name] = {"why": TAKEN, "owner": owner}
                why.append(f"{name} taken by {'a neutral token' if owner is None else f'player_{owner}'}")
        text = f"{a_card(rank)} has no colour left: {', '.join(why)}"
        found.append(Event("paradox_card", seat, text, {"rank": rank + 1, "colors": reasons}))
    return found


def _round_end(last: GameState, number: int, after: GameState) -> list[Event]:
    """``last``: the last position of round ``number``; ``after``: possibly the beginning of the next one."""
    rules: Rules = last.game.rules
    view = View(rules, last.record, None)
    players = range(rules.num_players)
    infos = [after.info(seat) for seat in players]
    which = f"round {number} of {rules.num_rounds}" if rules.num_rounds > 1 else "the round"
    paradox = [seat for seat in players if infos[seat]["paradox"]]
    by_paradox = f"player_{paradox[0]}'s paradox ends {which}" if paradox else ""
    text = by_paradox or f"{which} ends as everybody has one card left"
    found = [Event("round_end", None, text, {"round": number})]
    totals = [int(after.record.scores[seat]) for seat in players]
    for seat in players:
        words, data = _sum(rules, infos[seat], bool(made_bid(last.game.params[0], last.record, seat)))
        text = f"player_{seat}: {words}"
        if rules.num_rounds > 1:
            text += f" ({totals[seat]} in total)"
        found.append(Event("score", seat, text, {**data, "total": totals[seat]}))
    for seat in players:
        hand = [rank + 1 for rank in view.cards(seat)]
        discard = view.discards[seat] + 1
        text = f"player_{seat} still held {' '.join(map(str, hand))}, and had put {a_card(discard - 1)} aside"
        found.append(Event("hand", seat, text, {"ranks": hand, "discard": discard}))
    if after.is_terminal():
        found.append(winners_event(after, totals, [info["score"] for info in infos], "point"))
    else:
        start = int(after.record.start_player)
        text = f"round {number + 1} of {rules.num_rounds} begins: player_{start} is the start player"
        found.append(Event("round_begin", start, text, {"round": number + 1}))
    return found


def _sum(rules: Rules, info: dict[str, int], hit: bool) -> tuple[str, dict[str, Any]]:
    """The points of a seat as a sum, in words and as data: ``"3 tricks + 3 (hit the bid of 3, group of 3) = 6"``.

    ``hit``: whether it won as many tricks as it needs for the bonus.
    """
    won, score, bonus = info["tricks_won"], info["score"], info["bonus"]
    bid = info["bid"] if rules.bids else None
    data = {"tricks": won, "bid": bid, "bonus": bonus, "paradox": bool(info["paradox"]), "score": score}
    tricks = counted(won, "trick")
    if info["paradox"]:
        return f"{score} ({tricks}, each -1 after the paradox)", {**data, "hit": False}
    if bid is None:
        condition = f"{'at most' if hit else 'more than'} {counted(rules.bonus_max_tricks, 'trick')}"
    else:
        condition = f"{'hit' if hit else 'missed'} the bid of {bid}"
    group = f", group of {bonus}" if bonus else ", no token on the board"
    words = f"{tricks} + {bonus} ({condition}{group})" if hit else f"{tricks} ({condition})"
    return f"{words} = {score}", {**data, "hit": hit}


def largest_group(state: GameState, seat: int) -> list[Cell]:
    """The cells of the largest connected group of tokens of ``seat``; the first of equally large ones."""
    group = int(largest_group_of(state.game.params[0], state.record, seat))
    stride = state.game.rules.num_ranks + 1
    return [divmod(place, stride) for place in range(group.bit_length()) if group >> place & 1]


def card_to_string(color: int, rank: int) -> str:
    """``"yellow 7"``."""
    return f"{COLORS[color]} {rank + 1}"
