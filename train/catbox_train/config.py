"""The settings of a training run: what each means, where its value comes from, and which values are refused.

Later sources override earlier ones: the defaults below, a preset (``presets.yaml``), a YAML file, single overrides (the
command line).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

import catbox_agents
from catbox_agents.arena import MIN_DEALS
from catbox_agents.errors import AgentError
from catbox_agents.option_text import read_options
from catbox_agents.specs import asks_server, check_spec, hand_written_agent, imports_module
from catbox_env import Game, make_game
from catbox_env.core.checks import brief
from catbox_train.algorithm import AlgorithmOptions, options_class
from catbox_train.settings import (
    MAX_COUNT,
    MAX_SEED,
    Integer,
    Settings,
    Text,
    Texts,
    Workers,
    builtin_containers,
    nearest,
    read_outer,
    read_text,
)
from catbox_train.settings_file import read_settings, read_yaml

_DEVICE = re.compile(r"^(auto|cpu|mps|cuda(:(0|[1-9][0-9]{0,2}))?)$")
#: Settings that map names to values; a dotted name such as "game_options.num_players" sets one of these.
SECTIONS = ("game_options", "algorithm_options")
#: Where a setting that is not the default comes from.
Source = Literal["preset", "file", "override"]


class TrainConfig(Settings):
    """Every setting of a training run; ``catbox train --settings`` and ``describe()`` list them.

    The settings of the algorithm are in ``algorithm_options``; the constructor, ``load_config`` and the command line
    also take them by their own names. Raises ``ValueError`` that names each wrong setting, what was given and what was
    expected.
    """

    # What is played, and who learns.
    game: Text = Field("cat_in_the_box_v0", description="id of the game")
    game_options: dict[Text, Any] = Field(
        {}, description="options of the game, as make_game takes them: num_players, rounds, reward, ..."
    )
    algorithm: Text = Field("ppo", description="ppo, dmc, exit, or package.module:Class for your own")
    algorithm_options: AlgorithmOptions = Field(
        {},
        validate_default=True,
        description="settings of the algorithm, listed below",
    )

    # How much, and on what.
    seed: Integer = Field(1, ge=0, le=MAX_SEED, description="determines every random number of the run")
    total_decisions: Integer = Field(
        20_000_000,
        ge=1,
        le=MAX_COUNT,
        description="decisions to play, over all seats, rounded up to whole batches",
    )
    device: Annotated[Text, Field(pattern=_DEVICE.pattern)] = Field(
        "auto",
        description="device of the networks: cpu, cuda, cuda:N, mps, or auto (a GPU if there is one)",
    )
    workers: Workers = Field(
        "auto",
        description="number of parallel workers, one core each, or auto (the largest divisor of num_envs up to the "
        "number of physical cores); the result depends on it",
    )
    num_envs: Integer = Field(
        512, ge=1, le=MAX_COUNT, description="games played in parallel, over all workers"
    )
    batch_size: Integer = Field(32_768, ge=1, le=MAX_COUNT, description="decisions played before each update")

    # Checkpoints and evaluations during training. None of these changes what is learned.
    checkpoint_every: Integer = Field(20, ge=1, le=MAX_COUNT, description="updates between checkpoints")
    evaluate_every: Integer = Field(50, ge=1, le=MAX_COUNT, description="updates between evaluations")
    evaluate_deals: Integer = Field(
        200,
        ge=MIN_DEALS,
        le=MAX_COUNT,
        description="deals per evaluation during training, each played from every seat",
    )
    final_deals: Integer = Field(
        1000, ge=MIN_DEALS, le=MAX_COUNT, description="deals of the final evaluation"
    )
    opponents: Texts = Field(("random", "heuristic"), description="agents to play against in evaluations")

    def __init__(self, **settings: Any) -> None:
        options = options_class(_algorithm_of(settings))
        super().__init__(**_in_sections(settings, "the settings", options, known_only=False))

    @field_validator("game_options", mode="before")
    @classmethod
    def _read_options(cls, value: Any, info: ValidationInfo) -> Any:
        value = read_outer(value)
        return read_options(info.data.get("game", ""), value) if isinstance(value, dict) else value

    @field_validator("algorithm_options", mode="before")
    @classmethod
    def _read_algorithm_options(cls, value: Any, info: ValidationInfo) -> Any:
        if "algorithm" not in info.data:  # which is itself invalid
            return AlgorithmOptions()
        kind, value = options_class(info.data["algorithm"]), read_outer(value)
        if isinstance(value, AlgorithmOptions):
            value = value.as_dict()
        return kind(**value) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _check_multiples(self) -> TrainConfig:
        """The games must divide equally among the workers, and the batch among the games."""
        wrong = []
        if self.workers != "auto" and self.num_envs % self.workers:
            wrong.append(f"num_envs = {self.num_envs}: expected a multiple of workers ({self.workers})")
        if self.batch_size % self.num_envs:
            wrong.append(f"batch_size = {self.batch_size}: expected a multiple of num_envs ({self.num_envs})")
        wrong += self.algorithm_options.check(self)
        if wrong:
            raise ValueError("; ".join(wrong))
        return self

    def check_agents(self, game: Game) -> None:
        """Make each agent once, so that one that cannot be made fails now rather than when it has to play.

        Raises ``ValueError`` that names the setting.
        """
        options = self.algorithm_options
        for setting, specs in {"opponents": self.opponents, **options.agents_by_setting()}.items():
            for spec in specs:
                try:
                    check_spec(spec, options.agent_settings.get(setting, ()))
                    catbox_agents.make(spec, game)
                except AgentError:  # names the agent
                    raise
                except ValueError as error:
                    raise ValueError(f"{setting}: {error}") from None

    def specs(self) -> dict[str, tuple[str, ...]]:
        """The specs that may be a class, ``"package.module:Class"``, of the algorithm and the agents, by setting."""
        agents = self.algorithm_options.agents_by_setting()
        return {"algorithm": (self.algorithm,), "opponents": self.opponents, **agents}

    @property
    def num_updates(self) -> int:
        """Batches to play and learn from."""
        return -(-self.total_decisions // self.batch_size)

    @property
    def num_steps(self) -> int:
        """Steps of every game in a batch."""
        return self.batch_size // self.num_envs

    @property
    def num_workers(self) -> int:
        """``workers`` as a number, in ``resolved`` settings."""
        if self.workers == "auto":
            raise ValueError("workers = 'auto' is not a number yet: use resolved()")
        return self.workers

    def make_game(self) -> Game:
        """The game to train on. Raises ``ValueError`` for rules that cannot be played."""
        return make_game(self.game, **self.game_options)

    def resolved(self, here: bool = True) -> TrainConfig:
        """A copy in which every "auto" is replaced by its value on this machine, or, if the workers are not ``here``,
        on theirs: each has its own ``device``, cpu or cuda.

        A run stores these, so that it resumes unchanged on another machine. Raises ``ValueError`` for a device that
        does not exist, or that the algorithm does not run on.
        """
        from catbox_train.devices import check_device, num_workers  # needs torch

        if self.algorithm_options.cpu_only and self.device not in ("auto", "cpu"):
            raise ValueError(
                f"device = {self.device!r}: {self.algorithm} runs on the CPU only; use cpu or auto"
            )
        if self.algorithm_options.cpu_only:
            device = "cpu"
        elif here:
            device = check_device(self.device)
        else:
            device = "cuda" if self.device.startswith("cuda") else "cpu"
        workers = num_workers(self.num_envs) if self.workers == "auto" else self.workers
        return self.replace(
            device=device, workers=workers, algorithm_options=self.algorithm_options.resolved(device)
        )

    @classmethod
    def expected_of(cls, name: str) -> str:
        """The values that the setting ``name`` takes, in words."""
        if name == "device":
            return "auto, cpu, cuda, cuda:N or mps"
        if name == "algorithm_options":
            return "a mapping of names to values, such as {hidden: [128, 128]}"
        return super().expected_of(name)


def preset_names() -> list[str]:
    """Names of the presets."""
    return list(_presets())


def default_preset(game_id: str) -> str | None:
    """The first preset for a game, None if there is none."""
    return next((name for name, games in _presets().items() if game_id in games), None)


def load_config(
    preset: str | None = None,
    file: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    trust: bool = False,
) -> TrainConfig:
    """Build a configuration: defaults, then ``preset``, then the YAML ``file``, then ``overrides``.

    ``preset`` is one of ``preset_names()``, and has settings for each game.

    ``overrides``, a dict or a configuration of OmegaConf, maps names of settings to values, or to text as the command
    line gives it (``"5e-4"``, ``"128,128"``). A dotted name such as ``"game_options.num_players"`` sets one option of
    the game, and ``"algorithm_options.hidden"`` one of the algorithm, for which ``"hidden"`` is enough; the options of
    later sources are merged into those of earlier ones. A preset's options for an algorithm other than the chosen one
    are ignored. A game without a heuristic is evaluated against ``random`` alone unless a source names opponents.

    Raises ``ValueError`` for an unknown preset or setting, a wrong type or an invalid value, and, without ``trust``, if
    ``file`` names a class (``"package.module:Class"``) as the algorithm or an agent, because importing it runs its
    code, or an agent that asks a server (``"llm:..."``), which is sent a key; ``OSError`` for a file that
    cannot be read.
    """
    overrides = builtin_containers(overrides or {})
    sources: list[tuple[Mapping[Any, Any], Source, str]] = []
    if preset is not None:
        presets = _presets()
        if preset not in presets:
            raise ValueError(f"unknown preset {preset!r}: expected one of {', '.join(presets)}")
    if file is not None:
        content = read_settings(Path(file))
        if "algorithm" not in overrides and not trust:  # before it is imported, for its settings
            _check_no_classes({"algorithm": [_algorithm_of(content)]}, file)
        sources.append((content, "file", str(file)))
    sources.append((overrides, "override", "an override"))
    if preset is not None:
        games = presets[preset]
        named = [read_text(values["game"]) for values, _, _ in sources if "game" in values]
        game_id = str(named[-1]) if named else TrainConfig.model_fields["game"].default
        if game_id not in games:
            raise ValueError(
                f"preset {preset!r} is for {', '.join(games)}, not for {game_id!r}: leave it out"
            )
        sources.insert(0, (games[game_id], "preset", f"preset {preset!r}"))
    chosen = _algorithm_of({name: value for values, _, _ in sources for name, value in values.items()})
    options = options_class(chosen)
    merged: dict[str, Any] = {}
    from_file: set[str] = set()
    for values, kind, source in sources:
        if kind == "preset" and _algorithm_of(values) != chosen:
            values = {name: value for name, value in values.items() if name in TrainConfig.model_fields}
            values.pop("algorithm_options", None)
        own = _in_sections(values, source, options)
        names = {*own, *own.get("algorithm_options", ())}
        from_file = from_file | names if kind == "file" else from_file - names
        merged |= {
            name: {**merged.get(name, {}), **value} if name in SECTIONS else value
            for name, value in own.items()
        }
    if hand_written_agent(str(read_text(merged.get("game", TrainConfig().game)))) != "heuristic":
        merged.setdefault("opponents", ["random"])
    config = TrainConfig(**merged)
    if file is not None and not trust:
        _check_no_classes({name: specs for name, specs in config.specs().items() if name in from_file}, file)
    return config


def _check_no_classes(specs: Mapping[str, Sequence[str]], file: str | os.PathLike[str]) -> None:
    """Raise ``ValueError``, with nothing imported, if any of the ``specs`` of a setting is a class or asks a server.

    They come from ``file``, which may be untrusted: importing a module runs its code, and a server is sent a key.
    """
    pairs = [(name, spec) for name, found in specs.items() for spec in found]
    classes = [f"{name}: {spec}" for name, spec in pairs if imports_module(spec) or asks_server(spec)]
    if classes:
        raise ValueError(
            f"{file} names Python classes, and loading them runs their code, or servers, which are sent your key "
            f"({', '.join(classes)}). If you trust them, add --trust; otherwise remove these names from the file"
        )


def _presets() -> dict[str, dict[str, dict[str, Any]]]:
    """Preset -> id of the game -> settings."""
    return read_yaml(resources.files("catbox_train").joinpath("presets.yaml").read_text(encoding="utf-8"))


def _algorithm_of(values: Mapping[Any, Any]) -> str:
    name = values.get("algorithm", TrainConfig.model_fields["algorithm"].default)
    return str(read_text(name))


def _in_sections(
    values: Mapping[Any, Any],
    source: str,
    options: type[AlgorithmOptions],
    known_only: bool = True,
) -> dict[str, Any]:
    """The settings of ``source``, with those of the game and of the algorithm in their sections, however they were
    given.

    Raises ``ValueError`` for unknown settings and options given twice, unless ``known_only`` is off.
    """
    into: dict[str, Any] = {}
    given: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        name, dot, option = str(key).partition(".")
        if not dot and name not in TrainConfig.model_fields and name in options.model_fields:
            name, option = "algorithm_options", name
        known = name in TrainConfig.model_fields and (not dot or (name in SECTIONS and option))
        if name == "algorithm_options" and option:
            known = option in options.model_fields
        if not known and known_only:
            raise ValueError(f"unknown setting {brief(key)} in {source}: {_nearest(str(key), options)}")
        if not known or name not in SECTIONS:
            into[str(key)] = value
            continue
        found = {option: value} if option else read_outer(value)
        if isinstance(found, AlgorithmOptions):
            found = found.as_dict()
        if not isinstance(found, dict):
            if not known_only:  # its field reports what is wrong
                into[name] = value
                continue
            raise ValueError(f"{name} = {brief(value)} in {source}: expected {TrainConfig.expected_of(name)}")
        section = given.get(name, {})
        if known_only and (twice := [key for key in found if key in section]):
            raise ValueError(f"{name}.{twice[0]} in {source} was given before; give it once")
        # An option named by itself overrides the section.
        given[name] = section | found if option else found | section
    for name, section in given.items():
        if section or name in values:
            into[name] = section
    return into


def _nearest(unknown: str, options: type[AlgorithmOptions]) -> str:
    """A suggestion for the name of an ``unknown`` setting."""
    return nearest(unknown, [*TrainConfig.model_fields, *options.model_fields])
