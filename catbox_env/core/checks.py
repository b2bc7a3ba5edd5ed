"""Argument checks. Each returns the value as a plain type, or raises an error that says what was expected."""

from __future__ import annotations

import difflib
import math
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np

Deal = TypeVar("Deal")

#: Instead of a seat: a viewer who sees only what everybody sees.
PUBLIC = -1


def short_repr(value: Any) -> str:
    """``value`` for a message: its ``repr``, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}... ({len(text)} characters)"


def suggestion(given: str, names: Sequence[str]) -> str:
    """A suggestion to end a message about an unknown name: the closest of ``names``; empty if none is close.

    Those that ``given`` abbreviates come first: it begins them, or is the initials of their words.
    """
    short = [name for name in names if given and (name.startswith(given) or given == _initials(name))]
    close = sorted(short, key=len)[:3] or difflib.get_close_matches(given, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def unknown(what: str, given: Any, names: Iterable[str], of: str = "", more: str = "") -> str:
    """The message about an unknown name: what was ``given``, the closest of ``names``, and all of them, or if there are
    more than 20 and some are close, these alone.

    ``what``: a setting, an agent, ...; ``of``: what has such names; ``more``: what else is expected. What follows a
    colon in ``given`` is not part of the name.
    """
    known = list(names)
    near = suggestion(given.partition(":")[0], known) if isinstance(given, str) else ""
    expected = "" if near and len(known) > 20 else f"; expected one of {', '.join(known)}{more}"
    return f"unknown {what} {short_repr(given)}{f' of {of}' if of else ''}{near}{expected}"


def check_known(what: str, given: Any, names: Iterable[str], of: str = "", more: str = "") -> None:
    """Raise ``ValueError`` unless ``given`` is one of ``names``; arguments as in `unknown`."""
    known = list(names)
    if not isinstance(given, str) or given not in known:
        raise ValueError(unknown(what, given, known, of, more))


def _initials(name: str) -> str:
    return "".join(word[:1] for word in name.split("_"))


def as_array(name: str, value: Any) -> np.ndarray:
    """``value`` as an array. Raises ``ValueError`` for ragged nested sequences."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name}={short_repr(value)}: expected an array of one shape ({error})") from None


def check_integers(
    name: str, value: Any, shape: tuple[int | None, ...], low: int | None = None, high: int | None = None
) -> np.ndarray:
    """``value`` as an array. Raises ``ValueError`` unless it has this shape, where None is any length, and holds
    integers, within ``low`` to ``high`` if given."""
    given = as_array(name, value)
    fits = given.shape == shape or (
        given.ndim == len(shape)
        and all(length in (None, own) for length, own in zip(shape, given.shape, strict=True))
    )
    fits = fits and given.dtype.kind in "iu"
    if not fits or (low is not None and not ((given >= low) & (given <= high)).all()):
        bounds = "" if low is None else f" from {low} to {high}"
        expected = str(tuple("M" if length is None else length for length in shape)).replace("'", "")
        raise ValueError(f"{name}={short_repr(value)}: expected integers{bounds} of shape {expected}")
    return given


def is_array(value: Any, shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether ``value`` is an array of this shape and dtype."""
    return isinstance(value, np.ndarray) and value.shape == shape and value.dtype == dtype


def is_integer(value: Any) -> TypeGuard[int]:
    """Whether ``value`` is a Python or NumPy integer; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_literal(value: Any, word: str) -> bool:
    """Whether ``value`` is the string ``word``; an array is not compared element by element."""
    return isinstance(value, str) and value == word


def check_integer(name: str, value: Any, low: int, high: int | None = None, more: str = "") -> int:
    """``value`` as an int. Raises ``ValueError`` unless it is an integer from ``low`` to ``high`` (None: no bound).

    ``more`` is added to the message: what else is expected.
    """
    if not is_integer(value) or value < low or (high is not None and value > high):
        bound = f"an integer from {low} to {high}" if high is not None else f"an integer of {low} or more"
        raise ValueError(f"{name}={short_repr(value)}: expected {bound}{more}")
    return int(value)


def check_integer_field(record: Any, name: str, low: int, high: int | None = None, more: str = "") -> int:
    """The field ``name`` of a frozen dataclass, checked by ``check_integer`` and stored as an int."""
    value = check_integer(name, getattr(record, name), low, high, more)
    object.__setattr__(record, name, value)
    return value


def check_number(
    name: str, value: Any, expected: str, low: float = 0.0, high: float = math.inf, *, above: bool = False
) -> float:
    """``value`` as a float. Raises ``ValueError`` unless it is a finite number from ``low`` to ``high``.

    ``above``: reject ``low`` itself too. ``expected`` describes the valid values in the message.
    """
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:  # an integer too large for a float
        number = math.inf
    if not (math.isfinite(number) and low <= number <= high) or (above and number == low):
        raise ValueError(f"{name}={short_repr(value)}: expected {expected}")
    return number


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> Any:
    """``value`` itself. Raises ``ValueError`` unless it is one of ``choices``."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        near = suggestion(value, [choice for choice in choices if choice]) if isinstance(value, str) else ""
        raise ValueError(f"{name}={short_repr(value)}: expected one of {', '.join(map(repr, choices))}{near}")
    return value


def check_instance(name: str, value: Any, kind: Any, expected: str) -> Any:
    """``value`` itself. Raises ``ValueError`` unless it is a ``kind``, which ``expected`` puts into words."""
    if not isinstance(value, kind):
        raise ValueError(f"{name}={short_repr(value)}: expected {expected}")
    return value


def check_path(name: str, value: Any) -> Path:
    """``value`` as a path. Raises ``ValueError`` unless it is one or text."""
    return Path(check_instance(name, value, str | os.PathLike, "a path"))


def check_flag(name: str, value: Any) -> bool:
    """``value`` as a bool. Raises ``ValueError`` unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={short_repr(value)}: expected True or False")
    return bool(value)


def check_seat(name: str, value: Any, num_players: int) -> int:
    """``value`` as an int. Raises ``ValueError`` unless it is a seat, 0 .. ``num_players - 1``."""
    if not is_integer(value) or not 0 <= value < num_players:
        raise ValueError(
            f"{name}={short_repr(value)}: expected a seat, an integer from 0 to {num_players - 1}"
        )
    return int(value)


def check_viewer(value: Any, num_players: int) -> int | None:
    """``value``, who looks at a game: a seat, None (sees everything) or ``PUBLIC``. Raises ``ValueError``."""
    if value is None or (is_integer(value) and value == PUBLIC):
        return value
    return check_seat("seat", value, num_players)


def hands_seen(viewer: int | None, num_players: int) -> Sequence[int]:
    """The seats whose hands ``viewer`` (as for `check_viewer`) sees before they are revealed."""
    if viewer is None:
        return range(num_players)
    return () if viewer == PUBLIC else (viewer,)


def check_action(value: Any, num_actions: int) -> int:
    """``value`` as an int. Raises ``ValueError`` unless it is an integer in ``0 .. num_actions - 1``."""
    try:
        chosen = -1 if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        chosen = -1
    if not 0 <= chosen < num_actions:
        raise ValueError(f"action {short_repr(value)}: expected an integer from 0 to {num_actions - 1}")
    return chosen


def as_deal(deal: Any, deal_class: type[Deal]) -> Deal:
    """``deal``, a ``deal_class`` or a mapping with its fields. Raises ``ValueError`` for anything else."""
    if isinstance(deal, Mapping):
        with suppress(TypeError):  # a field without a value, or a key that is no field
            return deal_class(**deal)
    if not isinstance(deal, deal_class):
        names = ", ".join(field.name for field in fields(deal_class))  # type: ignore[arg-type]  # a dataclass
        raise ValueError(f"deal={short_repr(deal)}: expected Deal({names}) or a dict with these keys")
    return deal


def is_sequence(value: Any) -> bool:
    """Whether ``value`` is a sequence or an array with items; text is none."""
    listed = value.ndim > 0 if isinstance(value, np.ndarray) else isinstance(value, Sequence)
    return listed and not isinstance(value, str | bytes)


def check_list(name: str, value: Any, items: str) -> Any:
    """``value`` itself. Raises ``ValueError`` unless it is a sequence; ``items`` says of what."""
    if not is_sequence(value):
        raise ValueError(f"{name}={short_repr(value)}: expected a sequence of {items}")
    return value


def check_sequence(what: str, value: Any, items: str) -> None:
    """Raise ``ValueError`` unless ``value``, (an item of) the part ``what`` of a deal, is a sequence of ``items``."""
    if not is_sequence(value):
        raise ValueError(f"deal: {short_repr(value)} in {what}; expected a sequence of {items}")


def check_sequences(what: str, value: Any, items: str) -> None:
    """Raise ``ValueError`` unless ``value``, the part ``what`` of a deal, is a sequence of sequences of ``items``."""
    check_sequence(what, value, f"sequences of {items}")
    for given in value:
        check_sequence(what, given, items)
