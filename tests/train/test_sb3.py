"""Self-play with MaskablePPO in the run that catbox gives to all algorithms."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from catbox_train.algorithms.sb3.pool import Pool
from catbox_train.algorithms.sb3.sb3 import MaskablePPOSelfPlay
from catbox_train.sb3 import load_model

import catbox_agents
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.sb3 import SB3Agent
from catbox_train import TrainConfig, TrainingDiverged, load_config, train
from catbox_train.runs.loop import check_run
from catbox_train.runs.metrics import read_metrics
from tests.agents.test_sb3 import positions
from tests.train.agents_in_training import DRAWING
from tests.train.ppo_runs import SMALL, command, quiet

GENERAL = {name: SMALL[name] for name in SMALL if name not in ("precision", "workers")}


def small(**settings: Any) -> TrainConfig:
    return load_config(
        overrides={"algorithm": "sb3", "workers": 1, **GENERAL, "opponents": ["random"], **settings}
    )


#: Copies and agents of all kinds in matches of two rounds; the pool is full after three updates.
EVERYONE: dict[str, Any] = {
    "opponents_in_training": {"heuristic": 0.1, "random": 0.1, DRAWING: 0.2},
    "past_policies": 3,
    "past_every": 1,
    "game_options": {**SMALL["game_options"], "rounds": 2},  # type: ignore[dict-item]
}


@pytest.fixture(scope="session")
def finished(finished_run: Callable[[TrainConfig], Path]) -> Path:
    """A run that was never stopped."""
    return finished_run(small(**EVERYONE))


def test_its_metrics_are_those_of_ppo_and_of_the_games(finished: Path) -> None:
    rows = read_metrics(finished)
    assert len(rows) == 8
    for name in ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction"):
        assert all(f"learning/{name}" in row for row in rows)
    rates = [row["learning/learning_rate"] for row in rows]
    assert (rates[0], rates[-1]) == pytest.approx((1e-3, 5e-5))
    assert rows[-1]["game/games"] > 10
    assert 0 <= rows[-1]["game/paradox"] <= rows[-1]["game/any_paradox"] <= 1


def test_the_reward_of_a_game_is_the_score_of_its_round() -> None:
    config, game = check_run(small(game_options={**GENERAL["game_options"], "reward": "score"}))  # type: ignore[dict-item]
    algorithm = MaskablePPOSelfPlay(config, game)
    rows = [algorithm.update(0) for _ in range(4)]
    games, paid, scored = (
        np.array([row[f"game/{name}"] for row in rows]) for name in ("games", "reward", "score")
    )
    assert games.sum() > 100
    assert (paid * games).sum() == pytest.approx((scored * games).sum())


def test_the_policy_plays_without_stable_baselines_as_it_does_with_it(finished: Path, tmp_path: Path) -> None:
    model = load_model(finished, trust=True)
    game = SB3Agent(model).game
    seen, masks = positions(game)
    agent = catbox_agents.make(finished, game)
    assert isinstance(agent, PolicyAgent)
    told = SB3Agent(model).policy_batch(seen, masks)
    assert np.allclose(agent.policy_batch(seen, masks), told, atol=1e-5)
    assert told.std() > 0.01
    model.save(tmp_path / "model.zip")
    again = catbox_agents.make(tmp_path / "model.zip", game)
    assert np.array_equal(again.policy_batch(seen, masks), agent.policy_batch(seen, masks))


def test_a_model_of_a_run_learns_on(finished: Path, brief_run: Path, tmp_path: Path) -> None:
    model = load_model(finished, trust=True)
    assert model.num_timesteps == 8 * 512
    before = {name: value.clone() for name, value in model.policy.state_dict().items()}
    model.learn(512, reset_num_timesteps=False)
    assert model.num_timesteps == 9 * 512
    assert any((before[name] != value).any() for name, value in model.policy.state_dict().items())
    with pytest.raises(FileNotFoundError, match="holds no training run"):
        load_model(tmp_path)
    with pytest.raises(ValueError, match="'ppo', expected a run of 'sb3'"):
        load_model(brief_run)


def test_a_run_leaves_the_generators_and_threads_of_the_process_as_they_were() -> None:
    def of_the_process() -> tuple[Any, ...]:
        numbers = np.random.get_state()[1].tolist()  # noqa: NPY002
        return random.getstate(), numbers, torch.get_rng_state().tolist(), torch.get_num_threads()

    before = of_the_process()
    config, game = check_run(small())
    MaskablePPOSelfPlay(config.replace(workers=2), game).update(0)
    assert of_the_process() == before


def test_every_seat_is_the_learners_and_every_agent_plays() -> None:
    config, game = check_run(small(**EVERYONE, num_envs=512))
    algorithm = MaskablePPOSelfPlay(config, game)
    games = algorithm.env.games
    assert np.allclose(games.chances, [0.6, 0, 0, 0.1, 0.1, 0.2])
    counts = np.bincount(games.players[games.players >= 0], minlength=6) / 1024
    assert np.allclose(counts, games.chances, atol=0.06)
    assert np.allclose(np.bincount(games.seats) / 512, 1 / 3, atol=0.08)
    algorithm.update(0)
    algorithm.update(0.5)
    assert np.allclose(games.chances, [0.3, 0.3, 0, 0.1, 0.1, 0.2])


def test_the_pool_keeps_the_last_copies() -> None:
    config, game = check_run(small())
    network = MaskablePPOSelfPlay(config, game).policy()
    pool, kept = Pool(3, 2, network), []
    for update in range(1, 11):
        arrays = {name: array.copy() for name, array in network.arrays().items()}
        arrays["layers.0.bias"][:] = update
        pool.end_update(update, type(network)(arrays, network.describe()))
        kept.append(sorted(float(n.arrays()["layers.0.bias"][0]) for n in pool.networks(update)))
    assert [len(values) for values in kept] == [1, 2, 2, 3, 3, 3, 3, 3, 3, 3]
    assert [kept[0], kept[3], kept[5], kept[9]] == [[0], [0, 2, 4], [2, 4, 6], [6, 8, 10]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opponents_in_training": {"random": 0.7, "heuristic": 0.7}}, "add up to at most 1, not 1.4"),
        ({"opponents_in_training": {"no_such": 0.5}}, "unknown agent 'no_such'"),
        ({"minibatch_size": 100}, "expected a multiple of minibatch_size"),
        ({"minibatch_size": 1}, "minibatch_size = 1: expected an integer from 2"),
        ({"device": "cuda"}, "sb3 runs on the CPU only"),
        ({"history": True}, "unknown setting 'history'"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_run(small(**settings))


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sb3_contrib" else find(name)
    )
    code, error = command("train", "--algo", "sb3", "--players", "3")
    assert code == 2
    assert "needs sb3_contrib, which" in error
    assert 'pip install "catbox-env[sb3,train]"' in error


def test_numbers_that_are_not_finite_stop_the_run(tmp_path: Path) -> None:
    with pytest.raises(TrainingDiverged, match=r"not finite.*--set learning_rate=0.001"):
        train(small(learning_rate=1e30, learning_rate_end=1e30), tmp_path / "run", quiet())
