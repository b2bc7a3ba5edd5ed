"""`catbox info`: the rules, the actions and the observation of a rule set."""

from __future__ import annotations

from rich.console import Console

import catbox_env
from catbox_agents.arena.terminal_tables import TerminalTable
from catbox_agents.settings import read_options
from catbox_app.options import GameOptions
from catbox_app.rules import DEFAULT_GAME, REWARD


def info(game: GameOptions) -> None:
    """Show the rules, the actions and the observation of a rule set.

    [bold]Example[/]

    catbox info --players 2 --rounds match
    """
    game_id = game.game_id or DEFAULT_GAME
    shown = catbox_env.make_game(game_id, **{"reward": REWARD, **read_options(game_id, game.rules)})
    console = Console()
    console.print(f"[bold]{shown.id}[/]: {shown.num_players} players, games: {', '.join(catbox_env.GAMES)}")

    rules = TerminalTable("rule", "value", title="Rules")
    for name, value in shown.options.items():
        rules.add_row(name, str(value))
    console.print(rules)

    actions = TerminalTable("ids", "action", title=f"Actions: {shown.num_actions}")
    for first, last, text in shown.describe_actions():
        actions.add_row(str(first) if first == last else f"{first} .. {last}", text)
    console.print(actions)

    layout = shown.observation_layout
    observation = TerminalTable(
        "part", "offset", "shape", "values", "what it holds", title=f"Observation: {layout.size} x int8"
    )
    for row in layout.table():
        observation.add_row(*row)
    console.print(observation)
