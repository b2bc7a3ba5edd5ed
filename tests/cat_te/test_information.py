"""Cat Te: nobody sees more than its own cards and the table, and what it cannot see is drawn fairly."""

from collections import Counter
from collections.abc import Iterable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from catbox_env import cat_te_v0, make_vec
from tests.cat_te.positions import cards, move_id, play, start, view
from tests.cat_te.reference import DECK
from tests.cat_te.worlds import draw, hidden
from tests.core.chance import chance_of

BLIND = ["AS KS 2C 3C 4C 5C", "2S QC 6D 8D 9D 10D", "3S 6C 7D AD KD QD", "4S 9C JC 10C 7C AC"]


def unseen(*seen: str) -> list[str]:
    return [card for card in DECK if card not in " ".join(seen).split()]


def chance_of_draws(state: Any, observer: int, number: int, seat: int, possible: Iterable[Any]) -> float:
    """The chance of the cards that ``seat`` holds and has folded and its choice, if all ``possible`` are as likely."""
    drawn = draw(state.game, state.observation(observer), number)
    found = Counter(
        tuple(map(frozenset, hidden(record, seat)[:2])) + hidden(record, seat)[2:] for record in drawn
    )
    return chance_of(found, dict.fromkeys(possible, 1.0))


# What is dealt and drawn -------------------------------------------------------------------------------------


def test_every_card_comes_to_every_seat_and_is_turned_up_equally_often() -> None:
    vec = make_vec("cat_te_v0", 26_000, seed=2, num_players=5, side_pot=1, state=True)
    parts = vec.game.state_layout.unpack(vec.state)
    for seat in range(5):
        assert chisquare(parts["hand"][:, seat].sum(0, dtype=int)).pvalue > 0.001
    assert chisquare(parts["upturned"].sum(0, dtype=int)).pvalue > 0.001
    # Neighbours in the deck do not come together more often than others: 6 x 5 / (52 x 51) of the hands.
    together = int((parts["hand"][:, 2, 20] & parts["hand"][:, 2, 21]).sum(dtype=int))
    expected = 26_000 * 30 / (52 * 51)
    assert abs(together - expected) < 4 * np.sqrt(expected)


def test_unseen_cards_are_drawn_uniformly() -> None:
    """The other player holds one card and folded one: any two of the unseen cards, either way round."""
    hands = ["AS KS QS JC 10D 9H", "2S AC 3D 4D 5D 6D"]
    state = start(hands, region="khmer")
    play(state, "AS, fold 2S", "JC, AC", "3D, fold KS", "4D, fold QS", "5D")
    pairs = permutations(unseen(hands[0], "AC 3D 4D 5D"), 2)
    possible = [(frozenset({held}), frozenset({folded}), "") for held, folded in pairs]
    assert chance_of_draws(state, 0, 20_000, 1, possible) > 0.001


def test_a_blind_choice_is_drawn_like_any_card_of_the_hand() -> None:
    state = play(start(BLIND[:3]), "AS, 2S, 3S", "2C, QC, 6C", "6D, 7D, 3C", "AD, 4C, 8D", "KD, KS")
    assert state.current_player == 1
    assert hidden(state.record, 0) == (["5C", "KS"], [], "KS")
    # Seat 0 showed a club on diamonds, so its two cards are of the other suits.
    cards = [card for card in unseen(BLIND[1], "AS 2C 3C 4C 3S 6C 7D AD KD") if card[-1] != "D"]
    possible = [(frozenset(pair), frozenset(), pair[0]) for pair in permutations(cards, 2)]
    assert chance_of_draws(state, 1, 10_000, 0, possible) > 0.001


# What the blind trick tells -------------------------------------------------------------------------------------

BEFORE = "AS, 2S, 3S, 4S", "3C, QC, 6C, fold 7C", "8D, 7D, fold JC, fold KS", "6D, AD, fold 9C, fold 5C"


def blind(reward: str = "score") -> Any:
    """Seat 3 is out; seat 2 leads the fifth trick, then seats 0 and 1 choose."""
    state = play(start(BLIND, reward=reward), *BEFORE)
    assert [int(each) for each in state.record.in_round[:4]] == [1, 1, 1, 0]
    return play(state, "KD")


@pytest.mark.nojit
def test_a_blind_choice_is_seen_by_its_owner_alone() -> None:
    one, two = play(blind(), "2C"), play(blind(), "4C")
    for seat in (1, 2, 3):
        assert np.array_equal(one.observation(seat), two.observation(seat))
        assert np.array_equal(one.action_mask(seat), two.action_mask(seat))
        assert np.array_equal(one.history_observation(seat), two.history_observation(seat))
        assert one.game.render_text(one, seat) == two.game.render_text(two, seat)
        samples = [
            [each.game.sample_state(each.observation(seat), s).record.tobytes() for s in range(20)]
            for each in (one, two)
        ]
        assert samples[0] == samples[1]
        assert one.info(seat) == two.info(seat) == {}
    assert one.legal_actions() == two.legal_actions()
    assert one.rewards() == two.rewards() == [0.0] * 4
    own = view(one, 0)
    assert (cards(own["chosen"]), cards(own["hand"])) == ({"2C"}, {"4C"})
    assert one.history_observation(0)[len(one.history()) - 1].tolist() == [0, move_id("2C")]
    assert one.history_observation(1)[len(one.history()) - 1].tolist() == [3, -1]


def test_the_choice_does_not_reach_anybody_through_pettingzoo() -> None:
    seen = []
    for choice in ("2C", "4C"):
        env = cat_te_v0.raw_env(num_players=4, history=True, render_mode="ansi")
        env.reset(seed=5, options={"deal": {"hands": [hand.split() for hand in BLIND]}})
        moves = ", ".join([*BEFORE, "KD", choice]).split(", ")
        for move in moves:
            env.step(env.game.string_to_action(move if move.startswith("fold") else f"play {move}"))
        others = [env.observe(f"player_{seat}") for seat in (1, 2, 3)]
        parts = [{name: part.tobytes() for name, part in each.items()} for each in others]
        seen.append((parts, env.infos, env.rewards, env.terminations, env.agent_selection, env.render()))
    assert seen[0] == seen[1]
    assert seen[0][1] == {f"player_{seat}": {} for seat in range(4)}
