"""The levels: what each is made of, and that they play as strongly as they are called."""

from __future__ import annotations

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import SearchAgent
from catbox_agents.heuristics import HEURISTICS
from catbox_agents.levels import EasyAgent
from catbox_agents.networks.policy_agent import PolicyAgent


def game_for(game_id: str = "cat_in_the_box_v0", **options: object) -> catbox_env.Game:
    return catbox_env.make_game(game_id, **{"reward": "margin", **options})


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_easy_is_random_in_every_other_action_and_else_the_hand_written_player(game_id: str) -> None:
    game = game_for(game_id)
    vec = catbox_env.make_vec(game_id, 400, seed=1, history=True)
    vec.step_random(3, seed=2)
    easy, player = catbox_agents.make("easy", game, seed=3), catbox_agents.make("heuristic", game)
    policies = easy.policy_batch(vec.observation, vec.action_mask)
    chosen = player.act_batch(vec.observation, vec.action_mask)
    rows = np.arange(400)
    legal = vec.action_mask.sum(axis=1)
    assert policies[rows, chosen] == pytest.approx(0.5 + 0.5 / legal)
    assert policies.sum(axis=1) == pytest.approx(1)
    assert not policies[~vec.action_mask].any()
    played = easy.act_batch(vec.observation, vec.action_mask)
    many = legal > 1
    expected = policies[rows, chosen][many].mean()
    assert (played == chosen)[many].mean() == pytest.approx(expected, abs=0.1)
    easy.seed_decisions(np.arange(400, dtype=np.uint64))
    again = catbox_agents.make("easy", game, seed=99)
    again.seed_decisions(np.arange(400, dtype=np.uint64))
    one, two = (agent.act_batch(vec.observation, vec.action_mask) for agent in (easy, again))
    assert np.array_equal(one, two)


def test_the_levels_are_the_agents_at_hand() -> None:
    with_zoo, without = game_for(num_players=3), game_for(num_players=3, num_ranks=5)
    assert isinstance(catbox_agents.make("easy", with_zoo), EasyAgent)
    assert type(catbox_agents.make("normal", with_zoo)) is type(catbox_agents.make("heuristic", with_zoo))
    hard = catbox_agents.make("hard", with_zoo)
    assert isinstance(hard, SearchAgent)
    assert hard.search.worlds == 64
    heuristic = type(catbox_agents.make("heuristic", with_zoo))
    policy, opponents = hard.search.players
    assert isinstance(policy.agent, PolicyAgent)
    assert type(opponents.agent) is heuristic
    hard = catbox_agents.make("hard", without)
    assert isinstance(hard, SearchAgent)
    assert [type(player.agent) for player in hard.search.players] == [heuristic]
    nothing_hidden = catbox_agents.make("hard", game_for("petrify_v0"))
    assert isinstance(nothing_hidden, SearchAgent)
    assert len(nothing_hidden.search.players) == 1


def test_a_game_without_a_hand_written_player_has_levels_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(HEURISTICS, "petrify_v0")
    game = game_for("petrify_v0", size=3)
    state = game.new_initial_state(seed=1)
    for level in ("easy", "normal", "hard"):
        action = catbox_agents.make(level, game, 0).act(state.observation(0), state.action_mask(), None)
        assert action in state.legal_actions()


def test_a_higher_level_is_stronger() -> None:
    game = game_for(num_players=3)
    for one, other in (("easy", "random"), ("normal", "easy")):
        margin = catbox_agents.evaluate(game, [one, other], num_deals=100, seed=4)[one]
        assert margin.margin - margin.margin_ci95 > 0.2, (one, other)
