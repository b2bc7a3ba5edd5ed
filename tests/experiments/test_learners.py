"""PPO as the study `learning` varies it: each setting does what its name says, and their defaults nothing."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
import torch
from catbox_train.algorithms.ppo.ppo import PPO

from catbox_train.config import TrainConfig, load_config
from experiments.learners import VariedPPO
from tests.train.ppo_runs import SMALL, trainer_of


def varied(**settings: object) -> TrainConfig:
    return load_config(overrides={**SMALL, "algorithm": "experiments.learners:VariedPPO", **settings})


def made(**settings: object) -> closing[VariedPPO]:
    config = varied(**settings).resolved()
    return closing(VariedPPO(config, config.make_game()))


def test_the_defaults_are_ppo() -> None:
    with trainer_of(load_config(overrides=SMALL).resolved()) as plain, made() as trainer:
        for each in (plain, trainer):
            each.update(0.0)
            each.update(1.0)
        assert torch.equal(trainer.weights, plain.weights)
        played, expected = trainer.policy().arrays(), plain.policy().arrays()
        assert all(np.array_equal(played[name], array) for name, array in expected.items())


def test_the_policy_that_plays_is_the_average_over_the_steps() -> None:
    with made(averaging=0.75, epochs=1, minibatch_size=SMALL["batch_size"]) as trainer:
        first = trainer.weights.detach().clone()
        trainer.update(0.0)
        second = trainer.weights.detach().clone()
        trainer.update(0.0)
        third = trainer.weights.detach()
        assert not torch.equal(second, third)
        expected = 0.75 * (0.75 * first + 0.25 * second) + 0.25 * third
        assert torch.allclose(trainer.average, expected, atol=1e-6)


def test_values_have_a_lambda_of_their_own() -> None:
    """With 1, what they learn is what the seat was paid; the advantages stay as they are."""
    with (
        made(gae_lambda=0.5, value_lambda=1.0) as trainer,
        made(gae_lambda=1.0) as other,
        made(gae_lambda=0.5) as half,
    ):
        for each in (trainer, other, half):
            each.collect(0.0)
            each.collect(0.0)  # with decisions that were carried
        ready = trainer.ready
        assert np.array_equal(trainer.advantages, half.advantages)
        assert np.allclose(trainer.returns.reshape(-1)[ready], other.returns.reshape(-1)[ready])
        assert not np.allclose(trainer.returns.reshape(-1)[ready], half.returns.reshape(-1)[ready])


def test_the_largest_advantages_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[np.ndarray] = []

    def record(
        trainer: PPO, loss: object, ready: np.ndarray, num_minibatches: int, rate: float
    ) -> dict[str, float]:
        learned.append(ready)
        assert num_minibatches == 2
        return {"largest_logit": 0.0}

    monkeypatch.setattr(PPO, "make_steps", record)
    with made(largest_advantages=0.5, minibatch_size=SMALL["batch_size"] // 4) as trainer:
        trainer.collect(0.0)
        trainer.learn(0.0)
        sizes = np.abs(trainer.advantages.reshape(-1))
        left = np.setdiff1d(trainer.ready, learned[0])
        assert abs(len(learned[0]) - len(left)) <= 1
        assert sizes[learned[0]].min() >= sizes[left].max()


def test_the_kl_divergence_is_part_of_the_loss() -> None:
    with made(kl_weight=1e3, epochs=8) as trainer, made(epochs=8) as plain:
        held = [each.update(0.0)["learning/kl"] for each in (trainer, plain)]
        assert 0 < held[0] < 0.5 * held[1]
