"""A study as its YAML file describes it, and the runs that it asks for, checked before anything is trained."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from catbox_agents.arena import MIN_DEALS
from catbox_env.core.checks import brief, closest
from catbox_train import TrainConfig, load_config
from catbox_train.config import SECTIONS
from catbox_train.runs.loop import check_run
from catbox_train.settings_file import read_settings

FOLDER = Path(__file__).resolve().parent
STUDIES = FOLDER / "studies"

#: The name of a variant or of a rule set, which is also that of a folder.
NAME = r"^[A-Za-z0-9]([A-Za-z0-9 ,.+=-]*[A-Za-z0-9])?$"
Name = Annotated[str, StringConstraints(pattern=NAME, max_length=60)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Seed = Annotated[int, Field(ge=0)]

#: What a study gives with a key of its own.
OWN_SETTINGS = ("seed", "final_deals")
PRESET = "preset"
#: In ``fields``: a net of the study, "net:VARIANT".
NET = "net:"
#: The settings of the algorithm, which go by their own names.
ALGORITHM_OPTIONS = "algorithm_options"


class Study(BaseModel):
    """One file of ``experiments/studies``; the docstring of `experiments` shows one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Words
    question: Words
    base: dict[str, Any] = {}
    rules: dict[Name, dict[str, Any]] = Field(min_length=1)
    variants: dict[Name, dict[str, Any]] = Field(min_length=2)
    seeds: list[Seed] = Field(min_length=1)
    final_deals: int = Field(1000, ge=MIN_DEALS)
    judged: Name = ""
    fields: dict[Name, list[Words]] = {}
    field_deals: int = Field(2000, ge=MIN_DEALS)
    conclusion: str = ""


@dataclass(frozen=True)
class Run:
    """One run of a study: a variant, trained under a rule set from a seed."""

    study: str
    rules: str
    variant: str
    seed: int
    #: Which of the study's seeds that is, from 0.
    seed_place: int
    config: TrainConfig
    #: Whether the study plays its nets in fields.
    net_needed: bool = False

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells the run from the others of its study."""
        return self.rules, self.variant, self.seed

    def __str__(self) -> str:
        return f"study {self.study!r}, {self.rules}, variant {self.variant!r}, seed {self.seed}"


def study_names(folder: Path = STUDIES) -> list[str]:
    """The studies in ``folder``."""
    return sorted(file.stem for file in folder.glob("*.yaml"))


def read_study(name: str, folder: Path = STUDIES) -> Study:
    """The study ``name``. Raises ``ValueError`` for one that does not exist or is not valid."""
    names = study_names(folder)
    if name not in names:
        raise ValueError(f"unknown study {name!r}{_near(name, names)}")
    try:
        return Study(**read_settings(folder / f"{name}.yaml"))
    except ValidationError as error:
        raise ValueError(f"study {name!r}: {'; '.join(_explained(error))}") from None


def runs_of(name: str, study: Study) -> list[Run]:
    """Every run of the study, seed by seed.

    Raises ``ValueError`` that names the study, the variant, the rule set and the setting for what cannot be trained:
    unknown settings, wrong values, rules that cannot be played, opponents that do not exist, two equal variants.
    """
    if len(set(study.seeds)) < len(study.seeds):
        raise ValueError(f"study {name!r}: seeds = {study.seeds}: expected different ones")
    _check_fields(name, study)
    runs: list[Run] = []
    for place, seed in enumerate(study.seeds):
        for rules in study.rules:
            for variant in study.variants:
                where = f"study {name!r}, variant {variant!r}, {rules}"
                try:
                    config = _config(study, rules, variant, seed)
                    runs.append(Run(name, rules, variant, seed, place, config, net_needed=bool(study.fields)))
                except ValueError as error:
                    raise ValueError(f"{where}: {error}") from error
    first = runs[: len(study.rules) * len(study.variants)]
    for i, run in enumerate(first):
        _check_playable(run)
        for other in first[:i]:
            if other.rules == run.rules and other.config == run.config:
                raise ValueError(
                    f"study {name!r}: variants {other.variant!r} and {run.variant!r} have the same settings "
                    f"under {run.rules}: change or leave out one of them"
                )
    return runs


def _check_fields(name: str, study: Study) -> None:
    """Raise ``ValueError`` for fields of variants that the study has not."""
    variants = list(study.variants)
    wanted = {study.judged: "judged"} if study.fields else {}
    for field, agents in study.fields.items():
        if not agents:
            raise ValueError(f"study {name!r}: fields.{field} = []: name at least one agent")
        nets = [agent.removeprefix(NET) for agent in agents if agent.startswith(NET)]
        if nets and len(study.seeds) < 2:
            raise ValueError(f"study {name!r}: fields.{field}: nets of another seed take two seeds at least")
        wanted |= dict.fromkeys(nets, f"fields.{field}")
    for variant, where in wanted.items():
        if variant not in variants:
            raise ValueError(f"study {name!r}: {where} names variant {variant!r}{_near(variant, variants)}")


def flat(config: TrainConfig) -> dict[str, Any]:
    """Every setting as a value of JSON, by its name for `load_config`: that of an option of the game is dotted."""
    return dict(_flat(json.loads(json.dumps(config.as_dict()))))


def settings_that_vary(configs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names, but for the seed, of settings that have different values in the ``flat`` configurations.

    A setting that only some of them have (of one algorithm) does not vary if those agree on it.
    """
    values: dict[str, list[Any]] = {}
    for config in configs:
        for name, value in config.items():
            values.setdefault(name, []).append(value)
    return [name for name, found in values.items() if name != "seed" and any(v != found[0] for v in found)]


def differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """How the ``flat`` settings that a run ``was`` made with differ from those of ``now``, as "name: was -> now".

    ``auto`` stands for whatever it came to; a setting that only one of them has came or went with another version.
    """
    return [
        f"{name}: {brief(was[name])} -> {brief(value)}"
        for name, value in now.items()
        if name in was and value not in ("auto", was[name])
    ]


def _config(study: Study, rules: str, variant: str, seed: int) -> TrainConfig:
    """The settings of one run. Raises ``ValueError``."""
    sources = {
        "base": dotted(study.base),
        f"rules {rules!r}": dotted(study.rules[rules]),
        f"variant {variant!r}": dotted(study.variants[variant]),
    }
    for source, settings in sources.items():
        for own in OWN_SETTINGS:
            if own in settings:
                raise ValueError(f"{own} in {source}: leave it out; the study gives it, for all its runs")
    base, of_rules, of_variant = sources.values()
    for setting in of_rules.keys() & of_variant.keys():
        raise ValueError(f"{setting} is given by the variant and by its rules: give it in one of them")
    settings = {**base, **of_rules, **of_variant}
    preset = settings.pop(PRESET, None)
    overrides = {**settings, "seed": seed, "final_deals": study.final_deals}
    return load_config(preset=preset, overrides=overrides)


def _check_playable(run: Run) -> None:
    """Raise ``ValueError`` for what `catbox_train` would refuse before the run, but for memory that is in use now.

    The run may be finished, or begin hours from now: `catbox_train` looks again when it begins.
    """
    try:
        check_run(run.config, now=False)
    except ValueError as error:
        raise ValueError(f"study {run.study!r}, variant {run.variant!r}, {run.rules}: {error}") from error


def dotted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` with ``{game_options: {num_players: 3}}`` as ``{game_options.num_players: 3}``."""
    dotted: dict[str, Any] = {}
    for name, value in settings.items():
        in_parts = name in SECTIONS and isinstance(value, Mapping)
        parts = {f"{name}.{k}": v for k, v in value.items()} if in_parts else {name: value}
        for part, part_value in parts.items():
            if part in dotted:
                raise ValueError(f"{part} was given before; give it once")
            dotted[part] = part_value
    return dotted


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if name in SECTIONS and isinstance(value, dict):
            yield from _flat(value, "" if name == ALGORITHM_OPTIONS else f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _explained(error: ValidationError) -> Iterator[str]:
    """Each thing that is wrong in a file: where, what was given, what was expected."""
    for wrong in error.errors(include_url=False):
        place = ".".join(str(part) for part in wrong["loc"] if part != "[key]")
        if wrong["type"] == "extra_forbidden":
            yield f"unknown key {place!r}{_near(place, list(Study.model_fields))}"
        elif wrong["type"] == "missing":
            yield f"{place} is missing"
        else:
            yield f"{place} = {brief(wrong['input'])}: {wrong['msg']}"


def _near(unknown: str, names: list[str]) -> str:
    return closest(unknown, names) or f": expected one of {', '.join(names) or 'none'}"
