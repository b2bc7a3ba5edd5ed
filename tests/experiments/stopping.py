"""An opponent that stops the process in the middle of a run, once."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents import Agent

#: The variable of the environment that names a file, which holds the name of a signal.
STATE = "CATBOX_TEST_SIGNAL"


class Stopping(Agent):
    """Plays the first legal action. In its first match it removes the file and sends the signal to its process."""

    def act_batch(
        self, observations: NDArray[np.int8], action_masks: NDArray[Any], histories: object = None
    ) -> NDArray[np.int64]:
        state = Path(os.environ[STATE])
        if state.exists():
            name = state.read_text()
            state.unlink()
            os.kill(os.getpid(), signal.Signals[name])
        return action_masks.argmax(1)
