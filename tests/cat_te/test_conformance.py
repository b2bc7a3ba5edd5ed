"""Cat Te keeps the contract of every game, under every kind of rules; bad input is refused with a remedy."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import api_test, seed_test

from catbox_env import cat_te_v0, make_game, make_vec
from catbox_env.core.conformance import check_game
from catbox_env.games.cat_te.rules import Rules
from tests.cat_te.rule_sets import cat_te_rule_sets
from tests.core.fuzz import is_sound

VARIANTS: list[dict[str, Any]] = [
    {},
    {"num_players": 2, "region": "vietnamese", "rounds": "match", "reward": "win"},
    {"num_players": 3, "side_pot": 100, "rounds": 3, "instant_wins_double": True, "reward": "margin"},
    {"num_players": 4, "region": "khmer", "offsuit_faceup": False, "dealer": 1},
    {"num_players": 5, "side_pot": 1, "rounds": 2, "dealer": 0},
    {"num_players": 6, "region": "khmer", "side_pot": 3, "instant_wins": False},
    {"num_players": 6, "region": "vietnamese", "rounds": 2},
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_cat_te_keeps_the_contract_of_every_game(options: dict[str, Any]) -> None:
    check_game(make_game("cat_te_v0", **options), num_games=1)


@pytest.mark.nojit
def test_the_kernels_keep_the_contract_without_compilation() -> None:
    check_game(make_game("cat_te_v0", num_players=2, region="khmer"), num_games=1)
    check_game(make_game("cat_te_v0", num_players=3, side_pot=2, rounds=2), num_games=1)


any_rule_set = given(
    rules=cat_te_rule_sets(), reward=st.sampled_from(["score", "margin", "win"]), seed=st.integers(0, 2**32)
)


@settings(max_examples=4)
@any_rule_set
def test_any_rule_set_keeps_the_contract(rules: Rules, reward: str, seed: int) -> None:
    check_game(make_game("cat_te_v0", rules=rules, reward=reward), num_games=1, seed=seed)


@pytest.mark.slow
@settings(max_examples=40)
@any_rule_set
def test_many_rule_sets_keep_the_contract(rules: Rules, reward: str, seed: int) -> None:
    check_game(make_game("cat_te_v0", rules=rules, reward=reward), num_games=1, seed=seed)


@settings(max_examples=10)
@given(rules=cat_te_rule_sets(max_rounds=8), seed=st.integers(0, 2**32))
def test_what_one_wins_others_lose(rules: Rules, seed: int) -> None:
    """Side pots included: what is paid in is won or returned, to the last ante, within the bounds of the game."""
    vec = make_vec("cat_te_v0", 8, seed=seed, rules=rules)
    totals = np.zeros((8, rules.num_players))
    rng = np.random.default_rng(seed)
    for _ in range(vec.game.history_length):
        vec.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in vec.action_mask]))
        totals += vec.rewards
        assert np.array_equal(vec.rewards[vec.round_ended], vec.info["score"][vec.round_ended])
        for row in np.flatnonzero(vec.terminated):
            assert totals[row].sum() == 0
            assert vec.game.min_utility <= totals[row].min() <= totals[row].max() <= vec.game.max_utility
        totals[vec.terminated] = 0


def test_a_side_pot_that_grows_for_a_whole_match_is_paid_exactly() -> None:
    """127 rounds of 100 antes from six players: more than 16 bits hold, in reward and info alike."""
    game = make_game("cat_te_v0", num_players=6, side_pot=100, rounds=127, instant_wins=False, region="khmer")
    state = game.new_initial_state(seed=3)
    most = 0
    while not state.is_terminal():
        legal = [action for action in state.legal_actions() if action != 104]
        claims = state.record.rounds_left == 0 and 104 in state.legal_actions()
        state.apply_action(104 if claims else legal[0])
        most = max(most, int(state.record.pot))
        assert not state.round_ended or is_sound(state)
    assert most == 127 * 600
    assert sum(state.returns()) == 0
    assert [state.info(seat)["score"] for seat in range(6)] == state.rewards()
    assert set(state.rewards()) <= {
        12700 - 100 - 1,
        12700 - 100 + 5,
        127 * 600 - 101,
        127 * 600 - 95,
        -101,
        -95,
    }


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"num_players": 7}, "num_players=7: expected an integer from 2 to 6"),
        ({"num_players": 1}, "num_players=1"),
        ({"num_players": 4.0}, "num_players=4.0"),
        ({"region": "thai"}, "region='thai': expected one of 'khmer', 'laos', 'vietnamese'"),
        ({"region": None}, "region=None"),
        ({"offsuit_faceup": 1}, "offsuit_faceup=1: expected True or False"),
        ({"instant_wins": "no"}, "instant_wins='no'"),
        ({"side_pot": 101}, "side_pot=101: expected an integer from 0 to 100"),
        ({"side_pot": -1}, "side_pot=-1"),
        ({"side_pot": True}, "side_pot=True"),
        ({"rounds": 0}, "rounds=0: expected an integer from 1 to 127, or 'match'"),
        ({"rounds": "macht"}, "rounds='macht'"),
        ({"dealer": 4}, "dealer=4: expected an integer from -1 to 3"),
        ({"dealer": "random"}, "dealer='random'"),
        ({"regoin": "laos"}, "did you mean 'region'"),
        ({"reward": "antes"}, "reward='antes'"),
    ],
    ids=str,
)
def test_rules_that_cannot_be_played_are_refused_by_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named.replace("(", r"\(")):
        make_game("cat_te_v0", **options)


HANDS = ["AS KS QS JS 10S 8S", "AH KH QH JH 10H 8H"]


def table(**options: Any) -> Any:
    """Two players, both with an instant win, the ten of clubs turned up where there is a side pot."""
    game = make_game("cat_te_v0", num_players=2, **options)
    deal: dict[str, Any] = {"hands": [hand.split() for hand in HANDS]}
    if options.get("side_pot"):
        deal["upturned"] = "10C"
    return game.new_initial_state(seed=0, deal=deal)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("options", "before", "action", "reason"),
    [
        ({}, [], "play 2C", "there is no 2C in the hand: 8S 10S JS QS KS AS"),
        ({}, [], "fold AS", "the leader of a trick plays face up"),
        ({}, ["play AS"], "play AS", "there is no AS in the hand"),
        ({"offsuit_faceup": False}, ["play AS"], "play AH", r"without spades .*\(offsuit_faceup=False"),
        ({}, [], "claim", r"no side pot \(side_pot=0\)"),
        ({"side_pot": 1}, [], "claim", "that takes JC, next above the upturned 10C"),
        ({"instant_wins": False}, [], "show", "no instant wins"),
        ({}, ["play AS", "fold AH"], "show", "only be shown on the first turn"),
    ],
)
def test_an_illegal_action_is_refused_with_the_rule_that_forbids_it(
    options: dict[str, Any], before: list[str], action: str, reason: str
) -> None:
    state = table(**options)
    for name in before:
        state.apply_action(state.game.string_to_action(name))
    saved = state.serialize()
    with pytest.raises(ValueError, match=reason):
        state.apply_action(state.game.string_to_action(action))
    assert state.serialize() == saved


@pytest.mark.nojit
def test_more_illegal_actions_are_refused_with_their_rule() -> None:
    game = make_game("cat_te_v0", num_players=2, side_pot=1)
    hands = ["AS KS QH JC 10S 8S", "AH KH 2S JD 10H 8H"]
    state = game.new_initial_state(deal={"hands": [hand.split() for hand in hands], "upturned": "10C"})

    def refused(action: str, reason: str) -> None:
        with pytest.raises(ValueError, match=reason):
            state.apply_action(game.string_to_action(action))

    refused("show", "the hand is no instant win")
    state.apply_action(game.string_to_action("claim"))
    refused("claim", "seat 0 has claimed")
    state.apply_action(game.string_to_action("play AS"))
    refused("play AH", "has to follow suit while the hand holds spades; play spades or fold")
    refused("fold QX", "unknown action 'fold QX'.*did you mean 'fold Q")


def test_a_fold_in_the_blind_trick_is_refused() -> None:
    game = make_game("cat_te_v0", num_players=2)
    hands = ["AS KS QS 2C 3C 4C", "AD 2S 3S 4S AC KC"]
    state = game.new_initial_state(deal={"hands": [hand.split() for hand in hands]})
    for name in ("AS", "2S", "KS", "3S", "QS", "4S", "2C", "KC", "AD"):
        state.apply_action(game.string_to_action(f"play {name}"))
    with pytest.raises(ValueError, match="every card is shown, so none can be folded"):
        state.apply_action(game.string_to_action("fold 4C"))


def test_a_card_above_an_ace_does_not_exist() -> None:
    game = make_game("cat_te_v0", num_players=2, side_pot=1)
    state = game.new_initial_state(deal={"hands": [hand.split() for hand in HANDS], "upturned": "AC"})
    with pytest.raises(ValueError, match="no card is above an ace"):
        state.apply_action(104)


@pytest.mark.parametrize(
    ("deal", "named"),
    [
        ({"hands": [HANDS[0].split()]}, r"hands of \[6\] cards; expected 2 hands of 6"),
        ({"hands": [HANDS[0].split(), HANDS[1].split()[:5]]}, r"hands of \[6, 5\] cards"),
        ({"hands": [HANDS[0].split(), HANDS[0].split()]}, "10S, 8S, AS.* more than once"),
        ({"hands": [HANDS[0].split(), [*HANDS[1].split()[:5], "1H"]]}, "card '1H'; expected a rank"),
        ({"hands": [HANDS[0].split(), [*HANDS[1].split()[:5], 52]]}, "card 52"),
        (
            {"hands": [hand.split() for hand in HANDS], "upturned": "2C"},
            "upturned='2C'; expected no upturned card",
        ),
        ({"hands": [hand.split() for hand in HANDS], "dealer": 1}, "dict with these keys"),
        ({"hands": 5}, "deal: 5 in hands; expected a sequence of sequences of cards"),
        (
            {"hands": [HANDS[0].split(), None]},
            "deal: None in hands; expected a sequence of cards",
        ),
        ("AS", "deal='AS'"),
    ],
    ids=str,
)
def test_a_deal_that_cannot_come_up_is_refused(deal: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make_game("cat_te_v0", num_players=2).new_initial_state(deal=deal)


def test_the_last_seat_deals_whatever_number_of_players_is_put_in_its_place() -> None:
    two = make_game("cat_te_v0", num_players=2)
    four = dataclasses.replace(two.rules, num_players=4)
    assert four == make_game("cat_te_v0").rules
    assert four.first_dealer == 3
    assert make_game("cat_te_v0", **{**two.options, "num_players": 6}).rules.first_dealer == 5


def test_the_last_seat_has_one_name() -> None:
    named, default = make_game("cat_te_v0", dealer=3), make_game("cat_te_v0")
    assert named == default
    assert named.rules.dealer == -1
    assert default.deserialize_state(named.new_initial_state(seed=1).serialize()).current_player == 0


@pytest.mark.filterwarnings("ignore::UserWarning:pettingzoo")
@pytest.mark.parametrize(
    "options", [{}, {"num_players": 6, "side_pot": 2, "rounds": 2, "region": "khmer"}], ids=str
)
def test_pettingzoo_accepts_the_environment(options: dict[str, Any]) -> None:
    api_test(cat_te_v0.env(**options), num_cycles=150)
    seed_test(lambda: cat_te_v0.raw_env(**options), num_cycles=100)


@pytest.mark.nojit
def test_the_table_shows_open_cards_to_all_and_the_rest_to_its_owner() -> None:
    game = make_game("cat_te_v0", num_players=3, side_pot=2, rounds=2)
    hands = ["AS KS QS JS 2C 3C", "2S 3S 4S 5S AC KC", "AD KD QD 9S 8S 7H"]
    state = game.new_initial_state(deal={"hands": [hand.split() for hand in hands], "upturned": "10H"})
    moves = ["AS", "2S", "fold 7H", "KS", "fold 3S", "9S", "2C", "fold 4S", "fold 8S", "QS", "5S", "fold QD"]
    for move in moves:
        state.apply_action(game.string_to_action(move if move.startswith("fold") else f"play {move}"))
    # Only seat 0 won tricks, which ended the first round; three players are paid once for a sweep.
    assert state.rewards() == [2.0 - 2.0, -3.0, -3.0]
    text = game.render_text(state, seat=1)
    assert "round 2 of 2" in text
    assert "side pot: 12" in text
    assert text.count("hand of") == 1
    twin = make_game("cat_te_v0", num_players=3).new_initial_state(
        deal={"hands": [hand.split() for hand in hands]}
    )
    for move in [*moves[:9], "JS"]:
        twin.apply_action(twin.game.string_to_action(move if move.startswith("fold") else f"play {move}"))
    rows = twin.game.render_text(twin, seat=2).splitlines()
    assert rows[3].split() == ["player_0", "AS", "KS", "2C", "JS", ".", ".", "3"]
    assert rows[4].split() == [">", "player_1", "2S", "##", "##", ".", ".", ".", "0"]
    assert rows[5].split() == ["player_2", "##", "9S", "##", ".", ".", ".", "0", "(dealer)"]
    assert rows[7] == "hand of player_2: QD KD AD   folded: 7H 8S"


@pytest.mark.nojit
def test_a_blind_choice_stands_face_down_on_the_table() -> None:
    game = make_game("cat_te_v0", num_players=3)
    hands = ["AS KS 2C 3C 4C 5C", "2S QC 6D 8D 9D 10D", "3S 6C 7D AD KD QD"]
    state = game.new_initial_state(deal={"hands": [hand.split() for hand in hands]})
    moves = (
        "play AS, play 2S, play 3S, play 2C, play QC, play 6C, play 6D, play 7D, fold 3C, play AD, fold 4C"
    )
    for move in f"{moves}, play 8D, play KD, play KS".split(", "):
        state.apply_action(game.string_to_action(move))
    for seat in (1, 2):
        text = game.render_text(state, seat)
        assert text.splitlines()[3].split() == ["player_0", "AS", "2C", "##", "##", "??", ".", "1"]
        assert "KS" not in text
    assert game.render_text(state, 0).splitlines()[-1] == "hand of player_0: 5C   folded: 3C 4C   chose KS"
