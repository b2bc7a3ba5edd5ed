"""Every game for RLlib (new API stack): an environment with all seats, a module that masks, and the module as an agent.

    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from catbox_agents.rllib import MaskedModule, SelfPlayEnv

    config = (
        PPOConfig()
        .environment(
            SelfPlayEnv, env_config={"game": "cat_in_the_box_v0", "num_players": 3}, disable_env_checking=True
        )
        .multi_agent(policies={"policy"}, policy_mapping_fn=lambda agent, episode, **_: "policy")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"hidden": [256, 256]}))
    )

RLlib's check of environments plays actions that no rule allows, so it is turned off. One learner among agents is the
Gymnasium view with ``mask_in_observation={"observation": "observations", "action_mask": "action_mask"}``, which
``MaskedModule`` and RLlib's own modules with masks take as it is. Needs the extra ``ray``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from catbox_agents.agent import Agent, Seed, check_rows
from catbox_agents.ray_cluster import check_installed
from catbox_env import Game, GameState, make_game
from catbox_env.core.checks import shown
from catbox_env.core.rng import new_generators, seed_sequence
from catbox_env.core.versions import missing_extra

try:
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from torch import nn
except ModuleNotFoundError as error:
    raise missing_extra(error, "catbox_agents.rllib", "ray") from error

__all__ = ["KEYS", "MaskedModule", "ModuleAgent", "SelfPlayEnv"]

check_installed()

#: The keys of an observation, those of RLlib's own examples.
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"
KEYS = (OBSERVATIONS, ACTION_MASK)
_Observations = dict[str, dict[str, NDArray[np.int8]]]


class SelfPlayEnv(MultiAgentEnv):
    """One game with all of its seats, ``player_0`` .. ``player_{P-1}``, as a multi-agent environment of RLlib.

    ``config``: ``game`` is the id of a game, ``"cat_in_the_box_v0"`` by default, and every other key an option of
    ``catbox_env.make_game``: ``num_players``, ``reward``, ... An observation is ``{"observations": (O,) int8,
    "action_mask": (A,) int8}``, of the seat to move; at the end of the game, of every seat that has moved (its mask is
    zeros then).

    The reward of a seat is everything that it was paid since it moved last, and comes with its next observation, so
    that RLlib counts it for that move. What it was paid before its first move comes with that of its first move. A seat
    that was never asked is not in the episode; what it was paid is in ``infos["__common__"]["never_moved"]``, by seat.

    Raises ``ValueError`` for an unknown game or option, and in ``step`` for an illegal action.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        options = dict(config or {})
        self.game: Game = make_game(options.pop("game", "cat_in_the_box_v0"), **options)
        low, high = self.game.observation_layout.bounds()
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
        self._generators = new_generators([seed_sequence(None)])
        self._state: GameState
        self._paid = np.zeros(self.game.num_players)
        self._moved = np.zeros(self.game.num_players, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Observations, dict[str, Any]]:
        """Deal a game; ``seed`` begins the random numbers anew, None goes on with them."""
        if seed is not None:
            self._generators = new_generators([seed_sequence(seed)])
        self._state = self.game.initial_state_from(self._generators)
        self._paid[:] = 0
        self._moved[:] = False
        return self._seen(), {}

    def step(
        self, action_dict: dict[str, int]
    ) -> tuple[_Observations, dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Make the move of the seat to move, the only one in ``action_dict``."""
        state = self._state
        seat = state.current_player
        name = self.possible_agents[seat] if seat >= 0 else "nobody, the game is over"
        if set(action_dict) != {name}:
            raise ValueError(f"actions of {shown(sorted(action_dict))}: expected one, of {name}")
        try:
            state.apply_action(int(action_dict[name]))
        except ValueError as error:
            if not self._moved.any():
                error.add_note(
                    "RLlib's check of environments plays actions that no rule allows: turn it off with "
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
            if self._moved[at]:  # of a seat's first observation, RLlib takes no reward
                rewards[other] = float(self._paid[at])
                self._paid[at] = 0
        infos: dict[str, Any] = {}
        if over and self._paid.any():
            never = {self.possible_agents[at]: float(self._paid[at]) for at in np.flatnonzero(~self._moved)}
            infos["__common__"] = {"never_moved": never}
        return seen, rewards, {"__all__": over}, {"__all__": False}, infos

    def _seen(self) -> _Observations:
        state = self._state
        seats = np.flatnonzero(self._moved) if state.is_terminal() else [state.current_player]
        return {
            self.possible_agents[seat]: {
                OBSERVATIONS: state.observation(int(seat)),
                ACTION_MASK: state.action_mask(int(seat)),
            }
            for seat in seats
        }


#: Takes the number of inputs and of outputs, and makes a network: float32 (..., inputs) to float32 (..., outputs).
MakeNetwork = Callable[[int, int], nn.Module]


def _layers(hidden: list[int]) -> MakeNetwork:
    def make(inputs: int, outputs: int) -> nn.Module:
        widths = [inputs, *hidden]
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))

    return make


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """A policy and a value function of any networks, which give illegal actions the probability 0.

    For observations with ``KEYS``: those of ``SelfPlayEnv``, and of the Gymnasium view. ``model_config``:

    - ``network``: a function ``(inputs, outputs) -> torch.nn.Module`` that is called once for the policy and once for
      the values; the module takes float32 (..., inputs). Or
    - ``hidden``: widths of fully connected layers, ``[256, 256]`` by default.
    """

    def setup(self) -> None:
        config = self.model_config if isinstance(self.model_config, Mapping) else {}
        space = self.observation_space
        if not isinstance(space, spaces.Dict) or not set(KEYS) <= set(space.spaces):
            raise ValueError(
                f"MaskedModule: the observation space is {shown(space)}, expected a Dict with the keys "
                f"{', '.join(KEYS)}: give the Gymnasium view mask_in_observation={{'observation': '{OBSERVATIONS}', "
                f"'action_mask': '{ACTION_MASK}'}}"
            )
        assert isinstance(self.action_space, gymnasium.spaces.Discrete)
        make = config.get("network") or _layers(list(config.get("hidden", (256, 256))))
        seen = space[OBSERVATIONS].shape
        assert seen is not None
        self.policy = make(seen[0], int(self.action_space.n))
        self.values = make(seen[0], 1)
        self.action_dist_cls = TorchCategorical

    def logits(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        """(..., A) float32, the lowest number where an action is illegal."""
        outputs: torch.Tensor = self.policy(observations[OBSERVATIONS].float())
        return outputs.masked_fill(observations[ACTION_MASK] == 0, torch.finfo(torch.float32).min)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self.logits(batch[Columns.OBS])}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """The value of each observation (...,)."""
        found: torch.Tensor = self.values(batch[Columns.OBS][OBSERVATIONS].float())
        return found.squeeze(-1)


class ModuleAgent(Agent):
    """A ``MaskedModule`` as an agent of catbox, for evaluations, arenas and ``catbox play``.

    Args:
        greedy: take the most probable action; otherwise draw one, with random numbers of ``seed``.
    """

    def __init__(self, game: Game, module: MaskedModule, seed: Seed = None, greedy: bool = True) -> None:
        super().__init__(game, seed)
        self.module, self.greedy = module, greedy
        self._generator = np.random.default_rng(seed)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        seen, masks = check_rows(self.game, observations, action_masks)
        with torch.no_grad():
            logits = self.module.logits(
                {OBSERVATIONS: torch.from_numpy(seen), ACTION_MASK: torch.from_numpy(masks)}
            ).numpy()
        if not self.greedy:
            logits = logits + self._generator.gumbel(size=logits.shape)
        return np.where(masks, logits, -np.inf).argmax(axis=1)
