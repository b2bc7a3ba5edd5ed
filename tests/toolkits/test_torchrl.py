"""TorchRL: the example learns and is paid what the games pay; its wrapper pays, but not in a seat's own rows."""

import pytest
import torch
from torchrl.envs.utils import check_env_specs

from catbox_env import cat_in_the_box_v0
from examples import torchrl_ppo
from tests.conservation import Ledger, compare, payments
from tests.toolkits.running import check_example, returns_of_ended
from tests.toolkits.ways import torchrl_all_rows, torchrl_own_rows


def test_the_example_learns() -> None:
    check_example("torchrl_ppo", amount=25, gain=2.5)


def test_its_own_check_passes() -> None:
    check_env_specs(torchrl_ppo.make_env(4, illegal_action="random_legal"))


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_rewards_of_every_seat_are_conserved(seat: int) -> None:
    torch.manual_seed(seat)
    with payments() as paid:
        env = torchrl_ppo.make_env(4, learner_seat=seat, opponents="heuristic")
        policy = torchrl_ppo.make_policy(env, torchrl_ppo.Actor())
        rows = env.rollout(100, policy, break_when_any_done=False)
    rewards, done = rows["next", "reward"][..., 0].numpy(), rows["next", "done"][..., 0].numpy()
    assert len(paid) > 20
    assert returns_of_ended(rewards.T, done.T) == pytest.approx(sorted(game[seat] for game in paid))
    following, seen = rows["next", "observation"][:, :-1], rows["observation"][:, 1:]
    goes_on = ~torch.from_numpy(done[:, :-1])
    assert (following[goes_on] == seen[goes_on]).all()


@pytest.mark.parametrize("rounds", [1, "match"])
def test_its_wrapper_pays_in_the_rows_of_other_seats(rounds: int | str) -> None:
    ledger = Ledger(cat_in_the_box_v0.raw_env(num_players=4, rounds=rounds))
    assert compare(ledger, torchrl_all_rows(ledger, games=2, seed=0)).conserved()
    ledger = Ledger(cat_in_the_box_v0.raw_env(num_players=4, rounds=rounds))
    found = compare(ledger, torchrl_own_rows(ledger, games=2, seed=0))
    assert not found.conserved()
    assert not found.foreign
