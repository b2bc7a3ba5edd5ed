"""What an agent is given tells it nothing but its own cards: no array, no row order and no seed leads to a deal."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import Agent
from catbox_agents.arena import evaluation
from catbox_agents.gymnasium import LearnerEnv
from catbox_agents.match import Match
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


class Remembers(First):
    """Keeps, for each call, the deals of its rows in the discard phase: the revealed cards, which every seat sees."""

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        self.calls: list[list[bytes]] = []

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        parts = self.game.observation_layout
        discarding = observations[:, parts["phase"].offset] == 1
        deals = observations[discarding][:, parts["neutral"].slice]
        if discarding.any():
            self.calls.append([deal.tobytes() for deal in deals])
        return super().act_batch(observations, action_masks)


@pytest.mark.parametrize("players_of_its_kind", [1, 2])
def test_neither_the_order_of_rows_nor_that_of_calls_tells_the_deal(players_of_its_kind: int) -> None:
    # Many ranks and revealed cards, so that hardly any two deals reveal the same.
    game = game_for(2, num_ranks=9, copies=4, revealed_cards=8, hand_size=10)
    agent = Remembers(game)
    agents = [agent, agent] if players_of_its_kind == 2 else [agent, "heuristic"]
    catbox_agents.evaluate(game, agents, 200)
    rows = [deal for call in agent.calls for deal in call]
    assert len(rows) == 200 * 2 * players_of_its_kind  # every deal from both seats
    assert len(set(rows)) > 180
    guesses = right = 0
    for call, following in zip(agent.calls, agent.calls[1:], strict=False):  # the same place in the next call
        guesses += min(len(call), len(following))
        right += sum(one == other for one, other in zip(call, following, strict=False))
    for call in agent.calls:
        pairs = [*pairwise(call), *zip(call, call[len(call) // 2 :], strict=False)]
        guesses += len(pairs)
        right += sum(one == other for one, other in pairs)
    assert guesses > 400
    assert right < 50  # by chance about one in a call, and there are some twenty


class Notebook(First):
    """Records what it sees in the discard phase."""

    made: ClassVar[list[Notebook]] = []

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        self.made.append(self)
        self.seen: list[tuple[int, bytes]] = []

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        parts = self.game.observation_layout
        for row in observations[observations[:, parts["phase"].offset] == 1]:
            seat = -int(row[parts["start_player"].slice].argmax()) % self.game.num_players
            self.seen.append((seat, row[parts["neutral"].slice].tobytes()))
        return super().act_batch(observations, action_masks)


def test_no_object_of_a_users_class_meets_a_deal_twice_or_sits_in_two_seats() -> None:
    game = game_for(2, num_ranks=9, copies=4, revealed_cards=8, hand_size=10)
    Notebook.made.clear()
    catbox_agents.evaluate(game, [f"{__name__}:Notebook", f"{__name__}:Notebook"], 12)
    assert len(Notebook.made) == 4
    for notebook in Notebook.made:
        assert len({seat for seat, _ in notebook.seen}) == 1
        assert len({deal for _, deal in notebook.seen}) == len(notebook.seen) == 12


@pytest.mark.parametrize("players", [2, 3])
def test_the_result_does_not_depend_on_how_many_games_are_played_side_by_side(
    players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = game_for(players, rounds=2)
    results = []
    for chunk, first in ((2048, 16), (10, 3), (1, 1)):
        monkeypatch.setattr(evaluation, "CHUNK", chunk)
        monkeypatch.setattr(evaluation, "FIRST_DEALS", first)
        results.append(catbox_agents.evaluate(game, ["heuristic", First(game)], 20, seed=4))
    for result in results[1:]:
        assert np.array_equal(result.deal_scores, results[0].deal_scores)
        assert np.array_equal(result.deal_win_shares, results[0].deal_win_shares)
        assert result["First"].statistics == pytest.approx(results[0]["First"].statistics)


# Seeds -----------------------------------------------------------------------------------------------------------


def test_the_seeds_of_agents_do_not_depend_on_the_deals() -> None:
    game = game_for()
    results, seeds = [], []
    for seed in (0, 1, 2**100):
        First.seeds.clear()
        results.append(catbox_agents.evaluate(game, [FIRST, FIRST], 10, seed=seed))
        seeds.append(list(First.seeds))
    assert seeds[0] == seeds[1] == seeds[2]
    assert results[0].deal_scores.tolist() != results[1].deal_scores.tolist()
    assert len(set(seeds[0])) == 9  # one for each seat of each rotation
    assert all(type(seed) is int and 64 < seed.bit_length() <= 128 for seed in seeds[0])


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


def test_an_opponents_seed_follows_from_the_cards_that_it_sees() -> None:
    env = LearnerEnv("cat_in_the_box_v0", opponents=FIRST, learner_seat=0, **TINY)
    found: dict[bytes, set[int]] = {}
    hidden: dict[bytes, set[bytes]] = {}
    for seed in range(40):
        given = seeds_given(lambda seed=seed: env.reset(seed=seed))
        deals = np.random.SeedSequence(seed).spawn(2)[0]
        state = env.game.new_initial_state(seed=deals.spawn(1)[0])
        seen = state.observation(1).tobytes()
        found.setdefault(seen, set()).update(given)
        hidden.setdefault(seen, set()).add(state.observation(0).tobytes())
    same_cards_same_seed(found, hidden)
