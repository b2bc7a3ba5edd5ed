"""The worlds sampled from an observation of Cat in the Box are exactly those that a deal and legal play can lead to."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from catbox_env import GameState, Vec, make_game
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.cat_in_the_box.every_play import World, every_world, number_of_ways, world_of
from tests.cat_in_the_box.positions import play, start, view

#: Small enough for every deal and every legal course of play. In the last three, red is often led by force.
SHORT = {"num_players": 2, "num_ranks": 3, "num_colors": 2, "copies": 4, "bids": (), "revealed_cards": 0}
SMALL = {
    "bids": Rules.tiny(),
    "three players": Rules(**SHORT | {"num_players": 3, "copies": 3, "hand_size": 3, "start_player": 2}),
    "random start": Rules(**SHORT | {"copies": 3, "hand_size": 4, "start_player": "random"}),
    "three colours": Rules(**SHORT | {"num_ranks": 2, "num_colors": 3, "copies": 5, "hand_size": 5}),
    "revealed card": Rules(**SHORT | {"hand_size": 4, "revealed_cards": 1}),
    "two lists of ranks": Rules(**SHORT | {"hand_size": 5}),
}


def worlds(vec: Vec, observation: np.ndarray) -> list[World]:
    """The hidden cards of the states in ``vec``, as the seat that sees ``observation`` would name them."""
    rules, players = vec.game.rules, vec.game.num_players
    to_move = int(np.argmax(vec.game.observation_layout.unpack(observation)["to_move"]))
    return [
        world_of(record, rules, (int(record["current_player"]) - to_move) % players)
        for record in vec._records
    ]


@pytest.mark.parametrize("name", SMALL)
def test_the_worlds_sampled_are_those_of_all_legal_play_and_equally_likely(name: str) -> None:
    """Every way to give the unseen cards their places counts as one; over all observations, by chi-square."""
    every, game = every_world(SMALL[name]), make_game("cat_in_the_box_v0", rules=SMALL[name])
    draws, statistic, freedom, limited = 60, 0.0, 0, 0
    observations = sorted(every)
    may_hold = game.observation_layout["may_hold"].slice
    some = observations[:: len(observations) // 300 + 1]
    forced = [key for key in observations if not np.frombuffer(key, np.int8)[may_hold].all()]
    for seed, key in enumerate([*some, *forced[:: len(forced) // 100 + 1]]):
        observation = np.frombuffer(key, np.int8).copy()
        sampled = worlds(game.sample_states(observation, draws, seed), observation)
        assert set(sampled) <= every[key]
        possible = sorted(every[key])
        weights = np.array([number_of_ways(world) for world in possible], float)
        expected = weights / weights.sum() * draws
        counts = Counter(sampled)
        statistic += float(
            ((np.array([counts[world] for world in possible]) - expected) ** 2 / expected).sum()
        )
        freedom += len(possible) - 1
        limited += not observation[may_hold].all()
    assert chi2.sf(statistic, freedom) > 0.001
    assert limited > 10 or name in ("bids", "three players")


def forced_lead() -> GameState:
    """Seat 0 held 3s alone, whose blue cell the revealed 3 blocks, and has led red."""
    state = start([[3, 3, 3, 2], [1, 1, 2, 2]], revealed=[3], num_ranks=3, num_colors=2, copies=4, bids=())
    return play(state, "discard 2", "discard 1", "red 3")


def test_what_a_forced_red_lead_tells_is_remembered_after_its_trick() -> None:
    state = forced_lead()
    for moves in ([], ["red 1"]):
        play(state, *moves)
        assert view(state, 1)["may_hold"].tolist() == [[1, 1, 1], [0, 0, 1]]
        sampled = worlds(state.game.sample_states(state.observation(1), 300, seed=0), state.observation(1))
        # Rank 3 alone: the two cards left are the other 3s, whatever was discarded.
        assert {hands[1] for hands, _, _ in sampled} == {(0, 0, 2)}
        assert {discards[1] for _, discards, _ in sampled} == {0, 1}


def test_a_forced_leader_whose_ranks_cannot_fill_its_hand_is_refused() -> None:
    state = forced_lead()
    observation = state.observation(1)
    state.game.observation_layout.unpack(observation)["may_hold"][1] = 0
    with pytest.raises(ValueError, match="no state of this game agrees with it"):
        state.game.sample_state(observation, 0)


def test_many_worlds_at_once_have_the_observer_on_any_seat_where_the_first_start_player_is_drawn() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3, start_player="random", num_colors=2, hand_size=4)
    state = game.new_initial_state(seed=4)
    for _ in range(7):
        state.apply_action(state.legal_actions()[0])
    observation = state.observation(state.current_player)
    sampled = game.sample_states(observation, 900, seed=3)
    assert (sampled.observation == observation).all()
    assert chisquare(np.bincount(sampled.current_player, minlength=3)).pvalue > 0.001
