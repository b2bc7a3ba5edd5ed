"""Rollout search: its values are those of all worlds, and it knows no more than the observation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents import Agent, RolloutSearch, SearchResult
from catbox_env import GameState, Vec
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.cat_in_the_box.every_play import World, every_world, number_of_ways, world_of


class Highest(Agent):
    """The highest legal id; counts the decisions that it was asked for."""

    asked = 0

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        self.asked += len(observations)
        return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)


class Recorder(RolloutSearch):
    """Keeps what it rolls out: the games before the action, the actions, what is paid, the games at the end."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.pieces: list[tuple[np.ndarray, np.ndarray, np.ndarray, Vec]] = []
        self.keys: list[Any] = []

    def _play(self, games: Vec, actions: Any, line_up: Any, keys: Any) -> Any:
        before = games._bytes.copy()
        paid = super()._play(games, actions, line_up, keys)
        self.pieces.append((before, actions, paid, games))
        self.keys.append(keys)
        return paid


def game_for(players: int = 3, **options: Any) -> Any:
    return catbox_env.make_game("cat_in_the_box_v0", num_players=players, **options)


def decisions(game: Any, count: int, most_moves: int = 15, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Observations (count, O) and masks of seats to move with a choice, after different numbers of random moves."""
    rng = np.random.default_rng(seed)
    seen, masks = [], []
    while len(seen) < count:
        state = game.new_initial_state(seed=int(rng.integers(2**31)))
        for _ in range(int(rng.integers(most_moves + 1))):
            state.apply_action(int(rng.choice(state.legal_actions())))
            if state.is_terminal():
                break
        if not state.is_terminal() and len(state.legal_actions()) > 1:
            seen.append(state.observation(state.current_player))
            masks.append(state.action_mask())
    return np.array(seen), np.array(masks, bool)


def same(one: SearchResult, other: SearchResult) -> bool:
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(one, other, strict=True))


def played_on(state: GameState, action: int, policy: Agent) -> float:
    """What the seat to move is paid for ``action`` until the end of the round, one state at a time."""
    seat, state = state.current_player, state.clone()
    state.apply_action(action)
    paid = state.rewards()[seat]
    while not state.round_ended:
        state.apply_action(policy.act(state.observation(state.current_player), state.action_mask()))
        paid += state.rewards()[seat]
    return paid


# Values ----------------------------------------------------------------------------------------------------------


def cards_of(state: GameState) -> World:
    """The cards of a state, by seat from the one to move on."""
    return world_of(state.record, state.game.rules, state.current_player)


def test_the_value_of_an_action_is_its_mean_over_all_worlds() -> None:
    """Every deal and every legal course of play is enumerated; the rollouts are done one at a time."""
    rules = Rules.tiny()
    game = catbox_env.make_game("cat_in_the_box_v0", rules=rules)
    policy, everything = Highest(game), every_world(rules)
    search = RolloutSearch(game, policy, worlds=3000)
    checked = 0
    for key in sorted(everything, key=lambda key: -len(everything[key])):
        seen = np.frombuffer(key, np.int8).copy()
        worlds = {cards_of(state): state for state in (game.sample_state(seen, seed) for seed in range(150))}
        state = next(iter(worlds.values()))
        seat, legal = state.current_player, state.legal_actions()
        is_to_move = np.array_equal(state.observation(seat), seen)
        if not is_to_move or len(legal) < 2 or set(worlds) != everything[key] or len(worlds) < 4:
            continue
        weights = np.array([number_of_ways(world) for world in worlds], float)
        result = search.search(seen[None], state.action_mask()[None], seed=checked)
        for action in legal:
            paid = np.array([played_on(world, action, policy) for world in worlds.values()])
            expected = float((paid * weights).sum() / weights.sum())
            spread = np.sqrt(((paid - expected) ** 2 * weights).sum() / weights.sum())
            error = spread / np.sqrt(result.visits[0, action])
            assert abs(result.values[0, action] - expected) <= 4.5 * error + 1e-9
        checked += 1
        if checked == 12:
            break
    assert checked == 12


def test_without_hidden_cards_the_best_action_is_found() -> None:
    game = catbox_env.make_game("petrify_v0")
    seen, masks = decisions(game, 20, most_moves=10)
    policy = Highest(game)
    result = RolloutSearch(game, policy, worlds=8).search(seen, masks, seed=0)
    for row, mask in enumerate(masks):
        state = game.sample_state(seen[row], seed=0)
        values = {a: played_on(state, int(a), policy) for a in np.flatnonzero(mask)}
        assert {a: result.values[row, a] for a in values} == values
        assert values[result.actions[row]] == max(values.values())
        assert (result.errors[row, mask] < 1e-6).all()
        assert np.isnan(result.values[row, ~mask]).all()
        assert not result.visits[row, ~mask].any()


def test_all_actions_of_an_observation_are_tried_in_the_same_worlds() -> None:
    game = game_for()
    seen, masks = decisions(game, 4)
    search = Recorder(game, Highest(game), worlds=8, shared_draws=True)
    search.search(seen, masks, seed=3)
    records, actions, *_ = search.pieces[0]  # the first round of all observations
    keys = search.keys[0]  # of the random numbers of a policy that draws
    begin = worlds = 0
    for mask in masks:
        legal = np.flatnonzero(mask)
        rounds = int(np.ceil(np.log2(len(legal))))
        count = 8 * len(legal) // rounds // len(legal)
        for world in range(count):
            at = slice(begin + world * len(legal), begin + (world + 1) * len(legal))
            assert (records[at] == records[at][0]).all()
            assert actions[at].tolist() == legal.tolist()
            assert (keys[at] == keys[at][0]).all()
        begin += count * len(legal)
        worlds += count
    assert begin == len(actions)
    every = np.concatenate(search.keys)
    assert len(np.unique(keys)) == worlds
    assert len(np.unique(every)) > 2 * worlds
    all_records = np.concatenate([records for records, *_ in search.pieces])
    pairs = {(key, record.tobytes()) for key, record in zip(every.tolist(), all_records, strict=True)}
    assert len(pairs) == len(np.unique(every))  # each world, later rounds included, has numbers of its own
    assert len(np.unique(records, axis=0)) > 8  # and the worlds differ


def test_the_error_is_that_of_a_difference_in_the_same_worlds() -> None:
    game = game_for()
    seen, masks = decisions(game, 30)
    for row in range(len(seen)):
        pair = np.zeros_like(masks[row])
        pair[np.flatnonzero(masks[row])[:2]] = True  # the search is told to compare these two alone
        search = Recorder(game, Highest(game), worlds=50)
        result = search.search(seen[row][None], pair[None], seed=row)
        paid = np.concatenate([paid for *_, paid, _ in search.pieces]).reshape(50, 2)
        assert result.values[0, pair] == pytest.approx(paid.mean(axis=0))
        expected = (paid[:, 0] - paid[:, 1]).std(ddof=1) / np.sqrt(50)
        assert np.sqrt((result.errors[0, pair] ** 2).sum()) == pytest.approx(expected)


@pytest.mark.parametrize(("reward", "to_the_end"), [("score", False), ("margin", False), ("win", True)])
def test_rollouts_end_with_the_round_and_for_a_win_with_the_game(reward: str, to_the_end: bool) -> None:
    game = game_for(2, rounds=2, reward=reward)
    seen, masks = decisions(game, 3, most_moves=6)
    search = Recorder(game, Highest(game), worlds=4)
    result = search.search(seen, masks, seed=1)
    for *_, games in search.pieces:
        assert (games._records["rounds_ended"] == (2 if to_the_end else 1)).all()
    tried = result.values[result.visits > 0]
    assert (tried >= 0).all() == (reward == "win")
    assert np.isfinite(tried).all()


# Numbers ---------------------------------------------------------------------------------------------------------


def test_the_seed_alone_decides() -> None:
    game = game_for(4)
    seen, masks = decisions(game, 12)
    first = RolloutSearch(game, "heuristic", worlds=6).search(seen, masks, seed=11)
    assert same(first, RolloutSearch(game, "heuristic", worlds=6).search(seen, masks, seed=11))
    assert same(
        first,
        RolloutSearch(game, "heuristic", worlds=6).search(seen, masks, seed=np.random.SeedSequence(11)),
    )
    assert not same(first, RolloutSearch(game, "heuristic", worlds=6).search(seen, masks, seed=12))
    random = [RolloutSearch(game, "random", worlds=6).search(seen, masks, seed=11) for _ in range(2)]
    assert same(*random)  # the policy of a spec is made with a fixed seed


@pytest.mark.parametrize("options", [{"max_games": 1}, {"max_games": 300, "num_threads": 3}])
def test_pieces_and_threads_do_not_change_the_result(options: dict[str, int]) -> None:
    game = game_for(4, reward="margin")
    seen, masks = decisions(game, 10)
    whole = RolloutSearch(game, "heuristic", worlds=70, max_games=10**6).search(seen, masks, seed=2)
    assert same(whole, RolloutSearch(game, "heuristic", worlds=70, **options).search(seen, masks, seed=2))


def test_a_single_legal_action_costs_nothing() -> None:
    game = game_for()
    seen, masks = decisions(game, 3)
    only = np.zeros_like(masks)
    only[np.arange(3), masks.argmax(axis=1)] = True
    policy = Highest(game)
    result = RolloutSearch(game, policy, worlds=9).search(seen, only, seed=0)
    assert result.actions.tolist() == masks.argmax(axis=1).tolist()
    assert policy.asked == 0
    assert not result.visits.any()
    assert np.isnan(result.values).all()
    mixed = np.concatenate([only[:1], masks[1:]])
    assert not RolloutSearch(game, policy, worlds=9).search(seen, mixed, seed=0).visits[0].any()


# Bad input -------------------------------------------------------------------------------------------------------


class Historian(Highest):
    needs_history = True


def test_impossible_searches_are_refused() -> None:
    game = game_for()
    with pytest.raises(ValueError, match="needs its history, which a sampled world does not have; give"):
        RolloutSearch(game, Historian(game))
    with pytest.raises(ValueError, match="made for"):
        RolloutSearch(game, Highest(game_for(4)))
    seen, masks = decisions(game, 4)
    search = RolloutSearch(game, Highest(game), worlds=2)
    empty = masks.copy()
    empty[2] = False
    with pytest.raises(ValueError, match="row 2 has no legal action"):
        search.search(seen, empty, seed=0)
    illegal = masks.copy()
    action = int((~masks[1]).argmax())
    illegal[1, action] = True
    with pytest.raises(ValueError, match=f"row 1: the mask allows the illegal action {action} "):
        search.search(seen, illegal, seed=0)
    nonsense = seen.copy()
    nonsense[3] = 0
    with pytest.raises(ValueError, match="row 3: observation: no state of this game agrees"):
        search.search(nonsense, masks, seed=0)
    state = game.new_initial_state(seed=0)
    waiting = state.observation((state.current_player + 1) % 3)[None]
    with pytest.raises(ValueError, match="row 0: the observation is not of the seat to move"):
        search.search(waiting, state.action_mask()[None], seed=0)


class Stubborn(Highest):
    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return np.full(len(observations), -1)


def test_a_policy_that_plays_an_illegal_action_is_named() -> None:
    game = game_for()
    seen, masks = decisions(game, 2)
    with pytest.raises(ValueError, match="agent 'Stubborn' chose the illegal action -1"):
        RolloutSearch(game, Stubborn(game), worlds=2).search(seen, masks, seed=0)
