"""Cat in the Box in plain Python: the rules page read aloud, to check the fast engine against.

Written from the rules page and the public contract (action ids, observation parts) without looking at the
engine. Nothing here is quick or clever. Cards are printed ranks (1, 2, ...), colours are their names, an action
is a tuple such as ("discard", 3), ("bid", 2), ("play", "yellow", 7) or ("paradox",). The reference never
shuffles: each round's deal is given to it.
"""

from dataclasses import dataclass, field

import numpy as np

from tests.games.compare import digits
from tests.games.reference import Reference

COLOURS = ("red", "blue", "yellow", "green")
PHASES = ("discard", "bid", "play")
PARADOX = ("paradox",)

RANKS_FOR_PLAYERS = {5: 9, 4: 8, 3: 6, 2: 5}


@dataclass(frozen=True)
class Rules:
    """A rule set with every field decided (see `make_rules` for the defaults)."""

    num_players: int
    num_ranks: int
    num_colors: int
    copies: int
    hand_size: int
    bids: tuple[int, ...]
    bonus_max_tricks: int
    revealed_cards: int
    rounds: int
    start_player: int | str

    @property
    def num_tricks(self) -> int:
        """One card of the hand is discarded and one is never played."""
        return self.hand_size - 2

    @property
    def colours(self) -> tuple[str, ...]:
        return COLOURS[: self.num_colors]

    @property
    def ranks(self) -> range:
        return range(1, self.num_ranks + 1)

    @property
    def max_game_length(self) -> int:
        actions_of_a_player = 1 + self.num_tricks + (1 if self.bids else 0)
        return self.rounds * self.num_players * actions_of_a_player


def make_rules(num_players: int = 4, **given: object) -> Rules:
    """The set-up table of the rules page, with the given fields in place of its own."""
    options: dict = dict(given)
    options.setdefault("num_ranks", RANKS_FOR_PLAYERS[num_players])
    options.setdefault("num_colors", 4)
    options.setdefault("copies", 5)
    cards_kept_back = 5 if num_players == 2 else 0
    cards_to_deal = options["num_ranks"] * options["copies"] - cards_kept_back
    options.setdefault("hand_size", cards_to_deal // num_players)
    num_tricks = options["hand_size"] - 2
    default_bids = () if num_players == 2 else tuple(bid for bid in (1, 2, 3, 4) if bid <= num_tricks)
    options["bids"] = tuple(options.get("bids", default_bids))
    options.setdefault("bonus_max_tricks", min(4, num_tricks))
    options.setdefault("revealed_cards", 3 if num_players == 2 else 0)
    options.setdefault("rounds", 1)
    if options["rounds"] == "match":
        options["rounds"] = num_players
    options.setdefault("start_player", 0)
    return Rules(num_players=num_players, **options)


def all_actions(rules: Rules) -> list[tuple]:
    """Every action; its place in the list is its id."""
    discards = [("discard", rank) for rank in rules.ranks]
    bids = [("bid", bid) for bid in rules.bids]
    plays = [("play", colour, rank) for colour in rules.colours for rank in rules.ranks]
    return discards + bids + plays + [PARADOX]


def action_text(action: tuple) -> str:
    return " ".join(str(word) for word in action)


@dataclass
class Deal:
    """What the cards decided before a round: hands of printed ranks, revealed cards, who starts."""

    hands: list[list[int]]
    revealed: list[int] = field(default_factory=list)
    start_player: int = 0


def neutral_cells(rules: Rules, revealed: list[int]) -> list[tuple[str, int]]:
    """Cells of the neutral tokens: green, then yellow, then blue for equal ranks, and never red.

    A card for which there is no further colour puts its token on the last one (the colour beside red).
    """
    cells: list[tuple[str, int]] = []
    for rank in revealed:
        earlier = sum(1 for _, other_rank in cells if other_rank == rank)
        not_red_from_the_bottom = list(reversed(rules.colours[1:]))
        colour = not_red_from_the_bottom[min(earlier, len(not_red_from_the_bottom) - 1)]
        cells.append((colour, rank))
    return cells


class ReferenceState(Reference):
    """A game in progress. `apply` plays an action, `start_round` deals the next round."""

    def __init__(self, rules: Rules, deal: Deal, reward: str = "score") -> None:
        super().__init__(rules.num_players, reward)
        self.rules = rules
        self.actions = all_actions(rules)
        self.ids = {action: action_id for action_id, action in enumerate(self.actions)}
        self.start_player = deal.start_player
        self.start_round(deal)

    def start_round(self, deal: Deal) -> None:
        """Set up a round. Only the first round takes its start player from the deal."""
        if self.rounds_over > 0:
            self.start_player = self.clockwise(self.start_player)
        self.hands = [sorted(hand) for hand in deal.hands]
        self.discards: list[int | None] = [None for _ in self.players]
        self.bids: list[int | None] = [None for _ in self.players]
        self.board: dict[tuple[str, int], int] = {}  # cell -> owner of the token
        self.neutral = neutral_cells(self.rules, deal.revealed)
        self.x_tokens = [set(self.rules.colours) for _ in self.players]
        self.tricks_won = [0 for _ in self.players]
        self.tricks_over = 0
        # What everybody knows of a hand: the ranks that its cards can be of.
        self.may_hold = [set(self.rules.ranks) for _ in self.players]
        self.trick: list[tuple[int, str, int]] = []  # (player, colour, rank) in the order played
        self.leader = self.start_player
        self.phase = "discard"
        self.current_player = self.start_player

    # ---------------------------------------------------------------- legal moves

    def trump_broken(self) -> bool:
        return any(colour == "red" for colour, _ in self.board)

    def legal_declarations(self) -> list[tuple[str, int]]:
        """Cells (colour, rank) that the player to move may declare."""
        player = self.current_player
        possible = [
            (colour, rank)
            for colour in self.rules.colours
            for rank in self.rules.ranks
            if rank in self.hands[player]
            and (colour, rank) not in self.board
            and (colour, rank) not in self.neutral
            and colour in self.x_tokens[player]
        ]
        leads = not self.trick
        other_than_red = [(colour, rank) for colour, rank in possible if colour != "red"]
        if leads and not self.trump_broken() and other_than_red:
            return other_than_red
        return possible

    def legal_actions(self) -> list[tuple]:
        if self.is_terminal:
            return []
        if self.phase == "discard":
            return [("discard", rank) for rank in self.rules.ranks if rank in self.hands[self.current_player]]
        if self.phase == "bid":
            return [("bid", bid) for bid in self.rules.bids]
        plays = [("play", colour, rank) for colour, rank in self.legal_declarations()]
        return plays if plays else [PARADOX]

    def action_id(self, action: tuple) -> int:
        return self.ids[action]

    # ---------------------------------------------------------------- playing

    def apply(self, action: tuple) -> None:
        assert action in self.legal_actions(), f"{action} is not legal"
        player = self.current_player
        self.history.append((player, action))
        match action:
            case ("discard", rank):
                self.discard(player, rank)
            case ("bid", bid):
                self.bid(player, bid)
            case ("play", colour, rank):
                self.play(player, colour, rank)
            case ("paradox",):
                self.end_round(paradox_player=player)

    def discard(self, player: int, rank: int) -> None:
        self.hands[player].remove(rank)
        self.discards[player] = rank
        self.current_player = self.clockwise(player)
        if all(card is not None for card in self.discards):
            self.phase = "bid" if self.rules.bids else "play"

    def bid(self, player: int, bid: int) -> None:
        self.bids[player] = bid
        self.current_player = self.clockwise(player)
        if all(other_bid is not None for other_bid in self.bids):
            self.phase = "play"

    def play(self, player: int, colour: str, rank: int) -> None:
        if colour == "red" and not self.trick and not self.trump_broken():
            self.may_hold[player] = self.ranks_without_another_colour(player)
        self.hands[player].remove(rank)
        self.board[colour, rank] = player
        if self.trick:
            led_colour = self.trick[0][1]
            if colour != led_colour:
                self.x_tokens[player].discard(led_colour)
        self.trick.append((player, colour, rank))
        if len(self.trick) < self.rules.num_players:
            self.current_player = self.clockwise(player)
            return
        winner = self.winner_of_trick()
        self.tricks_won[winner] += 1
        self.tricks_over += 1
        self.trick = []
        self.leader = self.current_player = winner
        if all(len(hand) == 1 for hand in self.hands):
            self.end_round(paradox_player=None)

    def ranks_without_another_colour(self, player: int) -> set[int]:
        """The ranks that the player could declare in no colour but red, by the board and its X-tokens."""
        taken = {*self.board, *self.neutral}
        others = self.x_tokens[player] - {"red"}
        return {rank for rank in self.rules.ranks if all((colour, rank) in taken for colour in others)}

    def winner_of_trick(self) -> int:
        led_colour = self.trick[0][1]
        reds = [(rank, player) for player, colour, rank in self.trick if colour == "red"]
        of_led_colour = [(rank, player) for player, colour, rank in self.trick if colour == led_colour]
        _, winner = max(reds if reds else of_led_colour)
        return winner

    # ---------------------------------------------------------------- scoring

    def largest_group(self, player: int) -> int:
        """Size of the player's largest orthogonally connected group of tokens."""
        rows = {colour: row for row, colour in enumerate(self.rules.colours)}
        own = {(rows[colour], rank) for (colour, rank), owner in self.board.items() if owner == player}
        largest = 0
        while own:
            group_size = 0
            to_visit = [own.pop()]
            while to_visit:
                row, column = to_visit.pop(0)
                group_size += 1
                for cell in [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]:
                    if cell in own:
                        own.remove(cell)
                        to_visit.append(cell)
            largest = max(largest, group_size)
        return largest

    def hit_the_bid(self, player: int) -> bool:
        if self.rules.bids:
            return self.tricks_won[player] == self.bids[player]
        return self.tricks_won[player] <= self.rules.bonus_max_tricks

    def end_round(self, paradox_player: int | None) -> None:
        scores = []
        for player in self.players:
            tricks = self.tricks_won[player]
            if player == paradox_player:
                bonus, score = 0, -tricks
            else:
                bonus = self.largest_group(player) if self.hit_the_bid(player) else 0
                score = tricks + bonus
            scores.append(score)
            self.infos[player] = {
                "score": score,
                "tricks_won": tricks,
                "bid": self.bids[player] or 0,
                "bonus": bonus,
                "paradox": 1 if player == paradox_player else 0,
            }
        self.pay(scores, self.rules.rounds)

    # ---------------------------------------------------------------- what a player sees

    def observation_parts(self, observer: int) -> dict[str, np.ndarray]:
        """The named parts of the observation, in the contract's order."""
        rules = self.rules
        P, R, C, B = rules.num_players, rules.num_ranks, rules.num_colors, len(rules.bids)

        def one_hot(size: int, index: int | None) -> np.ndarray:
            return np.array([place == index for place in range(size)], np.int8)

        def seat(player: int) -> np.ndarray:
            return one_hot(P, self.relative(player, observer))

        def by_seat(values: list) -> np.ndarray:
            return np.array([values[player] for player in self.from_observer(observer)], np.int8)

        def cell(colour: str, rank: int) -> tuple[int, int]:
            return rules.colours.index(colour), rank - 1

        board, neutral = np.zeros((C, R, P), np.int8), np.zeros((C, R), np.int8)
        for (colour, rank), owner in self.board.items():
            board[cell(colour, rank)] = seat(owner)
        for colour, rank in self.neutral:
            neutral[cell(colour, rank)] += 1
        trick = np.zeros((P, C, R), np.int8)
        for player, colour, rank in self.trick:
            trick[self.relative(player, observer)][cell(colour, rank)] = 1
        may_hold = [
            self.may_hold[player] if player != observer else set(rules.ranks) for player in self.players
        ]
        parts = {
            "phase": one_hot(3, PHASES.index(self.phase)),
            "hand": np.array([self.hands[observer].count(rank) for rank in rules.ranks], np.int8),
            "discarded": np.array([self.discards[observer] == rank for rank in rules.ranks], np.int8),
            "board": board,
        }
        if rules.revealed_cards > 0:
            parts["neutral"] = neutral
        parts["x_tokens"] = by_seat([[colour in own for colour in rules.colours] for own in self.x_tokens])
        parts["bids"] = by_seat([[bid == own for bid in rules.bids] for own in self.bids]).reshape(P, B)
        parts["tricks_won"] = by_seat(self.tricks_won)
        parts["led"] = one_hot(C, rules.colours.index(self.trick[0][1]) if self.trick else None)
        parts["trick"] = trick
        parts["leader"] = seat(self.leader)
        parts["start_player"] = seat(self.start_player)
        parts["to_move"] = one_hot(P, None) if self.is_terminal else seat(self.current_player)
        parts["trump_broken"] = np.array([self.trump_broken()], np.int8)
        parts["tricks_left"] = np.array([rules.num_tricks - self.tricks_over], np.int8)
        if rules.rounds > 1:
            parts["scores"] = by_seat([max(-128, min(127, total)) for total in self.totals])
            parts["rounds_left"] = np.array([max(0, rules.rounds - 1 - self.rounds_over)], np.int8)
        parts["may_hold"] = by_seat([[rank in own for rank in rules.ranks] for own in may_hold])
        # A round brings a point for each trick, and one for its token in a group.
        if rules.rounds * rules.num_tricks * 2 > 127:
            parts["exact_scores"] = by_seat([digits(total) for total in self.totals])
        return parts

    def state_parts(self, observer: int) -> dict[str, np.ndarray]:
        """The named parts of the full state: those of an observation, with the rows of all seats in hidden ones."""
        players, ranks = self.from_observer(observer), self.rules.ranks
        rows = {
            "hand": [[self.hands[player].count(rank) for rank in ranks] for player in players],
            "discarded": [[self.discards[player] == rank for rank in ranks] for player in players],
            "may_hold": [[rank in self.may_hold[player] for rank in ranks] for player in players],
        }
        hidden = {name: np.array(row, np.int8) for name, row in rows.items()}
        return {**self.observation_parts(observer), **hidden}

    def history_rows(self, observer: int) -> list[tuple[int, int]]:
        """Rows (relative seat, action id); a discard of another player is -1."""
        return [
            (
                self.relative(player, observer),
                -1 if action[0] == "discard" and player != observer else self.ids[action],
            )
            for player, action in self.history
        ]
