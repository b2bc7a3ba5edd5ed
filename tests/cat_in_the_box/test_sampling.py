"""The worlds sampled from an observation of Cat in the Box are exactly those that a deal and legal play can lead to."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from catbox_env import GameState, Vec, make_game
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.cat_in_the_box.every_play import World, every_world, number_of_ways, world_of
from tests.cat_in_the_box.positions import play, start, view

#: Small enough for every deal and every legal course of play. In the last three, red is often led by force.
SMALL = {
    "bids": Rules.tiny(),
    "three players": Rules(
        num_players=3, num_ranks=3, num_colors=2, copies=3, hand_size=3, bids=(), start_player=2
    ),
    "random start": Rules(
        num_players=2,
        num_ranks=3,
        num_colors=2,
        copies=3,
        hand_size=4,
        bids=(),
        revealed_cards=0,
        start_player="random",
    ),
    "three colours": Rules(
        num_players=2, num_ranks=2, num_colors=3, copies=5, hand_size=5, bids=(), revealed_cards=0
    ),
    "revealed card": Rules(
        num_players=2, num_ranks=3, num_colors=2, copies=4, hand_size=4, bids=(), revealed_cards=1
    ),
    "two lists of ranks": Rules(
        num_players=2, num_ranks=3, num_colors=2, copies=4, hand_size=5, bids=(), revealed_cards=0
    ),
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


def test_the_leader_itself_learns_nothing_from_its_forced_lead() -> None:
    state = forced_lead()
    assert view(state, 0)["may_hold"].all()
    sampled = worlds(state.game.sample_states(state.observation(0), 2000, seed=0), state.observation(0))
    # Unseen are four 1s and three 2s: three in the other hand, one discarded, the rest undealt.
    assert {hands[1] for hands, _, _ in sampled} == {(3, 0, 0), (2, 1, 0), (1, 2, 0), (0, 3, 0)}


def test_a_new_round_forgets_the_forced_lead_of_the_one_before() -> None:
    options = {"num_ranks": 3, "num_colors": 2, "copies": 4, "bids": (), "rounds": 2}
    state = start([[3, 3, 3, 2], [1, 1, 2, 2]], revealed=[3], **options)
    play(state, "discard 2", "discard 1", "red 3", "red 1", "paradox")
    assert state.record.rounds_ended == 1
    assert view(state, 0)["may_hold"].all()
    assert view(state, 1)["may_hold"].all()


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_a_lead_is_no_news_where_trump_was_broken_or_red_was_not_led(seat: int) -> None:
    hands = [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]
    state = start(hands, num_ranks=4, num_colors=3, copies=3, bids=())
    play(state, "discard 1", "discard 1", "discard 1", "blue 2", "red 3", "blue 4", "red 2")
    assert view(state, seat)["may_hold"].all()


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


@pytest.mark.nojit
@pytest.mark.parametrize("options", [{"num_players": 2}, {"num_players": 3, "num_colors": 2, "hand_size": 5}])
def test_honest_observations_are_accepted_with_and_without_compilation(options: dict[str, Any]) -> None:
    game = make_game("cat_in_the_box_v0", **options)
    state, rng = game.new_initial_state(seed=2), np.random.default_rng(2)
    while not state.is_terminal():
        seen = state.observation(int(rng.integers(game.num_players)))
        first, second = worlds(game.sample_states(seen, 2, seed=5), seen)
        assert sum(map(sum, first[0])) == sum(map(sum, second[0]))
        state.apply_action(int(rng.choice(state.legal_actions())))
