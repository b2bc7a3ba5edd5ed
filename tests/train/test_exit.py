"""Expert iteration: what is searched, the targets, the window, the loss, where it starts, and what is refused."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from catbox_agents import RolloutSearch, policy_target
from catbox_train.exit import ExpertIteration, improved_policy
from catbox_train.runs.loop import train
from tests.train import ppo_runs
from tests.train.agents_in_training import HIGHEST, REMEMBERING
from tests.train.ppo_reference import masked_log_probabilities
from tests.train.ppo_runs import GAME, quiet, small

SETTINGS: dict[str, Any] = {
    "algorithm": "exit",
    "games_per_update": 11,
    "minibatch_size": 16,
    "search_share": 0.25,
    "search_worlds": 4,
    "window": 3,
}


def made(**settings: Any) -> ExpertIteration:
    found: ExpertIteration = ppo_runs.made(**{**SETTINGS, **settings})
    return found


# What is searched.


def test_the_decisions_of_the_learner_are_searched() -> None:
    trainer = made(search_share=1.0, opponents={HIGHEST: 0.7}, game_options={**GAME, "bids": [1]})
    trainer.player = trainer.actor.frozen(trainer.precision)
    decisions = trainer.rollout.play(0, trainer.choose)
    searched, metrics = trainer.search(decisions, 0)
    assert 0 < metrics["searched"] == len(decisions) < 11 * 12
    expected = sorted(row.tobytes() for row in decisions.columns["inputs"].numpy())
    assert sorted(row.tobytes() for row in searched["inputs"]) == expected


@pytest.mark.parametrize("rollout_policy", ["policy", "heuristic"])
def test_the_targets_are_the_policy_times_what_a_search_says(
    rollout_policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a search of the same decisions with the same seed, its rollouts played by the agent of a checkpoint."""
    search, seeds = RolloutSearch.search, []

    def record(self: RolloutSearch, observations: Any, masks: Any, seed: Any) -> Any:
        seeds.append(seed)
        return search(self, observations, masks, seed)

    trainer = made(rollout_policy=rollout_policy, temperature=0.7)
    game, weights = trainer.game, trainer.learner.weights.detach()  # a policy that prefers some actions
    weights += torch.randn(weights.shape, generator=torch.Generator().manual_seed(1)) * 0.1
    trainer.player = trainer.actor.frozen(trainer.precision)
    with monkeypatch.context() as patch:
        patch.setattr(RolloutSearch, "search", record)
        held, metrics = trainer.search(trainer.rollout.play(0, trainer.choose), 0)
    assert len(held["inputs"]) == metrics["searched"] == 33
    seen, masks = np.ascontiguousarray(held["inputs"][:, : game.observation_layout.size]), held["masks"]
    policy = trainer.policy()
    player = policy if rollout_policy == "policy" else rollout_policy
    found = RolloutSearch(game, player, 4).search(seen, masks, seeds[0])
    assert found.visits.sum() == metrics["rollouts"]
    logits = policy.network.logits(held["inputs"], held["action_features"], masks)
    prior = masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks)).exp().numpy()
    expected = prior * policy_target(found, 0.7)
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(held["targets"], expected, atol=1e-5)
    assert np.ptp(prior, axis=1).max() > 0.2
    assert metrics["corrected"] == pytest.approx((prior.argmax(axis=1) != found.actions).mean())


@pytest.mark.nojit
def test_a_policy_that_rules_out_what_the_search_chooses_follows_the_search() -> None:
    far = np.array([[2000.0, -2000.0, -np.inf]], np.float32)
    assert improved_policy(far, np.array([[0, 1, 0]], np.float32)).tolist() == [[0, 1, 0]]


def test_the_window_forgets_the_oldest_update() -> None:
    trainer, seen = made(window=2), []
    for update in range(4):
        trainer.update(update, 0.0)
        seen.append(trainer.window[-1]["inputs"])
        assert len(trainer.window) == min(update + 1, 2)
        assert trainer.learner.moments["step"] == sum(2 * min(k + 1, 2) for k in range(update + 1))
    np.testing.assert_equal([part["inputs"] for part in trainer.window], seen[2:])


# The loss.


@pytest.mark.parametrize("action_features", [False, True])
def test_a_step_follows_the_cross_entropy_less_the_entropy(device: str, action_features: bool) -> None:
    """Adam's first moment after a step from nothing is a tenth of the gradient."""
    settings = {"update_epochs": 1, "minibatch_size": 4096, "ent_coef": 0.3, "max_grad_norm": 1e9}
    trainer = made(action_features=action_features, device=device, **settings)
    network = copy.deepcopy(trainer.actor).cpu()
    _, metrics = trainer.update(0, 0.0)
    held = {name: torch.from_numpy(array) for name, array in trainer.window[0].items()}
    for parameter in network.parameters():
        parameter.grad = None
    outputs, num_actions = network(held["inputs"]), held["masks"].shape[1]
    logits = outputs[:, :num_actions]
    if action_features:
        scaled = held["action_features"] * network.action_scale
        logits = logits + (scaled * outputs[:, None, num_actions:]).sum(2)
    log_probabilities = masked_log_probabilities(logits, held["masks"])
    entropy = -(log_probabilities.exp() * log_probabilities).sum(1).mean()
    cross_entropy = -(held["targets"] * log_probabilities).sum(1).mean()
    (cross_entropy - 0.3 * entropy).backward()
    gradient = torch.cat([p.grad.reshape(-1) for p in network.parameters() if p.grad is not None])
    assert torch.allclose(trainer.learner.moments["exp_avg"].cpu() * 10, gradient, atol=1e-5)
    assert gradient.abs().max() > 1e-3
    assert metrics["learning/entropy"] == pytest.approx(entropy.item(), rel=1e-4)
    of_targets = -torch.special.xlogy(held["targets"], held["targets"]).sum(1).mean()
    assert metrics["learning/target_kl"] == pytest.approx((cross_entropy - of_targets).item(), abs=1e-5)


# Where it starts, and what is refused.


def test_it_starts_from_a_policy_and_goes_on_from_its_own(tmp_path: Path) -> None:
    other = made(seed=5)
    other.policy().save(tmp_path)
    trainer = made(start_from=str(tmp_path))
    assert torch.equal(trainer.learner.weights, other.learner.weights)
    trainer.update(0, 0.0)
    assert not torch.equal(trainer.learner.weights, other.learner.weights)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": [8]}, r"holds the network .*'hidden': \[8\].*require .*'hidden': \[16\].*set hidden"),
        ({"action_features": False}, "holds the network .*action_features.*set hidden"),
        ({"game_options": {**GAME, "num_ranks": 4}}, "start_from: .*was trained for"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    made(**settings).policy().save(tmp_path)
    with pytest.raises(ValueError, match=message):
        made(start_from=str(tmp_path))


def test_a_network_of_deep_monte_carlo_is_no_policy_to_start_from(tmp_path: Path) -> None:
    made().policy().save(tmp_path, {"algorithm": "dmc"})
    with pytest.raises(ValueError, match=r"^start_from = .* was trained by dmc: its network outputs values"):
        made(start_from=str(tmp_path))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody", "^rollout_policy: unknown agent 'nobody'; expected"),
        ("/no/such/checkpoint", "^rollout_policy: .*/no/such/checkpoint"),
        (REMEMBERING, "rollout_policy: .*needs its history"),
    ],
)
def test_a_rollout_policy_that_cannot_play_is_refused_before_training(
    tmp_path: Path, spec: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        train(small(**SETTINGS, rollout_policy=spec), tmp_path / "run", quiet())
    assert not (tmp_path / "run").exists()
