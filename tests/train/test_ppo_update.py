"""One update of the weights: which rows, numbers and workers it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from catbox_train.algorithms.ppo import algorithm as ppo
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.algorithms.ppo.loss import (
    LEARNING_METRICS,
    loss_gradient,
    mean_and_deviation,
    normalise_advantages,
)
from catbox_train.algorithms.ppo.networks import ActorCritic
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.runs.loop import train
from catbox_train.self_play.adam import BETA_1, EPSILON, Adam
from tests.train.ppo_reference import outputs_of
from tests.train.ppo_runs import quiet, small, trainer_of, worker_for

#: Games of six rounds: rewards come in the middle of a game.
MATCH = {"num_players": 3, "num_ranks": 3, "copies": 4, "rounds": 6}
#: One gradient step an update, so short that nothing is clipped.
ONE_STEP = {"epochs": 1, "minibatch_size": 512, "max_grad_norm": 1e9}


@contextmanager
def trainer_with(**settings: object) -> Iterator[PPO]:
    """A trainer whose workers have played a batch."""
    config = small(**settings)
    with trainer_of(config) as trainer:
        for worker in trainer.workers:
            worker.collect()
        yield trainer


def whole_gradient(trainer: PPO, entropy_weight: float) -> torch.Tensor:
    """The gradient of a batch as ``learn`` should see it, by automatic differentiation over all rows at once."""
    workers = trainer.workers
    picked = {
        name: torch.from_numpy(
            np.concatenate(
                [(array := getattr(w, name)).reshape(-1, *array.shape[2:])[w.ready] for w in workers]
            )
        )
        for name in ("observations", "action_features", "states", "masks", "actions", "returns", "values")
    }
    advantages = (picked["returns"] - picked["values"]).double()
    advantages = ((advantages - advantages.mean()) / advantages.std(correction=0)).float()
    networks = ActorCritic(trainer.game, trainer.options, trainer.config.seed)
    logits, values = outputs_of(networks, picked, trainer.options.privileged_critic)
    distribution = torch.distributions.Categorical(logits=logits.masked_fill(~picked["masks"], -1e8))
    loss = -(advantages * distribution.log_prob(picked["actions"])).mean()
    loss = loss - entropy_weight * distribution.entropy().mean()
    (loss + 0.5 * (values[:, 0] - picked["returns"]).square().mean()).backward()
    return torch.cat([parameter.grad.reshape(-1) for parameter in networks.parameters()])


# Schedules.


def test_learning_rate_and_entropy_weight_fall_linearly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half way through, the steps of the optimizer and the loss are given the mean of start and end."""
    used: list[tuple[float, float]] = []
    move, loss = Adam.move, ppo.loss_gradient
    weights: list[float] = []

    def seen_move(
        optimizer: Adam, vector: torch.Tensor, gradient: torch.Tensor, part: slice, rate: float, *more: Any
    ) -> None:
        used.append((rate, weights[-1]))
        move(optimizer, vector, gradient, part, rate, *more)

    def seen_loss(
        worker: Worker, rows: np.ndarray, size: int, clip: float, entropy_weight: float
    ) -> np.ndarray:
        weights.append(entropy_weight)
        return loss(worker, rows, size, clip, entropy_weight)

    monkeypatch.setattr(Adam, "move", seen_move)
    monkeypatch.setattr(ppo, "loss_gradient", seen_loss)
    config = small(
        total_decisions=3 * 512,
        **{**ONE_STEP, "learning_rate": 4e-3, "learning_rate_end": 2e-3},
        entropy=0.5,
        entropy_end=0.1,
        opponents=["random"],
    )
    train(config, tmp_path / "run", quiet())
    assert used[::4] == [pytest.approx(pair) for pair in ((4e-3, 0.5), (3e-3, 0.3), (2e-3, 0.1))]


# Gradients.


@pytest.mark.parametrize(("workers", "privileged"), [(1, False), (2, False), (2, True), (4, False)])
def test_the_gradient_is_the_mean_over_the_rows_of_all_workers(
    tmp_path: Path, workers: int, privileged: bool
) -> None:
    settings = {**ONE_STEP, "workers": workers, "privileged_critic": privileged, "gae_lambda": 0.5}
    with trainer_with(**settings) as trainer:
        expected = whole_gradient(trainer, entropy_weight=0.3)
        trainer.learn(1e-3, 0.3)
        assert torch.allclose(trainer.weights.gradient, expected, atol=2e-5)
    assert expected.abs().max() > 1e-2


def first_pull(trainer: PPO) -> torch.Tensor:
    """The gradient as Adam took it in its first step: its running mean began at 0."""
    return trainer.optimizer.state["exp_avg"] / (1 - BETA_1)


def test_actor_and_critic_are_clipped_each_for_itself(tmp_path: Path) -> None:
    """Returns that are far off make the critic's gradient long; it is cut, and the actor's stays what it was."""
    settings = {**ONE_STEP, "max_grad_norm": 20.0}
    gradients = []
    for offset in (0.0, 100.0):
        with trainer_with(**settings) as trainer:
            for worker in trainer.workers:
                worker.returns += np.float32(offset)
            metrics = trainer.learn(1e-3, 0.0)
            total = first_pull(trainer)
            gradients.append(
                (total[trainer.weights.parts["actor"]], total[trainer.weights.parts["critic"]], metrics)
            )
    (near_actor, near_critic, near), (far_actor, far_critic, far) = gradients
    assert near["critic_grad_norm"] == pytest.approx(near_critic.norm().item(), rel=1e-4)
    assert near["actor_grad_norm"] == pytest.approx(near_actor.norm().item(), rel=1e-4)
    assert far["critic_grad_norm"] > 50
    assert far_critic.norm().item() == pytest.approx(20.0, rel=1e-4)
    assert torch.equal(far_actor, near_actor)
    with trainer_with(**{**settings, "max_grad_norm": 1e-3}) as trainer:
        trainer.learn(1e-3, 0.0)
        for part in trainer.weights.parts.values():
            assert first_pull(trainer)[part].norm().item() == pytest.approx(1e-3, rel=1e-3)


def test_every_epoch_learns_from_every_row_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    sizes: list[tuple[int, float]] = []

    def record(worker: Worker, rows: np.ndarray, size: int, **settings: float) -> np.ndarray:
        if worker is trainer.workers[0]:
            seen.append(rows)
            sizes.append((len(rows), size))
        return loss_gradient(worker, rows, size, **settings)

    monkeypatch.setattr(ppo, "loss_gradient", record)
    with trainer_with(epochs=3, minibatch_size=128) as trainer:
        trainer.learn(1e-3, 0.0)
        ready = trainer.workers[0].ready
        all_rows = sum(len(worker.ready) for worker in trainer.workers)
    assert len(seen) == 3 * 4
    for epoch in range(3):
        assert sorted(np.concatenate(seen[4 * epoch : 4 * epoch + 4])) == sorted(ready)
        assert sum(size for _, size in sizes[4 * epoch : 4 * epoch + 4]) == all_rows
    assert not np.array_equal(np.concatenate(seen[:4]), np.concatenate(seen[4:8]))


def loss_metrics(worker: Worker, clip: float = 0.2) -> dict[str, float]:
    rows = worker.ready[:50]
    values = loss_gradient(worker, rows, clip=clip, entropy_weight=0.0, size=len(rows))
    return dict(zip(LEARNING_METRICS, values, strict=True))


@pytest.mark.parametrize(("shift", "pulls"), [(1.0, -1.0), (-1.0, 1.0), (0.15, None), (-0.15, None)])
def test_the_clip_range_has_two_ends(shift: float, pulls: float | None) -> None:
    """Where the new policy is e times likelier (shift 1) only bad decisions pull, where it is e times less likely only
    good ones; within the range both do. The loss is that of the ratio or, where it is worse, of the end of the range.
    """
    worker = worker_for(small(workers=1))
    worker.collect()
    networks = ActorCritic(worker.vec.game, worker.options, worker.config.seed)
    actor = slice(0, sum(p.numel() for p in networks.actor.parameters()))
    worker.log_probabilities -= np.float32(shift)
    ratio = np.exp(shift)
    for sign in (-1.0, 1.0):
        worker.advantages[:] = sign
        metrics = loss_metrics(worker)
        moves = worker.networks.gradient[actor].abs().max().item()
        assert (moves > 0) == (pulls is None or sign == pulls)
        expected = -min(sign * ratio, sign * np.clip(ratio, 0.8, 1.2))
        assert metrics["policy_loss"] == pytest.approx(expected, rel=1e-4)
        assert metrics["clip_fraction"] == (0.0 if pulls is None else 1.0)
        assert metrics["kl"] == pytest.approx(ratio - 1 - shift, rel=1e-3)


# Advantages.


def test_advantages_are_normalised_over_the_rows_that_are_learned_from(tmp_path: Path) -> None:
    """All workers together have mean 0 and deviation 1; rows that are not ready yet have no part in it."""
    with trainer_with(game_options=MATCH) as trainer:
        for number, worker in enumerate(trainer.workers):
            left_out = np.ones(worker.advantages.size, bool)
            left_out[worker.ready] = False
            assert left_out.any()
            worker.advantages.reshape(-1)[left_out] = 1e6
            worker.advantages.reshape(-1)[worker.ready] += np.float32(5 + 3 * number)
        before = [worker.advantages.reshape(-1)[worker.ready] for worker in trainer.workers]
        statistics = mean_and_deviation(np.concatenate(before))
        for worker in trainer.workers:
            normalise_advantages(worker, *statistics)
        after = [worker.advantages.reshape(-1)[worker.ready] for worker in trainer.workers]
    together = np.concatenate(after)
    assert together.mean() == pytest.approx(0, abs=1e-4)
    assert together.std() == pytest.approx(1, abs=1e-4)
    deviation = np.concatenate(before).std()
    for one, other in zip(before, after, strict=True):
        assert (other[0] - other[1:5]) == pytest.approx((one[0] - one[1:5]) / deviation, abs=1e-4)
    assert after[0].mean() < 0 < after[1].mean()


def test_explained_variance_is_that_of_the_returns_as_they_were_played(tmp_path: Path) -> None:
    with trainer_with(game_options=MATCH) as trainer:
        returns, values = (
            np.concatenate([getattr(w, name).reshape(-1)[w.ready] for w in trainer.workers])
            for name in ("returns", "values")
        )
        metrics = trainer.learn(1e-3, 0.0)
    expected = 1 - (returns - values).var() / returns.var()
    assert metrics["explained_variance"] == pytest.approx(expected, abs=1e-4)
    assert abs(expected) > 1e-3


# Pay in the middle of a game.


def returns_by_decision(worker: Worker, windows: int) -> dict[tuple[int, int], list[float]]:
    """Returns of the decisions of each seat in each game, in the order in which they were taken."""
    found: dict[tuple[int, int], list[float]] = {}
    for _ in range(windows):
        worker.collect()
        for flat in worker.ready:
            row, game = divmod(int(flat), worker.seats.shape[1])
            found.setdefault((game, int(worker.seats[row, game])), []).append(
                float(worker.returns[row, game])
            )
    return found


def test_pay_is_carried_from_window_to_window() -> None:
    """The same games cut into windows of 4 steps give each decision the return that it has in one long window, though
    seats are paid for a round while their decision is still carried."""
    settings = {"game_options": MATCH, "workers": 1, "num_envs": 16, "minibatch_size": 16, "gae_lambda": 0.0}
    long = returns_by_decision(worker_for(small(**settings, batch_size=16 * 120)), 1)
    short_worker = worker_for(small(**settings, batch_size=16 * 4))
    paid = 0
    collect = short_worker.collect

    def collect_and_count() -> None:
        nonlocal paid
        collect()
        paid += int(np.count_nonzero(short_worker.open_rewards))

    short_worker.collect = collect_and_count  # type: ignore[method-assign]
    short = returns_by_decision(short_worker, 30)
    assert paid > 100
    assert short.keys() == long.keys()
    for key, returns in short.items():
        assert len(returns) == len(long[key])
        assert returns == pytest.approx(long[key], abs=1e-4)


# The steps of Adam.


def test_steps_are_those_of_torch() -> None:
    """Thirty steps by gradients of very different sizes; the vector is moved in three parts."""
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(1000, generator=generator)
    expected = torch.nn.Parameter(weights.clone())
    ours, torchs = Adam(1000), torch.optim.Adam([expected], lr=0.0, eps=EPSILON)
    for step in range(1, 31):
        rate = 1e-2 / step
        gradient = torch.randn(1000, generator=generator) * 10.0 ** (-step % 7)
        expected.grad = gradient.clone()
        torchs.param_groups[0]["lr"] = rate
        torchs.step()
        for part in (slice(0, 10), slice(10, 700), slice(700, 1000)):
            ours.move(weights, gradient, part, rate, step)
    state = torchs.state[expected]
    assert torch.allclose(weights, expected.detach(), atol=1e-6)
    for name in ("exp_avg", "exp_avg_sq"):
        assert torch.allclose(ours.state[name], state[name], rtol=1e-4, atol=1e-6), name


def test_a_part_is_moved_alone() -> None:
    weights, optimizer = torch.zeros(100), Adam(100)
    optimizer.move(weights, torch.ones(100), slice(20, 30), 1e-3, 1)
    assert weights.nonzero().flatten().tolist() == list(range(20, 30))
    assert weights[25].item() == pytest.approx(-1e-3, rel=1e-3)
    assert optimizer.state["exp_avg"].nonzero().flatten().tolist() == list(range(20, 30))
