"""The leaderboard: rows of the benchmark, from `benchmark/submissions` alone."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from catbox_agents.arena.report import markdown_table
from catbox_agents.bench.report import card_rows, draw_card, leaderboard, leaderboard_tables
from catbox_agents.bench.run import SUBMISSION_FILE
from catbox_agents.bench.verify import read_submission
from docs.generators.figures import Picture, as_saved, picture_file, shown
from docs.generators.tables import printed
from experiments.results import Folders
from experiments.zoo import ZOO, read_training

#: Where the opponents of a scenario are described, of the trained ones and of the others.
_TRAINED, _OPPONENTS = "benchmark.md#the-trained-opponents", "benchmark.md#opponents"
#: The tables of `margins_in_short`.
_IN_SHORT = [f"cat_in_the_box-{players}p" for players in (2, 3, 4, 5)]


@cache
def _rows(submissions: Path) -> list[dict[str, Any]]:
    return leaderboard(sorted(file.parent for file in submissions.glob(f"*/{SUBMISSION_FILE}")))


def leaderboard_table(suite: str, folders: Folders) -> str:
    """The rows of a suite, and the scores of the zoo by scenario, folded, as a picture and in numbers.

    Raises ``ValueError`` for a suite without submissions.
    """
    rows = [row for row in _rows(folders.submissions) if row["suite"] == suite]
    if not rows:
        raise ValueError(f"no submission to {suite!r} in {folders.submissions}")
    header, *cells = leaderboard_tables(rows)[suite]
    lines = _sortable([header, *cells])
    zoo = folders.submissions / f"{suite}-zoo"
    if zoo.exists():
        (_, *tables), *scores = card_rows(read_submission(zoo))
        header = ["zoo", *(name.removeprefix(f"{suite}-") for name in tables)]
        lines += ["\n<details markdown><summary>By scenario</summary>\n"]
        lines += [shown(f"bench-{suite}", "The scores of the zoo in every scenario."), ""]
        lines += [*_sortable([header, *scores], linked=True), "\n</details>"]
    return "\n".join(lines)


def _sortable(rows: Sequence[Sequence[str]], linked: bool = False) -> list[str]:
    """The lines of a compact table that the page can sort; the opponents that the first column names ``linked``."""
    header, *cells = rows
    named = _with_link if linked else html.escape
    shown_cells = [[named(first), *map(_with_minus, others)] for first, *others in cells]
    table = re.sub(r" ?\| ?", "|", markdown_table([header, *shown_cells]))
    return ['<div class="sortable" markdown>\n', table, "\n</div>"]


def _with_link(scenario: str) -> str:
    """The name of a scenario, such as "among heuristic variant 1" or "with one search", its opponent linked."""
    role, _, opponent = scenario.removeprefix("with ").partition(" ")
    before = f"with {role}" if scenario.startswith("with ") else role
    place = _TRAINED if opponent.endswith("edition") else _OPPONENTS
    return f"{before} [{html.escape(opponent)}]({place})"


def zoo_cards(folders: Folders) -> dict[Path, Picture]:
    """File -> the card of the zoo in each suite that it has played."""
    pictures = {}
    for folder in sorted(folders.submissions.glob("*-zoo")):
        submission = read_submission(folder)
        suite = submission["suite"]
        pictures[picture_file(f"bench-{suite}", folders)] = Picture(
            f"The zoo in every scenario of {suite}",
            json.dumps(submission["scenarios"]),
            as_saved(partial(draw_card, submission)),
        )
    return pictures


def _with_minus(cell: str) -> str:
    """A number with a minus sign, on one line; other words as they are."""
    return printed(cell) if cell[:1] in "+-" else cell


def margins_in_short(folders: Folders) -> tuple[str, str]:
    """What the README says of the agents of the zoo: the words and the figures."""
    trained = [read_training(name, folders) for name in _IN_SHORT]
    margins = [
        f"{training.config['game_options.num_players']} players: {training.margin(ZOO, 'heuristic')}".replace(
            " ", "\u00a0"
        )
        for training in trained
        if training
    ]
    return "margin of one trained agent among heuristics, in points a round", "<br>".join(margins)
