"""The page of an environment, in the form of PettingZoo's, from the code and the docstring of its module."""

from __future__ import annotations

import importlib
import re

import numpy as np

from catbox_agents.arena.report import markdown_table
from catbox_app.rules import player_counts
from catbox_env import Game, make_game
from catbox_env.registration import gymnasium_id

#: The paragraphs of a module's docstring that begin a part of it, and the heading of that part on the page.
PARTS = {
    "Creation": "Arguments",
    "Actions": "Action space",
    "Observation": "Observation space",
    "Rewards": "Rewards",
    "Versions": "Version history",
}
USAGE = """\
```python
from catbox_env import {game_id}

env = {game_id}.env(render_mode="human")
env.reset(seed=42)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    if terminated or truncated:
        action = None
    else:
        # your policy; here a random legal action
        action = env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
env.close()
```"""
MASK = """\
`observation["action_mask"]` has a 1 for each legal action; for an agent that is not to move it is all zeros. For an
illegal action `raw_env()` raises a `ValueError` that names the rule; `env()` ends the game with PettingZoo's illegal
reward."""

OFFSETS = """\
Columns P=2, P=3, ...: the offset of each part with that many players and the other options at their defaults; empty
where there is no such part. Parts are flattened in C order: with three players, index 100 is `{element}`. For other
rules, see `catbox info --game {game_id} --players 3 ...` or `game.observation_layout`."""


def parts_of(docstring: str) -> dict[str, str]:
    """The parts of a module's docstring by heading; under ``""`` what the game is."""
    begins = re.compile(rf"\n\n(?=(?:{'|'.join(PARTS)})\b)")
    first, *rest = begins.split(docstring.replace("``", "`").strip())
    found = {"": first}
    for part in rest:
        word = re.split(r"\W", part, maxsplit=1)[0]
        text = re.sub(r"^\w+: ", "", part) if word in ("Creation", "Observation", "Versions") else part
        found[PARTS[word]] = text
    return found


def with_offsets(text: str, game_id: str) -> str:
    """``text`` with the offsets of the parts in its table, a column for each number of players."""
    layouts = {n: make_game(game_id, num_players=n).observation_layout for n in player_counts(game_id)}
    found = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert found
    (part, shape, *meaning), _, *rows = (line.strip("| ").split(" | ") for line in found[0].splitlines())
    table: list[list[object]] = [[part, shape, *(f"P={n}" for n in layouts), *meaning]]
    for name, shape, *meaning in rows:
        of_name = [layout.get(name.strip("`")) for layout in layouts.values()]
        table.append([name, shape, *(one.offset if one and one.size else "" for one in of_name), *meaning])
    table.append(["all", "O", *(layout.size for layout in layouts.values()), "size of the vector"])
    example = next(one for one in layouts[3].values() if one.offset <= 100 < one.offset + one.size)
    place = ", ".join(map(str, np.unravel_index(100 - example.offset, example.shape)))
    note = OFFSETS.format(game_id=game_id, element=f"{example.name}[{place}]")
    return f"{text[: found.start()]}{markdown_table(table)}\n\n{note}\n{text[found.end() :]}"


def properties(game: Game, game_id: str) -> str:
    """The table at the top, of the game under its default rules."""
    players = player_counts(game_id)
    layout, state = game.observation_layout, game.state_layout
    low, high = min(part.low for part in layout.values()), max(part.high for part in layout.values())
    rows: list[list[object]] = [
        ["import", f"`from catbox_env import {game_id}`"],
        ["PettingZoo", f'`pettingzoo.make("aec", "catbox/{game_id}")`'],
        ["Gymnasium", f'`gymnasium.make("catbox_env:{gymnasium_id(game_id)}")`, one learner among agents'],
        ["many games", f'`catbox_env.make_vec("{game_id}", num_envs=4096, seed=0)`'],
        ["manual control", f"`catbox play --game {game_id}`"],
        ["agents", f"{players[0]}-{players[-1]}, by default {game.num_players}: `player_0`, `player_1`, ..."],
        ["action space", f"`Discrete({game.num_actions})`"],
        ["observation shape", f"({layout.size},), int8"],
        ["observation values", f"{low} .. {high}"],
        ["state shape", f"({state.size},), int8"],
        ["reward `score`", f"{game.min_utility:g} .. {game.max_utility:g}"],
        ["most decisions in a game", game.max_game_length],
    ]
    return markdown_table([["", "default rules"], *rows])


def environment(game_id: str) -> str:
    """The page of an environment below its heading."""
    name = game_id.rpartition("_v")[0]
    docstring = importlib.import_module(f"catbox_env.{game_id}").__doc__
    assert docstring
    parts = parts_of(docstring)
    parts["Observation space"] = with_offsets(parts["Observation space"], game_id)
    title = parts[""].partition(":")[2].strip()
    picture = (
        "<picture>\n"
        f'  <source media="(prefers-color-scheme: dark)" srcset="images/{name}-game-dark.svg">\n'
        f'  <img src="images/{name}-game-light.svg" width="720" alt="A whole game, move by move.">\n'
        "</picture>"
    )
    return "\n\n".join(
        [
            title[0].upper() + title[1:],
            picture,
            properties(make_game(game_id), game_id),
            f"The rules are on [a page of their own]({name}.md).",
            f"## Usage\n\n{USAGE.format(game_id=game_id)}",
            *(
                f"## {heading}\n\n{parts[heading]}"
                + (f"\n\n### Legal actions\n\n{MASK}" if heading == "Action space" else "")
                for heading in PARTS.values()
            ),
        ]
    )
