"""Self-play with RLlib's PPO on every seat of a game: about a minute, then 200 deals against random agents.

pip install -e '.[ray]'
python examples/rllib_self_play.py
"""

import os
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported about the use of Ray

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from torch import nn

import catbox_agents
import catbox_env
from catbox_agents.learners.rllib import KEYS, SelfPlayEnv

OBSERVATIONS, ACTION_MASK = KEYS
GAME: dict[str, Any] = {"game": "cat_in_the_box_v0", "num_players": 3, "reward": "margin"}


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """A policy and a value function, which give illegal actions the probability 0.

    For observations with ``KEYS``: those of ``SelfPlayEnv``, and of the Gymnasium view with ``mask_in_observation``.
    """

    def setup(self) -> None:
        """Make the networks; ``model_config["hidden"]`` is the width of their hidden layer."""
        width = self.model_config["hidden"]
        inputs = self.observation_space[OBSERVATIONS].shape[0]
        self.policy = nn.Sequential(
            nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, int(self.action_space.n))
        )
        self.values = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, 1))
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


class ModuleAgent(catbox_agents.Agent):
    """A ``MaskedModule`` as an agent of catbox: the action that it finds most likely."""

    def __init__(self, game: catbox_env.Game, module: MaskedModule) -> None:
        super().__init__(game)
        self.module = module

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        """(N,) actions for ``observations`` (N, O) and ``action_masks`` (N, A)."""
        seen = {OBSERVATIONS: torch.from_numpy(observations), ACTION_MASK: torch.from_numpy(action_masks)}
        with torch.no_grad():
            return np.asarray(self.module.logits(seen).argmax(dim=1))


def make_config(batch_size: int = 2000, runners: int = 0) -> PPOConfig:
    """PPO in which one policy plays all seats; ``runners`` processes play, none: this one does."""
    return (
        PPOConfig()
        .environment(SelfPlayEnv, env_config=GAME, disable_env_checking=True)
        .multi_agent(policies={"policy"}, policy_mapping_fn=lambda agent, episode, **more: "policy")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"hidden": 128}))
        .env_runners(num_env_runners=runners)
        .learners(num_learners=0)
        .training(
            train_batch_size_per_learner=batch_size,
            minibatch_size=250,
            num_epochs=4,
            lr=1e-3,
            gamma=1.0,
            lambda_=0.95,
            entropy_coeff=0.02,
            use_kl_loss=False,
            vf_clip_param=1e4,  # points are not clipped
        )
        .debugging(seed=1, log_level="ERROR")
    )


def margin(algorithm: Any, num_deals: int = 200) -> catbox_agents.Standing:
    """How the policy does among random agents, on deals played from every seat."""
    agent = ModuleAgent(SelfPlayEnv(GAME).game, algorithm.get_module("policy"))
    return catbox_agents.evaluate(agent.game, [agent, "random"], num_deals, seed=0).standings[0]


def main(updates: int = 10) -> None:
    """Train, and print how the policy does."""
    ray.init("local", logging_level="ERROR", log_to_driver=False, include_dashboard=False)
    algorithm = make_config().build_algo()
    for update in range(1, updates + 1):
        results = algorithm.train()
        played = results["env_runners"]["num_episodes"]
        print(
            f"update {update}: {played} games, margin {margin(algorithm, 50).margin:+.2f} among random",
            flush=True,
        )
    found = margin(algorithm)
    print(
        f"PPO, {updates} updates in self-play on every seat: {found.margin:+.2f} ± {found.margin_ci95:.2f} points"
    )
    print("a round more than random agents, in 200 deals from every seat")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
