"""The zoo: trained agents that come with catbox, one for each common rule set.

In this folder, for each agent, ``NAME.safetensors`` is its policy and ``NAME.md`` its card: the rules, its training and
its results. ``index.json`` says which game each one plays:

    {"format": "catbox-zoo-1",
     "agents": {"cat_in_the_box-3p": {"game": "cat_in_the_box_v0", "options": {...}, "sha256": "..."}}}
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catbox_agents.adaptation import adaptation
from catbox_agents.agent import other_rules
from catbox_agents.system.files import check_format, parse_json, read_text
from catbox_env import Game, make_game
from catbox_env.core.checks import unknown

FOLDER = Path(__file__).parent
INDEX = "index.json"
FORMAT = "catbox-zoo-1"
#: The prefix of the specs of the zoo's agents.
PREFIX = "zoo:"
_REINSTALL = "restore it: in a clone with git restore agents/catbox_agents/zoo, else install catbox again"


@dataclass(frozen=True)
class ZooAgent:
    """An agent of the zoo.

    Attributes: ``name``; ``game_id`` and ``options`` of the game it was trained for; ``sha256`` of its file, in hex.
    """

    name: str
    game_id: str
    options: dict[str, Any]
    sha256: str

    @property
    def spec(self) -> str:
        """What `catbox_agents.make` takes."""
        return PREFIX + self.name

    @property
    def path(self) -> Path:
        """The file of its policy."""
        return FOLDER / f"{self.name}.safetensors"

    @property
    def card(self) -> Path:
        """The Markdown page about it."""
        return FOLDER / f"{self.name}.md"

    @functools.cached_property
    def game(self) -> Game:
        """The game it was trained for."""
        return make_game(self.game_id, **self.options)

    def plays(self, game: Game) -> bool:
        """Whether it can play ``game``: its own rules, with any reward, or rules that are part of them."""
        return self.is_trained_for(game) or (
            game.id == self.game_id and adaptation(self.game, game) is not None
        )

    def is_trained_for(self, game: Game) -> bool:
        """Whether ``game`` has the rules that it was trained for, with any reward."""
        return game.id == self.game_id and not other_rules(self.game, game)

    def check(self) -> None:
        """Raise ``ValueError`` unless the policy file exists and matches the checksum in the index."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise ValueError(
                f"{self.spec}: {self.path} cannot be read ({error.strerror or error}); {_REINSTALL}"
            ) from None
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise ValueError(
                f"{self.spec}: {self.path} is damaged (its checksum does not match); {_REINSTALL}"
            )


def zoo_agents(game: Game | None = None) -> list[ZooAgent]:
    """The agents of the zoo; with ``game`` given, those that can play it, the ones trained for its rules first."""
    agents = _agents()
    if game is None:
        return list(agents)
    fitting = [agent for agent in agents if agent.plays(game)]
    return sorted(fitting, key=lambda agent: not agent.is_trained_for(game))


def zoo_agent(spec: str, game: Game | None = None) -> ZooAgent:
    """The agent ``zoo:NAME``. Raises ``ValueError`` for an unknown name, and if it cannot play ``game``."""
    name = spec.removeprefix(PREFIX)
    agents = zoo_agents()
    found = next((agent for agent in agents if agent.name == name), None)
    if found is None:
        raise ValueError(unknown("agent", name, [agent.name for agent in agents], "the zoo"))
    if game is not None and not found.plays(game):
        others = [agent.spec for agent in agents if agent.plays(game)]
        remedy = f"use {others[0]}" if others else "the zoo has no agent for these rules: use 'best'"
        raise ValueError(f"{spec} was trained for {other_rules(found.game, game)}: {remedy}")
    return found


def _agents() -> Sequence[ZooAgent]:
    """The agents of this folder; read again when the index has changed."""
    file = FOLDER / INDEX
    try:
        stamp = file.stat()
    except OSError:
        return _index(file)  # its error says what to do
    return _read_once(file, stamp.st_mtime_ns, stamp.st_size)


@functools.lru_cache(maxsize=1)
def _read_once(file: Path, changed: int, size: int) -> Sequence[ZooAgent]:
    return _index(file)


def _index(file: Path) -> Sequence[ZooAgent]:
    """The agents of an index. Raises ``ValueError`` for a file that is missing or damaged."""
    what = f"the index of the zoo, {file},"
    try:
        content = parse_json(read_text(file))
    except (OSError, ValueError) as error:
        raise ValueError(f"{what} cannot be read ({error}); {_REINSTALL}") from error
    check_format(what, content.get("format") if isinstance(content, dict) else None, FORMAT, _REINSTALL)
    try:
        return tuple(
            ZooAgent(name, str(entry["game"]), dict(entry["options"]), str(entry["sha256"]))
            for name, entry in content["agents"].items()
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{what} is damaged ({error!r}); {_REINSTALL}") from error
