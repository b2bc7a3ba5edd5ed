"""The settings of a training run: a pydantic model for each algorithm, read from presets, YAML files and overrides.

Later sources override earlier ones: the defaults below, a preset (``presets.yaml``), a YAML file, single overrides
(the command line).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

import catbox_agents
from catbox_agents.arena import MIN_DEALS
from catbox_agents.errors import AgentError
from catbox_agents.settings import read_options
from catbox_agents.specs import parse_spec
from catbox_agents.system.machine import physical_cores
from catbox_env import Game, make_game
from catbox_env.core.checks import short_repr, unknown

#: Far more than any count reaches; larger ones overflow somewhere.
MAX_COUNT = 10**18
#: The largest seed that torch takes.
MAX_SEED = 2**64 - 1
#: Each worker is a process.
MAX_WORKERS = 256
#: Shorter runs end before a second process has started.
DECISIONS_FOR_TWO = 1_000_000
#: Sets one option of the game, such as ``game_options.num_players``.
GAME_OPTION = "game_options."


def plain(value: Any) -> Any:
    """``value`` with mappings and sequences of any class as dicts and lists, and NumPy's numbers as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {plain(key): plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(part) for part in value]
    return value


def _split(value: Any) -> Any:
    """``64,64`` is the list of both, and a single value a list of one."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(value, list | tuple) else [value]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _number(value: Any) -> Any:
    """YAML reads ``yes`` as True, which Python takes for 1."""
    if isinstance(value, bool):
        raise ValueError("a number")
    return value


def _whole(value: Any) -> Any:
    """``2e7`` is a whole number too, which YAML 1.1 takes for a text."""
    value = _number(value)
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        return value
    return int(number) if isinstance(number, float) and number.is_integer() else value


def _device(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"auto|cpu|cuda(:(0|[1-9][0-9]{0,2}))?", value):
        raise ValueError("auto, cpu, cuda or cuda:N")
    return value


#: Types of settings.
Count = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=MAX_COUNT)]
Number = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_number)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), BeforeValidator(_number)]
#: Widths of hidden layers, in settings: a list of numbers, or text such as ``64,64``.
Widths = Annotated[tuple[Count, ...], BeforeValidator(_split)]
Agents = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class TrainConfig(BaseModel):
    """The settings of every training run; `catbox_train.algorithm.Algorithm.Config` is a subclass with those of an
    algorithm.

    ``catbox train --settings`` lists them. Raises ``ValueError`` that names each wrong setting, what was given and
    what was expected.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: The settings that name agents which play in training.
    agent_settings: ClassVar[tuple[str, ...]] = ()
    #: Settings to name when a run does not fit into memory.
    size_settings: ClassVar[tuple[str, ...]] = ()

    # What is played, and who learns.
    game: str = Field("cat_in_the_box_v0", description="id of the game")
    game_options: dict[str, Any] = Field(
        {}, description="options of the game, as make_game takes them: num_players, rounds, reward, ..."
    )
    algorithm: str = Field("ppo", description="ppo, dmc, exit, or package.module:Class for your own")

    # How much, and on what.
    seed: Annotated[int, BeforeValidator(_whole)] = Field(
        1, ge=0, le=MAX_SEED, description="determines every random number of the run"
    )
    total_decisions: Count = Field(
        20_000_000, description="decisions to play, over all seats; the last update may play a few more"
    )
    device: Annotated[str, BeforeValidator(_device)] = Field(
        "auto",
        description="device of the networks: cpu, cuda, cuda:N, or auto (a GPU if there is one)",
    )
    workers: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=MAX_WORKERS)] | Literal["auto"] = Field(
        "auto",
        description="processes that play and learn together, one core each, or auto: 2 on two cores or more, 1 with a "
        "GPU and in short runs; the result depends on it",
    )

    # Checkpoints and evaluations during training. None of these changes what is learned.
    checkpoint_every: Count = Field(20, description="updates between checkpoints")
    evaluate_every: Count = Field(
        50, description="updates between evaluations, besides one after the first update"
    )
    evaluate_deals: Count = Field(
        200, ge=MIN_DEALS, description="deals per evaluation during training, each played from every seat"
    )
    final_deals: Count = Field(1000, ge=MIN_DEALS, description="deals of the final evaluation")
    eval_opponents: Agents = Field(
        ("random", "heuristic"), description="agents to play against in evaluations"
    )

    def __init__(self, **settings: Any) -> None:
        given, known = plain(settings), type(self).model_fields
        problems = [unknown("setting", name, known) for name in given if name not in known]
        if problems:
            raise ValueError("; ".join(problems))
        if isinstance(given.get("game_options"), dict):
            game = str(given.get("game", type(self).model_fields["game"].default))
            given["game_options"] = read_options(game, given["game_options"])
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise ValueError("; ".join(_explained(error, given, type(self)))) from None
        if wrong := self.problems():
            raise ValueError("; ".join(wrong))

    def problems(self) -> list[str]:
        """What is wrong with these settings together, a sentence each."""
        return []

    def replace(self, **settings: Any) -> Self:
        """A validated copy with other ``settings``."""
        return type(self)(**{**self.as_dict(), **settings})

    def as_dict(self) -> dict[str, Any]:
        """Every setting, as values that JSON and YAML can hold."""
        return self.model_dump(mode="json")

    def to_yaml(self) -> str:
        """Every setting, as a file that `load_config` reads."""
        return yaml.safe_dump(self.as_dict(), sort_keys=False)

    @classmethod
    def describe(cls) -> list[tuple[str, str, str]]:
        """Rows (name, default, meaning) for help texts; the default in YAML."""
        defaults = cls().as_dict()
        return [
            (name, yaml.safe_dump(defaults[name], default_flow_style=True).strip().removesuffix("\n..."),
             field.description or "")
            for name, field in cls.model_fields.items()
        ]  # fmt: skip

    def make_game(self) -> Game:
        """The game to train on. Raises ``ValueError`` for rules that cannot be played."""
        return make_game(self.game, **self.game_options)

    def agents(self) -> dict[str, tuple[str, ...]]:
        """The agents that each setting names. `check_agents` makes each of them once."""
        found = {"eval_opponents": self.eval_opponents}
        for setting in self.agent_settings:
            value = getattr(self, setting)
            found[setting] = () if value is None else (value,) if isinstance(value, str) else tuple(value)
        return found

    def code(self) -> dict[str, tuple[str, ...]]:
        """The code of a user's own that each setting names, agents apart: ``package.module:Name``."""
        return {}

    def policy_code(self) -> list[str]:
        """The code, ``package.module:Name``, that a saved policy of the run needs to play."""
        return []

    def check_agents(self, game: Game) -> None:
        """Make each agent once, so that one that cannot be made fails now rather than when it has to play.

        Raises ``ValueError`` that names the setting.
        """
        for setting, specs in self.agents().items():
            for spec in specs:
                try:
                    parse_spec(spec)
                    catbox_agents.make(spec, game)
                except AgentError:  # names the agent
                    raise
                except ValueError as error:
                    raise ValueError(f"{setting}: {error}") from None

    def resolved(self, game: Game) -> Self:
        """A copy in which every ``auto`` is replaced by its value on this machine.

        A run stores these, so that it resumes unchanged on another machine. Raises ``ValueError`` for a device that
        does not exist.
        """
        from catbox_train.devices import check_device  # needs torch

        device, workers = check_device(self.device), self.workers
        if workers == "auto":
            long = self.total_decisions >= DECISIONS_FOR_TWO
            workers = min(2, physical_cores()) if long and device == "cpu" else 1
        return self.replace(device=device, workers=workers)


#: pydantic's words -> those of the messages.
_WORDS = {
    ", unable to parse string as an integer": "",
    ", unable to parse string as a number": "",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid dictionary": "a mapping, such as {name: value}",
    "a valid tuple": "a list, such as [a, b]",
    "a valid string": "a text",
    "a valid boolean": "true or false",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "more than",
}


def _explained(error: ValidationError, settings: Mapping[str, Any], kind: type[TrainConfig]) -> Iterable[str]:
    """Each wrong setting: what was given and what was expected, once however many parts of its value are wrong."""
    found: dict[str, str] = {}
    for wrong in error.errors(include_url=False):
        name = str(wrong["loc"][0])
        expected = wrong["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        for pydantic, plain_words in _WORDS.items():
            expected = expected.replace(pydantic, plain_words)
        if "auto" in str(kind.model_fields[name].annotation) and "auto" not in expected:
            expected += ", or auto"
        found.setdefault(name, f"{name} = {short_repr(settings[name])}: expected {expected}")
    return found.values()
