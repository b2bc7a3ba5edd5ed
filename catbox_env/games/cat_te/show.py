"""Cat Te in words: actions, refusals, the rules, a position as styled text, and what an action did.

| kind of event | what happened |
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

import numpy as np

from catbox_env.core.game import Game
from catbox_env.core.kernels import HIDDEN
from catbox_env.core.state import Event, GameState, last_action, last_position
from catbox_env.core.text import Segment, counted, names
from catbox_env.games.cat_te.play import claiming_card, has_swept, instant_win, is_blind, of_suit
from catbox_env.games.cat_te.rules import (
    LAST_TRICK,
    NUM_SUITS,
    NUM_TRICKS,
    SUITS,
    Rules,
    card_of,
    card_to_string,
    suit_of,
)
from catbox_env.games.cat_te.state import CLAIM, FOLD, NONE, SHOW
from catbox_env.games.cat_te.view import CHOSEN, EMPTY, FOLDED, View, cards_to_string
from catbox_env.games.standings import winners_event

#: How text shows a place in the table of tricks without a face-up card.
_PLACES: dict[int, Segment] = {EMPTY: ("    .", "dim"), FOLDED: ("   ##", "dim"), CHOSEN: ("   ??", "bold")}
#: Colours of the suits, in their order.
_STYLES = ("green", "blue", "red", "magenta")


# Actions and rules.


class Words(Game):
    """Cat Te in words."""

    rules: Rules

    def _action_text(self, action: int) -> str:
        """``"play AS"``, ``"fold 2C"``, ``"claim"`` or ``"show"``."""
        if action < CLAIM:
            return f"{'play' if action < FOLD else 'fold'} {card_to_string(card_of(action))}"
        return "claim" if action == CLAIM else "show"

    def describe_actions(self) -> list[tuple[int, int, str]]:
        """Rows (first id, last id, what they do)."""
        play = f"play a card face up (in a blind trick: choose it): rank * {NUM_SUITS} + suit, 2C, 2D, 2H, 2S .. AS"
        return [
            (0, FOLD - 1, play),
            (FOLD, CLAIM - 1, f"fold the card id - {FOLD}"),
            (CLAIM, CLAIM, "CLAIM the side pot"),
            (SHOW, SHOW, "SHOW an instant win"),
        ]

    def _illegal_reason(self, record: np.record, action: int) -> str:
        """The rule that forbids an illegal ``action`` in ``record``."""
        rules, seat, led = self.rules, record.current_player, int(record.led)
        hand = int(record.hand[seat])
        if action == SHOW:
            if not rules.instant_wins:
                return "these rules have no instant wins (instant_wins=False)"
            if record.trick > 0:
                return "a hand can only be shown on the first turn of a round"
            return "the hand is no instant win: four of a kind, six of one suit, or six from A, 2, 3, 4, 5"
        if action == CLAIM:
            if not rules.side_pot:
                return "these rules have no side pot (side_pot=0)"
            if record.claimed != NONE:
                return f"seat {record.claimed} has claimed the side pot of this round"
            wanted, upturned = claiming_card(record), card_to_string(record.upturned)
            if wanted == NONE:
                return f"the upturned card is {upturned}, and no card is above an ace"
            return f"that takes {card_to_string(wanted)}, next above the upturned {upturned}"
        card = card_of(action)
        if not hand >> card & 1:
            return f"player_{seat} has no {card_to_string(card)}"
        if action >= FOLD:
            if seat == record.leader:
                return "the leader of a trick plays face up and cannot fold"
            assert is_blind(self.params[0], record.trick), "every other fold is legal"
            return "in the fifth trick every card is shown, so none can be folded"
        if of_suit(hand, led):
            suit = SUITS[led]
            return f"a card played face up has to follow suit: play {suit} or fold"
        assert not rules.offsuit_faceup, "every other card is legal"
        return f"without {SUITS[led]} a card can only be folded (offsuit_faceup=False)"

    def describe_rules(self) -> list[str]:
        """A summary of the rules."""
        rules = self.rules
        paragraphs = [
            f"Cards: six to each of {rules.num_players} players, from 52. An ace is high, and no suit is trump.",
            "Trick: the leader plays a card face up. Everybody else plays a card of the led suit face up, or folds: "
            "puts any card face down, which cannot win and stays hidden. The highest card of the led suit wins; its "
            "player leads next.",
            "Without the led suit you may also play another card face up, but it cannot win."
            if rules.offsuit_faceup
            else "Without the led suit you have to fold.",
        ]
        if rules.eliminates:
            paragraphs += [
                "After four tricks, whoever has won none of them is out. A player that has won all four wins the round"
                f"{', and twice the antes' if rules.sweep_factor > 1 else ''}.",
                "The fifth trick: the leader plays face up; everybody else still in chooses a card face down, and all "
                "are shown at once. The highest of the led suit wins.",
            ]
        else:
            paragraphs.append(
                "Nobody is eliminated, and the first five tricks only decide who leads the last."
            )
        paragraphs.append(
            "The sixth trick plays itself: the last cards are shown, and whoever wins it wins the round."
        )
        if rules.instant_wins:
            twice = ", and is paid twice" if rules.show_factor > 1 else ""
            paragraphs.append(
                "Instant win: with four of a kind, six cards of one suit, or six from A, 2, 3, 4, 5 you may show your "
                f"hand on your first turn: it wins at once{twice}."
            )
        if rules.side_pot:
            paragraphs.append(
                f"Side pot: everybody puts {counted(rules.side_pot, 'ante')} into it every round. A card is turned up; "
                "whoever holds the next higher one of its suit may claim the pot on any of its turns."
            )
        paragraphs.append("Antes: the winner of the round gets one from everybody else.")
        if rules.num_rounds > 1:
            paragraphs.append(
                f"{rules.num_rounds} rounds are played, and the winner of one deals the next. Most antes in all win; "
                "between equals, those of the last round count."
            )
        return paragraphs

    def _styled_text(self, record: np.record, seat: int | None) -> list[Segment]:
        """The headline, the side pot, the tricks by seat, and the visible hands."""
        view = View.of(self, record, seat)
        lines = [[(_headline(view), "bold")]]
        if view.rules.side_pot:
            pot = f"side pot: {view.pot}, upturned card "
            lines.append([(pot, ""), _card(view.upturned), (f", {view.claim}", "")])
        lines += [[], *_seats(view), []]
        lines += [_hand(view, seat) for seat in view.hands]
        return [segment for line in lines for segment in [*line, ("\n", "")]]

    def _events(self, before: GameState, action: int, after: GameState, viewer: int | None) -> list[Event]:
        """What ``action`` did, as ``viewer`` sees it; None: everything."""
        old = View.of(self, before.record, None)
        if action == CLAIM:
            card, upturned = card_to_string(claiming_card(before.record)), card_to_string(old.upturned)
            pot = counted(old.pot, "ante")
            text = f"player_{old.mover} shows {card}, next above {upturned}, and claims the side pot of {pot}"
            return [Event("claim", old.mover, text, {"card": card, "pot": old.pot})]
        last = last_position(before, action, after).record  # still in the same round, even if it has ended
        new = View.of(self, last, None)
        if action == SHOW:
            found = [_show(old, before.record.hand[old.mover])]
        else:
            found = [
                _card_played(old, action, last_action(after, viewer) != (old.mover, HIDDEN)),
                *_tricks_won(old, new),
            ]
        if after.round_ended:
            found += _round_end(old, new, after, bool(has_swept(self.params[0], last, new.leader)))
        return found


# A position.


def _headline(view: View) -> str:
    rules, where = view.rules, ""
    if rules.num_rounds > 1:
        where = f"round {view.round} of {rules.num_rounds}, "
    if view.mover == NONE:
        what = "the round is over" if view.round < rules.num_rounds else "the game is over"
    else:
        led = f"{SUITS[view.led]} led" if view.led != NONE else f"player_{view.leader} leads"
        what = f"trick {view.trick + 1} of {NUM_TRICKS}, {led}, player_{view.mover} to move"
    return f"Cat Te ({rules.region}): {where}{what}"


def _seats(view: View) -> list[list[Segment]]:
    """A row for each seat: its card in each trick, tricks, score."""
    several = view.rules.num_rounds > 1
    tricks = "".join(f"{trick + 1:>5}" for trick in range(NUM_TRICKS))
    rows: list[list[Segment]] = [[(f"           {tricks}  tricks" + ("  score" if several else ""), "bold")]]
    for seat, cards in enumerate(view.table):
        turn = seat == view.mover
        row: list[Segment] = [(f"{'>' if turn else ' '} player_{seat} ", "bold" if turn else "")]
        row += [_card(card, 5) if card >= 0 else _PLACES[card] for card in cards]
        row.append((f"{view.tricks_won[seat]:>8}", ""))
        if several:
            row.append((f"{view.scores[seat]:>7}", ""))
        notes = ["dealer"] * (seat == view.dealer) + ["eliminated"] * (not view.in_round[seat])
        row.append((f"  ({', '.join(notes)})" if notes else "", "dim"))
        rows.append(row)
    return rows


def _hand(view: View, seat: int) -> list[Segment]:
    row: list[Segment] = [(f"hand of player_{seat}:", "bold"), *_listed(view.hands[seat])]
    if view.folded[seat]:
        row += [("   folded:", ""), *_listed(view.folded[seat])]
    if seat in view.chosen:
        row += [("   chose ", ""), _card(view.chosen[seat])]
    return row


def _listed(cards: list[int]) -> list[Segment]:
    return [segment for card in cards for segment in ((" ", ""), _card(card))]


def _card(card: int, width: int = 0) -> Segment:
    return f"{card_to_string(card):>{width}}", f"bold {_STYLES[suit_of(card)]}"


# What an action did.


def _show(view: View, hand: int) -> Event:
    cards = [card_to_string(card) for card in view.hands[view.mover]]
    suit = SUITS[suit_of(view.hands[view.mover][0])]
    why = ("four of a kind", f"six {suit}", "six cards from A, 2, 3, 4, 5")[instant_win(hand)]
    text = f"player_{view.mover} shows an instant win: {' '.join(cards)}, {why}"
    return Event("show", view.mover, text, {"cards": cards, "why": why})


def _card_played(view: View, action: int, is_seen: bool) -> Event:
    mover, card = view.mover, card_to_string(card_of(action))
    data: dict[str, Any] = {"card": card} if is_seen else {}
    hidden = f"{card if is_seen else 'a card'}, face down"
    if action >= FOLD:
        return Event("fold", mover, f"player_{mover} folds {hidden}", data)
    if mover == view.leader:
        return Event("play", mover, f"player_{mover} leads {card}", {**data, "follows": True})
    if view.is_blind:
        return Event("choose", mover, f"player_{mover} chooses {hidden}", data)
    follows = suit_of(action) == view.led
    text = f"player_{mover} plays {card}{'' if follows else ', which does not follow suit and cannot win'}"
    return Event("play", mover, text, {**data, "follows": follows})


def _tricks_won(before: View, after: View) -> list[Event]:
    """The tricks that were completed: none, one, or the fifth and the last, which plays itself."""
    found = []
    for trick in range(sum(before.tricks_won), sum(after.tricks_won)):
        shown, what = after.shown(trick), None
        if trick == before.trick and before.is_blind:
            del shown[before.leader]  # it was face up
            what = "the chosen cards are shown"
        elif trick == LAST_TRICK:
            what = "the last cards are shown"
        if what is not None:
            words = ", ".join(f"player_{seat} {card_to_string(card)}" for seat, card in shown.items())
            found.append(Event("cards_shown", None, f"{what}: {words}", {"cards": _by_seat(shown)}))
        found.append(_trick_won(before, after, trick))
    out = [seat for seat, held in enumerate(before.in_round) if held and not after.in_round[seat]]
    if out:
        text = f"{names(out)} won none of the first four tricks, and {'is' if len(out) == 1 else 'are'} out"
        found.append(Event("eliminated", None, text, {"seats": out}))
    return found


def _by_seat(shown: dict[int, int]) -> list[dict[str, Any]]:
    return [{"seat": seat, "card": card_to_string(card)} for seat, card in shown.items()]


def _trick_won(before: View, after: View, trick: int) -> Event:
    shown, winner = after.shown(trick), after.wins[trick]
    folded = [seat for seat, held in enumerate(before.in_round) if held and seat not in shown]
    led = suit_of(shown[winner])
    suited = sum(suit_of(card) == led for card in shown.values())
    why = f"the {'only' if suited == 1 else 'highest'} card of {SUITS[led]}, the led suit"
    text = f"player_{winner} wins trick {trick + 1}: {card_to_string(shown[winner])} is {why}"
    if folded:
        text += f"; {names(folded)} folded"
    return Event("trick_won", winner, text, {"trick": trick + 1, "cards": _by_seat(shown), "folded": folded})


def _round_end(before: View, ended: View, after: GameState, is_swept: bool) -> list[Event]:
    """``ended``: the last position of the round; ``after``: possibly the beginning of the next one.

    ``is_swept``: whether the winner has won all early tricks.
    """
    rules, pot, number = before.rules, before.pot, before.round
    players = range(rules.num_players)
    infos = [after.info(seat) for seat in players]
    winner = next(seat for seat in players if infos[seat]["won_round"])
    which = f"round {number} of {rules.num_rounds}" if rules.num_rounds > 1 else "the round"
    factor, why = 1, "with the last trick"
    if infos[winner]["showed"]:
        factor, why = rules.show_factor, "by an instant win"
    elif is_swept:
        factor, why = rules.sweep_factor, "with all of the first four tricks"
    found = [Event("round_end", winner, f"player_{winner} wins {which} {why}", {"round": number})]
    totals = [int(after.record.scores[seat]) for seat in players]
    is_claimed = any(info["claimed"] for info in infos)
    given_back = after.is_terminal() and not is_claimed
    each = counted(factor, "ante")
    for seat in players:
        parts = [(-factor, f"{each} to player_{winner}")]
        if seat == winner:
            others = rules.num_players - 1
            parts = [(factor * others, f"{each} from {'each of the others' if others > 1 else 'the other'}")]
        if rules.side_pot:
            parts.append((-rules.side_pot, "into the side pot"))
        if infos[seat]["claimed"]:
            parts.append((pot, "the side pot"))
        elif rules.side_pot and given_back:
            parts.append((pot // rules.num_players, "back from the side pot"))
        score = infos[seat]["score"]
        text = f"player_{seat}: {' '.join(f'{antes:+d} ({what})' for antes, what in parts)}"
        if len(parts) > 1:
            text += f" = {score:+d}"
        if rules.num_rounds > 1:
            text += f" ({totals[seat]:+d} in total)"
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


def _hidden_cards(view: View, seat: int) -> list[Event]:
    """The cards of ``seat`` that nobody else has seen: what it folded, and what it still holds."""
    folded, held = view.folded[seat], view.hands[seat]
    words = []
    if folded:
        words.append(f"had folded {cards_to_string(folded)}")
    if held:
        words.append(f"still held {cards_to_string(held)}")
    if not words:
        return []
    cards = {"folded": list(map(card_to_string, folded)), "held": list(map(card_to_string, held))}
    return [Event("hand", seat, f"player_{seat} {', and '.join(words)}", cards)]
