"""An opponent that fails, for the tests: ``tests.web.agents:Failing``."""

from __future__ import annotations

from typing import Any

import numpy as np

from catbox_env import Game, Vec


class Failing:
    """Raises an error at its first move."""

    def __init__(self, game: Game, seed: int) -> None:
        pass

    def act(self, vec: Vec, rows: np.ndarray) -> Any:
        raise RuntimeError("the cat has left the box")
