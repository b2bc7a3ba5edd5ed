"""The worlds drawn from an observation of Cat in the Box are exactly those that a deal and legal play can lead to."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from catbox_env import make_game
from catbox_env.core.game import Game
from catbox_env.core.rng import new_generators, seed_sequence
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.cat_in_the_box.every_play import EveryPlay, World, number_of_ways
from tests.cat_in_the_box.positions import play, start

#: Small enough for every deal and every order of legal play. In the last three, red is often led by force.
SMALL = {
    "bids": Rules.tiny(),
    "three players": Rules(
        num_players=3, num_ranks=3, num_colors=2, copies=3, hand_size=3, bids=(), start_player=2
    ),
    "three colours": Rules(
        num_players=2, num_ranks=2, num_colors=3, copies=5, hand_size=5, bids=(), revealed_cards=0
    ),
    "revealed card": Rules(
        num_players=2, num_ranks=3, num_colors=2, copies=3, hand_size=4, bids=(), revealed_cards=1
    ),
    "long hands": Rules(
        num_players=2, num_ranks=3, num_colors=2, copies=4, hand_size=5, bids=(), revealed_cards=0
    ),
}


@cache
def every_play(name: str) -> EveryPlay:
    return EveryPlay(SMALL[name])


def worlds(game: Game, observation: np.ndarray, count: int, seed: int = 0) -> list[World] | None:
    """Hands, discards and undealt cards of ``count`` drawn states; None where the observation is refused."""
    players, ranks = game.num_players, game.rules.num_ranks
    states = np.zeros(count, game.state_dtype)
    generators = new_generators(seed_sequence(seed).spawn(count))
    if game.loops.sample_games(game.params, observation, generators, states):
        return None
    if game.loops.first_refused(game.params, states) >= 0:
        return None
    seen = np.empty_like(observation)
    for seat in range(players):
        game.loops.observe_one(game.params, states, seat, seen)
        if np.array_equal(seen, observation):
            return [
                (
                    tuple(map(tuple, state["hand"][:players, :ranks].tolist())),
                    tuple(state["discarded"][:players].tolist()),
                    tuple(state["undealt"][:ranks].tolist()),
                )
                for state in states
            ]
    return None


@pytest.mark.parametrize("name", SMALL)
def test_the_worlds_drawn_are_those_of_all_legal_play_and_equally_likely(name: str) -> None:
    """Every way to give the unseen cards their places counts as one; over all observations, by chi-square."""
    play, game = every_play(name), make_game("cat_in_the_box_v0", rules=SMALL[name])
    draws, statistic, freedom = 60, 0.0, 0
    observations = sorted(play.worlds)
    for seed, key in enumerate(observations[:: len(observations) // 600 + 1]):
        observation = np.frombuffer(key, np.int8).copy()
        drawn = worlds(game, observation, draws, seed)
        assert drawn is not None
        assert set(drawn) <= play.worlds[key]
        start = int(np.argmax(game.observation_layout.unpack(observation)["start_player"]))
        observer = (SMALL[name].start_player - start) % game.num_players
        possible = sorted(play.worlds[key])
        weights = np.array([number_of_ways(world, observer) for world in possible], float)
        expected = weights / weights.sum() * draws
        counts = Counter(drawn)
        statistic += float(
            ((np.array([counts[world] for world in possible]) - expected) ** 2 / expected).sum()
        )
        freedom += len(possible) - 1
    assert chi2.sf(statistic, freedom) > 0.001


def test_a_forced_red_lead_tells_that_the_leader_holds_nothing_it_could_have_declared_otherwise() -> None:
    """The revealed 3 blocks the blue cell of its rank, so a leader with 3s alone must lead red."""
    hands = [[3, 3, 3, 2], [1, 1, 2, 2]]
    state = start(hands, revealed=[3], num_ranks=3, num_colors=2, copies=4, bids=())
    play(state, "discard 2", "discard 1", "red 3")
    observation = state.observation(1)
    drawn = worlds(state.game, observation, 500)
    assert drawn is not None
    # Rank 3 is the only one whose blue cell is blocked: the two cards left are the other 3s, whatever was discarded.
    assert {hands[0] for hands, _, _ in drawn} == {(0, 0, 2)}
    assert {discards[0] for _, discards, _ in drawn} == {0, 1}


def test_what_a_seat_had_to_lead_in_a_completed_trick_is_remembered() -> None:
    hands = [[3, 3, 3, 2], [1, 1, 2, 2]]
    state = start(hands, revealed=[3], num_ranks=3, num_colors=2, copies=4, bids=())
    play(state, "discard 2", "discard 1", "red 3, red 1")
    drawn = worlds(state.game, state.observation(1), 500)
    assert drawn is not None
    assert {hands[0] for hands, _, _ in drawn} == {(0, 0, 2)}


def test_the_leader_itself_learns_nothing_from_its_forced_lead() -> None:
    hands = [[3, 3, 3, 2], [1, 1, 2, 2]]
    state = start(hands, revealed=[3], num_ranks=3, num_colors=2, copies=4, bids=())
    play(state, "discard 2", "discard 1", "red 3")
    drawn = worlds(state.game, state.observation(0), 2000)
    assert drawn is not None
    # Unseen are four 1s and three 2s: three in the other hand, one discarded, the rest undealt.
    assert {hands[1] for hands, _, _ in drawn} == {(3, 0, 0), (2, 1, 0), (1, 2, 0), (0, 3, 0)}


def test_what_everybody_learns_from_a_forced_lead_is_shown_to_all_but_the_leader() -> None:
    hands = [[3, 3, 3, 2], [1, 1, 2, 2]]
    state = start(hands, revealed=[3], num_ranks=3, num_colors=2, copies=4, bids=())
    play(state, "discard 2", "discard 1", "red 3")
    unpack = state.game.observation_layout.unpack
    assert unpack(state.observation(1))["may_hold"].tolist() == [[1, 1, 1], [0, 0, 1]]
    assert unpack(state.observation(0))["may_hold"].tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("start_player", [0, 2, "random"])
def test_the_limited_hand_is_that_of_the_leader_whoever_starts(start_player: int | str) -> None:
    """Three players; the leader holds 3s alone, whose blue cell is blocked; the other two hold no 3."""
    rules = {"num_ranks": 3, "num_colors": 2, "copies": 5, "hand_size": 4, "revealed_cards": 1, "bids": ()}
    game = make_game("cat_in_the_box_v0", num_players=3, start_player=start_player, **rules)
    leader = 1 if start_player == "random" else int(start_player)
    hands = [[1, 1, 2, 2], [1, 1, 2, 2], [1, 2, 2, 1]]
    hands[leader] = [3, 3, 3, 3]
    deal = {"hands": hands, "revealed": [3], **({"start_player": 1} if start_player == "random" else {})}
    state = game.new_initial_state(seed=0, deal=deal)
    play(state, "discard 3", "discard 1", "discard 1", "red 3")
    for turn in (1, 2):
        seen = state.observation((leader + turn) % 3)
        for seed in range(20):
            world = game.sample_state(seen, seed)
            observer = next(seat for seat in range(3) if np.array_equal(world.observation(seat), seen))
            assert world.record.hand[(observer - turn) % 3, :3].tolist() == [0, 0, 2]


def limited(observation: np.ndarray, game: Game, seat: int, ranks: list[int]) -> np.ndarray:
    changed = observation.copy()
    game.observation_layout.unpack(changed)["may_hold"][seat] = ranks
    return changed


def test_a_vector_that_no_seat_can_see_is_refused() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    state = game.new_initial_state(seed=1)
    for _ in range(12):
        state.apply_action(state.legal_actions()[0])
    observation = state.observation(state.current_player)
    assert game.sample_state(limited(observation, game, 1, [1, 1, 1, 1, 1, 0]), 0).legal_actions()
    some_of_both = limited(limited(observation, game, 1, [0, 1, 1, 1, 1, 1]), game, 2, [0, 1, 1, 1, 1, 1])
    more_cards = observation.copy()
    game.observation_layout.unpack(more_cards)["hand"][:] += 1
    for vector in (
        limited(observation, game, 0, [1, 1, 1, 1, 1, 0]),
        limited(observation, game, 1, [0, 0, 0, 0, 0, 0]),
        some_of_both,
        more_cards,
    ):
        with pytest.raises(ValueError, match="no state of this game agrees with it"):
            game.sample_state(vector, 0)


def test_many_worlds_at_once_have_the_observer_on_any_seat_where_the_first_start_player_is_drawn() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3, start_player="random", num_colors=2, hand_size=4)
    state = game.new_initial_state(seed=4)
    for _ in range(7):
        state.apply_action(state.legal_actions()[0])
    observation = state.observation(state.current_player)
    states = np.zeros(900, game.state_dtype)
    generators = new_generators(seed_sequence(3).spawn(900))
    assert game.loops.sample_games(game.params, observation, generators, states) == 0
    assert game.loops.first_refused(game.params, states) == -1
    seen = np.empty_like(observation)
    for i in range(900):
        seat = int(states["current_player"][i])
        game.loops.observe_one(game.params, states[i : i + 1], seat, seen)
        assert np.array_equal(seen, observation)
    assert chisquare(np.bincount(states["current_player"], minlength=3)).pvalue > 0.001
