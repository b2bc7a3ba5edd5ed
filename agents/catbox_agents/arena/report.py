"""Readable results: tables for the terminal, a Markdown page, and a picture of the payoff matrix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

import catbox_env
from catbox_agents.arena.arena_result import ArenaResult
from catbox_agents.arena.plots import PIXELS, drawing, heat_map
from catbox_agents.arena.results import Estimate, heading
from catbox_agents.arena.terminal_tables import terminal_table
from catbox_agents.system.files import write_atomically
from catbox_env.core.text import game_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The longest name that the picture shows in full.
_MAX_NAME = 28
#: Explains the table of the language models.
MODELS = (
    "Decisions in all games: legal at once, repaired after a failed answer, or left to the fallback. Failed answers by "
    "kind. Tokens and cost are means for one seat. The time of an answer includes retries."
)
#: Explains the table of the statistics.
PER = "Score per game, wins of all games, the others per round."
RESULTS_FILE, PAGE_FILE, PICTURE_FILE = "results.json", "results.md", "matrix.png"
#: A cell of a column of numbers: a number with or without its interval, a dash, nothing.
_NUMBER = re.compile(r"\**(?:< )?[+\u2212-]?\d[\d,]*(\.\d+)?%?(\s\u00b1\s[\d.]+)?\**|\u2013|")


def write_report(result: ArenaResult, folder: Path) -> None:
    """Write the three files into ``folder``. Raises `WriteError`."""
    about = {"catbox": catbox_env.__version__, "date": datetime.now(UTC).isoformat(timespec="seconds")}
    content = {**result.as_dict(), **about}
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_atomically(folder / RESULTS_FILE, text.encode())
    write_atomically(folder / PAGE_FILE, page(result, about["date"]).encode())
    picture = BytesIO()
    with drawing():
        matrix_figure(content).savefig(picture, format="png", dpi=2 * PIXELS)
    write_atomically(folder / PICTURE_FILE, picture.getvalue())


def title(result: ArenaResult) -> str:
    """What was played, in a line."""
    deals = _deals(result.deals, result.deals_planned)
    source = f"seed {result.seed}" if result.deal_set is None else f"deal set {result.deal_set}"
    return f"{result.game}, {result.options['num_players']} players, {deals}, {source}"


def milliseconds(seconds: float | None) -> str:
    """A time in milliseconds, with three digits and without an exponent; an empty text for None."""
    if seconds is None:
        return ""
    return f"{1000 * seconds:.3g}" if seconds < 0.1 else f"{1000 * seconds:,.0f}"


def terminal_tables(result: ArenaResult, width: int) -> list[Table]:
    """The matrix, a line for each agent, and the statistics, for a terminal of ``width`` columns.

    In a table that does not fit, agents have numbers, which a list explains; if it is still too wide, it is split.
    """
    names = {name: name for name in result.agents}
    numbers = {name: str(number) for number, name in enumerate(result.agents, 1)}
    tables: list[Table] = []
    numbered = False
    kinds: list[tuple[Callable[..., list[list[str]]], dict[str, Any]]] = [
        (
            _matrix_rows,
            {
                "title": "Margins of one agent (row)",
                "caption": "own score minus the others', a game, ± 95 % interval",
            },
        ),
        (_summary_rows, {}),
        (_statistics_rows, {"keys": 2, "caption": PER}),
    ]
    for rows, options in kinds + [(_model_rows, {})] * bool(result.tallies):
        parts = terminal_table(rows(result, names), **options).parts(width)
        if len(parts) > 1:
            numbered = True
            parts = terminal_table(rows(result, numbers), **options).parts(width)
        tables += parts
    if not numbered:
        return tables
    legend = Table.grid(padding=(0, 2))
    legend.add_column(justify="right")
    legend.add_column(overflow="fold")
    for name, number in numbers.items():
        legend.add_row(number, Text(name))
    return [legend, *tables]


def page(result: ArenaResult, date: str) -> str:
    """The result as Markdown."""
    names = result.agents
    own = {name: name for name in names}
    parts = [
        "# Arena",
        f"{title(result)}; {result.games:,} games. {date}, catbox {catbox_env.__version__}.",
        f"Options: {', '.join(f'{name}={value}' for name, value in result.options.items())}.",
        f"![The payoff matrix]({PICTURE_FILE})",
        "## Margins",
        "One agent (row) among copies of another (column): its score minus the mean of the others', a game, with its "
        "95 % interval over deals.",
        _markdown(_matrix_rows(result, own)),
        "## Agents",
        "Ratings: Plackett-Luce, in points of the Elo scale (400 points are odds of 10 to 1), mean 0.",
        _markdown(_summary_rows(result, own)),
        "## Differences",
        "How much more one agent earns a game than another in the same field, on the same deals.",
        _markdown(_difference_rows(result)),
        "## Statistics",
        f"Means of the first agent among copies of the second. {PER}",
        _markdown(_statistics_rows(result, own)),
    ]
    if result.tallies:
        parts += ["## Language models", MODELS, _markdown(_model_rows(result, own))]
    return "\n\n".join(parts) + "\n"


def _summary_rows(result: ArenaResult, labels: Mapping[str, str]) -> list[list[str]]:
    mixed = result.mixed_margins is not None
    rows = [["agent", "Elo rating"] + ["margin a game at mixed tables"] * mixed + ["ms a move"]]
    for summary in result.summaries:
        rows.append(
            [
                labels[summary.name],
                _rating(summary.rating),
                *([str(summary.mixed)] if mixed else []),
                milliseconds(result.seconds_per_move[summary.name]),
            ]
        )
    return rows


def _difference_rows(result: ArenaResult) -> list[list[str]]:
    return [["one agent", "minus another", "among", "difference a game"]] + [
        [*triple, str(difference)] for triple, difference in result.differences.items()
    ]


def _matrix_rows(result: ArenaResult, labels: Mapping[str, str]) -> list[list[str]]:
    names = result.agents
    rows = [["one agent", *(f"among {labels[name]}" for name in names)]]
    for name in names:
        cells = ("0" if name == field else str(result.margin(name, field)) for field in names)
        rows.append([labels[name], *cells])
    return rows


def _statistics_rows(result: ArenaResult, labels: Mapping[str, str]) -> list[list[str]]:
    names = list(
        dict.fromkeys(name for t in result.tables.values() for s in t.standings for name in s.statistics)
    )
    rows = [["agent", "among", "score", "wins", *map(heading, names)]]
    for (agent, field), table in result.tables.items():
        standing = table[agent]
        means = [f"{standing.statistics[name]:.2f}" if name in standing.statistics else "" for name in names]
        rows.append(
            [labels[agent], labels[field], f"{standing.score:.2f}", f"{standing.win_share:.1%}", *means]
        )
    return rows


def _model_rows(result: ArenaResult, labels: Mapping[str, str]) -> list[list[str]]:
    """Of the ``tally`` of `catbox_agents.text.llm_agent`, which names these numbers."""
    shares = {"first_try": "legal at once", "repaired": "repaired", "fallen_back": "fallen back"}
    numbers = ("unparsable", "unknown", "illegal")
    tokens = {"input_tokens": "tokens in a game", "output_tokens": "tokens out a game"}
    rows = [["agent", "decisions", *shares.values(), *(name.replace("_", " ") for name in numbers)]]
    rows[0] += [*tokens.values(), "cost a game", "s an answer"]
    for name, tally in result.tallies.items():
        decisions = sum(tally[share] for share in shares)
        row = [
            labels[name],
            f"{decisions:,.0f}",
            *(f"{tally[share] / max(decisions, 1):.1%}" for share in shares),
        ]
        row += [f"{tally[number]:,.0f}" for number in numbers]
        row += [f"{tally[number] / tally['games']:,.0f}" for number in tokens]
        row.append(f"{tally['cost'] / tally['games']:.3g}" if "cost" in tally else "")
        rows.append([*row, f"{tally['seconds'] / tally['answers']:.3g}" if tally["answers"] else ""])
    return rows


def _markdown(rows: list[list[str]]) -> str:
    return "(none)" if len(rows) == 1 else markdown_table(rows)


def matrix_figure(content: Mapping[str, Any], width: float = 750) -> Figure:
    """One agent (row) among copies of another (column), the best first, with their ratings.

    Args:
        content: what `ArenaResult.as_dict` gives, and the file of results holds.
        width: pixels that the picture is to have.
    """
    margins = {
        (row["agent"], row["field"]): Estimate(row["margin"], row["low"], row["high"])
        for row in content["matrix"]
    }
    ratings = {row["name"]: Estimate(**row["rating"]) for row in content["summaries"]}

    def total(one: str) -> float:
        return sum(margins[one, field].mean for field in content["agents"])

    agents = sorted(content["agents"], key=total, reverse=True)
    names = [name if len(name) <= _MAX_NAME else f"...{name[3 - _MAX_NAME :]}" for name in agents]
    cells = [[None if one == field else margins[one, field] for field in agents] for one in agents]
    about = [
        f"{game_title(content['game'])}, {content['options']['num_players']} players, "
        f"{_deals(content['deals'], content['deals_planned'])}",
        "Points per game above the others, ± 95 % interval",
        "Rating: Elo scale; 400 points are odds of 10 to 1",
    ]
    rating = ("rating", [_rating(ratings[one]) for one in agents])
    title = f"{names[0]} scores highest"
    return heat_map(title, names, names, cells, rating, about, ("this agent", "among these"), width)


def _rating(rating: Estimate) -> str:
    return f"{rating.mean:+.0f} ± {rating.half_width:.0f}"


def _deals(played: int, planned: int) -> str:
    return (
        f"partial: {played:,} of {planned:,} deals per table"
        if played < planned
        else f"{played:,} deals per table"
    )


def markdown_table(rows: Sequence[Sequence[object]]) -> str:
    """A table whose first row is its header, without a line break at its end; ``|`` in a cell is escaped.

    Columns of numbers after the first column are aligned at the right.
    """
    header, *others = (
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows
    )
    columns = list(zip(*rows, strict=True))[1:]
    numeric = (
        any(cell != "" for cell in column[1:]) and all(_NUMBER.fullmatch(str(cell)) for cell in column[1:])
        for column in columns
    )
    return "\n".join([header, "|---|" + "".join("---:|" if one else "---|" for one in numeric), *others])
