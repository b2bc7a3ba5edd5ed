"""Every game for RLlib (new API stack): an environment with all seats.

    from ray.rllib.algorithms.ppo import PPOConfig
    from catbox_agents.learners.rllib import SelfPlayEnv

    config = (
        PPOConfig()
        .environment(SelfPlayEnv, env_config={"game": "cat_te_v0"}, disable_env_checking=True)
        .multi_agent(policies={"policy"}, policy_mapping_fn=lambda agent, episode, **more: "policy")
    )

RLlib's environment check plays illegal actions, so it is turned off. ``examples/rllib_self_play.py`` has a module that
masks them, and makes an agent of it. For one learner among agents, use the Gymnasium view with
``mask_in_observation={"observation": "observations", "action_mask": "action_mask"}``, which modules with masks accept
as is. Needs the extra ``ray``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from catbox_agents.system.ray_cluster import check_installed
from catbox_env import Game, GameState, make_game
from catbox_env.core.checks import short_repr
from catbox_env.core.extras import missing_extra

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ModuleNotFoundError as error:
    raise missing_extra(error, "catbox_agents.learners.rllib", "ray") from error

__all__ = ["KEYS", "SelfPlayEnv"]

check_installed()

#: The keys of an observation, as in RLlib's own examples.
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"
KEYS = (OBSERVATIONS, ACTION_MASK)
_Observations = dict[str, dict[str, NDArray[np.int8]]]


class SelfPlayEnv(MultiAgentEnv):
    """One game with all of its seats, ``player_0`` .. ``player_{P-1}``, as a multi-agent environment of RLlib.

    ``config``: ``game`` is the id of a game, ``"cat_in_the_box_v0"`` by default, and every other key an option of
    ``catbox_env.make_game``: ``num_players``, ``reward``, ... An observation is ``{"observations": (O,) int8,
    "action_mask": (A,) int8}``, of the seat to move; at the end of the game, of every seat that has moved (its mask is
    zeros then).

    A seat's reward is everything that it was paid since its last move. It comes with the seat's next observation, so
    RLlib credits it to that move; what the seat was paid before its first move is added to the first reward. A seat
    that never moved is not in the episode; what it was paid is in ``infos["__common__"]["never_moved"]``, by seat.

    Raises ``ValueError`` for an unknown game or option, and in ``step`` for an illegal action.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        options = dict(config or {})
        self.game: Game = make_game(options.pop("game", "cat_in_the_box_v0"), **options)
        low, high = self.game.observation_layout.low, self.game.observation_layout.high
        space = spaces.Dict(
            {
                OBSERVATIONS: spaces.Box(low, high, dtype=np.int8),
                ACTION_MASK: spaces.Box(0, 1, (self.game.num_actions,), np.int8),
            }
        )
        names = [f"player_{seat}" for seat in range(self.game.num_players)]
        self.possible_agents = names
        self.agents = list(names)
        self.observation_spaces = dict.fromkeys(names, space)
        self.action_spaces = dict.fromkeys(names, spaces.Discrete(self.game.num_actions))
        self._state: GameState | None = None
        self._paid = np.zeros(self.game.num_players)
        self._moved = np.zeros(self.game.num_players, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Observations, dict[str, Any]]:
        """Deal a game; ``seed`` restarts the random numbers, None continues them."""
        if seed is not None or self._state is None:
            self._state = self.game.new_initial_state(seed)
        else:  # the state keeps the generator, so a copy of this environment goes on as the original does
            self._state = self.game._begin(self._state._generators)
        self._paid[:] = 0
        self._moved[:] = False
        return self._seen(), {}

    def step(
        self, action_dict: dict[str, int]
    ) -> tuple[_Observations, dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Play the action of the seat to move, the only one in ``action_dict``."""
        state = self._running()
        seat = state.current_player
        name = self.possible_agents[seat] if seat >= 0 else "nobody, the game is over"
        if set(action_dict) != {name}:
            raise ValueError(f"actions of {short_repr(sorted(action_dict))}: expected one, of {name}")
        try:
            state.apply_action(int(action_dict[name]))
        except ValueError as error:
            if not self._moved.any():
                error.add_note(
                    "RLlib's environment check plays illegal actions: turn it off with "
                    ".environment(..., disable_env_checking=True)"
                )
            raise
        self._moved[seat] = True
        self._paid += state.rewards()
        over = state.is_terminal()
        seen = self._seen()
        rewards = {}
        for other in seen:
            at = self.possible_agents.index(other)
            if self._moved[at]:  # RLlib accepts no reward with a seat's first observation
                rewards[other] = float(self._paid[at])
                self._paid[at] = 0
        infos: dict[str, Any] = {}
        if over and self._paid.any():
            never = {self.possible_agents[at]: float(self._paid[at]) for at in np.flatnonzero(~self._moved)}
            infos["__common__"] = {"never_moved": never}
        return seen, rewards, {"__all__": over}, {"__all__": False}, infos

    def _running(self) -> GameState:
        if self._state is None:
            raise ValueError("call reset() first: no game has begun")
        return self._state

    def _seen(self) -> _Observations:
        state = self._running()
        seats = np.flatnonzero(self._moved) if state.is_terminal() else [state.current_player]
        return {
            self.possible_agents[seat]: {
                OBSERVATIONS: state.observation(int(seat)),
                ACTION_MASK: state.action_mask(int(seat)),
            }
            for seat in seats
        }
