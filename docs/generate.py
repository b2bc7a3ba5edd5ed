"""Rewrite the blocks of README.md and docs/ that come from the code: `.venv/bin/python docs/generate.py`.

A block stands between `<!-- generated: NAME ARGUMENT -->` and `<!-- end -->`; the name is a key of `BLOCKS`.
tests/test_repository.py fails when a block is out of step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from catbox_env import cat_in_the_box_v0, make_game
from catbox_train.config import TrainConfig

ROOT = Path(__file__).resolve().parent.parent
GAME = "cat_in_the_box_v0"
PLAYERS = (5, 4, 3, 2)
MARKED = re.compile(r"(<!-- generated: (\w+) ?(\w*) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; `|` in a cell is escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines
    )


def observation(players: str) -> str:
    """The parts of an observation."""
    layout = make_game(GAME, num_players=int(players)).observation_layout
    rows = [(f"`{name}`", *rest) for name, *rest in layout.table()]
    return markdown_table(["part", "offset", "shape", "values", "what it holds"], rows)


def match_observation(players: str) -> str:
    """The parts that a match adds to the observation of a single round."""
    single = make_game(GAME, num_players=int(players)).observation_layout
    match = make_game(GAME, num_players=int(players), rounds="match").observation_layout
    rows = [(f"`{name}`", *rest) for name, *rest in match.table() if name not in single]
    return markdown_table(["part", "offset", "shape", "values", "what it holds"], rows)


def state(players: str) -> str:
    """The parts of the state vector that an observation does not have, or has in another shape."""
    game = make_game(GAME, num_players=int(players))
    seen = {name: part.shape for name, part in game.observation_layout.items()}
    rows = [
        (f"`{name}`", *rest)
        for name, *rest in game.state_layout.table()
        if game.state_layout[name].shape != seen.get(name)
    ]
    return markdown_table(["part", "offset", "shape", "values", "what it holds"], rows)


def actions(players: str) -> str:
    """The ids of the actions."""
    rows = [
        (f"{first}" if first == last else f"{first}-{last}", text)
        for first, last, text in make_game(GAME, num_players=int(players)).describe_actions()
    ]
    return markdown_table(["ids", "action"], rows)


def properties(_: str) -> str:
    """What a user of reinforcement learning asks first, for each number of players."""
    games = [make_game(GAME, num_players=players) for players in PLAYERS]
    decisions = [
        f"{players * (game.rules.num_tricks + 1 + bool(game.rules.bids))}"
        for players, game in zip(PLAYERS, games, strict=True)
    ]
    rows: list[list[object]] = [
        ["agents", *(f"`player_0` .. `player_{players - 1}`" for players in PLAYERS)],
        ["actions", *(game.num_actions for game in games)],
        ["observation, int8", *(f"({game.observation_layout.size},)" for game in games)],
        ["state, int8", *(f"({game.state_layout.size},)" for game in games)],
        ["most decisions in a round", *decisions],
        ["reward `score`", *(f"{game.min_utility:g} .. {game.max_utility:g}" for game in games)],
    ]
    return markdown_table(["", *(f"{players} players" for players in PLAYERS)], rows)


def picture(_: str) -> str:
    """A game as `render_mode="ansi"` shows it: 25 random moves by three players."""
    env = cat_in_the_box_v0.env(num_players=3, render_mode="ansi")
    env.reset(seed=7)
    generator = np.random.default_rng(7)
    for _move in range(25):
        mask = env.last()[0]["action_mask"]
        env.step(int(generator.choice(np.flatnonzero(mask))))
    state, game = env.unwrapped.game_state, env.unwrapped.game
    legal = ", ".join(game.action_to_string(action) for action in state.legal_actions())
    caption = (
        f"Digits on the board are the seats that own the cells. player_{state.current_player} may: {legal}."
    )
    return f"```text\n{env.render().rstrip()}\n```\n\n{caption}\n"


def settings(_: str) -> str:
    """The settings of a training run."""
    rows = [(f"`{name}`", f"`{default}`", text) for name, default, text in TrainConfig.describe()]
    return markdown_table(["setting", "default", "meaning"], rows)


BLOCKS: dict[str, Callable[[str], str]] = {
    function.__name__: function
    for function in (observation, match_observation, state, actions, properties, picture, settings)
}


def pages() -> list[Path]:
    """The files that may hold generated blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def updated(text: str) -> str:
    """``text`` with every block as the code says now. Raises ``KeyError`` for a block that nothing makes."""
    return MARKED.sub(lambda match: match[1] + BLOCKS[match[2]](match[3]) + match[4], text)


if __name__ == "__main__":
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if updated(text) != text:
            page.write_text(updated(text), encoding="utf-8")
            print(f"rewrote {page.relative_to(ROOT)}")
