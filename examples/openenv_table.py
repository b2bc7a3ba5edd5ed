"""A game for OpenEnv: a server with one model's seat among agents, and its client.

pip install "openenv==0.10.0"
catbox compile                                # a game that still compiles outlasts the client's patience
python examples/openenv_table.py              # server and client, with random legal answers
python examples/openenv_table.py serve 8000   # the server alone
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from typing import Any

import uvicorn
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Environment, Observation, State, create_app

from catbox_agents.text import TextGame
from catbox_env import Game, make_game
from stand_in import StandIn


class TextAction(Action):
    """``action``: the model's answer, as `parse_action` reads it, so ``{"action": "bid 2"}`` alone is one, too."""

    action: str


class TextObservation(Observation):
    """What the model is told; ``reward`` and ``done`` as `TextGame.step` returns them."""

    text: str


class TextState(State):
    """``seat`` of the model, None before the first game; its ``points`` so far; ``counts`` of its answers."""

    seat: int | None = None
    points: float = 0.0
    counts: dict[str, int] = {}  # noqa: RUF012  (pydantic copies it)


class CatboxEnvironment(Environment):
    """One session: a `TextGame` with these settings."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: Game, **table: Any) -> None:
        super().__init__()
        self.table = TextGame(game, **table)
        self._state = TextState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, seat: int | None = None, **unknown: Any
    ) -> TextObservation:
        """Begin a game. The same ``seed`` deals the same cards to every ``seat``; None: drawn."""
        if unknown:
            raise ValueError(f"reset({', '.join(unknown)}): unknown; expected seed, seat and episode_id")
        text = self.table.reset(seed, seat)
        self._state = TextState(episode_id=episode_id, seat=self.table.seat)
        return TextObservation(text=text, done=False, reward=0.0)

    def step(self, action: TextAction, timeout_s: float | None = None, **_: Any) -> TextObservation:
        """Play what the answer says, as `TextGame.step` does."""
        text, reward, done = self.table.step(action.action)
        self._state.step_count += 1
        return TextObservation(text=text, done=done, reward=reward)

    @property
    def state(self) -> TextState:
        """The session's state; it tells nothing that is hidden from the seat."""
        return self._state.model_copy(update={"points": self.table.points, "counts": dict(self.table.counts)})


class CatboxClient(EnvClient):
    """A session of such a server: ``reset(seed=, seat=)``, ``step(TextAction(action=...))``, ``state()``."""

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return {"action": action.action}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult:
        reward, done = payload.get("reward"), payload.get("done", False)
        observation = TextObservation(**{"reward": reward, "done": done} | payload["observation"])
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> TextState:
        return TextState(**payload)


def make_app(game: Game, max_sessions: int = 64, **table: Any) -> Any:
    """A FastAPI application for so many sessions at once; ``table``: settings of `TextGame`, opponents as specs."""
    make = functools.partial(CatboxEnvironment, game, **table)
    make()  # refuses wrong settings here, not in every session
    return create_app(
        make,
        TextAction,
        TextObservation,
        env_name="catbox",
        max_concurrent_envs=max_sessions,
        state_cls=TextState,
    )


def server(port: int, **table: Any) -> uvicorn.Server:
    app = make_app(make_game("cat_in_the_box_v0", num_players=3), **table)
    return uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))


def main() -> None:
    serving = server(0, list_actions=True)  # at a free port
    thread = threading.Thread(target=serving.run)
    thread.start()
    while not serving.started:
        time.sleep(0.01)
    port = serving.servers[0].sockets[0].getsockname()[1]
    model = StandIn()
    with CatboxClient(f"http://127.0.0.1:{port}").sync() as client:
        result = client.reset(seed=1, seat=0)
        while not result.done:
            result = client.step(TextAction(action=model(result.observation.text)))
        print(result.observation.text)
        print(f"reward {result.reward:.2f}, {client.state().step_count} answers")
    serving.should_exit = True
    thread.join()


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        server(int(sys.argv[2])).run()
    else:
        main()
