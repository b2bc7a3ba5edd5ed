"""Does a way of collecting transitions give every seat all that its game paid it, and its own observations?

`Ledger` goes around a raw PettingZoo environment, under the wrapper that is examined, and writes down what every seat
is paid and shown. `compare` sets against it what came out of the wrapper. `payments` does the same for the batches
inside the Gymnasium views.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from pettingzoo.utils import BaseWrapper

from catbox_env import Vec


class Received(NamedTuple):
    """What a learner is given for one action of ``seat``; ``next_observation`` None: not told."""

    seat: str
    reward: float
    next_observation: Any = None


class Ledger(BaseWrapper):
    """Writes down, over all games, what every seat was paid, and to which seats each observation was shown.

    ``games``: how many have ended.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.paid = dict.fromkeys(env.possible_agents, 0.0)
        self.shown_to: dict[bytes, set[str]] = {}
        self.games = 0

    def step(self, action: Any) -> None:
        was_over = any(self.env.terminations.values())
        super().step(action)
        if was_over:  # a seat leaves after the end: that pays nobody
            return
        for seat, reward in self.env.rewards.items():
            self.paid[seat] += reward
        if any(self.env.terminations.values()):
            self.games += 1
            for seat in self.env.possible_agents:
                self._show(seat, self.env.observe(seat))

    def observe(self, agent: str) -> Any:
        seen = super().observe(agent)
        self._show(agent, seen)
        return seen

    def _show(self, seat: str, seen: Any) -> None:
        self.shown_to.setdefault(fingerprint(seen["observation"]), set()).add(seat)


def fingerprint(observation: Any) -> bytes:
    return np.asarray(observation).astype(np.int8).tobytes()


class Comparison(NamedTuple):
    """``paid`` and ``received``: the sums of each seat; ``foreign``: how many of ``transitions`` end with an
    observation that was never shown to the seat that acted."""

    paid: dict[str, float]
    received: dict[str, float]
    foreign: int
    transitions: int

    def conserved(self) -> bool:
        return not self.foreign and all(abs(self.paid[s] - self.received[s]) < 1e-4 for s in self.paid)


def compare(ledger: Ledger, received: Iterable[Received]) -> Comparison:
    """Collect ``received``, which plays whole games on ``ledger``, and compare."""
    sums, foreign, count = dict.fromkeys(ledger.possible_agents, 0.0), 0, 0
    for seat, reward, following in received:
        sums[seat] += float(reward)
        count += 1
        foreign += following is not None and seat not in ledger.shown_to.get(fingerprint(following), ())
    assert count, "nothing was received"
    assert ledger.games, "no game has ended"
    return Comparison(ledger.paid, sums, foreign, count)


@contextmanager
def payments() -> Iterator[list[np.ndarray]]:
    """What the games in batches pay: a list to which every game that ends adds what it paid each seat, (P,)."""
    ended: list[np.ndarray] = []
    running: dict[int, np.ndarray] = {}
    original = Vec.step

    def step(vec: Vec, actions: Any, rows: Any = None) -> None:
        original(vec, actions, rows) if rows is not None else original(vec, actions)
        paid = running.setdefault(id(vec), np.zeros(vec.rewards.shape))
        moved = np.arange(vec.num_envs) if rows is None else np.asarray(rows)
        paid[moved] += vec.rewards[moved]
        for row in moved[vec.terminated[moved]]:
            ended.append(paid[row].copy())
            paid[row] = 0

    Vec.step = step  # type: ignore[method-assign]
    try:
        yield ended
    finally:
        Vec.step = original  # type: ignore[method-assign]
