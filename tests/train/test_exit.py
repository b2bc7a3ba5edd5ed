"""Expert iteration: what is searched, the targets, the window, the loss, where it starts, and that it learns."""

from __future__ import annotations

import copy
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from catbox_train.algorithms.exit.exit import ExpertIteration, improved_policy

from catbox_agents import RolloutSearch, policy_target
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_agents.networks.policy_agent import PolicyAgent
from tests.train.agents_in_training import HIGHEST
from tests.train.ppo_reference import masked_log_probabilities
from tests.train.ppo_runs import SMALL, small

SETTINGS: dict[str, Any] = {
    "algorithm": "exit",
    "workers": 1,
    "num_envs": 16,
    "batch_size": 128,
    "minibatch_size": 16,
    "search_share": 0.25,
    "search_worlds": 4,
    "window": 3,
}


def made(**settings: Any) -> closing[ExpertIteration]:
    """To be used with ``with``."""
    config = small(**{**SETTINGS, **settings})
    return closing(ExpertIteration(config, config.make_game()))


# What is searched.


def test_decisions_of_the_learner_with_a_choice_are_searched() -> None:
    with made(search_share=1.0, opponents_in_training={HIGHEST: 0.7}) as algorithm:
        for _ in range(3):
            algorithm.update(0.0)
        buffer, (done,), window = algorithm.buffer, algorithm.searched, algorithm.windows[0].arrays
        choices = buffer.learns & (buffer.masks.sum(axis=2) > 1)
        assert 0 < done.decisions == choices.sum() < 128
        slot = slice(2 * 128, 2 * 128 + done.decisions)
        expected = sorted(row.tobytes() for row in buffer.observations[choices])
        assert sorted(row.tobytes() for row in window["observations"][slot]) == expected
        assert (window["masks"][slot].sum(axis=1) > 1).all()
        assert not window["masks"][slot.stop :].any()
        assert algorithm.learn(1.0)["searched"] == done.decisions


@pytest.mark.parametrize("rollout_policy", ["policy", "heuristic"])
def test_the_targets_are_the_policy_times_what_a_search_says(
    rollout_policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a search of the same decisions with the same seed, its rollouts played by the agent of a checkpoint."""
    search, seeds = RolloutSearch.search, []

    def record(self: RolloutSearch, observations: Any, masks: Any, seed: Any) -> Any:
        seeds.append(seed)
        return search(self, observations, masks, seed)

    with made(rollout_policy=rollout_policy, temperature=0.7) as algorithm:
        game, weights = algorithm.game, algorithm.weights.detach()  # a policy that prefers some actions
        weights += torch.randn(weights.shape, generator=torch.Generator().manual_seed(1)) * 0.1
        with monkeypatch.context() as patch:
            patch.setattr(RolloutSearch, "search", record)
            algorithm.collect(0.0)
        window, (done,) = algorithm.windows[0], algorithm.searched
        rows = window.filled()
        assert len(rows) == done.decisions == 32
        held = {name: array[rows] for name, array in window.arrays.items()}
        seen, masks = held["observations"][:, : game.observation_layout.size], held["masks"]
        policy = algorithm.policy()
        player = PolicyAgent(policy, game) if rollout_policy == "policy" else rollout_policy
        found = RolloutSearch(game, player, 4).search(seen, masks, seeds[0])
        assert found.visits.sum() == done.rollouts
        logits = policy.logits(held["observations"], held["action_features"], masks)
        prior = masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks)).exp().numpy()
        expected = prior * policy_target(found, 0.7)
        expected /= expected.sum(axis=1, keepdims=True)
        assert np.allclose(held["targets"], expected, atol=1e-5)
        assert np.ptp(prior, axis=1).max() > 0.2
        assert done.corrected == (prior.argmax(axis=1) != found.actions).sum()


@pytest.mark.nojit
def test_a_policy_that_rules_out_what_the_search_chooses_follows_the_search() -> None:
    far = np.array([[2000.0, -2000.0, -np.inf]], np.float32)
    assert improved_policy(far, np.array([[0, 1, 0]], np.float32)).tolist() == [[0, 1, 0]]


# The window.


def test_the_window_forgets_the_oldest_update() -> None:
    with made(window=2) as algorithm:
        window, seen = algorithm.windows[0], []
        for _ in range(5):
            algorithm.update(0.0)
            held = window.arrays["observations"]
            assert len(window.filled()) == min(algorithm.updates_done, 2) * 32
            seen.append(held[(algorithm.updates_done - 1) % 2 * 32 :][:32].copy())
        assert np.array_equal(held, np.concatenate([seen[4], seen[3]]))


# The loss.


@pytest.mark.parametrize("action_features", [False, True])
def test_a_step_follows_the_cross_entropy_less_the_entropy(device: str, action_features: bool) -> None:
    """Adam's first moment after a step from nothing is a tenth of the gradient."""
    settings = {"epochs": 1, "minibatch_size": 4096, "entropy": 0.3, "max_grad_norm": 1e9}
    with made(action_features=action_features, device=device, **settings) as algorithm:
        algorithm.collect(0.0)
        networks = copy.deepcopy(algorithm.networks)
        window = algorithm.windows[0]
        held = {name: torch.from_numpy(array[window.filled()]) for name, array in window.arrays.items()}
        outputs, num_actions = networks["actor"](held["observations"], None), held["masks"].shape[1]
        logits, of_features = outputs[:, :num_actions], outputs[:, num_actions:]
        if action_features:
            scaled = held["action_features"] * networks["actor"].action_scale
            logits = logits + (scaled * of_features[:, None]).sum(2)
        log_probabilities = masked_log_probabilities(logits, held["masks"])
        entropy = -(log_probabilities.exp() * log_probabilities).sum(1).mean()
        cross_entropy = -(held["targets"] * log_probabilities).sum(1).mean()
        (cross_entropy - 0.3 * entropy).backward()
        gradient = torch.cat([p.grad.reshape(-1) for p in networks.parameters() if p.grad is not None])
        metrics = algorithm.learn(0.0)
        assert torch.allclose(algorithm.moments()["exp_avg"].cpu() * 10, gradient, atol=1e-5)
        assert gradient.abs().max() > 1e-3
        assert metrics["entropy"] == pytest.approx(entropy.item(), rel=1e-4)
        of_targets = -torch.special.xlogy(held["targets"], held["targets"]).sum(1).mean()
        assert metrics["target_kl"] == pytest.approx((cross_entropy - of_targets).item(), abs=1e-5)


# Where it starts.


def checkpoint(path: Path, **settings: Any) -> str:
    """A checkpoint of a policy with the settings of PPO, at ``path``."""
    with made(**settings) as algorithm:
        save_checkpoint(path, algorithm.policy(), algorithm.game)
    return str(path)


def test_it_starts_from_a_policy_and_goes_on_from_its_own(tmp_path: Path) -> None:
    path = checkpoint(tmp_path / "policy.safetensors", seed=5)
    with made(start_from=path) as algorithm, made(seed=5) as other:
        assert torch.equal(algorithm.weights, other.weights)
        algorithm.update(0.0)
        assert not torch.equal(algorithm.weights, other.weights)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": [8]}, r"holds the network .*'hidden': \[8\].*require .*'hidden': \[16\].*set hidden"),
        ({"action_features": False}, "holds the network .*action_features.*set hidden"),
        ({"game_options": {**SMALL["game_options"], "num_ranks": 4}}, "start_from: .*was trained for"),  # type: ignore[dict-item]
    ],
)
def test_a_policy_that_does_not_fit_is_refused(
    tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    path = checkpoint(tmp_path / "policy.safetensors", **settings)
    with pytest.raises(ValueError, match=message):
        made(start_from=path)


def test_a_network_of_deep_monte_carlo_is_no_policy_to_start_from(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    with made() as algorithm:
        save_checkpoint(path, algorithm.policy(), algorithm.game, {"algorithm": "dmc"})
    with pytest.raises(ValueError, match=r"^start_from = .* was trained by dmc: its network outputs values"):
        made(start_from=str(path))
