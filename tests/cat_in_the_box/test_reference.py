"""The engine against the slow reference, move by move: every seat's mask, observation, history, reward and statistics.

The cards are shuffled by the engine; the reference reads each deal from the hands that the seats see. Random play
alone runs into a paradox within a few tricks, so the players follow the led colour with a chance drawn per game:
that gives full rounds, broken trump by force and long lists of lost X-tokens as well.
"""

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catbox_env
from catbox_env.core.kernels import REWARDS
from tests.cat_in_the_box.reference import PARADOX, Deal, ReferenceState, Rules, action_text, make_rules
from tests.games.compare import NUMBERS_OF_GAMES, compare_games, play_both
from tests.games.rule_sets import RULES

RULE_SETS: dict[int, list[dict]] = {
    2: [
        {},
        {"bids": (0, 1, 2, 3, 4)},
        {"num_ranks": 3, "num_colors": 2, "hand_size": 5, "rounds": "match"},
        {"num_ranks": 3, "num_colors": 2, "hand_size": 5, "revealed_cards": 0, "bids": (0, 1, 2)},
        {"num_ranks": 2, "hand_size": 3, "revealed_cards": 4, "start_player": "random", "rounds": 64},
        {"num_ranks": 4, "num_colors": 3, "bonus_max_tricks": 1, "start_player": 1, "rounds": 2},
        {"num_ranks": 9, "revealed_cards": 5},
    ],
    3: [
        {},
        {"num_ranks": 7},
        {"bids": (1, 3, 4), "rounds": "match"},
        {"num_ranks": 4, "num_colors": 2, "hand_size": 4, "start_player": "random"},
        {"num_ranks": 3, "copies": 4, "hand_size": 4, "bids": (), "rounds": 2, "start_player": 2},
        {"num_ranks": 5, "num_colors": 3, "hand_size": 6, "revealed_cards": 4, "bids": (0, 2)},
    ],
    4: [
        {},
        {"rounds": 2, "start_player": 3},
        {"num_ranks": 4, "num_colors": 2, "hand_size": 5, "start_player": "random", "rounds": 3},
        {"num_ranks": 5, "num_colors": 3, "hand_size": 4, "bids": (0, 1, 2), "rounds": "match"},
        {"num_ranks": 6, "copies": 2, "hand_size": 3, "bids": ()},
    ],
    5: [
        {},
        {"start_player": "random"},
        {"num_ranks": 4, "num_colors": 2, "hand_size": 4, "rounds": 2},
        {"num_ranks": 5, "num_colors": 3, "hand_size": 5, "bids": (0, 1, 2), "rounds": 2, "start_player": 4},
        {"num_ranks": 9, "copies": 2, "hand_size": 3, "bids": (), "bonus_max_tricks": 0},
        {"num_ranks": 6, "hand_size": 4, "revealed_cards": 6, "rounds": "match"},
    ],
}


#: What has to come up in 40 games.
SITUATIONS = (
    "paradox as leader",
    "paradox as follower",
    "forced red lead",
    "full rounds",
    "bonus",
    "shared wins",
)


def read_deal(state, rules: Rules) -> Deal:
    """The deal that the seats see at the start of a round, checked against the deck."""
    views = [
        state.game.observation_layout.unpack(state.observation(seat)) for seat in range(rules.num_players)
    ]
    revealed = np.zeros(rules.num_ranks, int)
    if rules.revealed_cards > 0:
        revealed = views[0]["neutral"].sum(axis=0)
    counts = np.array([parts["hand"] for parts in views])
    assert counts.sum(axis=1).tolist() == [rules.hand_size] * rules.num_players
    assert revealed.sum() == rules.revealed_cards
    assert counts.min() >= 0
    assert (counts.sum(axis=0) + revealed).max() <= rules.copies
    hands = [[rank for rank in rules.ranks for _ in range(hand[rank - 1])] for hand in counts]
    start_player = int(np.argmax(views[0]["start_player"]))
    if rules.start_player == "random" or state.round_ended:
        assert 0 <= start_player < rules.num_players
    else:
        assert start_player == rules.start_player
    return Deal(hands, [rank for rank in rules.ranks for _ in range(revealed[rank - 1])], start_player)


def draw_action(reference: ReferenceState, rng: random.Random, chance_to_follow: float) -> tuple:
    legal = reference.legal_actions()
    if reference.trick and rng.random() < chance_to_follow:
        led_colour = reference.trick[0][1]
        legal = [action for action in legal if action[1:2] == (led_colour,)] or legal
    return rng.choice(legal)


def note(reference: ReferenceState, action: tuple, seen: Counter) -> Callable[[], None]:
    """Count what is rare, so that a test can say that it was met."""
    leads = not reference.trick
    if action == PARADOX:
        seen["paradox as leader" if leads else "paradox as follower"] += 1
    if action[:2] == ("play", "red") and leads and not reference.trump_broken():
        seen["forced red lead"] += 1
    if len(reference.neutral) > len({rank for _, rank in reference.neutral}):
        seen["equal ranks revealed"] += 1

    def note_after() -> None:
        seen["full rounds"] += reference.round_ended and action != PARADOX
        seen["bonus"] += reference.round_ended and any(info["bonus"] > 1 for info in reference.infos)
        seen["shared wins"] += reference.reward_mode == "win" and 0 < max(reference.rewards) < 1

    return note_after


def compare_game(options: dict, reward: str, seed: int, seen: Counter) -> None:
    """Play one game on both and compare after every action."""
    rng, rules = random.Random(seed), make_rules(**options)
    chance_to_follow = rng.choice([0.0, 0.6, 0.95, 1.0])
    game = catbox_env.make_game("cat_in_the_box_v0", reward=reward, **options)
    state = game.new_initial_state(seed=seed)
    reference = ReferenceState(rules, read_deal(state, rules), reward)
    assert game.max_game_length == rules.max_game_length
    names = [game.action_to_string(action).lower() for action in range(game.num_actions)]
    assert names == list(map(action_text, reference.actions))
    play_both(
        state,
        reference,
        rng,
        choose=lambda reference: draw_action(reference, rng, chance_to_follow),
        note=lambda reference, action: note(reference, action, seen),
        read_deal=lambda state: read_deal(state, rules),
        every_seat=True,
    )


@pytest.mark.parametrize("games", NUMBERS_OF_GAMES)
@pytest.mark.parametrize("players", RULE_SETS)
def test_seeded_games_agree_move_by_move(players, games):
    seen = compare_games(compare_game, players, RULE_SETS[players], games)
    situations = [*SITUATIONS]
    if any(options.get("revealed_cards", 0) for options in RULE_SETS[players]):
        situations.append("equal ranks revealed")
    for situation in situations if games >= 40 else []:
        assert seen[situation] > 0, f"{situation} never happened: {dict(seen)}"


@settings(max_examples=60)
@given(rules=RULES["cat_in_the_box_v0"], reward=st.sampled_from(REWARDS), seed=st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_games_over_random_rule_sets_agree_move_by_move(rules, reward, seed):
    compare_game(vars(rules), reward, seed, Counter())
