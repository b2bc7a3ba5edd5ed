"""What the slow references of all games have in common: the seats, what has been played, and what is paid."""

from typing import Any


class Reference:
    """A game in progress, as `tests.games.compare` reads it.

    When ``awaits_deal`` is set, a deal must follow before the next action.
    """

    def __init__(self, num_players: int, reward: str) -> None:
        self.players = list(range(num_players))
        self.reward_mode = reward
        self.current_player = 0
        self.history: list[Any] = []  # (player, action, ...) of the whole game
        self.rounds_over = 0
        self.totals: list[Any] = [0 for _ in self.players]
        self.rewards = [0.0 for _ in self.players]
        self.returns = [0.0 for _ in self.players]
        self.infos: list[dict[str, int]] = [{} for _ in self.players]
        self.round_ended = False
        self.is_terminal = False
        self.awaits_deal = False

    def clockwise(self, player: int) -> int:
        return (player + 1) % len(self.players)

    def relative(self, player: int, observer: int) -> int:
        """0 is the observer, 1 the next player clockwise, and so on."""
        return (player - observer) % len(self.players)

    def from_observer(self, observer: int) -> list[int]:
        """The players, the observer first, then clockwise."""
        return sorted(self.players, key=lambda player: self.relative(player, observer))

    def pay(self, points: list[Any], num_rounds: int) -> None:
        """The end of a round that brought the players so many points, in a game of so many rounds."""
        self.rounds_over += 1
        self.round_ended = True
        self.is_terminal = self.rounds_over == num_rounds
        self.awaits_deal = not self.is_terminal
        if self.is_terminal:
            self.current_player = -1
        self.totals = [total + now for total, now in zip(self.totals, points, strict=True)]
        self.rewards = self.rewards_for(points)
        self.returns = [so_far + now for so_far, now in zip(self.returns, self.rewards, strict=True)]

    def rewards_for(self, points: list[Any]) -> list[float]:
        if self.reward_mode == "score":
            return [float(point) for point in points]
        if self.reward_mode == "margin":
            others = len(points) - 1
            return [point - (sum(points) - point) / others for point in points]
        winners = self.winners(points) if self.is_terminal else []
        return [1 / len(winners) if player in winners else 0.0 for player in self.players]

    def winners(self, last_points: list[Any]) -> list[int]:
        """Highest total; among those, the most points in the last round; whoever is left shares the win."""
        leaders = [player for player in self.players if self.totals[player] == max(self.totals)]
        best_last = max(last_points[player] for player in leaders)
        return [player for player in leaders if last_points[player] == best_last]
