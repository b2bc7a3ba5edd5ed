"""What PPO collects, and what an update makes of it, on every device that is here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from catbox_train.algorithms.ppo.ppo import PPO, ppo_loss
from catbox_train.self_play.buffer import Buffer
from catbox_train.self_play.worker import Worker
from torch.nn.utils import vector_to_parameters

import catbox_agents
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_env import Vec
from catbox_train.devices import check_compiler
from catbox_train.runs.loop import train
from tests.train.ppo_reference import ReferenceUpdate, masked_log_probabilities
from tests.train.ppo_runs import BRIEF, quiet, small, trainer_of

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
def test_an_update_is_that_of_the_reference(device: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights, moments and metrics after epochs of one minibatch, where the order of rows does not matter. Half of the
    decisions have become likelier since they were taken: their ratio is clipped."""
    settings = {
        "max_grad_norm": 1e9,
        "epochs": 3,
        "minibatch_size": 512,
        "learning_rate": 1e-12,
        "entropy": 0.3,
        **KINDS[kind],
    }
    generator = torch.Generator().manual_seed(1)
    with trainer_of(small(game_options=MATCH, device=device, **settings)) as trainer:
        weights = trainer.weights.detach()
        weights += 0.1 * torch.randn(weights.shape, generator=generator).to(device)  # prefers some actions
        trainer.update(0)
        trainer.collect(0)
        check_what_was_collected(trainer, rough=0.1 if kind == "bfloat16" else 1e-4)

        trainer.log_probabilities[:, ::2] -= np.float32(0.4)
        expected, before = ReferenceUpdate(trainer), weights.cpu().clone()
        expected.learn(2e-3, 0.3)
        monkeypatch.setattr(trainer, "learning_rate", lambda progress: 2e-3)
        metrics = trainer.learn(0)
        exact = 0.02 if kind == "bfloat16" else 1e-4
        expected.metrics |= {"learning_rate": 2e-3, "entropy_weight": 0.3}
        assert metrics == pytest.approx(expected.metrics, rel=10 * exact, abs=0.1 * exact)
        assert 0.2 < metrics["clip_fraction"] < 0.8
        for part in trainer.parts.values():
            for name in ("exp_avg", "exp_avg_sq"):
                found, wanted = trainer.moments()[name][part].cpu(), getattr(expected, name)[part]
                assert (found - wanted).norm() < 2 * exact * wanted.norm() > 0
        wanted = expected.weights.detach()
        assert (weights.cpu() - wanted).norm() < 10 * exact * (before - wanted).norm() > 0


def check_what_was_collected(trainer: PPO, rough: float) -> None:
    """The policy has not changed since: what was noted with each decision, carried or not, follows from its row."""
    expected = ReferenceUpdate(trainer)
    vector_to_parameters(expected.weights.detach(), expected.networks.parameters())
    with torch.no_grad():
        logits, values = expected.outputs()
    log_probabilities = masked_log_probabilities(logits, expected.rows["masks"])
    found = log_probabilities.gather(1, expected.rows["actions"][:, None])[:, 0]
    assert (found - expected.rows["log_probabilities"]).abs().max() < rough
    assert log_probabilities[expected.rows["masks"]].std() > 0.2
    assert (values[:, 0] - expected.rows["values"]).abs().max() < rough
    assert (trainer.ready < trainer.game.num_players * trainer.buffer.shape[1]).any(), "some are carried"


def test_every_epoch_learns_from_every_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    take = Buffer.take

    def record(buffer: Buffer, rows: torch.Tensor, *names: str) -> list[torch.Tensor]:
        if "masks" in names:
            seen.append(rows.numpy())
        return take(buffer, rows, *names)

    monkeypatch.setattr(Buffer, "take", record)
    with trainer_of(small(epochs=3, minibatch_size=128)) as trainer:
        trainer.collect(0)
        trainer.learn(0)
        ready = sorted(trainer.ready)
    epochs = [np.concatenate(seen[start : start + 4]) for start in (0, 4, 8)]
    assert len(seen) == 3 * 4 + 1, "the last one is evaluated once more"
    assert all(sorted(rows) == ready for rows in epochs)
    assert not np.array_equal(epochs[0], epochs[1])


def test_learning_rate_and_entropy_weight_fall_linearly() -> None:
    settings = {"learning_rate": 4e-3, "learning_rate_end": 2e-3, "entropy": 0.5, "entropy_end": 0.1}
    with trainer_of(small(**settings)) as trainer:
        for progress, rate, weight in ((0.0, 4e-3, 0.5), (0.5, 3e-3, 0.3), (1.0, 2e-3, 0.1)):
            metrics = trainer.update(progress)
            assert metrics["learning/learning_rate"] == pytest.approx(rate)
            assert metrics["learning/entropy_weight"] == pytest.approx(weight)
            assert trainer.optimizer.param_groups[0]["lr"] == pytest.approx(rate)


# What is collected.


@pytest.mark.parametrize("num_players", [2, 5])
def test_with_lambda_1_a_return_is_the_score_still_to_come(num_players: int) -> None:
    """Every decision of a finished game returns what its own seat was paid from then to the end of that game."""
    options = {"num_players": num_players, "rounds": 2}
    sizes = {"num_envs": 8, "batch_size": 8 * 150, "minibatch_size": 8}
    with trainer_of(small(game_options=options, gae_lambda=1, workers=2, **sizes)) as trainer:
        trainer.collect(0)
    buffer, checked = trainer.buffer, 0
    returns = trainer.advantages + trainer.values
    for game in range(buffer.shape[1]):
        ends = np.flatnonzero(buffer.terminated[:, game])
        for row in range(num_players, ends[-1] + 1):
            end, seat = ends[ends >= row][0], buffer.seats[row, game]
            assert row * buffer.shape[1] + game in trainer.ready
            to_come = buffer.rewards[row : end + 1, game, seat].sum()
            assert returns[row, game] == pytest.approx(to_come, abs=1e-4)
            checked += 1
    assert checked > 500


def test_a_row_holds_what_its_games_showed_and_paid_at_that_step() -> None:
    """The same games, dealt from the same seed and stepped by the recorded actions."""
    config = small(
        workers=2, privileged_critic=True, history=True, batch_size=32 * 60, minibatch_size=32, seed=5
    )
    with trainer_of(config) as trainer:
        trainer.collect(0)
    buffer, carried = trainer.buffer, trainer.buffer.carried
    for worker, seed in zip(trainer.workers, np.random.SeedSequence(5).spawn(2), strict=True):
        columns, rounds = worker.columns, 0
        vec = Vec(trainer.game, 16, seed=seed.spawn(1)[0], state=True, history=True)
        for row in range(carried, len(buffer.seats)):
            inputs, of_actions = trainer.inputs.compute(vec.observation, vec.action_mask)
            assert np.array_equal(buffer.observations[row, columns], inputs)
            assert np.array_equal(buffer.action_features[row, columns], of_actions)
            assert np.array_equal(buffer.states[row, columns], vec.state)
            assert np.array_equal(buffer.histories[row, columns], vec.history)
            assert np.array_equal(buffer.masks[row, columns], vec.action_mask)
            assert np.array_equal(buffer.seats[row, columns], vec.current_player)
            vec.step(buffer.actions[row, columns])
            assert np.array_equal(buffer.rewards[row, columns], vec.rewards)
            assert np.array_equal(buffer.terminated[row, columns], vec.terminated)
            rounds += int(vec.round_ended.sum())
        assert worker.rounds == rounds
        assert {len(values) for values in worker.statistics.values()} == {rounds * trainer.game.num_players}
    assert len(np.unique(buffer.rewards[carried:])) > 2


def returns_by_decision(trainer: PPO, windows: int) -> dict[tuple[int, int], list[float]]:
    """Returns of the decisions of each seat in each game, in the order in which they were taken, by one policy that
    always takes the first legal action."""
    found: dict[tuple[int, int], list[float]] = {}
    returns = np.zeros(0)
    for _ in range(windows):
        trainer.collect(0)
        returns = (trainer.advantages + trainer.values).reshape(-1)
        for flat in trainer.ready:
            row, game = divmod(int(flat), trainer.buffer.shape[1])
            key = game, int(trainer.buffer.seats[row, game])
            found.setdefault(key, []).append(float(returns[flat]))
    return found


def test_pay_is_carried_from_window_to_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same games cut into windows of 4 steps give each decision, once, the return that it has in one long window,
    though seats are paid for a round while their decision is still carried."""

    def first(trainer: PPO, worker: Worker, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        trainer.buffer.actions[row, worker.columns] = trainer.buffer.masks[row, worker.columns].argmax(axis=1)

    monkeypatch.setattr(PPO, "choose", first)
    settings = {"game_options": MATCH, "workers": 1, "num_envs": 16, "minibatch_size": 16, "gae_lambda": 0.0}
    with trainer_of(small(**settings, batch_size=16 * 120)) as trainer:
        long = returns_by_decision(trainer, 1)
    with trainer_of(small(**settings, batch_size=16 * 4)) as trainer:
        estimate, paid = trainer.estimate, []

        def estimate_and_count() -> None:
            estimate()
            paid.append(np.count_nonzero(trainer.pending_rewards))

        trainer.estimate = estimate_and_count  # type: ignore[method-assign]
        short = returns_by_decision(trainer, 30)
    assert sum(paid) > 100
    assert short.keys() == long.keys()
    for key, returns in short.items():
        assert returns == pytest.approx(long[key], abs=1e-4)


def test_the_first_weights_do_not_depend_on_the_threads_of_the_process() -> None:
    """Orthogonal matrices are rounded otherwise with another number of threads."""
    found, before = [], torch.get_num_threads()
    for num_threads in (1, 2):
        torch.set_num_threads(num_threads)
        with trainer_of(small(hidden=[64, 64], workers=2)) as trainer:
            found.append(trainer.weights.detach().clone())
    torch.set_num_threads(before)
    assert torch.equal(*found)


# The loss.


@pytest.mark.parametrize("name", ["advantages", "returns", "log_probabilities"])
def test_a_number_that_is_not_finite_comes_out_in_the_loss(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    masks = torch.ones((9, 4), dtype=torch.bool)
    given = {k: torch.randn(9, generator=generator) for k in ("log_probabilities", "advantages", "returns")}
    actions, values = torch.zeros(9, dtype=torch.int64), torch.zeros(9)
    given[name][5] = math.nan
    weights = {"value_weight": 0.5, "entropy_weight": 0.1}
    loss, _ = ppo_loss(torch.zeros((9, 4)), values, masks, actions, **given, clip=0.2, **weights)
    assert not loss.isfinite()


def test_an_illegal_action_has_no_probability_and_no_gradient() -> None:
    logits = torch.tensor([[0.0, 30.0, 1.0]], requires_grad=True)
    ones = torch.ones(1)
    masks, actions = torch.tensor([[True, False, True]]), torch.tensor([2])
    weights = {"value_weight": 0.5, "entropy_weight": 0.5}
    loss, metrics = ppo_loss(logits, ones, masks, actions, -ones, ones, ones, clip=9.0, **weights)
    loss.backward()
    chance = 1 / (1 + math.e)
    assert metrics["entropy"].item() == pytest.approx(
        -chance * math.log(chance) - (1 - chance) * math.log(1 - chance)
    )
    assert metrics["policy_loss"].item() == pytest.approx(-(1 - chance) / math.exp(-1))
    assert logits.grad is not None
    assert logits.grad[0, 1] == 0
    assert logits.grad[0, 0].item() == pytest.approx(-logits.grad[0, 2].item())
    assert abs(logits.grad[0, 0]) > 0.1


# Where it starts, and who plays with what it has learned.


def test_ppo_starts_from_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.safetensors"
    with trainer_of(small(seed=7)) as trained:
        save_checkpoint(path, trained.policy(), trained.game)
    config = small(start_from=str(path))
    with trainer_of(config) as algorithm, trainer_of(small()) as fresh:
        own, expected = algorithm.policy().arrays(), trained.policy().arrays()
        assert all(np.array_equal(own[name], expected[name]) for name in expected)
        of_values, of_fresh = (trainer.actor.linear_layers()[-1].weight[-1] for trainer in (algorithm, fresh))
        assert torch.equal(of_values, of_fresh), "a policy has no value"
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


def test_a_compiled_loss_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traced as for a GPU, by the backend that compiles nothing."""
    # Importing what traces turns the checks of distributions off.
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)
    with trainer_of(small()) as trainer, trainer_of(small()) as compiled:
        for each in (trainer, compiled):
            monkeypatch.setattr(each.actor, "logits_of", each.actor._logits_on_gpu)
        compiled.loss = torch.compile(compiled.plain_loss, dynamic=True, backend="eager")
        for each in (trainer, compiled):
            each.update(0.0)
        assert torch.allclose(trainer.weights, compiled.weights, atol=1e-6)


def test_a_device_for_which_nothing_compiles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(function: object) -> object:
        raise RuntimeError("no compiler here\nand more")

    monkeypatch.setattr(torch, "compile", fail)
    with pytest.raises(ValueError, match=r"compile = true: .* for cpu here \(no compiler here\)"):
        check_compiler(torch.device("cpu"))
