"""Petrify: the engine against the slow reference, move by move: masks, observations, history, rewards and places.

The board is drawn by the engine, and the reference reads it from what the seats see, once.
"""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catbox_env
from tests.games.compare import REWARDS, assert_same, assert_same_history
from tests.games.rule_sets import petrify_rules
from tests.petrify.positions import as_reference
from tests.petrify.reference import TELEPORT, WALL, WILDCARD, ZERO, ReferenceState

GAMES_WITHOUT_COMPILATION = 3  # small enough for NUMBA_DISABLE_JIT=1

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
]


def note_situation(reference: ReferenceState, cell: tuple[int, int], seen: Counter) -> None:
    """Count what is rare, so that a test can say that it was met."""
    kind = reference.tiles[cell].kind
    if reference.teleporting:
        seen["teleport to a zero tile"] += kind == ZERO
        seen["teleport to a wildcard"] += kind == WILDCARD
        return
    seen["landing on a teleport"] += kind == TELEPORT
    seen["landing on a zero tile"] += kind == ZERO
    seen["landing on a zero tile with a player out"] += kind == ZERO and bool(reference.petrified)
    player = reference.current_player
    seen["start on a wildcard"] += reference.tiles[reference.positions[player]].kind == WILDCARD


def note_after(reference: ReferenceState, cell: tuple[int, int], seen: Counter) -> None:
    tiles = [reference.tiles[reference.positions[player]] for player in reference.in_game]
    stuck = any(tile.kind == TELEPORT for tile in tiles) and not reference.teleporting
    seen["a player stuck on a teleport"] += stuck
    seen["a copy of a teleport"] += reference.tiles[cell].kind == TELEPORT and stuck
    closed = sum(not reference.open[c] and reference.tiles[c].kind != WALL for c in reference.cells)
    seen["long games"] += reference.is_terminal and closed > 2 * reference.rules.num_players


def compare_game(options: dict, reward: str, seed: int, seen: Counter | None = None) -> None:
    """Play one game on both and compare after every action."""
    seen = Counter() if seen is None else seen
    rng = random.Random(seed)
    game = catbox_env.make_game("petrify_v0", reward=reward, **options)
    state = game.new_initial_state(seed=seed)
    reference = as_reference(state)
    assert all(reference.end_cells(player) for player in reference.players)
    assert_same(state, reference, reference.players)
    likes_specials = rng.random() < 0.5
    while not reference.is_terminal:
        cells = reference.legal_actions()
        specials = [cell for cell in cells if reference.tiles[cell].kind in (TELEPORT, ZERO)]
        cell = rng.choice(specials if specials and likes_specials else cells)
        note_situation(reference, cell, seen)
        out = len(reference.petrified)
        reference.apply(cell)
        state.apply_action(reference.action_id(cell))
        note_after(reference, cell, seen)
        seen["two out at once"] += len(reference.petrified) > out + 1
        seats = reference.players if reference.is_terminal else [rng.choice(reference.players)]
        assert_same(state, reference, seats)
        assert_same_history(state, reference, seats[0])
    seen["games"] += 1


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(
    "options", [{"size": 3, "walls": 3}, {"size": 3, "teleports": 3, "zeros": 2}, {"walls": 4}]
)
def test_board_and_places_are_drawn_until_everybody_could_move_first(players, options):
    game = catbox_env.make_game("petrify_v0", num_players=players, **options)
    for seed in range(20):
        reference = as_reference(game.new_initial_state(seed=seed))
        assert all(reference.end_cells(player) for player in range(players))


@pytest.mark.parametrize("games", [48, pytest.param(250, marks=pytest.mark.slow)])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_seeded_games_agree_move_by_move(players, games):
    seen: Counter = Counter()
    rule_sets = [
        o for o in RULE_SETS if players < 4 or o != {"size": 3, "teleports": 2, "zeros": 2, "wildcards": 1}
    ]
    for seed in range(games):
        options = {"num_players": players, **rule_sets[seed % len(rule_sets)]}
        compare_game(options, REWARDS[seed // len(rule_sets) % len(REWARDS)], seed, seen)
    for situation in (
        "landing on a teleport",
        "landing on a zero tile",
        "teleport to a zero tile",
        "teleport to a wildcard",
        "start on a wildcard",
        "a player stuck on a teleport",
        "long games",
    ):
        assert seen[situation] > 0, f"{situation} never happened: {dict(seen)}"
    if players > 2:
        assert seen["landing on a zero tile with a player out"] > 0
        assert seen["two out at once"] > 0


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_few_games_of_each_table_agree(players):
    for seed in range(GAMES_WITHOUT_COMPILATION):
        compare_game({"num_players": players, **RULE_SETS[2 * seed + 1]}, REWARDS[seed % 3], 10_000 + seed)


any_game = given(rules=petrify_rules(), reward=st.sampled_from(REWARDS), seed=st.integers(0, 2**32 - 1))


@settings(max_examples=60)
@any_game
def test_games_over_random_rule_sets_agree_move_by_move(rules, reward, seed):
    compare_game(vars(rules), reward, seed)


@pytest.mark.slow
@settings(max_examples=500)
@any_game
def test_many_games_over_random_rule_sets_agree_move_by_move(rules, reward, seed):
    compare_game(vars(rules), reward, seed)
