"""Mutated input for everything that reads games from outside: ``python -m tests.core.fuzz --inputs 10000``.

The inputs are a serialised state and a saved batch with mutated bytes and a new, valid checksum; observations, from
which worlds are drawn; and records. They are refused, or the game is played to its end. The rules are random too.
`tests/core/test_fuzz.py` runs this in a child process, so that it notices a crash.
"""

import argparse
from collections.abc import Callable

import numpy as np

import catbox_env
from catbox_agents import HEURISTICS, play_out
from catbox_env import make_game
from catbox_env.core.game import Vec
from catbox_env.core.game import Game
from catbox_env.core.kernels import REWARDS
from catbox_env.core.saved import check_records, checksum
from catbox_env.core.game import GameState
from tests.core.game_cases import CASES

MAGIC = 13  # bytes of a serialised state before its checksum
DIGEST = len(checksum())


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """``data`` with a few bytes changed, many, or some missing."""
    if not data:
        return b"\0" * 9
    spoilt, kind, place = bytearray(data), rng.integers(4), int(rng.integers(len(data)))
    if kind == 0:
        spoilt[place] ^= 1 << int(rng.integers(8))
    elif kind == 1:  # small numbers, as they stand in records
        for _ in range(int(rng.integers(1, 12))):
            spoilt[int(rng.integers(len(data)))] = int(
                rng.choice([rng.integers(256), 0, 1, 2, 3, 5, 127, 128, 255])
            )
    elif kind == 2:
        spoilt[place:] = rng.bytes(len(data) - place)
    else:
        del spoilt[place : place + int(rng.integers(1, 9))]
    return bytes(spoilt)


def is_valid(state: GameState) -> bool:
    """Whether a saved record like that of ``state`` is accepted."""
    try:
        check_records("state", state.game, state.records, state.generators, state.log[None])
    except ValueError:
        return False
    return True


def corrupt(state: GameState, rng: np.random.Generator) -> None:
    """Change a few bytes of the record, or single elements of its fields."""
    records = state.records
    raw = records.view(np.uint8)
    for _ in range(int(rng.integers(1, 9))):
        if rng.random() < 0.5:
            raw[rng.integers(len(raw))] = rng.choice([rng.integers(256), 0, 1, 255])
        else:
            values = records[str(rng.choice(records.dtype.names))].reshape(-1)
            place = int(rng.integers(min(len(values), state.game.num_players + 2)))
            values[place] = rng.choice([values[place - 1].astype(np.int64), 0, 1, 2, 3, 5])


def play_to_the_end(state: GameState, rng: np.random.Generator) -> None:
    moves = 0
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
        assert is_valid(state), f"a legal move led to an impossible state: {state.record}"
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


def check_state_bytes(game: Game, rng: np.random.Generator) -> bool:
    """Whether a mutated serialised state was refused."""
    data = random_state(game, rng).serialize()
    header, _, body = data[MAGIC + DIGEST :].partition(b"\n\n")
    body = mutate(body, rng)
    try:
        state = game.deserialize_state(data[:MAGIC] + checksum(header, body) + header + b"\n\n" + body)
    except ValueError:
        return True
    play_to_the_end(state, rng)
    return False


def check_batch_bytes(game: Game, rng: np.random.Generator) -> bool:
    """Whether a mutated saved batch was refused."""
    vec = Vec(game, 2, seed=int(rng.integers(2**32)), history=True)
    vec.step_random(int(rng.integers(game.max_game_length)), seed=0)
    saved = vec.save()
    name = str(rng.choice([name for name in saved if name != "checksum"]))
    spoilt = np.frombuffer(mutate(saved[name].tobytes(), rng), np.uint8)
    if spoilt.size == saved[name].nbytes:
        spoilt = spoilt.view(saved[name].dtype).reshape(saved[name].shape)
    other = {**saved, name: spoilt}
    other["checksum"] = np.frombuffer(checksum(*(other[key] for key in saved if key != "checksum")), np.uint8)
    try:
        vec.load(other)
    except ValueError:
        assert all(np.array_equal(saved[key], array) for key, array in vec.save().items())
        return True
    vec.step_random(game.max_game_length + 1, seed=0)
    return False


def check_vector(game: Game, rng: np.random.Generator) -> bool:
    """Whether an observation with one to three elements changed was refused; else worlds of it are played out."""
    state = random_state(game, rng)
    seen = state.observation(int(rng.integers(game.num_players)))
    low, high = game.observation_layout.bounds()
    for _ in range(int(rng.integers(4))):
        place = int(rng.integers(len(seen)))
        seen[place] = rng.integers(int(low[place]), int(high[place]) + 1)
    try:
        worlds = game.sample_states(seen, 3, seed=int(rng.integers(2**32)))
    except ValueError:
        return True
    play_to_the_end(game.sample_state(seen, seed=0), rng)
    play_out(worlds, "heuristic" if game.id in HEURISTICS else "random", until="end_of_game")
    assert (worlds.current_player == -1).all()
    return False


def check_record(game: Game, rng: np.random.Generator) -> bool:
    """Whether ``check_state`` refused a corrupted record."""
    state = random_state(game, rng)
    corrupt(state, rng)
    if not is_valid(state):
        return True
    play_to_the_end(state, rng)
    return False


CHECKS: dict[str, Callable[[Game, np.random.Generator], bool]] = {
    "state": check_state_bytes,
    "batch": check_batch_bytes,
    "vector": check_vector,
    "record": check_record,
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
