"""States from outside: every position of a game is accepted, and what play could not end from is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catbox_env import make_game
from catbox_env.core.batch import Vec
from catbox_env.core.game import Game, GameState
from catbox_env.games.cat_in_the_box.rules import Rules
from tests.core.fuzz import is_sound
from tests.games.rule_sets import cat_in_the_box_rules


def play_to(game: Game, phase: int, seed: int, moves: int = 0) -> GameState:
    """A random game, ``moves`` moves into a phase of its first round."""
    rng = np.random.default_rng(seed)
    state = game.new_initial_state(seed=seed)
    while state.record.phase < phase:
        state.apply_action(int(rng.choice(state.legal_actions())))
    for _ in range(moves):
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


@settings(max_examples=40)
@given(cat_in_the_box_rules(max_rounds=4), st.integers(0, 1000))
def test_every_state_of_a_game_is_sound(rules: Rules, seed: int) -> None:
    game = make_game("cat_in_the_box_v0", rules=rules)
    rng = np.random.default_rng(seed)
    state = game.new_initial_state(seed=seed)
    assert is_sound(state)
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
        assert is_sound(state)


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_states_of_given_deals_and_of_batches_are_sound(players: int) -> None:
    game = make_game("cat_in_the_box_v0", num_players=players, num_ranks=9, hand_size=3, copies=3, rounds=2)
    deal = {
        "hands": [[1 + seat, 2 + seat, 3 + seat] for seat in range(players)],
        "revealed": [9, 9, 8] if players == 2 else [],
    }
    assert is_sound(game.new_initial_state(seed=0, deal=deal))
    # A finished game is dealt anew in the same record, where ``info`` is still that of the game before.
    vec = Vec(game, 3, seed=1)
    for step in range(40):
        vec.step_random(1, seed=step)
        assert game.loops.first_refused(game.params, vec._records) < 0


def flip(state: Any, field: str, place: Any, value: int) -> None:
    getattr(state, field)[place] = value


MATCH = {"num_players": 4, "rounds": "match", "start_player": 1}
CORRUPTIONS: dict[str, tuple[int, int, Callable[[Any], None]]] = {
    # name: (phase, moves into it, what is done to the record)
    "phase that does not exist": (0, 2, lambda s: setattr(s, "phase", 3)),
    "bidding before the discards": (0, 2, lambda s: setattr(s, "phase", 1)),
    "play before the bids": (1, 2, lambda s: setattr(s, "phase", 2)),
    "discards during play": (2, 6, lambda s: setattr(s, "phase", 0)),
    "no start player": (2, 3, lambda s: setattr(s, "start_player", 9)),
    "leader who is not a seat": (2, 0, lambda s: setattr(s, "leader", 5)),
    "led colour without a card": (2, 0, lambda s: setattr(s, "led", 1)),
    "led colour that does not exist": (2, 1, lambda s: setattr(s, "led", 4)),
    "led colour not that of the leader": (2, 1, lambda s: setattr(s, "led", (s.led + 1) % 4)),
    "a trick too many": (2, 4, lambda s: setattr(s, "tricks_left", s.tricks_left + 1)),
    "a trick too few": (2, 4, lambda s: setattr(s, "tricks_left", 0)),
    "more rounds than a match has": (0, 0, lambda s: setattr(s, "rounds_left", 4)),
    "less than no rounds": (0, 0, lambda s: setattr(s, "rounds_left", -1)),
    "a card more in a hand": (2, 5, lambda s: flip(s, "hand", (0, 3), s.hand[0, 3] + 1)),
    "a hand below nothing": (0, 0, lambda s: flip(s, "hand", (0, 3), -1)),
    "a discard that nobody made": (0, 0, lambda s: flip(s, "discarded", 0, 3)),
    "a discard not made": (2, 0, lambda s: flip(s, "discarded", 2, -1)),
    "a discard of no rank": (2, 0, lambda s: flip(s, "discarded", 2, 8)),
    "a token of nobody": (2, 4, lambda s: flip(s, "board", np.argwhere(s.board[:4, :8] == -1)[0], 7)),
    "a token more than tricks": (2, 4, lambda s: flip(s, "num_tokens", 0, s.num_tokens[0] + 1)),
    "many tokens": (2, 4, lambda s: flip(s, "num_tokens", 0, 127)),
    "fewer than no tokens": (2, 0, lambda s: flip(s, "num_tokens", 0, -1)),
    "a token listed off the board": (2, 4, lambda s: flip(s, "tokens", (0, 0), 32)),
    "half an X-token": (2, 0, lambda s: flip(s, "x_tokens", (1, 1), 2)),
    "a bid before its turn": (1, 0, lambda s: flip(s, "bids", 0, 1)),
    "a bid not made": (2, 0, lambda s: flip(s, "bids", 0, -1)),
    "a bid that does not exist": (2, 0, lambda s: flip(s, "bids", 0, 4)),
    "a trick won by nobody else": (2, 4, lambda s: flip(s, "tricks_won", slice(0, 4), [2, 0, 0, 0])),
    "less than no tricks won": (2, 0, lambda s: flip(s, "tricks_won", slice(0, 2), [1, -1])),
    "a card in the trick before its turn": (2, 0, lambda s: flip(s, "trick_color", 0, 1)),
    "a card of no colour in the trick": (2, 1, lambda s: flip(s, "trick_color", s.leader, -1)),
    "a card of no rank": (2, 1, lambda s: flip(s, "trick_rank", s.leader, 127)),
    "points before a round is over": (2, 0, lambda s: flip(s, "scores", 1, 1)),
    "lost points before a round is over": (2, 0, lambda s: flip(s, "scores", 1, -1)),
    "a limited hand of no seat": (2, 4, lambda s: setattr(s, "forced_leader", 4)),
    "ranks that there are not": (2, 4, lambda s: setattr(s, "forced_ranks", 1 << 8)),
    "a score that the finished rounds cannot pay": (0, 0, lambda s: flip(s, "scores", 1, 41)),
    "somebody else to move": (2, 2, lambda s: setattr(s, "current_player", (s.current_player + 1) % 4)),
    "more moves than were made": (2, 2, lambda s: setattr(s, "num_moves", s.num_moves + 1)),
    "a round counted that was not": (2, 2, lambda s: setattr(s, "rounds_ended", 1)),
}


@pytest.mark.nojit
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_record_from_which_play_could_do_harm_is_refused(name: str) -> None:
    phase, moves, corrupt = CORRUPTIONS[name]
    state = play_to(make_game("cat_in_the_box_v0", **MATCH), phase, seed=3, moves=moves)
    assert is_sound(state)
    corrupt(state.record)
    assert not is_sound(state)
