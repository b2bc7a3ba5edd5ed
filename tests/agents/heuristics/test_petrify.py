"""The hand-written player of Petrify sees what matters on small boards."""

from typing import Any

import pytest

import catbox_agents
from catbox_agents.agent import RandomAgent
from catbox_agents.heuristics.base import plays_on_gpu
from catbox_agents.heuristics.petrify import PetrifyHeuristic
from catbox_env import make_game
from catbox_env.core.state import GameState
from catbox_env.petrify_v0 import Deal


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


class Contrary(PetrifyHeuristic):
    """Chooses otherwise than its points say."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return action_masks.argmax(axis=1)


def test_players_that_choose_by_their_points_play_on_a_gpu() -> None:
    game = make_game("petrify_v0")
    found = [plays_on_gpu(agent(game, 0)) for agent in (PetrifyHeuristic, RandomAgent, Contrary)]
    assert found == [True, True, False]
