"""The agents that search: what they may know, that they repeat themselves, and that searching more is no worse."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import ISMCTS, Agent, RolloutSearch, SearchAgent
from catbox_agents.play import ask_agent
from catbox_agents.search import ismcts
from catbox_agents.search.halving import flat_schedule, shared_schedule
from catbox_agents.search.playing import Player, rollout_rewards, world_keys
from catbox_agents.search.posterior import resample
from catbox_agents.search.rollout import MIN_GAMES
from catbox_agents.search.trees import NEW, choose_actions, make_trees
from catbox_env import Game, Vec
from catbox_env.core.kernels import UNUSED
from catbox_env.core.rng import new_generators
from tests.agents.test_search import Highest, played_on
from tests.small_games import game_for

SPECS = [
    "search:worlds=6",
    "search:worlds=6,beta=1,proposals=1,policy=random",
    "search:worlds=6,policy=heuristic,opponent_model=random,caution=0.5",
    "ismcts:simulations=12,parallel=3",
    "pimc:samples=3,policy=random",
]


def decisions(game: Game, count: int, moves: int = 14, seed: int = 3) -> Vec:
    """Games, with histories, in which the seat to move has a choice, after different numbers of random moves."""
    rng = np.random.default_rng(seed)
    vec = Vec(game, 4 * count, seed=seed, history=True)
    for step in range(moves):
        rows = np.flatnonzero(np.arange(vec.num_envs) % moves > step)
        masks = vec.action_mask[rows]
        vec.step((rng.random(masks.shape) * masks).argmax(axis=1), rows)
    rows = np.flatnonzero(vec.action_mask.sum(axis=1) > 1)
    return vec.take(rng.permutation(rows)[:count])


def other_worlds(vec: Vec, row: int, seed: int) -> Vec:
    """A game that the seat to move cannot tell from game ``row``: other cards, the same observation and history."""
    game = vec.game
    worlds = game.sample_states(vec.observation[row], 8, seed=seed)
    past = game.rewind(worlds, vec.history[row])
    own = vec._records[row]
    drawn = worlds._bytes
    for world in np.flatnonzero(past.importance_weights > 0).tolist():
        if (drawn[world].view(game.kernels.state)[0]["hand"] != own["hand"]).any():
            twin = Vec(game, 1, seed=0, history=True, auto_deal=False)
            twin.set_states(past.round_starts.take(np.array([world])))
            for action in past.actions[world]:
                if action != UNUSED:
                    twin.step(np.array([action]))
            return twin
    raise AssertionError("no other world")


# What they know ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game_id", "spec"),
    [
        *(("cat_in_the_box_v0", spec) for spec in SPECS),
        pytest.param("cat_te_v0", SPECS[0], marks=pytest.mark.slow),
    ],
)
def test_hidden_cards_change_nothing(game_id: str, spec: str) -> None:
    game = catbox_env.make_game(game_id, num_players=3)
    vec = decisions(game, 5)
    agent = catbox_agents.make(spec, game, 7)
    chosen = ask_agent(agent, spec, vec, np.arange(5))
    for row in range(5):
        twin = other_worlds(vec, row, seed=row)
        assert np.array_equal(twin.observation[0], vec.observation[row])
        assert np.array_equal(twin.history[0], vec.history[row])
        assert not np.array_equal(
            twin._records["hand"],
            vec.take(np.array([row]))._records["hand"],
        )
        assert ask_agent(agent, spec, twin, np.array([0]))[0] == chosen[row]


# Numbers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_a_decision_depends_on_the_seed_and_on_nothing_else_that_is_asked(spec: str) -> None:
    game = game_for()
    vec = decisions(game, 12)
    seen, masks, past = vec.observation, vec.action_mask, vec.history
    agents = [catbox_agents.make(spec, game, seed) for seed in (4, 4, 5)]
    whole = agents[0].act_batch(seen, masks, past)
    assert masks[np.arange(12), whole].all()
    alone = [agents[1].act(seen[i], masks[i], past[i]) for i in range(12)]
    assert whole.tolist() == alone
    order = np.random.default_rng(0).permutation(12)[:7]
    assert agents[0].act_batch(seen[order], masks[order], past[order]).tolist() == whole[order].tolist()
    assert agents[2].act_batch(seen, masks, past).tolist() != whole.tolist()


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_they_play_every_game(game_id: str) -> None:
    game = catbox_env.make_game(game_id, num_players=2)
    agents = ["search:worlds=2", "ismcts:simulations=6"]
    assert catbox_agents.evaluate(game, agents, num_deals=10).deals == 10


# Strength ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        "search:worlds=16,policy=random",
        pytest.param("ismcts:simulations=60,policy=random", marks=pytest.mark.slow),
        pytest.param("pimc:samples=8,policy=random", marks=pytest.mark.slow),
    ],
)
def test_searching_a_weak_policy_makes_it_stronger(spec: str) -> None:
    standing = catbox_agents.evaluate(game_for(), [spec, "random"], num_deals=12).standings[0]
    assert standing.margin - standing.margin_ci95 > 0


# How they search -----------------------------------------------------------------------------------------------------


def test_pimc_is_the_mean_over_the_samples_without_halving() -> None:
    game = game_for()
    vec = decisions(game, 3)
    policy = Highest(game)
    agent = catbox_agents.PIMCAgent(game, 0, policy, samples=9)
    result = agent.search_batch(vec.observation, vec.action_mask)
    assert (result.visits == 9 * vec.action_mask).all()
    assert (result.effective_worlds == 9).all()
    best = np.where(vec.action_mask, result.values, -np.inf).argmax(axis=1)
    assert result.actions.tolist() == best.tolist()


def test_the_schedule_of_shared_worlds() -> None:
    assert shared_schedule(8, 30) == [(8, 10), (4, 10), (2, 10)]
    assert shared_schedule(5, 10) == [(5, 3), (3, 3), (2, 4)]
    assert shared_schedule(9, 1) == [(9, 1), (5, 1), (3, 1), (2, 1)]
    assert shared_schedule(1, 10) == flat_schedule(1, 10) == []
    assert flat_schedule(7, 10) == [(7, 10)]
    for actions in range(2, 60):
        assert sum(count for _, count in shared_schedule(actions, 64)) == 64


class Luck(Agent):
    """Draws every action at random, and tells so."""

    samples_actions = True

    def policy_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return action_masks / action_masks.sum(axis=1, keepdims=True)

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        raise AssertionError("a search draws from what the policy tells")


def test_a_policy_that_draws_has_the_same_luck_for_all_actions_of_a_world() -> None:
    game = game_for()
    vec = decisions(game, 1)
    games = vec.take(np.zeros(40, np.int64))
    keys = (
        np.repeat(world_keys(new_generators([np.random.SeedSequence(0)])), 40)
        + np.arange(40, dtype=np.uint64) // 2
    )
    paid = rollout_rewards(
        games, np.arange(40), [Player(Luck(game), "luck")], np.zeros((1, 3), int), "end_of_round", keys
    )
    assert np.array_equal(paid[::2], paid[1::2])
    assert len(np.unique(paid[::2], axis=0)) > 5
    agent = SearchAgent(game, 0, Luck(game), worlds=4)
    assert vec.action_mask[0, agent.act(vec.observation[0], vec.action_mask[0], vec.history[0])]


def test_resampled_worlds_stand_for_those_that_were_drawn() -> None:
    rng = np.random.default_rng(0)
    logs = rng.normal(size=30) * 2
    drawn, counts = np.array([10, 20]), np.array([4, 6])
    chosen = np.zeros(30)
    repeats = 4000
    for units in rng.random((repeats, 2)):
        taken, means = resample(logs, drawn, counts, units)
        assert (taken[:4] < 10).all()
        assert (taken[4:] >= 10).all()
        np.add.at(chosen, taken, 1 / repeats)
    for part, count in ((slice(0, 10), 4), (slice(10, 30), 6)):
        weights = np.exp(logs[part])
        assert chosen[part] == pytest.approx(count * weights / weights.sum(), abs=0.04)
    assert means == pytest.approx(np.log([np.exp(logs[:10]).mean()] * 4 + [np.exp(logs[10:]).mean()] * 6))
    taken, means = resample(np.full(6, -np.inf), np.array([6]), np.array([3]), np.array([0.5]))
    assert taken.tolist() == [1, 3, 5]
    assert (means == -np.inf).all()


def test_the_clock_decides_how_many_worlds_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that counts the rollouts: twice the budget has about twice as many, and none overruns by a batch."""
    game = game_for()
    vec = decisions(game, 1, moves=3)
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    class Clocked(RolloutSearch):
        largest = 0.0

        def _play(self, games: Vec, actions: Any, line_up: Any, keys: Any) -> Any:
            self.largest = max(self.largest, 0.002 + games.num_envs * 1e-4)
            now[0] += 0.002 + games.num_envs * 1e-4
            return super()._play(games, actions, line_up, keys)

    visits = []
    for budget in (0.05, 0.1, 0.2, 0.4):
        search = Clocked(
            game, Highest(game), 10**6, schedule=shared_schedule, budget=budget, shared_draws=True
        )
        began = now[0]
        result = search.search(vec.observation, vec.action_mask, 0)
        assert now[0] - began <= budget + search.largest
        assert now[0] - began >= budget / 2
        visits.append(int(result.visits.sum()))
        assert result.actions[0] in np.flatnonzero(vec.action_mask[0])
    assert all(1.3 < more / less < 3.5 for less, more in pairwise(visits))
    capped = Clocked(game, Highest(game), 5, schedule=shared_schedule, budget=100.0)
    result = capped.search(vec.observation, vec.action_mask, 0)
    assert result.visits.max() == 5
    tight = Clocked(game, Highest(game), 10**6, schedule=shared_schedule, budget=1e-9)
    result = tight.search(vec.observation, vec.action_mask, 0)
    assert (result.visits[vec.action_mask] >= 1).all()
    assert result.visits.sum() <= MIN_GAMES
    assert result.values[0, result.actions[0]] == np.nanmax(result.values[0])


# The tree search -----------------------------------------------------------------------------------------------------


def solve(state: Any, seat: int) -> float:
    """What ``seat`` gets when every seat plays best for itself; without hidden cards, by trying everything."""
    if state.is_terminal():
        return float(state.returns()[seat])
    mover = state.current_player
    best = None
    for action in state.legal_actions():
        following = state.clone()
        following.apply_action(action)
        own = solve(following, mover)
        if best is None or own > best[0]:
            best = own, solve(following, seat)
    assert best is not None
    return best[1]


def test_the_tree_search_finds_the_winning_move_where_nothing_is_hidden() -> None:
    game = catbox_env.make_game("petrify_v0", num_players=2, size=3)
    search = ISMCTS(game, "random", simulations=400, parallel=4)
    found = 0
    for seed in range(60):
        state = game.new_initial_state(seed=seed)
        values = {}
        for action in state.legal_actions():
            following = state.clone()
            following.apply_action(action)
            values[action] = solve(following, state.current_player)
        if len(set(values.values())) < 2:
            continue
        seen, mask = state.observation(state.current_player), state.action_mask()
        result = search.search(seen[None], mask[None], seed)
        assert values[int(result.actions[0])] == max(values.values())
        assert result.visits.sum() == 400
        found += 1
        if found == 6:
            break
    assert found == 6


def test_the_tree_of_many_observations_is_that_of_each_alone() -> None:
    game = game_for()
    vec = decisions(game, 6)
    seeds: list[Any] = list(range(6))
    search = ISMCTS(game, "heuristic", simulations=40, parallel=5)
    together = search.search(vec.observation, vec.action_mask, seeds)
    assert (together.visits.sum(axis=1) == 40).all()
    assert not together.visits[~vec.action_mask].any()
    some = vec.action_mask & (vec.action_mask.cumsum(axis=1) != 2)  # all legal actions but the second
    fewer = search.search(vec.observation, some, seeds)
    assert (fewer.visits.sum(axis=1) == np.where(some.sum(axis=1) > 1, 40, 0)).all()
    assert not fewer.visits[~some].any()
    few = ISMCTS(game, "heuristic", simulations=40, parallel=5, max_games=7, num_threads=2)
    apart = few.search(vec.observation, vec.action_mask, seeds)
    for one, other in zip(together, apart, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    most = together.visits[np.arange(6), together.actions]
    assert (most == together.visits.max(axis=1)).all()


def test_what_the_searching_seat_cannot_see_leads_to_one_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first decision of a round all seats discard in turn: the others' discards are hidden, the own is not."""
    grown = []
    make = ismcts.make_trees
    monkeypatch.setattr(ismcts, "make_trees", lambda *args: grown.append(make(*args)) or grown[-1])
    game = game_for()
    vec = Vec(game, 1, seed=2)
    ISMCTS(game, "random", simulations=300, parallel=4).search(vec.observation, vec.action_mask, 0)
    (trees,) = grown
    children = trees.children[0]
    after_own = children[0, : game.num_actions]
    tried = after_own[after_own != NEW]
    assert len(tried) == vec.action_mask.sum()
    assert children[0, game.num_actions] == NEW
    for node in tried:  # the second seat's discard, then the third's
        assert (children[node, : game.num_actions] == NEW).all()
        third = children[node, game.num_actions]
        assert third != NEW
        assert (children[third, : game.num_actions] == NEW).all()
    visits, total = trees.visits[0], trees.visits[0, 0].sum()
    assert total == 300
    assert trees.pending.sum() == 0
    assert (
        visits[tried].sum(axis=1) == visits[0, after_own != NEW] - 1
    ).all()  # the first one ended the walk


def test_every_node_counts_what_its_own_seat_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two seats, what one is paid the other loses: so do the totals of a node and of the one before it."""
    grown = []
    make = ismcts.make_trees
    monkeypatch.setattr(ismcts, "make_trees", lambda *args: grown.append(make(*args)) or grown[-1])
    game = catbox_env.make_game("petrify_v0", num_players=2, size=3)
    vec = Vec(game, 1, seed=1)
    ISMCTS(game, "random", simulations=400).search(vec.observation, vec.action_mask, 0)
    (trees,) = grown
    legal = np.flatnonzero(vec.action_mask[0])
    own = trees.totals[0, 0, legal]
    others = trees.totals[0, trees.children[0, 0, legal]].sum(axis=1)
    assert np.abs(own).max() > 10
    assert (
        np.abs(own + others) <= 1
    ).all()  # the first simulation of an action ends before the node after it


def test_priors_of_a_policy_that_tells_them_lead_the_tree() -> None:
    """With few simulations, an action that the policy thinks impossible is not tried."""
    game = game_for()
    vec = decisions(game, 4)

    class Sure(Highest):
        def policy_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
            return np.eye(action_masks.shape[1])[self.act_batch(observations, action_masks)]

    result = ISMCTS(game, Sure(game), simulations=6, exploration=50.0).search(
        vec.observation, vec.action_mask, 0
    )
    expected = Highest(game).act_batch(vec.observation, vec.action_mask)
    assert result.actions.tolist() == expected.tolist()
    assert (result.visits[np.arange(4), expected] >= 5).all()


def test_impossible_tree_searches_are_refused() -> None:
    game = game_for()
    for name, value in (
        ("simulations", 0),
        ("parallel", 0),
        ("exploration", -1.0),
        ("exploration", float("nan")),
    ):
        with pytest.raises(ValueError, match=f"{name}="):
            ISMCTS(game, **{name: value})
    vec = decisions(game, 2)
    search = ISMCTS(game, "random", simulations=2)
    with pytest.raises(ValueError, match="row 1 has no legal action"):
        search.search(vec.observation, np.stack([vec.action_mask[0], np.zeros_like(vec.action_mask[0])]), 0)
    illegal = np.ones_like(vec.action_mask)
    with pytest.raises(ValueError, match="the mask allows the illegal action"):
        search.search(vec.observation, illegal, 0)
    with pytest.raises(ValueError, match="a list of 1; expected one for each of 2"):
        search.search(vec.observation, vec.action_mask, [0])


def test_one_ply_values_are_those_of_single_games() -> None:
    """With nothing hidden, ISMCTS after one simulation of each action has the value of the rollout."""
    game = catbox_env.make_game("petrify_v0")
    vec = Vec(game, 1, seed=3)
    policy = Highest(game)
    count = int(vec.action_mask.sum())
    result = ISMCTS(game, policy, simulations=count).search(vec.observation, vec.action_mask, 0)
    state = game.sample_state(vec.observation[0], 0)
    for action in np.flatnonzero(vec.action_mask[0]):
        assert result.visits[0, action] == 1
        assert result.values[0, action] == played_on(state, int(action), policy)


def test_a_simulation_under_way_counts_as_the_lowest_reward() -> None:
    trees = make_trees(1, 8, 2, np.zeros(1, np.uint64))
    trees.low[0], trees.high[0] = 0.0, 1.0
    trees.visits[0, 0], trees.pending[0, 0] = [2, 4], [1, 0]
    trees.totals[0, 0] = [1.0, 2.8]  # 1.0 / 2 < 2.8 / 4, and 1.0 / 1 > 2.8 / 4
    chosen = np.zeros(1, np.int64)
    legal, none = np.ones((1, 2), np.bool_), np.zeros((1, 0))
    choose_actions(trees, np.zeros(1, np.int64), np.zeros(1, np.int64), legal, none, 0.0, chosen)
    assert chosen[0] == 1
    assert trees.pending[0, 0].tolist() == [1, 1]
