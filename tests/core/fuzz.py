"""Mutated input for everything that reads games from outside: ``python -m tests.core.fuzz --inputs 10000``.

The inputs are bytes of a serialised state, a saved batch and a pickle, the first two also with a new, valid checksum;
observations, from which worlds are drawn; and records. Bytes must be refused or give what they were made from. With a
valid checksum, and for observations and records, the result may be another state, and the game is then played to its
end. The rules are random too. `tests/core/test_fuzz.py` runs this in a child process, so that it notices a crash.
"""

import argparse
import pickle
from collections.abc import Callable

import numpy as np

import catbox_env
from catbox_agents import HEURISTICS, play_out
from catbox_env import make_game
from catbox_env.core.batch import Vec
from catbox_env.core.game import Game
from catbox_env.core.kernels import REWARDS
from catbox_env.core.saved import check_records, checksum
from catbox_env.core.state import GameState
from tests.core.game_cases import CASES

KINDS = ("state", "sealed state", "batch", "sealed batch", "pickle", "vector", "record")
MAGIC = 13  # bytes of a serialised state before its checksum
DIGEST = len(checksum())


def mutate(data: bytes, rng: np.random.Generator, start: int = 0) -> bytes:
    """``data`` with a random change from byte ``start`` on."""
    spoilt = bytearray(data)
    kind, length = rng.integers(7), len(data) - start
    if length == 0:
        return b"\0" * 9
    place = start + int(rng.integers(length))
    if kind == 0:
        spoilt[place] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        for _ in range(int(rng.integers(1, 12))):
            spoilt[start + int(rng.integers(length))] = int(rng.integers(256))
    elif kind == 2:  # small numbers, as they stand in records
        spoilt[place] = int(rng.choice([0, 1, 2, 3, 4, 5, 127, 128, 254, 255]))
    elif kind == 3:
        spoilt[start:] = rng.bytes(length)
    elif kind == 4:
        spoilt[place : place + 8] = rng.bytes(min(8, len(spoilt) - place))
    elif kind == 5:
        other = start + int(rng.integers(length))
        spoilt[place], spoilt[other] = spoilt[other], spoilt[place]
    else:
        del spoilt[place : place + int(rng.integers(1, 9))]
    return bytes(spoilt)


def is_sound(state: GameState) -> bool:
    """Whether a saved record like that of ``state`` is accepted."""
    try:
        check_records("state", state.game, state.records, state.generators, state.log[None])
    except ValueError:
        return False
    return True


def corrupt(state: GameState, rng: np.random.Generator) -> None:
    """Change a byte of the record, a few bytes, single elements of fields, or all fields of the game itself."""
    records = state.records
    raw = records.view(np.uint8)
    way = int(rng.integers(4))
    if way == 0:
        raw[rng.integers(len(raw))] = rng.integers(256)
    elif way == 1:
        for _ in range(int(rng.integers(2, 9))):
            raw[rng.integers(len(raw))] = rng.choice([rng.integers(256), 0, 1, 255])
    elif way == 2:
        for _ in range(int(rng.integers(1, 4))):
            values = records[str(rng.choice(records.dtype.names))].reshape(-1)
            place = int(rng.integers(min(len(values), state.game.num_players + 2)))
            values[place] = rng.choice([values[place - 1].astype(np.int64), 0, 1, 2, 3, 5])
    else:
        raw[records.dtype.fields["returns"][1] :] = rng.integers(
            256, size=len(raw) - records.dtype.fields["returns"][1], dtype=np.uint8
        )
        records["returns"] = 0


def play_to_the_end(state: GameState, rng: np.random.Generator) -> None:
    moves = 0
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
        assert is_sound(state), f"a legal move led to an impossible state: {state.record}"
        for seat in range(state.game.num_players):
            state.observation(seat)
            state.state_vector(seat)
            state.history_observation(seat)
        moves += 1
        assert moves <= state.game.history_length, "the game does not end"


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
    for _ in range(int(rng.integers(game.history_length))):
        if not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def check_state_bytes(game: Game, rng: np.random.Generator, sealed: bool) -> bool:
    """Whether a mutated serialised state was refused."""
    data = random_state(game, rng).serialize()
    if sealed:
        header, _, body = data[MAGIC + DIGEST :].partition(b"\n\n")
        body = mutate(body, rng)
        spoilt = data[:MAGIC] + checksum(header, body) + header + b"\n\n" + body
    else:
        spoilt = mutate(data, rng)
    try:
        state = game.deserialize_state(spoilt)
    except ValueError:
        return True
    assert sealed or state.serialize() == data, "another state came out"
    play_to_the_end(state, rng)
    return False


def check_batch_bytes(game: Game, rng: np.random.Generator, sealed: bool) -> bool:
    """Whether a mutated saved batch was refused."""
    vec = Vec(game, 2, seed=int(rng.integers(2**32)), history=True)
    vec.step_random(int(rng.integers(game.history_length)), seed=0)
    saved = vec.save()
    name = str(rng.choice(list(saved)))
    array = saved[name]
    spoilt = np.frombuffer(mutate(array.tobytes(), rng), np.uint8)
    if spoilt.size == array.nbytes:
        spoilt = spoilt.view(array.dtype).reshape(array.shape)
    other = {**saved, name: spoilt}
    if sealed:
        rest = [value for key, value in other.items() if key != "checksum"]
        other["checksum"] = np.frombuffer(checksum(*rest), np.uint8)
    before = vec.save()
    try:
        vec.load(other)
    except ValueError:
        after = vec.save()
        assert all(np.array_equal(before[key], after[key], equal_nan=False) for key in before)
        return True
    same = all(np.array_equal(saved[key], value) for key, value in vec.save().items())
    assert sealed or same, "other games came out"
    vec.step_random(game.history_length + 1, seed=0)
    return False


def check_pickle_bytes(game: Game, rng: np.random.Generator, sealed: bool) -> bool:
    """Whether a mutated pickle of a state was refused; unpickling damaged bytes may raise anything."""
    state = random_state(game, rng)
    data = pickle.dumps(state)
    spoilt = mutate(data, rng, start=data.index(b"catbox-state"))
    try:
        found = pickle.loads(spoilt)
    except Exception:  # noqa: BLE001  (see above)
        return True
    if not isinstance(found, GameState):  # an instruction of the pickle was hit, not the state in it
        return True
    assert found.serialize() == state.serialize(), "another state came out"
    return False


def check_vector(game: Game, rng: np.random.Generator, sealed: bool) -> bool:
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


def check_record(game: Game, rng: np.random.Generator, sealed: bool) -> bool:
    """Whether ``check_state`` refused a corrupted record."""
    state = random_state(game, rng)
    corrupt(state, rng)
    if not is_sound(state):
        return True
    play_to_the_end(state, rng)
    return False


CHECKS: dict[str, tuple[Callable[[Game, np.random.Generator, bool], bool], bool]] = {
    "state": (check_state_bytes, False),
    "sealed state": (check_state_bytes, True),
    "batch": (check_batch_bytes, False),
    "sealed batch": (check_batch_bytes, True),
    "pickle": (check_pickle_bytes, False),
    "vector": (check_vector, False),
    "record": (check_record, False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="mutated inputs of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--game", choices=list(catbox_env.GAMES), action="append")
    given = parser.parse_args()
    game_ids = given.game or list(catbox_env.GAMES)
    for kind in given.kind or KINDS:
        check, sealed = CHECKS[kind]
        refused = 0
        for number in range(given.inputs):
            rng = np.random.default_rng([given.seed, number, KINDS.index(kind)])
            refused += check(random_game(game_ids[number % len(game_ids)], rng), rng, sealed)
        print(f"{kind}: {given.inputs} inputs, {refused} refused, the others sound", flush=True)


if __name__ == "__main__":
    main()
