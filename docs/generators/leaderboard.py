"""The leaderboard, with a page for each game, tables of docs/zoo.md, and cards of the zoo: from the results alone."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from catbox_agents import zoo
from catbox_agents.arena.report import markdown_table, milliseconds
from catbox_agents.arena.results import Estimate
from catbox_env.core.checks import brief
from catbox_env.core.show import game_title
from docs.generators.tables import grouped_table, machines_in_words, printed
from experiments.leaderboard import DEAL_SET, ZOO, Part, read_parts
from experiments.results import Folders
from experiments.study import dotted
from experiments.zoo import Training, read_training, zoo_settings

HEURISTIC = "heuristic"
#: The tables of `margin_in_short`.
_IN_SHORT = ("cat_in_the_box-2p", "cat_in_the_box-3p", "cat_in_the_box-4p", "cat_in_the_box-5p")

INTRODUCTION = """\
# Leaderboard

How much more an agent scores than the heuristics it plays among, in points a round. Bold: the best, and
those not certainly worse on the deals that both played; a dash: not played.
"""
READING = f"""\
Each number is a [margin](arena.md#what-is-measured), an agent's score minus the mean of the others', with its 95 %
interval. The deals are those of the set `{DEAL_SET}`, which no agent was trained on or chosen by. Searches have played
far fewer deals than the others, so their intervals are wide. Laos and Khmer are the [variants of Cat Te](cat_te.md);
"4x4" and "full" are boards of [Petrify](petrify.md) for two players.
"""
#: What the columns of the overview are called; a line below them has the specs.
TITLES = {
    "zoo": "trained agent",
    "search:fast": "search, 20 ms",
    "pimc:samples=64": "PIMC, 64 worlds",
    "ismcts:simulations=200": "ISMCTS, 200",
}
COMMANDS = """\
```
make leaderboard                                     # play every arena that is not finished
python -m experiments leaderboard all/petrify-4x4    # play one arena
python -m docs.generators                            # write these pages
```
"""


class Board:
    """The result of one arena, as its file has it; ``margins`` are those of one agent among copies of another."""

    def __init__(self, file: Path) -> None:
        self.content = json.loads(file.read_text(encoding="utf-8"))
        self.agents: list[str] = self.content["agents"]
        self._summaries = {row["name"]: row for row in self.content["summaries"]}
        self.margins = {(row["agent"], row["field"]): _estimate(row) for row in self.content["matrix"]}
        # At a table of two, one agent among others is also the other among its kind: the names tell who is who.
        self._standings = {
            (table["agent"], table["field"]): {row["name"]: row for row in table["standings"]}
            for table in self.content["tables"]
        }

    def margin(self, agent: str, field: str) -> str:
        """The margin of one ``agent`` among copies of ``field`` with its interval; among its own kind, 0."""
        return "0" if agent == field else str(self.margins[agent, field])

    def score(self, agent: str, field: str) -> float:
        """The mean score of one ``agent`` among copies of ``field``."""
        return float(self._standings[agent, field][agent]["score"])

    def share_won(self, agent: str, field: str) -> float:
        """The share of games that one ``agent`` wins among copies of ``field``."""
        return float(self._standings[agent, field][agent]["win_share"])

    def difference(self, agent: str, other: str, field: str) -> Estimate:
        """How much more ``agent`` earns than ``other`` among copies of ``field``, on the same deals."""
        if field == other:
            return self.margins[agent, other]
        if field == agent:  # one of the others among its own kind earns 0
            return _negative(self.margins[other, agent])
        rows = {(row["agent"], row["other"], row["field"]): row for row in self.content["differences"]}
        if (agent, other, field) in rows:
            return _estimate(rows[agent, other, field])
        return _negative(_estimate(rows[other, agent, field]))

    def rating(self, agent: str) -> float:
        """The mean of its rating."""
        return float(self._summaries[agent]["rating"]["mean"])

    def summary(self, agent: str) -> tuple[str, str]:
        """Rating, and milliseconds a move."""
        rating = self._summaries[agent]["rating"]
        return (
            f"{rating['mean']:+.0f} ± {(rating['high'] - rating['low']) / 2:.0f}",
            milliseconds(self.content["seconds_per_move"][agent]),
        )

    def matrix(self) -> list[list[str]]:
        """A table with its header: every agent among copies of every other."""
        header = ["one agent", *(f"among `{short(name)}`" for name in self.agents)]
        return [
            header,
            *([f"`{one}`", *(self.margin(one, other) for other in self.agents)] for one in self.agents),
        ]

    def about(self) -> str:
        """How much was played, when, and with what."""
        return (
            f"{self.content['deals']:,} deals a table, {self.content['games']:,} games; {self.content['date']}, catbox "
            f"{self.content['version']} {self.content['commit']}; {self.content['machine']}"
        )


def _estimate(row: Mapping[str, float]) -> Estimate:
    return Estimate(row["margin"], row["low"], row["high"])


def _negative(estimate: Estimate) -> Estimate:
    return Estimate(-estimate.mean, -estimate.high, -estimate.low)


def short(agent: str) -> str:
    """The beginning of a spec, for the head of a column."""
    return agent.partition(",")[0]


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


def leaderboard_pages(folders: Folders) -> dict[Path, str]:
    """File -> text of docs/leaderboard.md and of a page for each game that was played."""
    parts = [(part, played) for part, played in boards(folders) if part.page == "leaderboard"]
    every = [board for _, played in parts for board in played.values()]
    links, pages = [], {}
    for game in dict.fromkeys(board.content["game"] for board in every):
        file = folders.docs / f"leaderboard_{game.rpartition('_v')[0]}.md"
        links.append(f"[{game_title(game)}]({file.name})")
        pages[file] = _page_of(game, parts)
    words = [INTRODUCTION]
    if every:
        machines = machines_in_words(board.content["machine"] for board in every)
        words += [
            _overview(parts),
            "",
            f"{READING}\nTrained agents are those of [the zoo](zoo.md). The columns, as commands name them: "
            f"{_specs(parts)}.",
            "",
            f"Every agent among every other: {', '.join(links)}. Played on: {machines}.",
            "",
        ]
    return {folders.docs / "leaderboard.md": "\n".join([*words, COMMANDS]), **pages}


def _overview(parts: Sequence[tuple[Part, Mapping[str, Board]]]) -> str:
    """A row for each rule set: every agent among heuristics, from the first part that has it."""
    agents = _agents(parts)
    rows = [["table", *(TITLES.get(agent, agent) for agent in agents)]]
    for rules in dict.fromkeys(rules for part, _ in parts for rules in part.rules):
        arenas = [played[rules] for _, played in parts if rules in played]
        rows.append([_title_of(rules).replace(" ", "\u00a0"), *_with_the_best(arenas, agents)])
    return markdown_table(rows)


def _agents(parts: Sequence[tuple[Part, Mapping[str, Board]]]) -> list[str]:
    """The agents of the overview; the weakest is last."""
    agents = dict.fromkeys(short(agent) for part, _ in parts for agent in part.agents if agent != HEURISTIC)
    return sorted(agents, key=lambda agent: agent == "random")


def _specs(parts: Sequence[tuple[Part, Mapping[str, Board]]]) -> str:
    """The specs of the agents of the overview."""
    specs: dict[str, dict[str, None]] = {}
    for agent in (agent for part, _ in parts for agent in part.agents):
        specs.setdefault(short(agent), {})[f"`{agent}`"] = None
    return ", ".join(" or ".join(specs[agent]) for agent in _agents(parts))


def _title_of(rules: str) -> str:
    """What the table of an agent of the zoo is called: "Cat Te, 3 players, Laos"."""
    players = re.sub(r"^(\d)p$", r"\1 players", rules.partition("-")[2].partition("-")[0])
    more = rules.split("-")[2:]
    return ", ".join(
        [game_title(zoo.zoo_agent(zoo.PREFIX + rules).game_id), players, *map(str.capitalize, more)]
    )


def _with_the_best(arenas: Sequence[Board], agents: Sequence[str]) -> list[str]:
    """The margins of ``agents`` among heuristics, a dash for those that did not play. In bold, if another than `random`
    did: the highest, and those that met it in an arena, if it is certainly better in none."""
    margins: dict[str, Estimate] = {}
    for board in arenas:
        margins = {one: board.margins[one, HEURISTIC] for one in board.agents if one != HEURISTIC} | margins
    best = max(margins, key=lambda one: margins[one].mean, default=HEURISTIC)
    rivals = len(margins.keys() - {"random"}) > 1
    cells = {}
    for agent, margin in margins.items():
        common = [board for board in arenas if {agent, best} <= set(board.agents)]
        worse = [board.difference(best, agent, HEURISTIC).low > 0 for board in common if agent != best]
        bold = "**" if rivals and common and not any(worse) else ""
        cells[short(agent)] = f"{bold}{printed(margin)}{bold}"
    return [cells.get(agent, "\u2013") for agent in agents]


def _page_of(game: str, parts: Sequence[tuple[Part, Mapping[str, Board]]]) -> str:
    """The page of one game: a section for each part of the leaderboard, with a table of its own for each rule set that
    searches have played."""
    lines = [
        *("---", "hide: [toc]", "---", ""),
        f"# Leaderboard: {game_title(game)}",
        "",
        "Margins of one agent (row) among copies of another (column), as in [the overview](leaderboard.md). Ratings "
        "are in points of the Elo scale; their mean over the agents of a table is 0, so those of two tables cannot be "
        "compared.",
        "",
    ]
    for part, played in parts:
        own = {rules: board for rules, board in played.items() if board.content["game"] == game}
        if own:
            agents = ", ".join(f"`{agent}`" for agent in part.agents)
            lines += [f"## {part.title}", "", f"{part.deals:,} deals a table, played by {agents}.", ""]
            searches = any(":" in agent for agent in part.agents)
            tables = {_table_title(rules): _rows_of(board, searches) for rules, board in own.items()}
            if searches:
                for title, rows in tables.items():
                    lines += [f"### {title}", "", markdown_table(rows), ""]
            else:
                header = ["table", *next(iter(tables.values()))[0]]
                rows = [[title, *row] for title, (_, *rows) in tables.items() for row in rows]
                lines += [grouped_table([header, *rows]), ""]
    return "\n".join(lines)


def _table_title(rules: str) -> str:
    """As `_title_of`, without the name of the game."""
    title = _title_of(rules).partition(", ")[2].replace(" ", "\u00a0")
    return f"{title[0].upper()}{title[1:]}"


def _rows_of(board: Board, searches: bool) -> list[list[str]]:
    """A header, and every agent of ``board`` among copies of every other, with its rating.

    With ``searches`` the best rating comes first, and each agent has its time: the others answer for many games at
    once, so theirs says little.
    """
    columns, agents = ["rating"], board.agents
    if searches:
        columns, agents = ["rating", "ms a move"], sorted(agents, key=board.rating, reverse=True)
    titles = [TITLES.get(short(name), short(name)) for name in agents]
    rows = [
        [title.replace(" ", "\u00a0"), *(printed(board.margin(one, other)) for other in agents)]
        + [printed(value) for value in board.summary(one)[: len(columns)]]
        for title, one in zip(titles, agents, strict=True)
    ]
    return [["agent", *titles, *columns], *rows]


def zoo_table(name: str, shown: Sequence[str], folders: Folders) -> str:
    """The table of docs/zoo.md for the part ``name``, with all rules that were played.

    The agents ``shown`` (rows) are among copies of each agent of the part (columns); a cell has the margin and, in
    brackets, the mean score. With more than two agents, a further row has how much more ``zoo`` earns than the
    heuristic. Raises ``ValueError`` for an unknown part.
    """
    found = {part.name: (part, played) for part, played in boards(folders)}
    if name not in found:
        raise ValueError(f"part {name!r} of the leaderboard: expected one of {', '.join(found)}")
    part, played = found[name]
    rows = [["", "one agent", *(f"among `{agent}`" for agent in part.agents), "won"]]
    for rules, board in played.items():
        title = _table_title(rules)
        for one in shown:
            cells = [f"{board.margin(one, other)} ({board.score(one, other):.2f})" for other in part.agents]
            won = f"{board.share_won(one, HEURISTIC):.0%}" if one != HEURISTIC else ""
            rows.append([title, f"`{one}`", *map(printed, cells), won])
        if len(part.agents) > 2:
            differences = [board.difference(ZOO, HEURISTIC, other) for other in part.agents]
            rows.append([title, f"`{ZOO}` minus `{HEURISTIC}`", *map(printed, differences), ""])
    return grouped_table(rows)


def margin_in_short(folders: Folders) -> tuple[str, str]:
    """What the README says of the agents of the zoo: the words and the figures."""
    _, played = boards(folders)[0]
    margins = " / ".join(str(played[rules].margins[ZOO, HEURISTIC]) for rules in _IN_SHORT)
    return "margin of one trained agent among heuristics in points a round, 2 / 3 / 4 / 5 players", margins


def card(training: Training, played: Sequence[tuple[str, Board]]) -> str:
    """The card of an agent, with the front matter that model hubs read: ``played`` are the titles and results of its
    arenas."""
    agent = zoo.zoo_agent(zoo.PREFIX + training.name)
    mean, low, high = training.half_precision
    options = ", ".join(
        f"{option}={brief(value)}" for option, value in agent.game.options.items() if option != "reward"
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
        f"| cost of half precision | {mean:+.3f} points a game ({low:+.3f} to {high:+.3f}) |",
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
    metrics = [{"type": "margin", "name": "margin in points a round", "value": margin} for margin in margins]
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
