"""A view of a position of Cat Te, for text, events and pictures: all that one seat sees, or all seats together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catbox_env.games.cat_te.play.state import NONE
from catbox_env.games.cat_te.rules import NUM_CARDS, NUM_SUITS, NUM_TRICKS, Rules, card_to_string

#: A place in the table of tricks without a face-up card: nothing yet, a folded card, a blind choice.
EMPTY, FOLDED, CHOSEN = -1, -2, -3


@dataclass(frozen=True)
class View:
    """A position as ``seat`` sees it, or as all seats together see it for None. It contains nothing hidden from them.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        hands, folded: cards by suit and rank, and chosen: the blind choice, of the seats whose hands are visible.
        table: by seat and trick, the face-up card or EMPTY, FOLDED, CHOSEN.
        wins: who won each completed trick, and who is winning the current one.
        trick: the current trick, from 0; after the end the last one played.
        led: the suit led in it, or NONE.
        round: the current round, from 1.
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
    led: int
    leader: int
    dealer: int
    in_round: list[bool]
    tricks_won: list[int]
    scores: list[int]
    round: int
    pot: int
    upturned: int
    claimed: int

    @classmethod
    def of(cls, rules: Rules, record: np.record, seat: int | None) -> View:
        """What ``seat`` sees of the state ``record``."""
        players = rules.num_players
        seen = range(players) if seat is None else (seat,)
        table = _table(record, players)
        return cls(
            rules=rules,
            seat=seat,
            mover=int(record.current_player),
            hands={other: cards_in(record.hand[other]) for other in seen},
            folded={other: cards_in(record.folded[other]) for other in seen},
            chosen={other: int(record.chosen[other]) for other in seen if record.chosen[other] != NONE},
            table=table,
            wins=_wins(table, (int(record.dealer) + 1) % players),
            trick=int(record.trick),
            led=int(record.led),
            leader=int(record.leader),
            dealer=int(record.dealer),
            in_round=[bool(held) for held in record.in_round[:players]],
            tricks_won=record.tricks_won[:players].tolist(),
            scores=record.scores[:players].tolist(),
            round=rules.num_rounds - int(record.rounds_left),
            pot=int(record.pot),
            upturned=int(record.upturned),
            claimed=int(record.claimed),
        )

    @property
    def claim(self) -> str:
        """Whether the side pot has been claimed, in words."""
        return "not claimed" if self.claimed == NONE else f"claimed by player_{self.claimed}"

    def shown(self, trick: int) -> dict[int, int]:
        """The face-up cards of a trick, by seat."""
        return {seat: row[trick] for seat, row in enumerate(self.table) if row[trick] >= 0}


def cards_in(cards: int) -> list[int]:
    """The cards of a set, by suit and rank."""
    held = [card for card in range(NUM_CARDS) if int(cards) >> card & 1]
    return sorted(held, key=lambda card: (card % NUM_SUITS, card))


def cards_to_string(cards: list[int]) -> str:
    """``"5C QC 10H"``."""
    return " ".join(map(card_to_string, cards))


def _table(record: np.record, players: int) -> list[list[int]]:
    """The cards of each trick. A seat's folds are its first tricks without a face-up card."""
    table = []
    for faceup, folds, chosen in zip(
        record.faceup[:players].tolist(), record.num_folded.tolist(), record.chosen.tolist(), strict=False
    ):
        row = []
        for trick, card in enumerate(faceup):
            if card != NONE:
                row.append(card)
            elif folds > 0:
                row.append(FOLDED)
                folds -= 1
            else:
                row.append(CHOSEN if chosen != NONE and trick == record.trick else EMPTY)
        table.append(row)
    return table


def _wins(table: list[list[int]], leader: int) -> dict[int, int]:
    """Who won each trick, and who is winning the current one; ``leader`` led the first."""
    wins: dict[int, int] = {}
    for trick in range(NUM_TRICKS):
        led = table[leader][trick]
        if led < 0:
            break
        suited = {row[trick]: seat for seat, row in enumerate(table) if row[trick] >= 0}
        leader = wins[trick] = suited[max(card for card in suited if card % NUM_SUITS == led % NUM_SUITS)]
    return wins
