"""Values as text: options of games, and the settings in the specs of agents.

The grammar is the same on the command line, in settings files and in specs:

| text | value |
|---|---|
| ``7``, ``2_000_000``, ``0x10``, ``5e-4`` | a number |
| ``true``, ``yes``, ``on``; ``false``, ``no``, ``off``; ``none``, ``null`` | True; False; None |
| ``1,3,4`` or ``[1, 3, 4]``; ``1,`` or ``[1]``; empty text or ``[]`` | a list of these |
| anything else | the text itself |

The spec of an agent with settings is ``NAME``, or ``NAME:`` and comma-separated settings ``name=value`` and presets. A
comma separates only if it is followed by ``name=`` of a setting of this agent, or by a preset and another comma or the
end. So the value of ``policy`` may be a spec with commas of its own:

    search:policy=pimc:samples=8,budget=1s     policy "pimc:samples=8", budget 1 second

A preset stands for its settings; an explicit setting overrides it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from catbox_env.core.checks import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    short_repr,
    unknown,
)
from catbox_env.registry import GAMES, game_class

#: The largest value of an integer setting.
LARGEST = 2**31 - 1

#: Ends the message about an unknown setting of an agent that asks a server.
KEY_HINT = "; a key is read from the environment variable OPENAI_API_KEY alone"

#: From the name and the text of a setting to its value. Raises ``ValueError`` for an invalid value.
Reader = Callable[[str, str], Any]

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("none", "null"), None),
}


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


def parse_value(text: str) -> Any:
    """The value that ``text`` stands for (see the table above). Never raises: other text stays text."""
    text = text.strip()
    has_brackets = text[:1] + text[-1:] in ("[]", "()")
    listed = text[1:-1] if has_brackets else text
    if text and not has_brackets and "," not in text:
        return _number_or_word(text)
    items = [item.strip() for item in listed.split(",")]
    return [_number_or_word(item) for item in (items if items[-1] else items[:-1])]


def _number_or_word(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if re.match("[-+]?0[0-9]", text):  # octal in YAML, decimal to most people
        return text
    for read in (int, float, lambda digits: int(digits, 0)):
        try:
            number: float = read(text)
        except ValueError:
            continue
        return text if number in (math.inf, -math.inf) or number != number else number
    return text


def read_options(game_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """``options`` of ``make_game``, possibly given as text, as values.

    A single value for a rule that takes several becomes a list of one. The values are not checked: ``make_game`` does
    that. The options of an unknown game are only parsed. Raises ``ValueError`` for ``rules``, which cannot be text.
    """
    several = set()
    if isinstance(game_id, str) and game_id in GAMES:
        rules = fields(game_class(game_id).rules_class)
        if "rules" in options:
            raise ValueError(
                unknown("option", "rules", ["reward", *(field.name for field in rules)], game_id)
            )
        several = {field.name for field in rules if str(field.type).startswith("tuple")}
    read = {name: _read(value) for name, value in options.items()}
    alone = {name for name in several & read.keys() if not isinstance(read[name], list | None)}
    return read | {name: [read[name]] for name in alone}


def _read(value: Any) -> Any:
    """``value`` with every text in it parsed, and with lists for tuples."""
    if isinstance(value, str):
        return parse_value(value)
    return [_read(item) for item in value] if isinstance(value, list | tuple) else value


def integer(low: int) -> Reader:
    """What reads an integer from ``low`` to `LARGEST`."""
    return lambda name, text: check_integer(name, parse_value(text), low, LARGEST)


def number(expected: str = "a number of 0 or more", high: float = math.inf) -> Reader:
    """What reads a number from 0 to ``high``; ``expected`` says so in errors."""
    return lambda name, text: check_number(name, parse_value(text), expected, high=high)


def share() -> Reader:
    """What reads a number from 0 to 1."""
    return number("a number from 0 to 1", 1.0)


def flag() -> Reader:
    """What reads True or False."""
    return lambda name, text: check_flag(name, parse_value(text))


def one_of(*choices: str) -> Reader:
    """What reads one of ``choices``."""
    return lambda name, text: str(check_choice(name, text, choices))


def seconds(name: str, text: str) -> float:
    """Read a time, such as 100ms or 1.5s, in seconds."""
    unit = "ms" if text.endswith("ms") else "s"
    value = parse_value(text.removesuffix(unit)) if text.endswith(unit) else text
    time = check_number(name, value, "a time above 0, such as 100ms or 1.5s", above=True)
    return time / (1000 if unit == "ms" else 1)


def words(name: str, text: str) -> str:
    """Read a text that is not empty."""
    if not text:
        raise ValueError(f"{name}='': expected a text")
    return text


def agent_spec(name: str, text: str) -> str:
    """Read the spec of an agent."""
    if not text:
        raise ValueError(f"{name}='': expected the spec of an agent")
    return text


def address(name: str, text: str) -> str:
    """Read an address without anything that may be secret; the error does not repeat it."""
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


#: The agents with settings that come with catbox, by name: docs/search.md, docs/language_models.md. Their classes are
#: names, because some of these agents make others by `catbox_agents.specs`, which imports this module.
CONFIGURED: dict[str, Configured] = {
    "search": Configured(
        "catbox_agents.search.agents:SearchAgent",
        {
            "worlds": integer(1),
            "policy": agent_spec,
            "opponent_model": agent_spec,
            "caution": number(),
            "depth": integer(0),
            "budget": seconds,
            "beta": share(),
            "effective": share(),
            "proposals": integer(1),
            "epsilon": share(),
        },
        {"fast": {"budget": 0.02}, "normal": {"budget": 0.1}, "deep": {"budget": 1.0}},
    ),
    "ismcts": Configured(
        "catbox_agents.search.agents:ISMCTSAgent",
        {"simulations": integer(1), "policy": agent_spec, "exploration": number(), "parallel": integer(1)},
    ),
    "pimc": Configured(
        "catbox_agents.search.agents:PIMCAgent", {"samples": integer(1), "policy": agent_spec}
    ),
    "llm": Configured(
        "catbox_agents.text.llm_agent:LLMAgent",
        {
            "model": words,
            "base_url": address,
            "form": one_of("long", "short"),
            "history": flag(),
            "list_actions": flag(),
            "temperature": number(),
            "max_completion_tokens": integer(1),
            "repairs": integer(0),
            "fallback": one_of("random", "heuristic", "stop"),
            "timeout": seconds,
            "max_retries": integer(0),
            "parallel": integer(1),
            "input_price": number(),
            "output_price": number(),
            "log": words,
        },
        required="model",
        asks_server=True,
    ),
}


def read_settings(spec: str) -> dict[str, Any]:
    """The settings, by name, of the spec of an agent with settings.

    Raises ``ValueError`` for unknown and repeated settings and for invalid values.
    """
    name, _, text = spec.strip().partition(":")
    kind = CONFIGURED[name]
    try:
        return _settings(name, kind, text if ":" in spec else None)
    except ValueError as error:
        shown = repr(name) if kind.asks_server else short_repr(spec)
        raise ValueError(f"agent {shown}: {error}") from None


def _settings(name: str, kind: Configured, text: str | None) -> dict[str, Any]:
    """The settings in ``text``, which follows the ``name`` of the agent; None: there is no colon after it."""
    names = "|".join(kind.settings)
    presets = "|".join(kind.presets) or "(?!)"
    separator = rf",(?=\s*(?:(?:{names})\s*=|(?:{presets})\s*(?:,|$)))"
    given: dict[str, Any] = {}
    preset: Mapping[str, Any] | None = None
    for part in [] if text is None else re.split(separator, text):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        misspelt = re.search(r",\s*([\w.-]+)\s*=", value)
        if misspelt and key in kind.settings and kind.settings[key] is not agent_spec:
            key = misspelt[1]  # no setting, so the split above left it in the value
        if not equals and key in kind.presets:
            if preset is not None:
                raise ValueError(f"more than one preset; give one of {', '.join(kind.presets)}")
            preset = kind.presets[key]
            continue
        if kind.asks_server and not equals:
            raise ValueError(f"write {name}:model={key} for the model {key}")
        if key not in kind.settings:
            more = f", separated by commas{KEY_HINT if kind.asks_server else ''}"
            raise ValueError(unknown("setting", key, [*kind.settings, *kind.presets], more=more))
        if not equals:
            raise ValueError(f"{key} has no value; expected {key}=VALUE")
        if key in given:
            raise ValueError(f"{key} is given twice; give it once")
        given[key] = kind.settings[key](key, value)
    if kind.required and kind.required not in given:
        raise ValueError(f"{kind.required} is missing; expected {name}:{kind.required}=NAME,...")
    return {**(preset or {}), **given}


def specs_within(spec: str) -> dict[str, str]:
    """The agents in the settings of the spec of an agent with settings: setting -> spec. Errors as above."""
    settings = CONFIGURED[spec.strip().partition(":")[0]].settings
    given = read_settings(spec)
    return {name: value for name, value in given.items() if settings[name] is agent_spec}


def complete_spec(incomplete: str) -> list[str]:
    """Completions of an incomplete spec of an agent with settings: its presets, and the settings not given yet."""
    name, colon, text = incomplete.partition(":")
    if name not in CONFIGURED or not colon:
        return []
    kind = CONFIGURED[name]
    before = incomplete[: len(incomplete) - len(re.split("[:,]", incomplete)[-1])]
    given = {part.partition("=")[0].strip() for part in text.split(",")[:-1]}
    ends = [*kind.presets, *(f"{setting}=" for setting in kind.settings if setting not in given)]
    return [before + end for end in ends]
