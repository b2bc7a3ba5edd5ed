"""Deals as sequences of draws: a card, a tile, a place. The basis of chance outcomes and chance nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from catbox_env.core.checks import check_flag, is_integer, short_repr

#: If some deals are impossible, all are listed beforehand unless there are more than this.
MAX_LISTED = 10_000


class Draws(ABC):
    """How the deals of a game are drawn. A draw is an integer; what it means depends on the draws before it.

    A complete deal may be impossible (`is_possible`) and is then redrawn. With at most 10,000 deals, no draw leads to
    such a deal.

    Attributes: ``num_values``: draws are ``0 .. num_values - 1``; ``length``: the most draws in a deal.
    """

    num_values: int
    length: int

    @abstractmethod
    def weights(self, drawn: Sequence[int], first_round: bool) -> list[tuple[int, int]]:
        """What can be drawn after ``drawn``, ascending, each with a weight proportional to its probability.

        Empty when the deal is complete.
        """

    @abstractmethod
    def to_deal(self, drawn: Sequence[int], first_round: bool) -> Any:
        """The complete deal of ``drawn``, as ``game.new_initial_state(deal=...)`` takes it."""

    @abstractmethod
    def from_deal(self, deal: dict[str, Any], first_round: bool) -> list[int]:
        """The draws of a deal as `Game.deal_of` gives it: the inverse of ``to_deal``."""

    @abstractmethod
    def count(self) -> float:
        """The number of deals of the first round, impossible ones included; approximate above 2**53."""

    @abstractmethod
    def to_string(self, drawn: Sequence[int], draw: int, first_round: bool) -> str:
        """``draw`` after ``drawn`` in words."""

    def is_possible(self, drawn: Sequence[int]) -> bool:
        """Whether a game can begin with the complete deal ``drawn``; if not, it is redrawn."""
        return True

    def every_deal(self) -> Iterator[tuple[list[int], float]]:
        """The draws of every possible deal of the first round, ascending, with their probability.

        If some deals are impossible, the probabilities sum to less than 1.
        """
        drawn: list[int] = []

        def follow(probability: float) -> Iterator[tuple[list[int], float]]:
            following = self.weights(drawn, True)
            if not following and self.is_possible(drawn):
                yield drawn.copy(), probability
            total = sum(weight for _, weight in following)
            for draw, weight in following:
                drawn.append(draw)
                yield from follow(probability * (weight / total))
                drawn.pop()

        return follow(1.0)

    def outcomes(self, drawn: Sequence[int] = (), first_round: bool = True) -> list[tuple[int, float]]:
        """What the next draw of a deal can be, such as a card: pairs (draw, probability), ascending.

        Args:
            drawn: the draws of this deal so far.
            first_round: whether this deal is for the first round of a game.

        Empty when the deal is complete. Raises ``ValueError`` for draws that no deal begins with.
        """
        first_round = check_flag("first_round", first_round)
        listed = isinstance(drawn, list | tuple) and len(drawn) <= self.length
        if not listed or not all(is_integer(draw) and 0 <= draw < self.num_values for draw in drawn):
            raise ValueError(
                f"drawn={short_repr(drawn)}: expected at most {self.length} integers from 0 to {self.num_values - 1}, "
                "the draws of a deal so far"
            )
        for i, draw in enumerate(drawn):
            possible = [each for each, _ in self._outcomes(drawn[:i], first_round)]
            if draw not in possible:
                raise ValueError(
                    f"drawn={short_repr(drawn)}: draw {i} is {draw}; after those before it, expected "
                    f"{f'one of {short_repr(possible)}' if possible else 'no more, because the deal is complete'}"
                )
        return self._outcomes(drawn, first_round)

    def _outcomes(self, drawn: Sequence[int], first_round: bool) -> list[tuple[int, float]]:
        following: list[tuple[int, float]]
        if self._listed is None:
            following = [*self.weights(drawn, first_round)]
        else:
            following = [*self._listed.get(tuple(drawn), {}).items()]
        total = sum(weight for _, weight in following)
        return [(draw, weight / total) for draw, weight in following]

    @property
    def may_be_redrawn(self) -> bool:
        """Whether `outcomes` can lead to a complete deal that is impossible."""
        return type(self).is_possible is not Draws.is_possible and self._listed is None

    @cached_property
    def _listed(self) -> dict[tuple[int, ...], dict[int, float]] | None:
        """The draws that lead to possible deals, after each sequence of draws, with weights proportional to their
        probabilities. None if all deals are possible, or too many to be listed."""
        if type(self).is_possible is Draws.is_possible or self.count() > MAX_LISTED:
            return None
        after: dict[tuple[int, ...], dict[int, float]] = {}
        for drawn, probability in self.every_deal():
            for i, draw in enumerate(drawn):
                following = after.setdefault(tuple(drawn[:i]), {})
                following[draw] = following.get(draw, 0.0) + probability
        return after
