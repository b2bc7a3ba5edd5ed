"""RLlib's own code on our environment and module: every reward of every seat arrives, and no illegal action does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner

from catbox_agents.learners.rllib import SelfPlayEnv
from catbox_env.core.conformance import check_copies_play_on
from examples.rllib_self_play import MaskedModule

SMALL: dict[str, dict[str, Any]] = {
    "cat_in_the_box_v0": {"num_players": 3, "num_ranks": 3, "copies": 4, "rounds": 2},
    "cat_te_v0": {},
    "petrify_v0": {},
}


class CountingEnv(SelfPlayEnv):
    """Writes down what each seat was paid in each finished game."""

    paid: list[dict[str, float]] = []  # noqa: RUF012  (of the class: RLlib makes the environment)
    unasked: list[dict[str, float]] = []  # noqa: RUF012

    def step(self, action_dict: dict[str, int]) -> Any:
        found = super().step(action_dict)
        if found[2]["__all__"]:
            returns = self._state.returns()
            CountingEnv.paid.append(dict(zip(self.possible_agents, returns, strict=True)))
            CountingEnv.unasked.append(found[4].get("__common__", {}).get("never_moved", {}))
        return found


@pytest.fixture(scope="module", autouse=True)
def connection() -> Iterator[None]:
    ray.init("local", num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield
    ray.shutdown()


def configured(env: type[SelfPlayEnv], game: dict[str, Any], **runners: Any) -> PPOConfig:
    return (
        PPOConfig()
        .environment(env, env_config=game, disable_env_checking=True)
        .multi_agent(policies={"policy"}, policy_mapping_fn=lambda agent, episode, **more: "policy")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedModule, model_config={"hidden": 16}))
        .env_runners(num_env_runners=0, **runners)
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=256, minibatch_size=64, num_epochs=1)
        .debugging(seed=3, log_level="ERROR")
    )


@pytest.mark.parametrize("whole", [True, False], ids=["whole games", "games cut into pieces"])
@pytest.mark.parametrize("game_id", SMALL)
def test_every_reward_of_every_seat_is_in_the_episodes(game_id: str, whole: bool) -> None:
    """What RLlib hands to the learner adds up to what the games paid."""
    CountingEnv.paid, CountingEnv.unasked = [], []
    game = {"game": game_id, **SMALL[game_id]}
    runner = MultiAgentEnvRunner(config=configured(CountingEnv, game, rollout_fragment_length=25))
    learned: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    ended = []
    while len(ended) < 12:
        episodes = runner.sample(num_episodes=4) if whole else runner.sample(num_timesteps=25)
        for episode in episodes:
            for name, seat in episode.agent_episodes.items():
                learned[episode.id_][name] += float(np.sum(seat.get_rewards()))
            if episode.is_done:
                ended.append(episode.id_)
    assert len(ended) == len(CountingEnv.paid)
    for number, paid, unasked in zip(ended, CountingEnv.paid, CountingEnv.unasked, strict=True):
        for name, points in paid.items():
            assert learned[number].get(name, 0.0) + unasked.get(name, 0.0) == pytest.approx(points)
    assert any(abs(points) > 0 for paid in CountingEnv.paid for points in paid.values())


def test_a_seats_reward_belongs_to_its_own_last_move() -> None:
    """With its next observation a seat is paid everything since its last move; nothing with its first one."""
    env, generator = SelfPlayEnv({"num_players": 3, "rounds": 3}), np.random.default_rng(0)
    seen, _ = env.reset(seed=1)
    owed, moved = dict.fromkeys(env.possible_agents, 0.0), set()
    over = False
    while not over:
        [(name, view)] = seen.items()
        assert env.observation_spaces[name].contains(view)
        legal = np.flatnonzero(view["action_mask"])
        assert len(legal)
        moved.add(name)
        seen, rewards, terminated, truncated, _ = env.step({name: int(generator.choice(legal))})
        for seat, points in enumerate(env._state.rewards()):
            owed[env.possible_agents[seat]] += points
        over = terminated["__all__"]
        assert not truncated["__all__"]
        assert set(rewards) == set(seen) & moved
        for name, points in rewards.items():
            assert points == pytest.approx(owed[name])
            owed[name] = 0.0
    assert set(seen) == moved == set(env.possible_agents)
    assert owed == dict.fromkeys(owed, 0.0)
    assert not any(view["action_mask"].any() for view in seen.values())


def test_the_same_seed_gives_the_same_games() -> None:
    def games(env: SelfPlayEnv) -> list[Any]:
        found = [env.reset(seed=5)[0]] + [env.reset()[0] for _ in range(2)]
        return [[view["observations"].tolist() for view in seen.values()] for seen in found]

    one, other = games(SelfPlayEnv({})), games(SelfPlayEnv({}))
    assert one == other
    assert one[0] != one[1] != one[2]


def play(env: SelfPlayEnv, number: int) -> None:
    state = env._running()
    if state.is_terminal():
        env.shown = env.reset()  # type: ignore[attr-defined]
        return
    legal = state.legal_actions()
    name = env.possible_agents[state.current_player]
    env.shown = env.step({name: legal[number % len(legal)]})  # type: ignore[attr-defined]


@pytest.mark.parametrize("game_id", SMALL)
def test_a_copy_goes_on_as_the_original_does(game_id: str) -> None:
    """In this game, in its later rounds, and in the next games, which are dealt anew."""
    env = SelfPlayEnv({"game": game_id, **SMALL[game_id]})
    env.reset(seed=1)
    play(env, 0)
    num_moves = 3 * env.game.max_game_length
    check_copies_play_on(env, play, lambda env: {"shown": np.array(repr(env.shown))}, num_moves)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown game"):
        SelfPlayEnv({"game": "chess"})
    with pytest.raises(ValueError, match="num_playrs"):
        SelfPlayEnv({"num_playrs": 3})
    env = SelfPlayEnv({})
    [name] = env.reset(seed=0)[0]
    with pytest.raises(ValueError, match="expected one, of " + name):
        env.step({})
    with pytest.raises(ValueError, match="illegal action") as refusal:
        env.step({name: env.game.num_actions - 1})
    assert any("disable_env_checking" in note for note in refusal.value.__notes__)


@pytest.mark.parametrize(
    "ours", [True, False], ids=["MaskedModule", "RLlib's example of a module with masks"]
)
def test_the_gymnasium_view_is_taken_as_it_is(ours: bool) -> None:
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    keys = {"observation": "observations", "action_mask": "action_mask"}
    module, settings = (MaskedModule, {"hidden": 16}) if ours else (ActionMaskingTorchRLModule, {})
    algorithm = (
        PPOConfig()
        .environment(
            "catbox_env:catbox/CatInTheBox-v0",
            env_config={
                "num_players": 3,
                "opponents": "random",
                "mask_in_observation": keys,
                "dtype": np.float32,
            },
            disable_env_checking=True,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=module, model_config=settings))
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
        .debugging(seed=3, log_level="ERROR")
        .build_algo()
    )
    results = algorithm.train()
    assert results["env_runners"]["num_episodes"] > 0  # and no action was illegal: that is an error
    assert np.isfinite(results["learners"]["default_policy"]["total_loss"])
    algorithm.stop()


def test_the_example_learns() -> None:
    from examples.rllib_self_play import make_config, margin

    algorithm = make_config(batch_size=2000).build_algo()
    before = margin(algorithm)
    for _ in range(3):
        algorithm.train()
    after = margin(algorithm)
    algorithm.stop()
    assert after.margin - after.margin_ci95 > before.margin + before.margin_ci95
    assert after.margin > 1.0
