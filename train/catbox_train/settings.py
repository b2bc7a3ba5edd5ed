"""The building blocks of settings: types that parse text, and a base class whose errors name each wrong setting.

All text is parsed by one grammar, ``catbox_agents.option_text``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, ValidationError
from pydantic.fields import FieldInfo

from catbox_agents.option_text import QuotedText, parse_text, parse_texts, quoted, read_value
from catbox_env.core.checks import brief
from catbox_train.settings_file import to_yaml

#: Far more than any count reaches; larger ones overflow somewhere.
MAX_COUNT = 10**18
#: The largest seed that torch takes.
MAX_SEED = 2**64 - 1
#: Each worker is a thread or a process.
MAX_WORKERS = 256
#: How messages write them.
_LARGE = {MAX_COUNT: "10^18", MAX_SEED: "2^64 - 1"}


def _read(value: Any) -> Any:
    return read_value(value) if isinstance(value, str) else value


def _read_integer(value: Any) -> Any:
    """An integer, which may be written as a float: 2e7."""
    value = _read(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_auto(value: Any) -> Any:
    value = _read_integer(value)
    return str(value) if isinstance(value, str) else value


def read_outer(value: Any) -> Any:
    """A list or a mapping that may be written as text; its parsed content is not parsed again."""
    return quoted(read_value(value)) if isinstance(value, str) else value


def builtin_containers(value: Any) -> Any:
    """Mappings and sequences of any class, such as OmegaConf's, as dicts and lists."""
    if isinstance(value, Mapping):
        return {key: builtin_containers(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | tuple):
        return [builtin_containers(part) for part in value]
    return value


def _read_list(value: Any) -> Any:
    """A single value is a list of one."""
    value = read_outer(value)
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def read_text(value: Any) -> Any:
    """A text without quotes around it."""
    if isinstance(value, QuotedText):
        return str(value)
    return parse_text(value) if isinstance(value, str) else value


def _read_texts(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, QuotedText):
        value = quoted(parse_texts(value))
    return _read_list(value)


def _read_shares(value: Any) -> Any:
    """A mapping of texts to numbers, which may be written as text."""
    value = read_outer(value)
    if not isinstance(value, dict):
        return value
    return {read_text(name): _read(share) for name, share in value.items()}


# Strict: True is not 1, and 1 is not a text.
Integer = Annotated[int, Strict(), BeforeValidator(_read_integer)]
Float = Annotated[float, Strict(), BeforeValidator(_read), Field(allow_inf_nan=False)]
Flag = Annotated[bool, Strict(), BeforeValidator(_read)]
Text = Annotated[str, Strict(), BeforeValidator(read_text)]
Width = Annotated[int, Strict(), BeforeValidator(_read_integer), Field(ge=1, le=MAX_COUNT)]
Widths = Annotated[tuple[Width, ...], BeforeValidator(_read_list)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_read_texts)]
Share = Annotated[float, Strict(), BeforeValidator(_read), Field(ge=0, le=1, allow_inf_nan=False)]
Shares = Annotated[dict[Text, Share], BeforeValidator(_read_shares)]
#: For a ``Literal``: one of several words.
OneOf = BeforeValidator(read_text)
#: How many workers, or the word ``auto``.
Workers = Annotated[
    Annotated[int, Strict(), Field(ge=1, le=MAX_WORKERS)] | Literal["auto"], BeforeValidator(_read_auto)
]


class Settings(BaseModel):
    """An immutable set of settings.

    Raises ``ValueError`` that names each wrong setting, what was given and what was expected.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise ValueError(self._explained(error, settings)) from None

    def replace(self, **settings: Any) -> Self:
        """A validated copy with other ``settings``."""
        return type(self)(**{**quoted(self.as_dict()), **settings})

    def as_dict(self) -> dict[str, Any]:
        """Every setting, as values that JSON and YAML can hold."""
        return {name: _plain(getattr(self, name)) for name in type(self).model_fields}

    def to_yaml(self) -> str:
        """Every setting, as a file that ``load_config`` reads."""
        return to_yaml(self.as_dict())

    @classmethod
    def describe(cls) -> list[tuple[str, str, str]]:
        """Rows (name, default, what it does) for help texts; the default as the command line takes it."""
        settings = cls()
        rows = []
        for name, field in cls.model_fields.items():
            value = getattr(settings, name)
            value = {} if isinstance(value, Settings) else _plain(value)  # which has its own rows
            shown_value = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            rows.append((name, shown_value, field.description or ""))
        return rows

    @classmethod
    def names(cls) -> list[str]:
        """The names of the settings."""
        return list(cls.model_fields)

    @classmethod
    def expected_of(cls, name: str) -> str:
        """The values that the setting ``name`` takes, in words."""
        field = cls.model_fields[name]
        return _expected(field.annotation, field.metadata)

    @classmethod
    def _explained(cls, error: ValidationError, settings: Mapping[str, Any]) -> str:
        """Each wrong setting of ``settings``: what was given and what was expected."""
        messages = []
        for wrong in error.errors(include_url=False):
            name = str(wrong["loc"][0]) if wrong["loc"] else ""
            if wrong["type"] == "value_error":  # from a validator with its own message
                messages.append(str(wrong["ctx"]["error"]))
            elif wrong["type"] == "extra_forbidden":
                messages.append(f"unknown setting {brief(name)}: {nearest(name, cls.names())}")
            else:
                messages.append(f"{name} = {brief(settings[name])}: expected {cls.expected_of(name)}")
        return "; ".join(dict.fromkeys(messages))  # once per name, however many errors its value has


def nearest(unknown: str, names: Iterable[str]) -> str:
    """A suggestion for the name of an ``unknown`` setting."""
    names = list(names)
    near = difflib.get_close_matches(unknown, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"the settings are {', '.join(names)}"


def _plain(value: Any) -> Any:
    if isinstance(value, Settings):
        return value.as_dict()
    return list(value) if isinstance(value, tuple) else value


def _expected(kind: Any, metadata: Sequence[Any]) -> str:
    """The values of the type ``kind`` within the bounds of ``metadata``, in words."""
    if get_origin(kind) is Annotated:
        kind, *own = get_args(kind)
        metadata = [*own, *metadata]
    if kind == get_args(Workers)[0]:
        return f"an integer from 1 to {MAX_WORKERS}, or auto"
    low, high = _bound(metadata, "ge", "min_length"), _bound(metadata, "le", "max_length")
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if get_origin(kind) in (Union, UnionType):  # None: not set
        kinds = [one for one in get_args(kind) if one is not NoneType]
        return " or ".join(_expected(one, metadata) for one in kinds)
    if get_origin(kind) is tuple:
        length = "" if high is None else f"{low} to {high} "
        return f"a list of {length}values, each {_expected(get_args(kind)[0], ())}"
    if get_origin(kind) is dict:
        if get_args(kind)[1] is Any:
            return "a mapping of names to values, such as {num_players: 3}"
        return f"a mapping of texts to values, each {_expected(get_args(kind)[1], ())}"
    if kind is int:
        return f"an integer from {low} to {_LARGE.get(high, high)}"
    if kind is float and high is None:
        return "a number above 0" if low is None else f"a number of {low} or more"
    return {float: f"a number from {low} to {high}", bool: "true or false", str: "a text"}[kind]


def _bound(metadata: Sequence[Any], *names: str) -> Any:
    """The bound that has one of ``names``, None if there is none."""
    entries = [
        part for entry in metadata for part in (entry.metadata if isinstance(entry, FieldInfo) else [entry])
    ]
    found = [getattr(entry, name) for entry in entries for name in names if hasattr(entry, name)]
    return found[0] if found else None
