"""Who draws a state. Pictures know the games, and the core knows neither: `catbox_env.registry` says who draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: The width of a picture, in pixels, and its theme, unless they are given.
SIZE, THEME = 720, "light"
#: Draws a state as SVG: ``render_svg(state, seat, size, theme)``; see `core.game.Game.render_svg`.
render_svg: Callable[[Any, int | None, int, str], str]
