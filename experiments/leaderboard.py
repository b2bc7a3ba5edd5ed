"""The leaderboard: arenas on the deal set `test`, and the pages that show them.

`experiments/leaderboard.yaml` says who plays whom: sections of arenas, each with agents and deals. An arena may be
stopped at any time and goes on where it was. Its result, as `catbox arena` writes it, with commit and date, is kept in
`experiments/results/leaderboard/NAME.json`; from these files and those of the zoo come docs/leaderboard.md, the table
in the README and the cards of the zoo.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rich.console import Console

import catbox_agents
from catbox_agents import zoo
from catbox_agents.files import parse_json, read_text
from catbox_agents.machine import physical_cores
from catbox_app.games_progress import games_progress
from catbox_env.core.checks import brief, closest
from experiments.results import write_file
from experiments.runner import provenance, say
from experiments.study import FOLDER

LEADERBOARD_FILE = FOLDER / "leaderboard.yaml"
DEAL_SET = "test"
#: In a spec: the agent of the zoo for the rules.
ZOO = "zoo"


class Part(BaseModel):
    """One part of the leaderboard: the same agents under several rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    rules: list[str] = Field(min_length=1)
    agents: list[str] = Field(min_length=2)
    deals: int = Field(ge=10)

    def specs(self, rules: str) -> list[str]:
        """The agents under ``rules``."""
        return [re.sub(rf"(?<![^=]){ZOO}(?![^,])", f"{zoo.PREFIX}{rules}", agent) for agent in self.agents]


def read_parts() -> list[Part]:
    """The parts of the leaderboard. Raises ``ValueError`` for a file that is not valid."""
    try:
        return TypeAdapter(list[Part]).validate_python(yaml.safe_load(read_text(LEADERBOARD_FILE)))
    except (ValidationError, yaml.YAMLError) as error:
        raise ValueError(f"{LEADERBOARD_FILE}: {error}") from None


def play_leaderboard(names: Sequence[str], runs: Path, results: Path, console: Console) -> None:
    """Play the arenas ``names`` (``PART/RULES``, or a part or rules; all, if none are named), or go on with them.

    Raises ``ValueError`` for an unknown name and for rules that the zoo has no agent for, before anything is played,
    and what `catbox_agents.run_arena` raises.
    """
    parts = read_parts()
    arenas = [(part, rules) for part in parts for rules in part.rules]
    known = [word for part, rules in arenas for word in (f"{part.name}/{rules}", part.name, rules)]
    for name in names:
        if name not in known:
            raise ValueError(f"no arena {brief(name)} in {LEADERBOARD_FILE.name}{closest(name, known)}")
    chosen = [
        (part, rules)
        for part, rules in arenas
        if not names or {f"{part.name}/{rules}", part.name, rules} & set(names)
    ]
    agents = {agent.name: agent for agent in zoo.zoo_agents()}
    if missing := list(dict.fromkeys(rules for _, rules in chosen if rules not in agents)):
        raise ValueError(
            f"the zoo has no agent for {', '.join(missing)}: train them first, with "
            f"`python -m experiments zoo {' '.join(missing)}`"
        )
    for number, (part, rules) in enumerate(chosen, start=1):
        say(console, f"Arena {number} of {len(chosen)}: {part.title}, {rules}, {part.deals:,} deals a table.")
        agent = agents[rules]
        folder = runs / part.name / f"{rules}-{agent.sha256[:8]}"  # another policy plays another arena
        with games_progress(console) as progress:
            result = catbox_agents.run_arena(
                agent.game,
                part.specs(rules),
                part.deals,
                deal_set=DEAL_SET,
                names=part.agents,
                mixed=True,
                processes=physical_cores(),
                output=folder,
                progress=progress,
            )
        content = json.loads(json.dumps(result.as_dict(), allow_nan=False))
        file = result_file(part.name, rules, results)
        if file.exists() and content.items() <= parse_json(read_text(file)).items():
            say(console, f"{part.name}/{rules} was played before.")
            continue
        about = {"part": part.name, "rules": rules, "sha256": agent.sha256, **provenance()}
        write_file(file, json.dumps({**content, **about}, indent=1) + "\n")


def result_file(part: str, rules: str, results: Path) -> Path:
    """Where the result of an arena is kept."""
    return results / "leaderboard" / f"{part}-{rules}.json"
