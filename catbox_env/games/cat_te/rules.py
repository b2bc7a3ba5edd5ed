"""The rules of Cat Te as data: the cards, the options of a rule set, and fixed deals.

A card is an integer ``rank * 4 + suit``: ranks 0 (two) to 12 (ace), suits clubs, diamonds, hearts, spades. In words
it is the rank and the letter of the suit: ``"2C"``, ``"10H"``, ``"AS"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from catbox_env.core.checks import (
    check_choice,
    check_flag,
    check_integer_field,
    check_sequences,
    is_integer,
    is_literal,
    short_repr,
)

RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
SUITS = ("clubs", "diamonds", "hearts", "spades")
NUM_RANKS, NUM_SUITS = len(RANKS), len(SUITS)
NUM_CARDS = NUM_RANKS * NUM_SUITS
#: Low bits of a card that hold its suit; the higher ones hold its rank.
SUIT_BITS = 2
HAND_SIZE = NUM_TRICKS = 6
#: The first four tricks decide who stays in; the fifth is blind (neither in khmer); the sixth plays itself.
NUM_EARLY_TRICKS = 4
BLIND_TRICK, LAST_TRICK = NUM_TRICKS - 2, NUM_TRICKS - 1
#: A hand of only these ranks is an instant win.
LOW_RANKS = ("A", "2", "3", "4", "5")
#: Antes that each loser of a doubled round pays.
DOUBLE = 2
REGIONS = ("khmer", "laos", "vietnamese")

MAX_PLAYERS, MAX_ROUNDS, MAX_SIDE_POT = 6, 127, 100


def suit_of(card: int) -> int:
    """The suit of a card."""
    return card & (NUM_SUITS - 1)


def rank_of(card: int) -> int:
    """The rank of a card."""
    return card >> SUIT_BITS


def card_at(rank: int, suit: int) -> int:
    """The card of that rank and suit."""
    return rank * NUM_SUITS + suit


def card_of(action: int) -> int:
    """The card that an action plays or folds."""
    return action if action < NUM_CARDS else action - NUM_CARDS


_CARDS = {
    rank + suit[0].upper(): card_at(i, j) for i, rank in enumerate(RANKS) for j, suit in enumerate(SUITS)
}
_NAMES = {card: name for name, card in _CARDS.items()}


def card_to_string(card: int) -> str:
    """``"AS"`` for 51. Raises ``KeyError`` outside 0 .. 51."""
    return _NAMES[int(card)]


def card_in_deal(card: int | str) -> int:
    """The id of a card given by name (any case) or by id. Raises ``ValueError`` for anything else."""
    if isinstance(card, str) and card.strip().upper() in _CARDS:
        return _CARDS[card.strip().upper()]
    if is_integer(card) and 0 <= card < NUM_CARDS:
        return int(card)
    raise ValueError(
        f"deal: card {short_repr(card)}; expected a rank of {', '.join(RANKS)} and the letter of a suit of C, D, H, S, "
        f"such as '10H', or an integer from 0 to {NUM_CARDS - 1}"
    )


@dataclass(frozen=True)
class Rules:
    """One rule set, validated.

    Attributes:
        num_players: 2-6.
        region: ``"khmer"``: six tricks, nobody is out; ``"laos"``, ``"vietnamese"``: out without a trick after four.
        offsuit_faceup: whether a player without the led suit may play another card face up.
        instant_wins: whether a hand of four equal ranks, of one suit, or all from A, 2, 3, 4, 5 may be shown to win.
        instant_wins_double: whether such a win is paid twice.
        side_pot: 0-100 antes that each player puts into the side pot every round; 0: no side pot.
        rounds: 1-127 or ``"match"``, one round for each player.
        dealer: the seat that deals the first round; -1: the last one, so that seat 0 leads. The winner of a round
            deals the next.

    Raises:
        ValueError: an invalid value; the message names the field, the value and the bound.
    """

    num_players: int = 4
    region: str = "laos"
    offsuit_faceup: bool = True
    instant_wins: bool = True
    instant_wins_double: bool = False
    side_pot: int = 0
    rounds: int | str = 1
    dealer: int = -1

    def __post_init__(self) -> None:
        players = check_integer_field(self, "num_players", 2, MAX_PLAYERS)
        check_choice("region", self.region, REGIONS)
        for name in ("offsuit_faceup", "instant_wins", "instant_wins_double"):
            object.__setattr__(self, name, check_flag(name, getattr(self, name)))
        check_integer_field(self, "side_pot", 0, MAX_SIDE_POT)
        if not is_literal(self.rounds, "match"):
            check_integer_field(self, "rounds", 1, MAX_ROUNDS, ", or 'match'")
        if check_integer_field(self, "dealer", -1, players - 1, " (-1: the last seat)") == players - 1:
            object.__setattr__(self, "dealer", -1)  # one name for one rule set

    @property
    def num_rounds(self) -> int:
        """Rounds in a game."""
        return self.num_players if self.rounds == "match" else int(self.rounds)

    @property
    def first_dealer(self) -> int:
        """The seat that deals the first round."""
        return self.num_players - 1 if self.dealer == -1 else self.dealer

    @property
    def eliminates(self) -> bool:
        """Whether players without a trick are out after four tricks, and the fifth is chosen blind."""
        return self.region != "khmer"

    @property
    def sweep_factor(self) -> int:
        """Antes from each other seat for winning all four early tricks: 2 with four or more players."""
        return DOUBLE if self.eliminates and self.num_players >= 4 else 1

    @property
    def show_factor(self) -> int:
        """Antes from each other seat for an instant win."""
        return DOUBLE if self.instant_wins_double else 1

    @property
    def score_bounds(self) -> tuple[int, int]:
        """The most antes that a seat can lose in a game, as a negative number, and the most that it can win."""
        factor = max(self.sweep_factor, self.show_factor if self.instant_wins else 1)
        lost = self.num_rounds * (factor + self.side_pot)
        return -lost, lost * (self.num_players - 1)


@dataclass(frozen=True)
class Deal:
    """A fixed deal of the first round; cards by id or by name.

    Attributes: ``hands``: six cards for each seat; ``upturned``: the card turned up for the side pot, only with a
    side pot; ``dealer``: the seat that deals, if given.
    """

    hands: Sequence[Sequence[int | str]]
    upturned: int | str | None = None
    dealer: int | None = None

    def _with_ids(self) -> Deal:
        """This deal with cards as ids. Raises ``ValueError`` for hands that are no sequences of cards."""
        check_sequences("hands", self.hands, "cards")
        hands = [[card_in_deal(card) for card in hand] for hand in self.hands]
        return replace(
            self, hands=hands, upturned=None if self.upturned is None else card_in_deal(self.upturned)
        )

    def check(self, rules: Rules) -> None:
        """Raise ``ValueError`` unless this deal, with cards as ids, is possible under ``rules``."""
        sizes = [len(hand) for hand in self.hands]
        if sizes != [HAND_SIZE] * rules.num_players:
            raise ValueError(
                f"deal: hands of {sizes} cards; expected {rules.num_players} hands of {HAND_SIZE} cards each"
            )
        if (self.upturned is not None) != (rules.side_pot > 0):
            expected = "an upturned card" if rules.side_pot else "no upturned card"
            found = None if self.upturned is None else card_to_string(int(self.upturned))
            raise ValueError(f"deal: upturned={found!r}; expected {expected} with side_pot={rules.side_pot}")
        cards = [card for hand in self.hands for card in hand]
        cards += [] if self.upturned is None else [self.upturned]
        twice = sorted({card_to_string(int(card)) for card in cards if cards.count(card) > 1})
        if twice:
            raise ValueError(
                f"deal: {', '.join(twice)} more than once; there is one card of each rank and suit"
            )
