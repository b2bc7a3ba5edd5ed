"""The example in the style of CleanRL learns, and its learner is paid what the games pay its seat."""

import numpy as np
import pytest
import torch

from examples import cleanrl_ppo
from tests.conservation import payments
from tests.toolkits.running import check_example, returns_of_ended


@pytest.mark.slow
def test_the_example_learns() -> None:
    check_example("cleanrl_ppo", amount=15, gain=2.5, lines=100)


def test_rewards_are_conserved() -> None:
    torch.manual_seed(0)
    with payments() as paid:
        envs = cleanrl_ppo.make_envs(8, learner_seat=2, opponents="heuristic")
        step, steps = envs.step, []
        envs.step = lambda actions: steps.append(step(actions)) or steps[-1]
        cleanrl_ppo.train(cleanrl_ppo.mlp(cleanrl_ppo.GAME.num_actions), envs, updates=2)
    rewards, dones = (np.array([found[k] for found in steps]) for k in (1, 2))
    assert len(paid) > 20
    assert returns_of_ended(rewards, dones) == pytest.approx(sorted(game[2] for game in paid))
