"""Mutated input for everything that reads games from outside: ``python -m tests.core.fuzz --inputs 10000``.

The inputs are serialised states with a new, valid checksum, deals, observations and histories. They are
refused, or the game is played to its end. The rules are random too. `tests/core/test_fuzz.py` runs this in a child
process, so that it notices a crash.
"""

import argparse
import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

import catbox_env
from catbox_agents import HEURISTICS, play_out
from catbox_env import make_game
from catbox_env.core.game import Game
from catbox_env.core.kernels import REWARDS, UNUSED
from catbox_env.core.state import GameState
from tests.core.game_cases import CASES

#: What a part of an input may become.
ODD: list[Any] = [
    -1,
    0,
    1,
    2,
    127,
    128,
    2**31,
    2**63,
    2**64,
    0.5,
    float("nan"),
    True,
    "",
    "1.1",
    [],
    [[1]],
    {},
]


def sealed(data: bytes, body: bytes) -> bytes:
    """The serialised state ``data`` with another body, and a valid checksum, which anybody can compute."""
    head, digest = data.partition(b"\n")[0], hashlib.sha256(body).hexdigest().encode()
    return head[: -len(digest)] + digest + b"\n" + body


def mutated(value: Any, rng: np.random.Generator) -> Any:
    """A copy of plain data in which one part, at any depth, is another one, is missing, or is there twice."""
    if not isinstance(value, list | dict) or not value or rng.random() < 0.05:
        is_number = isinstance(value, int) and rng.random() < 0.5
        return value + int(rng.choice([-1, 1, 5])) if is_number else ODD[rng.integers(len(ODD))]
    spoilt: Any = value.copy()
    key = list(value)[rng.integers(len(value))] if isinstance(value, dict) else int(rng.integers(len(value)))
    if rng.random() < 0.8:
        spoilt[key] = mutated(value[key], rng)
    elif isinstance(value, list) and rng.random() < 0.5:
        spoilt.insert(key, value[rng.integers(len(value))])
    else:
        del spoilt[key]
    return spoilt


def play_to_the_end(state: GameState, rng: np.random.Generator) -> None:
    moves = 0
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
        for seat in range(state.game.num_players):
            state.observation(seat)
            state.state_vector(seat)
            state.history_observation(seat)
        moves += 1
        assert moves <= state.game.max_game_length, "the game does not end"


def random_game(game_id: str, rng: np.random.Generator) -> Game:
    while True:
        drawn = {
            name: values[int(rng.integers(len(values)))] for name, values in CASES[game_id].values.items()
        }
        try:
            return make_game(game_id, reward=str(rng.choice(REWARDS)), **drawn)
        except ValueError:
            continue


def random_state(game: Game, rng: np.random.Generator) -> GameState:
    state = game.new_initial_state(seed=int(rng.integers(2**32)))
    for _ in range(int(rng.integers(game.max_game_length))):
        if not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def check_bytes(game: Game, rng: np.random.Generator) -> bool:
    """Whether a mutated serialised state was refused."""
    data = random_state(game, rng).serialize()
    body = json.dumps(mutated(json.loads(data.partition(b"\n")[2]), rng)).encode()
    try:
        state = game.deserialize_state(sealed(data, body))
    except ValueError:
        return True
    play_to_the_end(state, rng)
    return False


def check_deal(game: Game, rng: np.random.Generator) -> bool:
    """Whether a mutated deal was refused."""
    deal = mutated(game.deal_of(game.new_initial_state(seed=int(rng.integers(2**32)))), rng)
    try:
        state = game.new_initial_state(seed=0, deal=deal)
    except ValueError:
        return True
    play_to_the_end(state, rng)
    return False


def check_vector(game: Game, rng: np.random.Generator) -> bool:
    """Whether an observation with up to three elements changed was refused; else worlds of it are played out."""
    state = random_state(game, rng)
    seen, layout = state.observation(int(rng.integers(game.num_players))), game.observation_layout
    for place in rng.integers(len(seen), size=int(rng.integers(4))):
        seen[place] = rng.integers(int(layout.low[place]), int(layout.high[place]) + 1)
    try:
        worlds = game.sample_states(seen, 3, seed=int(rng.integers(2**32)))
    except ValueError:
        return True
    world = game.sample_state(seen, seed=0)
    assert any((world.observation(seat) == seen).all() for seat in range(game.num_players))
    play_to_the_end(world, rng)
    play_out(worlds, "heuristic" if game.id in HEURISTICS else "random", until="end_of_game")
    assert (worlds.current_player == -1).all()
    return False


def check_history(game: Game, rng: np.random.Generator) -> bool:
    """Whether a history with up to three rows changed was refused, or leads to no world."""
    state = random_state(game, rng)
    if state.is_terminal():
        state = game.new_initial_state(seed=0)
    history = state.history_observation(state.current_player)
    for _ in range(int(rng.integers(4))):
        row = int(rng.integers(min(len(state.history()) + 2, len(history))))
        history[row] = rng.integers(UNUSED, [game.num_players + 1, game.num_actions + 1])
    try:
        worlds = game.sample_states(state.observation(state.current_player), 3, seed=0)
        past = game.rewind(worlds, history)
    except ValueError:
        return True
    assert np.isfinite(past.importance_weights).all()
    assert (past.importance_weights >= 0).all()
    play_out(past.round_starts, "random", until="end_of_game")
    return not past.importance_weights.any()


CHECKS: dict[str, Callable[[Game, np.random.Generator], bool]] = {
    "bytes": check_bytes,
    "deal": check_deal,
    "vector": check_vector,
    "history": check_history,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="mutated inputs of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=list(CHECKS), action="append")
    parser.add_argument("--game", choices=list(catbox_env.GAMES), action="append")
    given = parser.parse_args()
    game_ids = given.game or list(catbox_env.GAMES)
    for kind in given.kind or CHECKS:
        refused = 0
        for number in range(given.inputs):
            rng = np.random.default_rng([given.seed, number, list(CHECKS).index(kind)])
            refused += CHECKS[kind](random_game(game_ids[number % len(game_ids)], rng), rng)
        print(f"{kind}: {given.inputs} inputs, {refused} refused, the others valid", flush=True)


if __name__ == "__main__":
    main()
