"""Pictures of a game halfway: SVG text, and the pixels of a frame of `render_mode="rgb_array"`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.report import Clock, Metric, metric_of
from catbox_env import GAMES, GameState, make_game
from catbox_env.pictures.raster import FRAME_WIDTH, rasterise


def middle_of(game_id: str) -> GameState:
    """A game after a third of its decisions, played at random."""
    state, rng = make_game(game_id).new_initial_state(seed=0), np.random.default_rng(0)
    for _ in range(state.game.max_game_length // 3):
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def milliseconds(draw: Callable[[], object], repeats: int) -> list[float]:
    """The time of each of ``repeats`` calls."""
    taken = []
    for _ in range(repeats):
        clock = Clock()
        with clock:
            draw()
        taken.append(1000 * clock.seconds)
    return taken


def measure(quick: bool) -> list[Metric]:
    """Every game, with all hands, which draws the most."""
    metrics, repeats = [], 3 if quick else 100
    for state in map(middle_of, GAMES):
        game = state.game

        def picture(state: GameState = state) -> str:
            return state.game.render_svg(state, size=FRAME_WIDTH)

        rasterise(picture())  # compiles, and loads the rasteriser
        svg = milliseconds(picture, repeats)
        frame = milliseconds(lambda: rasterise(picture()), repeats)
        metrics += [
            metric_of(f"{game.id}, a picture as SVG", svg, "ms", 2),
            metric_of(f"{game.id}, the same as rgb_array, {FRAME_WIDTH} pixels wide", frame, "ms", 20),
        ]
    return metrics
