"""The cards of the zoo: how each agent was trained, and its arenas."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from catbox_agents import zoo
from catbox_agents.arena.report import markdown_table
from catbox_env.core.checks import short_repr
from catbox_env.core.text import game_title
from docs.generators.leaderboard import HEURISTIC, Board, boards
from experiments.leaderboard import DEAL_SET, ZOO
from experiments.results import Folders
from experiments.study import dotted
from experiments.zoo import Training, read_training, zoo_settings


def card(training: Training, played: Sequence[tuple[str, Board]]) -> str:
    """The card of an agent, with the front matter that model hubs read: ``played`` are the titles and results of its
    arenas."""
    agent = zoo.zoo_agent(zoo.PREFIX + training.name)
    mean, low, high = training.half_precision
    options = ", ".join(
        f"{option}={short_repr(value)}" for option, value in agent.game.options.items() if option != "reward"
    )
    lines = [
        *front_matter(training.name, agent.game.id, played),
        f"# {training.name}",
        "",
        f"A trained agent for `{agent.game.id}`: `catbox play {agent.spec}{rules_as_options(training.settings)}`.",
        "",
        "| | |",
        "|---|---|",
        f"| rules | {options} |",
        f"| trained by | `{command(training.settings)}` |",
        f"| seed | {training.config['seed']} |",
        f"| decisions | {training.decisions:,} |",
        f"| time | {training.seconds / 3600:.2f} hours of play and learning, workers: {training.config['workers']} |",
        f"| machine | {training.machine} |",
        f"| catbox | {training.version} {training.commit}, {training.date} |",
        f"| network | hidden layers of {', '.join(map(str, training.config['hidden']))}; "
        f"{agent.path.stat().st_size / 1000:,.0f} kB in half precision |",
        f"| cost of half precision | {mean:+.3f} points per game ({low:+.3f} to {high:+.3f}) |",
        "",
        "It takes its most probable action. It is the policy at the end of its training; nothing was chosen by results "
        "on the deals that are shown here.",
        "",
    ]
    for title, board in played:
        lines += [f"## {title}", "", markdown_table(board.matrix()), "", f"{board.about()}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def front_matter(name: str, game_id: str, played: Sequence[tuple[str, Board]]) -> list[str]:
    """The lines that model hubs read: YAML, here written as JSON, with the margin among heuristics as result."""
    margins = [str(board.margins[ZOO, HEURISTIC]) for _, board in played if HEURISTIC in board.agents][:1]
    game = {"type": game_id, "name": f"{game_title(game_id)}, among heuristics, deal set {DEAL_SET}"}
    task = {"type": "reinforcement-learning", "name": "reinforcement-learning"}
    metrics = [
        {"type": "margin", "name": "margin in points per round", "value": margin} for margin in margins
    ]
    about: dict[str, Any] = {
        "license": "mit",
        "library_name": "catbox",
        "pipeline_tag": "reinforcement-learning",
        "tags": ["reinforcement-learning", "self-play", "card-game", "catbox", game_id],
    }
    if metrics:
        about["model-index"] = [
            {"name": name, "results": [{"task": task, "dataset": game, "metrics": metrics}]}
        ]
    return [
        "---",
        *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in about.items()),
        "---",
    ]


def command(settings: Mapping[str, Any]) -> str:
    """The command that trains with these settings."""
    flat = dotted(settings)
    words = ["catbox train"]
    for setting, option in (
        ("preset", "--preset"),
        ("game", "--game"),
        ("game_options.num_players", "--players"),
    ):
        if setting in flat:
            words.append(f"{option} {flat.pop(setting)}")
    return " ".join(
        [*words, *(f"--set {shlex.quote(f'{name}={_as_text(value)}')}" for name, value in flat.items())]
    )


def _as_text(value: Any) -> str:
    """A setting as the command line takes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {part}" for name, part in value.items()) + "}"
    return str(value)


def rules_as_options(settings: Mapping[str, Any]) -> str:
    """The rules in these settings, as options of `catbox play`."""
    words = [f" --game {settings['game']}"] if "game" in settings else []
    for setting, value in dotted(settings).items():
        option = setting.removeprefix("game_options.")
        if option == "num_players":
            words.append(f" --players {value}")
        elif option not in (setting, "reward"):  # a reward is no rule
            words.append(f" --rule {option}={value}")
    return "".join(words)


def cards(folders: Folders) -> dict[Path, str]:
    """File -> text of the card of each agent in the zoo that was trained here.

    Raises ``ValueError`` for one that was trained with other settings than ``zoo.yaml`` has now, or is not in the zoo.
    """
    played = boards(folders)
    found = {}
    for name, settings in zoo_settings(folders).items():
        if training := read_training(name, folders):
            if (training.settings, training.sha256) != (settings, zoo.zoo_agent(zoo.PREFIX + name).sha256):
                raise ValueError(
                    f"{zoo.PREFIX}{name} is another agent than its results are of, or zoo.yaml has other settings "
                    f"for it: run  python -m experiments zoo {name}"
                )
            of_agent = [(part.title, arenas[name]) for part, arenas in played if name in arenas]
            found[zoo.FOLDER / f"{name}.md"] = card(training, of_agent)
    return found
