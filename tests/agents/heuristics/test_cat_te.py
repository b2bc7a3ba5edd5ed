"""The hand-written player of Cat Te: what it does in single positions, and the parts it is made of."""

import itertools
from typing import Any

import numpy as np
import pytest

import catbox_agents
from catbox_agents.heuristics import cat_te
from catbox_env import make_game
from catbox_env.games.cat_te.rules import card_to_string


def reach(
    hands: list[str], *tricks: str, players: int = 4, upturned: str | None = None, **options: Any
) -> Any:
    """The state after tricks such as "AS, fold 2C, 9S" from these hands; the other seats hold what is left."""
    dealt = [hand.split() for hand in hands]
    gone = [card for hand in dealt for card in hand] + [upturned]
    rest = [name for name in map(card_to_string, range(52)) if name not in gone]
    dealt += [rest[seat::6][:6] for seat in range(players - len(hands))]
    game = make_game("cat_te_v0", num_players=len(dealt), **options)
    state = game.new_initial_state(seed=0, deal={"hands": dealt, "upturned": upturned})
    for move in [move for trick in tricks for move in trick.split(", ")]:
        named = move if move.split()[0] in ("fold", "claim", "show") else f"play {move}"
        state.apply_action(game.string_to_action(named))
    return state


def reasons(state: Any) -> dict[str, dict[str, float]]:
    """The points of every legal action, in words, best first."""
    agent: Any = catbox_agents.make("heuristic", state.game)
    why = agent.explain(state.observation(state.current_player), state.action_mask())
    return {state.game.action_to_string(action): points for action, points in why.items()}


def choice(state: Any) -> str:
    return next(iter(reasons(state)))


def test_a_weak_hand_that_wins_at_once_is_shown() -> None:
    low = "2S 2C 3C 4C 5C 3D"
    assert choice(reach([low])) == "show"
    assert "show" not in reasons(reach([low], instant_wins=False))


def test_four_sure_tricks_are_played_where_they_pay_more_than_the_hand_shown() -> None:
    sure, strong = "AS KS QS JS 9S 8S", "KS QS 10S 9S 8S 7S"
    assert choice(reach([sure])).startswith("play")
    assert reasons(reach([sure]))["show"]["show"] == 4
    assert choice(reach([strong], instant_wins_double=True)) == "show"
    assert choice(reach([strong], players=3)) == "show"  # three players: all four tricks pay once


def test_the_side_pot_is_claimed_at_once() -> None:
    state = reach(["QS KC QD JH 10S 5C"], upturned="JS", side_pot=3, region="khmer")
    assert choice(state) == "claim"
    assert reasons(state)["claim"]["show"] == 12
    state.apply_action(state.game.string_to_action("claim"))
    assert choice(state).startswith("play")


def test_what_cannot_win_is_folded_and_it_is_a_low_card() -> None:
    state = reach(["AS 3S 4S 5D 6C 7H", "KS AH KH QH 2C 10D"], "AS")
    assert choice(state) == "fold 2C"
    assert reasons(state)["play KS"]["hide"] < 0
    assert all(points["hide"] == 0 for move, points in reasons(state).items() if move.startswith("fold"))


def test_the_last_chance_to_stay_in_is_taken() -> None:
    """Without a trick after three only the fourth counts: to fold is to be out."""
    hands = ["2S AC KC 3D 4D 7H", "8S 7D 5D 3C KD 6H"]
    state = reach(hands, "2S, 8S", "7D, 3D", "5D, 4D", "3C", players=2)
    assert choice(state) in {"play AC", "play KC"}
    assert reasons(state)["fold 7H"]["wait"] == 0


def test_another_is_kept_from_all_four_tricks() -> None:
    hands = ["AS KS QS 9C 2C 3C", "2S 3S 4S QC 5H 6H", "2D 3D 4D 5D 7D AC", "8D 9D 10D JD 4H 3H"]
    tricks = "AS, 2S, fold 2D, fold 8D", "KS, 3S, fold 3D, fold 9D", "QS, 4S, fold 4D, fold 10D"
    why = reasons(reach(hands, *tricks, "9C, fold 5H"))
    assert next(iter(why)) == "play AC"
    assert why["fold 5D"]["stop"] == -1.0
    assert why["play AC"]["stop"] == 0.0  # nobody can beat the ace


def test_early_tricks_are_all_won_none_won_or_some() -> None:
    """After every sequence of won and lost early tricks; who loses the first has won none."""
    for number in range(1, 5):
        for won in itertools.product([False, True], repeat=number):
            early = cat_te.ALL
            for trick, wins in enumerate(won):
                early = cat_te.win_from(early) if wins else cat_te.lose_from(early, trick)
            assert early == (cat_te.ALL if all(won) else cat_te.SOME if any(won) else cat_te.NOTHING), won


@pytest.mark.nojit
@pytest.mark.slow
def test_the_plan_knows_what_is_certain() -> None:
    """The sixth trick is won by who leads the highest card that is left of its suit."""
    state = reach(["AS KS QS 9C 2C 3C", "2S 3S 4S QC 5H 6H"], region="khmer", players=2)
    agent: Any = catbox_agents.make("heuristic", state.game)
    plans = np.zeros(1, cat_te.PLAN)
    params, weights, plan = state.game.params[0], agent.weights_record[0], plans[0]
    cat_te.read_hand(params, weights, state.observation(0), plan)
    cat_te.outlook(plan, weights)
    cat_te.value_hands(params, plan)
    assert [card_to_string(card) for card in plan.cards] == ["2C", "3C", "9C", "QS", "KS", "AS"]
    assert plan.of_suit.tolist() == [10, 13, 13, 10]
    assert plan.above.tolist() == [10, 10, 5, 0, 0, 0]
    worth = plan.worth
    alone = [worth[1 << i, cat_te.SOME, cat_te.LEADS] for i in range(6)]
    assert alone == sorted(alone)
    assert alone[3:] == [1.0, 1.0, 1.0]
    assert worth[63, cat_te.ALL, cat_te.LEADS] > worth[63, cat_te.ALL, cat_te.FOLLOWS]
    assert 0.0 <= worth.min() <= worth.max() <= 1.0
