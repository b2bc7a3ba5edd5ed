"""The leaderboard and what else docs/zoo.md says of the agents of the zoo: arenas on the deal set `test`.

    python -m experiments leaderboard                       play every arena that has no result yet
    python -m experiments leaderboard fast                  those of the part `fast`
    python -m experiments leaderboard petrify-4x4           those under these rules, in every part
    python -m experiments leaderboard open/petrify-4x4      one arena

`experiments/leaderboard.yaml` says who plays whom: parts, each with rules, agents and deals. An arena may be stopped at
any time and resumes where it was. Its result, as `catbox arena` writes it, with commit and date, is kept in
`experiments/results/leaderboard/PART-RULES.json`; delete that file to play the arena again. `python -m docs.generators`
then writes the pages; they have the command of each arena for `catbox arena`, which keeps nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, TypeAdapter
from rich.console import Console

import catbox_agents
from catbox_agents import zoo
from catbox_agents.system.machine import physical_cores
from catbox_app.output import games_progress
from catbox_env import make_game
from experiments.results import Folders, Record, write_file
from experiments.runner import provenance, say

DEAL_SET = "test"
#: In a spec: the agent of the zoo for the rules, and the one of its previous edition, in the folder of that name.
ZOO, PREVIOUS_EDITION = "zoo", "previous_edition"


class Part(Record):
    """One part of the leaderboard: the same agents under several rule sets.

    ``options``: of the game, beside those of the rules. ``page``: where its results are, docs/leaderboard.md with its
    pages or docs/zoo.md.
    """

    name: str
    title: str
    rules: list[str] = Field(min_length=1)
    options: dict[str, Any] = Field(default_factory=dict)
    agents: list[str] = Field(min_length=2)
    deals: int = Field(ge=10)
    page: Literal["leaderboard", "zoo"] = "leaderboard"

    def specs(self, rules: str, folders: Folders) -> list[str]:
        """The agents under ``rules``."""
        previous = str(folders.own / PREVIOUS_EDITION / f"{rules}.safetensors")
        agents = [previous if agent == PREVIOUS_EDITION else agent for agent in self.agents]
        return [re.sub(rf"(?<![^=]){ZOO}(?![^,])", f"{zoo.PREFIX}{rules}", agent) for agent in agents]

    def names(self, rules: str) -> set[str]:
        """The names of its arena under ``rules`` on the command line."""
        return {f"{self.name}/{rules}", self.name, rules}

    def result_file(self, rules: str, folders: Folders) -> Path:
        """The file of the result of its arena under ``rules``."""
        return folders.results / "leaderboard" / f"{self.name}-{rules}.json"


def read_parts(folders: Folders) -> list[Part]:
    """The parts of the leaderboard. Raises ``ValueError`` for an invalid file."""
    text = (folders.own / "leaderboard.yaml").read_text(encoding="utf-8")
    return TypeAdapter(list[Part]).validate_python(yaml.safe_load(text))


def play_leaderboard(names: Sequence[str], folders: Folders, console: Console) -> None:
    """Play or resume the arenas ``names`` (``PART/RULES``, or a part or rules; by default all).

    Raises ``ValueError``, before anything is played, for rules for which the zoo has no agent, and what
    `catbox_agents.run_arena` raises.
    """
    chosen = [
        (part, rules)
        for part in read_parts(folders)
        for rules in part.rules
        if not names or part.names(rules) & set(names)
    ]
    agents = {rules: zoo.zoo_agent(zoo.PREFIX + rules) for _, rules in chosen}
    for number, (part, rules) in enumerate(chosen, start=1):
        agent, file = agents[rules], part.result_file(rules, folders)
        game = make_game(agent.game.id, **{**agent.game.options, **part.options})
        wanted = {
            "options": game.options,
            "agents": part.agents,
            "deals_planned": part.deals,
            "sha256": agent.sha256,
        }
        if file.exists() and wanted.items() <= json.loads(file.read_text(encoding="utf-8")).items():
            say(console, f"{part.name}/{rules} was played before: {file}")
            continue
        say(console, f"Arena {number} of {len(chosen)}: {part.title}, {rules}, {part.deals:,} deals a table.")
        # A new policy gets a new arena.
        folder = folders.runs / "leaderboard" / part.name / f"{rules}-{agent.sha256[:8]}"
        with games_progress() as progress:
            result = catbox_agents.run_arena(
                game,
                part.specs(rules, folders),
                part.deals,
                deal_set=DEAL_SET,
                names=part.agents,
                mixed=True,
                processes=physical_cores(),
                output=folder,
                progress=progress,
            )
        content = json.loads(json.dumps(result.as_dict(), allow_nan=False))
        about = {"part": part.name, "rules": rules, "sha256": agent.sha256, **provenance()}
        write_file(file, json.dumps({**content, **about}, indent=1) + "\n")
