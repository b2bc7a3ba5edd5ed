"""Cat Te: what is paid sums to nothing, bad input is refused with a remedy, and the table in words."""

import dataclasses

import numpy as np
import pytest

from catbox_env import make_game
from tests.cat_te.positions import play, start


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
