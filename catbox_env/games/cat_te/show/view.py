"""What a picture of Cat Te shows: all that one seat sees of a position, or all seats together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catbox_env.core.compilation import cached_njit
from catbox_env.core.picture import actions_shown, last_action, winners_of
from catbox_env.core.state import GameState
from catbox_env.games.cat_te.play.cards import trick_winner
from catbox_env.games.cat_te.play.state import CLAIM, FOLD, INFO_SCORE, NONE
from catbox_env.games.cat_te.rules import NUM_SUITS, NUM_TRICKS, Rules, card_to_string
from catbox_env.games.cat_te.show.text import cards_in

#: A place in the table of tricks that holds no open card: nothing yet, a folded card, a card chosen blind.
EMPTY, FOLDED, CHOSEN = -1, -2, -3


@cached_njit
def winner_of(params: np.record, state: np.record, trick: int, led: int) -> int:
    """The seat that shows the highest card of suit ``led`` in ``trick``."""
    return trick_winner(params, state, trick, led)


@dataclass(frozen=True)
class View:
    """A position as ``seat`` sees it, as everybody together for None.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        shown: the seat whose hand is drawn large, -1: none.
        legal: the legal actions of the mover; none for another seat.
        hands, folded: cards by suit and rank, and chosen: the card chosen blind, of the seats whose hands are seen.
        table: by seat and trick, the open card or EMPTY, FOLDED, CHOSEN.
        wins: who won each completed trick, and who wins the one under way.
        trick: the trick under way, from 0; NUM_TRICKS: none.
        led: the suit led in it, NONE: not yet.
        change: what each seat was paid in the last finished round; None: there is none.
        winners: who won the game, or shares the win.
        last: the last action, in words.
    """

    rules: Rules
    seat: int | None
    mover: int
    shown: int
    legal: list[int]
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
    scores: list[int]
    change: list[int] | None
    round: int
    pot: int
    upturned: int
    claimed: int
    winners: list[int]
    last: str

    @classmethod
    def of(cls, rules: Rules, params: np.record, state: GameState, seat: int | None) -> View:
        """What ``seat`` sees of ``state``. Nothing hidden from it is in the view."""
        record, players = state.record, rules.num_players
        mover = state.current_player
        seen = range(players) if seat is None else (seat,)
        info = record.info[:, :players].tolist()
        return cls(
            rules=rules,
            seat=seat,
            mover=mover,
            shown=mover if seat is None else seat,
            legal=actions_shown(state, seat),
            hands={other: cards_in(int(record.hand[other])) for other in seen},
            folded={other: cards_in(int(record.folded[other])) for other in seen},
            chosen={other: int(record.chosen[other]) for other in seen if record.chosen[other] != NONE},
            table=_table(record, players),
            wins=_wins(rules, params, record),
            trick=NUM_TRICKS if record.terminated else int(record.trick),
            led=int(record.led),
            leader=int(record.leader),
            dealer=int(record.dealer),
            in_round=[bool(held) for held in record.in_round[:players]],
            scores=record.scores[:players].tolist(),
            change=info[INFO_SCORE] if record.rounds_ended else None,
            round=rules.num_rounds - int(record.rounds_left),
            pot=int(record.pot),
            upturned=int(record.upturned),
            claimed=int(record.claimed),
            winners=winners_of(state),
            last=_last_words(state, seat),
        )


def _table(record: np.record, players: int) -> list[list[int]]:
    """What lies in each trick. The folds of a seat are as many as its first tricks without an open card."""
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


def _wins(rules: Rules, params: np.record, record: np.record) -> dict[int, int]:
    """Who won each trick, and who wins the one under way so far."""
    wins: dict[int, int] = {}
    leader = (int(record.dealer) + 1) % rules.num_players
    for trick in range(NUM_TRICKS):
        card = int(record.faceup[leader, trick])
        if card == NONE:
            break
        leader = wins[trick] = int(winner_of(params, record, trick, card % NUM_SUITS))
    return wins


def _last_words(state: GameState, seat: int | None) -> str:
    last = last_action(state, seat)
    if last is None:
        return ""
    mover, action = last
    if action < 0:  # folded, or chosen blind
        what = "laid a card face down"
    elif action < FOLD:
        what = f"played {card_to_string(action)}"
    elif action < CLAIM:
        what = f"folded {card_to_string(action - FOLD)}"
    else:
        what = "claimed the side pot" if action == CLAIM else "showed an instant win"
    return f"player_{mover} {what}."
