"""The hand-written players: they keep to the rules, beat random play, and choose for the reasons that they give."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catbox_agents
from catbox_agents.heuristics.petrify import PetrifyHeuristic
from catbox_env import make_game, make_vec
from catbox_env.games.petrify.rules import Rules as PetrifyRules
from tests.games.rule_sets import RULES

EXAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("cat_in_the_box_v0", {"num_players": 4}),
    ("cat_in_the_box_v0", {"num_players": 2, "rounds": 2}),
    ("cat_te_v0", {"num_players": 3, "side_pot": 1, "rounds": 2}),
    ("petrify_v0", {}),
    ("petrify_v0", {"rules": PetrifyRules.full(num_players=3)}),
    ("petrify_v0", {"num_players": 4, "size": 6, "move_rule": "up_to"}),
]


@pytest.mark.parametrize("game_id", RULES)
@settings(max_examples=20)
@given(data=st.data())
def test_it_plays_every_rule_set_by_the_rules(game_id: str, data: st.DataObject) -> None:
    vec = make_vec(game_id, 8, seed=2, rules=data.draw(RULES[game_id]))
    agent = catbox_agents.make("heuristic", vec.game)
    for _ in range(min(vec.game.max_game_length, 70) + 1):
        vec.step(agent.act_batch(vec.observation, vec.action_mask))  # raises for an illegal action


@pytest.mark.nojit
@pytest.mark.parametrize(("game_id", "options"), EXAMPLES, ids=str)
def test_alone_it_decides_as_in_a_batch_and_by_the_sum_of_its_reasons(
    game_id: str, options: dict[str, Any]
) -> None:
    vec = make_vec(game_id, 4, seed=3, **options)
    agent: Any = catbox_agents.make("heuristic", vec.game)
    for _ in range(17):
        actions = agent.act_batch(vec.observation, vec.action_mask)
        for row, action in enumerate(actions):
            seen, mask = vec.observation[row], vec.action_mask[row].astype(np.int8)
            assert agent.act(seen, mask) == action
            points = agent.explain(seen, mask)
            totals = [sum(reasons.values()) for reasons in points.values()]
            assert totals == sorted(totals, reverse=True)
            assert sorted(points) == np.flatnonzero(mask).tolist()
            assert next(iter(points)) == action
            assert all(tuple(reasons) == agent.reasons for reasons in points.values())
        vec.step(actions)


@pytest.mark.parametrize(
    ("game_id", "options", "num_deals", "margin"),
    [
        ("cat_te_v0", {"num_players": 2, "region": "khmer"}, 500, 1.0),
        ("cat_te_v0", {"num_players": 3, "region": "laos"}, 500, 1.6),
        ("cat_te_v0", {"num_players": 4, "region": "khmer"}, 500, 1.5),
        ("cat_te_v0", {"num_players": 5, "region": "vietnamese"}, 500, 2.8),
        ("cat_te_v0", {"num_players": 6, "region": "laos"}, 500, 3.2),
        ("petrify_v0", {}, 200, 1.0),
        ("petrify_v0", {"move_rule": "up_to"}, 200, 0.8),
        ("petrify_v0", {"rules": PetrifyRules.full()}, 200, 1.3),
        ("petrify_v0", {"rules": PetrifyRules.full(num_players=3)}, 200, 0.6),
        ("petrify_v0", {"num_players": 4, "size": 5}, 200, 0.4),
    ],
    ids=str,
)
def test_it_clearly_beats_random(
    game_id: str, options: dict[str, Any], num_deals: int, margin: float
) -> None:
    game = make_game(game_id, **options)
    ours, _ = catbox_agents.evaluate(game, ["heuristic", "random"], num_deals, seed=11).standings
    assert ours.margin - ours.margin_ci95 > margin


@pytest.mark.parametrize("game_id", RULES)
def test_where_there_is_nothing_to_decide_it_refuses_by_row(game_id: str) -> None:
    game = make_game(game_id)
    agent, state = catbox_agents.make("heuristic", game), game.new_initial_state(seed=0)
    seen, mask = state.observation(state.current_player), state.action_mask()
    with pytest.raises(ValueError, match="row 1 has no legal action"):
        agent.act_batch(np.stack([seen] * 2), np.stack([mask, 0 * mask]))
    with pytest.raises(ValueError, match=f"{len(seen)}.*{len(mask)}"):
        agent.act_batch(np.zeros((2, 10), np.int8), np.ones((2, len(mask)), bool))
    with pytest.raises(ValueError, match="expected integers of shape"):
        agent.act_batch(np.stack([seen] * 2), np.ones((3, len(mask)), bool))


def test_a_heuristic_of_another_game_and_a_board_that_shows_no_game_are_refused() -> None:
    with pytest.raises(ValueError, match="this heuristic plays petrify_v0, not 'cat_in_the_box_v0'"):
        PetrifyHeuristic(make_game("cat_in_the_box_v0"))
    game = make_game("petrify_v0")
    state = game.new_initial_state(seed=0)
    nowhere, mask = state.observation(0), state.action_mask()
    game.observation_layout.unpack(nowhere)["positions"][:] = 0
    with pytest.raises(ValueError, match="shows no position of a game under way"):
        PetrifyHeuristic(game).act(nowhere, mask)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="ask only for seats that are to move"):
        PetrifyHeuristic(game).act(state.observation(0), mask)
