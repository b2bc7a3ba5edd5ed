"""Agents whose specs hold settings: ``NAME``, or ``NAME:`` and settings ``name=value`` or presets, between commas.

A comma separates only where ``name=`` of a setting of this agent, or a preset and the end or another comma, follows.
So the value of ``policy`` may be a spec with commas of its own:

    search:policy=pimc:samples=8,budget=1s     policy "pimc:samples=8", budget 1 second

A preset stands for its settings; a setting that is given beside it counts instead of the preset's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from catbox_env.core.checks import brief, closest, is_integer
from catbox_env.core.options import parse_value

#: Of a setting that is a number of things.
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Setting:
    """A setting of an agent.

    Attributes: ``expected``: what may stand there; ``allows``: whether that is so, of its value as the grammar of
    options reads it (`catbox_env.core.options`); ``doc``: what it means.
    """

    expected: str
    allows: Callable[[Any], bool]
    doc: str


@dataclass(frozen=True)
class Configured:
    """An agent with settings.

    Attributes: ``made_by``: its class, ``"module:Class"``, called as ``Class(game, seed, **settings)``; ``settings``
    and ``presets`` by name.
    """

    made_by: str
    settings: Mapping[str, Setting]
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(doc: str) -> Setting:
    return Setting(
        f"an integer from 1 to {LARGEST}", lambda value: is_integer(value) and 1 <= value <= LARGEST, doc
    )


def _number(doc: str) -> Setting:
    return Setting("a number of 0 or more", lambda value: _is_number(value) and value >= 0, doc)


def _share(doc: str) -> Setting:
    return Setting("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1, doc)


#: What is expected of a time, and of the spec of an agent; these are not read as other values are.
_TIME, _SPEC = "a time above 0, such as 100ms or 1.5s", "the spec of an agent"


def _agent(doc: str) -> Setting:
    return Setting(_SPEC, bool, doc)


def _read(setting: Setting, text: str) -> Any:
    """The value that ``text`` stands for. Raises ``ValueError``, of no words, where the setting does not allow it."""
    value: Any = text
    if setting.expected == _TIME:
        number, unit, rest = text.partition("ms" if text.endswith("ms") else "s")
        value = parse_value(number) if unit and not rest else text
        if unit and _is_number(value):
            value = float(value) / (1000 if unit == "ms" else 1)
    elif setting.expected != _SPEC:
        value = parse_value(text)
    if not setting.allows(value):
        raise ValueError
    return value


_POLICY = _agent("the agent that plays the rollouts; by default the heuristic, where the game has one")

#: The agents with settings, by name.
CONFIGURED: dict[str, Configured] = {
    "search": Configured(
        "catbox_agents.search.agents:SearchAgent",
        {
            "worlds": _count(
                "worlds sampled for a decision, at most; 128 where no budget is given, else no bound"
            ),
            "policy": _POLICY,
            "opponents": _agent("a second policy that each of the other seats may follow"),
            "caution": _number(
                "by how many standard errors an action must be better to be done instead of the policy's own"
            ),
            "budget": Setting(_TIME, lambda value: _is_number(value) and value > 0, "time for a decision"),
            "beta": _share("power of the likelihood that weights the worlds; 0: all alike"),
            "effective": _share(
                "the power is lowered until the effective number of worlds is this share of those that are tried"
            ),
            "proposals": _count("worlds sampled and weighted for each one that is tried; default 8"),
            "epsilon": _share("how often other seats are taken to play at random"),
        },
        {"fast": {"budget": 0.02}, "normal": {"budget": 0.1}, "deep": {"budget": 1.0}},
    ),
    "ismcts": Configured(
        "catbox_agents.search.agents:ISMCTSAgent",
        {
            "simulations": _count("simulations for a decision; default 1000"),
            "policy": _POLICY,
            "exploration": _number("weight of actions that were tried seldom"),
            "parallel": _count("simulations of a tree that run side by side; default 16"),
        },
    ),
    "pimc": Configured(
        "catbox_agents.search.agents:PIMCAgent",
        {"samples": _count("worlds in which each action is tried; default 64"), "policy": _POLICY},
    ),
}


def is_configured(spec: str) -> bool:
    """Whether ``spec`` begins with the name of an agent with settings."""
    return spec.strip().partition(":")[0] in CONFIGURED


def read_settings(spec: str) -> dict[str, Any]:
    """The settings of a spec, by name, for which `is_configured` holds.

    Raises ``ValueError`` for unknown and repeated settings and for values that are not possible.
    """
    name, colon, text = spec.strip().partition(":")
    kind = CONFIGURED[name]
    if not colon:
        return {}
    names = "|".join(kind.settings)
    presets = "|".join(kind.presets) or "(?!)"
    parts = re.split(rf",(?=\s*(?:(?:{names})\s*=|(?:{presets})\s*(?:,|$)))", text)
    given: dict[str, Any] = {}
    preset: Mapping[str, Any] | None = None
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and key in kind.presets:
            if preset is not None:
                raise ValueError(
                    f"agent {brief(spec)}: more than one preset; give one of {', '.join(kind.presets)}"
                )
            preset = kind.presets[key]
            continue
        if not equals or key not in kind.settings:
            known = [f"{setting}=..." for setting in kind.settings] + list(kind.presets)
            words = [*kind.settings, *kind.presets]
            raise ValueError(
                f"agent {brief(spec)}: unknown setting {brief(key)}{closest(key, words)}; expected "
                f"{', '.join(known)}, between commas"
            )
        if key in given:
            raise ValueError(f"agent {brief(spec)}: {key} is given twice; give it once")
        setting = kind.settings[key]
        try:
            given[key] = _read(setting, value)
        except (ValueError, OverflowError):
            raise ValueError(
                f"agent {brief(spec)}: {key}={brief(value)}; expected {setting.expected}"
            ) from None
    return {**(preset or {}), **given}


def specs_within(spec: str) -> dict[str, str]:
    """The agents in the settings of a spec for which `is_configured` holds: setting -> spec. Errors as above."""
    settings = CONFIGURED[spec.strip().partition(":")[0]].settings
    given = read_settings(spec)
    return {name: value for name, value in given.items() if settings[name].expected == _SPEC}


def complete_spec(incomplete: str) -> list[str]:
    """How an incomplete spec of an agent with settings can go on: its presets, and the settings not given yet."""
    name, colon, text = incomplete.partition(":")
    if name not in CONFIGURED or not colon:
        return []
    kind = CONFIGURED[name]
    before = incomplete[: len(incomplete) - len(re.split("[:,]", incomplete)[-1])]
    given = {part.partition("=")[0].strip() for part in text.split(",")[:-1]}
    words = [*kind.presets, *(f"{setting}=" for setting in kind.settings if setting not in given)]
    return [before + word for word in words]
