"""Asks the agents of an arena. A fault costs an agent the game, and the arena goes on.

An agent forfeits a game if it raises an error, answers anything but a legal action, or exceeds the time limit of a
move. If a call with many games fails, the agent is asked again for each game alone, and forfeits only those in which it
fails again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, tells_policy
from catbox_agents.arena.records import Recorder, policy_pairs
from catbox_agents.arena.tables import Cast
from catbox_agents.decisions import answers_in, are_legal, ask_policy, refusal
from catbox_agents.errors import AgentError
from catbox_env import Vec

#: Why a game is forfeited,
ERROR, ILLEGAL, TIME, ENDED = "error", "illegal answer", "move time", "process ended"
FORFEITS = (ERROR, ILLEGAL, TIME, ENDED)
#: and what is only reported: a failed call with many games, and a policy that cannot be recorded.
BATCH, POLICY = "call failed, answered one by one", "policy not recorded"
FAULTS = (*FORFEITS, BATCH, POLICY)


@dataclass
class Fault:
    """What an agent did wrong, how often, and where first."""

    agent: int
    kind: str  # one of FAULTS
    count: int
    first: str


class Watch:
    """Is told whose code runs, and its time limit; see `catbox_agents.arena.workers`."""

    @contextmanager
    def asking(self, agent: int, seconds: float = np.inf) -> Iterator[None]:
        """Around the code of agent ``agent``, so that the watch knows if it ends the process, as by sys.exit."""
        self.asks(agent, seconds)
        try:
            yield
        except Exception:
            self.answered()
            raise
        self.answered()

    def asks(self, agent: int, seconds: float) -> None:
        """Agent ``agent`` of the table is asked now."""

    def answered(self) -> None:
        """It has answered."""


class Referee:
    """Called in place of `ask_agents`; returns -1 where an agent forfeits its game.

    ``seconds`` and ``decisions`` (agents of the table): the time in the agents' code, and how often they were asked.
    ``forfeits``: (row, seat) of each game that was forfeited.

    Args:
        cast: the agents, by index in ``names``.
        names: of the agents of the table.
        seeds: the seeds for the decisions of ``rows`` at a move number, for agents with ``seed_decisions``.
        move_time: seconds for one move, or None. With a limit, agents are asked for one game at a time.
        recorder: records the games; None: they are not recorded.
    """

    def __init__(
        self,
        cast: Cast,
        names: Sequence[str],
        seeds: Callable[[NDArray[np.int64], int], NDArray[np.uint64]],
        move_time: float | None,
        watch: Watch,
        recorder: Recorder | None,
    ) -> None:
        self._cast, self._seeds, self._move_time, self._watch = cast, seeds, move_time, watch
        self._limit = np.inf if move_time is None else move_time
        self._names = list(names)
        self._agent = [self._names.index(label) for label in cast.labels]
        self._recorder = recorder
        self._move = 0
        self.seconds = np.zeros(len(names))
        self.decisions = np.zeros(len(names), np.int64)
        self.faults: dict[tuple[int, str], Fault] = {}
        self.forfeits: list[tuple[int, int]] = []

    def __call__(self, asked: NDArray[np.int64], vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        actions = np.full(len(rows), -1, np.int64)
        policies: list[Any] = [None] * len(rows)
        for i in range(len(self._cast.agents)):
            own = np.flatnonzero(asked == i)
            if len(own) == 0:
                continue
            actions[own] = self._ask(i, vec, rows[own])
            if self._recorder is not None and tells_policy(self._cast.agents[i]):
                # The limit is for one move.
                for some in [own] if self._move_time is None else own[:, None]:
                    for k, policy in zip(some.tolist(), self._policies(i, vec, rows[some]), strict=True):
                        policies[k] = policy
        if self._recorder is not None:
            going_on = np.flatnonzero(actions >= 0)
            kept = [policies[k] for k in going_on.tolist()]
            self._recorder.acted(rows[going_on], actions[going_on], kept)
        self._move += 1
        return actions

    def _ask(self, i: int, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The legal actions (M,) of agent object ``i``, -1 where it forfeits."""
        if self._move_time is None and len(rows) > 1:
            try:
                return self._checked(i, vec, rows, self._answers(i, vec, rows))
            except ValueError as error:  # AgentError among them
                self._note(self._agent[i], BATCH, str(error), rows[0], vec)
        return np.concatenate([self._ask_one(i, vec, rows[k : k + 1]) for k in range(len(rows))])

    def _ask_one(self, i: int, vec: Vec, row: NDArray[np.int64]) -> NDArray[np.int64]:
        before = self.seconds[self._agent[i]]
        try:
            answers = self._answers(i, vec, row)
        except ValueError as error:
            kind = ERROR if isinstance(error, AgentError) else ILLEGAL
            self._forfeit(i, kind, str(error), vec, row[0])
            return np.array([-1])
        seconds = self.seconds[self._agent[i]] - before
        if self._move_time is not None and seconds > self._move_time:
            name = self._names[self._agent[i]]
            said = f"agent {name!r} took {seconds:.3g} s for a move; the limit is {self._move_time:g} s"
            self._forfeit(i, TIME, said, vec, row[0])
            return np.array([-1])
        return self._checked(i, vec, row, answers)

    def _answers(self, i: int, vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        agent, place = self._cast.agents[i], self._agent[i]
        with self._watch.asking(place, self._limit):
            began = time.perf_counter()
            try:
                if hasattr(agent, "seed_decisions"):
                    self._seed(agent, place, rows)
                    began = time.perf_counter()
                return answers_in(agent, self._names[place], vec, rows)
            finally:
                self.seconds[place] += time.perf_counter() - began
                self.decisions[place] += len(rows)

    def _seed(self, agent: Any, place: int, rows: NDArray[np.int64]) -> None:
        try:
            agent.seed_decisions(self._seeds(rows, self._move))
        except Exception as error:
            raise AgentError(self._names[place], error) from error

    def _checked(
        self, i: int, vec: Vec, rows: NDArray[np.int64], actions: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """``actions``, with -1 where one is illegal and the game is forfeited."""
        legal = are_legal(vec.action_mask[rows], actions)
        for k in np.flatnonzero(~legal).tolist():
            said = refusal(self._names[self._agent[i]], vec, int(rows[k]), int(actions[k]))
            self._forfeit(i, ILLEGAL, said, vec, rows[k])
        return np.where(legal, actions.astype(np.int64), -1)  # unsigned types have no -1

    def _policies(self, i: int, vec: Vec, rows: NDArray[np.int64]) -> list[Any]:
        """For each row the pairs (action, probability), or None if there is no valid policy."""
        place = self._agent[i]
        try:
            with self._watch.asking(place, self._limit):
                policies = ask_policy(self._cast.agents[i], self._names[place], vec, rows)
        except ValueError as error:  # reported; the game does not depend on it
            if len(rows) > 1:
                return [found for k in range(len(rows)) for found in self._policies(i, vec, rows[k : k + 1])]
            self._note(place, POLICY, str(error), rows[0], vec)
            return [None]
        return [policy_pairs(policy) for policy in policies]

    def _forfeit(self, i: int, kind: str, said: str, vec: Vec, row: int) -> None:
        self._note(self._agent[i], kind, said, row, vec)
        seat = int(vec.current_player[row])
        self.forfeits.append((int(row), seat))
        if self._recorder is not None:
            self._recorder.forfeited(int(row), seat, said)

    def _note(self, agent: int, kind: str, said: str, row: int, vec: Vec) -> None:
        fault = self.faults.get((agent, kind))
        if fault is None:
            seat = int(vec.current_player[row])
            where = f"in seat {seat}, action {self._move + 1} of the game"
            self.faults[agent, kind] = Fault(agent, kind, 1, f"{said} ({where})")
        else:
            fault.count += 1


class Absent(Agent):
    """Stands in for an agent that could not be made: raises its error whenever it is asked."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> NDArray[np.int64]:
        raise self.error
