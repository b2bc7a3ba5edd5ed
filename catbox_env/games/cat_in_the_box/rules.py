"""The rules of Cat in the Box as data: how many players, cards, colours, bids and rounds.

Set-up by number of players (copies of each rank: 5; everyone begins with an X-token of each colour):

| players | ranks | cards dealt to each | tricks in a full round | bids |
|---|---|---|---|---|
| 5 | 1-9 | 9 | 7 | 1, 2, 3, 4 |
| 4 | 1-8 | 10 | 8 | 1, 2, 3, 4 |
| 3 | 1-6 | 10 | 8 | 1, 2, 3, 4 |
| 2 | 1-5 | 10 | 8 | none; 3 revealed cards block cells |
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from catbox_env.core.checks import (
    check_integer_field,
    check_seat,
    check_sequence,
    check_sequences,
    is_integer,
    is_literal,
    is_sequence,
    short_repr,
)

#: The order of the rows of the research board. Red is trump.
COLORS = ("red", "blue", "yellow", "green")
#: The phases of a round, in order.
PHASES = ("discard", "bid", "play")

MAX_PLAYERS, MAX_RANKS, MAX_COLORS, MAX_COPIES, MAX_BIDS, MAX_ROUNDS = 5, 9, 4, 5, 9, 127
#: Cards of a hand that are never played: the discard and the last card.
UNPLAYED_CARDS = 2
MIN_HAND_SIZE = UNPLAYED_CARDS + 1
# Standard values of the fields that a rule set leaves open.
_STANDARD_RANKS = {5: 9, 4: 8, 3: 6, 2: 5}
_STANDARD_BIDS = (1, 2, 3, 4)
_STANDARD_BONUS_MAX_TRICKS = 4
_SET_ASIDE_BY_TWO, _REVEALED_BY_TWO = 5, 3


def cell_at(rules: Any, index: int) -> tuple[int, int]:
    """The colour and the rank of a cell of the research board, counted row by row; (-1, -1) for -1, no cell.

    ``rules``: a ``Rules`` or, in a kernel, the parameters.
    """
    return (index // rules.num_ranks, index % rules.num_ranks) if index >= 0 else (-1, -1)


@dataclass(frozen=True)
class Rules:
    """One rule set, validated. Fields left at ``None`` follow from the others.

    Attributes:
        num_players: 2-5.
        num_ranks: the highest rank in the deck, 1-9. Default 9, 8, 6, 5 for 5, 4, 3, 2 players.
        num_colors: 2-4: the first ones of red, blue, yellow, green.
        copies: cards of each rank, 1-5.
        hand_size: cards dealt to each player, at least 3. Default: as many as possible, after five cards are set
            aside for two players.
        bids: the numbers of tricks that may be bid, ascending; ``()`` for no bids. Default 1-4 (up to the number of
            tricks), none for two players.
        bonus_max_tricks: without bids, a player who wins at most this many tricks earns the bonus. Default 4.
        revealed_cards: undealt cards shown at the start, which block cells. Default 3 for two players, else 0.
        rounds: 1-127 or ``"match"``, one round for each player.
        start_player: the seat that starts the first round, or ``"random"``.

    Raises:
        ValueError: a rule set that cannot be dealt; the message names the field, the value and the bound.
    """

    num_players: int = 4
    num_ranks: int = None  # type: ignore[assignment]  # None means "by the other fields" until __post_init__
    num_colors: int = 4
    copies: int = 5
    hand_size: int = None  # type: ignore[assignment]
    bids: tuple[int, ...] = None  # type: ignore[assignment]
    bonus_max_tricks: int = None  # type: ignore[assignment]
    revealed_cards: int = None  # type: ignore[assignment]
    rounds: int | str = 1
    start_player: int | str = 0

    def __post_init__(self) -> None:
        players = check_integer_field(self, "num_players", 2, MAX_PLAYERS)
        self._default("num_ranks", _STANDARD_RANKS[players])
        ranks = check_integer_field(self, "num_ranks", 1, MAX_RANKS)
        check_integer_field(self, "num_colors", 2, MAX_COLORS)
        deck = ranks * check_integer_field(self, "copies", 1, MAX_COPIES)
        aside = _SET_ASIDE_BY_TWO if players == 2 else 0
        self._default("hand_size", (deck - aside) // players)
        hand_size = check_integer_field(self, "hand_size", MIN_HAND_SIZE, deck)
        if players * hand_size > deck:
            raise ValueError(
                f"hand_size={hand_size}: {players} players need {players * hand_size} cards, but {ranks} ranks x "
                f"{self.copies} copies are {deck}; at most {deck // players} each (and at least {MIN_HAND_SIZE})"
            )
        left = deck - players * hand_size
        self._default("revealed_cards", _REVEALED_BY_TWO if players == 2 else 0)
        if check_integer_field(self, "revealed_cards", 0) > left:
            raise ValueError(
                f"revealed_cards={self.revealed_cards}: only {left} of {deck} cards are left after dealing "
                f"{hand_size} to each of {players} players; give at most {left}, or a smaller hand_size"
            )
        bids = () if players == 2 else tuple(b for b in _STANDARD_BIDS if b <= self.num_tricks)
        self._default("bids", bids)
        self._check_bids()
        self._default("bonus_max_tricks", min(_STANDARD_BONUS_MAX_TRICKS, self.num_tricks))
        check_integer_field(self, "bonus_max_tricks", 0, self.num_tricks)
        if not is_literal(self.rounds, "match"):
            check_integer_field(self, "rounds", 1, MAX_ROUNDS, ", or 'match'")
        if not is_literal(self.start_player, "random"):
            check_integer_field(self, "start_player", 0, players - 1, ", or 'random'")

    @classmethod
    def tiny(cls) -> Rules:
        """A game small enough to be enumerated and solved exactly: two players, three cards each, one trick."""
        return cls(
            num_players=2, num_ranks=3, num_colors=2, copies=3, hand_size=3, bids=(0, 1), revealed_cards=0
        )

    @property
    def num_tricks(self) -> int:
        """Tricks in a full round: every card except the discard and the last one is played."""
        return self.hand_size - UNPLAYED_CARDS

    @property
    def num_rounds(self) -> int:
        """Rounds in a game."""
        return self.num_players if self.rounds == "match" else int(self.rounds)

    @property
    def score_bounds(self) -> tuple[int, int]:
        """The fewest and the most points of a seat in a game.

        A player loses at most a point per trick; it wins one per trick, and as much again for its tokens, of which it
        lays one per trick.
        """
        return -self.num_tricks * self.num_rounds, 2 * self.num_tricks * self.num_rounds

    @property
    def num_actions(self) -> int:
        """Discards, bids, plays, and PARADOX."""
        return self.first_play + self.num_colors * self.num_ranks + 1

    @property
    def first_play(self) -> int:
        """The first of the actions that play a card; discards and bids come before."""
        return self.num_ranks + len(self.bids)

    def card_of(self, action: int) -> tuple[int, int]:
        """The colour and the rank that a play declares."""
        return cell_at(self, action - self.first_play)

    @property
    def paradox(self) -> int:
        """The action PARADOX, the last one."""
        return self.num_actions - 1

    def _default(self, name: str, value: Any) -> None:
        if getattr(self, name) is None:
            object.__setattr__(self, name, value)

    def _check_bids(self) -> None:
        bids: tuple[Any, ...] = tuple(self.bids) if is_sequence(self.bids) else (None,)
        possible = all(is_integer(b) and 0 <= b <= self.num_tricks for b in bids)
        ascending = possible and all(a < b for a, b in itertools.pairwise(bids))
        if not ascending or len(bids) > MAX_BIDS:
            raise ValueError(
                f"bids={short_repr(self.bids)}: expected an ascending tuple of at most {MAX_BIDS} different integers "
                f"from 0 to {self.num_tricks} (the number of tricks), or () for no bidding"
            )
        object.__setattr__(self, "bids", tuple(map(int, bids)))


@dataclass(frozen=True)
class Deal:
    """A fixed deal of the first round, in printed ranks.

    Attributes: ``hands``: one sequence of ranks for each seat; ``revealed``: the revealed ranks, in order;
    ``start_player``: the seat that starts, only where the rules say ``start_player="random"``.
    """

    hands: Sequence[Sequence[int]]
    revealed: Sequence[int] = ()
    start_player: int | None = None

    def check(self, rules: Rules) -> None:
        """Raise ``ValueError`` unless this deal is possible under ``rules``."""
        check_sequences("hands", self.hands, "ranks")
        check_sequence("revealed", self.revealed, "ranks")
        cards = [rank for hand in (*self.hands, self.revealed) for rank in hand]
        for rank in cards:
            if not is_integer(rank) or not 1 <= rank <= rules.num_ranks:
                raise ValueError(
                    f"deal: {short_repr(rank)} is not a card; expected integers from 1 to {rules.num_ranks}"
                )
        sizes = [len(hand) for hand in self.hands]
        if sizes != [rules.hand_size] * rules.num_players:
            raise ValueError(
                f"deal: hands of {sizes} cards; expected {rules.num_players} hands of {rules.hand_size} cards each"
            )
        if len(self.revealed) != rules.revealed_cards:
            raise ValueError(
                f"deal: {len(self.revealed)} revealed cards; expected {rules.revealed_cards} (rules.revealed_cards)"
            )
        for rank, count in Counter(cards).items():
            if count > rules.copies:
                raise ValueError(f"deal: rank {rank} occurs {count} times; there are {rules.copies} copies")
        if self.start_player is None:
            return
        check_seat("deal: start_player", self.start_player, rules.num_players)
        if rules.start_player not in ("random", self.start_player):
            raise ValueError(
                f"deal: start_player={self.start_player}, but the rules say {rules.start_player}; leave it out, or "
                f"make the game with start_player={self.start_player} or 'random'"
            )
