"""The example in the style of CleanRL learns, and its learner is paid what the games pay its seat."""

import gymnasium
import numpy as np
import pytest
import torch

from examples import cleanrl_ppo
from tests.conservation import payments
from tests.toolkits.running import check_example


class Sums(gymnasium.vector.VectorWrapper):
    """Keeps the return of every game that ends, as a loop sees it."""

    def reset(self, **options):  # type: ignore[no-untyped-def]
        self.running, self.ended = np.zeros(self.num_envs), []
        return super().reset(**options)

    def step(self, actions):  # type: ignore[no-untyped-def]
        observation, rewards, terminated, truncated, info = super().step(actions)
        self.running += rewards
        self.ended += list(self.running[terminated])
        self.running[terminated] = 0
        return observation, rewards, terminated, truncated, info


@pytest.mark.slow
def test_the_example_learns() -> None:
    check_example("cleanrl_ppo", gain=2.5)


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_rewards_of_every_seat_are_conserved(seat: int) -> None:
    torch.manual_seed(seat)
    with payments() as paid:
        envs = Sums(cleanrl_ppo.make_envs(8, learner_seat=seat, opponents="heuristic"))
        cleanrl_ppo.train(cleanrl_ppo.mlp(cleanrl_ppo.GAME.num_actions), envs, updates=2)
    assert len(paid) > 20
    assert sorted(envs.ended) == pytest.approx(sorted(game[seat] for game in paid))
