"""The reference pages of the site: signature and docstring of every public name that docs/api.md lists."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

API = Path(__file__).resolve().parent / "api.md"
#: Modules that need Ray, which pins another Gymnasium: they cannot be imported beside the others.
ON_RAY = ("catbox_agents.rllib", "catbox_train.ray")
WIDTH = 96


def public_names() -> dict[str, list[str]]:
    """Module -> its public names, from the table in docs/api.md."""
    section = API.read_text(encoding="utf-8").partition("\n## Public names\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", section, re.MULTILINE)
    return {module: re.findall(r"`(\w+)`", names) for module, names in rows}


def reference(package: str) -> str:
    """The page of ``package`` and its public modules."""
    parts = [f"# {package}"]
    for module, names in public_names().items():
        if module.partition(".")[0] != package:
            continue
        if module != package:
            parts.append(f"## {module}")
        if module in ON_RAY:
            listed = ", ".join(f"`{name}`" for name in names)
            parts.append(f"{listed}: see [Ray](../ray.md) and, where Ray is installed, `help({module})`.")
            continue
        home = importlib.import_module(module)
        for name in names:
            parts += entry(name, getattr(home, name), "###" if module != package else "##")
    return "\n\n".join(parts) + "\n"


def entry(name: str, value: Any, level: str) -> Iterator[str]:
    """A public name: heading, signature and docstring; of a class also its methods."""
    if inspect.ismodule(value):
        yield f"{level} {name}"
        yield f"The PettingZoo module of the game: [its page](../{name}.md)."
    elif inspect.isclass(value):
        yield f"{level} {name}"
        yield signature(f"class {name}", value)
        yield prose(inspect.getdoc(value) or "")
        for member, kind, _, held in inspect.classify_class_attrs(value):
            function: Any = getattr(held, "fget", held)
            module = getattr(inspect.unwrap(function), "__module__", None)
            if member.startswith("_") or not str(module).startswith("catbox_"):
                continue
            yield f"{level}# {name}.{member}"
            if kind != "property":
                yield signature(f"def {member}", getattr(value, member))
            yield prose(inspect.getdoc(held) or "")
    elif callable(value):
        yield f"{level} {name}"
        yield signature(f"def {name}", value)
        yield prose(inspect.getdoc(value) or "")
    else:
        yield f"{level} {name}"
        names = ", ".join(f"`{key!r}`" for key in value)
        yield f"A {type(value).__name__} with {'the keys ' if isinstance(value, dict) else ''}{names}."


class Words(str):
    """An annotation that is written as it stands in the source."""

    def __repr__(self) -> str:
        return str(self)


def signature(name: str, value: Any) -> str:
    """How it is called, as a block of code, a parameter a line where it is long."""
    try:
        given = inspect.signature(value)
    except ValueError:  # a class that only catbox makes
        return f"```python\n{name}\n```"

    def annotation(what: Any) -> Any:
        return Words(what) if isinstance(what, str) else what

    parameters = [
        parameter.replace(annotation=annotation(parameter.annotation))
        for parameter in given.parameters.values()
        if parameter.name != "self"
    ]
    returned = inspect.Signature.empty if name.startswith("class ") else annotation(given.return_annotation)
    short = name + str(inspect.Signature(parameters, return_annotation=returned))
    if len(short) > WIDTH:
        arrow = short.rpartition(") -> ")[2] if returned is not inspect.Signature.empty else ""
        lines, starred = [], False
        for parameter in parameters:
            if parameter.kind is parameter.KEYWORD_ONLY and not starred:
                lines.append("    *,")
            starred |= parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
            lines.append(f"    {parameter},")
        short = "\n".join([f"{name}(", *lines, f") -> {arrow}" if arrow else ")"])
    return f"```python\n{short}\n```"


def prose(docstring: str) -> str:
    """A docstring as Markdown: its sections (``Args:``) become lists."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", docstring).replace("``", "`")
    lines: list[str] = []
    in_section = False
    for line in text.splitlines():
        if re.match(r"(Args|Attributes|Returns|Raises|Yields)\b.*:$", line):
            lines += ["", f"**{line}**", ""]
            in_section = True
        elif in_section and (item := re.match(r" {4}(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)", line)):
            lines.append(f"- `{item[1]}`: {item[2]}")
        elif in_section and line.startswith("    "):
            lines.append("    " + line.strip())
        else:
            in_section = in_section and not line.strip()
            lines.append(line)
    return "\n".join(lines)
