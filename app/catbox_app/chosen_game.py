"""Reads the options of a command: its game, which a trained agent may imply, and who plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import typer

import catbox_env
from catbox_agents.agent import same_option
from catbox_agents.features import facts
from catbox_agents.option_text import read_options
from catbox_agents.specs import adapted_from, trained_for
from catbox_app.rules import DEFAULT_GAME, REWARD
from catbox_env import Game
from catbox_env.core.registry import game_class


@dataclass(frozen=True)
class GameOptions:
    """What the options of a command say about its game.

    Attributes:
        game_id: None if none is given.
        rules: the rules that are given, as typed.
    """

    game_id: str | None = None
    rules: dict[str, Any] = field(default_factory=dict)


def choose_game(agents: Sequence[str], named: GameOptions) -> Game:
    """The game that the options of a command give. What they leave out comes from the first trained agent.

    Says, on standard error, which agents were trained for other rules and are adapted to these. Raises ValueError for a
    game that cannot be played, and if the file of an agent cannot be read.
    """
    implied_id, implied = implied_rules(agents)
    if named.game_id not in (None, implied_id):
        implied = {}
    game_id = named.game_id or implied_id or DEFAULT_GAME
    options = read_options(game_id, named.rules) if named.rules else {}
    if not _go_together(implied, options, game_id):
        implied = {}
    game = catbox_env.make_game(game_id, **{**implied, "reward": REWARD, **options})
    for agent in dict.fromkeys(agents):
        if rules := adapted_from(agent, game):
            typer.echo(f"catbox: {agent} was trained for {rules}; its policy is adapted.", err=True)
    return game


def implied_rules(agents: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
    """The game that the first trained agent was trained for, and its rules; None and {} without such an agent.

    Errors as in `choose_game`.
    """
    for agent in agents:
        found = trained_for(agent)
        if found is not None:
            game_id, options = found
            return game_id, {name: value for name, value in options.items() if name != "reward"}
    return None, {}


def _go_together(implied: dict[str, Any], options: dict[str, Any], game_id: str) -> bool:
    """Whether ``options`` keep the rules that a trained agent depends on.

    Otherwise the agent is refused later with a message that names the difference, so the rules must not be mixed.
    """
    chosen = game_class(game_id)
    known = facts(chosen)
    adapted = (*known.transferable_options, *known.adaptable_options)
    both = [name for name in options if name in implied and name not in adapted]
    return all(same_option(chosen, name, options[name], implied[name]) for name in both)


def add_pairs(into: dict[str, Any], texts: list[str] | None, option: str) -> None:
    """Add the NAME=VALUE of each text to ``into``. Raises ValueError, naming ``option``, for text of another form."""
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
        add_once(into, name.strip(), value.strip(), f"{option} {text!r}")


def add_once(into: dict[str, Any], name: str, value: Any, typed: str) -> None:
    """Add a value to ``into``. Raises ValueError, which begins with ``typed``, for a name that is there already."""
    if name in into:
        raise ValueError(f"{typed}: {name} was given before; give it once")
    into[name] = value


def fill(agents: Sequence[str], seats: int) -> list[str]:
    """One agent for each of ``seats``, the last one repeated. Raises ValueError for none or too many."""
    if not 1 <= len(agents) <= seats:
        raise ValueError(
            f"{len(agents)} agents for {seats} seats: name 1 to {seats} (the last one fills the rest)"
        )
    return [*agents, *[agents[-1]] * (seats - len(agents))]
