"""Cat Te: what is paid sums to nothing, bad input is refused with a remedy, and the table in words."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_env import make_game, make_vec
from catbox_env.games.cat_te.rules import Rules
from tests.cat_te.positions import play, start
from tests.games.rule_sets import cat_te_rules


@settings(max_examples=10)
@given(rules=cat_te_rules(max_rounds=8), seed=st.integers(0, 2**32))
def test_what_one_wins_others_lose(rules: Rules, seed: int) -> None:
    """Side pots included: what is paid in is won or returned, to the last ante, within the bounds of the game."""
    vec = make_vec("cat_te_v0", 8, seed=seed, rules=rules)
    totals = np.zeros((8, rules.num_players))
    rng = np.random.default_rng(seed)
    for _ in range(vec.game.max_game_length):
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


HANDS = ["AS KS QS JS 10S 8S", "AH KH QH JH 10H 8H"]


#: Follow each other's suits; neither wins at once.
PLAIN = ["AS KS QH JC 10S 8S", "AH KH 2S JD 10H 8H"]
LATE = ["AS KS QS 2C 3C 4C", "AD 2S 3S 4S AC KC"]


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("hands", "options", "before", "move", "reason"),
    [
        (HANDS, {}, [], "2C", "there is no 2C in the hand: 8S 10S JS QS KS AS"),
        (HANDS, {}, [], "fold AS", "the leader of a trick plays face up"),
        (HANDS, {}, ["AS"], "AS", "there is no AS in the hand"),
        (HANDS, {"offsuit_faceup": False}, ["AS"], "AH", r"without spades .*\(offsuit_faceup=False"),
        (PLAIN, {}, ["AS"], "AH", "has to follow suit while the hand holds spades; play spades or fold"),
        (LATE, {}, ["AS, 2S", "KS, 3S", "QS, 4S", "2C, KC", "AD"], "fold 4C", "so none can be folded"),
        (HANDS, {}, [], "claim", r"no side pot \(side_pot=0\)"),
        (HANDS, {"side_pot": 1, "upturned": "10C"}, [], "claim", "that takes JC, next above the upturned 10C"),
        (HANDS, {"side_pot": 1, "upturned": "AC"}, [], "claim", "no card is above an ace"),
        (PLAIN, {"side_pot": 1, "upturned": "10C"}, ["claim"], "claim", "seat 0 has claimed"),
        (HANDS, {"instant_wins": False}, [], "show", "no instant wins"),
        (HANDS, {}, ["AS, fold AH"], "show", "only be shown on the first turn"),
        (PLAIN, {}, [], "show", "the hand is no instant win"),
    ],
)  # fmt: skip
def test_an_illegal_action_is_refused_with_the_rule_that_forbids_it(
    hands: list[str], options: dict[str, Any], before: list[str], move: str, reason: str
) -> None:
    state = play(start(hands, **options), *before)
    saved = state.serialize()
    with pytest.raises(ValueError, match=reason):
        play(state, move)
    assert state.serialize() == saved


def test_the_last_seat_has_one_name_and_deals_whatever_number_of_players_is_put_in_its_place() -> None:
    named, default = make_game("cat_te_v0", dealer=3), make_game("cat_te_v0")
    assert named == default
    assert named.rules.dealer == -1
    two = make_game("cat_te_v0", num_players=2)
    assert dataclasses.replace(two.rules, num_players=4) == default.rules
    assert default.rules.first_dealer == 3


@pytest.mark.nojit
def test_the_table_shows_open_cards_to_all_and_the_rest_to_its_owner() -> None:
    hands = ["AS KS QS JS 2C 3C", "2S 3S 4S 5S AC KC", "AD KD QD 9S 8S 7H"]
    tricks = "AS, 2S, fold 7H", "KS, fold 3S, 9S", "2C, fold 4S, fold 8S"
    state = play(start(hands, upturned="10H", side_pot=2, rounds=2), *tricks, "QS, 5S, fold QD")
    # Only seat 0 won tricks, which ended the first round; three players are paid once for a sweep.
    assert state.rewards() == [2.0 - 2.0, -3.0, -3.0]
    text = state.game.render_text(state, seat=1)
    assert "round 2 of 2" in text
    assert "side pot: 12" in text
    assert text.count("hand of") == 1
    state = play(start(hands), *tricks, "JS")
    rows = state.game.render_text(state, seat=2).splitlines()
    assert rows[3].split() == ["player_0", "AS", "KS", "2C", "JS", ".", ".", "3"]
    assert rows[4].split() == [">", "player_1", "2S", "##", "##", ".", ".", ".", "0"]
    assert rows[5].split() == ["player_2", "##", "9S", "##", ".", ".", ".", "0", "(dealer)"]
    assert rows[7] == "hand of player_2: QD KD AD   folded: 7H 8S"


@pytest.mark.nojit
def test_a_blind_choice_stands_face_down_on_the_table() -> None:
    hands = ["AS KS 2C 3C 4C 5C", "2S QC 6D 8D 9D 10D", "3S 6C 7D AD KD QD"]
    state = play(start(hands), "AS, 2S, 3S", "2C, QC, 6C", "6D, 7D, fold 3C", "AD, fold 4C, 8D", "KD, KS")
    for seat in (1, 2):
        text = state.game.render_text(state, seat)
        assert text.splitlines()[3].split() == ["player_0", "AS", "2C", "##", "##", "??", ".", "1"]
        assert "KS" not in text
    assert (
        state.game.render_text(state, 0).splitlines()[-1] == "hand of player_0: 5C   folded: 3C 4C   chose KS"
    )


@pytest.mark.parametrize("side_pot", [0, 1])
@pytest.mark.parametrize("players", [2, 3, 6])
def test_all_deals_are_equally_likely_and_counted(players: int, side_pot: int) -> None:
    """The chance of any sequence of draws is 1 / the number of deals."""
    draws = make_game("cat_te_v0", num_players=players, side_pot=side_pot).draws
    rng, drawn, chance = np.random.default_rng(players), [], 1.0
    while outcomes := draws.outcomes(drawn):
        draw, probability = outcomes[int(rng.choice(len(outcomes), p=[p for _, p in outcomes]))]
        drawn.append(draw)
        chance *= probability
    assert len(drawn) == draws.length == 6 * players + side_pot
    assert chance * draws.count() == pytest.approx(1.0)
