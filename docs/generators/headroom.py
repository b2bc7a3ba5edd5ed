"""What docs/zoo.md shows of what the agents of the zoo leave on the table: a small table and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from catbox_agents import zoo
from catbox_agents.arena.report import markdown_table
from catbox_agents.arena.results import Estimate, mean_estimates
from catbox_env.core.text import game_title
from docs.generators.figures import Picture, picture_file, shown
from docs.generators.margin_figures import HeatMap
from docs.generators.tables import printed, table_in_words
from experiments.headroom import DEPTHS, FILE, PHASES, Block, share_of_the_deal
from experiments.results import Folders, read_lines
from experiments.zoo import zoo_settings

NAME, TITLE = "headroom", "Points that a search gains, by phase of the round"


def headroom_table(folders: Folders) -> str:
    """A row for each table that was measured, and the picture."""
    measured = _measured(folders)
    if not measured:
        return "Not measured yet: `python -m experiments headroom`."
    header = ["table", "deals", *(f"clairvoyant, depth {depth}" for depth in DEPTHS), "luck of the deal"]
    rows: list[list[str]] = [header]
    for table, own in measured.items():
        gains = [printed(_mean([x for block in own for x in block.clairvoyant[depth]])) for depth in DEPTHS]
        share = share_of_the_deal(np.concatenate([block.sampled for block in own]))
        rows.append([table, str(sum(len(block.sampled) for block in own)), *gains, f"{share:.0%}"])
    return "\n".join([markdown_table(rows), "", shown(NAME, TITLE)])


def headroom_picture(folders: Folders) -> dict[Path, Picture]:
    """File -> picture of the points lost in each phase, at each table that was measured."""
    measured = _measured(folders)
    if not measured:
        return {}
    lost = [[_lost(own, phase) for phase in PHASES] for own in measured.values()]
    return {picture_file(NAME, folders): HeatMap(TITLE, list(measured), PHASES, lost).picture()}


def _measured(folders: Folders) -> dict[str, list[Block]]:
    """Table in words -> blocks of the agent that the zoo has now; those without any are left out."""
    agents = {agent.name: agent for agent in zoo.zoo_agents()}
    blocks = read_lines(folders.results / FILE, Block)
    found = {
        f"{game_title(agents[name].game_id)}, {table_in_words(name)}": [
            block for block in blocks if (block.table, block.sha256) == (name, agents[name].sha256)
        ]
        for name in zoo_settings(folders)
        if name in agents
    }
    return {table: own for table, own in found.items() if own}


def _lost(blocks: Sequence[Block], phase: str) -> Estimate | None:
    values = [x for block in blocks for x in block.lost.get(phase, [])]
    return _mean(values) if values else None


def _mean(values: Sequence[float]) -> Estimate:
    """The mean of ``values`` (deals,) with its interval."""
    return mean_estimates(np.array(values)[:, None])[0]
