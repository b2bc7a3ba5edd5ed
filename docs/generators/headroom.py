"""The table of docs/zoo.md of what the agents of the zoo leave on the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from catbox_agents import zoo
from catbox_agents.arena.report import markdown_table
from catbox_agents.arena.results import estimates
from docs.generators.tables import printed
from experiments.headroom import DEPTHS, FILE, PHASES, Block, share_of_the_deal
from experiments.results import Folders, read_lines
from experiments.zoo import zoo_settings


def headroom_table(folders: Folders) -> str:
    """A row for each table that was measured, of the agents that the zoo has now."""
    header = [
        "table",
        "deals",
        *(f"clairvoyant, depth {depth}" for depth in DEPTHS),
        "luck of the deal",
        *PHASES,
    ]
    rows: list[list[str]] = [header]
    blocks = read_lines(folders.results / FILE, Block)
    for table in zoo_settings(folders):
        digest = zoo.zoo_agent(zoo.PREFIX + table).sha256
        own = [block for block in blocks if (block.table, block.sha256) == (table, digest)]
        if own:
            rows.append(
                [
                    table,
                    str(sum(len(block.sampled) for block in own)),
                    *(_mean([x for block in own for x in block.clairvoyant[depth]]) for depth in DEPTHS),
                    f"{share_of_the_deal(np.concatenate([block.sampled for block in own])):.0%}",
                    *(_lost(own, phase) for phase in PHASES),
                ]
            )
    return markdown_table(rows)


def _lost(blocks: Sequence[Block], phase: str) -> str:
    values = [x for block in blocks for x in block.lost.get(phase, [])]
    return _mean(values) if values else ""


def _mean(values: Sequence[float]) -> str:
    """The mean of ``values`` (deals,) with its interval."""
    return printed(estimates(np.array(values)[:, None])[0])
