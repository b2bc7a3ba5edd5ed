"""Deep Monte Carlo: the returns, the exploration, the loss, and that its values are those of its play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from catbox_agents.networks.mlp import MLP
from catbox_train.algorithm import DivergedError
from catbox_train.best_responses import _among_copies, fine_tuning
from catbox_train.dmc import DMC, epsilon_greedy
from catbox_train.rollout import Decisions
from tests.train.ppo_runs import made, small
from tests.train.test_ppo import decisions_of


class OwnDMC(DMC):
    """One of a user's own, which other modules know by `SelfPlayAlgorithm.outputs` alone."""


# Returns.


def test_a_return_is_what_the_seat_is_paid_from_the_decision_to_the_end() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        decisions = decisions_of(rng, int(rng.integers(2, 6)), int(rng.integers(1, 40)))
        expected = []
        for row in range(len(decisions)):
            total, place = 0.0, row
            while place >= 0:
                total, place = total + float(decisions.rewards[place]), int(decisions.next_rows[place])
            expected.append(total)
        assert decisions.returns().tolist() == expected


def test_a_return_that_is_not_finite_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer: DMC = made(algorithm="dmc")
    play = trainer.rollout.play

    def spoiled(*given: Any) -> Decisions:
        decisions = play(*given)
        decisions.rewards[0] = np.inf
        return decisions

    monkeypatch.setattr(trainer.rollout, "play", spoiled)
    with pytest.raises(DivergedError, match="a return is not finite"):
        trainer.update(0, 0.0)


# Exploration.


@pytest.mark.nojit
@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.0])
def test_actions_are_the_best_or_with_a_small_chance_any_legal_one(epsilon: float) -> None:
    rng, count = np.random.default_rng(3), 4000
    values = torch.tensor([3.0, 1.0, 2.0, 9.0, 0.0, 7.0]).repeat(count, 1)
    legal = np.array([True, True, True, False, True, False])
    uniforms = torch.from_numpy(rng.random(count))
    actions = epsilon_greedy(values, torch.from_numpy(legal).repeat(count, 1), uniforms, epsilon)
    frequency = np.bincount(actions, minlength=6) / count
    expected = epsilon / 4 * legal + (1 - epsilon) * np.array([1, 0, 0, 0, 0, 0])
    assert np.abs(frequency - expected).max() < 0.03
    assert (frequency[~legal] == 0).all()


@pytest.mark.nojit
@pytest.mark.parametrize("value", [np.nan, -np.inf, np.inf])
def test_a_value_that_is_not_finite_still_gives_a_legal_action(value: float) -> None:
    values = torch.full((4, 6), value)
    masks = torch.tensor([[False, True, True, True, False, False]] * 4)
    uniforms = torch.tensor([0.0, np.nextafter(0.1, 0), 0.5, 0.999], dtype=torch.float64)
    for numbers in (uniforms, uniforms.float()):  # as on the CPU, and as on a GPU
        for epsilon in (0.0, 0.1, torch.tensor(0.1)):
            actions = epsilon_greedy(values, masks, numbers, epsilon)
            assert masks[torch.arange(4), actions].all()


# The loss.


@pytest.mark.parametrize("action_features", [False, True])
def test_a_step_follows_the_squared_error_of_the_actions_that_were_taken(
    device: str, action_features: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adam's first moment after a step from nothing is a tenth of the gradient."""
    settings = {"update_epochs": 1, "minibatch_size": 10**6, "max_grad_norm": 1e9, "device": device}
    trainer: DMC = made(algorithm="dmc", action_features=action_features, **settings)
    play, before = trainer.rollout.play, trainer.learner.weights.detach().cpu().clone()
    held: list[Decisions] = []
    monkeypatch.setattr(trainer.rollout, "play", lambda *given: held.append(play(*given)) or held[0])
    _, metrics = trainer.update(0, 0.0)
    learned = held[0].rows.cpu()
    rows = {name: column.cpu()[learned] for name, column in held[0].columns.items()}
    network = MLP(trainer.rollout.inputs, 0, trainer.config.hidden)
    torch.nn.utils.vector_to_parameters(before, network.parameters())
    outputs, num_actions = network.outputs(rows["inputs"]), rows["masks"].shape[1]
    values = outputs[:, :num_actions]
    if action_features:
        scaled = rows["action_features"].float() * network.action_scale
        values = values + (scaled * outputs[:, None, num_actions:]).sum(2)
    taken = values.gather(1, rows["actions"][:, None])[:, 0]
    returns = held[0].returns().cpu()[learned]
    assert trainer.scale == pytest.approx(returns.std(correction=0).item(), rel=1e-5)
    expected = 0.5 * (taken - returns / trainer.scale).square().mean()
    expected.backward()
    gradient = torch.cat([p.grad.reshape(-1) for p in network.parameters() if p.grad is not None])
    assert metrics["learning/value_loss"] == pytest.approx(expected.item(), rel=1e-5)
    assert torch.allclose(trainer.learner.moments["exp_avg"].cpu() * 10, gradient, atol=1e-5)
    assert gradient.abs().max() > 1e-3


def test_the_values_are_those_of_the_way_it_plays() -> None:
    """Trained on random play, the mean value of the actions that were taken comes to the mean return, in points."""
    sizes: dict[str, Any] = {"games_per_update": 170, "minibatch_size": 256}
    trainer: DMC = made(algorithm="dmc", epsilon=1.0, epsilon_end=1.0, **sizes)
    for update in range(15):
        _, metrics = trainer.update(update, 0.0)
    found = trainer.rollout.play(15, trainer.network, trainer.choose)
    columns = {name: column.numpy() for name, column in found.columns.items()}
    values = trainer.policy().network.logits(*map(columns.get, ("inputs", "action_features", "masks")))
    taken = values[np.arange(len(found)), columns["actions"]] * trainer.scale
    returns = found.returns().numpy()
    assert taken.mean() == pytest.approx(returns.mean(), abs=0.15 * float(returns.std()))
    assert np.corrcoef(taken, returns)[0, 1] > 0.2
    assert metrics["learning/explained_variance"] > 0.05


def test_the_share_of_random_actions_falls_linearly() -> None:
    trainer = made(algorithm="dmc", epsilon=0.5, epsilon_end=0.1)
    for progress, epsilon in ((0.0, 0.5), (0.5, 0.3), (0.75, 0.2)):
        assert trainer.update(0, progress)[1]["learning/epsilon"] == pytest.approx(epsilon)


@pytest.mark.parametrize("algorithm", ["dmc", "tests.train.test_dmc:OwnDMC"])
def test_no_policy_starts_from_values(algorithm: str, tmp_path: Path) -> None:
    made(algorithm=algorithm).policy().save(tmp_path)
    with pytest.raises(ValueError, match=r"^start_from = .* holds a network that outputs values of actions"):
        made(start_from=str(tmp_path))
    assert fine_tuning(str(tmp_path), small()) == {}
    made().policy().save(tmp_path / "ppo")
    assert not _among_copies(str(tmp_path / "ppo"), small(algorithm=algorithm), 1, False).start_from
