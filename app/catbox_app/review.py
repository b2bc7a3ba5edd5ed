"""A review of a recorded game: what each decision was worth, by the coach, and which ones cost most."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import catbox_env
from catbox_agents import GameRecord
from catbox_agents.search.action_values import action_values
from catbox_env import GameState

#: The most decisions that are named as costly.
COSTLIEST = 3


@dataclass(frozen=True)
class Reviewed:
    """One decision between two actions or more.

    Attributes:
        number: how many actions came before it.
        seat, action: who took which action; ``best``: the action with the highest expected lead.
        lead: the expected lead at the end of this round after ``action``, with the rounds before; ``best_lead``: after
            ``best``.
        cost: how much less the action earns than the best, judged in other worlds than those in which that was chosen,
            so it may be below 0; ``interval``: half the width of its 95 % interval.
    """

    number: int
    seat: int
    action: int
    best: int
    lead: float
    best_lead: float
    cost: float
    interval: float

    @property
    def is_mistake(self) -> bool:
        """Whether the cost is more than its error."""
        return self.cost > self.interval


class Review:
    """The decisions of ``seats`` in a game, one by one.

    Attributes: ``numbers``: how many actions came before each decision between two actions or more, in order.
    """

    def __init__(self, record: GameRecord, seats: Collection[int]) -> None:
        self.game = catbox_env.make_game(record.game.id, **{**record.game.options, "reward": "score"})
        self.deals, self.actions = record.deals, record.actions
        self.numbers = [
            number
            for number in range(len(self.actions))
            if (state := self._after(number)).current_player in seats and len(state.legal_actions()) > 1
        ]

    def _after(self, number: int) -> GameState:
        return self.game.replay(self.deals, self.actions[:number], seed=0)

    def decision(self, number: int) -> Reviewed:
        """What the decision after ``number`` actions was worth."""
        state, action = self._after(number), self.actions[number]
        seat, points = state.current_player, state.returns()
        before = points[seat] - (sum(points) - points[seat]) / (len(points) - 1)
        tried = {one.action: one for one in action_values(self.game, state.observation(seat))}
        best, taken = next(iter(tried.values())), tried[action]
        leads = before + taken.lead, before + best.lead
        return Reviewed(number, seat, action, best.action, *leads, taken.behind, taken.behind_interval)


def review(
    record: GameRecord,
    seats: Collection[int],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Reviewed]:
    """The decisions of ``seats``, in order; ``progress`` is called with (decisions reviewed, all)."""
    reviewing, found = Review(record, seats), []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # compiled code does most of it, in parallel
        for decision in pool.map(reviewing.decision, reviewing.numbers):
            found.append(decision)
            progress(len(found), len(reviewing.numbers))
    return found


def summary(decisions: Collection[Reviewed]) -> str:
    """How many decisions were mistakes, and what all decisions together were worth."""
    mistakes = sum(decision.is_mistake for decision in decisions)
    cost = round(sum(decision.cost for decision in decisions), 1)
    compared = f"{abs(cost):.1f} points {'more' if cost < 0 else 'less'} than the coach's choices would have"
    total = f"All {len(decisions)} decisions together earned {compared}."
    return f"Clear mistakes: {mistakes}. {total}" if mistakes else f"No decision was a clear mistake. {total}"


def costliest(decisions: Collection[Reviewed]) -> list[Reviewed]:
    """The decisions that cost most, at most `COSTLIEST`; none whose cost is within its error."""
    mistakes = [decision for decision in decisions if decision.is_mistake]
    return sorted(mistakes, key=lambda decision: -decision.cost)[:COSTLIEST]
