"""The pictures of docs/images/, all drawn by `game.render_svg`.

Those of the rules, and the animations, are of the games in docs/games/, which `catbox watch best --save FILE` wrote.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from catbox_agents import read_record
from catbox_env import Game, GameState, make_game, petrify_v0
from docs.animation import animated

GAMES = Path(__file__).resolve().parent / "games"
#: A game of four players up to its fifth trick, as the agent `zoo:cat_in_the_box-4p` once played it.
GAME_PLAYED = (
    [6, 5, 2, 0, 8, 9, 9, 8, 31, 30, 29, 33, 41, 39, 37, 42, 21, 23, 22, 24, 32, 17, 34, 18, 40, 19, 38],
    111,
)
#: The others are played at random.
MOVES_AT_RANDOM = {"cat_te_v0": (9, 3), "petrify_v0": (3, 3)}
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
    return game.render_svg(state, state.current_player, theme=theme) + "\n"


@cache
def recorded(name: str) -> tuple[Game, list[GameState]]:
    """The game of docs/games/NAME.jsonl and all its positions."""
    record = read_record(GAMES / f"{name}.jsonl", 1)
    return record.game, [copy.deepcopy(state) for state in record.states()]


def recorded_position(name: str, number: int, seat: int | None, theme: str) -> str:
    """The recorded game after ``number`` actions, as ``seat`` sees it."""
    game, states = recorded(name)
    return game.render_svg(states[number], seat, theme=theme) + "\n"


def animation(name: str, seat: int | None, theme: str) -> str:
    """The recorded game from its deal to its end, as ``seat`` sees it."""
    game, states = recorded(name)
    pictures = [game.render_svg(state, seat, theme=theme) for state in states]
    return animated(pictures, [FIRST, *[SECONDS] * (len(pictures) - 2), LAST]) + "\n"


#: Name of a picture, without theme and ending -> what draws it in a theme.
DRAWN: dict[str, Callable[[str], str]] = {
    "cat_in_the_box": lambda theme: position("cat_in_the_box_v0", theme),
    "cat_te": lambda theme: position("cat_te_v0", theme),
    "petrify": lambda theme: position("petrify_v0", theme, rules=petrify_v0.Rules.full(4)),
    "cat_in_the_box-game": lambda theme: animation("cat_in_the_box", 2, theme),
    "cat_te-game": lambda theme: animation("cat_te", None, theme),
    "petrify-game": lambda theme: animation("petrify", None, theme),
    "cat_in_the_box-trick": lambda theme: recorded_position("cat_in_the_box", 12, 1, theme),
    "cat_in_the_box-paradox": lambda theme: recorded_position("cat_in_the_box", 36, 0, theme),
    "cat_in_the_box-scoring": lambda theme: recorded_position("cat_in_the_box", 37, None, theme),
    "cat_te-trick": lambda theme: recorded_position("cat_te", 12, 2, theme),
    "cat_te-end": lambda theme: recorded_position("cat_te", 19, None, theme),
    "petrify-walk": lambda theme: recorded_position("petrify", 4, None, theme),
    "petrify-end": lambda theme: recorded_position("petrify", 10, None, theme),
}
#: Files of docs/images: name -> what draws it.
IMAGES: dict[str, Callable[[], str]] = {
    f"{name}-{theme}.svg": partial(draw, theme) for name, draw in DRAWN.items() for theme in ("light", "dark")
}
