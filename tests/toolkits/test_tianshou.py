"""Tianshou: the example learns and is paid what the games pay; ``PettingZooEnv`` loses most of it."""

import numpy as np
import pytest
from tianshou.data import Collector, VectorReplayBuffer

from catbox_env import cat_in_the_box_v0
from examples import tianshou_dqn
from tests.conservation import Ledger, compare, payments
from tests.toolkits.running import check_example
from tests.toolkits.ways import tianshou_pettingzoo


def test_the_example_learns() -> None:
    check_example("tianshou_dqn", amount=10_000, gain=1.5)


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_rewards_of_every_seat_are_conserved(seat: int) -> None:
    algorithm = tianshou_dqn.make_algorithm()
    buffer = VectorReplayBuffer(1000, 1)
    with payments() as paid:
        envs = tianshou_dqn.make_envs(1, learner_seat=seat, opponents="heuristic")
        Collector(algorithm, envs, buffer).collect(n_episode=30, reset_before_collect=True)
    rows, _ = buffer.sample(0)  # all, in order
    ends = np.flatnonzero(rows.done)
    assert len(ends) == len(paid) == 30
    returns = [part.sum() for part in np.split(rows.rew, ends + 1)[:-1]]
    assert returns == pytest.approx([game[seat] for game in paid])
    goes_on = ~rows.done[:-1]
    assert (rows.obs_next.obs[:-1][goes_on] == rows.obs.obs[1:][goes_on]).all()


@pytest.mark.parametrize("rounds", [1, "match"])
def test_its_pettingzoo_env_loses_rewards(rounds: int | str) -> None:
    ledger = Ledger(cat_in_the_box_v0.raw_env(num_players=4, rounds=rounds))
    found = compare(ledger, tianshou_pettingzoo(ledger, games=20, seed=0))
    assert all(found.received[seat] < found.paid[seat] for seat in found.paid), found
    assert found.foreign > 0.9 * found.transitions, found
