"""Weights of worlds: by Bayes' rule exactly, and what a search makes of them, against enumeration of all worlds."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents import Agent, RolloutSearch, SearchAgent
from catbox_agents.search.halving import flat_schedule
from catbox_agents.search.playing import Player
from catbox_agents.search.posterior import likelihoods, powers
from catbox_agents.search.tallies import Tallies, WeightedTallies
from catbox_env import Game, GameState
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.agents.test_search import Highest, cards_of, played_on
from tests.cat_in_the_box.every_play import number_of_ways


class Preferring(Agent):
    """A policy that depends on what the seat sees, tells its probabilities, and plays the most likely action."""

    def __init__(self, game: Game, seed: Any = None) -> None:
        super().__init__(game, seed)
        rng = np.random.default_rng(5)
        self.weights = rng.normal(size=(game.observation_layout.size, game.num_actions))

    def policy_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        scores = np.where(action_masks, np.exp(0.7 * observations.astype(float) @ self.weights), 0.0)
        return scores / scores.sum(axis=1, keepdims=True)

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return self.policy_batch(observations, action_masks).argmax(axis=1)


def chances(agent: Agent, state: GameState, epsilon: float) -> np.ndarray:
    """The chance of each action of the seat to move, by the formula of the documentation."""
    seen, mask = state.observation(state.current_player)[None], state.action_mask()[None].astype(bool)
    if hasattr(agent, "policy_batch"):
        policy = agent.policy_batch(seen, mask)[0]
    else:
        policy = np.eye(mask.shape[1])[agent.act_batch(seen, mask)[0]]
    return np.asarray((1 - epsilon) * policy + epsilon * mask[0] / mask.sum())


class Posterior:
    """All deals of a small round and all that the other seats can have done, each with its probability."""

    def __init__(self, game: Game, agent: Agent, epsilon: float) -> None:
        #: The history of the seat to move, as bytes -> its cards -> (probability, a state).
        self.worlds: dict[bytes, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
        self.states: dict[tuple[bytes, Any], GameState] = {}
        self.agent, self.epsilon = agent, epsilon
        for deal, ways in all_deals(game):
            state = game.new_initial_state(seed=0, deal={"hands": deal})
            self.walk(state, [float(ways)] * game.num_players)

    def walk(self, state: GameState, weight: list[float]) -> None:
        """``weight[seat]``: the chance of the deal and of all actions but those of ``seat``."""
        if state.is_terminal():
            return
        mover = state.current_player
        key = state.observation(mover).tobytes() + state.history_observation(mover).tobytes()
        self.worlds[key][cards_of(state)] += weight[mover]
        self.states[key, cards_of(state)] = state
        chance = chances(self.agent, state, self.epsilon)
        for action in state.legal_actions():
            following = state.clone()
            following.apply_action(action)
            scaled = [w * (1.0 if seat == mover else chance[action]) for seat, w in enumerate(weight)]
            self.walk(following, scaled)


def all_deals(game: Game) -> list[tuple[list[list[int]], int]]:
    """Every deal of two hands, in printed ranks, and in how many ways it comes when all cards are told apart."""
    rules = game.rules
    found = []
    hands = [
        hand for hand in np.ndindex((rules.copies + 1,) * rules.num_ranks) if sum(hand) == rules.hand_size
    ]
    for one in hands:
        for other in hands:
            left = tuple(rules.copies - a - b for a, b in zip(one, other, strict=True))
            if min(left) < 0:
                continue
            nothing = (0,) * rules.num_ranks  # seen by an observer without cards
            ways = number_of_ways(((nothing, one, other), (-1, -1, -1), left))
            found.append(
                ([[r + 1 for r, n in enumerate(hand) for _ in range(n)] for hand in (one, other)], ways)
            )
    return found


@pytest.fixture(scope="module")
def tiny() -> Game:
    return catbox_env.make_game("cat_in_the_box_v0", rules=Rules.tiny())


@cache
def posterior_of(game: Game, policy: type[Agent], epsilon: float) -> Posterior:
    return Posterior(game, policy(game), epsilon)


@pytest.mark.parametrize(
    ("policy", "epsilon"),
    [(Preferring, 0.1), (Highest, 0.1), pytest.param(Preferring, 0.0, marks=pytest.mark.slow)],
)
def test_the_weighted_worlds_are_the_posterior_of_bayes(tiny: Game, policy: Any, epsilon: float) -> None:
    agent = policy(tiny)
    posterior = posterior_of(tiny, policy, epsilon)
    size = tiny.observation_layout.size
    keys = sorted(posterior.worlds, key=lambda key: -len(posterior.worlds[key]))
    rng = np.random.default_rng(1)
    checked = 0
    for key in [keys[i] for i in rng.permutation(len(keys))[:400]]:
        exact = {world: weight for world, weight in posterior.worlds[key].items() if weight > 0}
        history = np.frombuffer(key[size:], np.int8).reshape(-1, 2).copy()
        if len(exact) < 4 or not (history[:, 0] > 0).any():
            continue
        states = [posterior.states[key, world] for world in exact]
        vec = catbox_env.Vec(tiny, len(states), seed=0, auto_deal=False, history=True)
        vec.set_states(states)
        players = [Player(agent, "policy")]
        logs = likelihoods(vec, history[None], np.zeros(len(states), np.int64), players, epsilon).worlds
        # A world is drawn in as many ways as its cards, all told apart, can lie.
        drawn = np.array([number_of_ways(world) for world in exact], float)
        found = drawn * np.exp(logs)
        expected = np.array(list(exact.values()))
        assert found / found.sum() == pytest.approx(expected / expected.sum(), abs=1e-12)
        checked += 1
    assert checked > 30


def test_a_search_in_many_weighted_worlds_finds_the_best_reply_to_a_fixed_policy(tiny: Game) -> None:
    """What each action is worth against the policy, exactly: over all worlds, by how likely they are."""
    epsilon = 0.1
    agent = Preferring(tiny)
    posterior = posterior_of(tiny, Preferring, epsilon)
    size = tiny.observation_layout.size
    searcher = SearchAgent(tiny, 0, agent, worlds=1500, beta=1.0, epsilon=epsilon, effective=0.0)
    keys = sorted(posterior.worlds)
    rng = np.random.default_rng(2)
    checked, not_uniform = 0, 0
    for key in [keys[i] for i in rng.permutation(len(keys))]:
        worlds = posterior.worlds[key]
        seen = np.frombuffer(key[:size], np.int8).copy()
        history = np.frombuffer(key[size:], np.int8).reshape(-1, 2).copy()
        state = posterior.states[key, next(iter(worlds))]
        if len(worlds) < 4 or len(state.legal_actions()) < 2:
            continue
        total = sum(worlds.values())
        ways = {world: number_of_ways(world) for world in worlds}
        values, uniform = {}, {}
        for action in state.legal_actions():
            paid = {world: played_on(posterior.states[key, world], action, agent) for world in worlds}
            values[action] = sum(paid[world] * weight for world, weight in worlds.items()) / total
            uniform[action] = sum(paid[world] * ways[world] for world in worlds) / sum(ways.values())
        ordered = sorted(values.values())
        if ordered[-1] - ordered[-2] < 0.2:
            continue
        result = searcher.search_batch(seen[None], state.action_mask()[None], history[None])
        assert values[int(result.actions[0])] == ordered[-1]
        tried_most = int(result.actions[0])
        assert result.values[0, tried_most] == pytest.approx(ordered[-1], abs=0.25)
        not_uniform += abs(uniform[tried_most] - ordered[-1]) > 0.2
        checked += 1
        if checked == 12:
            break
    assert checked == 12
    assert not_uniform > 0  # weights matter in these positions


def test_beta_zero_is_a_search_in_worlds_that_all_count_alike() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    vec = catbox_env.Vec(game, 6, seed=0, history=True)
    vec.step_random(9, seed=0)
    plain = RolloutSearch(game, "heuristic", worlds=20).search(vec.observation, vec.action_mask, 1)
    zero = RolloutSearch(game, "heuristic", worlds=20, beta=0.0, epsilon=0.5)
    assert not zero.needs_history
    found = zero.search(vec.observation, vec.action_mask, 1, vec.history)
    assert all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(plain, found, strict=True))
    searched = vec.action_mask.sum(axis=1) > 1
    assert (found.effective_worlds[searched] == found.visits.max(axis=1)[searched]).all()


def rollouts(seed: int, worlds: int, actions: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    world, action = (array.reshape(-1) for array in np.indices((worlds, actions)))
    return np.zeros(worlds, np.int64), world, action, rng.normal(size=worlds * actions)


@pytest.mark.parametrize("counts", [[1, 1], [1, 5, 3], [50]])
def test_equal_weights_give_the_values_and_errors_of_no_weights(counts: list[int]) -> None:
    plain, weighted = Tallies((1, 3)), WeightedTallies((1, 3))
    tried = np.array([[True, True, True]])
    for number, count in enumerate(counts):
        args = rollouts(number, count, 3)
        for tallies in (plain, weighted):
            tallies.begin_round()
        plain.add(*args)
        logs = np.full(count, -3.0)
        weighted.add_drawn(args[0], logs)
        weighted.add_weighted(*args, logs)
        for tallies in (plain, weighted):
            tallies.end_round(tried, np.array([count]))
    assert weighted.values() == pytest.approx(plain.values())
    assert weighted.effective_worlds() == pytest.approx([sum(counts)])
    assert weighted.errors() == pytest.approx(plain.errors(), nan_ok=True)
    assert np.isnan(plain.errors()).all() == (max(counts) == 1)


def test_weighted_means_errors_and_effective_worlds() -> None:
    logs = np.log(np.arange(1.0, 41.0)) - 1000.0
    tallies = WeightedTallies((1, 2))
    rows, world, action, paid = rollouts(1, 40, 2)
    tallies.begin_round()
    for part in (slice(0, 20), slice(20, 40)):  # the unit of the weights changes on the way
        of_part = (world >= part.start) & (world < part.stop)
        tallies.add_drawn(rows[part], logs[part])
        tallies.add_weighted(
            rows[part], world[of_part] - part.start, action[of_part], paid[of_part], logs[part]
        )
    tallies.end_round(np.ones((1, 2), bool), np.array([40]))
    weights = np.arange(1.0, 41.0)
    table = paid.reshape(40, 2)
    assert tallies.values()[0] == pytest.approx(np.average(table, axis=0, weights=weights))
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert tallies.effective_worlds() == pytest.approx([effective])
    difference = table[:, 0] - table[:, 1]
    mean = np.average(difference, weights=weights)
    variance = (weights**2 * (difference - mean) ** 2).sum() / weights.sum() ** 2
    expected = np.sqrt(variance * effective / (effective - 1))
    assert np.sqrt((tallies.errors()[0] ** 2).sum()) == pytest.approx(expected)


def test_the_power_is_lowered_until_enough_worlds_count() -> None:
    rng = np.random.default_rng(0)
    logs = rng.normal(size=90) * 3
    drawn = np.array([40, 40, 10])
    logs[80:] = -np.inf
    least = np.array([10.0, 0.0, 5.0])
    found = powers(logs, drawn, 0.8, least)
    assert 0 < found[0] < 0.8
    assert found[1:].tolist() == [0.8, 0.8]  # nothing is asked for; and nothing can be done

    def effective(power: float) -> float:
        weights = np.exp(logs[:40] * power)
        return float(weights.sum() ** 2 / (weights**2).sum())

    assert effective(found[0]) >= 10 > effective(found[0] + 0.8 / 2**9)
    assert (powers(logs, drawn, 0.8, np.array([39.99, 0.0, 0.0]))[0]) > 0


def test_a_share_of_effective_worlds_is_kept() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    vec = catbox_env.Vec(game, 12, seed=1, history=True)
    vec.step_random(20, seed=1)
    rows = np.flatnonzero(vec.action_mask.sum(axis=1) > 1)
    args = vec.observation[rows], vec.action_mask[rows], 0, vec.history[rows]
    options: dict[str, Any] = {"worlds": 24, "beta": 1.0, "proposals": 4, "schedule": flat_schedule}
    free = RolloutSearch(game, "heuristic", **options).search(*args)
    kept = RolloutSearch(game, "heuristic", effective=0.75, **options).search(*args)
    assert (free.effective_worlds < 18).any()
    assert (kept.effective_worlds >= 18 - 1e-9).all()
    enough = free.effective_worlds >= 18
    assert np.array_equal(free.values[enough], kept.values[enough], equal_nan=True)


def test_where_all_worlds_are_impossible_they_count_alike() -> None:
    tallies = WeightedTallies((1, 2))
    rows, world, action, paid = rollouts(2, 10, 2)
    tallies.begin_round()
    tallies.add_drawn(rows, np.full(10, -np.inf))
    tallies.add_weighted(rows, world, action, paid, np.full(10, -np.inf))
    tallies.end_round(np.ones((1, 2), bool), np.array([10]))
    assert tallies.values()[0] == pytest.approx(paid.reshape(10, 2).mean(axis=0))
    assert np.isfinite(tallies.errors()).all()


class Liar(Highest):
    def policy_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return np.full(np.shape(action_masks), 0.5)


class Failing(Highest):
    def policy_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        raise KeyError("lost")


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Liar, "'Liar': policy_batch returned .* expected probabilities of 0 or more that sum to 1"),
        (Failing, "agent 'Failing' raised KeyError: 'lost'"),
    ],
)
def test_a_policy_that_tells_nonsense_is_named(policy: Any, message: str) -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    vec = catbox_env.Vec(game, 2, seed=0, history=True)
    vec.step_random(10, seed=0)
    search = RolloutSearch(game, policy(game), worlds=2, beta=1.0)
    with pytest.raises(ValueError, match=message):
        search.search(vec.observation, vec.action_mask, 0, vec.history)


def test_a_search_with_weights_asks_for_histories() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    vec = catbox_env.Vec(game, 2, seed=0, history=True)
    vec.step_random(10, seed=0)
    search = RolloutSearch(game, worlds=2, beta=1.0)
    for histories in (None, vec.history[:1], vec.history.astype(int)):
        with pytest.raises(
            ValueError, match=r"histories: .*expected int8 of shape .* keeps them: a search that weights"
        ):
            search.search(vec.observation, vec.action_mask, 0, histories)
    for name in ("beta", "epsilon"):
        for value in (-0.1, 1.5, float("nan"), "1", True):
            with pytest.raises(ValueError, match=rf"{name}=.*: expected a number from 0 to 1"):
                RolloutSearch(game, **{name: value})
    for budget in (0, -1.0, float("inf"), float("nan"), "1s"):
        with pytest.raises(ValueError, match=r"budget=.*: expected a finite number of seconds above 0"):
            RolloutSearch(game, budget=budget)


@pytest.mark.parametrize("proposals", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_errors_tell_how_far_values_are_off(proposals: int) -> None:
    """Over many seeds, the spread of the difference of two values is what the errors say, chosen worlds or not."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    vec = catbox_env.Vec(game, 40, seed=4, history=True)
    vec.step_random(14, seed=4)
    rows = np.flatnonzero(vec.action_mask.sum(axis=1) > 1)[:6]
    seen, past = vec.observation[rows], vec.history[rows]
    masks = vec.action_mask[rows] & (vec.action_mask[rows].cumsum(axis=1) <= 2)  # the search compares two
    search = RolloutSearch(
        game, Highest(game), worlds=50, beta=0.3, epsilon=0.3, proposals=proposals, schedule=flat_schedule
    )
    found = [search.search(seen, masks, seed, past) for seed in range(80)]
    values = np.array([result.values[masks].reshape(6, 2) for result in found])
    errors = np.array([result.errors[masks].reshape(6, 2) for result in found])
    spread = (values[..., 0] - values[..., 1]).std(axis=0)
    told = np.sqrt((errors**2).sum(axis=2).mean(axis=0))
    assert (spread > 0.1).sum() >= 4
    assert told == pytest.approx(spread, rel=0.3)
    effective = np.array([result.effective_worlds for result in found])
    assert (effective > 1).all()
    assert (effective < 50 * proposals).all()
