"""What an action of Cat in the Box did, in words.

| kind | what happened |
|---|---|
| ``discard``, ``bid``, ``play`` | a card was put aside, a bid made, a card played as a colour |
| ``trump_broken`` | the first red card of the round was played |
| ``x_token_lost`` | a follower did not follow the led colour and lost its X-token |
| ``trick_won`` | a trick is complete: its winner, and why |
| ``paradox_due``, ``paradox_card`` | only for the seat to move: it has no declaration left; why, for each card |
| ``paradox``, ``paradox_card`` | a seat had no declaration left, and the round ends; why, for each card |
| ``round_end``, ``score``, ``hand`` | why the round ended; the points of each seat as a sum; its cards, revealed |
| ``round_begin``, ``game_end`` | the next round; who has won |
"""

from __future__ import annotations

from typing import Any

from catbox_env.core.events import Event, action_seen, counted, last_position
from catbox_env.core.state import GameState
from catbox_env.games.cat_in_the_box.play.state import NEUTRAL, NONE, RED
from catbox_env.games.cat_in_the_box.rules import COLORS, Rules
from catbox_env.games.cat_in_the_box.show.view import View, card_to_string, winning_play
from catbox_env.games.standings import winners_event

TAKEN, LOST = "taken", "token lost"


def tell_events(
    rules: Rules, before: GameState, action: int, after: GameState, seat: int | None
) -> list[Event]:
    """What ``action`` did, as ``seat`` sees it; None: everything."""
    old = View.of(rules, before.record, None)
    # Still in the same round, even if it has ended.
    new = View.of(rules, last_position(before, action, after).record, None)
    mover = old.mover
    if action == rules.paradox:
        found = _paradox(old, mover, "paradox", "causes a paradox, and the round ends")
    elif action >= rules.first_play:
        color, rank = divmod(action - rules.first_play, rules.num_ranks)
        found = _play(old, color, rank)
        if sum(new.tricks_won) > sum(old.tricks_won):
            found.append(_trick_won(old.trick, [*old.plays, (mover, color, rank)]))
    elif action >= rules.num_ranks:
        bid = rules.bids[action - rules.num_ranks]
        found = [Event("bid", mover, f"player_{mover} bids {bid}", {"bid": bid})]
    else:
        found = [_discard(action, mover, action_seen(after, seat))]
    if after.round_ended:
        found += _round_end(new, old.round, after)
    elif after.current_player == seat and after.legal_actions() == [rules.paradox]:
        found += _paradox(new, seat, "paradox_due", "has no legal declaration left, and has to say paradox")
    return found


def a_card(rank: int) -> str:
    """A card of a rank with its article: "a 7", "an 8"."""
    number = str(rank + 1)
    return f"{'an' if number.startswith('8') or number in ('11', '18') else 'a'} {number}"


def _discard(rank: int, mover: int, is_seen: bool) -> Event:
    if not is_seen:
        return Event("discard", mover, f"player_{mover} puts a card aside")
    return Event("discard", mover, f"player_{mover} puts {a_card(rank)} aside", {"rank": rank + 1})


def _play(view: View, color: int, rank: int) -> list[Event]:
    mover, leads = view.mover, view.led == NONE
    text = f"player_{mover} {'leads' if leads else 'plays'} {card_to_string(color, rank)}"
    found = [Event("play", mover, text, {"color": COLORS[color], "rank": rank + 1, "leads": leads})]
    if color == RED and not view.trump_broken:
        text = f"player_{mover} breaks trump: from now on red may be led"
        found.append(Event("trump_broken", mover, text))
    if not leads and color != view.led and view.led in view.x_tokens[mover]:
        led = COLORS[view.led]
        text = f"player_{mover} does not follow {led}, and loses its X-token of {led}"
        found.append(Event("x_token_lost", mover, text, {"color": led}))
    return found


def _trick_won(number: int, plays: list[tuple[int, int, int]]) -> Event:
    winner, color, rank = winning_play(plays)
    which = "only" if sum(other == color for _, other, _ in plays) == 1 else "highest"
    if color == RED:
        why = f"the {which} red card"
    else:
        why = f"the {which} card of the led colour, as nobody played red"
    text = f"player_{winner} wins trick {number}: {card_to_string(color, rank)} is {why}"
    played = [{"seat": seat, "color": COLORS[color], "rank": rank + 1} for seat, color, rank in plays]
    return Event("trick_won", winner, text, {"trick": number, "cards": played})


def _paradox(view: View, seat: int, kind: str, what: str) -> list[Event]:
    """Events that ``seat`` can declare none of its cards, and why each has no colour left."""
    ranks = [rank for rank, count in enumerate(view.hands[seat]) if count]
    found = [Event(kind, seat, f"player_{seat} {what}", {"ranks": [rank + 1 for rank in ranks]})]
    for rank in ranks:
        reasons: dict[str, dict[str, Any]] = {}
        told = []
        for color, row in enumerate(view.board):
            if color not in view.x_tokens[seat]:
                reasons[COLORS[color]] = {"why": LOST}
                told.append(f"{COLORS[color]} X-token lost")
            else:
                owner = row[rank]
                reasons[COLORS[color]] = {"why": TAKEN, "owner": None if owner == NEUTRAL else owner}
                by = "a neutral token" if owner == NEUTRAL else f"player_{owner}"
                told.append(f"{COLORS[color]} taken by {by}")
        text = f"a {rank + 1} has no colour left: {', '.join(told)}"
        found.append(Event("paradox_card", seat, text, {"rank": rank + 1, "colors": reasons}))
    return found


def _round_end(view: View, number: int, after: GameState) -> list[Event]:
    """``view``: the last position of round ``number``; ``after``: possibly the beginning of the next one."""
    rules = view.rules
    players = range(rules.num_players)
    infos = [after.info(seat) for seat in players]
    which = f"round {number} of {rules.num_rounds}" if rules.num_rounds > 1 else "the round"
    paradox = [seat for seat in players if infos[seat]["paradox"]]
    why = f"by the paradox of player_{paradox[0]}" if paradox else "as everybody has one card left"
    found = [Event("round_end", None, f"{which} ends {why}", {"round": number})]
    totals = [int(after.record.scores[seat]) for seat in players]
    for seat in players:
        told, data = _sum(rules, infos[seat])
        text = f"player_{seat}: {told}"
        if rules.num_rounds > 1:
            text += f" ({totals[seat]} in all)"
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


def _sum(rules: Rules, info: dict[str, int]) -> tuple[str, dict[str, Any]]:
    """The points of a seat as a sum, in words and as data: ``"3 tricks + 3 (bid 3 hit, group of 3) = 6"``."""
    won, score, bonus = info["tricks_won"], info["score"], info["bonus"]
    bid = info["bid"] if rules.bids else None
    data = {"tricks": won, "bid": bid, "bonus": bonus, "paradox": bool(info["paradox"]), "score": score}
    tricks = counted(won, "trick")
    if info["paradox"]:
        return f"{-won if won else 0} ({tricks}, caused the paradox) = {score}", {**data, "hit": False}
    hit = won <= rules.bonus_max_tricks if bid is None else won == bid
    if bid is None:
        condition = f"{'at most' if hit else 'more than'} {counted(rules.bonus_max_tricks, 'trick')}"
    else:
        condition = f"bid {bid} {'hit' if hit else 'missed'}"
    group = f", group of {bonus}" if bonus else ", no token on the board"
    told = f"{tricks} + {bonus} ({condition}{group})" if hit else f"{tricks} ({condition})"
    return f"{told} = {score}", {**data, "hit": bool(hit)}
