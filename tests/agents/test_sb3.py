"""Batches of games as a VecEnv of Stable-Baselines3, and its models as agents."""

from __future__ import annotations

import copy
import sys
import types
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import (
    VecCheckNan,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
    VecVideoRecorder,
)

import catbox_agents
from catbox_agents.learners.gymnasium import LearnerGames, LearnerVectorEnv
from catbox_agents.sb3 import SB3Agent, VecEnv
from catbox_env import GAMES, make_game
from examples import sb3_self_play
from tests.agents.policies import random_legal

#: A game of few cards.
SMALL = {"num_players": 2, "hand_size": 4, "num_ranks": 3, "copies": 4, "revealed_cards": 0}


def small(num_envs: int = 8, **options: Any) -> VecEnv:
    return VecEnv("cat_in_the_box_v0", num_envs, **{"opponents": "random", **SMALL, **options})


def test_a_video_recorder_films_what_the_learners_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "moviepy", types.ModuleType("moviepy"))  # it writes the file
    env = small(4, render_mode="rgb_array", learner_seat="random")
    view = LearnerVectorEnv(4, "cat_in_the_box_v0", "random", "random", render_mode="rgb_array", **SMALL)
    recorder = VecVideoRecorder(env, str(tmp_path), lambda step: step == 0, video_length=5)
    assert recorder.frames_per_sec == view.metadata["render_fps"]
    recorder.seed(3)
    recorder.reset()
    _, infos = view.reset(seed=3)
    for _ in range(3):
        first, *_ = view.render()
        frame = recorder.recorded_frames.pop()
        height, width, _ = first.shape
        assert frame.shape == (2 * height, 2 * width, 3)
        assert np.array_equal(frame[:height, :width], first)
        actions = infos["action_mask"].argmax(1)
        recorder.step(actions)
        *_, infos = view.step(actions)
    recorder.recorded_frames.clear()
    assert small().render_mode is None
    with pytest.raises(ValueError, match="render_mode='human'"):
        small(render_mode="human")


def maskable(env: Any, **settings: Any) -> MaskablePPO:
    return MaskablePPO(
        "MlpPolicy", env, **{"n_steps": 16, "batch_size": 64, "device": "cpu", "seed": 0, **settings}
    )


@pytest.mark.parametrize(
    ("game_id", "features"), [*((game_id, True) for game_id in GAMES), ("petrify_v0", False)]
)
def test_it_plays_the_games_of_the_gymnasium_view(game_id: str, features: bool) -> None:
    options: dict[str, Any] = {"opponents": {"any_of": ["random", "heuristic"]}, "learner_seat": "random"}
    env, view = VecEnv(game_id, 16, features=features, **options), LearnerVectorEnv(16, game_id, **options)
    size = view.single_observation_space.shape[0]
    env.seed(5)
    seen, (expected, infos) = env.reset(), view.reset(seed=5)
    generator, ended = np.random.default_rng(0), 0
    for _ in range(120):
        assert seen.dtype == np.int8
        assert seen.shape == (16, *env.observation_space.shape)
        assert env.observation_space.contains(seen[0])
        assert np.array_equal(seen[:, :size], expected)
        masks = np.stack(env.env_method("action_masks"))
        assert np.array_equal(masks, infos["action_mask"])
        if features:
            assert np.array_equal(
                seen[:, size:], catbox_agents.features.features_of(env.game).compute(expected, masks)[0]
            )
        actions = random_legal(generator, masks)
        seen, rewards, dones, told = env.step(actions)
        expected, paid, terminated, _, infos = view.step(actions)
        assert rewards.dtype == np.float32
        assert np.array_equal(rewards, paid.astype(np.float32))
        assert np.array_equal(dones, terminated)
        skipped = infos.get("skipped_games", np.zeros(16, int))
        assert [info.get("skipped_games", 0) for info in told] == skipped.tolist()
        for row in np.flatnonzero(dones):
            last = told[row]["terminal_observation"]
            assert np.array_equal(last[:size], infos["final_obs"][row])
            assert last.shape == env.observation_space.shape
            assert told[row]["TimeLimit.truncated"] is False
            for name in env.games.vec.info:
                assert told[row][name] == infos["final_info"][name][row]
            ended += 1
    assert ended > 16


def test_the_wrappers_of_stable_baselines_take_it() -> None:
    env = VecMonitor(VecNormalize(VecCheckNan(small(), raise_exception=True)))
    model = maskable(env)
    model.learn(256)
    assert len(model.ep_info_buffer) > 10
    mean, deviation = evaluate_policy(model, env, n_eval_episodes=20)
    low, high = env.unwrapped.game.min_utility, env.unwrapped.game.max_utility
    assert low <= mean <= high
    assert deviation > 0
    assert not any(env.env_is_wrapped(VecMonitor))


def test_attributes_and_methods_of_single_games() -> None:
    env = small(4)
    env.reset()
    assert env.get_attr("game") == [env.game] * 4
    assert env.get_attr("render_mode", [1, 2]) == [None, None]
    assert np.array_equal(env.get_attr("action_masks")[2](), env.action_masks()[2])
    assert env.has_attr("action_masks")
    assert not env.has_attr("level")
    with pytest.raises(AttributeError, match="all games of the batch share it"):
        env.set_attr("game", None)
    (mask,) = env.env_method("action_masks", indices=-1)
    assert np.array_equal(mask, env.action_masks()[3])
    assert env.env_method("render", indices=0)[0] == env.game.render_text(env.games.vec.get_state(0), 0)
    with pytest.raises(AttributeError, match="'fly'"):
        env.env_method("fly")
    twin = copy.deepcopy(env)
    actions = env.action_masks().argmax(axis=1)
    assert all(
        np.array_equal(a, b) for a, b in zip(env.step(actions)[:3], twin.step(actions)[:3], strict=True)
    )


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="num_envs=0: expected an integer of 1 or more"):
        small(0)
    with pytest.raises(ValueError, match="features='yes': expected True or False"):
        small(features="yes")
    for error in (ValueError, TypeError):
        with pytest.raises(
            error, match=r"unknown option 'opponent' .*expected one of opponents, .*num_players"
        ):
            small(opponent="random")
    env = small(2)
    env.set_options({"deal": 1})
    with pytest.raises(ValueError, match="has no options"):
        env.reset()
    env.set_options()
    env.reset()
    illegal = (~env.action_masks()).argmax(axis=1)
    before = env.observation()
    with pytest.raises(ValueError, match="row 0: action"):
        env.step(illegal)
    assert np.array_equal(env.observation(), before)


@pytest.mark.slow
def test_an_unmodified_maskable_ppo_learns_to_beat_random() -> None:
    env = small(64, learner_seat="random")
    model = maskable(
        env, n_steps=32, batch_size=512, n_epochs=4, learning_rate=2e-3, gamma=1.0, ent_coef=0.01
    )
    before = catbox_agents.evaluate(env.game, [SB3Agent(model), "random"], 400, seed=9).standings[0]
    model.learn(40_000)
    after = catbox_agents.evaluate(env.game, [SB3Agent(model), "random"], 400, seed=9).standings[0]
    assert after.margin - after.margin_ci95 > max(0.0, before.margin + before.margin_ci95)


def positions(game: Any, count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Observations and masks from random play."""
    vec = LearnerGames(game, count, "random", "random").vec
    rng, rows = np.random.default_rng(2), np.arange(count)
    steps = rng.integers(0, 8, count)
    for step in range(8):
        going = rows[(steps > step) & (vec.current_player >= 0)]
        vec.step(random_legal(rng, vec.action_mask[going]), going)
    going = vec.current_player >= 0
    return vec.observation[going].copy(), vec.action_mask[going].copy()


def test_a_model_is_an_agent() -> None:
    env = small()
    model = maskable(env).learn(256)
    agent = SB3Agent(model)
    assert agent.game.options == env.game.options
    seen, masks = positions(env.game)
    told = agent.policy_batch(seen, masks)
    with torch.no_grad():
        wanted = model.policy.get_distribution(torch.from_numpy(seen), masks).distribution.probs.numpy()
    assert np.allclose(told, np.where(masks, wanted, 0), atol=1e-6)
    actions, _ = model.predict(seen, action_masks=masks, deterministic=True)
    assert np.array_equal(agent.act_batch(seen, masks), actions)
    assert agent.act(seen[0], masks[0]) == actions[0]
    drawn = SB3Agent(model, env.game, seed=1, greedy=False)
    assert not np.array_equal(drawn.act_batch(seen, masks), actions)
    assert masks[np.arange(len(masks)), drawn.act_batch(seen, masks)].all()
    result = catbox_agents.evaluate(env.game, [agent, drawn], 10, seed=0)
    assert len(result.standings) == 2


def test_a_model_without_masks_plays_its_best_legal_action() -> None:
    env = small(4)
    model = A2C("MlpPolicy", env, n_steps=16, device="cpu")
    agent = SB3Agent(model)
    seen, masks = positions(env.game)
    with torch.no_grad():
        logits = model.policy.get_distribution(torch.from_numpy(seen)).distribution.logits.numpy()
    assert np.array_equal(agent.act_batch(seen, masks), np.where(masks, logits, -np.inf).argmax(axis=1))
    assert len(catbox_agents.evaluate(env.game, [agent, "random"], 10, seed=0).standings) == 2


def test_a_model_of_normalized_observations_is_given_them() -> None:
    env = VecNormalize(small(features=True))
    model = maskable(env).learn(256)
    agent = SB3Agent(model)
    seen, masks = positions(env.unwrapped.game)
    features = catbox_agents.features.features_of(env.unwrapped.game).compute(seen, masks)[0]
    inputs = env.normalize_obs(np.concatenate([seen, features], axis=1))
    actions, _ = model.predict(inputs, action_masks=masks, deterministic=True)
    assert np.array_equal(agent.act_batch(seen, masks), actions)


def test_models_that_cannot_play_are_refused() -> None:
    env, game = small(2), make_game("cat_in_the_box_v0", num_players=3)
    model = maskable(env)
    with pytest.raises(ValueError, match=r"made for cat_in_the_box_v0 with .*num_players=2.*num_players=3"):
        SB3Agent(model, game)
    with pytest.raises(ValueError, match="expected a model of Stable-Baselines3"):
        SB3Agent(env)
    with pytest.raises(ValueError, match="DQN has no distribution over actions"):
        SB3Agent(DQN("MlpPolicy", env, buffer_size=10, device="cpu"))
    vars(model.observation_space).pop("catbox")
    with pytest.raises(ValueError, match="give the game"):
        SB3Agent(model)
    with pytest.raises(
        ValueError, match=r"takes observations of shape \(\d+,\) .*another game or other rules"
    ):
        SB3Agent(model, game)
    parts = gymnasium.make("catbox/CatInTheBox-v0", opponents="random", mask_in_observation=True, **SMALL)
    with pytest.raises(ValueError, match="takes a Dict, expected an array"):
        SB3Agent(MaskablePPO("MultiInputPolicy", parts, n_steps=16, batch_size=16, device="cpu"))
    agent = SB3Agent(model, env.game)
    seen, masks = positions(env.game)
    with pytest.raises(ValueError, match="row 0 has no legal action"):
        agent.act_batch(seen, np.zeros_like(masks))
    with pytest.raises(ValueError, match=r"expected integers of shape \(N, "):
        agent.act_batch(seen[:, :-1], masks)
    with torch.no_grad():
        model.policy.action_net.bias.fill_(float("nan"))
    with pytest.raises(ValueError, match="nan"):
        agent.act_batch(seen, masks)


def test_learners_without_masks_train_where_illegal_actions_are_allowed() -> None:
    illegal_action = "random_legal"
    env = VecEnv("cat_in_the_box_v0", 16, "random", illegal_action=illegal_action, num_players=3)
    PPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1).learn(256)
    env.reset()
    illegal = (~env.action_masks()).argmax(axis=1)
    _, _, dones, infos = env.step(illegal)
    assert [info["illegal_action"] for info in infos] == illegal.tolist()
    assert not dones.any()
    assert env.action_masks().any(axis=1).all()


def test_a_model_on_stacked_observations_is_refused_with_the_reason(tmp_path: Path) -> None:
    env = small(4)
    model = MaskablePPO("MlpPolicy", VecFrameStack(env, 3), n_steps=4, batch_size=16, device="cpu").learn(16)
    size = env.game.observation_layout.size
    said = f"takes {3 * size} inputs, 3 times the game's {size}, as in a VecFrameStack of 3; .* train without"
    with pytest.raises(ValueError, match=f"MaskablePPO {said}"):
        SB3Agent(model, env.game)
    model.save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match=f"model.zip: MaskablePPO {said}"):
        catbox_agents.make(tmp_path / "model.zip", env.game)


def test_the_example_learns_against_its_own_past(tmp_path: Path) -> None:
    """Briefly: every batch is kept, copies and agents sit at the tables, and the model that it writes is an agent."""
    lines = (
        (Path(__file__).parents[2] / "examples" / "sb3_self_play.py").read_text(encoding="utf-8").splitlines()
    )
    assert len(lines) <= 150
    found = sb3_self_play.train(tmp_path, decisions=512, num_envs=16, num_steps=16, hidden=8, num_deals=10)
    assert list(found) == ["random", "heuristic"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "0000.zip",
        "0001.zip",
        "0002.zip",
        "model.zip",
    ]
    game = make_game("cat_in_the_box_v0", num_players=3, reward="margin")
    last, model = (catbox_agents.make(tmp_path / name, game) for name in ("0002.zip", "model.zip"))
    seen, masks = positions(game)
    assert np.array_equal(last.policy_batch(seen, masks), model.policy_batch(seen, masks))


def test_the_copies_of_the_example_take_the_place_of_the_oldest(tmp_path: Path) -> None:
    env = sb3_self_play.make_env(2)
    model = sb3_self_play.make_model(env, 4, 8, 0)
    for number in range(10):
        sb3_self_play.keep(model, env, number, tmp_path)
    kept = ["0008.zip", "0009.zip", *(f"{number:04d}.zip" for number in range(2, 8))]
    assert env.games.labels == [*kept, "random", "heuristic"]
