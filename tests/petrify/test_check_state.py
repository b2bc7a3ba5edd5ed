"""Petrify: a record is accepted where play, a given board or a draw leads to it, and refused where none does."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from catbox_env import make_game, make_vec
from catbox_env.core.game import GameState
from catbox_env.games.petrify.state_check import can_be_turn_of
from tests.core.fuzz import is_sound, random_game
from tests.core.record_changes import set_field

#: Player 0 is to move; two teleports, a wall, a zero; the number cards on which the pawns stand say 1 and 2.
BOARD = [
    ["1.1", "W", "1.3", "T1"],
    ["T0", "4.2", "2.1", "1.1"],
    ["1.2", "1.4", "0", "4.4"],
    ["3.1", "2.2", "*", "2.1"],
]


def begin(players: int = 2) -> GameState:
    game = make_game("petrify_v0", num_players=players, teleports=2, walls=1, zeros=1, wildcards=1)
    return game.new_initial_state(seed=0, deal={"tiles": BOARD, "positions": [0, 15, 9, 6][:players]})


def on_a_teleport() -> GameState:
    state = begin()
    state.apply_action(4)
    assert state.record.teleporting
    return state


def at_the_end() -> GameState:
    state = begin(3)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    return state


def opened(cell: int) -> Callable[[np.record], None]:
    """Open a closed cell, or close an open one."""

    def change(record: np.record) -> None:
        record["open"] = int(record["open"]) ^ 1 << cell

    return change


CORRUPTIONS: dict[str, tuple[Callable[[], GameState], Callable[[np.record], None]]] = {
    "an open wall": (begin, opened(1)),
    "an open cell beyond the board": (begin, opened(16)),
    "a closed cell under a pawn": (begin, opened(15)),
    "a closed cell before the first turn": (begin, opened(7)),
    "no such tile": (begin, set_field("tile", 24, 8)),
    "a negative tile": (begin, set_field("tile", -1, 8)),
    "one wall more": (begin, set_field("tile", 21, 8)),
    "a wildcard more before any zero was landed on": (begin, set_field("tile", 22, 8)),
    "a teleport of another colour": (begin, set_field("tile", 18, 4)),
    "a zero that is none before the first turn": (begin, set_field("tile", 0, 10)),
    "a position beyond the board": (begin, set_field("position", 16, 0)),
    "a negative position": (begin, set_field("position", -1, 1)),
    "two pawns on a cell": (begin, set_field("position", 15, 0)),
    "a pawn on a wall": (begin, set_field("position", 1, 0)),
    "a pawn on a zero": (begin, set_field("position", 10, 0)),
    "a pawn that stays on a teleport": (begin, set_field("position", 4, 0)),
    "teleporting from a number": (begin, set_field("teleporting", 1)),
    "teleporting of 2": (on_a_teleport, set_field("teleporting", 2)),
    "not teleporting on a teleport": (on_a_teleport, set_field("teleporting", 0)),
    "the other seat to move": (on_a_teleport, set_field("current_player", 1)),
    "the second seat to begin": (begin, set_field("current_player", 1)),
    "a place while two are in the game": (begin, set_field("place", 1, 1)),
    "no such place": (begin, set_field("place", 2, 1)),
    "a place below none": (begin, set_field("place", -2, 1)),
    "the first place while two are in the game": (lambda: begin(3), set_field("place", 0, 2)),
    "a third seat out before its first turn": (lambda: begin(3), set_field("place", 2, 2)),
    "nowhere to go": (begin, set_field("open", 1 << 0 | 1 << 15)),
    "more moves than turns": (begin, set_field("num_moves", 1)),
    "as many moves as for a teleport already left": (on_a_teleport, set_field("num_moves", 2)),
    "a round ended before the end": (begin, set_field("rounds_ended", 1)),
    "round_ended before the end": (begin, set_field("round_ended", 1)),
    "a win before the end": (begin, set_field("win_shares", 1.0, 0)),
    "info": (begin, set_field("info", 9, 0, 0)),
    "an end with a place twice": (at_the_end, set_field("place", 1, slice(0, 3))),  # type: ignore[arg-type]
    "an end without places": (at_the_end, set_field("place", -1, 0)),
    "an end without a winner": (at_the_end, set_field("win_shares", 0.0, slice(0, 3))),  # type: ignore[arg-type]
    "an end while teleporting": (at_the_end, set_field("teleporting", 1)),
    "an end that was not told": (at_the_end, set_field("round_ended", 0)),
}


@pytest.mark.nojit
@pytest.mark.parametrize("what", CORRUPTIONS)
def test_a_record_with_one_thing_wrong_is_refused(what: str) -> None:
    make, change = CORRUPTIONS[what]
    state = make()
    assert is_sound(state)
    change(state.record)
    assert not is_sound(state)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_whose_turn_it_can_be_is_found_by_letting_seats_go_out_at_any_time(players: int) -> None:
    """Every order of going out, for up to ten turns: (turns, seat to move, who is out, the first of them first)."""
    reached = set()
    waiting = [(0, 0, ())]
    while waiting:
        turns, mover, out = waiting.pop()
        if (turns, mover, out) in reached or turns > 10:
            continue
        reached.add((turns, mover, out))
        seat, gone = mover, out
        while len(gone) < players - 1:
            seat = (seat + 1) % players
            if seat not in gone:
                waiting.append((turns + 1, seat, gone))
                gone = (*gone, seat)  # or it cannot move, and the turn passes on
    state = begin(players)
    params, record = state.game.params[0], state.record
    found = set()
    for number in range(players - 1):
        for out in permutations(range(players), number):
            record.place[:players] = [players - 1 - out.index(s) if s in out else -1 for s in range(players)]
            for mover in set(range(players)) - set(out):
                found |= {
                    (turns, mover, out) for turns in range(11) if can_be_turn_of(params, record, mover, turns)
                }
    assert found == reached


def test_every_state_of_play_and_the_one_drawn_from_it_is_accepted() -> None:
    rng = random.Random(3)
    games = out = copies = 0
    while games < 150:
        games += 1
        game = random_game("petrify_v0", np.random.default_rng(games))
        state = game.new_initial_state(seed=games)
        while True:
            assert is_sound(state), state.record
            if state.is_terminal():
                break
            drawn = game.sample_state(state.observation(rng.randrange(game.num_players)))
            assert is_sound(drawn)
            out += int(state.record.place[: game.num_players].max()) >= 0
            copies += int((state.record.tile[: game.rules.num_cells] == 23).sum()) < game.rules.zeros
            state = drawn if rng.random() < 0.1 else state
            state.apply_action(rng.choice(state.legal_actions()))
    assert out > 100
    assert copies > 100


def test_many_states_are_drawn_at_once() -> None:
    state = on_a_teleport()
    states = np.zeros(3, state.game.state_dtype)
    loops, params = state.game.loops, state.game.params
    assert loops.sample_games(params, state.observation(1), np.repeat(state.generators, 3), states) == 0
    for i in range(3):
        drawn = GameState(state.game, states[i : i + 1], state.generators, state.log)
        assert np.array_equal(drawn.observation(0), state.observation(0))


# Setting up -------------------------------------------------------------------------------------------------------


def test_special_tiles_come_to_every_cell_equally_often() -> None:
    """Players can move from wherever the special tiles lie on so large a board, so hardly any layout is drawn again."""
    vec = make_vec(
        "petrify_v0", 12_000, seed=1, size=8, teleports=1, walls=1, wildcards=1, zeros=1, move_rule="up_to"
    )
    kinds = vec.game.observation_layout.unpack(vec.observation)["kinds"]
    for kind in (1, 2, 3, 4):
        assert kinds[:, kind].sum() == 12_000
        counts = kinds[:, kind].reshape(12_000, 64).sum(0, dtype=int)
        assert chisquare(counts).pvalue > 0.001, kind


def test_each_special_tile_replaces_any_card_of_the_deck_equally_often() -> None:
    """On a board of 4 x 4 each number card is there once, but for the one that was replaced."""
    vec = make_vec("petrify_v0", 8_000, seed=2, size=4, zeros=1, wildcards=1, move_rule="up_to")
    parts = vec.game.observation_layout.unpack(vec.observation)
    missing: Counter = Counter()
    for symbols, colors in zip(parts["symbols"], parts["colors"], strict=True):
        cards = {(s, c) for s in range(4) for c in range(4) if (symbols[s] & colors[c + 1]).any()}
        missing.update({(s, c) for s in range(4) for c in range(4)} - cards)
    assert missing.total() == 16_000
    assert chisquare([missing[s, c] for s in range(4) for c in range(4)]).pvalue > 0.001
