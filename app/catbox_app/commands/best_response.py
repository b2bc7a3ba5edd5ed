"""`catbox best-response`: how much learners that play among copies of an agent gain over it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from catbox_agents.arena.terminal_tables import TerminalTable
from catbox_agents.specs import parse_spec
from catbox_app.commands.train import NEEDED, given_settings, stops_of_training
from catbox_app.options import AGENTS, PRESETS, GameOptions, choice_option, complete_agent
from catbox_app.output import require


def best_response(
    game: GameOptions,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            help=f"The agent, one of: {AGENTS}.",
            autocompletion=complete_agent,
            show_default=False,
        ),
    ],
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds of the learners, one each.")] = "1,2,3",
    deals: Annotated[
        int,
        typer.Option("--deals", "-n", help="Deals of the final comparisons, each played from every seat."),
    ] = 2000,
    preset: Annotated[
        str, choice_option("--preset", PRESETS, f"Preset of the learners: {', '.join(PRESETS)}.")
    ] = "quick",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any training setting, such as total_decisions=50_000_000; may be repeated.",
        ),
    ] = None,
    from_scratch: Annotated[
        bool,
        typer.Option("--from-scratch", help="Do not start from the agent's network, if it has one."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for the runs and the result.", show_default="runs/best-response"
        ),
    ] = None,
) -> None:
    """Train learners against an agent, and measure what they gain.

    Each learner has one seat, and frozen copies of the agent have the
    others. If the agent is a policy, the learners start from its weights
    and learn with small steps. The best learner's gain is a lower bound on
    the agent's exploitability.
    Ctrl-C saves and stops; the same command resumes.

    [bold]Examples[/]

    catbox best-response --target heuristic --players 3

    catbox best-response --target runs/standard --players 5 --preset standard
    """
    require("catbox best-response", NEEDED, "train")
    # These need torch, which takes seconds.
    from catbox_train.best_responses import RESULT_FILE, SET_HERE, fine_tuning
    from catbox_train.best_responses import best_response as find
    from catbox_train.memory import keep_freed_memory
    from catbox_train.registry import load_config
    from catbox_train.runs.progress import command

    try:
        numbers = [int(part) for part in seeds.split(",")]
    except ValueError:
        raise ValueError(f"--seeds {seeds!r}: expected integers separated by commas, such as 1,2,3") from None
    given = given_settings(game, settings)
    if own := [name for name in given if name in SET_HERE]:
        raise ValueError(
            f"--set {', '.join(own)}: best-response sets this itself; --seeds sets the learners' seeds"
        )
    parse_spec(target)
    config = load_config(preset, overrides=given)
    if not from_scratch:
        config = load_config(preset, overrides={**fine_tuning(target, config), **given})
    folder = output or Path("runs") / "best-response"
    keep_freed_memory()
    with stops_of_training(f"Stopped. To resume, run the same command: {command()} best-response ..."):
        result = find(target, config, folder, numbers, deals, from_scratch)
    table = TerminalTable(
        "learner",
        "score gained a game",
        "margin gained a game",
        title=f"One learner among copies of {target}, {deals} deals",
    )
    for run in result["runs"]:
        best = " (best on other deals)" if run == result["gain"] else ""
        table.add_row(
            f"seed {run['seed']}{best}",
            f"{run['score']:+.2f} ± {run['score_ci95']:.2f}",
            f"{run['margin']:+.2f} ± {run['margin_ci95']:.2f}",
        )
    Console().print(table)
    gain, judged_by = result["gain"], result["judged_by"]
    found = gain[judged_by] > gain[f"{judged_by}_ci95"]
    other = "score" if judged_by == "margin" else "margin"
    gains, in_other = (f"{gain[name]:+.2f} ± {gain[f'{name}_ci95']:.2f}" for name in (judged_by, other))
    Console().print(
        f"{target} scores {result['target_score']:.2f} a game among copies of itself. The best learner, judged by the "
        f"{judged_by}, gains {gains} a game ({other}: {in_other})"
        f"{': a lower bound on the exploitability' if found else ': these learners found no way to exploit it'}. "
        f"Result: {folder / RESULT_FILE}. To play the learner as an agent:  {gain['checkpoint']}",
        highlight=False,
        soft_wrap=True,
    )
