"""Rewrite the blocks of README.md and docs/ that come from the code, and draw docs/images/:
`.venv/bin/python docs/generate.py`.

A block stands between `<!-- generated: NAME ARGUMENTS -->` and `<!-- end -->`; the name is a key of `BLOCKS`. Most
blocks take the id of a game (Cat in the Box by default) and a number of players, for example
`<!-- generated: features cat_te_v0 4 -->`. The pictures are those of `illustrations`. A test in
tests/test_repository.py fails if a block or a picture is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import catbox_agents.features
from catbox_agents.arena.report import markdown_table
from catbox_agents.features import Features
from catbox_app.rules import player_counts
from catbox_env import GAMES, Game, make_game
from catbox_env.registration import gymnasium_id
from catbox_train.registry import algorithm_class
from docs.environment import environment
from docs.generators.leaderboard import leaderboard_table, margins_in_short
from docs.generators.studies import study_section
from docs.illustrations import images
from experiments.results import Folders

ROOT = Path(__file__).resolve().parent.parent
GAME = "cat_in_the_box_v0"
MARKED = re.compile(r"(<!-- generated: (\w+) ?([\w ]*) -->\n).*?(<!-- end -->)", re.DOTALL)


def named_game(arguments: str) -> Game:
    """The game that a block's arguments name."""
    *game_id, players = arguments.split()
    return make_game(*game_id or [GAME], num_players=int(players))


def state(arguments: str) -> str:
    """The parts of the state vector that an observation does not have, or has in another shape."""
    game = named_game(arguments)
    seen = {name: part.shape for name, part in game.observation_layout.items()}
    parts = game.state_layout
    return parts_table(row for row in parts.table() if parts[row[0]].shape != seen.get(row[0]))


def features_of(arguments: str) -> Features:
    """The features of the game that a block's arguments name."""
    features = catbox_agents.features.features_of(named_game(arguments))
    assert features is not None
    return features


def parts_table(parts: Iterable[tuple[str, ...]]) -> str:
    """Rows of `Layout.table` as a table."""
    rows = [(f"`{name}`", *rest) for name, *rest in parts]
    return markdown_table([["part", "offset", "shape", "values", "what it holds"], *rows])


def games(_: str) -> str:
    """Every game under its default rules."""
    found = [make_game(game_id) for game_id in GAMES]
    counts = [player_counts(game_id) for game_id in GAMES]
    players = [f"{min(c)}-{max(c)} ({g.num_players})" for g, c in zip(found, counts, strict=True)]
    rows: list[list[object]] = [
        ["", *(f"`{game_id}`" for game_id in GAMES)],
        ["`gymnasium.make`", *(f"`{gymnasium_id(game_id)}`" for game_id in GAMES)],
        ["players (default)", *players],
        ["actions", *(game.num_actions for game in found)],
        ["observation, int8", *(f"({game.observation_layout.size},)" for game in found)],
        ["state, int8", *(f"({game.state_layout.size},)" for game in found)],
        ["most decisions in a game", *(game.max_game_length for game in found)],
        ["reward `score`", *(f"{game.min_utility:g} .. {game.max_utility:g}" for game in found)],
    ]
    return markdown_table(rows)


def measurements() -> dict[str, Sequence[str]]:
    """Benchmark -> the words and the result of its first row in docs/benchmarks.md; `zoo` is what the zoo earns."""
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    rows: dict[str, Sequence[str]] = {"zoo": margins_in_short(Folders())}
    for what, measured, name in re.findall(r"^\| (.*?) \| (.*?) \| `(\w+)` \| ", text, re.MULTILINE):
        rows.setdefault(name, (what, measured))
    return rows


def figures(names: str) -> str:
    """A table of the `measurements` that ``names`` lists."""
    rows = measurements()
    return markdown_table([["measurement", "result"], *(rows[name] for name in names.split())])


def highlights(_: str) -> str:
    """Three figures of the `measurements`, which the home page shows large, each with its source."""
    found = {name: result for name, (_, result) in measurements().items()}
    margin = found["zoo"].partition("<br>")[0].removeprefix("2\u00a0players:\u00a0").replace("\u00a0", " ")
    shown = [
        (found["engine"].removesuffix("/s"), "per second: random play, 5 players, one core", "benchmarks"),
        (found["level"], "of training on two cores to be level with the heuristic", "benchmarks"),
        (margin, "points per round above heuristics, 2 players, 95 % interval", "zoo"),
    ]
    return "\n".join(f"- **{figure}** [{words}]({page}.md)" for figure, words, page in shown)


def algorithm_settings(name: str) -> str:
    """The settings of an algorithm; of another than PPO, those that PPO does not have or that differ there."""
    known = () if name == "ppo" else algorithm_class("ppo").Config.describe()
    described = [row for row in algorithm_class(name).Config.describe() if row not in known]
    rows = [(f"`{name}`", f"`{default}`", text) for name, default, text in described]
    return markdown_table([["setting", "default", "meaning"], *rows])


#: Name of a block -> what makes it of its arguments.
BLOCKS: dict[str, Callable[[str], str]] = {
    "state": state,
    "features": lambda game: parts_table(features_of(game).layout.table()),
    "action_features": lambda game: parts_table(features_of(game).action_layout.table()),
    "games": games,
    "environment": environment,
    "figures": figures,
    "highlights": highlights,
    "leaderboard": lambda suite: leaderboard_table(suite, Folders()),
    "study": lambda name: study_section(name, Folders()),
    "algorithm_settings": algorithm_settings,
}


def pages() -> list[Path]:
    """The files that may hold generated blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def updated(text: str) -> str:
    """``text`` with every block made again from the code. Raises ``KeyError`` for a block of an unknown name."""
    return MARKED.sub(lambda match: match[1] + BLOCKS[match[2]](match[3]) + "\n" + match[4], text)


if __name__ == "__main__":
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if updated(text) != text:
            page.write_text(updated(text), encoding="utf-8")
            print(f"rewrote {page.relative_to(ROOT)}")
    for name, drawn in images():
        (ROOT / "docs" / "images" / name).write_text(drawn, encoding="utf-8")
