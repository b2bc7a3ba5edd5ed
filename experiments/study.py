"""A study as its YAML file describes it, and its runs, checked before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from catbox_agents.arena import MIN_DEALS
from catbox_env.core.checks import short_repr
from catbox_train import TrainConfig, load_config
from catbox_train.registry import read_yaml
from catbox_train.runs.loop import check_run

#: The name of a variant or of a rule set, also used as a folder name.
Name = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9 ,.+=-]*[A-Za-z0-9])?$", max_length=60)
]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _different(seeds: list[int]) -> list[int]:
    if len(set(seeds)) < len(seeds):
        raise ValueError("expected different seeds")
    return seeds


class Study(BaseModel):
    """One file of ``experiments/studies``; the docstring of `experiments` shows one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Words
    question: Words
    base: dict[str, Any] = {}
    rules: dict[Name, dict[str, Any]] = Field(min_length=1)
    #: What is compared: each with the first, seed by seed.
    variants: dict[Name, dict[str, Any]] = Field(min_length=2)
    seeds: Annotated[list[int], Field(min_length=2), AfterValidator(_different)]
    final_deals: int = Field(1000, ge=MIN_DEALS)


@dataclass(frozen=True)
class Run:
    """One run of a study: a variant, trained under a rule set from a seed."""

    study: str
    rules: str
    variant: str
    seed: int
    config: TrainConfig

    @property
    def key(self) -> tuple[str, str, int]:
        """What identifies the run within its study."""
        return self.rules, self.variant, self.seed

    def folder(self, runs: Path) -> Path:
        """The folder in which it is trained."""
        return runs / "experiments" / self.study / self.rules / self.variant / f"seed {self.seed}"

    def __str__(self) -> str:
        return f"study {self.study!r}, {self.rules}, variant {self.variant!r}, seed {self.seed}"


def study_names(folder: Path) -> list[str]:
    """The studies in ``folder``."""
    return sorted(file.stem for file in folder.glob("*.yaml"))


def read_study(name: str, folder: Path) -> Study:
    """The study ``name``. Raises ``OSError`` if it does not exist, ``ValueError`` if it is invalid."""
    try:
        return Study(**read_yaml(folder / f"{name}.yaml"))
    except ValidationError as error:
        raise ValueError(f"study {name!r}: {error}") from None


def runs_of(name: str, study: Study) -> list[Run]:
    """Every run of the study, seed by seed.

    Raises ``ValueError``, naming the run and the setting, for what cannot be trained: unknown settings, invalid values,
    rules that cannot be played, opponents that do not exist.
    """
    runs = []
    for seed in study.seeds:
        for rules, of_rules in study.rules.items():
            for variant, of_variant in study.variants.items():
                own = {"seed": seed, "final_deals": study.final_deals}
                where = f"study {name!r}, {rules}, variant {variant!r}"
                config = checked_config(where, study.base, of_rules, of_variant, own)
                runs.append(Run(name, rules, variant, seed, config))
    return runs


def checked_config(where: str, *settings: Mapping[str, Any]) -> TrainConfig:
    """The configuration of ``settings``, where later ones override earlier ones; `preset: NAME` is one of them.

    Raises ``ValueError``, beginning with ``where``, for what `catbox_train` would refuse before a run, except memory
    that is in use now: the run may be finished, or begin hours from now.
    """
    overrides = {name: value for part in settings for name, value in dotted(part).items()}
    try:
        config = load_config(preset=overrides.pop("preset", None), overrides=overrides)
        check_run(config, now=False)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return config


def dotted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings`` with ``{game_options: {num_players: 3}}`` as ``{game_options.num_players: 3}``."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if name == "game_options" and isinstance(value, Mapping):
            found |= {f"{name}.{option}": chosen for option, chosen in value.items()}
        else:
            found[name] = value
    return found


def flat(config: TrainConfig) -> dict[str, Any]:
    """Every setting as a JSON value, by its name for `load_config`; names of game options are dotted."""
    return dotted(config.as_dict())


def check_unchanged(where: str, was: Mapping[str, Any], now: Mapping[str, Any], remedy: str) -> None:
    """Raise ``ValueError`` if the ``flat`` settings ``was``, of what is in ``where``, differ from ``now``.

    ``auto`` matches any value; settings that only one of them has are ignored, as they belong to another version.
    """
    changed = [
        f"{name}: {short_repr(was[name])} -> {short_repr(value)}"
        for name, value in now.items()
        if name in was and value not in ("auto", was[name])
    ]
    if changed:
        raise ValueError(
            f"{where} was made with other settings than the file has now ({', '.join(changed)}): restore the earlier "
            f"values to resume it, or {remedy} to start over"
        )
