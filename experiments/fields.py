"""How a trained net fares in tables of every kind, beside the heuristic on the same deals.

A study with ``fields`` says which of its variants is judged, and among whom: agents, and nets of the study (``net:
VARIANT``, always of the next seed, so never the net itself). In each field the judged net and then the heuristic take
the first seat, on the same deals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from rich.console import Console

import catbox_agents
from catbox_agents.networks.checkpoint import latest_checkpoint
from experiments.results import read_rows, results_file, write_rows
from experiments.runner import Folders, say
from experiments.study import NET, Run, Study

#: Deals of no run: those of training are drawn from seed and seed + 1.
FIRST_SEED = 1_000_000
HEURISTIC = "heuristic"
#: Of a result, those of the net and of the heuristic.
MARGINS = ("net", "net_ci95", "heuristic", "heuristic_ci95")


class FieldResult(BaseModel):
    """One field: the margins of the net and of the heuristic, points a round, with half their 95 % intervals."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    rules: str
    seed: int
    field: str
    deals: int
    net: float
    net_ci95: float
    heuristic: float
    heuristic_ci95: float


def fields_file(name: str, folder: Path) -> Path:
    """The file of the results of the study ``name``."""
    return folder / f"{name}.fields.json"


def read_fields(name: str, folder: Path) -> list[FieldResult]:
    """The results in the file of a study, none where there is no file. Raises ``ValueError`` for a damaged one."""
    return read_rows(fields_file(name, folder), FieldResult)


def play_fields(name: str, study: Study, runs: Sequence[Run], folders: Folders, console: Console) -> None:
    """Play all fields of a study whose runs are finished, and write the file of results.

    Raises ``ValueError`` for a study without fields and for a run that is not finished.
    """
    if not study.fields:
        raise ValueError(f"study {name!r} has no fields: give it judged, fields and field_deals")
    folder_of = {run.key: folders.of(run) for run in runs}
    for run in runs:
        if latest_checkpoint(folders.of(run)) is None:
            raise ValueError(
                f"{run} is not trained here: run  python -m experiments run {name}  (where it has a result, of another "
                f"machine or study, delete that line of {results_file(name, folders.results)} first)"
            )
    results = []
    for rules in study.rules:
        for place, seed in enumerate(study.seeds):
            other = study.seeds[(place + 1) % len(study.seeds)]
            judged = str(folder_of[rules, study.judged, seed])
            game = next(run for run in runs if run.rules == rules).config.make_game()
            for field, members in study.fields.items():
                others = [
                    str(folder_of[rules, agent.removeprefix(NET), other]) if agent.startswith(NET) else agent
                    for agent in members
                ]
                margins = []
                for agent in (judged, HEURISTIC):
                    names = ["judged", *(f"{k} {agent}" for k, agent in enumerate(members))]
                    result = catbox_agents.evaluate(
                        game, [agent, *others], study.field_deals, seed=FIRST_SEED + place, names=names
                    )
                    margins += [round(result["judged"].margin, 4), round(result["judged"].margin_ci95, 4)]
                named = dict(zip(MARGINS, margins, strict=True))
                results.append(
                    FieldResult(rules=rules, seed=seed, field=field, deals=study.field_deals, **named)
                )
                net, net_ci95, heuristic, heuristic_ci95 = margins
                say(
                    console,
                    f"{rules}, seed {seed}, {field}: net {net:+.2f} ± {net_ci95:.2f}, "
                    f"heuristic {heuristic:+.2f} ± {heuristic_ci95:.2f}",
                )
    write_rows(fields_file(name, folders.results), results)


def fields_table(results: Sequence[FieldResult], rules: str) -> list[list[str]]:
    """A row for each field under one rule set: means over the seeds, and the difference with its 95 % interval.

    The interval comes from the deals; that of the difference takes the two margins as independent, which is wider than
    the deals that they share allow.
    """
    rows = [["among", "net", "heuristic", "difference"]]
    of_rules = [result for result in results if result.rules == rules]
    for field in dict.fromkeys(result.field for result in of_rules):
        found = [result for result in of_rules if result.field == field]
        count = len(found)
        net, heuristic = (sum(getattr(r, name) for r in found) / count for name in ("net", "heuristic"))
        of_net, of_heuristic = (
            math.hypot(*(getattr(r, name) for r in found)) / count for name in ("net_ci95", "heuristic_ci95")
        )
        rows.append(
            [
                field,
                f"{net:+.2f} ± {of_net:.2f}",
                f"{heuristic:+.2f} ± {of_heuristic:.2f}",
                f"{net - heuristic:+.2f} ± {math.hypot(of_net, of_heuristic):.2f}",
            ]
        )
    return rows
