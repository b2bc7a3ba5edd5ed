"""Cat Te in words: names of actions, a summary of the rules, and a position as styled text."""

from __future__ import annotations

from catbox_env.core.events import counted
from catbox_env.games.cat_te.play.state import CLAIM, FOLD, NONE, SHOW
from catbox_env.games.cat_te.rules import (
    NUM_SUITS,
    NUM_TRICKS,
    SUITS,
    Rules,
    card_to_string,
)
from catbox_env.games.cat_te.show.view import CHOSEN, EMPTY, FOLDED, View

Piece = tuple[str, str]

#: Colours of the suits, in their order.
_STYLES = ("green", "blue", "red", "magenta")
#: A place without a face-up card.
_PLACES: dict[int, Piece] = {EMPTY: ("    .", "dim"), FOLDED: ("   ##", "dim"), CHOSEN: ("   ??", "bold")}


def action_to_string(action: int) -> str:
    """``"play AS"``, ``"fold 2C"``, ``"claim"`` or ``"show"``."""
    if action < FOLD:
        return f"play {card_to_string(action)}"
    if action < CLAIM:
        return f"fold {card_to_string(action - FOLD)}"
    return "claim" if action == CLAIM else "show"


def describe_actions() -> list[tuple[int, int, str]]:
    """Rows (first id, last id, what they do)."""
    play = (
        f"play a card face up (in a blind trick: choose it): rank * {NUM_SUITS} + suit, 2C, 2D, 2H, 2S .. AS"
    )
    return [
        (0, FOLD - 1, play),
        (FOLD, CLAIM - 1, f"fold the card id - {FOLD}"),
        (CLAIM, CLAIM, "CLAIM the side pot"),
        (SHOW, SHOW, "SHOW an instant win"),
    ]


def describe_rules(rules: Rules) -> list[str]:
    """A summary of the rules."""
    told = [
        f"Cards: six to each of {rules.num_players} players, from 52. An ace is high, and no suit is trump.",
        "Trick: the leader plays a card face up. Everybody else plays a card of the led suit face up, or folds: puts "
        "any card face down, which cannot win and stays hidden. The highest card of the led suit wins; its player "
        "leads next.",
        "Without the led suit you may also play another card face up, but it cannot win."
        if rules.offsuit_faceup
        else "Without the led suit you have to fold.",
    ]
    if rules.eliminates:
        told += [
            "After four tricks, whoever has won none of them is out. A player that has won all four wins the round"
            f"{', and twice the antes' if rules.sweep_factor > 1 else ''}.",
            "The fifth trick: the leader plays face up; everybody else still in chooses a card face down, and all "
            "are shown at once. The highest of the led suit wins.",
        ]
    else:
        told.append("Nobody is eliminated, and the first five tricks only decide who leads the last.")
    told.append("The sixth trick plays itself: the last cards are shown, and whoever wins it wins the round.")
    if rules.instant_wins:
        twice = ", and is paid twice" if rules.show_factor > 1 else ""
        told.append(
            "Instant win: with four of a kind, six cards of one suit, or six from A, 2, 3, 4, 5 you may show your "
            f"hand on your first turn: it wins at once{twice}."
        )
    if rules.side_pot:
        told.append(
            f"Side pot: everybody puts {counted(rules.side_pot, 'ante')} into it every round. A card is turned up; "
            "whoever holds the next higher one of its suit may claim the pot on any of its turns."
        )
    told.append("Antes: the winner of the round gets one from everybody else.")
    if rules.num_rounds > 1:
        told.append(
            f"{rules.num_rounds} rounds are played, and the winner of one deals the next. Most antes in all win; "
            "between equals, those of the last round count."
        )
    return told


def draw_text(view: View) -> list[Piece]:
    """Pieces (text, rich style) that together show the position."""
    lines = [[(_headline(view), "bold")]]
    if view.rules.side_pot:
        pot = f"side pot: {view.pot}, upturned card "
        lines.append([(pot, ""), _card(view.upturned), (f", {view.claim}", "")])
    lines += [[], *_seats(view), []]
    lines += [_hand(view, seat) for seat in view.hands]
    return [piece for line in lines for piece in [*line, ("\n", "")]]


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


def _seats(view: View) -> list[list[Piece]]:
    """A row for each seat: its card in each trick, tricks, score."""
    several = view.rules.num_rounds > 1
    tricks = "".join(f"{trick + 1:>5}" for trick in range(NUM_TRICKS))
    rows: list[list[Piece]] = [[(f"           {tricks}  tricks" + ("  score" if several else ""), "bold")]]
    for seat, cards in enumerate(view.table):
        turn = seat == view.mover
        row: list[Piece] = [(f"{'>' if turn else ' '} player_{seat} ", "bold" if turn else "")]
        row += [_card(card, 5) if card >= 0 else _PLACES[card] for card in cards]
        row.append((f"{view.tricks_won[seat]:>8}", ""))
        if several:
            row.append((f"{view.scores[seat]:>7}", ""))
        notes = ["dealer"] * (seat == view.dealer) + ["eliminated"] * (not view.in_round[seat])
        row.append((f"  ({', '.join(notes)})" if notes else "", "dim"))
        rows.append(row)
    return rows


def _hand(view: View, seat: int) -> list[Piece]:
    row: list[Piece] = [(f"hand of player_{seat}:", "bold"), *_listed(view.hands[seat])]
    if view.folded[seat]:
        row += [("   folded:", ""), *_listed(view.folded[seat])]
    if seat in view.chosen:
        row += [("   chose ", ""), _card(view.chosen[seat])]
    return row


def _listed(cards: list[int]) -> list[Piece]:
    return [piece for card in cards for piece in ((" ", ""), _card(card))]


def _card(card: int, width: int = 0) -> Piece:
    return f"{card_to_string(card):>{width}}", f"bold {_STYLES[card % NUM_SUITS]}"
