"""The hand-written players of Cat in the Box in other styles than the heuristic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import catbox_agents
from catbox_agents.heuristics.base import plays_on_gpu
from catbox_env import make_game, make_vec
from tests.cat_in_the_box.positions import play, start

# Careful ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["careful", "careful:1", "habits:2", "never_red:3"])
@pytest.mark.parametrize(
    "options",
    [
        *({"num_players": players} for players in (2, 3, 4, 5)),
        {"num_players": 2, "revealed_cards": 0},
        {"num_players": 3, "num_ranks": 7},
        {"num_players": 3, "bids": (0, 1, 3, 8)},
        {"num_players": 3, "num_colors": 2, "copies": 4, "hand_size": 5, "bids": ()},
        {"num_players": 2, "num_ranks": 2, "hand_size": 3, "num_colors": 2, "revealed_cards": 0},
    ],
)
def test_every_style_plays_every_rule_legally_and_the_same_each_time(
    style: str, options: dict[str, Any]
) -> None:
    vec = make_vec("cat_in_the_box_v0", 40, seed=1, **options)
    for seed in range(12):
        vec.step_random(seed % 5 + 1, seed=seed)
        seen, masks = vec.observation.copy(), vec.action_mask.copy()
        actions, again = (
            catbox_agents.make(style, vec.game, seed=3).act_batch(seen, masks) for _ in range(2)
        )
        assert masks[np.arange(40), actions].all()
        assert np.array_equal(actions, again)


def test_a_careful_player_decides_by_one_observation_alone() -> None:
    vec = make_vec("cat_in_the_box_v0", 100, seed=1, num_players=4)
    vec.step_random(11, seed=2)
    seen, masks = vec.observation.copy(), vec.action_mask.copy()
    agent: Any = catbox_agents.make("careful", vec.game, seed=1)
    actions = agent.act_batch(seen, masks)
    assert np.array_equal(agent.act_batch(seen[::-1], masks[::-1])[::-1], actions)
    assert [agent.act(*row) for row in zip(seen, masks, strict=True)] == actions.tolist()
    assert np.array_equal(catbox_agents.make("careful", vec.game, seed=2).act_batch(seen, masks), actions)
    assert plays_on_gpu(agent)


def test_variants_of_a_careful_player_differ_from_it_and_from_each_other() -> None:
    vec = make_vec("cat_in_the_box_v0", 400, seed=1, num_players=3)
    vec.step_random(11, seed=2)
    masks = vec.action_mask.copy()
    specs = ("careful", "careful:1", "careful:2", "careful:3", "heuristic")
    chosen = [catbox_agents.make(spec, vec.game).act_batch(vec.observation, masks) for spec in specs]
    for number, one in enumerate(chosen):
        assert all((one != other).mean() > 0.03 for other in chosen[:number])


def test_room_is_the_logarithm_of_the_declarations_that_stay_legal() -> None:
    state = start([[1, 1, 5, 6, 6], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]], num_ranks=6, bids=(0, 1, 2, 3))
    play(state, "discard 1", "discard 1", "discard 1", "bid 1", "bid 1", "bid 1", "blue 5")
    agent: Any = catbox_agents.make("careful", state.game)
    why = agent.explain(state.observation(1), state.action_mask())
    weight = agent.weights_record["room"][0]

    def room(move: str) -> float:
        return float(why[state.game.string_to_action(move)]["room"] / weight)

    # Seat 1 holds 2 3 4 5. Blue 2 leaves 3 and 4 in four colours and 5 in three; yellow 2 loses blue.
    assert room("play blue 2") == pytest.approx(np.log(4 + 4 + 3 + 0.3))
    assert room("play yellow 2") == pytest.approx(np.log(3 + 3 + 3 + 0.3))


@pytest.mark.parametrize(
    ("players", "hits", "paradoxes", "tricks"),
    [(2, 0, -0.005, 0.2), (3, 0.01, 0.02, -0.2), (4, 0.08, -0.05, -0.7), (5, 0.06, -0.03, -0.2)],
)
def test_a_careful_player_hits_its_bid_more_often_with_fewer_tricks_and_causes_fewer_paradoxes(
    players: int, hits: float, paradoxes: float, tricks: float
) -> None:
    game = make_game("cat_in_the_box_v0", num_players=players)
    careful, heuristic = (
        catbox_agents.evaluate(game, [agent, "heuristic"], 300, seed=1, names=["one", "others"])["one"]
        for agent in ("careful", "heuristic")
    )
    more = {name: mean - heuristic.statistics[name] for name, mean in careful.statistics.items()}
    assert more.get("bid_hit", 0) >= hits
    assert more["paradox"] < paradoxes
    assert more["tricks_won"] < tricks
    assert careful.margin > -1


# Habits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 5])
def test_each_habit_is_kept_and_every_action_is_legal(players: int) -> None:
    vec = make_vec("cat_in_the_box_v0", 600, seed=1, num_players=players)
    agent, heuristic = (catbox_agents.make(spec, vec.game, 0) for spec in ("habits", "heuristic"))
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
    agent, heuristic = (catbox_agents.make(spec, vec.game) for spec in ("never_red", "heuristic"))
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
