"""The page of an environment, in the form of PettingZoo's: tables from the code, notes from its module's docstring."""

from __future__ import annotations

import importlib
import re
from inspect import signature
from typing import Any

import numpy as np

from catbox_agents.arena.report import markdown_table
from catbox_app.rules import described, player_counts, rule_fields
from catbox_env import Game, make_game
from catbox_env.adapters.aec import AECGame
from catbox_env.registration import gymnasium_id

#: The paragraphs of a module's docstring that begin a part of it, and the heading of that part on the page.
PARTS = {
    "Options": "Arguments",
    "Actions": "Action space",
    "Observation": "Observation space",
    "Rewards": "Rewards",
    "Versions": "Version history",
}
#: Options under which an observation has every part, of the games whose default rules lack some.
ALL_PARTS: dict[str, dict[str, Any]] = {
    "cat_in_the_box_v0": {"hand_size": 9, "revealed_cards": 3, "rounds": 127},
    "cat_te_v0": {"side_pot": 1, "rounds": 127},
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

CREATION = "`env(**options)` (wrapped) or `raw_env(**options)` (bare: train and search on this one)."
OBSERVATION = """\
`{{"observation": int8 ({size},), "action_mask": int8 ({actions},)}}`, and with `history=True` also
`"history": int8 ({length}, 2)`. Seats are relative: 0 is the observer, 1 the next in turn.

The vector's parts, in order; `game.observation_layout` gives offsets and views."""
OFFSETS = """\
Shapes and values are those of the default rules{other}.
Columns P=2, P=3, ...: the offset of each part with that many players and the other options at their defaults; empty
where there is no such part. Parts are flattened in C order: with three players, index 100 is `{element}`. For other
rules, see `catbox info --game {game_id} --players 3 ...` or `game.observation_layout`."""


def parts_of(docstring: str) -> dict[str, str]:
    """The parts of a module's docstring by heading; under ``""`` what the game is."""
    begins = re.compile(rf"\n\n(?=(?:{'|'.join(PARTS)})\b)")
    first, *rest = begins.split(docstring.replace("``", "`").strip())
    found = {"": first.partition("\n\n")[0]}
    for part in rest:
        found[PARTS[re.split(r"\W", part, maxsplit=1)[0]]] = re.sub(r"^\w+: ", "", part)
    return found


def options(game_id: str, shared: str | None) -> str:
    """The options of an environment: the rules of its game, and those of every environment, from that docstring."""
    rows = [(name, rule.default, rule.help) for name, rule in rule_fields(game_id).items()]
    defaults = {**signature(Game).parameters, **signature(AECGame).parameters}
    for name, text in described(shared, "Options").items():
        rows.append((name, defaults[name].default, text))
    table = [
        (f"`{name}`", f"`{default!r}`".replace("'", '"'), text.rstrip(".")) for name, default, text in rows
    ]
    return markdown_table([("option", "default", "meaning"), *table])


def actions(game_id: str) -> str:
    """How many actions there are, and each of them under the default rules."""
    game, players = make_game(game_id), player_counts(game_id)
    counts = list(dict.fromkeys(make_game(game_id, num_players=n).num_actions for n in players))
    rows = [
        (f"`{first}`" if first == last else f"`{first} .. {last}`", text)
        for first, last, text in game.describe_actions()
    ]
    many = f"`Discrete({game.num_actions})`"
    if len(counts) > 1:
        many += f" ({listed(counts)} actions for {listed(players)} players)"
    table = markdown_table([("ids", "meaning"), *rows])
    return f"{many}. Under the default rules, with {game.num_players} players:\n\n{table}"


def listed(numbers: list[int]) -> str:
    """``"2, 3 and 4"``."""
    *before, last = map(str, numbers)
    return f"{', '.join(before)} and {last}"


def observation(game_id: str) -> str:
    """The parts of an observation, with their offsets in a column for each number of players."""
    game, other = make_game(game_id), ALL_PARTS.get(game_id, {})
    layouts = {n: make_game(game_id, num_players=n).observation_layout for n in player_counts(game_id)}
    every, usual = make_game(game_id, **other).observation_layout, game.observation_layout
    rows = {row[0]: row for layout in (every, usual) for row in layout.table()}
    table: list[list[object]] = [["part", "shape", "values", *(f"P={n}" for n in layouts), "meaning"]]
    for name in usual.names:
        _, _, shape, values, meaning = rows[name]
        of_name = [layout.get(name) for layout in layouts.values()]
        offsets = [one.offset if one and one.size else "" for one in of_name]
        table.append([f"`{name}`", shape, values, *offsets, meaning])
    table.append(["all", usual.size, "", *(layout.size for layout in layouts.values()), "size of the vector"])
    example = next(one for one in layouts[3].values() if one.offset <= 100 < one.offset + one.size)
    place = ", ".join(map(str, np.unravel_index(100 - example.offset, example.shape)))
    named = ", ".join(f"{name}={value}" for name, value in other.items())
    note = OFFSETS.format(
        game_id=game_id,
        element=f"{example.name}[{place}]",
        other=f"; of parts that these lack, those with `{named}`" if other else "",
    )
    begin = OBSERVATION.format(size=usual.size, actions=game.num_actions, length=game.max_game_length)
    return f"{begin}\n\n{markdown_table(table)}\n\n{note}"


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
    module = importlib.import_module(f"catbox_env.{game_id}")
    parts = parts_of(module.__doc__ or "")
    title = parts[""].partition(":")[2].strip()
    picture = (
        "<picture>\n"
        f'  <source media="(prefers-color-scheme: dark)" srcset="images/{name}-game-dark.svg">\n'
        f'  <img src="images/{name}-game-light.svg" width="720" alt="A whole game, move by move.">\n'
        "</picture>"
    )
    generated = {
        "Arguments": f"{CREATION}\n\n{options(game_id, module.env.__doc__)}",
        "Action space": actions(game_id),
        "Observation space": observation(game_id),
    }
    blocks = [
        title[0].upper() + title[1:],
        picture,
        properties(make_game(game_id), game_id),
        f"The rules are on [a page of their own]({name}.md).",
        f"## Usage\n\n{USAGE.format(game_id=game_id)}",
    ]
    for heading in PARTS.values():
        blocks += [f"## {heading}", *(text[heading] for text in (generated, parts) if heading in text)]
        if heading == "Action space":
            blocks.append(f"### Legal actions\n\n{MASK}")
    return "\n\n".join(blocks)
