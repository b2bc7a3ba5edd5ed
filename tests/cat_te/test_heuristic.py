"""The hand-written player of Cat Te: it keeps to the rules, beats random play, and chooses for its reasons."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import catbox_agents
from catbox_agents.heuristics import cat_te
from catbox_env import make_game, make_vec
from catbox_env.games.cat_te.rules import card_to_string
from tests.cat_te.rule_sets import cat_te_rule_sets


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


@settings(max_examples=40)
@given(rules=cat_te_rule_sets())
def test_it_plays_every_rule_set_by_the_rules(rules: Any) -> None:
    game = make_game("cat_te_v0", rules=rules)
    agent = catbox_agents.make("heuristic", game)
    vec = make_vec("cat_te_v0", 8, seed=2, rules=rules)
    for _ in range(min(game.history_length, 70) + 1):
        vec.step(agent.act_batch(vec.observation, vec.action_mask))  # raises for an illegal action


@pytest.mark.nojit
def test_one_decision_at_a_time_is_the_same_as_many() -> None:
    game = make_game("cat_te_v0", num_players=3, side_pot=1)
    agent = catbox_agents.make("heuristic", game)
    vec = make_vec("cat_te_v0", 3, seed=3, num_players=3, side_pot=1)
    for _ in range(17):
        actions = agent.act_batch(vec.observation, vec.action_mask)
        single = [agent.act(vec.observation[i], vec.action_mask[i].astype(np.int8)) for i in range(3)]
        assert actions.tolist() == single
        vec.step(actions)


def test_bad_input_is_refused() -> None:
    game = make_game("cat_te_v0")
    agent = catbox_agents.make("heuristic", game)
    size = game.observation_layout.size
    with pytest.raises(ValueError, match=f"{size}.*106"):
        agent.act_batch(np.zeros((2, 10), np.int8), np.ones((2, 106), bool))
    with pytest.raises(ValueError, match="expected integers of shape"):
        agent.act_batch(np.zeros((2, size), np.int8), np.ones((3, 106), bool))
    masks = np.ones((3, 106), bool)
    masks[1] = False
    with pytest.raises(ValueError, match="row 1"):
        agent.act_batch(np.repeat(game.new_initial_state(seed=1).observation(0)[None], 3, 0), masks)
    with pytest.raises(ValueError, match="not 'chess_v0'"):
        cat_te.CatTeHeuristic(SimpleNamespace(id="chess_v0"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("players", "region", "margin"),
    [(2, "khmer", 1.0), (3, "laos", 1.6), (4, "khmer", 1.5), (5, "vietnamese", 2.8), (6, "laos", 3.2)],
)  # fmt: skip
def test_it_clearly_beats_random(players: int, region: str, margin: float) -> None:
    game = make_game("cat_te_v0", num_players=players, region=region)
    ours, _ = catbox_agents.evaluate(game, ["heuristic", "random"], num_deals=500, seed=11).standings
    assert ours.margin - ours.margin_ci95 > margin


def test_the_reasons_add_up_to_the_choice() -> None:
    state = make_game("cat_te_v0", num_players=4, side_pot=1, rounds=2).new_initial_state(seed=9)
    agent: Any = catbox_agents.make("heuristic", state.game)
    while not state.is_terminal():
        seen = state.observation(state.current_player)
        why = agent.explain(seen, state.action_mask())
        assert sorted(why) == state.legal_actions()
        totals = [sum(points.values()) for points in why.values()]
        assert totals == sorted(totals, reverse=True)
        action = agent.act(seen, state.action_mask())
        assert sum(why[action].values()) == totals[0]
        assert tuple(why[action]) == cat_te.REASONS
        state.apply_action(action)


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


@pytest.mark.nojit
def test_the_plan_knows_what_is_certain() -> None:
    """The sixth trick is won by who leads the highest card that is left of its suit."""
    state = reach(["AS KS QS 9C 2C 3C", "2S 3S 4S QC 5H 6H"], region="khmer", players=2)
    agent: Any = catbox_agents.make("heuristic", state.game)
    params, weights, plan = state.game.params[0], agent._weights[0], cat_te.new_plan()
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
