"""What a training run is set up with, where the settings come from, and what is refused.

A setting comes from the last of these that names it: the defaults below, a preset (``presets.yaml``), a YAML file,
single overrides (the command line).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import yaml

from catbox_agents.arena import MIN_DEALS
from catbox_agents.files import read_text
from catbox_agents.networks.mlp import ACTIVATIONS, MAX_HIDDEN_LAYERS
from catbox_agents.specs import default_agent
from catbox_env import make_game
from catbox_env.core.game import Game

PRECISIONS = ("auto", "float32", "bfloat16")
MAX_WORKERS = 256  # each is a thread with networks of its own


class _Loader(yaml.SafeLoader):
    """Takes no aliases: a few lines of them stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias (*name) is not taken here: write out what it stands for")
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):
    """Writes no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


@dataclass(frozen=True)
class TrainConfig:
    """Every setting of a training run; ``catbox train --settings`` and ``describe()`` list them."""

    # What is played.
    game: Annotated[str, "id of the game"] = "cat_in_the_box_v0"
    game_options: Annotated[
        dict[str, Any], "options of the game, as make_game takes them: num_players, rounds, reward, ..."
    ] = field(default_factory=dict)

    # How much, and on what.
    seed: Annotated[int, "every random number of the run follows from it"] = 1
    total_decisions: Annotated[int, "decisions to learn from, all seats together, in whole batches"] = (
        20_000_000
    )
    workers: Annotated[int, "threads that play and learn, best one a core; the result depends on it"] = 2
    num_envs: Annotated[int, "games played side by side, all workers together"] = 512
    batch_size: Annotated[int, "decisions played between two rounds of learning"] = 32_768
    precision: Annotated[
        str, "of the hidden layers: float32, bfloat16, or auto (bfloat16 where the CPU computes in it)"
    ] = "auto"

    # The networks.
    hidden: Annotated[tuple[int, ...], "widths of the hidden layers of actor and critic"] = (256, 256)
    activation: Annotated[str, "relu or tanh"] = "relu"
    privileged_critic: Annotated[
        bool, "the critic sees the whole state, hidden hands included (it is needed in training alone)"
    ] = False

    # PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347).
    epochs: Annotated[int, "times that each batch is learned from"] = 2
    minibatch_size: Annotated[int, "decisions for each gradient step"] = 1024
    learning_rate: Annotated[float, "of Adam at the start, falling linearly to learning_rate_end"] = 1e-3
    learning_rate_end: Annotated[float, "learning rate at the end"] = 5e-5
    entropy: Annotated[float, "weight of the entropy bonus at the start, falling linearly to entropy_end"] = (
        0.06
    )
    entropy_end: Annotated[float, "weight of the entropy bonus at the end"] = 0.002
    clip: Annotated[
        float, "the probability ratio of new and old policy counts within 1 - clip .. 1 + clip"
    ] = 0.15
    gamma: Annotated[float, "discount from one of a seat's own decisions to its next"] = 1.0
    gae_lambda: Annotated[float, "lambda of the advantage estimate, counted in the seat's own decisions"] = (
        0.95
    )
    max_grad_norm: Annotated[float, "longest gradient, of the actor and of the critic each"] = 0.5

    # Looking at it on the way. None of these changes what is learned.
    checkpoint_every: Annotated[int, "updates from one checkpoint to the next"] = 20
    evaluate_every: Annotated[int, "updates from one evaluation to the next"] = 50
    evaluate_deals: Annotated[int, "deals of an evaluation on the way; each is played from every seat"] = 200
    final_deals: Annotated[int, "deals of the evaluation at the end"] = 1000
    opponents: Annotated[tuple[str, ...], "agents to play against in evaluations"] = ("random", "heuristic")

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for name, expected in hints.items():
            object.__setattr__(self, name, _typed(name, getattr(self, name), expected))
        self._check_values()

    @property
    def num_updates(self) -> int:
        """Batches that are played and learned from."""
        return -(-self.total_decisions // self.batch_size)

    @property
    def num_steps(self) -> int:
        """Steps of every game in a batch."""
        return self.batch_size // self.num_envs

    def make_game(self) -> Game:
        """The game to train on. Raises ``ValueError`` for rules that cannot be played."""
        return make_game(self.game, **self.game_options)

    def as_dict(self) -> dict[str, Any]:
        """Every setting, as values that JSON and YAML can hold."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    def to_yaml(self) -> str:
        """Every setting, as a file that ``load_config`` reads."""
        return yaml.dump(self.as_dict(), Dumper=_Dumper, sort_keys=False)

    @classmethod
    def describe(cls) -> list[tuple[str, str, str]]:
        """Rows (name, default, what it does) for help texts."""
        default, hints = cls(), get_type_hints(cls, include_extras=True)
        return [(f.name, str(getattr(default, f.name)), hints[f.name].__metadata__[0]) for f in fields(cls)]

    def _check_values(self) -> None:
        for name in ("total_decisions", "num_envs", "batch_size", "epochs", "minibatch_size"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        for name in ("checkpoint_every", "evaluate_every"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        for name in ("evaluate_deals", "final_deals"):
            self._require(name, getattr(self, name) >= MIN_DEALS, f"at least {MIN_DEALS}")
        self._require("workers", 1 <= self.workers <= MAX_WORKERS, f"between 1 and {MAX_WORKERS}")
        self._require("seed", self.seed >= 0, "0 or more")
        widths = 1 <= len(self.hidden) <= MAX_HIDDEN_LAYERS and all(width >= 1 for width in self.hidden)
        self._require("hidden", widths, f"one width or more, at most {MAX_HIDDEN_LAYERS}, each at least 1")
        self._require("activation", self.activation in ACTIVATIONS, f"one of {', '.join(ACTIVATIONS)}")
        self._require("precision", self.precision in PRECISIONS, f"one of {', '.join(PRECISIONS)}")
        for name in ("learning_rate", "clip", "max_grad_norm"):
            self._require(name, 0 < getattr(self, name) < float("inf"), "more than 0")
        for name in ("learning_rate_end", "entropy", "entropy_end"):
            self._require(name, 0 <= getattr(self, name) < float("inf"), "0 or more")
        for name in ("gamma", "gae_lambda"):
            self._require(name, 0 <= getattr(self, name) <= 1, "between 0 and 1")
        self._require(
            "num_envs", self.num_envs % self.workers == 0, f"a multiple of workers ({self.workers})"
        )
        self._require(
            "batch_size", self.batch_size % self.num_envs == 0, f"a multiple of num_envs ({self.num_envs})"
        )
        self._require(
            "batch_size",
            self.batch_size % self.minibatch_size == 0,
            f"a multiple of minibatch_size ({self.minibatch_size})",
        )

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise ValueError(f"{name} = {getattr(self, name)!r}: expected {expected}")


def preset_names() -> list[str]:
    """Names of the presets."""
    return list(_presets())


def default_preset(game_id: str) -> str | None:
    """The first preset for a game, None where there is none."""
    for name, settings in _presets().items():
        if settings.get("game", TrainConfig().game) == game_id:
            return name
    return None


def load_config(
    preset: str | None = None,
    file: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> TrainConfig:
    """Put a configuration together: defaults, then ``preset``, then the YAML ``file``, then ``overrides``.

    ``overrides`` maps names of settings to values, or to text as the command line gives it (``"5e-4"``,
    ``"[128, 128]"``). A dotted name such as ``"game_options.num_players"`` sets one option of the game; the
    options of the later sources are added to those of the earlier ones. A game without a heuristic is evaluated against
    ``random`` alone unless a source names opponents. Raises ``ValueError`` for an unknown preset or
    setting, a wrong type or an impossible value, ``OSError`` for a file that cannot be read.
    """
    merged: dict[str, Any] = {}
    if preset is not None:
        presets = _presets()
        if preset not in presets:
            raise ValueError(f"unknown preset {preset!r}: choose one of {', '.join(presets)}")
        _merge(merged, presets[preset], f"preset {preset!r}")
    if file is not None:
        try:
            content = yaml.load(read_text(Path(file)), _Loader)
        except OSError as error:
            raise type(error)(
                f"cannot read {file}: {error.strerror or error}; name a file of settings"
            ) from error
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise ValueError(f"{file} is not valid YAML: {error}") from error
        if not isinstance(content, dict):
            raise ValueError(f"{file}: expected lines 'setting: value', found {type(content).__name__}")
        _merge(merged, content, str(file))
    _merge(merged, overrides or {}, "an override")
    if default_agent(str(merged.get("game", TrainConfig.game))) != "heuristic":
        merged.setdefault("opponents", ["random"])
    return TrainConfig(**merged)


def _presets() -> dict[str, dict[str, Any]]:
    return yaml.safe_load(
        resources.files("catbox_train").joinpath("presets.yaml").read_text(encoding="utf-8")
    )


def _merge(into: dict[str, Any], values: Mapping[str, Any], source: str) -> None:
    known = [f.name for f in fields(TrainConfig)]
    for key, value in values.items():
        name, _, option = str(key).partition(".")
        if name not in known or (option and name != "game_options"):
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(known)}"
            raise ValueError(f"unknown setting {key!r} in {source}: {hint}")
        if name == "game_options":
            given = {option: _parsed(value)} if option else _parsed(value)
            if not isinstance(given, dict):
                raise ValueError(
                    f"game_options = {value!r} in {source}: expected a mapping such as {{num_players: 3}}"
                )
            for wrong in (key for key in given if not isinstance(key, str)):
                raise ValueError(
                    f"game_options = {given!r} in {source}: {wrong!r} is no name of an option; expected a mapping "
                    "such as {num_players: 3}"
                )
            into[name] = {**into.get(name, {}), **given}
        else:
            into[name] = value


def _parsed(value: Any) -> Any:
    """Text of the command line or a file as the value it stands for."""
    if not isinstance(value, str):
        return value
    try:
        return yaml.load(value, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return value


def _typed(name: str, value: Any, expected: Any) -> Any:
    """``value`` as the type of the setting; text is read as the command line means it. Raises ``ValueError``."""
    origin = get_origin(expected)
    wanted = expected.__name__ if origin is None else str(expected)
    refusal = ValueError(f"{name} = {value!r}: expected {wanted.replace('typing.', '')}")
    if expected is str:
        if not isinstance(value, str):
            raise refusal
        return value
    value = _parsed(value)
    if expected is bool:
        if not isinstance(value, bool):
            raise refusal
        return value
    if expected in (int, float):
        if isinstance(value, str) and expected is float:  # YAML takes 5e-4, without a point, for text
            try:
                return float(value)
            except ValueError:
                raise refusal from None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or (expected is int and not float(value).is_integer()):
            raise refusal
        return expected(value)
    if origin is tuple:
        if isinstance(value, str | int):
            value = [part.strip() for part in str(value).split(",")]
        if not isinstance(value, list | tuple):
            raise refusal
        return tuple(_typed(name, item, get_args(expected)[0]) for item in value)
    if not isinstance(value, dict):
        raise refusal
    return {key: list(item) if isinstance(item, tuple) else item for key, item in value.items()}
