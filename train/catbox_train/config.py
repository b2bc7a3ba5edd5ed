"""The settings of a training run: what each means, where its value comes from, and what is refused.

A setting comes from the last of these that names it: the defaults below, a preset (``presets.yaml``), a YAML file,
single overrides (the command line). Text is read by one grammar, ``catbox_env.core.options``, wherever it stands.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from catbox_agents.arena import MIN_DEALS
from catbox_agents.networks.mlp import MAX_HIDDEN_LAYERS
from catbox_agents.specs import default_agent
from catbox_env import Game, make_game
from catbox_env.core.checks import shown
from catbox_env.core.options import QuotedText, parse_text, parse_texts, quoted, read_options, read_value
from catbox_train.settings_file import read_settings, read_yaml, to_yaml

#: Each worker is a thread with networks of its own.
MAX_WORKERS = 256
#: Far more than any count comes to; larger ones overflow somewhere.
MAX_COUNT = 10**18
#: The largest seed that torch takes.
MAX_SEED = 2**64 - 1
#: What they are called in messages.
_LARGE = {MAX_COUNT: "10^18", MAX_SEED: "2^64 - 1"}

Activation = Literal["relu", "tanh"]
Precision = Literal["auto", "float32", "bfloat16"]


def _read(value: Any) -> Any:
    return read_value(value) if isinstance(value, str) else value


def _read_integer(value: Any) -> Any:
    """A whole number may be written as a float, 2e7."""
    value = _read(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_outer(value: Any) -> Any:
    """A list or a mapping that may be written as text; what is read of it is not read again."""
    return quoted(read_value(value)) if isinstance(value, str) else value


def _read_list(value: Any) -> Any:
    """One value is a list of one."""
    value = _read_outer(value)
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _read_text(value: Any) -> Any:
    if isinstance(value, QuotedText):
        return str(value)
    return parse_text(value) if isinstance(value, str) else value


def _read_texts(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, QuotedText):
        value = quoted(parse_texts(value))
    return _read_list(value)


# Strict: True is not 1, and 1 is no text.
Integer = Annotated[int, Strict(), BeforeValidator(_read_integer)]
Float = Annotated[float, Strict(), BeforeValidator(_read), Field(allow_inf_nan=False)]
Flag = Annotated[bool, Strict(), BeforeValidator(_read)]
Text = Annotated[str, Strict(), BeforeValidator(_read_text)]
Width = Annotated[int, Strict(), BeforeValidator(_read_integer), Field(ge=1, le=MAX_COUNT)]


class TrainConfig(BaseModel):
    """Every setting of a training run; ``catbox train --settings`` and ``describe()`` list them.

    Raises ``ValueError`` that names each wrong setting, what was given and what was expected.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    # What is played.
    game: Text = Field("cat_in_the_box_v0", description="id of the game")
    game_options: dict[Text, Any] = Field(
        {}, description="options of the game, as make_game takes them: num_players, rounds, reward, ..."
    )

    # How much, and on what.
    seed: Integer = Field(1, ge=0, le=MAX_SEED, description="every random number of the run follows from it")
    total_decisions: Integer = Field(
        20_000_000,
        ge=1,
        le=MAX_COUNT,
        description="decisions to learn from, all seats together, in whole batches",
    )
    workers: Integer = Field(
        2,
        ge=1,
        le=MAX_WORKERS,
        description="number of threads that play and learn, one for each core is best; the result depends on it",
    )
    num_envs: Integer = Field(
        512, ge=1, le=MAX_COUNT, description="games played side by side, all workers together"
    )
    batch_size: Integer = Field(32_768, ge=1, le=MAX_COUNT, description="decisions played before each update")
    precision: Annotated[Precision, BeforeValidator(_read_text)] = Field(
        "auto",
        description="of the hidden layers: float32, bfloat16, or auto (bfloat16 where the CPU computes in it)",
    )

    # The networks.
    hidden: Annotated[tuple[Width, ...], BeforeValidator(_read_list)] = Field(
        (256, 256),
        min_length=1,
        max_length=MAX_HIDDEN_LAYERS,
        description="widths of the hidden layers of actor and critic",
    )
    activation: Annotated[Activation, BeforeValidator(_read_text)] = Field("relu", description="relu or tanh")
    privileged_critic: Flag = Field(
        False,
        description="the critic sees the whole state, hidden hands included (only training needs the critic)",
    )

    # PPO (Schulman et al. 2017, https://arxiv.org/abs/1707.06347).
    epochs: Integer = Field(2, ge=1, le=MAX_COUNT, description="times that each batch is learned from")
    minibatch_size: Integer = Field(1024, ge=1, le=MAX_COUNT, description="decisions for each gradient step")
    learning_rate: Float = Field(
        1e-3, gt=0, description="of Adam at the start, falling linearly to learning_rate_end"
    )
    learning_rate_end: Float = Field(5e-5, ge=0, description="learning rate at the end")
    entropy: Float = Field(
        0.06, ge=0, description="weight of the entropy bonus at the start, falling linearly to entropy_end"
    )
    entropy_end: Float = Field(0.002, ge=0, description="weight of the entropy bonus at the end")
    clip: Float = Field(
        0.15,
        gt=0,
        description="the ratio of the new to the old probability is clipped to 1 - clip .. 1 + clip",
    )
    gamma: Float = Field(
        1.0, ge=0, le=1, description="discount from one of a seat's own decisions to its next"
    )
    gae_lambda: Float = Field(
        0.95, ge=0, le=1, description="lambda of the advantage estimate, counted in the seat's own decisions"
    )
    max_grad_norm: Float = Field(
        0.5, gt=0, description="longest gradient, of the actor and of the critic each"
    )

    # Checkpoints and evaluations during training. None of these changes what is learned.
    checkpoint_every: Integer = Field(
        20, ge=1, le=MAX_COUNT, description="updates from one checkpoint to the next"
    )
    evaluate_every: Integer = Field(
        50, ge=1, le=MAX_COUNT, description="updates from one evaluation to the next"
    )
    evaluate_deals: Integer = Field(
        200,
        ge=MIN_DEALS,
        le=MAX_COUNT,
        description="deals of an evaluation during training; each is played from every seat",
    )
    final_deals: Integer = Field(
        1000, ge=MIN_DEALS, le=MAX_COUNT, description="deals of the evaluation at the end"
    )
    opponents: Annotated[tuple[Text, ...], BeforeValidator(_read_texts)] = Field(
        ("random", "heuristic"), description="agents to play against in evaluations"
    )

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise ValueError(_explained(error, settings)) from None

    @field_validator("game_options", mode="before")
    @classmethod
    def _read_options(cls, value: Any, info: ValidationInfo) -> Any:
        value = _read_outer(value)
        return read_options(info.data.get("game", ""), value) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _check_multiples(self) -> TrainConfig:
        """The workers share the games, the games the batch, and the minibatches the batch, in equal parts."""
        wrong = [
            f"{name} = {getattr(self, name)}: expected a multiple of {divisor} ({getattr(self, divisor)})"
            for name, divisor in (
                ("num_envs", "workers"),
                ("batch_size", "num_envs"),
                ("batch_size", "minibatch_size"),
            )
            if getattr(self, name) % getattr(self, divisor)
        ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self

    @property
    def num_updates(self) -> int:
        """Batches that are played and learned from."""
        return -(-self.total_decisions // self.batch_size)

    @property
    def num_steps(self) -> int:
        """Steps of every game in a batch."""
        return self.batch_size // self.num_envs

    @property
    def num_minibatches(self) -> int:
        """Gradient steps in each epoch."""
        return self.batch_size // self.minibatch_size

    def make_game(self) -> Game:
        """The game to train on. Raises ``ValueError`` for rules that cannot be played."""
        return make_game(self.game, **self.game_options)

    def replace(self, **settings: Any) -> TrainConfig:
        """A copy with other ``settings``, checked as all are."""
        return type(self)(**{**quoted(self.model_dump()), **settings})

    def as_dict(self) -> dict[str, Any]:
        """Every setting, as values that JSON and YAML can hold."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in self.model_dump().items()}

    def to_yaml(self) -> str:
        """Every setting, as a file that ``load_config`` reads."""
        return to_yaml(self.as_dict())

    @classmethod
    def describe(cls) -> list[tuple[str, str, str]]:
        """Rows (name, default, what it does) for help texts; the default as the command line takes it."""
        defaults = {
            name: ",".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in cls().as_dict().items()
        }
        return [(name, defaults[name], field.description or "") for name, field in cls.model_fields.items()]


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
    ``"128,128"``). A dotted name such as ``"game_options.num_players"`` sets one option of the game; the
    options of the later sources are added to those of the earlier ones. A game without a heuristic is evaluated against
    ``random`` alone unless a source names opponents. Raises ``ValueError`` for an unknown preset or
    setting, a wrong type or an impossible value, ``OSError`` for a file that cannot be read.
    """
    merged: dict[str, Any] = {}
    if preset is not None:
        presets = _presets()
        if preset not in presets:
            raise ValueError(f"unknown preset {preset!r}: expected one of {', '.join(presets)}")
        _merge(merged, presets[preset], f"preset {preset!r}")
    if file is not None:
        _merge(merged, read_settings(Path(file)), str(file))
    _merge(merged, overrides or {}, "an override")
    if default_agent(str(_read_text(merged.get("game", TrainConfig().game)))) != "heuristic":
        merged.setdefault("opponents", ["random"])
    return TrainConfig(**merged)


def _presets() -> dict[str, dict[str, Any]]:
    return read_yaml(resources.files("catbox_train").joinpath("presets.yaml").read_text(encoding="utf-8"))


def _merge(into: dict[str, Any], values: Mapping[Any, Any], source: str) -> None:
    """Add the settings of ``source`` to ``into``; options of the game one by one."""
    given: dict[str, Any] = {}
    for key, value in values.items():
        name, dot, option = str(key).partition(".")
        if name not in TrainConfig.model_fields or (dot and (name != "game_options" or not option)):
            raise ValueError(f"unknown setting {shown(key)} in {source}: {_nearest(str(key))}")
        if name != "game_options":
            into[name] = value
            continue
        options = {option: value} if option else _read_outer(value)
        if not isinstance(options, dict):
            raise ValueError(f"{name} = {shown(value)} in {source}: expected {_expected_of(name)}")
        for option in options:
            if option in given:
                raise ValueError(f"{name}.{option} in {source} was given before; give it once")
        given |= options
    if given:
        into["game_options"] = {**into.get("game_options", {}), **given}


def _nearest(unknown: str) -> str:
    """What may have been meant by the name of an ``unknown`` setting."""
    near = difflib.get_close_matches(unknown, TrainConfig.model_fields, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(TrainConfig.model_fields)}"


def _explained(error: ValidationError, settings: Mapping[str, Any]) -> str:
    """Each wrong setting of ``settings``: what was given, what was expected."""
    messages = []
    for wrong in error.errors(include_url=False):
        name = str(wrong["loc"][0]) if wrong["loc"] else ""
        if wrong["type"] == "value_error":  # from a validator that says itself what is wrong
            messages.append(str(wrong["ctx"]["error"]))
        elif wrong["type"] == "extra_forbidden":
            messages.append(f"unknown setting {shown(name)}: {_nearest(name)}")
        else:
            messages.append(f"{name} = {shown(settings[name])}: expected {_expected_of(name)}")
    return "; ".join(dict.fromkeys(messages))  # once for each name, whatever is wrong inside its value


def _expected_of(name: str) -> str:
    """A value that the setting ``name`` takes, in words."""
    field = TrainConfig.model_fields[name]
    return _expected(field.annotation, field.metadata)


def _expected(kind: Any, metadata: Sequence[Any]) -> str:
    """A value of the type ``kind`` within the bounds of ``metadata``, in words."""
    if get_origin(kind) is Annotated:
        kind, *own = get_args(kind)
        metadata = [*own, *metadata]
    low, high = _bound(metadata, "ge", "min_length"), _bound(metadata, "le", "max_length")
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if get_origin(kind) is tuple:
        length = "" if high is None else f"{low} to {high} "
        return f"a list of {length}values, each {_expected(get_args(kind)[0], ())}"
    if get_origin(kind) is dict:
        return "a mapping of names to values, such as {num_players: 3}"
    if kind is int:
        return f"an integer from {low} to {_LARGE.get(high, high)}"
    if kind is float and high is None:
        return "a number above 0" if low is None else f"a number of {low} or more"
    return {float: f"a number from {low} to {high}", bool: "true or false", str: "a text"}[kind]


def _bound(metadata: Sequence[Any], *names: str) -> Any:
    """The bound that has one of ``names``, None where there is none."""
    entries = [
        part for entry in metadata for part in (entry.metadata if isinstance(entry, FieldInfo) else [entry])
    ]
    found = [getattr(entry, name) for entry in entries for name in names if hasattr(entry, name)]
    return found[0] if found else None
