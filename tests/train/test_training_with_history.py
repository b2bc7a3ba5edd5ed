"""Training of networks that take histories: what is kept, the gradient, and runs that go on exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import catbox_agents
from catbox_env import Vec
from catbox_env.core.kernels import UNUSED
from catbox_train.algorithms.ppo.loss import loss_gradient
from catbox_train.algorithms.ppo.networks import ActorCritic
from catbox_train.algorithms.ppo.options import ppo_options
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.runs.loop import train
from catbox_train.self_play.weights import SharedWeights
from tests.train.ppo_reference import outputs_of, ppo_losses
from tests.train.ppo_runs import BRIEF, quiet, small, worker_for

ALONE = {"workers": 1, "history": True}
# What is kept, and what is learned from it.


def test_a_row_holds_the_history_of_the_seat_to_move() -> None:
    worker = worker_for(small(**ALONE), seed=5)
    deals, *_ = np.random.SeedSequence(5).spawn(3)
    vec = Vec(worker.vec.game, worker.vec.num_envs, seed=deals, history=True)
    worker.collect()
    for row in range(worker.num_carried, len(worker.seats)):
        assert np.array_equal(worker.histories[row], vec.history)
        vec.step(worker.actions[row])
    assert (worker.histories[worker.num_carried :, :, 3, 0] != UNUSED).any()


@pytest.mark.parametrize("settings", [{}, {"privileged_critic": True, "features": False}])
def test_the_gradient_of_both_networks_is_that_of_automatic_differentiation(
    settings: dict[str, object],
) -> None:
    config = small(**ALONE, **settings, activation="tanh", hidden=[16, 8])
    networks = ActorCritic(config.make_game(), ppo_options(config), config.seed)
    with torch.no_grad():  # at first the actor's answers hardly depend on what it takes
        networks.actor.linear_layers()[-1].weight.mul_(100)
    weights = SharedWeights(networks, "float32", 1)
    worker = Worker(config.make_game(), config, weights, np.random.SeedSequence(0))
    worker.collect()
    rows = worker.ready[::3]
    loss_gradient(worker, rows, size=len(rows), clip=0.2, entropy_weight=0.1)
    names = ("observations", "states", "histories", "action_features", "masks", "actions")
    numbers = ("log_probabilities", "advantages", "returns")
    picked = {name: torch.from_numpy(worker.flat[name][rows]) for name in (*names, *numbers)}
    outputs = outputs_of(networks, picked, worker.options.privileged_critic)
    losses = ppo_losses(*outputs, picked, clip=0.2)
    (losses["policy_loss"] - 0.1 * losses["entropy"] + losses["value_loss"]).backward()
    found = worker.networks.gradient.split([parameter.numel() for parameter in networks.parameters()])
    for part, parameter in zip(found, networks.parameters(), strict=True):
        assert (part - parameter.grad.reshape(-1)).norm() <= 1e-4 * parameter.grad.norm()
        assert parameter.grad.norm() > 1e-3
    assert networks.actor.history is not None
    assert (networks.critic.history is None) == worker.options.privileged_critic


# Whole runs.


def test_a_policy_with_histories_plays_as_an_agent(tmp_path: Path) -> None:
    config = small(history=True, **{**BRIEF, "total_decisions": 512})
    train(config, tmp_path / "run", quiet())
    game = config.make_game()
    agent = catbox_agents.make(tmp_path / "run", game)
    assert agent.needs_history
    vec = Vec(game, 3, seed=1, history=True)
    assert catbox_agents.play_out(vec, [agent, "random", agent]).shape == (3, 3)


def test_a_policy_with_histories_plays_no_rollouts() -> None:
    with pytest.raises(ValueError, match="rollout_policy = 'policy' with history = true: expected another"):
        small(algorithm="exit", history=True)
    assert small(algorithm="exit").algorithm_options
