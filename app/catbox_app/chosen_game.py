"""What the options of a command say: its game, also by a checkpoint among its agents, and who plays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import catbox_env
from catbox_agents.agent import same_option
from catbox_agents.specs import trained_for
from catbox_app.rules import DEFAULT_GAME, REWARD
from catbox_env import Game
from catbox_env.core.options import read_options
from catbox_env.core.registry import game_class


def choose_game(
    agents: Sequence[str],
    game_id: str | None,
    players: int | None,
    rounds: str | None,
    rule: list[str] | None,
) -> Game:
    """The game that the options of a command name. What they leave out is that of the first trained agent.

    Raises ValueError for what cannot be played, and where the file of an agent cannot be read.
    """
    named = rule_options(players, rounds, rule)
    implied_id, implied = implied_rules(agents)
    if game_id not in (None, implied_id):
        implied = {}
    game_id = game_id or implied_id or DEFAULT_GAME
    options = read_options(game_id, named)
    if not _go_together(implied, options, game_id):
        implied = {}
    return catbox_env.make_game(game_id, **{**implied, "reward": REWARD, **options})


def implied_rules(agents: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
    """The game that the first trained agent was trained for, and its rules; None and none where there is no such agent.

    Errors as in `choose_game`.
    """
    for agent in agents:
        found = trained_for(agent)
        if found is not None:
            game_id, options = found
            return game_id, {name: value for name, value in options.items() if name != "reward"}
    return None, {}


def _go_together(implied: dict[str, Any], options: dict[str, Any], game_id: str) -> bool:
    """Whether ``options`` leave alone what a trained agent has to keep to.

    Otherwise the agent is refused later, and the message names the difference: no mixture of both must come before.
    """
    chosen = game_class(game_id)
    both = [name for name in options if name in implied and name not in chosen.transferable_options]
    return all(same_option(chosen, name, options[name], implied[name]) for name in both)


def rule_options(players: int | None, rounds: str | None, rule: list[str] | None) -> dict[str, Any]:
    """The rules that the options of a command name, as typed. Raises ValueError for text that is not NAME=VALUE."""
    options: dict[str, Any] = {}
    if players is not None:
        options["num_players"] = players
    if rounds is not None:
        options["rounds"] = rounds
    add_pairs(options, rule, "--rule")
    return options


def add_pairs(into: dict[str, Any], texts: list[str] | None, option: str) -> None:
    """Add the NAME=VALUE of each text to ``into``. Raises ValueError, naming ``option``, for a name that is there."""
    for text in texts or []:
        name, value = pair(text, option)
        if name in into:
            raise ValueError(f"{option} {text!r}: {name} was given before; give it once")
        into[name] = value


def pair(text: str, option: str) -> tuple[str, str]:
    """The two sides of NAME=VALUE. Raises ValueError, naming ``option``, for anything else."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
    return name.strip(), value.strip()


def fill(agents: Sequence[str], seats: int) -> list[str]:
    """One agent for each of ``seats``, the last one repeated. Raises ValueError for none or too many."""
    if not 1 <= len(agents) <= seats:
        raise ValueError(
            f"{len(agents)} agents for {seats} seats: name 1 to {seats} (the last fills those left)"
        )
    return [*agents, *[agents[-1]] * (seats - len(agents))]
