"""Rollouts of networks in compiled code are those of `play_out`, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import catbox_agents
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.search import RolloutSearch, playing, policy_rollouts
from catbox_agents.search.playing import Player, rollout_rewards
from catbox_agents.search.policy_rollouts import Leaf, plays_compiled, policy_rewards
from catbox_env import Game, make_game, make_vec

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 3}),
    ("cat_in_the_box_v0", {"num_players": 5, "reward": "margin", "rounds": 2}),
    ("cat_te_v0", {"num_players": 4}),
    ("petrify_v0", {}),
]


def agent_for(game: Game, activation: str = "relu", num_values: int = 0, **inputs: bool) -> PolicyAgent:
    uses = {"use_features": True, "use_action_features": True, **inputs}
    network = MLP(NetworkInputs(game, **uses), num_values, (16, 8), activation)
    network.initialise(torch.Generator().manual_seed(3), last_gain=1.0)
    return PolicyAgent(network, game)


@pytest.mark.parametrize("until", ["end_of_round", "end_of_game"])
@pytest.mark.parametrize(("game_id", "options"), GAMES)
@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_rollouts_pay_what_those_in_python_pay(
    game_id: str, options: dict[str, Any], until: str, threads: int
) -> None:
    game = make_game(game_id, **options)
    agent = agent_for(game)
    assert plays_compiled(agent, has_keys=False)
    vec = make_vec(game_id, 101, seed=1, num_threads=threads, **options)
    vec.step_random(5, seed=2)
    ours = make_vec(game_id, 101, seed=9, num_threads=threads, auto_deal=False, **options)
    ours.set_states(vec)
    expected = ours.take(np.arange(101))
    running = np.flatnonzero(ours.current_player >= 0)
    paid = policy_rewards(agent, ours, running, until == "end_of_game", None)
    assert np.array_equal(paid, catbox_agents.play_out(expected, agent, until=until))
    assert paid.any()
    assert np.array_equal(ours.observation, expected.observation)


@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_sampled_rollouts_are_compiled_too(
    game_id: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make_game(game_id, **options)
    player = Player(PolicyAgent(agent_for(game).network, game, seed=0, greedy=False), "net")
    vec = make_vec(game_id, 101, seed=1, auto_deal=False, **options)
    keys = np.arange(101, dtype=np.uint64) // np.uint64(2)
    paid = {}
    for compiled in (True, False):
        monkeypatch.setattr(playing, "plays_compiled", lambda *_, answer=compiled: answer)
        paid[compiled] = rollout_rewards(
            vec.take(np.arange(101)), np.arange(101), [player], np.zeros((1, game.num_players), np.int64),
            "end_of_game", keys,
        )  # fmt: skip
    assert plays_compiled(player.agent, has_keys=True)
    assert not plays_compiled(player.agent, has_keys=False)
    assert paid[True].any()
    assert np.array_equal(paid[True], paid[False])


@pytest.mark.parametrize("depth", [1, 2, 100])
@pytest.mark.parametrize(("game_id", "options"), GAMES)
def test_a_critic_values_what_lies_deeper(game_id: str, options: dict[str, Any], depth: int) -> None:
    """Compiled, in Python, and game by game, step by step."""
    game = make_game(game_id, **options)
    player = Player(agent_for(game, num_values=1), "net")
    begun = make_vec(game_id, 101, seed=1, **options)
    begun.step_random(7, seed=2)
    vec = make_vec(game_id, 101, seed=9, auto_deal=False, **options)
    vec.set_states(begun)
    running = np.flatnonzero(vec.current_player >= 0)
    vec = vec.take(running)
    seats, every = vec.current_player.astype(np.int64), np.arange(len(running))
    paid = {}
    for compiled in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(playing, "plays_compiled", lambda *_, answer=compiled: answer)
            paid[compiled] = rollout_rewards(
                vec.take(every), every, [player], np.zeros((1, game.num_players), np.int64), "end_of_game", None,
                Leaf(seats, depth),
            )  # fmt: skip
    assert np.allclose(paid[True], paid[False], rtol=0, atol=1e-5)
    for row in range(0, len(running), 10):
        state, expected, choices = vec.get_state(row), np.zeros(game.num_players), 0
        while state.current_player >= 0:
            seat, mask = state.current_player, state.action_mask()[None]
            seen = state.observation(seat)[None]
            choices += seat == seats[row] and mask.sum() > 1
            if choices == depth:
                expected[seat] += player.agent.value_batch(seen, mask)[0]  # type: ignore[attr-defined]
                break
            state.apply_action(int(player.agent.act_batch(seen, mask)[0]))
            expected += state.rewards()
        assert np.allclose(paid[True][row], expected, rtol=0, atol=1e-5)


def test_all_actions_are_valued_to_the_end_of_the_match(tmp_path: Path) -> None:
    """Also those after which the round ends before the critic takes over."""
    options = {"num_players": 3, "reward": "margin", "rounds": 2}
    game = make_game("cat_in_the_box_v0", **options)
    agent_for(game, num_values=1).save(tmp_path / "net")
    vec = make_vec(game.id, 8, seed=1, history=True, **options)
    vec.step_random(12, seed=3)
    search = RolloutSearch(game, str(tmp_path / "net"), worlds=4, depth=100)
    games, actions = vec.take(np.arange(8)), vec.action_mask.argmax(axis=1)
    seats, every = games.current_player.astype(np.int64), np.arange(8)
    paid = search._play(games, actions, np.zeros((1, 3), np.int64), None)
    expected = vec.take(every)
    expected.step(actions)
    first = expected.rewards[every, seats].astype(float)
    rest = catbox_agents.play_out(expected, str(tmp_path / "net"), until="end_of_game")
    assert np.array_equal(paid, first + rest[every, seats])


def test_a_search_plays_as_deep_as_it_is_asked_to(tmp_path: Path) -> None:
    """To the end if that is nearer, and only with a critic of the same reward."""
    game = make_game("cat_in_the_box_v0", num_players=3, reward="margin")
    agent_for(game, num_values=1).save(tmp_path / "net")
    agent_for(game).save(tmp_path / "plain")
    vec = make_vec(game.id, 8, seed=1, num_players=3, reward="margin", history=True)
    vec.step_random(12, seed=3)
    values = [
        catbox_agents.make(f"search:worlds=4,depth={depth},policy={tmp_path / 'net'}", game, seed=1)
        .search_batch(vec.observation, vec.action_mask, vec.history)  # type: ignore[attr-defined]
        .values
        for depth in (0, 1, 40)
    ]
    assert np.array_equal(values[0], values[2], equal_nan=True)
    assert not np.array_equal(values[0], values[1], equal_nan=True)
    with pytest.raises(
        ValueError, match=r"depth=2: policy .* has no critic .* give a policy that ppo trained"
    ):
        catbox_agents.make(f"search:depth=2,policy={tmp_path / 'plain'}", game)
    for options, said in (
        ({"reward": "score"}, "trained with reward=margin, this game has reward=score"),
        ({"reward": "margin", "rounds": 2}, "trained with rounds=1, this game has rounds=2"),
    ):
        with pytest.raises(ValueError, match=said):
            catbox_agents.make(
                f"search:depth=2,policy={tmp_path / 'net'}", make_game(game.id, num_players=3, **options)
            )
    with pytest.raises(ValueError, match="it has no critic"):
        agent_for(game).value_batch(vec.observation, vec.action_mask)


@pytest.mark.parametrize("line_up", [[[0, 1, 0]], [[0, 0, 0], [1, 0, 1]] * 20])
def test_each_seat_is_played_by_its_player(line_up: list[list[int]]) -> None:
    """The same for all games, or games of the network alone beside others."""
    game = make_game("cat_in_the_box_v0", num_players=3)
    agents = [agent_for(game), catbox_agents.make("heuristic", game)]
    vec = make_vec(game.id, 40, seed=1, auto_deal=False, num_players=3)
    players = [Player(agent, "player") for agent in agents]
    every = np.arange(40)
    paid = rollout_rewards(vec.take(every), every, players, np.array(line_up), "end_of_game", None)
    for row in range(40):
        seated = [agents[k] for k in line_up[row % len(line_up)]]
        expected = catbox_agents.play_out(vec.take(np.array([row])), seated, until="end_of_game")
        assert np.array_equal(paid[row], expected[0])


@pytest.mark.parametrize("beta", [0.0, 0.25])
def test_equal_worlds_are_played_once(beta: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two players few worlds differ late in a round: the results are those of playing each of them."""
    vec = make_vec("cat_in_the_box_v0", 20, seed=1, num_players=2, history=True)
    vec.step_random(12, seed=2)
    played: list[int] = []
    play = RolloutSearch._play

    def count(self: RolloutSearch, games: Any, *others: Any) -> Any:
        played.append(games.num_envs)
        return play(self, games, *others)

    monkeypatch.setattr(RolloutSearch, "_play", count)
    search = RolloutSearch(vec.game, agent_for(vec.game), 64, beta=beta, proposals=2)
    assert search.plays_alike
    found = search.search(vec.observation, vec.action_mask, 3, vec.history)
    once, search.plays_alike = sum(played), False
    played.clear()
    expected = search.search(vec.observation, vec.action_mask, 3, vec.history)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert once < 0.7 * sum(played)
    assert not RolloutSearch(vec.game, "random").plays_alike


def test_other_policies_are_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("petrify_v0")
    for agent in (
        agent_for(game, "tanh"),
        agent_for(game, use_features=False),
        agent_for(game, use_action_features=False),
        catbox_agents.make("heuristic", game),
        type("Mine", (PolicyAgent,), {})(agent_for(game).network, game),
    ):
        assert not plays_compiled(agent, has_keys=True)
    monkeypatch.setattr(policy_rollouts, "HAS_NUMBA", False)
    assert not plays_compiled(agent_for(game), has_keys=True)


def test_logits_that_are_not_finite_are_an_error() -> None:
    game = make_game("petrify_v0")
    agent = agent_for(game)
    for _, bias in agent.network.layers[:1]:
        bias[:] = 3e38
    vec = make_vec("petrify_v0", 8, seed=1, auto_deal=False)
    with pytest.raises(ValueError, match="logits that are not finite"):
        rollout_rewards(
            vec, np.arange(8), [Player(agent, "net")], np.zeros((1, 2), np.int64), "end_of_game", None
        )
