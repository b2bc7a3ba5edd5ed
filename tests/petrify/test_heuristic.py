"""The hand-written player of Petrify: it sees what matters on small boards, gives its reasons, and beats random."""

from typing import Any

import numpy as np
import pytest

import catbox_agents
from catbox_agents.heuristics.petrify import REASONS, PetrifyHeuristic
from catbox_env import make_game, make_vec
from catbox_env.core.game import GameState
from catbox_env.petrify_v0 import Deal, Rules


def position(tiles: list[str], *cells: int, **options: Any) -> GameState:
    """A game on this board: ``tiles`` are rows of names."""
    game = make_game("petrify_v0", num_players=len(cells), size=len(tiles), **options)
    return game.new_initial_state(deal=Deal([row.split() for row in tiles], cells))


def decide(state: GameState) -> int:
    seat = state.current_player
    return catbox_agents.make("heuristic", state.game).act(state.observation(seat), state.action_mask())


def reasons(state: GameState) -> dict[int, dict[str, float]]:
    seat = state.current_player
    return PetrifyHeuristic(state.game).explain(state.observation(seat), state.action_mask())


@pytest.mark.nojit
def test_it_steps_into_the_only_way_out_of_the_other() -> None:
    """Player 1 in the corner has one step, and one open neighbour: cell 7."""
    state = position(["1.1 1.2 1.3", "1.4 1.1 W", "1.2 1.3 1.4"], 4, 8, walls=1)
    assert state.legal_actions() == [1, 3, 7]
    assert decide(state) == 7
    points = reasons(state)
    assert next(iter(points)) == 7
    assert points[7]["finish"] > 0
    assert points[1]["finish"] == points[3]["finish"] == 0


@pytest.mark.nojit
def test_it_does_not_walk_into_a_dead_end() -> None:
    """The corner 0 is closed in but for the cell it comes from; 2 leads on."""
    state = position(["1.1 1.2 1.3", "W 3.3 1.1", "1.2 1.3 2.4"], 1, 6, walls=1)
    assert state.legal_actions() == [0, 2, 4]
    assert decide(state) != 0
    points = reasons(state)
    assert points[0]["answer"] < 0 < points[2]["answer"]
    assert points[0]["onward"] == 0 < points[2]["onward"]


@pytest.mark.nojit
def test_a_teleport_counts_as_much_as_its_best_exit() -> None:
    """By the teleport player 0 reaches cell 7, the only way out of player 1; on foot it cannot."""
    state = position(["1.1 T0 1.3", "1.4 1.1 W", "1.2 1.3 1.4"], 0, 8, walls=1, teleports=1)
    assert state.legal_actions() == [1, 3]
    assert decide(state) == 1
    state.apply_action(1)
    assert decide(state) == 7
    state.apply_action(7)
    assert state.returns() == [1, -1]


@pytest.mark.parametrize(
    "rules", [Rules(), Rules.full(), Rules.full(num_players=3), Rules(4, 6, "up_to")], ids=str
)
def test_one_by_one_it_decides_as_in_a_batch_and_by_the_sum_of_its_reasons(rules: Rules) -> None:
    vec = make_vec("petrify_v0", 60, seed=3, rules=rules)
    agent = catbox_agents.make("heuristic", vec.game)
    assert isinstance(agent, PetrifyHeuristic)
    for _ in range(8):
        actions = agent.act_batch(vec.observation, vec.action_mask)
        assert vec.action_mask[np.arange(60), actions].all()
        for row in range(0, 60, 7):
            assert agent.act(vec.observation[row], vec.action_mask[row]) == actions[row]
            points = agent.explain(vec.observation[row], vec.action_mask[row])
            assert list(points) == sorted(points, key=lambda action: -sum(points[action].values()))
            assert set(points) == set(np.flatnonzero(vec.action_mask[row]))
            assert list(points[actions[row]]) == list(REASONS)
            assert sum(points[actions[row]].values()) == max(sum(value.values()) for value in points.values())
        vec.step(actions)


@pytest.mark.parametrize(
    ("rules", "margin"),
    [
        (Rules(), 1.0),
        (Rules(move_rule="up_to"), 0.8),
        (Rules.full(), 1.3),
        (Rules.full(num_players=3), 0.6),
        (Rules(num_players=4, size=5), 0.4),
    ],
    ids=str,
)
def test_it_clearly_beats_random(rules: Rules, margin: float) -> None:
    result = catbox_agents.evaluate(
        make_game("petrify_v0", rules=rules), ["heuristic", "random"], 200, seed=1
    )
    assert result["heuristic"].margin - result["heuristic"].margin_ci95 > margin


def test_what_it_cannot_play_is_refused() -> None:
    with pytest.raises(ValueError, match="this heuristic plays petrify_v0, not 'cat_in_the_box_v0'"):
        PetrifyHeuristic(make_game("cat_in_the_box_v0"))
    game = make_game("petrify_v0")
    agent, state = PetrifyHeuristic(game), game.new_initial_state(seed=0)
    observation, mask = state.observation(0), state.action_mask()
    with pytest.raises(ValueError, match="row 1 has no legal action"):
        agent.act_batch(np.stack([observation] * 2), np.stack([mask, 0 * mask]))
    nowhere = observation.copy()
    game.observation_layout.unpack(nowhere)["positions"][:] = 0
    with pytest.raises(ValueError, match="shows no position of a game under way"):
        agent.act(nowhere, mask)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="only a seat to move can be asked"):
        agent.act(state.observation(0), mask)
