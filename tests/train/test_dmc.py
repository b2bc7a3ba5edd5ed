"""Deep Monte Carlo: the returns, the exploration, the loss, and that it learns."""

from __future__ import annotations

import copy
from contextlib import closing
from typing import Any

import numpy as np
import pytest
import torch
from catbox_train.algorithms.dmc.dmc import DMC
from catbox_train.algorithms.dmc.exploration import epsilon_greedy
from catbox_train.opponents import PAST

from tests.train.agents_in_training import HIGHEST
from tests.train.ppo_runs import SMALL, small

#: Games longer than a batch.
MATCH = {**SMALL["game_options"], "rounds": 3}  # type: ignore[dict-item]
ALONE: dict[str, Any] = {
    "algorithm": "dmc",
    "game_options": MATCH,
    "workers": 1,
    "num_envs": 16,
    "batch_size": 128,
}


def made(**settings: Any) -> closing[DMC]:
    """To be used with ``with``."""
    config = small(**{**ALONE, **settings})
    return closing(DMC(config, config.make_game()))


# Returns.


@pytest.mark.parametrize("opponents", [{}, {HIGHEST: 0.5, PAST: 0.3}])
def test_every_decision_is_learned_from_once_with_its_return(opponents: dict[str, float]) -> None:
    """Over many short batches, beside a record of all games that is added up when they are over."""
    # Of each game: the open decisions (seat, what it saw, action, what the seat had been paid before).
    running: list[list[tuple[int, bytes, int, float]]] = [[] for _ in range(16)]
    paid = np.zeros((16, 3))
    expected: list[tuple[bytes, int, float]] = []
    learned: list[tuple[bytes, int, float]] = []

    def recorded(row: int) -> None:
        act(row)
        for game in range(16):
            seat = int(buffer.seats[row, game])
            if buffer.learns[row, game]:
                seen, action = buffer.observations[row, game].tobytes(), int(buffer.actions[row, game])
                running[game].append((seat, seen, action, paid[game, seat]))
            paid[game] += buffer.rewards[row, game]
            if buffer.terminated[row, game]:
                expected.extend(
                    (seen, action, paid[game, seat] - had) for seat, seen, action, had in running[game]
                )
                running[game].clear()
                paid[game] = 0

    with made(opponents_in_training=opponents, past_every=1) as algorithm:
        worker, buffer = algorithm.workers[0], algorithm.buffer
        act, worker.act = worker.act, recorded  # type: ignore[method-assign]
        for _ in range(30):
            algorithm.collect(0.0)
            rows, games = np.nonzero(algorithm.known)
            seen = [observation.tobytes() for observation in buffer.observations[rows, games]]
            returns = algorithm.returns[rows, games].tolist()
            learned += zip(seen, buffer.actions[rows, games].tolist(), returns, strict=True)
            algorithm.updates_done += 1
            algorithm.count_games()
            if algorithm.updates_done % 7 == 0:  # to save changes nothing
                algorithm.restore(copy.deepcopy(algorithm.state()), algorithm.updates_done)
    assert len(learned) == len(expected) > 1000
    assert sorted(learned) == sorted(expected)


# Exploration.


@pytest.mark.nojit
@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.0])
def test_actions_are_the_best_or_with_a_small_chance_any_legal_one(epsilon: float) -> None:
    rng, count = np.random.default_rng(3), 4000
    values = np.tile(np.array([3, 1, 2, 9, 0, 7], np.float32), (count, 1))
    masks = np.tile(np.array([True, True, True, False, True, False]), (count, 1))
    actions = np.full(count, -1)
    epsilon_greedy(values, masks, rng.random(count), epsilon, actions)
    frequency = np.bincount(actions, minlength=6) / count
    expected = epsilon / 4 * masks[0] + (1 - epsilon) * np.array([1, 0, 0, 0, 0, 0])
    assert np.abs(frequency - expected).max() < 0.03
    assert (frequency[~masks[0]] == 0).all()


@pytest.mark.nojit
def test_a_value_that_is_not_finite_still_gives_a_legal_action() -> None:
    values = np.full((3, 4), np.nan, np.float32)
    masks = np.array([[False, True, True, False]] * 3)
    actions = np.zeros(3, np.int64)
    epsilon_greedy(values, masks, np.array([0.0, 0.5, 0.999]), 0.1, actions)
    assert masks[np.arange(3), actions].all()


# The loss.


@pytest.mark.parametrize("action_features", [False, True])
def test_a_step_follows_the_squared_error_of_the_actions_that_were_taken(
    device: str, action_features: bool
) -> None:
    """Adam's first moment after a step from nothing is a tenth of the gradient."""
    settings = {"batch_size": 1024, "minibatch_size": 4096, "epochs": 1, "max_grad_norm": 1e9}
    with made(action_features=action_features, device=device, **settings) as algorithm:
        algorithm.collect(0.0)
        networks = copy.deepcopy(algorithm.networks)
        buffer, (rows, games) = algorithm.buffer, np.nonzero(algorithm.known)
        outputs = networks["actor"](torch.from_numpy(buffer.observations[rows, games]), None)
        masks = buffer.masks[rows, games]
        values, of_features = outputs[:, : masks.shape[1]], outputs[:, masks.shape[1] :]
        if action_features:
            scaled = torch.from_numpy(buffer.action_features[rows, games]) * networks["actor"].action_scale
            values = values + (scaled * of_features[:, None]).sum(2)
        taken = values.gather(1, torch.from_numpy(buffer.actions[rows, games])[:, None])[:, 0]
        returns = torch.from_numpy(algorithm.returns[rows, games])
        expected = 0.5 * (taken - returns / returns.std(correction=0)).square().mean()
        expected.backward()
        gradient = torch.cat([p.grad.reshape(-1) for p in networks.parameters() if p.grad is not None])
        metrics = algorithm.learn(0.0)
        assert metrics["value_loss"] == pytest.approx(expected.item(), rel=1e-5)
        assert torch.allclose(algorithm.moments()["exp_avg"].cpu() * 10, gradient, atol=1e-5)
        assert gradient.abs().max() > 1e-3


# Learning.


def test_the_values_are_those_of_the_way_it_plays() -> None:
    """Trained on random play, the mean value of the actions that were taken comes to the mean return, in points."""
    sizes = {"batch_size": 2048, "num_envs": 64, "minibatch_size": 256}
    with made(epsilon=1.0, epsilon_end=1.0, **sizes) as algorithm:
        for _ in range(15):
            metrics = algorithm.update(0.0)
        algorithm.collect(0.0)
        buffer, (rows, games) = algorithm.buffer, np.nonzero(algorithm.known)
        masks, actions = buffer.masks[rows, games], buffer.actions[rows, games]
        values = algorithm.policy().logits(
            buffer.observations[rows, games], buffer.action_features[rows, games], masks
        )
        taken = values[np.arange(len(rows)), actions] * algorithm.scale
        returns = algorithm.returns[rows, games]
        assert taken.mean() == pytest.approx(returns.mean(), abs=0.15 * float(returns.std()))
        assert np.corrcoef(taken, returns)[0, 1] > 0.2
        assert metrics["learning/explained_variance"] > 0.05
