"""The leaderboard, with a page for each game, and tables of docs/zoo.md: from the results alone."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from textwrap import indent

from catbox_agents import zoo
from catbox_agents.arena.report import markdown_table, milliseconds
from catbox_agents.arena.results import Estimate
from catbox_app.rules import game_arguments
from catbox_env import Game, make_game
from catbox_env.core.text import game_title
from docs.generators.figures import Picture, narrow, picture_file, shown, shown_by_width
from docs.generators.margin_figures import Bar, HeatMap, Kind, bars
from docs.generators.tables import machines_in_words, printed, table_in_words, wrapped
from experiments.leaderboard import DEAL_SET, PREVIOUS_EDITION, ZOO, Part, read_parts
from experiments.results import Folders

HEURISTIC, RANDOM = "heuristic", "random"
#: The tables of `margin_in_short`.
_IN_SHORT = ("cat_in_the_box-2p", "cat_in_the_box-3p", "cat_in_the_box-4p", "cat_in_the_box-5p")
#: What the pictures call agents, by the beginnings of their specs.
TITLES = {
    "zoo": "trained agent",
    "search:fast": "search, 20 ms",
    "pimc:samples=64": "PIMC, 64 worlds",
    "ismcts:simulations=200": "ISMCTS, 200",
}

INTRODUCTION = """\
---
hide: [toc]
---

# Leaderboard

How much more an agent scores than the heuristics around it, in points per round: its
[margin](arena.md#what-is-measured), with the 95 % interval. Each game has its own scale. Where several agents have
played, **bold** marks the best, and any other that is not certainly worse on the deals that both played. The best among
heuristics may lose to others.
"""
#: What a section says first, by game.
OF_THE_GAME = {
    "cat_te_v0": """\
[Two variants](cat_te.md): Laos, where only those who win one of the first four tricks play on, and Khmer, where
everyone plays all six.
"""
}
DEALS = f"""\
The deals are those of the set `{DEAL_SET}`. No agent was trained on them, but some results on them led to the next
agent: the tables will be played again on `report`. The commands on these pages give exactly the numbers shown, except
for searches of 20 ms, which depend on the machine and agree within the intervals. Searches have played fewer deals.
"""
PAGE = """\
One agent (row) among copies of another (column): its margin with the 95 % interval, as in
[the overview](leaderboard.md); hatched if that contains 0. [Ratings](arena.md#what-is-measured) count who scored more;
their mean is 0 at each table, so those of two tables cannot be compared.
"""
COMMANDS = """\
`experiments/leaderboard.yaml` says who plays whom, in parts. A table that has its result in
`experiments/results/leaderboard` is not played again until you delete that file.

```
make leaderboard                                     # all, and these pages
python -m experiments leaderboard fast               # one part
python -m experiments leaderboard all/petrify-4x4    # one table
python -m docs.generators                            # these pages
```"""


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

    @property
    def game(self) -> Game:
        """With the rules that were played."""
        return make_game(self.content["game"], **self.content["options"])

    @property
    def table(self) -> str:
        """What its rules are called, without the name of the game: "3 players, Laos"."""
        return table_in_words(self.content["rules"])

    def estimate(self, agent: str, field: str) -> Estimate | None:
        """The margin of one ``agent`` among copies of ``field``, None among its own kind."""
        return None if agent == field else self.margins[agent, field]

    def about(self) -> str:
        """How much was played, when, and with what."""
        return (
            f"{self.content['deals']:,} deals per table, {self.content['games']:,} games; {self.content['date']}, "
            f"catbox {self.content['version']} {self.content['commit']}; {self.content['machine']}"
        )


def _estimate(row: Mapping[str, float]) -> Estimate:
    return Estimate(row["margin"], row["low"], row["high"])


def _negative(estimate: Estimate) -> Estimate:
    return Estimate(-estimate.mean, -estimate.high, -estimate.low)


def short(agent: str) -> str:
    """The beginning of a spec, for the head of a column."""
    return agent.partition(",")[0]


def title_of(agent: str) -> str:
    """What the pictures call an agent."""
    return TITLES.get(short(agent), short(agent).replace("_", " "))


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


def leaderboard_pages(folders: Folders) -> dict[Path, str | Picture]:
    """File -> text of docs/leaderboard.md and of a page for each game that was played, and each of their pictures and
    those of docs/zoo.md."""
    every = boards(folders)
    parts = [(part, played) for part, played in every if part.page == "leaderboard"]
    games: dict[str, list[list[Board]]] = {}
    for arenas in _arenas_by_table(parts):
        games.setdefault(arenas[0].content["game"], []).append(arenas)
    words, again = [INTRODUCTION], []
    found: dict[Path, str | Picture] = {}
    for game, tables in games.items():
        title, name = game_title(game), game.rpartition("_v")[0]
        picture, rows = f"leaderboard-{name}", _overview(tables)
        found[picture_file(picture, folders)] = bars(title, rows)
        found[picture_file(narrow(picture), folders)] = bars(title, rows, narrow=True)
        text, pictures = _page_of(game, parts, folders)
        found |= {folders.docs / f"leaderboard_{name}.md": text, **pictures}
        words += [
            f"## {title}",
            "",
            *([OF_THE_GAME[game]] if game in OF_THE_GAME else []),
            shown_by_width(picture, "Bars of the margins in the table below."),
            "",
            _numbers(parts, tables, rows),
            "",
            f"[Every agent among every other, with the commands](leaderboard_{name}.md)",
            "",
        ]
    if games:
        machines = machines_in_words(
            board.content["machine"] for _, played in parts for board in played.values()
        )
        words += ["## Agents and deals", "", _specs(parts), "", DEALS]
        again += [f"Played on: {machines}.", ""]
    if missing := [
        f"{part.name}/{rules}" for part, played in every for rules in part.rules if rules not in played
    ]:
        again += [f"Not played yet: `python -m experiments leaderboard {' '.join(missing)}`.", ""]
    for part, played in every:
        if part.page == "zoo" and _is_wide(part):
            maps = _heat_maps_of_the_zoo(part, played)
            found |= {picture_file(name, folders): drawn.picture() for name, drawn in maps.items()}
    return {folders.docs / "leaderboard.md": "\n".join([*words, *_folded([*again, COMMANDS])]), **found}


def _arenas_by_table(parts: Sequence[tuple[Part, Mapping[str, Board]]]) -> list[list[Board]]:
    """The arenas of each rule set that was played, in the order of the parts."""
    every = dict.fromkeys(rules for part, _ in parts for rules in part.rules)
    found = ([played[rules] for _, played in parts if rules in played] for rules in every)
    return [arenas for arenas in found if arenas]


def _overview(tables: Sequence[Sequence[Board]]) -> list[Bar]:
    """Every agent among heuristics, except `random`; at each table the trained agent comes first. None is best alone.

    ``tables``: the arenas of each table of a game.
    """
    overview = []
    for arenas in tables:
        found = {title_of(agent): of for agent, of in among_heuristics(arenas).items() if agent != RANDOM}
        for agent, (margin, kind) in sorted(found.items(), key=lambda one: one[0] != title_of(ZOO)):
            alone = kind == "best" and len(found) == 1
            overview.append(Bar(arenas[0].table, agent, margin, "better" if alone else kind))
    return overview


def _numbers(
    parts: Sequence[tuple[Part, Mapping[str, Board]]],
    tables: Sequence[Sequence[Board]],
    overview: Sequence[Bar],
) -> str:
    """What the picture of the ``overview`` shows as a table, with the arenas of each row as the command names them."""
    agents = list(dict.fromkeys(bar.agent for bar in overview))
    rows = [["rules", *agents, "`python -m experiments leaderboard`"]]
    for arenas in tables:
        rules = arenas[0].content["rules"]
        own = {bar.agent: bar for bar in overview if bar.table == arenas[0].table}
        margins = [_number(own[agent]) if agent in own else "\u2013" for agent in agents]
        played = " ".join(f"{part.name}/{rules}" for part, found in parts if rules in found)
        rows.append([printed(arenas[0].table), *margins, f"`{played}`"])
    return markdown_table(rows)


def _number(bar: Bar) -> str:
    margin = printed(bar.margin)
    return f"**{margin}**" if bar.kind == "best" else margin


def among_heuristics(arenas: Sequence[Board]) -> dict[str, tuple[Estimate, Kind]]:
    """The margin of each agent of a table among heuristics, from the first of its ``arenas`` that has it.

    The best is that with the highest margin; with it go those that met it in an arena, if it is certainly better in
    none.
    """
    margins: dict[str, Estimate] = {}
    for board in arenas:
        margins = {one: board.margins[one, HEURISTIC] for one in board.agents if one != HEURISTIC} | margins
    best = max(margins, key=lambda one: margins[one].mean, default=HEURISTIC)

    def kind(agent: str) -> Kind:
        if margins[agent].low <= 0:
            return "worse" if margins[agent].high < 0 else "unclear"
        common = [board for board in arenas if {agent, best} <= set(board.agents)]
        worse = [board.difference(best, agent, HEURISTIC).low > 0 for board in common if agent != best]
        return "best" if common and not any(worse) else "better"

    return {agent: (margin, kind(agent)) for agent, margin in margins.items()}


def _specs(parts: Sequence[tuple[Part, Mapping[str, Board]]]) -> str:
    """A table of the agents that have another title than their spec."""
    specs: dict[str, dict[str, None]] = {}
    for agent in (agent for part, played in parts if played for agent in part.agents):
        if title_of(agent) != agent:
            specs.setdefault(title_of(agent), {})[f"`{agent}`"] = None
    return markdown_table(
        [["agent", "in commands"], *([printed(name), " or ".join(own)] for name, own in specs.items())]
    )


def _page_of(
    game: str, parts: Sequence[tuple[Part, Mapping[str, Board]]], folders: Folders
) -> tuple[str, dict[Path, Picture]]:
    """The page of one game, a section for each part of the leaderboard, and its pictures."""
    lines = ["---", "hide: [toc]", "---", "", f"# Leaderboard: {game_title(game)}", "", PAGE]
    pictures = {}
    for part, played in parts:
        own = {rules: board for rules, board in played.items() if board.content["game"] == game}
        if own:
            lines += [
                f"## {part.title}",
                "",
                f"{part.deals:,} deals per table.{_times(list(own.values()))}",
                "",
            ]
            for rules, board in own.items():
                name = f"leaderboard-{part.name}-{rules}"
                pictures[picture_file(name, folders)] = _heat_map(board).picture()
                margin = printed(board.margins[board.agents[0], HEURISTIC])
                lines.append(
                    shown(name, f"{board.table}: {title_of(board.agents[0])} among heuristics {margin}")
                )
            lines += ["", *_folded(_commands(part, own.values()))]
    return "\n".join(lines), pictures


def _heat_map(board: Board) -> HeatMap:
    """Every agent of ``board`` among copies of every other, with its rating; the best rating comes first."""
    agents = sorted(board.agents, key=board.rating, reverse=True)
    titles = [title_of(agent) for agent in agents]
    margins = [[board.estimate(one, other) for other in agents] for one in agents]
    ratings = ("rating", [board.summary(one)[0] for one in agents])
    return HeatMap(board.table, titles, titles, margins, ratings, ("this agent", "among these"))


def _times(played: Sequence[Board]) -> str:
    """How long the agents of a part with searches take; the others answer for many games at once, which says little."""
    if not any(":" in agent for agent in played[0].agents):
        return ""
    words = []
    for agent in played[0].agents:
        times = sorted(board.content["seconds_per_move"][agent] for board in played)
        ends = dict.fromkeys(milliseconds(time) for time in (times[0], times[-1]))
        words.append(f"{title_of(agent)} {' to '.join(ends)}")
    return f" Milliseconds per move: {'; '.join(words)}."


def _folded(lines: Sequence[str]) -> list[str]:
    """How to reproduce what is above, which a page shows where a reader opens it."""
    return ["<details markdown>", "<summary>Reproduce</summary>", "", *lines, "", "</details>", ""]


def _commands(part: Part, played: Collection[Board]) -> list[str]:
    """A block with the command of each arena, those that differ only in the number of players as a loop; a sentence if
    other agents have played than would today."""
    if any(board.agents != part.agents for board in played):
        return [f"`python -m experiments leaderboard {part.name}` plays it again with the agents of today."]
    alike: dict[str, list[str]] = {}
    for board in played:
        any_number = re.sub(r"(?<=--players )\d+|(?<=-)\d+(?=p\.)", "${n}", arena_command(part, board))
        alike.setdefault(any_number, []).append(str(board.game.num_players))
    lines = []
    for command, numbers in alike.items():
        if len(numbers) == 1:
            lines.append(wrapped(command.replace("${n}", numbers[0])))
        else:
            lines += [f"for n in {' '.join(numbers)}; do", indent(wrapped(command), "  "), "done"]
    return ["```", *lines, "```"]


def arena_command(part: Part, board: Board) -> str:
    """The command that plays the arena of ``board`` again."""
    previous = f"experiments/{PREVIOUS_EDITION}/{board.content['rules']}.safetensors"
    agents = [previous if agent == PREVIOUS_EDITION else agent for agent in part.agents]
    rules = game_arguments(board.game)
    if "--players" not in rules:
        rules = ["--players", str(board.game.num_players), *rules]
    deals = ["--deals", str(part.deals), "--deal-set", DEAL_SET, "--mixed"]
    return shlex.join(["catbox", "arena", *agents, *rules, *deals])


def _is_wide(part: Part) -> bool:
    """Whether docs/zoo.md shows the part in pictures: those of more than two agents."""
    return len(part.agents) > 2


def _heat_maps_of_the_zoo(part: Part, played: Mapping[str, Board]) -> dict[str, HeatMap]:
    """Name -> picture of a part of docs/zoo.md: one agent of the zoo at every table among each agent of the part, and
    how much more it earns there than the heuristic. An agent that has not played at a table has no cell there."""
    if not played:
        return {}
    tables = [board.table for board in played.values()]
    fields = list(dict.fromkeys(field for board in played.values() for field in board.agents))
    margins, more = (
        [
            [given(board, field) if field in board.agents else None for field in fields]
            for board in played.values()
        ]
        for given in (
            lambda board, field: board.estimate(ZOO, field),
            lambda board, field: board.difference(ZOO, HEURISTIC, field),
        )
    )
    titles, name = [title_of(field) for field in fields], f"leaderboard-{part.name}"
    return {
        name: HeatMap(f"One {title_of(ZOO)} among", tables, titles, margins),
        f"{name}-difference": HeatMap(
            f"One {title_of(ZOO)} minus one {HEURISTIC}, among", tables, titles, more
        ),
    }


def zoo_table(name: str, folders: Folders) -> str:
    """What docs/zoo.md shows of the part ``name``: its pictures, or a table if two agents play, and the commands.

    Raises ``ValueError`` for an unknown part.
    """
    found = {part.name: (part, played) for part, played in boards(folders)}
    if name not in found:
        raise ValueError(f"part {name!r} of the leaderboard: expected one of {', '.join(found)}")
    part, played = found[name]
    if not played:
        return f"Not played yet: `python -m experiments leaderboard {name}`."
    if _is_wide(part):
        lines = [
            shown(picture, drawn.words) for picture, drawn in _heat_maps_of_the_zoo(part, played).items()
        ]
    else:
        one, other = part.agents
        rows = [["", f"one `{one}` among `{other}`", f"one `{other}` among `{one}`", f"`{one}` wins"]]
        for board in played.values():
            margins = [printed(board.margins[pair]) for pair in ((one, other), (other, one))]
            rows.append([board.table, *margins, f"{board.share_won(one, other):.0%}"])
        lines = [markdown_table(rows)]
    return "\n".join([*lines, "", *_commands(part, list(played.values()))])


def margin_in_short(folders: Folders) -> tuple[str, str]:
    """What the README says of the agents of the zoo: the words and the figures."""
    _, played = boards(folders)[0]
    found = {
        board.content["options"]["num_players"]: board
        for rules, board in played.items()
        if rules in _IN_SHORT
    }
    players = " / ".join(map(str, found))
    margins = " / ".join(str(board.margins[ZOO, HEURISTIC]) for board in found.values())
    return (
        f"margin of one trained agent among heuristics in points per round, {players or 'all'} players",
        margins or "not played yet",
    )
