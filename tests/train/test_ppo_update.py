"""What PPO collects, and what an update makes of it, wherever its networks are: compiled on the CPU, or in torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import catbox_agents
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_env import Vec
from catbox_train.algorithms.ppo import algorithm as ppo
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.algorithms.ppo.loss import loss_gradient
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.runs.loop import train
from tests.train.ppo_reference import ReferenceUpdate, masked_log_probabilities
from tests.train.ppo_runs import BRIEF, quiet, small, trainer_of, worker_for

#: Games of six rounds: rewards come in the middle of a game.
MATCH = {"num_players": 3, "num_ranks": 3, "copies": 4, "rounds": 6}
#: What the networks, the games and the update may be made of.
KINDS: dict[str, dict[str, Any]] = {
    "one worker": {"workers": 1, "features": False},
    "tanh": {"activation": "tanh", "hidden": [16, 8], "gae_lambda": 0.5},
    "everything": {"privileged_critic": True, "features": True, "action_features": True},
    "history": {"history": True, "hidden": [16, 8]},
    "opponents": {"opponents_in_training": {"random": 0.4, "past": 0.3}, "past_every": 1},
    "four workers": {"workers": 4, "max_grad_norm": 0.3},
    "bfloat16": {"precision": "bfloat16", "epochs": 1},
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_is_that_of_plain_torch(place: torch.device | None, kind: str) -> None:
    """Weights, moments and metrics after epochs of one minibatch, where the order of rows does not matter. Half of the
    decisions have become likelier since they were taken: their ratio is clipped."""
    settings = {
        "max_grad_norm": 1e9,
        "epochs": 3,
        "minibatch_size": 512,
        "learning_rate": 1e-12,
        **KINDS[kind],
    }
    generator = torch.Generator().manual_seed(1)
    with trainer_of(small(game_options=MATCH, **settings)) as trainer:
        weights = trainer.weights.vector
        weights += 0.1 * torch.randn(weights.shape, generator=generator)  # a policy that prefers some actions
        trainer.weights.refresh()
        trainer.update(0)
        trainer.begin_update(0)
        trainer.collect()
        assert (trainer.on_device is None) == (place is None)
        check_what_was_collected(trainer, rough=0.1 if kind == "bfloat16" else 1e-4)

        for worker in trainer.workers:
            worker.log_probabilities[:, ::2] -= np.float32(0.4)
        expected, before = ReferenceUpdate(trainer), weights.clone()
        expected.learn(2e-3, 0.3)
        metrics = trainer.learn(2e-3, 0.3)
        exact = 0.02 if kind == "bfloat16" else 1e-4
        expected.metrics |= {"learning_rate": 2e-3, "entropy_weight": 0.3}
        assert metrics == pytest.approx(expected.metrics, rel=10 * exact, abs=0.1 * exact)
        assert 0.2 < metrics["clip_fraction"] < 0.8
        for part in trainer.weights.parts.values():
            for name in ("exp_avg", "exp_avg_sq"):
                found, wanted = trainer.optimizer.state[name][part], getattr(expected, name)[part]
                assert (found - wanted).norm() < 2 * exact * wanted.norm() > 0
        wanted = expected.weights.detach()
        assert (weights - wanted).norm() < 10 * exact * (before - wanted).norm() > 0


def check_what_was_collected(trainer: PPO, rough: float) -> None:
    """The policy has not changed since: what was noted with each decision, carried or not, follows from its row."""
    expected = ReferenceUpdate(trainer)
    with torch.no_grad():
        logits, values = expected.outputs()
    log_probabilities = masked_log_probabilities(logits, expected.rows["masks"])
    found = log_probabilities.gather(1, expected.rows["actions"][:, None])[:, 0]
    assert (found - expected.rows["log_probabilities"]).abs().max() < rough
    assert log_probabilities[expected.rows["masks"]].std() > 0.2
    assert (values[:, 0] - expected.rows["values"]).abs().max() < rough
    for worker in trainer.workers:
        assert (worker.ready < worker.num_players * worker.shape[1]).any(), "some are carried"


def test_every_epoch_learns_from_every_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    sizes: list[int] = []

    def record(worker: Worker, rows: np.ndarray, size: int, **settings: float) -> np.ndarray:
        if worker is trainer.workers[0]:
            seen.append(rows)
            sizes.append(size)
        return loss_gradient(worker, rows, size, **settings)

    monkeypatch.setattr(ppo, "loss_gradient", record)
    with trainer_of(small(epochs=3, minibatch_size=128)) as trainer:
        trainer.collect()
        trainer.learn(1e-3, 0.0)
        ready = trainer.workers[0].ready
        all_rows = sum(len(worker.ready) for worker in trainer.workers)
    epochs = [np.concatenate(seen[start : start + 4]) for start in (0, 4, 8)]
    assert len(seen) == 3 * 4
    assert all(sorted(rows) == sorted(ready) for rows in epochs)
    assert [sum(sizes[start : start + 4]) for start in (0, 4, 8)] == [all_rows] * 3
    assert not np.array_equal(epochs[0], epochs[1])


def test_learning_rate_and_entropy_weight_fall_linearly(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Any] = []
    monkeypatch.setattr(PPO, "learn", lambda trainer, *given: used.append(given) or {})
    settings = {"learning_rate": 4e-3, "learning_rate_end": 2e-3, "entropy": 0.5, "entropy_end": 0.1}
    with trainer_of(small(**settings)) as trainer:
        for through in (0.0, 0.5, 1.0):
            trainer.update(through)
    assert used == [pytest.approx(pair) for pair in ((4e-3, 0.5), (3e-3, 0.3), (2e-3, 0.1))]


# What is collected.


@pytest.mark.parametrize("num_players", [2, 5])
def test_with_lambda_1_a_return_is_the_score_still_to_come(num_players: int) -> None:
    """Every decision of a finished game returns what its own seat was paid from then to the end of that game."""
    options = {"num_players": num_players, "rounds": 2}
    sizes = {"num_envs": 8, "batch_size": 8 * 150, "minibatch_size": 8}
    worker = worker_for(small(game_options=options, gae_lambda=1, workers=1, **sizes))
    worker.collect()
    checked = 0
    for game in range(worker.seats.shape[1]):
        ends = np.flatnonzero(worker.terminated[:, game])
        for row in range(num_players, ends[-1] + 1):
            end, seat = ends[ends >= row][0], worker.seats[row, game]
            assert row * worker.shape[1] + game in worker.ready
            to_come = worker.rewards[row : end + 1, game, seat].sum()
            assert worker.returns[row, game] == pytest.approx(to_come, abs=1e-4)
            checked += 1
    assert checked > 500


def test_a_row_holds_what_its_games_showed_and_paid_at_that_step() -> None:
    """The same games, dealt from the same seed and stepped by the recorded actions."""
    config = small(workers=1, privileged_critic=True, history=True, batch_size=32 * 60, minibatch_size=32)
    worker = worker_for(config, seed=5)
    deals, *_ = np.random.SeedSequence(5).spawn(2)
    vec = Vec(worker.vec.game, worker.vec.num_envs, seed=deals, state=True, history=True)
    worker.collect()
    rounds = 0
    for row in range(3, len(worker.seats)):
        inputs, of_actions = worker.network_inputs.compute(vec.observation, vec.action_mask)
        assert np.array_equal(worker.observations[row], inputs)
        assert np.array_equal(worker.action_features[row], of_actions)
        assert np.array_equal(worker.states[row], vec.state)
        assert np.array_equal(worker.histories[row], vec.history)
        assert np.array_equal(worker.masks[row], vec.action_mask)
        assert np.array_equal(worker.seats[row], vec.current_player)
        vec.step(worker.actions[row])
        assert np.array_equal(worker.rewards[row], vec.rewards)
        assert np.array_equal(worker.terminated[row], vec.terminated)
        rounds += int(vec.round_ended.sum())
    assert len(np.unique(worker.rewards[3:])) > 2
    assert worker.rounds == rounds
    assert {len(values) for values in worker.statistics.values()} == {rounds * worker.num_players}


def returns_by_decision(worker: Worker, windows: int) -> dict[tuple[int, int], list[float]]:
    """Returns of the decisions of each seat in each game, in the order in which they were taken."""
    found: dict[tuple[int, int], list[float]] = {}
    for _ in range(windows):
        worker.collect()
        for flat in worker.ready:
            row, game = divmod(int(flat), worker.seats.shape[1])
            key = game, int(worker.seats[row, game])
            found.setdefault(key, []).append(float(worker.returns[row, game]))
    return found


def test_pay_is_carried_from_window_to_window() -> None:
    """The same games cut into windows of 4 steps give each decision, once, the return that it has in one long window,
    though seats are paid for a round while their decision is still carried."""
    settings = {"game_options": MATCH, "workers": 1, "num_envs": 16, "minibatch_size": 16, "gae_lambda": 0.0}
    long = returns_by_decision(worker_for(small(**settings, batch_size=16 * 120)), 1)
    short_worker = worker_for(small(**settings, batch_size=16 * 4))
    collect, paid = short_worker.collect, []

    def collect_and_count() -> None:
        collect()
        paid.append(np.count_nonzero(short_worker.open_rewards))

    short_worker.collect = collect_and_count  # type: ignore[method-assign]
    short = returns_by_decision(short_worker, 30)
    assert sum(paid) > 100
    assert short.keys() == long.keys()
    for key, returns in short.items():
        assert returns == pytest.approx(long[key], abs=1e-4)


# Where it starts, and who plays with what it has learned.


def test_ppo_starts_from_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    with trainer_of(small(seed=7)) as trained:
        save_checkpoint(path, trained.policy(), trained.game)
    config = small(start_from=str(path))
    with trainer_of(config) as algorithm, trainer_of(small()) as fresh:
        own, expected = algorithm.policy().state_dict(), trained.policy().state_dict()
        assert all(torch.equal(own[name], expected[name]) for name in expected)
        critic = algorithm.weights.parts["critic"]
        assert torch.equal(algorithm.weights.vector[critic], fresh.weights.vector[critic])
    with pytest.raises(ValueError, match=r"start_from: .*nowhere does not exist"):
        PPO.check_run(config.replace(start_from=str(tmp_path / "nowhere")), config.make_game())


def test_a_policy_with_histories_plays_as_an_agent(tmp_path: Path) -> None:
    config = small(history=True, **{**BRIEF, "total_decisions": 512})
    train(config, tmp_path / "run", quiet())
    game = config.make_game()
    agent = catbox_agents.make(tmp_path / "run", game)
    assert agent.needs_history
    vec = Vec(game, 3, seed=1, history=True)
    assert catbox_agents.play_out(vec, [agent, "random", agent]).shape == (3, 3)
