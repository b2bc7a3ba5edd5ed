"""The interface between a training run and its learning algorithm.

The run (``catbox_train.runs``) makes the folder, calls ``update`` until all decisions are made, evaluates, writes
checkpoints and metrics, and stops on Ctrl-C. The algorithm plays games, learns, and provides its state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from catbox_env import Game
from catbox_train.config import TrainConfig

#: Metrics of an update by name.
Metrics = Mapping[str, float]
#: What resuming needs: arrays by name.
State = dict[str, np.ndarray]


class DivergedError(ArithmeticError):
    """A number of a run is infinite, NaN, or too large to continue; the text says which."""


class WorkersLost(RuntimeError):
    """Processes of the algorithm were lost, and others can take their place: the run resumes from its last checkpoint.

    The text says what happened to them.
    """


class Policy(Protocol):
    """An agent that can save itself, such as `catbox_agents.networks.policy_agent.PolicyAgent`."""

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        """As `catbox_agents.Agent` has it."""

    def save(self, folder: Path, training: Mapping[str, Any]) -> None:
        """Write what is needed to play into ``folder``, with the facts ``training``, which are JSON values."""


class Algorithm(ABC):
    """A learning algorithm, made as ``Class(config, game)`` for a new run and for a resumed one.

    It must depend on ``config`` alone, including ``config.seed``, never on timing or global random numbers.

    Attributes:
        Config: the class of its settings, a subclass of `TrainConfig`.
        processes: whether several processes can learn together. If so, it is made as ``Class(config, game,
            group)`` in each process when ``config.workers`` is not 1, with a `catbox_train.group.Group` that connects
            them; all call its methods in the same order.
    """

    Config: ClassVar[type[TrainConfig]] = TrainConfig
    processes: ClassVar[bool] = False

    def __init__(self, config: Any, game: Game) -> None:
        self.config, self.game = config, game

    @classmethod
    def memory_needed(cls, config: Any, game: Game) -> int:
        """Approximate bytes that a run needs in each process; checked before training starts."""
        return 0

    @classmethod  # noqa: B027  (not every algorithm has something to check)
    def check_run(cls, config: Any, game: Game) -> None:
        """Raise ``ValueError`` for settings with which the run cannot begin, such as missing files.

        Called before the algorithm is made, and for each run of a study before the first one.
        """

    @abstractmethod
    def update(self, update: int, progress: float) -> tuple[int, Metrics]:
        """Play games to their end and learn from them.

        Args:
            update: the number of updates done before.
            progress: the share of ``total_decisions`` that is done, from 0 to less than 1.

        Returns the number of decisions played, over all seats, and metrics: finite numbers under names that begin with
        ``learning/`` or ``game/``, means over this update; one without a value, such as a mean over no games, is left
        out. Raises ``DivergedError`` for a number that is not finite; the run treats a metric that is not finite in the
        same way.
        """

    @abstractmethod
    def policy(self) -> Policy:
        """The agent that has been learned so far, for evaluations and checkpoints. Later updates leave it as it is."""

    @abstractmethod
    def state(self) -> State:
        """Everything that the rest of the run depends on besides the configuration and the number of updates.

        It is copied after each update: a signal ends the next one at any place, and the copy is saved.
        """

    @abstractmethod
    def restore(self, state: State) -> None:
        """Resume from what ``state`` returned. Raises ``ValueError`` for arrays that do not fit."""

    def close(self) -> None:  # noqa: B027  (not every algorithm has something to close)
        """Release what is outside the memory of this object."""
