"""The coach: for a position as the seat to move sees it, an agent's probabilities, or points in sampled worlds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from catbox_agents import Agent, make
from catbox_agents.agent import agent_seed
from catbox_agents.decisions import ask_policy
from catbox_app.estimates import estimates
from catbox_app.web.jobs import Job
from catbox_env import Game, GameState, Vec

#: What a coach can show.
SHOWS = ("policy", "points")
#: Half the width of a 95 % interval, in standard errors.
_SIGMAS = 1.96


class Coach:
    """The coach of one page. It thinks about one position at a time; only what it finds about the last one is sent.

    ``send``: where its messages go; ``give``: takes each `Job` of it.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None], give: Callable[[Job], None]) -> None:
        self._send, self._give = send, give
        self._agent: str | None = None
        self._shows = SHOWS[0]
        self._made: tuple[str, Game, Agent] | None = None
        self._wanted: tuple[GameState, int] | None = None
        self._thinks = False

    def set(self, agent: str | None, shows: str) -> None:
        """Show what ``agent`` thinks; None: nothing. ``shows``: one of ``SHOWS``; points do not depend on the agent."""
        self._agent, self._shows = agent, shows
        self._wanted = None

    def ask(self, state: GameState, number: int) -> None:
        """Advise the seat to move in ``state``, the position after ``number`` actions."""
        if self._agent is None or state.is_terminal():
            self._wanted = None
            return
        self._wanted = copy.deepcopy(state), number
        if not self._thinks:
            self._begin()

    @property
    def is_on(self) -> bool:
        """Whether it advises."""
        return self._agent is not None

    def forget(self) -> None:
        """Nobody waits for the advice any more."""
        self._wanted = None

    def _begin(self) -> None:
        asked, agent, shows = self._wanted, self._agent, self._shows
        if asked is None or agent is None:
            return
        self._thinks = True
        state, number = asked

        def think() -> dict[str, Any]:
            values = self._policy(agent, state, number) if shows == "policy" else _points(state)
            best = max(values, key=lambda value: value["value"])["action"]
            return {
                "type": "coach",
                "number": number,
                "agent": agent if shows == "policy" else "The estimate",
                "values": values,
                "best": best,
            }

        def done(message: dict[str, Any]) -> None:
            self._thinks = False
            if self._wanted is asked:
                self._send(message)
            elif self._wanted is not None:
                self._begin()

        self._give(
            Job(think, done, lambda error: done({"type": "failed", "text": f"The coach cannot say: {error}"}))
        )

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
        return [
            {
                **_named(state.game, action),
                "value": float(policy[action]),
                "unit": "probability",
                "interval": None,
            }
            for action in state.legal_actions()
        ]


def _points(state: GameState) -> list[dict[str, Any]]:
    """What each legal action is likely to bring, in points more than the mean of the others."""
    return [
        {
            **_named(state.game, estimate.action),
            "value": estimate.lead,
            "unit": "points",
            "interval": _SIGMAS * estimate.error,
            "points": estimate.points,
            "chances": estimate.chances,
        }
        for estimate in estimates(state.game, state.observation(state.current_player))
    ]


def _named(game: Game, action: int) -> dict[str, Any]:
    return {"action": action, "text": game.action_to_string(action)}
