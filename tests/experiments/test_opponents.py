"""Opponents for the zoo's agents: their habits are seen in play, and every action is legal."""

import numpy as np
import pytest

import catbox_agents
from catbox_env import make_vec
from experiments.opponents import Habits, NeverRed


@pytest.mark.parametrize("players", [2, 3, 5])
def test_each_habit_is_kept_and_every_action_is_legal(players: int) -> None:
    vec = make_vec("cat_in_the_box_v0", 600, seed=1, num_players=players)
    agent, heuristic = Habits(vec.game, 0), catbox_agents.make("heuristic", vec.game)
    layout, rules = vec.game.observation_layout, vec.game.rules
    others = np.zeros(3, int)
    avoided = 0
    for _ in range(vec.game.max_game_length):
        actions = agent.act_batch(vec.observation, vec.action_mask)
        assert vec.action_mask[np.arange(600), actions].all()
        discarded = vec.observation[:, layout["discarded"].slice]
        rank, differs = discarded.argmax(1), actions != heuristic.act_batch(vec.observation, vec.action_mask)
        assert not differs[~discarded.any(1)].any()
        for habit in range(3):
            others[habit] += (differs & discarded.any(1) & (rank % 3 == habit)).sum()
        color = (actions - rules.first_play) // rules.num_ranks
        plays = (
            (rank % 3 == 1) & discarded.any(1) & (actions >= rules.first_play) & (actions != rules.paradox)
        )
        own = plays & (color == 1 + rank // 3 % (rules.num_colors - 1))
        free = vec.action_mask.copy()
        free[:, rules.paradox] = False
        for row in np.flatnonzero(own):  # nothing else was legal
            legal = np.flatnonzero(free[row])
            assert ((legal - rules.first_play) // rules.num_ranks == color[row]).all()
        avoided += int((plays & ~own).sum())
        vec.step(actions)
    assert avoided > 100
    assert (others[:2] > 50).all()
    assert (others[2] > 50) == (players > 2)  # two players do not bid


def test_red_is_declared_only_if_nothing_else_is_legal() -> None:
    vec = make_vec("cat_in_the_box_v0", 300, seed=1, num_players=4)
    agent, heuristic = NeverRed(vec.game), catbox_agents.make("heuristic", vec.game)
    rules = vec.game.rules
    red = np.zeros(vec.game.num_actions, bool)
    red[rules.first_play : rules.first_play + rules.num_ranks] = True
    others = 0
    for _ in range(vec.game.max_game_length):
        actions = agent.act_batch(vec.observation, vec.action_mask)
        assert vec.action_mask[np.arange(300), actions].all()
        assert not vec.action_mask[red[actions]][:, ~red].any()
        others += (actions != heuristic.act_batch(vec.observation, vec.action_mask)).sum()
        vec.step(actions)
    assert others > 100
