"""The cards of the zoo: how each agent was trained, and what it earns."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catbox_agents import zoo
from catbox_agents.arena.report import markdown_table
from catbox_env.core.checks import short_repr
from catbox_env.core.text import game_title
from experiments.results import Folders
from experiments.study import dotted
from experiments.zoo import REPORT_SET, ZOO, Report, Training, read_training, zoo_settings


def card(training: Training) -> str:
    """The card of an agent, with the front matter that model hubs read."""
    agent = zoo.zoo_agent(zoo.PREFIX + training.name)
    mean, low, high = training.half_precision
    options = ", ".join(
        f"{option}={short_repr(value)}" for option, value in agent.game.options.items() if option != "reward"
    )
    lines = [
        *front_matter(training, agent.game.id),
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
    if training.report:
        lines += ["## What it earns", "", *_report(training.report), ""]
    return "\n".join(lines).rstrip() + "\n"


def _report(report: Report) -> list[str]:
    """Every agent among copies of every other, and how it was measured."""
    margins = {(row.agent, row.field): str(row.estimate) for row in report.margins}
    agents = list(dict.fromkeys(row.agent for row in report.margins))
    rows = [
        ["one agent", *(f"among `{name}`" for name in agents)],
        *(
            [f"`{one}`", *("0" if one == other else margins[one, other] for other in agents)]
            for one in agents
        ),
    ]
    return [
        markdown_table(rows),
        "",
        f"Points a round more than the others, with 95 % intervals: {report.deals:,} deals of the set "
        f"`{report.deal_set}`, each from every seat; {report.date}, catbox {report.version} {report.commit}; "
        f"{report.machine}.",
    ]


def front_matter(training: Training, game_id: str) -> list[str]:
    """The lines that model hubs read: YAML, here written as JSON, with the margin among heuristics as result."""
    margin = training.margin(ZOO, "heuristic")
    game = {"type": game_id, "name": f"{game_title(game_id)}, among heuristics, deal set {REPORT_SET}"}
    task = {"type": "reinforcement-learning", "name": "reinforcement-learning"}
    about: dict[str, Any] = {
        "license": "mit",
        "library_name": "catbox",
        "pipeline_tag": "reinforcement-learning",
        "tags": ["reinforcement-learning", "self-play", "card-game", "catbox", game_id],
    }
    if margin:
        metrics = [{"type": "margin", "name": "margin in points per round", "value": str(margin)}]
        about["model-index"] = [
            {"name": training.name, "results": [{"task": task, "dataset": game, "metrics": metrics}]}
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
    found = {}
    for name, settings in zoo_settings(folders).items():
        if training := read_training(name, folders):
            if (training.settings, training.sha256) != (settings, zoo.zoo_agent(zoo.PREFIX + name).sha256):
                raise ValueError(
                    f"{zoo.PREFIX}{name} is another agent than its results are of, or zoo.yaml has other settings "
                    f"for it: run  python -m experiments zoo {name}"
                )
            found[zoo.FOLDER / f"{name}.md"] = card(training)
    return found
