"""What an agent is given tells it nothing but its own cards: no array, no row order and no seed leads to a deal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import Agent
from catbox_agents.arena import run
from catbox_agents.arena.match import Match
from tests.small_games import game_for

#: Hands so small that different deals often show a seat the same cards.
TINY = {"num_players": 2, "num_ranks": 3, "num_colors": 2, "copies": 3, "hand_size": 3, "bids": (0, 1)} | {
    "revealed_cards": 0
}


class First(Agent):
    """The lowest legal id; keeps its arguments."""

    seeds: ClassVar[list[int]] = []

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        self.seeds.append(seed)

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return action_masks.argmax(axis=1)


FIRST = f"{__name__}:First"


def seeds_given(make: Callable[[], object]) -> list[int]:
    First.seeds.clear()
    make()
    return list(First.seeds)


# Arrays ----------------------------------------------------------------------------------------------------------


class Vandal(Agent):
    """Keeps the arrays that it is given, and overwrites them."""

    needs_history = True

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        self.given: list[Any] = []

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        actions = action_masks.argmax(axis=1)
        self.given += [observations, action_masks, histories]
        for array in self.given[-3:]:
            array[:] = 1
        return actions


def test_an_agent_is_given_arrays_of_its_own() -> None:
    game = game_for()
    vandal = Vandal(game)
    spoiled = catbox_agents.evaluate(game, [vandal, "heuristic"], 10, names=["one", "two"])
    left_alone = catbox_agents.evaluate(game, [First(game), "heuristic"], 10, names=["one", "two"])
    assert spoiled == left_alone
    assert len(vandal.given) > 30
    assert all(array.base is None for array in vandal.given)


# Rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3])
def test_the_result_does_not_depend_on_how_many_games_are_played_side_by_side(
    players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = game_for(players, rounds=2)
    results = []
    for chunk, first in ((2048, 16), (10, 3), (1, 1)):
        monkeypatch.setattr(run, "CHUNK", chunk)
        monkeypatch.setattr(run, "FIRST_DEALS", first)
        results.append(catbox_agents.evaluate(game, ["heuristic", First(game)], 20, seed=4))
    for result in results[1:]:
        assert np.array_equal(result.deal_scores, results[0].deal_scores)
        assert np.array_equal(result.deal_win_shares, results[0].deal_win_shares)
        assert result["First"].statistics == pytest.approx(results[0]["First"].statistics)


# Seeds -----------------------------------------------------------------------------------------------------------


def test_without_a_seed_a_random_one_is_used_and_reported() -> None:
    game = game_for()
    one, two = (catbox_agents.evaluate(game, ["heuristic", "random"], 10, seed=None) for _ in range(2))
    assert one.seed != two.seed
    assert catbox_agents.evaluate(game, ["heuristic", "random"], 10, seed=one.seed) == one


def same_cards_same_seed(found: dict[bytes, set[int]], hidden: dict[bytes, set[bytes]]) -> None:
    """What a seat sees has one seed, although the other seats held different cards."""
    assert max(len(other) for other in hidden.values()) > 1
    assert all(len(seeds) == 1 for seeds in found.values())
    assert len({seed for seeds in found.values() for seed in seeds}) == len(found) > 3


def test_an_agents_seed_in_a_match_follows_from_the_cards_that_it_sees() -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", **TINY)
    found: dict[bytes, set[int]] = {}
    hidden: dict[bytes, set[bytes]] = {}
    for seed in range(40):
        given = seeds_given(lambda seed=seed: Match(game, [FIRST, FIRST], seed))
        state = game.new_initial_state(seed=np.random.SeedSequence(seed).spawn(1)[0])
        seen = state.observation(1).tobytes()
        found.setdefault(seen, set()).add(given[1])
        hidden.setdefault(seen, set()).add(state.observation(0).tobytes())
    same_cards_same_seed(found, hidden)
