"""The interface between a training run and its learning algorithm, and where the algorithms are.

The run (``catbox_train.runs``) makes the folder, calls ``update`` until all decisions are made, evaluates, writes
checkpoints and metrics, and stops on Ctrl-C. The algorithm plays games, learns, and provides its state.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from catbox_agents.specs import import_class, imports_module
from catbox_env import Game
from catbox_env.core.checks import brief
from catbox_train.settings import Settings, nearest

if TYPE_CHECKING:
    from catbox_agents.networks.numpy_network import PolicyNetwork
    from catbox_train.config import TrainConfig

#: Takes the settings of a run and its game, and makes its algorithm.
MakeAlgorithm = Callable[["TrainConfig", Game], "Algorithm"]

#: Name -> (class of the options, class of the algorithm), each "module:Class". The options are imported without torch.
ALGORITHMS = {
    "ppo": (
        "catbox_train.algorithms.ppo.options:PPOOptions",
        "catbox_train.algorithms.ppo.ppo:PPO",
    ),
    "dmc": (
        "catbox_train.algorithms.dmc.options:DMCOptions",
        "catbox_train.algorithms.dmc.dmc:DMC",
    ),
    "exit": (
        "catbox_train.algorithms.exit.options:ExitOptions",
        "catbox_train.algorithms.exit.exit:ExpertIteration",
    ),
}


class AlgorithmOptions(Settings):
    """The settings of an algorithm, the section ``algorithm_options`` of a configuration.

    A subclass adds fields; their names must differ from those of ``TrainConfig``.
    """

    #: Whether the algorithm runs on the CPU only; ``device`` must then be cpu or auto.
    cpu_only: ClassVar[bool] = False
    #: Settings that name agents which play in training -> words that these settings take besides agents, such as
    #: {"rollout_policy": ("policy",)}. Each holds a spec, a list of specs, a mapping from specs, or None.
    agent_settings: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: Settings to name when a run does not fit into memory.
    size_settings: ClassVar[tuple[str, ...]] = ()

    def check(self, config: TrainConfig) -> list[str]:
        """What is wrong with these settings together with the rest of ``config``, a sentence each."""
        return []

    def agents_by_setting(self) -> dict[str, tuple[str, ...]]:
        """The agents (specs) that each of ``agent_settings`` names.

        They are made once before training, as a check. Raises ``ValueError`` for a value of another kind.
        """
        found = {}
        for setting, words in self.agent_settings.items():
            value = getattr(self, setting)
            specs = () if value is None else (value,) if isinstance(value, str) else value
            if not isinstance(specs, list | tuple | Mapping) or not all(isinstance(s, str) for s in specs):
                raise ValueError(
                    f"{setting} = {brief(value)}: expected an agent, a list of agents, a mapping from agents, or None"
                )
            found[setting] = tuple(spec for spec in specs if spec not in words)
        return found

    def resolved(self, device: str) -> Self:
        """A copy in which every "auto" is replaced by its value for this machine and ``device``."""
        return self

    def safer(self) -> dict[str, Any]:
        """Settings that make a run less likely to diverge."""
        return {}


class DivergedError(ArithmeticError):
    """A number of a run is infinite, NaN, or too large to continue; the text says which."""


class WorkersLost(RuntimeError):
    """Workers of the algorithm were lost and are being replaced: the run resumes from its last checkpoint.

    The text says what happened to them.
    """


@dataclass(frozen=True)
class TrainingState:
    """What an algorithm has to save to resume exactly: ``arrays`` by name, and ``values`` that JSON can hold."""

    arrays: dict[str, np.ndarray]
    values: dict[str, Any]


class Algorithm(ABC):
    """A learning algorithm, made as ``Class(config, game)`` for a new run and for a resumed one.

    It must depend on ``config`` alone, including ``config.seed``, never on timing or global random numbers.
    ``Options`` is the class of ``config.algorithm_options``, which ``options`` holds.
    """

    Options: ClassVar[type[AlgorithmOptions]] = AlgorithmOptions

    def __init__(self, config: TrainConfig, game: Game) -> None:
        self.config, self.game = config, game
        self.options: Any = config.algorithm_options

    @classmethod
    def memory_needed(cls, config: TrainConfig, game: Game) -> int:
        """Approximate bytes that a run needs; checked before training starts."""
        return 0

    @classmethod  # noqa: B027  (not every algorithm has something to check)
    def check_run(cls, config: TrainConfig, game: Game) -> None:
        """Raise ``ValueError`` for settings with which the run cannot begin, such as missing files.

        Called before the algorithm is made, and for each run of a study before the first one.
        """

    @abstractmethod
    def update(self, progress: float) -> Mapping[str, float]:
        """Play ``config.batch_size`` decisions and learn from them.

        ``progress`` is the share of the run that is done, 0 in the first update and 1 in the last one. Returns metrics:
        finite numbers under names that begin with ``learning/`` or ``game/``, means over this update; one without a
        value, such as a mean over no games, is left out. Raises ``DivergedError`` for a number that is not finite; the
        run treats a metric that is not finite in the same way.
        """

    @abstractmethod
    def policy(self) -> PolicyNetwork:
        """The current network that plays, for evaluations and checkpoints."""

    @abstractmethod
    def state(self) -> TrainingState:
        """Everything that the rest of the run depends on; arrays of the same names, types and shapes at any time."""

    @abstractmethod
    def restore(self, state: TrainingState, update: int) -> None:
        """Resume from the ``state`` after ``update`` updates.

        Its arrays have the names, types and shapes of this algorithm's own and are finite. Raises ``ValueError`` if
        they or the values are impossible in a run.
        """

    def close(self) -> None:  # noqa: B027  (not every algorithm has something to close)
        """Release threads, processes and other things outside the memory of this object."""


def options_class(name: str) -> type[AlgorithmOptions]:
    """The class of the options of the algorithm ``name``.

    ``name`` is a key of ``ALGORITHMS`` or ``"package.module:Class"``, a subclass of ``Algorithm``: that module is
    imported, which runs its code. Raises ``ValueError`` if there is none.
    """
    if name in ALGORITHMS:
        return _imported(ALGORITHMS[name][0])
    return algorithm_class(name).Options


def algorithm_class(name: str) -> type[Algorithm]:
    """The class of the algorithm ``name``, as ``options_class`` takes it."""
    if name in ALGORITHMS:
        return _imported(ALGORITHMS[name][1])
    if name == "sb3":
        raise ValueError(
            "algorithm = 'sb3': MaskablePPO in self-play is an example to copy now: examples/sb3_self_play.py"
        )
    if not imports_module(name):
        raise ValueError(
            f"algorithm = {brief(name)}: expected one of {', '.join(ALGORITHMS)}, or 'package.module:Class' for your "
            f"own ({nearest(name, ALGORITHMS)})"
        )
    found = import_class(name, "algorithm")
    if not issubclass(found, Algorithm):
        raise ValueError(
            f"algorithm = {brief(name)}: {found.__name__} is not a subclass of catbox_train.Algorithm; derive it from "
            "that class"
        )
    if not (isinstance(found.Options, type) and issubclass(found.Options, AlgorithmOptions)):
        raise ValueError(
            f"algorithm = {brief(name)}: {found.__name__}.Options is not a subclass of catbox_train.AlgorithmOptions"
        )
    if wrong := _wrong_agent_settings(found.Options):
        raise ValueError(f"algorithm = {brief(name)}: {found.__name__}.Options.agent_settings {wrong}")
    from catbox_train.config import TrainConfig  # which imports this module

    if taken := [option for option in found.Options.model_fields if option in TrainConfig.model_fields]:
        raise ValueError(
            f"algorithm = {brief(name)}: {found.__name__}.Options has settings that every run has: {', '.join(taken)}; "
            "give them other names"
        )
    return found


def _wrong_agent_settings(options: type[AlgorithmOptions]) -> str:
    """What is wrong with ``agent_settings``; empty if it is as ``AlgorithmOptions`` says."""
    given: Any = options.agent_settings
    if not isinstance(given, Mapping) or not all(isinstance(words, list | tuple) for words in given.values()):
        return (
            f"= {brief(given)}: expected a mapping from settings to the words that they take besides agents, such as "
            "{'partner': ()} or {'partner': ('none',)}"
        )
    for setting in given:
        if setting not in options.model_fields:
            return f"names {brief(setting)}, which is not a setting: {nearest(str(setting), options.model_fields)}"
    return ""


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
