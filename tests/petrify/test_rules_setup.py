"""The rules page of Petrify, sentence by sentence: the deck, special tiles, places; all of them equally likely."""

from collections import Counter
from math import factorial, perm

import numpy as np
import pytest
from scipy.stats import chisquare

import catbox_env
from catbox_env import make_vec
from catbox_env.petrify_v0 import Rules
from tests.petrify.positions import is_open, place_of, tile_at, view


@pytest.mark.nojit
@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 8])
def test_the_deck_is_symbols_crossed_with_colours_repeated_to_fill_the_board(size):
    state = catbox_env.make_game("petrify_v0", size=size).new_initial_state(seed=size)
    expected = Counter(f"{1 + i % 4}.{1 + (i // 4) % 4}" for i in range(size * size))
    assert Counter(tile_at(state, (row, column)) for row in range(size) for column in range(size)) == expected
    assert view(state)["open"].all()


@pytest.mark.parametrize(
    "specials",
    [
        {"teleports": 7},
        {"walls": 5},
        {"wildcards": 3},
        {"zeros": 2},
        {"teleports": 3, "walls": 2, "wildcards": 2, "zeros": 1},
    ],
)
def test_each_special_tile_replaces_one_numbered_card(specials):
    game = catbox_env.make_game("petrify_v0", size=5, **specials)
    deck = Counter(f"{1 + i % 4}.{1 + (i // 4) % 4}" for i in range(25))
    special = Counter(
        {"W": specials.get("walls", 0), "*": specials.get("wildcards", 0), "0": specials.get("zeros", 0)}
    )
    special.update(f"T{k % 5}" for k in range(specials.get("teleports", 0)))
    replaced = Counter()
    for seed in range(20):
        state = game.new_initial_state(seed=seed)
        tiles = Counter(tile_at(state, (row, column)) for row in range(5) for column in range(5))
        numbers = Counter({name: count for name, count in tiles.items() if "." in name})
        assert tiles - numbers == +special
        assert not numbers - deck
        replaced += deck - numbers
        walls = {cell for cell in np.ndindex(5, 5) if tile_at(state, cell) == "W"}
        assert {cell for cell in np.ndindex(5, 5) if not is_open(state, cell)} == walls
    assert len(replaced) > 8, "which cards are replaced is drawn"


@pytest.mark.nojit
def test_full_is_five_by_five_with_every_special_tile():
    rules = type(catbox_env.make_game("petrify_v0").rules).full()
    assert (rules.size, rules.teleports, rules.walls, rules.wildcards, rules.zeros) == (5, 3, 2, 2, 1)
    assert (rules.num_players, rules.move_rule) == (2, "exact")
    assert not catbox_env.make_game("petrify_v0", rules=rules).new_initial_state(seed=0).is_terminal()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_players_begin_on_different_numbers_or_wildcards(players):
    game = catbox_env.make_game("petrify_v0", num_players=players, teleports=4, walls=3, wildcards=2, zeros=2)
    cells = Counter()
    kinds = set()
    for seed in range(60):
        state = game.new_initial_state(seed=seed)
        begun = [place_of(state, player) for player in range(players)]
        assert len(set(begun)) == players
        names = [tile_at(state, cell) for cell in begun]
        assert all("." in name or name == "*" for name in names)
        cells.update(begun)
        kinds |= {name[0] for name in names}
        assert state.current_player == 0
    assert len(cells) == 16
    assert kinds == {"1", "2", "3", "4", "*"}


def test_the_tiny_rules_are_a_small_board_of_walls_and_wildcards():
    rules = Rules.tiny()
    assert (rules.num_players, rules.size, rules.walls, rules.wildcards) == (2, 3, 3, 6)
    deals = catbox_env.make_game("petrify_v0", rules=rules).chance_outcomes()
    assert len(deals) == 1896
    assert {tile for deal, _ in deals for row in deal.tiles for tile in row} == {"W", "*"}


@pytest.mark.parametrize(
    ("options", "boards", "starts"),
    [
        ({"size": 3, "walls": 3, "wildcards": 6}, factorial(9) // (factorial(3) * factorial(6)), 6),
        # Any of the nine cards of the deck is left.
        ({"size": 3, "walls": 3, "wildcards": 5}, 9 * factorial(9) // (factorial(3) * factorial(5)), 6),
        # Nine cards of the deck are there twice; the zero replaces any card.
        ({"size": 5}, factorial(25) // 2**9, 25),
        ({"size": 5, "zeros": 1}, 25 * factorial(25) // 2**9, 24),
    ],
)
def test_deals_are_counted_with_those_that_are_drawn_again(options: dict, boards: int, starts: int) -> None:
    for players in (2, 3):
        draws = catbox_env.make_game("petrify_v0", num_players=players, **options).draws
        assert draws.count() == float(boards * perm(starts, players))


def test_special_tiles_and_pawns_come_to_every_cell_equally_often() -> None:
    """Players can move from wherever the special tiles lie on so large a board, so hardly any layout is drawn again."""
    vec = make_vec(
        "petrify_v0", 12_000, seed=1, size=8, teleports=1, walls=1, wildcards=1, zeros=1, move_rule="up_to"
    )
    parts = vec.game.observation_layout.unpack(vec.observation)
    planes = {f"kind {kind}": parts["kinds"][:, kind] for kind in (1, 2, 3, 4)}
    planes |= {f"pawn {seat}": parts["positions"][:, seat] for seat in (0, 1)}
    for name, plane in planes.items():
        counts = plane.reshape(12_000, 64).sum(0, dtype=int)
        assert counts.sum() == 12_000
        assert chisquare(counts).pvalue > 0.001, name


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
