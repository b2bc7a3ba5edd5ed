"""A view of a position of Cat Te, for text, events and pictures: all that one seat sees, or all seats together see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from catbox_env.core.checks import hands_seen
from catbox_env.core.spec import GameSpec
from catbox_env.games.cat_te.play import is_blind, trick_winner
from catbox_env.games.cat_te.rules import NUM_CARDS, Rules, card_to_string, suit_of
from catbox_env.games.cat_te.state import NONE

#: A place in the table of tricks without a face-up card: nothing yet, a folded card, a blind choice.
EMPTY, FOLDED, CHOSEN = -1, -2, -3
_BY_SUIT = sorted(range(NUM_CARDS), key=lambda card: (suit_of(card), card))


@dataclass(frozen=True)
class View:
    """A position as ``seat`` sees it, all seats together for None, or everybody for PUBLIC. It holds nothing hidden.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        hands, folded: cards by suit and rank, and chosen: the blind choice, of the seats whose hands are visible.
        table: by seat and trick, the face-up card or EMPTY, FOLDED, CHOSEN.
        wins: who won each completed trick, and who is winning the current one.
        trick: the current trick, from 0; after the end the last one played.
        is_blind: whether its followers choose cards face down.
        led: the suit led in it, or NONE.
        round: the current round, from 1.
        claim: whether the side pot has been claimed, in words.
    """

    rules: Rules
    seat: int | None
    mover: int
    hands: dict[int, list[int]]
    folded: dict[int, list[int]]
    chosen: dict[int, int]
    table: list[list[int]]
    wins: dict[int, int]
    trick: int
    is_blind: bool
    led: int
    leader: int
    dealer: int
    in_round: list[bool]
    tricks_won: list[int]
    scores: list[int]
    round: int
    pot: int
    upturned: int
    claim: str

    @classmethod
    def of(cls, game: GameSpec, record: np.record, seat: int | None) -> View:
        """What ``seat`` sees of the state ``record`` of ``game``."""
        rules, players = game.rules, game.num_players
        seen = hands_seen(seat, players)
        trick, led, claimer = int(record.trick), int(record.led), int(record.claimed)
        winners = record.winners.tolist()
        wins = {trick: winner for trick, winner in enumerate(winners) if winner != NONE}
        if led != NONE:
            wins[trick] = trick_winner(game.params[0], record, trick, led)
        return cls(
            rules=rules,
            seat=seat,
            mover=int(record.current_player),
            hands={other: cards_in(record.hand[other]) for other in seen},
            folded={other: cards_in(record.folded[other]) for other in seen},
            chosen={other: int(record.chosen[other]) for other in seen if record.chosen[other] != NONE},
            table=[_row(record, other) for other in range(players)],
            wins=wins,
            trick=trick,
            is_blind=bool(is_blind(game.params[0], trick)),
            led=led,
            leader=int(record.leader),
            dealer=int(record.dealer),
            in_round=[bool(held) for held in record.in_round[:players]],
            tricks_won=[winners.count(other) for other in range(players)],
            scores=record.scores[:players].tolist(),
            round=rules.num_rounds - int(record.rounds_left),
            pot=int(record.pot),
            upturned=int(record.upturned),
            claim="not claimed" if claimer == NONE else f"claimed by player_{claimer}",
        )

    def shown(self, trick: int) -> dict[int, int]:
        """The face-up cards of a trick, by seat."""
        return {seat: row[trick] for seat, row in enumerate(self.table) if row[trick] >= 0}


def _row(record: np.record, seat: int) -> list[int]:
    """A row of the table of tricks."""
    row: list[int] = record.faceup[seat].tolist()
    folded, chosen_in = int(record.fold_tricks[seat]), -1
    if record.chosen[seat] != NONE:
        chosen_in = int(record.trick)
    for trick, card in enumerate(row):
        if folded >> trick & 1:
            row[trick] = FOLDED
        elif card == NONE and trick == chosen_in:
            row[trick] = CHOSEN
    return row


def cards_in(cards: int) -> list[int]:
    """The cards of a set, by suit and rank."""
    cards = int(cards)
    return [card for card in _BY_SUIT if cards >> card & 1]


def cards_to_string(cards: Iterable[int]) -> str:
    """``"5C QC 10H"``."""
    return " ".join(map(card_to_string, cards))
