"""Settings as YAML: its lists, mappings and quotes; scalars follow the grammar of ``catbox_agents.option_text``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from catbox_agents.files import read_text
from catbox_agents.option_text import QuotedText, parse_value


class _Loader(yaml.BaseLoader):
    """Keeps every scalar as text, to be parsed like that of the command line; quoted text is a ``QuotedText``.

    Rejects aliases, because a few lines of them can expand to gigabytes, and tags, which would change how text is
    parsed.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()
        mark: Any = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            problem = "aliases (*name) are not supported: write out the value"
            raise ConstructorError(None, None, problem, mark)
        if getattr(event, "tag", None) is not None:
            raise ConstructorError(None, None, f"tags ({event.tag}) are not supported: leave it out", mark)
        return super().compose_node(parent, index)

    def construct_scalar(self, node: yaml.ScalarNode) -> str:
        text = super().construct_scalar(node)
        return text if node.style is None else QuotedText(text)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                problem = "the name of a setting is a list or a mapping; expected a text"
                raise ConstructorError(None, None, problem, key_node.start_mark)
            if key_node.value in mapping:
                problem = f"{key_node.value!r} was given before; give it once"
                raise ConstructorError(None, None, problem, key_node.start_mark)
            mapping[key_node.value] = self.construct_object(value_node, deep=deep)
        return mapping


class _Dumper(yaml.SafeDumper):
    """Writes no aliases, and quotes each text that would be parsed as another value."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = None if parse_value(text) == text else "'"
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_text)


def read_yaml(text: str) -> Any:
    """The content of ``text``: mappings, lists and texts. Raises ``yaml.YAMLError``."""
    return yaml.load(text, _Loader)


def to_yaml(settings: Mapping[str, Any]) -> str:
    """``settings`` as a file that reads back as the same values."""
    return yaml.dump(settings, Dumper=_Dumper, sort_keys=False)


def read_settings(file: Path) -> dict[str, Any]:
    """The mapping in a settings file. Raises ``ValueError`` for anything else, ``OSError`` if it cannot be read."""
    try:
        content = read_yaml(read_text(file))
    except OSError as error:
        raise type(error)(f"cannot read {file}: {error.strerror or error}; give a settings file") from error
    except yaml.MarkedYAMLError as error:
        place = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        what = "" if isinstance(error, ConstructorError) else "not valid YAML, "
        problem = " ".join(", ".join(filter(None, (error.context, error.problem))).split())
        raise ValueError(f"{file}{place}: {what}{problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{file} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file}: expected lines 'setting: value', found {type(content).__name__}")
    return content
