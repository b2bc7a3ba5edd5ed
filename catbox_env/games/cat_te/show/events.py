"""What an action of Cat Te did, in words.

| kind | what happened |
|---|---|
| ``play``, ``fold``, ``choose`` | a card was played face up, folded, or chosen face down in the blind trick |
| ``claim``, ``show`` | a seat claimed the side pot, or showed an instant win |
| ``cards_shown`` | the cards of the blind trick, or of the last one, were turned up |
| ``trick_won`` | a trick is complete: its winner, why, and who folded |
| ``eliminated`` | seats without a trick are out |
| ``round_end``, ``score``, ``hand`` | why the round ended; each seat's antes as a sum; its hidden cards, laid open |
| ``side_pot`` | nobody claimed the side pot: it is carried over, or given back |
| ``round_begin``, ``game_end`` | the next round; who has won |
"""

from __future__ import annotations

from catbox_env.core.events import Event, action_seen, counted, last_position, names, winners_event
from catbox_env.core.state import GameState
from catbox_env.games.cat_te.play.state import CLAIM, FOLD, NONE, SHOW
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    LAST_TRICK,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    SUITS,
    Rules,
    card_to_string,
)
from catbox_env.games.cat_te.show.text import cards_in, cards_to_string


def tell_events(
    rules: Rules, before: GameState, action: int, after: GameState, seat: int | None
) -> list[Event]:
    """What ``action`` did, as ``seat`` is told; None: everything."""
    mover = before.current_player
    # The same round still, where it has ended.
    position = last_position(before, action, after)
    if action == CLAIM:
        return [_claim(before, mover)]
    if action == SHOW:
        found = [_show(before, mover)]
    else:
        found = [_card_played(rules, before, action, mover, action_seen(after, seat))]
        found += _tricks_won(rules, before, position)
    if after.round_ended:
        found += _round_end(rules, before, position, after, action == SHOW)
    return found


def _claim(before: GameState, mover: int) -> Event:
    record = before.record
    card = card_to_string(record.upturned + NUM_SUITS)
    pot, upturned = counted(int(record.pot), "ante"), card_to_string(record.upturned)
    text = f"player_{mover} shows {card}, next above {upturned}, and claims the side pot of {pot}"
    return Event("claim", mover, text, {"card": card, "pot": int(record.pot)})


def _show(before: GameState, mover: int) -> Event:
    cards = int(before.record.hand[mover])
    held = cards_in(cards)
    ranks, suits = [card // NUM_SUITS for card in held], {card % NUM_SUITS for card in held}
    if any(ranks.count(rank) == NUM_SUITS for rank in ranks):
        why = "four of a kind"
    elif len(suits) == 1:
        why = f"six {SUITS[suits.pop()]}"
    else:
        why = "six cards from A, 2, 3, 4, 5"
    text = f"player_{mover} shows an instant win: {cards_to_string(cards)}, {why}"
    return Event("show", mover, text, {"cards": [card_to_string(card) for card in held], "why": why})


def _card_played(rules: Rules, before: GameState, action: int, mover: int, is_seen: bool) -> Event:
    record = before.record
    card = card_to_string(action % FOLD)
    data = {"card": card} if is_seen else {}
    if action >= FOLD:
        text = f"folds {card}, face down" if is_seen else "folds a card, face down"
        return Event("fold", mover, f"player_{mover} {text}", data)
    if mover == record.leader:
        return Event("play", mover, f"player_{mover} leads {card}", {**data, "follows": True})
    if rules.eliminates and record.trick == BLIND_TRICK:
        text = f"chooses {card}, face down" if is_seen else "chooses a card, face down"
        return Event("choose", mover, f"player_{mover} {text}", data)
    follows = action % NUM_SUITS == record.led
    text = f"plays {card}{'' if follows else ', which does not follow suit and cannot win'}"
    return Event("play", mover, f"player_{mover} {text}", {**data, "follows": bool(follows)})


def _tricks_won(rules: Rules, before: GameState, position: GameState) -> list[Event]:
    """The tricks that were completed: none, one, or the fifth and, as it plays itself, the last."""
    old, new = before.record, position.record
    players = range(rules.num_players)
    gained = {
        seat: int(new.tricks_won[seat] - old.tricks_won[seat])
        for seat in players
        if new.tricks_won[seat] > old.tricks_won[seat]
    }
    if not gained:
        return []
    trick, last = int(old.trick), int(new.leader)
    if sum(gained.values()) == 1:
        found = [_trick_won(rules, before, position, trick, last, int(old.led))]
    else:
        winner = next((seat for seat in gained if seat != last), last)
        led = _suit_shown(position, int(old.leader), trick)
        found = [_trick_won(rules, before, position, trick, winner, led)]
        shown = _shown(position, rules.num_players, LAST_TRICK)
        found.append(_cards_shown(shown, "the last cards are shown"))
        led = _suit_shown(position, winner, LAST_TRICK)
        found.append(_trick_won(rules, before, position, LAST_TRICK, last, led))
    if trick == BLIND_TRICK and rules.eliminates:
        chosen = _shown(position, rules.num_players, trick)
        del chosen[int(old.leader)]  # it lay open
        found.insert(0, _cards_shown(chosen, "the chosen cards are shown"))
    out = [seat for seat in players if old.in_round[seat] and not new.in_round[seat]]
    if out:
        text = f"{names(out)} won none of the first four tricks, and {'is' if len(out) == 1 else 'are'} out"
        found.append(Event("eliminated", None, text, {"seats": out}))
    return found


def _suit_shown(position: GameState, seat: int, trick: int) -> int:
    return int(position.record.faceup[seat, trick]) % NUM_SUITS


def _shown(position: GameState, num_players: int, trick: int) -> dict[int, str]:
    """The face-up cards of a trick, by seat."""
    cards = position.record.faceup[:num_players, trick].tolist()
    return {seat: card_to_string(card) for seat, card in enumerate(cards) if card != NONE}


def _cards_shown(shown: dict[int, str], what: str) -> Event:
    told = ", ".join(f"player_{seat} {card}" for seat, card in shown.items())
    cards = [{"seat": seat, "card": card} for seat, card in shown.items()]
    return Event("cards_shown", None, f"{what}: {told}", {"cards": cards})


def _trick_won(
    rules: Rules, before: GameState, position: GameState, trick: int, winner: int, led: int
) -> Event:
    shown = _shown(position, rules.num_players, trick)
    folded = [seat for seat in range(rules.num_players) if before.record.in_round[seat] and seat not in shown]
    suited = sum(card[-1] == shown[winner][-1] for card in shown.values())
    why = f"the {'only' if suited == 1 else 'highest'} card of {SUITS[led]}, the led suit"
    text = f"player_{winner} wins trick {trick + 1}: {shown[winner]} is {why}"
    if folded:
        text += f"; {names(folded)} folded"
    data = {
        "trick": trick + 1,
        "cards": [{"seat": seat, "card": card} for seat, card in shown.items()],
        "folded": folded,
    }
    return Event("trick_won", winner, text, data)


def _round_end(
    rules: Rules, before: GameState, position: GameState, after: GameState, is_shown: bool
) -> list[Event]:
    """``position``: the last one of the round; ``after``: perhaps the beginning of the next one."""
    players = range(rules.num_players)
    infos = [after.info(seat) for seat in players]
    winner = next(seat for seat in players if infos[seat]["won_round"])
    number = rules.num_rounds - int(before.record.rounds_left)
    which = f"round {number} of {rules.num_rounds}" if rules.num_rounds > 1 else "the round"
    factor, why = 1, "with the last trick"
    if is_shown:
        factor, why = rules.show_factor, "by an instant win"
    elif before.record.trick == NUM_EARLY_TRICKS - 1:
        factor, why = rules.sweep_factor, "with all of the first four tricks"
    found = [Event("round_end", winner, f"player_{winner} wins {which} {why}", {"round": number})]
    totals = [int(after.record.scores[seat]) for seat in players]
    pot = int(before.record.pot)
    is_claimed = any(info["claimed"] for info in infos)
    given_back = after.is_terminal() and not is_claimed
    for seat in players:
        parts = [_stakes(rules, seat, winner, factor)]
        if rules.side_pot:
            parts.append((-rules.side_pot, "into the side pot"))
        if infos[seat]["claimed"]:
            parts.append((pot, "the side pot"))
        elif rules.side_pot and given_back:
            parts.append((pot // rules.num_players, "back from the side pot"))
        score = infos[seat]["score"]
        text = f"player_{seat}: {' '.join(f'{antes:+d} ({what})' for antes, what in parts)} = {score:+d}"
        if rules.num_rounds > 1:
            text += f", {totals[seat]:+d} in all"
        listed = [{"antes": antes, "for": what} for antes, what in parts]
        found.append(Event("score", seat, text, {"parts": listed, "score": score, "total": totals[seat]}))
    if rules.side_pot and not is_claimed:
        what = "goes back in equal parts" if given_back else "is carried over to the next round"
        text = f"nobody claimed the side pot of {counted(pot, 'ante')}, which {what}"
        found.append(Event("side_pot", None, text, {"pot": pot, "given_back": given_back}))
    found += [event for seat in players for event in _hidden_cards(position, seat)]
    if after.is_terminal():
        found.append(winners_event(after, totals, [info["score"] for info in infos], "ante"))
    else:
        leader = int(after.record.leader)
        text = (
            f"round {number + 1} of {rules.num_rounds} begins: player_{winner} deals, player_{leader} leads"
        )
        found.append(Event("round_begin", leader, text, {"round": number + 1, "dealer": winner}))
    return found


def _stakes(rules: Rules, seat: int, winner: int, factor: int) -> tuple[int, str]:
    """What ``seat`` wins or loses in antes, and why."""
    each = counted(factor, "ante")
    if seat != winner:
        return -factor, f"{each} to player_{winner}"
    others = rules.num_players - 1
    return factor * others, f"{each} from {'each of the others' if others > 1 else 'the other'}"


def _hidden_cards(position: GameState, seat: int) -> list[Event]:
    """The cards of ``seat`` that nobody else has seen: what it folded, and what it still holds."""
    folded, held = (int(position.record[name][seat]) for name in ("folded", "hand"))
    told = []
    if folded:
        told.append(f"had folded {cards_to_string(folded)}")
    if held:
        told.append(f"still held {cards_to_string(held)}")
    if not told:
        return []
    cards = {
        name: [card_to_string(card) for card in cards_in(these)]
        for name, these in (("folded", folded), ("held", held))
    }
    return [Event("hand", seat, f"player_{seat} {', and '.join(told)}", cards)]
