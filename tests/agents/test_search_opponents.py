"""Searches that find out by which policy the others play, and searches that are cautious."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_agents import Agent, RolloutSearch
from catbox_agents.search.halving import shared_schedule
from catbox_agents.search.playing import Player, world_keys
from catbox_agents.search.posterior import likelihoods, sample_players
from catbox_env import Vec
from catbox_env.core.kernels import UNUSED
from catbox_env.core.rng import new_generators
from tests.agents.test_search import Highest
from tests.agents.test_search_weights import Preferring


class Lowest(Agent):
    """The lowest legal id."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return action_masks.argmax(axis=1)


def test_seats_that_may_play_by_several_policies() -> None:
    """What a seat did is as likely as the mean over the policies; and by each of them as it is by that one alone."""
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=4)
    vec = Vec(game, 6, seed=3, history=True)
    vec.step_random(17, seed=3)
    worlds = game.sample_states(
        vec.observation, np.full(6, 8), new_generators([np.random.SeedSequence(i) for i in range(6)])
    )
    rows = np.repeat(np.arange(6), 8)
    players = [Player(Preferring(game), "preferring"), Player(Highest(game), "highest")]
    both = likelihoods(worlds, vec.history, rows, players, 0.2)
    alone = [likelihoods(worlds, vec.history, rows, [player], 0.2) for player in players]
    searchers = worlds.current_player
    assert (both.seats[np.arange(48), searchers] == 0).all()
    for k in range(2):
        assert np.array_equal(both.seats[:, :, k], alone[k].seats[:, :, 0])
    chances = (
        np.exp(both.seats).mean(axis=2).prod(axis=1)
        * game.rewind(worlds, vec.history, rows).importance_weights
    )
    assert np.exp(both.worlds) == pytest.approx(chances, rel=1e-9)
    assert (np.exp(both.worlds) > 0).any()


def test_the_policy_of_a_seat_is_drawn_by_what_it_did() -> None:
    with np.errstate(divide="ignore"):
        seats = np.log([[[1.0, 1.0], [0.3, 0.1], [0.0, 0.2], [0.0, 0.0]]])
    every = np.repeat(seats, 8000, axis=0)
    keys = world_keys(new_generators([np.random.SeedSequence(0)])) + np.arange(8000, dtype=np.uint64)
    found = sample_players(every, np.zeros(8000, int), keys)
    assert found.shape == (8000, 4)
    assert (found[:, 0] == 0).all()  # the seat that searches
    assert found[:, 1].mean() == pytest.approx(0.25, abs=0.02)
    assert (found[:, 2] == 1).all()
    assert found[:, 3].mean() == pytest.approx(0.5, abs=0.02)  # neither can have done it
    assert abs(np.corrcoef(found[:, 1], found[:, 3])[0, 1]) < 0.04


def test_a_search_finds_out_by_which_policy_the_others_play() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    line_ups = []

    class Recorder(RolloutSearch):
        def _play(self, games: Vec, actions: Any, line_up: Any, keys: Any) -> Any:
            line_ups.append((games.current_player.copy(), line_up))
            return super()._play(games, actions, line_up, keys)

    vec = Vec(game, 60, seed=1, history=True)
    play = [Highest(game), Lowest(game)]
    for _ in range(24):  # seats 0 and 1 play by the policy, seat 2 by that of opponents
        actions = np.array(
            [
                play[int(seat == 2)].act(vec.observation[row], vec.action_mask[row])
                for row, seat in enumerate(vec.current_player)
            ]
        )
        vec.step(actions)
    long = (vec.history[:, :, 1] != UNUSED).sum(axis=1) > 18  # no paradox has ended the round
    rows = np.flatnonzero(long & (vec.current_player != 2) & (vec.action_mask.sum(axis=1) > 1))
    assert len(rows) > 3
    search = Recorder(game, Highest(game), worlds=16, beta=0.5, opponent_model=Lowest(game), proposals=8)
    search.search(vec.observation[rows], vec.action_mask[rows], 0, vec.history[rows])
    searchers, line_up = (np.concatenate(parts) for parts in zip(*line_ups, strict=True))
    every = np.arange(len(searchers))
    assert (line_up[every, searchers] == 0).all()
    assert line_up[every, 1 - searchers].mean() < 0.2
    assert line_up[:, 2].mean() > 0.9


def test_nothing_is_known_of_opponents_without_weights() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    with pytest.raises(
        ValueError,
        match=r"opponent_model='random' with beta=0: .*; give a beta above 0, or no opponent_model",
    ):
        RolloutSearch(game, opponent_model="random")
    with pytest.raises(ValueError, match="opponent_model 'search' needs its history"):
        RolloutSearch(game, beta=0.5, opponent_model="search")
    with pytest.raises(
        ValueError, match=r"opponent_model='random': .* petrify_v0 hides nothing; leave opponent_model out"
    ):
        RolloutSearch(catbox_env.make_game("petrify_v0"), beta=0.5, opponent_model="random")


def test_a_cautious_search_does_what_the_policy_does_unless_another_action_is_clearly_better() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    vec = Vec(game, 40, seed=2, history=True)
    vec.step_random(11, seed=2)
    rows = np.flatnonzero(vec.action_mask.sum(axis=1) > 2)
    args = vec.observation[rows], vec.action_mask[rows], 0, vec.history[rows]
    own = Preferring(game).act_batch(*args[:2])
    every = np.arange(len(rows))
    differing = []
    for caution in (0.0, 1.0, 3.0, 1e9):
        search = RolloutSearch(
            game, Preferring(game), worlds=24, beta=0.25, caution=caution, schedule=shared_schedule
        )
        found = search.search(*args)
        other = found.actions != own
        differing.append(int(other.sum()))
        if caution > 0:
            assert (found.visits[every, own] == found.visits.max(axis=1)).all()
            gain = (found.values[every, found.actions] - found.values[every, own])[other]
            error = np.hypot(found.errors[every, found.actions], found.errors[every, own])[other]
            assert (gain > caution * error).all()
    assert differing[0] > differing[1] > differing[2] > differing[3] == 0
    for caution in (-1, float("inf"), float("nan"), "1", True, 10**400):
        with pytest.raises(ValueError, match=r"caution=.*: expected a finite number of 0 or more"):
            RolloutSearch(game, caution=caution)  # type: ignore[arg-type]


def test_where_nothing_is_the_policys_own_the_best_is_done() -> None:
    class Drawing(Highest):
        samples_actions = True  # and tells no probabilities

    hidden = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    open_game = catbox_env.make_game("petrify_v0")
    for game, policy in ((hidden, Drawing(hidden)), (open_game, Highest(open_game))):
        vec = Vec(game, 30, seed=4)
        vec.step_random(5, seed=4)
        results = [
            RolloutSearch(game, policy, worlds=4, caution=caution).search(vec.observation, vec.action_mask, 0)
            for caution in (0.0, 1e9)
        ]
        assert np.array_equal(results[0].actions, results[1].actions)
        assert (results[0].actions != policy.act_batch(vec.observation, vec.action_mask)).any()
