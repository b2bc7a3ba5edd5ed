"""Petrify: the engine against the slow reference, move by move: masks, observations, history, rewards and places.

The board is drawn by the engine, and the reference reads it from what the seats see, once.
"""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catbox_env
from catbox_env.core.kernels import REWARDS
from tests.games.compare import NUMBERS_OF_GAMES, compare_games, play_both
from tests.games.rule_sets import RULES
from tests.petrify.positions import as_reference
from tests.petrify.reference import TELEPORT, WALL, WILDCARD, ZERO, ReferenceState

RULE_SETS: list[dict] = [
    {},
    {"size": 3, "walls": 1},
    {"move_rule": "up_to"},
    {"size": 5, "teleports": 3, "walls": 2, "wildcards": 2, "zeros": 1},
    {"teleports": 5, "zeros": 4},
    {"size": 3, "teleports": 2, "zeros": 2, "wildcards": 1},
    {"walls": 4, "zeros": 3, "move_rule": "up_to"},
    {"size": 6, "teleports": 8, "walls": 3, "wildcards": 4, "zeros": 6},
    {"size": 4, "wildcards": 16},
    {"size": 8, "walls": 8, "zeros": 10, "teleports": 12, "move_rule": "up_to"},
    {"size": 3, "teleports": 5},
    {"teleports": 4, "wildcards": 6},
    {"size": 3, "walls": 3},
    {"size": 3, "teleports": 3, "zeros": 2},
]


#: What has to come up in 40 games. With two players, one that is out ends the game.
SITUATIONS = (
    "landing on a teleport",
    "landing on a zero tile",
    "teleport to a zero tile",
    "teleport to a wildcard",
    "start on a wildcard",
    "a player stuck on a teleport",
    "long games",
    "landing on a zero tile with a player out",
    "two out at once",
)


def note(reference: ReferenceState, cell: tuple[int, int], seen: Counter) -> Callable[[], None]:
    """Count what is rare, so that a test can say that it was met."""
    kind, out = reference.tiles[cell].kind, len(reference.petrified)
    if reference.teleporting:
        seen["teleport to a zero tile"] += kind == ZERO
        seen["teleport to a wildcard"] += kind == WILDCARD
    else:
        player = reference.current_player
        seen["landing on a teleport"] += kind == TELEPORT
        seen["landing on a zero tile"] += kind == ZERO
        seen["landing on a zero tile with a player out"] += kind == ZERO and out > 0
        seen["start on a wildcard"] += reference.tiles[reference.positions[player]].kind == WILDCARD

    def note_after() -> None:
        seen["two out at once"] += len(reference.petrified) > out + 1
        tiles = [reference.tiles[reference.positions[player]] for player in reference.in_game]
        stuck = any(tile.kind == TELEPORT for tile in tiles) and not reference.teleporting
        seen["a player stuck on a teleport"] += stuck
        closed = sum(not reference.open[c] and reference.tiles[c].kind != WALL for c in reference.cells)
        seen["long games"] += reference.is_terminal and closed > 2 * reference.rules.num_players

    return note_after


def compare_game(options: dict, reward: str, seed: int, seen: Counter) -> None:
    """Play one game on both and compare after every action."""
    rng = random.Random(seed)
    game = catbox_env.make_game("petrify_v0", reward=reward, **options)
    state = game.new_initial_state(seed=seed)
    reference = as_reference(state)
    assert all(reference.end_cells(player) for player in reference.players)
    likes_specials = rng.random() < 0.5

    def choose(reference: ReferenceState) -> tuple[int, int]:
        cells = reference.legal_actions()
        specials = [cell for cell in cells if reference.tiles[cell].kind in (TELEPORT, ZERO)]
        return rng.choice(specials if specials and likes_specials else cells)

    play_both(state, reference, rng, choose, lambda reference, cell: note(reference, cell, seen))


@pytest.mark.parametrize("games", NUMBERS_OF_GAMES)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_seeded_games_agree_move_by_move(players, games):
    too_small = {"size": 3, "teleports": 2, "zeros": 2, "wildcards": 1}  # for four players
    rule_sets = [options for options in RULE_SETS if players < 4 or options != too_small]
    seen = compare_games(compare_game, players, rule_sets, games)
    for situation in SITUATIONS[: None if players > 2 else -2] if games >= 40 else ():
        assert seen[situation] > 0, f"{situation} never happened: {dict(seen)}"


@settings(max_examples=60)
@given(rules=RULES["petrify_v0"], reward=st.sampled_from(REWARDS), seed=st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_games_over_random_rule_sets_agree_move_by_move(rules, reward, seed):
    compare_game(vars(rules), reward, seed, Counter())
