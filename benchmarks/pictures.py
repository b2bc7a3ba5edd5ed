"""Pictures of a game in its middle: SVG text, and the pixels of a frame of `render_mode="rgb_array"`."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.report import Metric, metric_of
from catbox_env import GAMES, GameState, make_game
from catbox_env.adapters.raster import FRAME_WIDTH, rasterise


def middle_of(game_id: str) -> GameState:
    """A game after a third of its decisions, taken at random."""
    state, rng = make_game(game_id).new_initial_state(seed=0), np.random.default_rng(0)
    for _ in range(state.game.history_length // 3):
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def timed(draw: Callable[[], object], repeats: int) -> list[float]:
    """Milliseconds of each of ``repeats`` calls."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        draw()
        taken.append(1000 * (time.perf_counter() - started))
    return taken


def measure(quick: bool) -> list[Metric]:
    """Every game, with all hands: that draws most."""
    return [metric for game_id in GAMES for metric in _pictures_of(game_id, 3 if quick else 100)]


def _pictures_of(game_id: str, repeats: int) -> list[Metric]:
    state = middle_of(game_id)

    def picture() -> str:
        return state.game.render_svg(state, size=FRAME_WIDTH)

    rasterise(picture())  # compiles, and loads the rasteriser
    svg, frame = timed(picture, repeats), timed(lambda: rasterise(picture()), repeats)
    return [
        metric_of(f"{game_id}, a picture as SVG", svg, "ms", 2, at_most=True),
        metric_of(f"{game_id}, the same as rgb_array, {FRAME_WIDTH} pixels wide", frame, "ms", 20, True),
    ]
