"""What an action of Cat Te did, in words.

| kind | what happened |
|---|---|
| ``play``, ``fold``, ``choose`` | a card was played face up, folded, or chosen face down in the blind trick |
| ``claim``, ``show`` | a seat claimed the side pot, or showed an instant win |
| ``cards_shown`` | the cards of the blind trick, or of the last one, were turned up |
| ``trick_won`` | a trick is complete: its winner, why, and who folded |
| ``eliminated`` | seats without a trick are out |
| ``round_end``, ``score``, ``hand`` | why the round ended; each seat's antes as a sum; its hidden cards, revealed |
| ``side_pot`` | nobody claimed the side pot: it is carried over, or given back |
| ``round_begin``, ``game_end`` | the next round; who has won |
"""

from __future__ import annotations

from typing import Any

from catbox_env.core.events import Event, action_seen, counted, last_position, names
from catbox_env.core.state import GameState
from catbox_env.games.cat_te.play.state import CLAIM, FOLD, SHOW
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    LAST_TRICK,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    SUITS,
    Rules,
    card_to_string,
)
from catbox_env.games.cat_te.show.view import View, cards_to_string
from catbox_env.games.standings import winners_event


def tell_events(
    rules: Rules, before: GameState, action: int, after: GameState, seat: int | None
) -> list[Event]:
    """What ``action`` did, as ``seat`` sees it; None: everything."""
    old = View.of(rules, before.record, None)
    if action == CLAIM:
        return [_claim(old)]
    # Still in the same round, even if it has ended.
    new = View.of(rules, last_position(before, action, after).record, None)
    if action == SHOW:
        found = [_show(old)]
    else:
        found = [_card_played(old, action, action_seen(after, seat)), *_tricks_won(old, new)]
    if after.round_ended:
        found += _round_end(old, new, after, action == SHOW)
    return found


def _claim(view: View) -> Event:
    card, upturned = card_to_string(view.upturned + NUM_SUITS), card_to_string(view.upturned)
    pot = counted(view.pot, "ante")
    text = f"player_{view.mover} shows {card}, next above {upturned}, and claims the side pot of {pot}"
    return Event("claim", view.mover, text, {"card": card, "pot": view.pot})


def _show(view: View) -> Event:
    held = view.hands[view.mover]
    ranks, suits = [card // NUM_SUITS for card in held], {card % NUM_SUITS for card in held}
    if any(ranks.count(rank) == NUM_SUITS for rank in ranks):
        why = "four of a kind"
    elif len(suits) == 1:
        why = f"six {SUITS[suits.pop()]}"
    else:
        why = "six cards from A, 2, 3, 4, 5"
    text = f"player_{view.mover} shows an instant win: {cards_to_string(held)}, {why}"
    return Event("show", view.mover, text, {"cards": [card_to_string(card) for card in held], "why": why})


def _card_played(view: View, action: int, is_seen: bool) -> Event:
    mover, card = view.mover, card_to_string(action % FOLD)
    data: dict[str, Any] = {"card": card} if is_seen else {}
    hidden = f"{card if is_seen else 'a card'}, face down"
    if action >= FOLD:
        return Event("fold", mover, f"player_{mover} folds {hidden}", data)
    if mover == view.leader:
        return Event("play", mover, f"player_{mover} leads {card}", {**data, "follows": True})
    if view.rules.eliminates and view.trick == BLIND_TRICK:
        return Event("choose", mover, f"player_{mover} chooses {hidden}", data)
    follows = action % NUM_SUITS == view.led
    text = f"player_{mover} plays {card}{'' if follows else ', which does not follow suit and cannot win'}"
    return Event("play", mover, text, {**data, "follows": follows})


def _tricks_won(before: View, after: View) -> list[Event]:
    """The tricks that were completed: none, one, or the fifth and the last, which plays itself."""
    found = []
    for trick in range(sum(before.tricks_won), sum(after.tricks_won)):
        shown = after.shown(trick)
        if trick == BLIND_TRICK and after.rules.eliminates:
            del shown[before.leader]  # it was face up
            found.append(_cards_shown(shown, "the chosen cards are shown"))
        elif trick == LAST_TRICK:
            found.append(_cards_shown(shown, "the last cards are shown"))
        found.append(_trick_won(before, after, trick))
    out = [seat for seat, held in enumerate(before.in_round) if held and not after.in_round[seat]]
    if out:
        text = f"{names(out)} won none of the first four tricks, and {'is' if len(out) == 1 else 'are'} out"
        found.append(Event("eliminated", None, text, {"seats": out}))
    return found


def _cards_shown(shown: dict[int, int], what: str) -> Event:
    told = ", ".join(f"player_{seat} {card_to_string(card)}" for seat, card in shown.items())
    return Event("cards_shown", None, f"{what}: {told}", {"cards": _listed(shown)})


def _listed(shown: dict[int, int]) -> list[dict[str, Any]]:
    return [{"seat": seat, "card": card_to_string(card)} for seat, card in shown.items()]


def _trick_won(before: View, after: View, trick: int) -> Event:
    shown, winner = after.shown(trick), after.wins[trick]
    folded = [seat for seat, held in enumerate(before.in_round) if held and seat not in shown]
    led = shown[winner] % NUM_SUITS
    suited = sum(card % NUM_SUITS == led for card in shown.values())
    why = f"the {'only' if suited == 1 else 'highest'} card of {SUITS[led]}, the led suit"
    text = f"player_{winner} wins trick {trick + 1}: {card_to_string(shown[winner])} is {why}"
    if folded:
        text += f"; {names(folded)} folded"
    return Event("trick_won", winner, text, {"trick": trick + 1, "cards": _listed(shown), "folded": folded})


def _round_end(before: View, ended: View, after: GameState, is_shown: bool) -> list[Event]:
    """``ended``: the last position of the round; ``after``: possibly the beginning of the next one."""
    rules, pot, number = before.rules, before.pot, before.round
    players = range(rules.num_players)
    infos = [after.info(seat) for seat in players]
    winner = next(seat for seat in players if infos[seat]["won_round"])
    which = f"round {number} of {rules.num_rounds}" if rules.num_rounds > 1 else "the round"
    factor, why = 1, "with the last trick"
    if is_shown:
        factor, why = rules.show_factor, "by an instant win"
    elif before.trick == NUM_EARLY_TRICKS - 1:
        factor, why = rules.sweep_factor, "with all of the first four tricks"
    found = [Event("round_end", winner, f"player_{winner} wins {which} {why}", {"round": number})]
    totals = [int(after.record.scores[seat]) for seat in players]
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
            text += f" ({totals[seat]:+d} in all)"
        listed = [{"antes": antes, "for": what} for antes, what in parts]
        found.append(Event("score", seat, text, {"parts": listed, "score": score, "total": totals[seat]}))
    if rules.side_pot and not is_claimed:
        what = "goes back in equal parts" if given_back else "is carried over to the next round"
        text = f"nobody claimed the side pot of {counted(pot, 'ante')}, which {what}"
        found.append(Event("side_pot", None, text, {"pot": pot, "given_back": given_back}))
    found += [event for seat in players for event in _hidden_cards(ended, seat)]
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


def _hidden_cards(view: View, seat: int) -> list[Event]:
    """The cards of ``seat`` that nobody else has seen: what it folded, and what it still holds."""
    folded, held = view.folded[seat], view.hands[seat]
    told = []
    if folded:
        told.append(f"had folded {cards_to_string(folded)}")
    if held:
        told.append(f"still held {cards_to_string(held)}")
    if not told:
        return []
    cards = {"folded": list(map(card_to_string, folded)), "held": list(map(card_to_string, held))}
    return [Event("hand", seat, f"player_{seat} {', and '.join(told)}", cards)]
