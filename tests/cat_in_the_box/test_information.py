"""Nobody sees more than its own cards and what lies open, and what it cannot see is drawn fairly."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from catbox_env import make_game
from catbox_env.core.game import GameState
from catbox_env.games.cat_in_the_box.rules import Rules


def play(state: GameState, *names: str) -> GameState:
    for name in names:
        state.apply_action(state.game.string_to_action(name))
    return state


def hidden_from(state: GameState, seat: int) -> tuple:
    """Everything that ``seat`` cannot see: the other hands and discards, and the undealt cards."""
    record, players, ranks = state.record, state.game.num_players, state.game.rules.num_ranks
    others = [other for other in range(players) if other != seat]
    return (
        *(tuple(int(n) for n in record.hand[other, :ranks]) for other in others),
        *(int(record.discarded[other]) for other in others),
        tuple(int(n) for n in record.undealt[:ranks]),
    )


SMALL = Rules(num_players=2, num_ranks=3, num_colors=2, copies=3, hand_size=3, bids=(0, 1), revealed_cards=1)


def test_sampled_deals_are_uniform_over_the_assignments_of_the_unseen_cards() -> None:
    game = make_game("cat_in_the_box_v0", rules=SMALL)
    state = game.new_initial_state(deal={"hands": [[1, 1, 2], [2, 3, 3]], "revealed": [3]})
    play(state, "discard 2", "discard 3", "bid 1", "bid 0", "play blue 1")
    # Seat 1 holds 2 and 3, put away a 3, and has seen the leader's 1 and the revealed 3. Every order of the unseen
    # cards is equally likely: one in the leader's hand, its discard, two undealt.
    unseen = [1, 1, 2, 2]
    observation = state.observation(1)
    expected: Counter = Counter()
    for order in permutations(range(len(unseen))):
        cards = [unseen[i] - 1 for i in order]
        hand = tuple(int(cards[0] == rank) for rank in range(3))
        undealt = tuple(cards[2:].count(rank) for rank in range(3))
        expected[(hand, cards[1], undealt)] += 1
    draws = 6000
    seen = Counter(hidden_from(game.sample_state(observation, seed), 1) for seed in range(draws))
    assert set(seen) == set(expected)
    keys = sorted(expected)
    weights = np.array([expected[key] for key in keys]) / sum(expected.values())
    assert chisquare([seen[key] for key in keys], weights * draws).pvalue > 0.001


def test_the_sample_depends_on_the_observation_alone() -> None:
    """Two games that differ in what seat 0 cannot see give it the same observation, and the same samples."""
    game = make_game("cat_in_the_box_v0", rules=SMALL)
    one = game.new_initial_state(deal={"hands": [[1, 1, 2], [2, 3, 3]], "revealed": [1]})
    two = game.new_initial_state(deal={"hands": [[1, 1, 2], [2, 2, 3]], "revealed": [1]})
    play(one, "discard 1", "discard 3", "bid 1", "bid 0")
    play(two, "discard 1", "discard 2", "bid 1", "bid 0")
    assert np.array_equal(one.observation(0), two.observation(0))
    assert np.array_equal(one.action_mask(0), two.action_mask(0))
    assert np.array_equal(one.history_observation(0), two.history_observation(0))
    samples = [
        [game.sample_state(s.observation(0), seed).records.tobytes() for seed in range(50)]
        for s in (one, two)
    ]
    assert samples[0] == samples[1]
    assert len(set(samples[0])) > 1


def test_hidden_cards_change_nothing_that_a_seat_sees() -> None:
    """Deal the unseen cards anew again and again and play the same actions: no seat's view or mask changes."""
    game = make_game("cat_in_the_box_v0", num_players=4)
    rng = np.random.default_rng(5)
    for seed in range(15):
        state = game.new_initial_state(seed=seed)
        while not state.is_terminal():
            mover = state.current_player
            for seat in range(4):
                other = game.sample_state(state.observation(seat), seed)
                assert np.array_equal(other.observation(seat), state.observation(seat))
                assert np.array_equal(other.action_mask(seat), state.action_mask(seat))
                if seat == mover:
                    assert other.legal_actions() == state.legal_actions()
            state.apply_action(int(rng.choice(state.legal_actions())))


def test_a_sampled_state_holds_every_card_once() -> None:
    game = make_game("cat_in_the_box_v0", num_players=2)
    rng = np.random.default_rng(1)
    for seed in range(30):
        state = game.new_initial_state(seed=seed)
        for _ in range(int(rng.integers(18))):
            if state.is_terminal():
                break
            state.apply_action(int(rng.choice(state.legal_actions())))
        if state.is_terminal():
            continue
        sampled = game.sample_state(state.observation(int(rng.integers(2))), seed).record
        copies = sampled.hand[:2].sum(0) + sampled.undealt + sampled.revealed
        for seat in range(2):
            if sampled.discarded[seat] >= 0:
                copies[sampled.discarded[seat]] += 1
        copies[:5] += (sampled.board[:, :5] >= 0).sum(0)
        assert copies[:5].tolist() == [5] * 5


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("hand", 0),
        ("phase", 0),
        ("hand", -3),
        ("x_tokens", 7),
        ("tricks_left", -100),
        ("bids", 1),
        ("board", 1),
    ],
)
def test_a_vector_with_a_part_that_cannot_be_is_refused(part: str, value: int) -> None:
    game = make_game("cat_in_the_box_v0", num_players=4)
    observation = game.new_initial_state(seed=0).observation(0)
    observation[game.observation_layout[part].slice] = value
    with pytest.raises(ValueError, match="no state of this game agrees with it"):
        game.sample_state(observation, 0)


def test_a_seat_of_a_finished_game_sees_nothing_that_can_be_sampled_from() -> None:
    game = make_game("cat_in_the_box_v0", rules=SMALL)
    state = game.new_initial_state(seed=0)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="observation"):
        game.sample_state(state.observation(0), 0)


def test_a_clone_does_not_tell_the_next_deal() -> None:
    game = make_game("cat_in_the_box_v0", rules=Rules(num_players=2, rounds=2))
    state = game.new_initial_state(seed=3)
    while state.record.rounds_ended == 0:
        twin, other = state.clone(), state.clone()
        action = state.legal_actions()[0]
        for each in (state, twin, other):
            each.apply_action(action)
    hands = {each.record.hand.tobytes() for each in (state, twin, other)}
    assert len(hands) == 3
