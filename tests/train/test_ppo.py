"""PPO: advantages, the loss, and a whole update, beside arithmetic that is independent of the code."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils import vector_to_parameters

from catbox_agents.networks import mlp
from catbox_agents.networks.action_head import ILLEGAL, sample_legal
from catbox_agents.networks.numpy_network import CRITIC, NumpyMLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import make_game
from catbox_train.group import Group
from catbox_train.learner import mean_and_variance
from catbox_train.ppo import PPO, PPOConfig, gae, ppo_loss
from catbox_train.rollout import Decisions
from tests.train.agents_in_training import HIGHEST
from tests.train.ppo_reference import ReferenceUpdate, masked_log_probabilities, plain_gae, plain_losses
from tests.train.ppo_runs import GAME, made, small

#: Games of six rounds: rewards come in the middle of a game.
MATCH = {**GAME, "rounds": 6}
#: What the network, the games and the update may be made of.
KINDS: dict[str, dict[str, Any]] = {
    "plain": {"features": False, "action_features": False},
    "tanh": {"activation": "tanh", "hidden": [16, 8], "gae_lambda": 0.5, "gamma": 0.9},
    "opponents": {"opponents": {"random": 0.4, "past": 0.3}, "past_every": 1},
    "short steps": {"max_grad_norm": 0.3},
    "bfloat16": {"precision": "bfloat16", "update_epochs": 1},
}


# Advantages.


def decisions_of(rng: np.random.Generator, players: int, steps: int) -> Decisions:
    """Made-up decisions of three games: in each step one of a seat in some of them."""
    slices, next_rows, places, count = [], [], [], 0
    last: dict[tuple[int, int], int] = {}
    for _ in range(steps):
        games = np.flatnonzero(rng.random(3) < 0.7)
        for game in games.tolist():
            seat = game, int(rng.integers(players))
            if seat in last:
                next_rows[last[seat]] = len(next_rows)
            last[seat] = len(next_rows)
            next_rows.append(-1)
            places.append(seat)
        slices.append(slice(count, count := len(next_rows)))
    rewards = torch.from_numpy(rng.integers(-3, 4, count).astype(np.float32))
    rows, after = torch.arange(count), torch.tensor(next_rows, dtype=torch.int64)
    game, seat = torch.tensor(places, dtype=torch.int64).reshape(-1, 2).T
    return Decisions({}, rows, rewards, after, game, seat, slices, count, 3, {}, {})


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.7), (1.0, 1.0), (0.8, 0.0)])
def test_advantages_agree_with_the_definition(gamma: float, gae_lambda: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        decisions = decisions_of(rng, int(rng.integers(2, 6)), int(rng.integers(1, 40)))
        values = torch.from_numpy(rng.normal(size=len(decisions)).astype(np.float32))
        found = gae(decisions, values, gamma, gae_lambda)
        given = decisions.rewards.tolist(), values.tolist(), decisions.next_rows.tolist()
        assert (found.dtype, found.shape) == (torch.float32, (len(decisions),))
        assert found.tolist() == pytest.approx(plain_gae(*given, gamma, gae_lambda), abs=1e-4)


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_the_variance_of_numbers_that_are_not_finite_is_not_finite(number: float) -> None:
    assert mean_and_variance(torch.tensor([1.0, 2.0, 6.0]), Group()) == (3.0, pytest.approx(14 / 3))
    assert mean_and_variance(torch.tensor([0.1, 0.1, 0.1]), Group())[1] >= 0.0
    assert not math.isfinite(mean_and_variance(torch.tensor([1.0, number]), Group())[1])


# The loss.


def minibatch(
    count: int = 9, num_actions: int = 4
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """What the network gives, ``logits`` and ``values``, and the rows that the loss compares with."""
    generator = torch.Generator().manual_seed(0)
    masks = torch.rand((count, num_actions), generator=generator) < 0.6
    masks[:, 1] = True
    rows = {name: torch.randn(count, generator=generator) for name in ("log_probs", "advantages", "returns")}
    rows |= {"masks": masks, "actions": torch.ones(count, dtype=torch.int64)}
    logits = torch.randn((count, num_actions), generator=generator)
    return {"logits": logits, "values": torch.randn(count, generator=generator)}, rows


def loss_of(
    outputs: dict[str, torch.Tensor],
    rows: dict[str, torch.Tensor],
    ent_coef: float,
    **settings: Any,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    logits = outputs["logits"].masked_fill(~rows["masks"], float(ILLEGAL))  # as the network gives them
    return ppo_loss(logits, outputs["values"], rows, PPOConfig(**settings), ent_coef)


def test_the_loss_is_that_of_the_paper() -> None:
    outputs, rows = minibatch(200)
    loss, metrics = loss_of(outputs, rows, 0.3, clip_coef=0.2, vf_coef=0.5)
    expected = plain_losses(**outputs, rows=rows, clip_coef=0.2)
    total = expected["policy_loss"] + 0.5 * expected["value_loss"] - 0.3 * expected["entropy"]
    assert loss.item() == pytest.approx(total.item(), rel=1e-5)
    assert metrics.pop("largest_logit").item() == outputs["logits"][rows["masks"]].max().item()
    assert {name: value.item() for name, value in metrics.items()} == pytest.approx(
        {name: value.item() for name, value in expected.items()}, rel=1e-5
    )
    assert 0.2 < metrics["clip_fraction"] < 1


@pytest.mark.parametrize("name", ["advantages", "returns", "log_probs"])
def test_a_number_that_is_not_finite_comes_out_in_the_loss(name: str) -> None:
    outputs, rows = minibatch()
    rows[name][5] = math.nan
    assert not loss_of(outputs, rows, 0.1)[0].isfinite()


def test_an_illegal_action_has_no_probability_and_no_gradient() -> None:
    ones = torch.ones(1)
    outputs = {"logits": torch.tensor([[0.0, 30.0, 1.0]], requires_grad=True), "values": ones}
    rows = {"masks": torch.tensor([[True, False, True]]), "actions": torch.tensor([2]), "log_probs": -ones}
    loss, metrics = loss_of(outputs, {**rows, "advantages": ones, "returns": ones}, 0.5, clip_coef=9)
    loss.backward()
    chance = 1 / (1 + math.e)
    entropy = -chance * math.log(chance) - (1 - chance) * math.log(1 - chance)
    assert metrics["entropy"].item() == pytest.approx(entropy)
    assert metrics["policy_loss"].item() == pytest.approx(-(1 - chance) / math.exp(-1))
    gradient = outputs["logits"].grad
    assert gradient is not None
    assert gradient[0, 1] == 0
    assert gradient[0, 0].item() == pytest.approx(-gradient[0, 2].item())
    assert abs(gradient[0, 0]) > 0.1


# The sampler.


def random_rows(num_rows: int, num_actions: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits and masks, every mask with one legal action at least."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3.0, size=(num_rows, num_actions)).astype(np.float32)
    masks = rng.random((num_rows, num_actions)) < 0.4
    masks[np.arange(num_rows), rng.integers(num_actions, size=num_rows)] = True
    return logits, masks


def sample_on_gpu(
    logits: np.ndarray, masks: np.ndarray, uniforms: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """As games on a GPU do it, with uniform numbers of float32."""
    given = (torch.from_numpy(array) for array in (logits, masks, uniforms.astype(np.float32)))
    actions, log_probs = mlp._sample_on_gpu(*given)
    assert (actions.dtype, log_probs.dtype) == (torch.int64, torch.float32)
    return actions.numpy(), log_probs.numpy()


Sample = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
samplers = pytest.mark.parametrize("sample", [sample_legal, sample_on_gpu])


def drawn(sample: Sample, logits: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):  # without the compiler, NumPy warns of logits that are not finite
        return sample(logits, masks, np.random.default_rng(6).random(len(logits)))


@pytest.mark.nojit
@samplers
@pytest.mark.parametrize("shift", [0.0, 1e4, -1e4])
def test_drawn_log_probabilities_are_those_that_learning_sees(sample: Sample, shift: float) -> None:
    """Neither a number that is added to all logits changes them, nor a large logit of an illegal action."""
    logits, masks = random_rows(500, 17)
    logits = (logits * 4).round() / 4 + np.float32(shift)  # no digit is lost
    expected = masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks)).numpy()
    logits[~masks] += 2e4
    actions, log_probs = drawn(sample, logits, masks)
    assert masks[np.arange(500), actions].all()
    assert log_probs == pytest.approx(expected[np.arange(500), actions], abs=1e-3 if shift else 1e-5)


@pytest.mark.nojit
@samplers
def test_draws_have_the_stated_frequencies(sample: Sample) -> None:
    """Chi-squared of 40,000 draws of one row against its probabilities (4 degrees of freedom, 0.1 % level 18.5)."""
    logits, count = random_rows(1, 9, seed=4)[0] / 3, 40_000
    masks = np.array([[True, False, True, True, False, True, False, True, False]])
    actions, _ = drawn(sample, np.repeat(logits, count, axis=0), np.repeat(masks, count, axis=0))
    probabilities = masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks)).exp()[0]
    observed, expected = np.bincount(actions, minlength=9), count * probabilities.numpy()
    assert (observed[~masks[0]] == 0).all()
    assert ((observed - expected)[masks[0]] ** 2 / expected[masks[0]]).sum() < 18.5


@pytest.mark.nojit
@samplers
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e38])
def test_an_illegal_action_is_never_drawn_whatever_the_logits(sample: Sample, number: float) -> None:
    _, masks = random_rows(500, 9)
    actions, _ = drawn(sample, np.full((500, 9), number, np.float32), masks)
    assert masks[np.arange(500), actions].all()


@pytest.mark.nojit
@samplers
def test_the_ends_of_the_unit_interval_give_the_first_and_the_last_action_that_has_a_probability(
    sample: Sample,
) -> None:
    """The cumulative sum may round to just under 1: the last legal action is drawn then, never an illegal one."""
    logits, masks = random_rows(300, 12, seed=7)
    assert (sample(logits, masks, np.zeros(300))[0] == masks.argmax(axis=1)).all()
    last = 11 - masks[:, ::-1].argmax(axis=1)
    for largest in (1.0, np.nextafter(np.float32(1), np.float32(0))):
        assert (sample(logits, masks, np.full(300, largest))[0] == last).all()
    hardly = np.array([[-1e4, 3.0, -1e4]], np.float32)
    for end in (0.0, np.nextafter(np.float32(1), np.float32(0))):
        actions, log_probs = sample(hardly, np.ones((1, 3), bool), np.full(1, end))
        assert (actions.tolist(), log_probs.tolist()) == ([1], [0.0])


@samplers
def test_tensors_are_sampled_from_as_arrays_are(sample: Sample) -> None:
    logits, masks = random_rows(2000, 17)
    uniforms = np.random.default_rng(1).random(2000).astype(np.float32)
    expected = sample(logits, masks, uniforms)
    actions, log_probs = mlp.sample_legal(*map(torch.from_numpy, (logits, masks, uniforms)))
    assert (actions.numpy() == expected[0]).mean() > 0.998  # rounding
    same = actions.numpy() == expected[0]
    assert log_probs.numpy()[same] == pytest.approx(expected[1][same], abs=1e-5)


# An update.


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_is_that_of_the_reference(device: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights, moments and metrics after epochs of one minibatch, where the order of rows does not matter. Half of the
    decisions have become likelier since they were taken: their ratio is clipped."""
    settings = {"max_grad_norm": 1e9, "update_epochs": 3, "minibatch_size": 10**6, "ent_coef": 0.3}
    rates = {"learning_rate": 2e-3, "learning_rate_end": 1e-3}
    trainer: PPO = made(
        game_options=MATCH, games_per_update=8, device=device, **settings | rates | KINDS[kind]
    )
    generator = torch.Generator().manual_seed(1)
    weights = trainer.learner.weights.detach()
    weights += 0.1 * torch.randn(weights.shape, generator=generator).to(device)  # prefers some actions
    trainer.update(0, 0.0)
    before, play, held = weights.cpu().clone(), trainer.rollout.play, []
    rough = kind == "bfloat16"

    def play_and_compare(*given: Any) -> Decisions:
        decisions = play(*given)
        check_what_was_noted(trainer, decisions, 0.1 if rough else 1e-4)
        decisions.columns["log_probs"][::2] -= 0.4
        held.append(ReferenceUpdate(trainer, decisions))
        return decisions

    monkeypatch.setattr(trainer.rollout, "play", play_and_compare)
    _, metrics = trainer.update(1, 0.0)
    (expected,) = held
    expected.learn(2e-3, 0.3)
    exact = 0.02 if rough else 1e-4
    expected.metrics |= {"learning_rate": 2e-3, "ent_coef": 0.3}
    found = {name.removeprefix("learning/"): value for name, value in metrics.items() if "learning/" in name}
    found = {name: value for name, value in found.items() if not name.startswith("beats_")}
    assert found == pytest.approx(expected.metrics, rel=10 * exact, abs=0.1 * exact)
    assert 0.2 < found["clip_fraction"] < 0.8
    for name in ("exp_avg", "exp_avg_sq"):
        moment, wanted = trainer.learner.moments[name].cpu(), getattr(expected, name)
        assert (moment - wanted).norm() < 2 * exact * wanted.norm() > 0
    wanted = expected.weights.detach()
    assert (weights.cpu() - wanted).norm() < 10 * exact * (before - wanted).norm() > 0


def check_what_was_noted(trainer: PPO, decisions: Decisions, rough: float) -> None:
    """What was noted with each decision follows from its row."""
    expected = ReferenceUpdate(trainer, decisions)
    vector_to_parameters(expected.weights.detach(), expected.network.parameters())
    with torch.no_grad():
        logits, values = expected.outputs()
    masks = expected.rows["masks"]
    log_probs = masked_log_probabilities(logits, masks)
    found = log_probs.gather(1, expected.rows["actions"][:, None])[:, 0]
    assert (found - expected.rows["log_probs"]).abs().max() < rough
    assert log_probs[masks].std() > 0.2
    assert (values - expected.rows["values"]).abs().max() < rough


@pytest.mark.parametrize("algorithm", ["ppo", "dmc"])
def test_every_epoch_learns_from_every_decision_once_in_minibatches_of_the_size_asked_for(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of five players with one seat of the learner: 24 games of 25 to 50 decisions, a fifth of them its own."""
    settings = {"opponents": {HIGHEST: 1.0}, "learner_seats": 1, "game_options": {"num_players": 5}}
    trainer = made(algorithm=algorithm, update_epochs=3, minibatch_size=64, games_per_update=24, **settings)
    seen: list[tuple[np.ndarray, int]] = []
    split, count = trainer.learner.minibatches, []

    def record(columns: Any, given: torch.Tensor, update: int) -> Any:
        count.append(len(given))
        for minibatch in split(columns, given, update):
            seen.append((minibatch.rows.numpy(), minibatch.total))
            yield minibatch

    monkeypatch.setattr(trainer.learner, "minibatches", record)
    played, _ = trainer.update(0, 0.0)
    steps = round(count[0] / 64)
    assert 24 * 3 < count[0] < 0.25 * played
    assert len(seen) == 3 * steps == trainer.learner.moments["step"]
    assert all(len(rows) == total and abs(total - 64) < 16 for rows, total in seen)
    epochs = [np.concatenate([rows for rows, _ in seen[k : k + steps]]) for k in range(0, len(seen), steps)]
    assert all(sorted(rows) == list(range(count[0])) for rows in epochs)
    assert not np.array_equal(epochs[0], epochs[1])


def test_learning_rate_and_entropy_weight_fall_linearly() -> None:
    settings = {"learning_rate": 4e-3, "learning_rate_end": 2e-3, "ent_coef": 0.5, "ent_coef_end": 0.1}
    trainer = made(**settings)
    for progress, rate, weight in ((0.0, 4e-3, 0.5), (0.5, 3e-3, 0.3), (1.0, 2e-3, 0.1)):
        _, metrics = trainer.update(0, progress)
        assert metrics["learning/learning_rate"] == pytest.approx(rate)
        assert metrics["learning/ent_coef"] == pytest.approx(weight)
        assert trainer.learner.optimizer.param_groups[0]["lr"] == pytest.approx(rate)


# Where it starts, and what it is computed with.


def test_ppo_starts_from_a_policy_and_its_critic_if_it_has_one(tmp_path: Path) -> None:
    trained, fresh = made(seed=7), made()
    trained.policy().save(tmp_path)
    config = small(start_from=str(tmp_path / "policy.safetensors"))
    algorithm = PPO(config, config.make_game())
    own, expected = algorithm.network.arrays(), trained.network.arrays()
    np.testing.assert_equal(own, expected)

    arrays = {name: array for name, array in expected.items() if name not in CRITIC}
    plain = PolicyAgent(NumpyMLP(arrays, trained.network.describe()), trained.game)
    of_wins = PolicyAgent(
        trained.network, make_game(trained.game.id, **{**trained.game.options, "reward": "win"})
    )
    for agent in (plain, of_wins):
        agent.save(tmp_path)
        own = PPO(config, config.make_game()).network.arrays()
        np.testing.assert_equal({name: own[name] for name in arrays}, arrays)
        np.testing.assert_equal(own[CRITIC[0]], fresh.network.arrays()[CRITIC[0]])
    with pytest.raises(ValueError, match=r"start_from: .*nowhere does not exist"):
        PPO.check_run(config.replace(start_from=str(tmp_path / "nowhere")), config.make_game())
