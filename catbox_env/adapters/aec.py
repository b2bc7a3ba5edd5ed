"""Any game under PettingZoo's AEC (agent-environment cycle) API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from catbox_env.core.checks import check_choice, check_flag, short_repr
from catbox_env.core.extras import missing_package
from catbox_env.core.kernels import copy_records
from catbox_env.core.rng import new_generators, seed_sequence
from catbox_env.core.state import GameState, styled_text
from catbox_env.registry import make_game

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    raise missing_package(
        error,
        "a PettingZoo environment",
        "Install both:  pip install gymnasium pettingzoo. catbox_env.make_game and make_vec work without them",
    ) from error

RENDER_MODES = ("ansi", "human", "rgb_array")


class AECGame(AECEnv[str, dict[str, np.ndarray], int]):
    """One game as a PettingZoo AEC environment, without wrappers.

    Agents are ``player_0`` .. ``player_{P-1}``, clockwise; all end together. An observation is a dict of new arrays:
    ``observation`` int8 (O,), ``action_mask`` int8 (A,), all zeros for a seat that is not to move, and with
    ``history=True`` also ``history`` int8 (T, 2). ``infos[agent]`` holds the statistics of a round from its end until
    the agent acts again.

    Args:
        game_id: a key of ``catbox_env.GAMES``.
        render_mode: ``"ansi"``: ``render`` returns the game as text; ``"human"``: the game is printed in colour after
            every step (needs rich); ``"rgb_array"``: ``render`` returns a picture, uint8 (H, W, 3), of the same size
            for all positions and with all hands (needs the extra ``render``); ``None``: no rendering.
        history: whether observations contain the history.
        **options: those of ``catbox_env.make_game``.

    Attributes: ``game``: the immutable game; ``game_state``: the current ``GameState``, ``None`` before ``reset``.

    Raises ``ValueError`` for an unknown option.
    """

    def __init__(
        self, game_id: str, render_mode: str | None = None, history: bool = False, **options: Any
    ) -> None:
        super().__init__()
        check_choice("render_mode", render_mode, (None, *RENDER_MODES))
        self.game = make_game(game_id, **options)
        self.render_mode = render_mode
        self.history = check_flag("history", history)
        self.metadata = {
            "name": game_id,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self._console = _make_console() if render_mode == "human" else None
        if render_mode == "rgb_array":
            from catbox_env.pictures.raster import load_rasteriser  # only where pictures are wanted

            load_rasteriser()
        self.game_state: GameState | None = None
        self._mask = np.zeros(self.game.num_actions, np.int8)
        self.possible_agents = [f"player_{seat}" for seat in range(self.game.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents = self.possible_agents[:]
        # A space of its own for each agent: seeding one does not seed the others.
        self.observation_spaces = {agent: self._make_observation_space() for agent in self.agents}
        self.action_spaces = {agent: spaces.Discrete(self.game.num_actions) for agent in self.agents}
        layout = self.game.state_layout
        self.state_space = spaces.Box(layout.low, layout.high, dtype=np.int8)

    def observation_space(self, agent: str) -> spaces.Space:
        """The space of ``observe(agent)``; always the same object."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> spaces.Space:
        """``Discrete(A)``; always the same object."""
        return self.action_spaces[self._known(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        ``seed``: a non-negative integer or a numpy ``SeedSequence``; ``None`` continues with the generator, which
        starts from a random seed. ``options={"deal": ...}`` sets the deal, see ``Game.new_initial_state``; other keys
        are ignored, as PettingZoo requires.
        """
        if options is not None and not isinstance(options, Mapping):
            raise ValueError(
                f"options={short_repr(options)}: expected a dict, such as {{'deal': ...}}, or None"
            )
        if seed is not None or self.game_state is None:
            generators = new_generators([seed_sequence(seed)])
        else:  # a copy, so that a refused deal does not change the current game
            generators = copy_records(self.game_state._generators)
        self.game_state = self.game._begin(generators, (options or {}).get("deal"))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._mask = self.game_state.action_mask()
        self._select()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Take ``action`` for ``agent_selection``; ``None`` for an agent whose game is over.

        Raises ``ValueError`` for an illegal action; the game is then unchanged.
        """
        state = self._running()
        if not self.agents:
            raise ValueError(f"action {action!r}: the game is over and every agent has left; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        state._apply(action, self._mask)
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {}
        if state.round_ended:
            for seat, (name, reward) in enumerate(zip(self.possible_agents, state.rewards(), strict=True)):
                self.rewards[name] = reward
                self.infos[name] = state.info(seat)
            self._accumulate_rewards()
            if state.is_terminal():
                self.terminations = dict.fromkeys(self.agents, True)
        else:
            self._clear_rewards()
        self._select()
        if self.render_mode == "human":
            self.render()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As in PettingZoo. Raises ``ValueError`` when every agent has left."""
        self._running()
        if not self.agents:
            raise ValueError("last() after the end: every agent has left; call reset()")
        return super().last(observe)

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What ``agent`` sees now, even when it is not to move: new arrays, described in the class."""
        state = self._running()
        seat = self._seats[self._known(agent)]
        mask = self._mask.copy() if seat == state.current_player else np.zeros_like(self._mask)
        seen = {"observation": state.observation(seat), "action_mask": mask}
        if self.history:
            seen["history"] = state.history_observation(seat)
        return seen

    def state(self) -> np.ndarray:
        """Everything, hidden cards included: a new int8 array (S,), laid out as ``game.state_layout``."""
        return self._running().state_vector()

    def render(self) -> str | np.ndarray | None:
        """Render the game with the hand of the agent to move, or with every hand when the game is over.

        A picture ("rgb_array") always shows every hand.
        """
        state = self._running()
        if self.render_mode is None:
            raise ValueError(
                "render() without a render mode: make the environment with render_mode='ansi', 'human' or 'rgb_array'"
            )
        if self.render_mode == "rgb_array":
            from catbox_env.pictures.raster import FRAME_WIDTH, rasterise  # only where pictures are wanted

            return rasterise(self.game.render_svg(state, size=FRAME_WIDTH))
        seat = None if state.is_terminal() else state.current_player
        if self._console is None:
            return self.game.render_text(state, seat)
        from rich.text import Text  # needed for colours alone

        self._console.print(Text.assemble(*styled_text(state, seat)))
        return None

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""

    def _make_observation_space(self) -> spaces.Dict:
        layout, actions = self.game.observation_layout, self.game.num_actions
        parts: dict[str, spaces.Space] = {
            "observation": spaces.Box(layout.low, layout.high, dtype=np.int8),
            "action_mask": spaces.Box(0, 1, (actions,), np.int8),
        }
        if self.history:
            parts["history"] = spaces.Box(-2, 127, (self.game.max_game_length, 2), np.int8)
        return spaces.Dict(parts)

    def _known(self, agent: str) -> str:
        if not isinstance(agent, str) or agent not in self._seats:
            raise ValueError(f"agent {short_repr(agent)}: expected one of {', '.join(self.possible_agents)}")
        return agent

    def _running(self) -> GameState:
        if self.game_state is None:
            raise RuntimeError("no game has begun: call reset() first")
        return self.game_state

    def _select(self) -> None:
        """Select the agent to move; when the game is over, the first agent, which then leaves."""
        self.agent_selection = self.possible_agents[max(0, self._running().current_player)]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_console": None}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        if self.render_mode == "human":
            self._console = _make_console()


def env(game_id: str, **options: Any) -> AECEnv:
    """The game ``game_id`` in PettingZoo's wrappers, with the ``options`` of `AECGame`.

    An illegal action ends the game and pays -1, or the lowest return if that is lower.
    """
    raw = AECGame(game_id, **options)
    env = wrappers.TerminateIllegalWrapper(raw, illegal_reward=min(-1.0, raw.game.min_utility))
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


def _make_console() -> Any:
    try:
        from rich.console import Console  # needed for colours alone
    except ModuleNotFoundError as error:
        raise missing_package(
            error, "render_mode='human'", "Install it:  pip install rich, or use render_mode='ansi'"
        ) from error
    return Console(highlight=False)
