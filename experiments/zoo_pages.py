"""The pages about the zoo: docs/leaderboard.md and the card of each agent, from the results alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from catbox_agents import zoo
from catbox_agents.arena.report import markdown_table, milliseconds
from catbox_env.core.checks import brief
from experiments.leaderboard import DEAL_SET, ZOO, Part, read_parts
from experiments.results import Folders
from experiments.study import dotted
from experiments.zoo import Training, read_training, zoo_settings

HEURISTIC = "heuristic"
#: The pairs of agents in the README: one among copies of the other.
_IN_SHORT = ((ZOO, HEURISTIC), (HEURISTIC, ZOO), (ZOO, "random"))

INTRODUCTION = f"""\
# Leaderboard

Every agent among copies of every other, in both directions, and tables of all of them ("mixed"): what
[the arena](arena.md) measures, on its deal set `{DEAL_SET}`, which no agent was trained on or chosen by. A margin is an
agent's score minus the mean of the others' at its table, in points a game, with its 95 % interval over the
deals. A rating is in points of the Elo scale, with mean 0 among the agents named, so those of two tables cannot be
compared. `zoo` is the agent of the [zoo](zoo.md) for the rules of the table. Agents with a budget of time have it for
each decision, as on their own; many decisions are searched side by side, so that each gets more done in its time. Where
nothing is hidden, searches have no `opponents`: there are no worlds that would tell how the others play. A `+` behind a
commit says that files of the packages were changed after it.

```
make leaderboard                                     # everything: plays what is not finished
python -m experiments leaderboard all/petrify-4x4    # one arena
python -m experiments report                         # this page
```
"""


class Board:
    """The result of one arena, as its file has it.

    ``margins``: of one agent among copies of another; ``gains``: what one agent earns more than another one among
    copies of a third, by their names.
    """

    def __init__(self, file: Path) -> None:
        self.content = json.loads(file.read_text(encoding="utf-8"))
        self.agents: list[str] = self.content["agents"]
        self._summaries = {row["name"]: row for row in self.content["summaries"]}
        self.margins: dict[tuple[str, str], str] = {}
        self.gains: dict[tuple[str, str, str], str] = {}
        for row in self.content["matrix"]:
            agent, field = row["agent"], row["field"]
            self.margins[agent, field] = "0" if agent == field else estimate(row)
            self.gains[agent, field, field] = estimate(row)
            self.gains[field, agent, field] = estimate(row, sign=-1)  # among its own copies an agent earns 0
        for row in self.content["differences"]:
            agent, other, field = row["agent"], row["other"], row["field"]
            self.gains[agent, other, field] = estimate(row)
            self.gains[other, agent, field] = estimate(row, sign=-1)

    def summary(self, agent: str) -> list[str]:
        """Rating, share in the Nash average, margin at mixed tables, and milliseconds a move."""
        found = self._summaries[agent]
        rating = found["rating"]
        return [
            f"{rating['mean']:+.0f} ± {(rating['high'] - rating['low']) / 2:.0f}",
            f"{found['nash_share']:.0%}",
            "" if found["mixed"] is None else estimate(found["mixed"], of="mean"),
            milliseconds(self.content["seconds_per_move"][agent]),
        ]

    def about(self) -> str:
        """How much was played, when, and with what."""
        return (
            f"{self.content['deals']:,} deals a table, {self.content['games']:,} games; {self.content['date']}, catbox "
            f"{self.content['version']} {self.content['commit']}; {self.content['machine']}"
        )


def estimate(row: Mapping[str, float], sign: int = 1, of: str = "margin") -> str:
    """A mean and half the width of its interval."""
    return f"{sign * row[of]:+.2f} ± {(row['high'] - row['low']) / 2:.2f}"


def boards(folders: Folders) -> list[tuple[Part, dict[str, Board]]]:
    """Each part of the leaderboard with its arenas that have been played, by the name of their rules.

    Raises ``ValueError`` for an arena of another agent than the zoo has now.
    """
    found = []
    for part in read_parts(folders):
        files = {rules: part.result_file(rules, folders) for rules in part.rules}
        played = {rules: Board(file) for rules, file in files.items() if file.exists()}
        for rules, board in played.items():
            if board.content["sha256"] != zoo.zoo_agent(zoo.PREFIX + rules).sha256:
                raise ValueError(
                    f"{files[rules]} is of another {zoo.PREFIX}{rules} than the zoo has now: run  "
                    f"python -m experiments leaderboard {part.name}/{rules}"
                )
        found.append((part, played))
    return found


def leaderboard_page(folders: Folders) -> str:
    """The text of docs/leaderboard.md."""
    lines = [INTRODUCTION]
    for part, played in boards(folders):
        lines += [f"## {part.title}", ""]
        if missing := [rules for rules in part.rules if rules not in played]:
            lines += [f"Not played yet: {', '.join(missing)}.", ""]
        for rules, board in played.items():
            lines += [f"### {part.title}: {rules}", "", _matrix(board), "", _standings(board), ""]
            lines += [*_robust(board), f"{board.about()}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _matrix(board: Board) -> str:
    header = ["one agent", *(f"among `{name}`" for name in board.agents)]
    rows = [[f"`{one}`", *(board.margins[one, other] for other in board.agents)] for one in board.agents]
    return markdown_table([header, *rows])


def _standings(board: Board) -> str:
    header = ["agent", "rating", "Nash share", "mixed tables", "ms a move"]
    return markdown_table([header, *([f"`{name}`", *board.summary(name)] for name in board.agents)])


def _robust(board: Board) -> list[str]:
    """What the agent of the zoo earns more than the heuristic, in each field, on the same deals."""
    if not {ZOO, HEURISTIC} <= set(board.agents):
        return []
    parts = [f"{board.gains[ZOO, HEURISTIC, name]} among `{name}`" for name in board.agents]
    return [f"`{ZOO}` minus `{HEURISTIC}`: {', '.join(parts)}.", ""]


def leaderboard_in_short(folders: Folders) -> str:
    """The leaderboard in the README: for each rule set the agent of the zoo and the heuristic among each other."""
    header = [
        "agent",
        *(f"one `{one}` among `{other}`" for one, other in _IN_SHORT),
        "rating of `zoo`",
        "of `heuristic`",
        "played, commit",
    ]
    part, played = boards(folders)[0]
    rows = [
        [
            f"`{zoo.PREFIX}{rules}`",
            *(board.margins[pair] for pair in _IN_SHORT),
            *(board.summary(name)[0] for name in (ZOO, HEURISTIC)),
            f"{board.content['date']}, {board.content['commit']}",
        ]
        for rules, board in played.items()
    ]
    return f"{markdown_table([header, *rows])}\n\n{part.deals:,} deals a table."


def card(training: Training, played: Sequence[tuple[str, Board]]) -> str:
    """The card of an agent: ``played`` are the titles and results of its arenas."""
    agent = zoo.zoo_agent(zoo.PREFIX + training.name)
    mean, low, high = training.half_precision
    options = ", ".join(
        f"{option}={brief(value)}" for option, value in agent.game.options.items() if option != "reward"
    )
    lines = [
        f"# {training.name}",
        "",
        f"A trained agent for `{agent.game.id}`: `catbox play {agent.spec}{rules_as_options(training.settings)}`.",
        "",
        "| | |",
        "| --- | --- |",
        f"| rules | {options} |",
        f"| trained by | `{command(training.settings)}` |",
        f"| seed | {training.config['seed']} |",
        f"| decisions | {training.decisions:,} |",
        f"| time | {training.seconds / 3600:.2f} hours of playing and learning, {training.config['workers']} workers |",
        f"| machine | {training.machine} |",
        f"| catbox | {training.version} {training.commit}, {training.date} |",
        f"| network | hidden layers of {', '.join(map(str, training.config['hidden']))}; "
        f"{agent.path.stat().st_size / 1000:,.0f} kB in half precision |",
        f"| cost of half precision | {mean:+.3f} points a game ({low:+.3f} to {high:+.3f}) |",
        "",
        "It takes its most probable action. It is the policy at the end of its training; nothing was chosen by results "
        "on the deals that are shown here.",
        "",
    ]
    for title, board in played:
        lines += [f"## {title}", "", _matrix(board), "", f"{board.about()}.", ""]
    return "\n".join(lines).rstrip() + "\n"


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
        elif option != setting:
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
