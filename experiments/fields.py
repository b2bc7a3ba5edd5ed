"""How a trained net fares in tables of every kind, beside the heuristic on the same deals.

A study with ``fields`` says which of its variants is judged, and among whom: agents, and nets of the study (``net:
VARIANT``, always of the next seed, so never the net itself). In each field the judged net and then the heuristic take
the first seat, on the same deals.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

import catbox_agents
from experiments.results import Folders, Record, read_rows, write_rows
from experiments.runner import say
from experiments.study import NET, Run, Study

#: The first seed of the deals, which no run uses: training uses seed and seed + 1.
FIRST_SEED = 1_000_000
HEURISTIC = "heuristic"


class FieldResult(Record):
    """One field: the margins of the net and of the heuristic, points a round, with half their 95 % intervals."""

    rules: str
    seed: int
    field: str
    deals: int
    net: float
    net_ci95: float
    heuristic: float
    heuristic_ci95: float


def read_fields(name: str, folders: Folders) -> list[FieldResult]:
    """The results of a study, none where there is no file. Raises ``ValueError`` for a damaged one."""
    return read_rows(folders.results / f"{name}.fields.json", FieldResult)


def play_fields(name: str, study: Study, runs: Sequence[Run], folders: Folders, console: Console) -> None:
    """Play all fields of a study whose runs are finished here, and write the file of results."""
    if not study.fields:
        raise ValueError(f"study {name!r} has no fields: give it judged, fields and field_deals")
    run_of = {run.key: run for run in runs}
    results = []
    for rules in study.rules:
        for place, seed in enumerate(study.seeds):
            other = study.seeds[(place + 1) % len(study.seeds)]
            judged = run_of[rules, study.judged, seed]
            for field, members in study.fields.items():
                others = [
                    str(run_of[rules, agent.removeprefix(NET), other].folder(folders.runs))
                    if agent.startswith(NET)
                    else agent
                    for agent in members
                ]
                net, heuristic = (
                    catbox_agents.evaluate(
                        judged.config.make_game(),
                        [agent, *others],
                        study.field_deals,
                        seed=FIRST_SEED + place,
                        names=["judged", *(f"{k} {member}" for k, member in enumerate(members))],
                    )["judged"]
                    for agent in (str(judged.folder(folders.runs)), HEURISTIC)
                )
                result = FieldResult(
                    rules=rules,
                    seed=seed,
                    field=field,
                    deals=study.field_deals,
                    net=round(net.margin, 4),
                    net_ci95=round(net.margin_ci95, 4),
                    heuristic=round(heuristic.margin, 4),
                    heuristic_ci95=round(heuristic.margin_ci95, 4),
                )
                results.append(result)
                say(console, repr(result))
    write_rows(folders.results / f"{name}.fields.json", results)
