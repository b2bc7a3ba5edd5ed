"""The pictures of docs/images/, all drawn by `game.render_svg`, with outlines for words: they need no font.

Those of the rules, and the animations, are of the games in docs/games/, which `catbox watch best --save FILE` wrote.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from catbox_agents import read_record
from catbox_env import Game, GameState, make_game, petrify_v0
from docs.animation import animated
from docs.outlines import with_outlines

GAMES = Path(__file__).resolve().parent / "games"
#: A game of four players up to its fifth trick, as the agent `zoo:cat_in_the_box-4p` once played it.
GAME_PLAYED = (
    [6, 5, 2, 0, 8, 9, 9, 8, 31, 30, 29, 33, 41, 39, 37, 42, 21, 23, 22, 24, 32, 17, 34, 18, 40, 19, 38],
    111,
)
#: The others are played at random.
MOVES_AT_RANDOM = {"cat_te_v0": (9, 3), "petrify_v0": (3, 3)}
#: The players in the animations: the cats of the browser table (app/catbox_app/web/static/cats.js).
CATS = ("Mochi", "Luna", "Tom", "Nala", "Felix", "Pixel")
#: How long an animation shows a position, the first and the last one, in seconds.
SECONDS, FIRST, LAST = 1.2, 2.0, 6.0


def position(game_id: str, theme: str, **options: Any) -> str:
    """A position of a game as the seat to move sees it."""
    game = make_game(game_id, **options)
    if game_id == "cat_in_the_box_v0":
        actions, seed = GAME_PLAYED
        state = game.new_initial_state(seed=seed)
        for action in actions:
            state.apply_action(action)
    else:
        moves, seed = MOVES_AT_RANDOM[game_id]
        state, generator = game.new_initial_state(seed=seed), np.random.default_rng(seed)
        for _ in range(moves):
            state.apply_action(int(generator.choice(state.legal_actions())))
    return game.render_svg(state, state.current_player, theme=theme)


@cache
def recorded(name: str) -> tuple[Game, list[GameState]]:
    """The game of docs/games/NAME.jsonl and all its positions."""
    record = read_record(GAMES / f"{name}.jsonl", 1)
    return record.game, [copy.deepcopy(state) for state in record.states()]


#: Name of a picture -> the recorded game, after how many actions, and the seat that sees it (None: all hands).
RECORDED = {
    "cat_in_the_box-trick": ("cat_in_the_box", 12, 1),
    "cat_in_the_box-paradox": ("cat_in_the_box", 36, 0),
    "cat_in_the_box-scoring": ("cat_in_the_box", 37, None),
    "cat_te-trick": ("cat_te", 12, 2),
    "cat_te-end": ("cat_te", 19, None),
    "petrify-walk": ("petrify", 4, None),
    "petrify-end": ("petrify", 10, None),
}


def with_cats(picture: str) -> str:
    """``picture`` with the names of cats for those of the players."""
    return re.sub(r"player_(\d)", lambda found: CATS[int(found[1])], picture)


def images() -> Iterator[tuple[str, str]]:
    """The files of docs/images: name and content."""
    for name, picture in pictures():
        yield name, with_outlines(picture) + "\n"


def pictures() -> Iterator[tuple[str, str]]:
    """The files of docs/images with their words as text."""
    for theme in ("light", "dark"):
        yield f"cat_in_the_box-{theme}.svg", position("cat_in_the_box_v0", theme)
        yield f"cat_te-{theme}.svg", position("cat_te_v0", theme)
        yield f"petrify-{theme}.svg", position("petrify_v0", theme, rules=petrify_v0.Rules.full(4))
        for picture, (name, number, seat) in RECORDED.items():
            game, states = recorded(name)
            yield f"{picture}-{theme}.svg", game.render_svg(states[number], seat, theme=theme)
        for name, first in (("cat_in_the_box", 20), ("cat_te", 0), ("petrify", 0)):
            game, states = recorded(name)
            shown = [with_cats(game.render_svg(state, theme=theme)) for state in states]
            seconds = [FIRST, *[SECONDS] * (len(shown) - 2), LAST]
            yield f"{name}-game-{theme}.svg", animated(shown, seconds, first=first)
