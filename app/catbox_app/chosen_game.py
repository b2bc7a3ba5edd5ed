"""The game that a command plays: by its options, or by a checkpoint among its agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import catbox_env
from catbox_agents.agent import same_option
from catbox_agents.specs import trained_for
from catbox_app.options import rule_options
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
    both = [name for name in options if name in implied and name not in chosen.lenient_options]
    return all(same_option(chosen, name, options[name], implied[name]) for name in both)
