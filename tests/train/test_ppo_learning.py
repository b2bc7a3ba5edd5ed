"""What a worker collects, and what a gradient is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import catbox_agents
from catbox_agents.networks.checkpoint import save_checkpoint
from catbox_env import Vec
from catbox_train.algorithms.ppo.algorithm import PPO
from catbox_train.runs.loop import train
from catbox_train.self_play.inputs import Inputs
from tests.train.ppo_runs import BRIEF, quiet, small, worker_for

# What is collected.


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_with_lambda_1_a_return_is_the_score_still_to_come(num_players: int) -> None:
    """Every decision of a finished game returns what its own seat was paid from then to the end of that game."""
    options = {"num_players": num_players, "rounds": 2}
    config = small(
        game_options=options, gae_lambda=1, workers=1, num_envs=8, batch_size=8 * 150, minibatch_size=8
    )
    worker = worker_for(config)
    worker.collect()
    ready = np.zeros(worker.seats.shape, bool)
    ready.flat[worker.ready] = True
    checked = 0
    for game in range(worker.seats.shape[1]):
        ends = np.flatnonzero(worker.terminated[:, game])
        assert len(ends) > 0
        for row in range(num_players, ends[-1] + 1):
            end = ends[ends >= row][0]
            seat = worker.seats[row, game]
            assert ready[row, game]
            to_come = worker.rewards[row : end + 1, game, seat].sum()
            assert worker.returns[row, game] == pytest.approx(to_come, abs=1e-4)
            checked += 1
    assert checked > 500


def test_every_decision_is_learned_from_once() -> None:
    """Over the windows, the decisions that became ready and those still carried are all that were made."""
    config = small(workers=1, batch_size=32 * 4)
    worker = worker_for(config)
    made = learned = 0
    for _ in range(25):
        worker.collect()
        made += config.batch_size
        learned += len(worker.ready)
        assert learned + (worker.open_rows >= 0).sum() == made
    assert (worker.open_rows >= 0).sum() > 32


def test_carried_decisions_keep_all_that_belongs_to_them() -> None:
    """What stands in a carried row is the decision that was open, with its seat's own observation."""
    worker = worker_for(small(workers=1, batch_size=32 * 4, privileged_critic=True))
    worker.collect()
    worker.collect()
    players, games = np.nonzero(worker.open_rows >= 0)
    rows = worker.open_rows[players, games]
    before = {name: getattr(worker, name)[rows, games].copy() for name in worker.decision}
    pay = worker.open_rewards[players, games].copy()
    worker.collect()
    assert len(players) > 0
    for name, values in before.items():
        assert np.array_equal(getattr(worker, name)[players, games], values)
    assert np.array_equal(worker.rewards[players, games, players], pay)
    assert np.array_equal(worker.seats[players, games], players)
    empty = np.ones((3, 32), bool)
    empty[players, games] = False
    assert (worker.seats[:3][empty] == -1).all()


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


def test_actions_are_legal_and_observed_by_the_seat_that_took_them() -> None:
    worker = worker_for(small(workers=1))
    worker.collect()
    played = worker.seats >= 0
    assert np.take_along_axis(worker.masks, worker.actions[..., None], axis=2)[played].all()
    layout = worker.vec.game.observation_layout
    phase_and_turn = layout.unpack(worker.observations[..., : layout.size])["to_move"]
    assert (phase_and_turn[played][:, 0] == 1).all()


def test_a_privileged_critic_sees_the_state_and_the_actor_does_not() -> None:
    config = small(workers=1, privileged_critic=True)
    worker = worker_for(config)
    worker.collect()
    rows = np.arange(5 * 32, 6 * 32)
    logits, values = worker.outputs(rows)
    worker.states[5] = np.roll(worker.states[5], 1, axis=0)
    other_logits, other_values = worker.outputs(rows)
    assert torch.equal(logits, other_logits)
    assert np.allclose(values.detach().numpy()[:, 0], worker.values[5], atol=1e-5)
    assert not torch.allclose(values, other_values)


# What is learned.


def test_ppo_starts_from_a_policy(tmp_path: Path) -> None:
    trained = PPO(small(seed=7), small().make_game())
    path = tmp_path / "policy.safetensors"
    save_checkpoint(path, trained.policy(), trained.game)
    trained.close()
    algorithm = PPO(config := small(start_from=str(path)), config.make_game())
    fresh = PPO(small(), config.make_game())
    try:
        own, expected = algorithm.policy().state_dict(), trained.policy().state_dict()
        assert all(torch.equal(own[name], expected[name]) for name in expected)
        critic = algorithm.weights.parts["critic"]
        assert torch.equal(algorithm.weights.vector[critic], fresh.weights.vector[critic])
    finally:
        algorithm.close()
        fresh.close()
    with pytest.raises(ValueError, match=r"start_from: .*nowhere does not exist"):
        PPO.check_run(config.replace(start_from=str(tmp_path / "nowhere")), config.make_game())


# Rows of a buffer, as the networks take them.

SCALE = torch.tensor([1.0, 0.5, 0.125])


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_every_int8_is_scaled_without_rounding(precision: torch.dtype) -> None:
    vectors = np.arange(-128, 128, dtype=np.int8)[:, None].repeat(3, axis=1)
    rows = np.random.default_rng(1).permutation(256)
    inputs = Inputs(SCALE, precision)
    taken = inputs.take(vectors, rows)
    assert taken.dtype == precision
    assert torch.equal(taken.double(), torch.from_numpy(vectors[rows]).double() * SCALE.double())
    assert torch.equal(inputs.take(vectors, rows[:7]), taken[:7])


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("row", [-1, 4, 2**62])
def test_a_row_that_is_not_there_is_refused(precision: torch.dtype, row: int) -> None:
    with pytest.raises(IndexError, match="expected 0 to 3"):
        Inputs(SCALE, precision).take(np.zeros((4, 3), np.int8), np.array([0, row]))


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(4, 2\): expected \(M, 3\)"):
        Inputs(SCALE, torch.float32).take(np.zeros((4, 2), np.int8), np.array([0]))


def test_a_policy_with_histories_plays_as_an_agent(tmp_path: Path) -> None:
    config = small(history=True, **{**BRIEF, "total_decisions": 512})
    train(config, tmp_path / "run", quiet())
    game = config.make_game()
    agent = catbox_agents.make(tmp_path / "run", game)
    assert agent.needs_history
    vec = Vec(game, 3, seed=1, history=True)
    assert catbox_agents.play_out(vec, [agent, "random", agent]).shape == (3, 3)
