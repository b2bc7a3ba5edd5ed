"""The coach of a page: an agent's probabilities, or points in sampled worlds, for what the seat to move sees.

It thinks in a `Job`, as agents do.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from catbox_agents import Agent, make
from catbox_agents.agent import agent_seed
from catbox_agents.play import ask_policy
from catbox_agents.search.action_values import action_values
from catbox_app.web.messages import Message, advice, failed, probabilities, valued
from catbox_env import Game, GameState, Vec

#: What a coach can show.
SHOWS = ("policy", "points")


@dataclass(frozen=True)
class Job:
    """Work that takes a while: an agent or a coach that thinks, a game that is set up.

    ``think`` touches no table, so that a server can run it in another thread; in the thread of the tables, ``finish``
    gets its result, or ``fail`` the ``ValueError`` that it raised.
    """

    think: Callable[[], Any]
    finish: Callable[[Any], None]
    fail: Callable[[ValueError], None]

    def run(self) -> None:
        """Run all of it now, in this thread."""
        try:
            found = self.think()
        except ValueError as error:
            self.fail(error)
        else:
            self.finish(found)


class Coach:
    """The coach of one page. It thinks about one position at a time, and sends advice only on the latest one.

    ``send``: takes its messages; ``give``: takes its `Job` objects; ``shows`` (an attribute): what it shows, or None.
    """

    def __init__(self, send: Callable[[Message], None], give: Callable[[Job], None]) -> None:
        self._send, self._give = send, give
        self._agent: str | None = None
        self.shows: str | None = None
        self._made: tuple[str, Game, Agent] | None = None
        self._wanted: tuple[GameState, int] | None = None
        self._thinks = False

    def set(self, shows: str | None, agent: str | None = None) -> None:
        """Show one of ``SHOWS`` (None: nothing); ``agent``: the one whose policy is shown."""
        self.shows, self._agent = shows, agent
        self.forget()

    def ask(self, state: GameState | None, number: int) -> None:
        """Advise the seat to move in ``state``, the position after ``number`` actions; None: no advice is needed."""
        if self.shows is None or state is None or state.is_terminal():
            self.forget()
            return
        self._wanted = copy.deepcopy(state), number
        if not self._thinks:
            self._begin(*self._wanted)

    def forget(self) -> None:
        """Discard any advice that is still pending."""
        self._wanted = None

    def _begin(self, state: GameState, number: int) -> None:
        agent, asked, self._thinks = self._agent, self._wanted, True

        def think() -> Message:
            if agent is not None:
                return advice(number, agent, self._policy(agent, state, number))
            found = action_values(state.game, state.observation(state.current_player))
            points = [
                valued(state.game, one.action, one.lead, "points", one.interval, one.is_alike)
                for one in found
            ]
            return advice(number, "The estimate", points)

        def done(message: Message) -> None:
            self._thinks = False
            if self._wanted is asked:
                self._send(message)
            elif self._wanted is not None:
                self._begin(*self._wanted)

        self._give(Job(think, done, lambda error: done(failed(f"The coach failed: {error}"))))

    def _policy(self, spec: str, state: GameState, number: int) -> list[dict[str, Any]]:
        if self._made is None or self._made[:2] != (spec, state.game):
            self._made = spec, state.game, make(spec, state.game, 0)
        agent = self._made[2]
        vec = Vec(state.game, 1, seed=0, history=True, auto_deal=False)
        vec.set_states(state)
        if hasattr(agent, "seed_decisions"):
            seed = agent_seed(vec.observation[0].tobytes(), number) & (2**64 - 1)
            agent.seed_decisions(np.array([seed], np.uint64))
        policy = ask_policy(agent, spec, vec, np.zeros(1, np.int64))[0]
        return probabilities(state.game, ((action, policy[action]) for action in state.legal_actions()))


@dataclass(eq=False)
class Viewer:
    """One page that shows a table: how to send it messages, how to draw its pictures, its user's name, and its own
    (``page``), which it has over all its connections."""

    send: Callable[[Message], None]
    coach: Coach
    theme: str = "light"
    size: int = 720
    seat: int | None = None
    name: str = ""
    page: str = ""
