"""Cat Te in plain Python: the rules page read aloud, to check the fast engine against.

Written from the rules page and the public contract (action ids, names of observation parts) without looking at
the engine. Nothing here is quick or clever. A card is its printed name ("AS", "10H", "2C"); an action is one of
("play", card), ("fold", card), ("claim",), ("show",). The reference never shuffles: each deal is given to it.
"""

from dataclasses import dataclass

import numpy as np

from tests.games.compare import digits
from tests.games.reference import Reference

RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
SUITS = ("C", "D", "H", "S")
DECK = tuple(rank + suit for rank in RANKS for suit in SUITS)
CLAIM = ("claim",)
SHOW = ("show",)

#: Every action; its place in the list is its id.
ACTIONS = [("play", card) for card in DECK] + [("fold", card) for card in DECK] + [CLAIM, SHOW]
IDS = {action: action_id for action_id, action in enumerate(ACTIONS)}

#: The parts of an observation, in the contract's order.
PARTS = (
    "hand", "folded", "chosen", "faceup", "num_folded", "early_tricks", "tricks_won", "in_round", "led_suit", "leader",
    "to_move", "trick", "upturned", "claimed", "side_pot", "dealer", "rounds_left", "scores", "seat", "claim_trick",
    "exact_scores",
)  # fmt: skip


def rank_of(card: str) -> int:
    """0 for a two up to 12 for an ace."""
    return RANKS.index(card[:-1])


def suit_of(card: str) -> str:
    return card[-1]


def next_higher(card: str) -> str | None:
    """The next card of the suit; over an ace there is none."""
    above = rank_of(card) + 1
    return RANKS[above] + suit_of(card) if above < len(RANKS) else None


def wins_instantly(hand: list[str]) -> bool:
    """Four of a kind, six cards of one suit, or six cards from ace (low) to five."""
    ranks = [card[:-1] for card in hand]
    four_of_a_kind = any(ranks.count(rank) == 4 for rank in ranks)
    one_suit = len({suit_of(card) for card in hand}) == 1
    all_low = all(rank in ("A", "2", "3", "4", "5") for rank in ranks)
    return four_of_a_kind or one_suit or all_low


@dataclass(frozen=True)
class Rules:
    num_players: int = 4
    region: str = "laos"
    offsuit_faceup: bool = True
    instant_wins: bool = True
    instant_wins_double: bool = False
    side_pot: int = 0
    rounds: int | str = 1
    dealer: int = -1  # the last seat

    @property
    def num_rounds(self) -> int:
        return self.num_players if self.rounds == "match" else int(self.rounds)

    @property
    def score_bounds(self) -> tuple[int, int]:
        """The most antes to lose and to win in a game."""
        doubled = (self.instant_wins and self.instant_wins_double) or (
            self.region != "khmer" and self.num_players >= 4
        )
        lost = self.num_rounds * ((2 if doubled else 1) + self.side_pot)
        return -lost, lost * (self.num_players - 1)

    @property
    def first_dealer(self) -> int:
        return self.num_players - 1 if self.dealer == -1 else self.dealer


@dataclass
class Deal:
    hands: list[list[str]]
    upturned: str | None = None


class ReferenceState(Reference):
    """A game in progress. `apply` plays an action, `start_round` deals the next round."""

    def __init__(self, rules: Rules, deal: Deal, reward: str = "score") -> None:
        super().__init__(rules.num_players, reward)
        self.rules = rules
        self.dealer = rules.first_dealer
        self.side_pot = 0  # all of it is on the table until the round ends, claimed or not
        self.history: list[tuple[int, tuple, bool]] = []  # (player, action, did everybody see it)
        self.start_round(deal)

    def start_round(self, deal: Deal) -> None:
        self.hands = [list(hand) for hand in deal.hands]
        self.upturned = deal.upturned
        self.side_pot += self.rules.side_pot * len(self.players)
        self.claimer: int | None = None
        self.tricks_over_at_claim: int | None = None
        self.shower: int | None = None
        self.folded: list[list[str]] = [[] for _ in self.players]
        self.faceup: list[dict[int, str]] = [{} for _ in self.players]  # trick (from 1) -> card
        self.chosen: list[str | None] = [None for _ in self.players]  # the blind choices of trick 5
        self.in_round = list(self.players)
        self.tricks_won = [0 for _ in self.players]
        self.tricks_won_early = [0 for _ in self.players]  # in tricks 1-4
        self.trick = 1
        self.leader = self.clockwise(self.dealer)
        self.current_player = self.leader
        self.waiting = self.turn_order()  # who has not had a turn in this trick, first to move first

    def turn_order(self) -> list[int]:
        """The players in the round, clockwise from the leader."""
        return [player for player in self.from_observer(self.leader) if player in self.in_round]

    @property
    def eliminates(self) -> bool:
        return self.rules.region in ("laos", "vietnamese")

    def chooses_blind(self) -> bool:
        """Whether the player to move chooses face down: trick 5 of laos and vietnamese, but for the leader."""
        return self.eliminates and self.trick == 5 and self.current_player != self.leader

    def led_suit(self) -> str | None:
        card = self.faceup[self.leader].get(self.trick)
        return None if card is None else suit_of(card)

    # ---------------------------------------------------------------- legal moves

    def legal_actions(self) -> list[tuple]:
        if self.is_terminal:
            return []
        return self.legal_cards() + self.legal_announcements()

    def legal_cards(self) -> list[tuple]:
        player = self.current_player
        hand = self.hands[player]
        if player == self.leader or self.chooses_blind():
            return [("play", card) for card in hand]
        of_led_suit = [card for card in hand if suit_of(card) == self.led_suit()]
        folds = [("fold", card) for card in hand]
        if of_led_suit:
            return [("play", card) for card in of_led_suit] + folds
        if self.rules.offsuit_faceup:
            return [("play", card) for card in hand] + folds
        return folds

    def legal_announcements(self) -> list[tuple]:
        hand = self.hands[self.current_player]
        announcements = []
        if self.rules.side_pot > 0 and self.claimer is None and next_higher(self.upturned) in hand:
            announcements.append(CLAIM)
        has_played_nothing = len(hand) == 6
        if self.rules.instant_wins and has_played_nothing and wins_instantly(hand):
            announcements.append(SHOW)
        return announcements

    def action_id(self, action: tuple) -> int:
        return IDS[action]

    # ---------------------------------------------------------------- playing

    def apply(self, action: tuple) -> None:
        assert action in self.legal_actions(), f"{action} is not legal"
        player = self.current_player
        face_down = action[0] == "fold" or (action[0] == "play" and self.chooses_blind())
        self.history.append((player, action, not face_down))
        match action:
            case ("claim",):
                self.claimer = player
                self.tricks_over_at_claim = self.trick - 1
            case ("show",):
                self.shower = player
                self.end_round(player, doubled=self.rules.instant_wins_double)
            case ("fold", card):
                self.hands[player].remove(card)
                self.folded[player].append(card)
                self.end_turn()
            case ("play", card):
                self.hands[player].remove(card)
                if face_down:
                    self.chosen[player] = card
                else:
                    self.faceup[player][self.trick] = card
                self.end_turn()

    def end_turn(self) -> None:
        self.waiting.pop(0)
        if self.waiting:
            self.current_player = self.waiting[0]
        else:
            self.end_trick()

    def end_trick(self) -> None:
        for player in self.players:
            if self.chosen[player] is not None:
                self.faceup[player][self.trick] = self.chosen[player]
                self.chosen[player] = None
        winner = self.winner_of_trick()
        self.tricks_won[winner] += 1
        if self.trick <= 4:
            self.tricks_won_early[winner] += 1
        self.leader = winner
        if self.trick == 4 and self.eliminates:
            self.in_round = [player for player in self.players if self.tricks_won_early[player] > 0]
            if self.in_round == [winner]:
                self.end_round(winner, doubled=self.rules.num_players >= 4)
                return
        if self.trick == 6:
            self.end_round(winner, doubled=False)
            return
        self.trick += 1
        self.waiting = self.turn_order()
        self.current_player = winner
        if self.trick == 6:
            for player in self.in_round:
                self.faceup[player][6] = self.hands[player].pop()
            self.waiting = []
            self.end_trick()

    def winner_of_trick(self) -> int:
        cards = {
            player: self.faceup[player][self.trick]
            for player in self.players
            if self.trick in self.faceup[player]
        }
        of_led_suit = [player for player, card in cards.items() if suit_of(card) == self.led_suit()]
        return max(of_led_suit, key=lambda player: rank_of(cards[player]))

    # ---------------------------------------------------------------- settlement

    def end_round(self, winner: int, doubled: bool) -> None:
        rules = self.rules
        stake = 2 if doubled else 1
        payments = [stake * (rules.num_players - 1) if p == winner else -stake for p in self.players]
        payments = [payment - rules.side_pot for payment in payments]
        if self.claimer is not None:
            payments[self.claimer] += self.side_pot
            self.side_pot = 0
        if self.rounds_over == rules.num_rounds - 1:
            # Everybody has put in the same, so nothing is left over.
            share = self.side_pot // rules.num_players
            payments = [payment + share for payment in payments]
            self.side_pot = 0
        for player in self.players:
            self.infos[player] = {
                "score": payments[player],
                "won_round": int(player == winner),
                "tricks_won": self.tricks_won[player],
                "eliminated": int(player not in self.in_round),
                "showed": int(player == self.shower),
                "claimed": int(player == self.claimer),
            }
        self.pay(payments, rules.num_rounds)
        self.dealer = self.dealer if self.is_terminal else winner

    # ---------------------------------------------------------------- what a player sees

    def observation_parts(self, observer: int) -> dict[str, np.ndarray]:
        """The parts of the observation by name, in the contract's order."""
        rules = self.rules
        P = rules.num_players

        def cards(which: list[str]) -> np.ndarray:
            return np.array([card in which for card in DECK], np.int8)

        def one_hot(size: int, index: int | None) -> np.ndarray:
            return np.array([place == index for place in range(size)], np.int8)

        def seat(player: int | None) -> np.ndarray:
            return one_hot(P, None if player is None else self.relative(player, observer))

        def by_seat(values: list) -> np.ndarray:
            return np.array([values[player] for player in self.from_observer(observer)], np.int8)

        faceup = np.zeros((P, 6, 17), np.int8)
        for player in self.players:
            for trick, card in self.faceup[player].items():
                row = faceup[self.relative(player, observer), trick - 1]
                row[rank_of(card)] = 1
                row[13 + SUITS.index(suit_of(card))] = 1
        own_choice = self.chosen[observer]
        led_suit = self.led_suit() if self.waiting else None  # after the last trick none is under way
        parts = {
            "hand": cards(self.hands[observer]),
            "folded": cards(self.folded[observer]),
            "chosen": cards([] if own_choice is None else [own_choice]),
            "faceup": faceup,
            "num_folded": by_seat([len(folded) for folded in self.folded]),
            "early_tricks": by_seat(self.tricks_won_early),
            "tricks_won": by_seat(self.tricks_won),
            "in_round": by_seat([int(player in self.in_round) for player in self.players]),
            "led_suit": one_hot(4, None if led_suit is None else SUITS.index(led_suit)),
            "leader": seat(self.leader),
            "to_move": seat(None if self.is_terminal else self.current_player),
            "trick": one_hot(6, self.trick - 1),
            "dealer": seat(self.dealer),
        }
        if rules.side_pot > 0:
            parts["upturned"] = cards([self.upturned])
            parts["claimed"] = seat(self.claimer)
            parts["claim_trick"] = one_hot(5, self.tricks_over_at_claim)
            parts["side_pot"] = np.array([min(127, self.side_pot // rules.side_pot)], np.int8)
        if rules.num_rounds > 1:
            parts["seat"] = one_hot(P, observer)
            parts["scores"] = by_seat([max(-128, min(127, total)) for total in self.totals])
            if max(abs(total) for total in rules.score_bounds) > 127:
                parts["exact_scores"] = by_seat([digits(total) for total in self.totals])
            parts["rounds_left"] = np.array([max(0, rules.num_rounds - 1 - self.rounds_over)], np.int8)
        return {name: parts[name] for name in PARTS if name in parts}

    def state_parts(self, observer: int) -> dict[str, np.ndarray]:
        """The parts of the state vector by name: what the observer sees, and the hidden cards of all, its own first."""
        players = self.from_observer(observer)
        hidden = {"hand": self.hands, "folded": self.folded, "chosen": [[choice] for choice in self.chosen]}
        rows = {
            name: np.array([[card in cards[player] for card in DECK] for player in players], np.int8)
            for name, cards in hidden.items()
        }
        return {**self.observation_parts(observer), **rows}

    def history_rows(self, observer: int) -> list[tuple[int, int]]:
        """Rows (relative seat, action id); a card that another player put face down is -1."""
        return [
            (self.relative(player, observer), IDS[action] if public or player == observer else -1)
            for player, action, public in self.history
        ]
