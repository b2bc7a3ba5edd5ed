"""AgileRL: the example learns and is paid what the games pay; advantages by GAE end a game one decision early."""

import numpy as np
import pytest
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts

from examples import agilerl_ppo
from tests.conservation import payments
from tests.toolkits.running import check_example, returns_of_ended


def test_the_example_learns() -> None:
    check_example("agilerl_ppo", amount=25, gain=1.5)


def collected(agent: PPO, envs: object) -> dict[str, np.ndarray]:
    """One rollout: rewards, dones, values, returns and advantages, each (steps, envs)."""
    collect_rollouts(agent, envs, n_steps=agilerl_ppo.NUM_STEPS)
    buffer = agent.rollout_buffer.buffer
    names = ("rewards", "dones", "values", "returns", "advantages")
    return {name: buffer[name].numpy().reshape(agilerl_ppo.NUM_STEPS, envs.num_envs).copy() for name in names}


def to_the_end(rewards: np.ndarray, dones: np.ndarray) -> np.ndarray:
    """What is still paid from each step to the end of its game; NaN where the rollout does not see that end."""
    left, known = np.full(rewards.shape, np.nan), np.full(rewards.shape[1], np.nan)
    for step in reversed(range(len(rewards))):
        known = rewards[step] + np.where(dones[step] > 0, 0.0, known)
        left[step] = known
    return left


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_rewards_of_every_seat_are_conserved_and_reach_every_decision(seat: int) -> None:
    torch.manual_seed(seat)
    with payments() as paid:
        envs = agilerl_ppo.make_envs(8, learner_seat=seat, opponents="heuristic")
        found = collected(agilerl_ppo.make_agent(envs), envs)
    assert len(paid) >= 16
    assert returns_of_ended(found["rewards"], found["dones"]) == pytest.approx(
        sorted(game[seat] for game in paid)
    )
    left = to_the_end(found["rewards"], found["dones"])
    known = ~np.isnan(left)
    assert found["returns"][known] == pytest.approx(left[known], abs=1e-4)


def test_advantages_by_gae_keep_the_last_payment_from_all_but_the_last_action() -> None:
    torch.manual_seed(0)
    envs = agilerl_ppo.make_envs(8)
    agent = PPO(
        envs.single_observation_space, envs.single_action_space, learn_step=8 * agilerl_ppo.NUM_STEPS, num_envs=8,
        gamma=1.0, gae_lambda=1.0,
    )  # fmt: skip
    found = collected(agent, envs)
    left, dones = to_the_end(found["rewards"], found["dones"]), found["dones"] > 0
    # One before the end: its return should be that of the last action, for nothing is paid between them.
    before_last = np.zeros_like(dones)
    before_last[:-1] = dones[1:]
    assert np.abs(left[before_last]).max() > 1
    assert found["returns"][before_last] == pytest.approx(0.0, abs=1e-4)
