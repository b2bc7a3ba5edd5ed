"""Agents whose specs hold settings: ``NAME``, or ``NAME:`` and comma-separated settings ``name=value`` and presets.

A comma separates only if it is followed by ``name=`` of a setting of this agent, or by a preset and another comma or
the end. So the value of ``policy`` may be a spec with commas of its own:

    search:policy=pimc:samples=8,budget=1s     policy "pimc:samples=8", budget 1 second

A preset stands for its settings; an explicit setting overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from catbox_agents.option_text import parse_value
from catbox_env.core.checks import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    short_repr,
    suggestion,
)

#: The largest value of an integer setting.
LARGEST = 2**31 - 1

#: Ends the message about an unknown setting of an agent that asks a server.
KEY_HINT = "; a key is read from the environment variable OPENAI_API_KEY alone"

#: From the name and the text of a setting to its value. Raises ``ValueError`` for an invalid value.
Reader = Callable[[str, str], Any]


@dataclass(frozen=True)
class Configured:
    """An agent with settings, which docs/search.md and docs/language_models.md describe.

    Attributes: ``made_by``: its class, ``"module:Class"``, called as ``Class(game, seed, **settings)``; ``settings``
    and ``presets`` by name; ``required``: the setting that it cannot do without, "": none; ``asks_server``: whether it
    sends what it sees, and a key, to a server that the spec may name. Errors do not repeat the values of such a spec:
    the key may be among them by mistake.
    """

    made_by: str
    settings: Mapping[str, Reader]
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: str = ""
    asks_server: bool = False


def read_count(name: str, text: str) -> int:
    return check_integer(name, parse_value(text), 1, LARGEST)


def read_count_or_0(name: str, text: str) -> int:
    return check_integer(name, parse_value(text), 0, LARGEST)


def read_number(name: str, text: str) -> float:
    return check_number(name, parse_value(text), "a number of 0 or more")


def read_share(name: str, text: str) -> float:
    return check_number(name, parse_value(text), "a number from 0 to 1", high=1.0)


def read_seconds(name: str, text: str) -> float:
    unit = "ms" if text.endswith("ms") else "s"
    value = parse_value(text.removesuffix(unit)) if text.endswith(unit) else text
    seconds = check_number(name, value, "a time above 0, such as 100ms or 1.5s", above=True)
    return seconds / (1000 if unit == "ms" else 1)


def read_agent(name: str, text: str) -> str:
    if not text:
        raise ValueError(f"{name}='': expected the spec of an agent")
    return text


def read_text(name: str, text: str) -> str:
    if not text:
        raise ValueError(f"{name}='': expected a text")
    return text


def read_flag(name: str, text: str) -> bool:
    return check_flag(name, parse_value(text))


def read_one_of(*choices: str) -> Reader:
    return lambda name, text: str(check_choice(name, text, choices))


def read_address(name: str, text: str) -> str:
    """An address without anything that may be secret; the message does not repeat it."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or set(text) & set("@?#"):
        raise ValueError(
            f"{name}: expected http://HOST:PORT/PATH or https://..., without a user name, a query or a fragment"
        )
    return text


def read_fallback(name: str, text: str) -> str:
    if text == "forfeit":
        raise ValueError(f"{name}='forfeit' is now {name}='stop': the agent ends the run with an error")
    return str(check_choice(name, text, ("random", "heuristic", "stop")))


#: The agents with settings, by name: `catbox_agents.configured` fills it.
CONFIGURED: dict[str, Configured] = {}


def read_settings(spec: str) -> dict[str, Any]:
    """The settings, by name, of a spec for which `specs.is_configured` holds.

    Raises ``ValueError`` for unknown and repeated settings and for invalid values.
    """
    name, _, text = spec.strip().partition(":")
    kind = CONFIGURED[name]
    shown = repr(name) if kind.asks_server else short_repr(spec)
    if name == "search" and re.search(r"\bopponents\s*=", text):
        raise ValueError(f"agent {shown}: opponents= is now opponent_model=")
    names = "|".join(kind.settings)
    presets = "|".join(kind.presets) or "(?!)"
    parts = re.split(rf",(?=\s*(?:(?:{names})\s*=|(?:{presets})\s*(?:,|$)))", text)
    given: dict[str, Any] = {}
    preset: Mapping[str, Any] | None = None
    for part in parts if ":" in spec else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        misspelt = re.search(r",\s*([\w.-]+)\s*=", value)
        if misspelt and key in kind.settings and kind.settings[key] is not read_agent:
            key = misspelt[1]  # no setting, so the split above left it in the value
        if not equals and key in kind.presets:
            if preset is not None:
                raise ValueError(
                    f"agent {shown}: more than one preset; give one of {', '.join(kind.presets)}"
                )
            preset = kind.presets[key]
            continue
        if not equals or key not in kind.settings:
            known = [f"{setting}=..." for setting in kind.settings] + list(kind.presets)
            words = [*kind.settings, *kind.presets]
            if kind.asks_server and not equals:
                raise ValueError(f"agent {shown}: write {name}:model={key} for the model {key}")
            raise ValueError(
                f"agent {shown}: unknown setting {short_repr(key)}{suggestion(key, words)}; expected "
                f"{', '.join(known)}, separated by commas{KEY_HINT if kind.asks_server else ''}"
            )
        if key in given:
            raise ValueError(f"agent {shown}: {key} is given twice; give it once")
        try:
            given[key] = kind.settings[key](key, value)
        except ValueError as error:
            raise ValueError(f"agent {shown}: {error}") from None
    if kind.required and kind.required not in given:
        raise ValueError(
            f"agent {shown}: {kind.required} is missing; expected {name}:{kind.required}=NAME,..."
        )
    return {**(preset or {}), **given}


def specs_within(spec: str) -> dict[str, str]:
    """The agents in the settings of a spec for which `specs.is_configured` holds: setting -> spec. Errors as above."""
    settings = CONFIGURED[spec.strip().partition(":")[0]].settings
    given = read_settings(spec)
    return {name: value for name, value in given.items() if settings[name] is read_agent}


def complete_spec(incomplete: str) -> list[str]:
    """Completions of an incomplete spec of an agent with settings: its presets, and the settings not given yet."""
    name, colon, text = incomplete.partition(":")
    if name not in CONFIGURED or not colon:
        return []
    kind = CONFIGURED[name]
    before = incomplete[: len(incomplete) - len(re.split("[:,]", incomplete)[-1])]
    given = {part.partition("=")[0].strip() for part in text.split(",")[:-1]}
    words = [*kind.presets, *(f"{setting}=" for setting in kind.settings if setting not in given)]
    return [before + word for word in words]
