"""What settings name: the learning algorithms and the presets, and `load_config`, which puts settings together."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from catbox_agents.imports import is_class
from catbox_agents.specs import hand_written_agent, import_class, parse_spec
from catbox_agents.system.files import read_text
from catbox_env.core.checks import check_known, check_path, short_repr, unknown
from catbox_train.algorithm import Algorithm
from catbox_train.config import GAME_OPTION, TrainConfig, plain

#: Name -> class of the algorithm, "module:Class".
ALGORITHMS = {
    "ppo": "catbox_train.ppo:PPO",
    "dmc": "catbox_train.dmc:DMC",
    "exit": "catbox_train.exit:ExpertIteration",
}


def algorithm_class(name: str) -> type[Algorithm]:
    """The class of the algorithm ``name``: a key of ``ALGORITHMS``, or ``"package.module:Class"``.

    That module is imported, which runs its code. Raises ``ValueError`` if there is none.
    """
    if name not in ALGORITHMS and not is_class(name):
        raise ValueError(
            unknown("algorithm", name, ALGORITHMS, more=", or 'package.module:Class' for your own")
        )
    found = import_class(ALGORITHMS.get(name, name), "algorithm")
    if not issubclass(found, Algorithm):
        raise ValueError(
            f"algorithm = {short_repr(name)}: {found.__name__} is not a subclass of catbox_train.Algorithm; derive "
            "it from that class"
        )
    if missing := ", ".join(sorted(found.__abstractmethods__)):
        raise ValueError(f"algorithm = {short_repr(name)}: {found.__name__} does not define {missing}")
    if not (isinstance(found.Config, type) and issubclass(found.Config, TrainConfig)):
        raise ValueError(
            f"algorithm = {short_repr(name)}: {found.__name__}.Config is not a subclass of catbox_train.TrainConfig"
        )
    return found


def preset_names() -> list[str]:
    """Names of the presets."""
    return list(_presets())


def default_preset(game_id: str) -> str | None:
    """The first preset for a game, None if there is none."""
    return next((name for name, games in _presets().items() if game_id in games), None)


def load_config(
    preset: str | None = None,
    file: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    trust: bool = False,
) -> TrainConfig:
    """Build a configuration, of the class of its algorithm: defaults, then ``preset``, ``file``, ``overrides``.

    ``preset`` is one of `preset_names`, and has settings for each game; those of another algorithm than the chosen one
    are ignored. ``overrides``, a dict or a configuration of OmegaConf, maps names of settings to values.
    ``game_options.NAME`` sets one option of the game; those of later sources are merged into those of earlier ones. A
    game without a heuristic is evaluated against ``random`` alone unless a source names ``eval_opponents``.

    Raises ``ValueError`` for an unknown preset or setting, a wrong type or an invalid value, and, without ``trust``, if
    ``file`` names a class (``"package.module:Class"``) as the algorithm or an agent, because importing it runs its
    code, or an agent that asks a server (``"llm:..."``), which is sent a key; ``OSError`` for a file that
    cannot be read.
    """
    typed = plain({} if overrides is None else overrides)
    if not isinstance(typed, dict) or not all(isinstance(name, str) for name in typed):
        raise ValueError(
            f"overrides={short_repr(overrides)}: expected a mapping from names of settings to values"
        )
    written = {} if file is None else read_yaml(check_path("file", file))
    if file is not None and "algorithm" not in typed and not trust:  # before it is imported, for its settings
        algorithm = str(written.get("algorithm", "ppo"))
        _check_trust({"algorithm": [algorithm] if is_class(algorithm) else []}, file)
    settings = {**written, **typed}
    game_id = str(settings.get("game", TrainConfig.model_fields["game"].default))
    start: dict[str, Any] = {}
    if preset is not None:
        check_known("preset", preset, _presets())
        games = _presets()[preset]
        if game_id not in games:
            raise ValueError(
                f"preset {preset!r} is for {', '.join(games)}, not for {game_id!r}: leave it out"
            )
        start = {"game": game_id, **games[game_id]}
    kind = algorithm_class(str(settings.get("algorithm", "ppo"))).Config
    start = {name: value for name, value in start.items() if name in kind.model_fields}
    merged: dict[str, Any] = {"game_options": {}}
    for source in (start, written, typed):
        for name, value in source.items():
            if name == "game_options" and isinstance(value, Mapping):
                merged["game_options"] |= value
            elif name.startswith(GAME_OPTION):
                merged["game_options"][name.removeprefix(GAME_OPTION)] = value
            else:
                merged[name] = value
    if hand_written_agent(game_id) != "heuristic":
        merged.setdefault("eval_opponents", ["random"])
    config = kind(**merged)
    if file is not None and not trust:
        agents = {name: filter(_needs_trust, specs) for name, specs in config.agents().items()}
        named = {**agents, **config.code()}
        _check_trust({name: [*named[name]] for name in named if name in written and name not in typed}, file)
    return config


def read_yaml(file: Path) -> dict[str, Any]:
    """The mapping in a settings file. Raises ``ValueError`` for anything else, ``OSError`` if it cannot be read."""
    try:
        text = read_text(file)
    except OSError as error:
        raise type(error)(f"cannot read {file}: {error.strerror or error}; give a settings file") from error
    except ValueError as error:
        raise ValueError(f"{file} is not valid YAML: {error}") from error
    content = parse_yaml(str(file), text)
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise ValueError(f"{file}: expected lines 'setting: value', found {short_repr(content)}")
    return content


def parse_yaml(
    what: str, text: str, loader: type[yaml.BaseLoader | yaml.SafeLoader] = yaml.SafeLoader
) -> Any:
    """The value of the YAML ``text``, which may be a stranger's.

    Raises ``ValueError``, beginning with ``what``, for invalid YAML and too deep nesting, and for tags, anchors and
    aliases: a few aliases of aliases stand for gigabytes, and one inside its own anchor has no end.
    """
    try:
        events: Iterator[Any] = yaml.parse(text, loader)
        for event in events:
            name, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
            if name is not None or tag is not None:
                kind = "the alias *" if isinstance(event, yaml.AliasEvent) else "the anchor &"
                found = f"the tag {tag}" if name is None else f"{kind}{name}"
                raise yaml.MarkedYAMLError(f"write the value itself instead of {found}", event.start_mark)
        return yaml.load(text, loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{what} is not valid YAML: {' '.join(str(error).split())}") from error


def _needs_trust(spec: str) -> bool:
    try:
        return parse_spec(spec).needs_trust
    except ValueError:
        return False  # `TrainConfig.check_agents` says what is wrong with it


def _check_trust(named: Mapping[str, Sequence[str]], file: str | os.PathLike[str]) -> None:
    """Raise ``ValueError``, with nothing imported, if there is anything in ``named``: for each setting of ``file``, the
    code and the agents that run code or ask a server.

    The file may be untrusted: importing a module runs its code, and a server is sent a key.
    """
    found = [f"{name}: {spec}" for name, specs in named.items() for spec in specs]
    if found:
        raise ValueError(
            f"{file} names code that would run, or a server that would be sent your key: {', '.join(found)}. If you "
            "trust it, add --trust; otherwise remove it from the file"
        )


def _presets() -> dict[str, dict[str, dict[str, Any]]]:
    """Preset -> id of the game -> settings."""
    presets: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
        resources.files(__package__).joinpath("presets.yaml").read_text(encoding="utf-8")
    )
    return presets
