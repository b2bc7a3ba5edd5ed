"""A position of Cat Te as styled text: tricks card by card, seats, side pot, hands."""

from __future__ import annotations

import numpy as np

from catbox_env.games.cat_te.play.state import NONE
from catbox_env.games.cat_te.rules import NUM_SUITS, NUM_TRICKS, SUITS, Rules, card_to_string
from catbox_env.games.cat_te.show.text import cards_in

Piece = tuple[str, str]

#: Colours of the suits, in their order.
_STYLES = ("green", "blue", "red", "magenta")


def render(rules: Rules, state: np.record, seat: int | None = None) -> list[Piece]:
    """Pieces (text, rich style) that together show the position; ``seat``'s own cards, or everybody's for ``None``."""
    lines = [_headline(rules, state), *_side_pot(rules, state), []]
    lines += [*_seats(rules, state), [], *_hands(rules, state, seat)]
    return [piece for line in lines for piece in [*line, ("\n", "")]]


def _card(card: int, width: int = 0) -> Piece:
    return f"{card_to_string(card):>{width}}", f"bold {_STYLES[card % NUM_SUITS]}"


def _headline(rules: Rules, state: np.record) -> list[Piece]:
    where = ""
    if rules.num_rounds > 1:
        where = f"round {rules.num_rounds - state.rounds_left} of {rules.num_rounds}, "
    if state.terminated:
        what = "the round is over" if state.rounds_left else "the game is over"
    else:
        led = f"{SUITS[state.led]} led" if state.led != NONE else f"player_{state.leader} leads"
        what = f"trick {state.trick + 1} of {NUM_TRICKS}, {led}, player_{state.current_player} to move"
    return [(f"Cat Te ({rules.region}): {where}{what}", "bold")]


def _side_pot(rules: Rules, state: np.record) -> list[list[Piece]]:
    if not rules.side_pot:
        return []
    claim = "not claimed" if state.claimed == NONE else f"claimed by player_{state.claimed}"
    return [[(f"side pot: {state.pot}, upturned card ", ""), _card(int(state.upturned)), (f", {claim}", "")]]


def _seats(rules: Rules, state: np.record) -> list[list[Piece]]:
    """A row for each seat: its card in each trick (## folded, ?? chosen and not shown), tricks, score."""
    tricks = "".join(f"{trick + 1:>5}" for trick in range(NUM_TRICKS))
    rows: list[list[Piece]] = [
        [(f"           {tricks}  tricks" + ("  score" if rules.num_rounds > 1 else ""), "bold")]
    ]
    faceup, folded, chosen = state.faceup.tolist(), state.num_folded.tolist(), state.chosen.tolist()
    for seat in range(rules.num_players):
        turn = ">" if seat == state.current_player else " "
        row: list[Piece] = [(f"{turn} player_{seat} ", "bold" if turn == ">" else "")]
        chosen_in = int(state.trick) if chosen[seat] != NONE else NONE
        row += _in_tricks(faceup[seat], folded[seat], chosen_in)
        row.append((f"{state.tricks_won[seat]:>8}", ""))
        if rules.num_rounds > 1:
            row.append((f"{state.scores[seat]:>7}", ""))
        notes = ["dealer"] if seat == state.dealer else []
        notes += [] if state.in_round[seat] else ["eliminated"]
        row.append((f"  ({', '.join(notes)})" if notes else "", "dim"))
        rows.append(row)
    return rows


def _in_tricks(faceup: list[int], num_folded: int, chosen_in: int) -> list[Piece]:
    """A seat's cards in all tricks. ``chosen_in``: the trick for which it has chosen a card that is not shown yet."""
    pieces = []
    for trick, card in enumerate(faceup):
        if card != NONE:
            pieces.append(_card(card, 5))
        # What is not shown was folded; the folds of a seat are as many as its first tricks without a card.
        elif num_folded > 0:
            num_folded -= 1
            pieces.append(("   ##", "dim"))
        else:
            pieces.append(("   ??", "bold") if trick == chosen_in else ("    .", "dim"))
    return pieces


def _hands(rules: Rules, state: np.record, only: int | None) -> list[list[Piece]]:
    rows: list[list[Piece]] = []
    for seat in range(rules.num_players) if only is None else [only]:
        row: list[Piece] = [(f"hand of player_{seat}:", "bold")]
        row += _listed(int(state.hand[seat]))
        if state.folded[seat]:
            row += [("   folded:", ""), *_listed(int(state.folded[seat]))]
        if state.chosen[seat] != NONE:
            row += [("   chose ", ""), _card(int(state.chosen[seat]))]
        rows.append(row)
    return rows


def _listed(cards: int) -> list[Piece]:
    return [piece for card in cards_in(cards) for piece in ((" ", ""), _card(card))]
