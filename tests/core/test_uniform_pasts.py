"""Of the rounds of Cat in the Box that a state can be sampled with, each is as likely, with all cards told apart."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import numpy as np
import pytest

from catbox_env import Game, GameState, make_game
from catbox_env.core.kernels import HIDDEN, UNUSED
from tests.core.chance import chance_of
from tests.core.game_cases import begun


def multiplicity(state: GameState, action: int) -> int:
    """From how many cards ``action`` takes one."""
    rules = state.game.rules
    if action < rules.num_ranks:
        return int(state.record.hand[state.current_player, action])
    if rules.first_play <= action < rules.paradox:
        return int(state.record.hand[state.current_player, (action - rules.first_play) % rules.num_ranks])
    return 1


def replayed(game: Game, deal: Any, shown: np.ndarray, observer: int) -> dict[tuple, float]:
    """How many times each list of actions that looks like ``shown`` (n, 2) can be played, with all cards told apart."""
    found: dict[tuple, float] = {}

    def follow(state: GameState, done: list[int], ways: float) -> None:
        if len(done) == len(shown):
            found[tuple(done)] = found.get(tuple(done), 0.0) + ways
            return
        seat, action = shown[len(done)]
        if (state.current_player - observer) % game.num_players != seat:
            return
        legal = state.legal_actions()
        for each in [action] if action != HIDDEN else [a for a in legal if a < game.rules.num_ranks]:
            if each in legal:
                after = copy.deepcopy(state)
                after.apply_action(int(each))
                follow(after, [*done, int(each)], ways * multiplicity(state, int(each)))

    follow(game.new_initial_state(seed=0, deal=deal), [], 1.0)
    return found


def check_round(game: Game, state: GameState, observer: int, count: int) -> float:
    """The chance of what is sampled for ``observer`` in the first round."""
    seen, history = state.observation(observer), state.history_observation(observer)
    shown, dealt = history[history[:, 0] != UNUSED], game.deal_of(state)["hands"][observer]
    weights: dict[tuple, float] = {}
    for deal, probability in game.chance_outcomes():
        begins = game.new_initial_state(seed=0, deal=deal)
        revealed = begins.record.revealed.tobytes() == state.record.revealed.tobytes()
        if revealed and sorted(deal.hands[observer]) == dealt:
            for actions, ways in replayed(game, deal, shown, observer).items():
                weights[repr(game.deal_of(begins)), actions] = probability * ways
    drawn: Counter = Counter()
    for seed in range(count if len(weights) > 1 else 1):
        world = game.sample_state(seen, seed, history=history)
        drawn[repr(game.deal_of(world)), tuple(world.history())] += 1
    return chance_of(drawn, weights)


SMALL = {"num_players": 2, "num_ranks": 3, "num_colors": 2, "copies": 3, "hand_size": 4, "bids": ()}
SHORT = SMALL | {"num_ranks": 4, "copies": 2, "hand_size": 3, "revealed_cards": 1, "bids": (0, 1)}


@pytest.mark.parametrize("options", [
    pytest.param(SMALL | {"revealed_cards": 0}, marks=pytest.mark.slow),
    SHORT,
    pytest.param(SMALL | {"num_players": 3, "hand_size": 3}, marks=pytest.mark.slow),
])  # fmt: skip
def test_every_past_of_a_round_of_cat_in_the_box_is_as_likely(options: dict[str, Any]) -> None:
    game, rng = make_game("cat_in_the_box_v0", **options), np.random.default_rng(0)
    for seed in range(10):
        state = begun(game, int(rng.integers(game.max_game_length)), seed)
        assert check_round(game, state, seed % game.num_players, 300) > 1e-5


@pytest.mark.slow
def test_a_past_with_a_red_lead_that_was_forced_is_as_likely_as_any_other() -> None:
    """The observation tells the others which ranks are left to the leader, so the history excludes no world."""
    options = {"num_players": 3, "num_ranks": 5, "num_colors": 2, "copies": 3, "hand_size": 5, "bids": ()}
    game = make_game("cat_in_the_box_v0", **options)
    for seed in (258, 9236):
        state = begun(game, 9, seed)
        assert state.record.forced_leader >= 0
        for observer in (state.current_player, int(state.record.forced_leader)):
            assert check_round(game, state, observer, 500) > 1e-5
        worlds = game.sample_states(state.observation(state.current_player), 200, seed=1)
        history = state.history_observation(state.current_player)
        assert (game.rewind(worlds, history).importance_weights > 0).all()
