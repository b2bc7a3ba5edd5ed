"""Petrify: nothing about it is hidden or lost."""

from collections.abc import Iterator

import numpy as np
import pytest

from catbox_env import make_game
from catbox_env.core.game import Game
from catbox_env.core.state import GameState
from catbox_env.games.petrify.state import STATE
from tests.core.events import steps
from tests.games.test_conformance import VARIANTS

#: The fields of ``core`` that an observation does not show: what was paid, and how long the game has lasted.
OF_THE_PAST = ("rewards", "win_shares", "info", "num_moves", "rounds_ended", "returns", "round_ended")


def random_states(game: Game, num_games: int) -> Iterator[GameState]:
    """Every state of random games, up to their ends."""
    return (before for seed in range(num_games) for before, _, _ in steps(game, seed))


def position_of(state: GameState) -> dict[str, list]:
    """Everything that the future of a game depends on."""
    cells, record = state.game.num_actions, state.record
    fields = {name: np.array(record[name]).tolist() for name in STATE.names if name not in OF_THE_PAST}
    # What lies beyond the board and the players belongs to larger games.
    fields["tile"] = fields["tile"][:cells]
    for name in ("position", "place"):
        fields[name] = fields[name][: state.game.num_players]
    return fields


@pytest.mark.parametrize(
    "options", [options for game_id, options in VARIANTS if game_id == "petrify_v0"], ids=str
)
def test_the_sampled_state_is_the_state_itself_from_every_seat_and_plays_on_as_it_does(options: dict) -> None:
    game = make_game("petrify_v0", **options)
    for index, state in enumerate(random_states(game, 3)):
        sampled = [game.sample_state(state.observation(seat), seed=0) for seat in range(game.num_players)]
        assert [position_of(other) for other in sampled] == [position_of(state)] * game.num_players
        if index % 5 == 0:
            one, other = state.clone(), sampled[-1]
            while not one.is_terminal():
                action = one.legal_actions()[-1]
                one.apply_action(action)
                other.apply_action(action)
            assert position_of(other) == position_of(one)
            assert other.returns() == one.returns()


def test_a_game_can_last_as_long_as_max_game_length_says() -> None:
    """On a board of wildcards two players can fill all but two of the cells."""
    game = make_game("petrify_v0", size=3, wildcards=9, move_rule="up_to")
    assert game.max_game_length == 7
    assert max(len(state.history()) for state in random_states(game, 300)) + 1 == 7
