"""The MaskablePPO of a run of ``catbox train --algo sb3``, for use in your own program.

from catbox_train.sb3 import load_model
model = load_model("runs/sb3")
model.save("model.zip")
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from catbox_env.core.extras import missing_extra

try:
    from catbox_train.runs.folder import open_run
    from catbox_train.runs.loop import Loop, check_run
except ModuleNotFoundError as error:
    raise missing_extra(error, "catbox_train.sb3", "sb3", "train") from error

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

__all__ = ["load_model"]


def load_model(run: str | os.PathLike[str], trust: bool = False) -> MaskablePPO:
    """The model of the latest checkpoint in the folder ``run``, with its optimizer and its games.

    Its ``env`` is a `catbox_agents.sb3.VecEnv` of the run's games as they stood, with the frozen copies and agents of
    that moment; ``learn(..., reset_num_timesteps=False)`` continues them, at the learning rate of the checkpoint's
    last update or of the start of the run. Nothing in the folder is changed. ``trust`` and errors as in
    ``catbox_train.resume``; ``ValueError`` also for a run of another algorithm or without a checkpoint.
    """
    folder = Path(run)
    config = open_run(folder, trust)
    if config.algorithm != "sb3":
        raise ValueError(
            f"{folder} holds a run of the algorithm {config.algorithm!r}, expected a run of 'sb3'"
        )
    config, game = check_run(config, new=False)
    from catbox_train.algorithms.sb3.sb3 import MaskablePPOSelfPlay

    algorithm = MaskablePPOSelfPlay(config, game)
    loop = Loop(config, game, folder, algorithm)
    loop.load_latest()
    if not loop.done.update:
        raise ValueError(f"{folder} has no checkpoint yet: let the run reach its first one")
    return algorithm.model
