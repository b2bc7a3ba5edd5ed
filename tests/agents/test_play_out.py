"""`play_out` plays the games of a batch as agents play them one at a time, and pays the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import HEURISTICS, Agent, play_out
from catbox_env.core.vec import Vec
from tests.core.game_cases import CASES


class Highest(Agent):
    """The highest legal id; counts how often it was asked."""

    calls = 0

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        self.calls += 1
        return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)


class Historian(Highest):
    """Asks for its history, and checks that it is its own."""

    needs_history = True

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        assert histories.shape == (len(observations), self.game.max_game_length, 2)
        return super().act_batch(observations, action_masks)


def begun(game: Any, num_games: int, moves: int, agent: Agent, **options: Any) -> tuple[Vec, list[Any]]:
    """A batch whose games have moved on by different numbers of moves, and the same games one at a time."""
    vec = Vec(game, num_games, seed=3, auto_deal=False, **options)
    states = [game.new_initial_state(seed=child) for child in np.random.SeedSequence(3).spawn(num_games)]
    for move in range(moves):
        rows = np.flatnonzero((np.arange(num_games) % (moves + 1) > move) & (vec.current_player >= 0))
        actions = agent.act_batch(vec.observation[rows], vec.action_mask[rows])
        vec.step(actions, rows)
        for row, action in zip(rows, actions, strict=True):
            states[row].apply_action(int(action))
    return vec, states


def one_by_one(states: list[Any], agents: list[Agent], until: str) -> Iterator[list[float]]:
    """What each seat is paid when every game is played alone."""
    for state in states:
        paid = np.zeros(state.game.num_players)
        while not state.is_terminal():
            seat = state.current_player
            state.apply_action(agents[seat].act(state.observation(seat), state.action_mask()))
            paid += state.rewards()
            if state.round_ended and until == "end_of_round":
                break
        yield paid.tolist()


@pytest.mark.parametrize("until", ["end_of_round", "end_of_game"])
@pytest.mark.parametrize("game_id", HEURISTICS)
def test_a_batch_is_paid_what_its_games_are_paid_one_at_a_time(game_id: str, until: str) -> None:
    options: dict[str, Any] = {"rounds": 3} if "rounds" in CASES[game_id].values else {}
    game = catbox_env.make_game(game_id, **options)
    heuristic = catbox_agents.make("heuristic", game)
    vec, states = begun(game, 24, 40, heuristic)
    agents = [heuristic if seat % 2 == 0 else Highest(game) for seat in range(game.num_players)]
    expected = list(one_by_one(states, agents, until))
    paid = play_out(vec, agents, until=until)
    assert paid.dtype == np.float64
    assert np.allclose(paid, expected)
    assert np.array_equal(vec.current_player, [state.current_player for state in states])
    if until == "end_of_game":
        assert (vec.current_player == -1).all()
        assert not play_out(vec, heuristic).any()  # games that are over pay nothing more
    elif options:
        assert (vec.current_player >= 0).any()  # there are rounds to come


def test_a_round_is_played_out_from_its_middle_and_no_further() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3, rounds=2)
    heuristic = catbox_agents.make("heuristic", game)
    vec, _ = begun(game, 16, 10, heuristic)
    rounds_left = game.observation_layout["rounds_left"].offset
    assert (vec.observation[:, rounds_left] == 1).all()
    first = play_out(vec, heuristic, until="end_of_round")
    assert (vec.observation[:, rounds_left] == 0).all()
    assert (vec.current_player >= 0).all()
    second = play_out(vec, heuristic, until="end_of_round")
    assert (vec.current_player == -1).all()
    assert np.allclose(first + second, vec._records["returns"][:, :3])


def test_the_next_game_is_dealt_and_not_played() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)
    heuristic = catbox_agents.make("heuristic", game)
    dealt, ended = Vec(game, 30, seed=1), Vec(game, 30, seed=1, auto_deal=False)
    assert np.array_equal(play_out(dealt, heuristic), play_out(ended, heuristic))
    ended.deal(np.arange(30))
    assert np.array_equal(dealt.observation, ended.observation)


def test_specs_can_play_and_draw_new_random_numbers_in_every_call() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", num_players=3)

    def paid(agents: Any) -> list[list[float]]:
        return play_out(Vec(game, 40, seed=1, auto_deal=False), agents).tolist()

    heuristic = catbox_agents.make("heuristic", game)
    assert paid("heuristic") == paid(heuristic) == paid(["heuristic", heuristic, "heuristic"])
    assert paid("random") != paid("random")
    assert paid(catbox_agents.make("random", game, 1)) == paid(catbox_agents.make("random", game, 1))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"until": "end"}, "until='end': expected one of 'end_of_round', 'end_of_game'"),
        (
            {"agents": ["heuristic", "random"]},
            "2 for 3 seats; give one agent for all, or one for",
        ),
        (
            {"agents": catbox_agents.make("random", catbox_env.make_game("petrify_v0"))},
            "was made for the game 'petrify_v0'",
        ),
        (
            {"agents": Historian(catbox_env.make_game("cat_in_the_box_v0", num_players=3))},
            "agent 'Historian' needs its history: .*make the batch with history=True",
        ),
    ],
)
def test_what_cannot_be_played_out_is_refused_and_no_game_has_moved(
    arguments: dict[str, Any], said: str
) -> None:
    vec = Vec(catbox_env.make_game("cat_in_the_box_v0", num_players=3), 4, seed=1)
    before = vec._records.tobytes()
    with pytest.raises(ValueError, match=said):
        play_out(vec, **{"agents": "heuristic", **arguments})
    assert vec._records.tobytes() == before
