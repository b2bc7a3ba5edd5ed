"""`catbox bench`: the benchmark's scenarios, runs, verification and leaderboard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from catbox_agents.system.files import write_atomically, writing_atomically
from catbox_app.commands.arena import NEEDED
from catbox_app.options import AGENTS, Processes, RayAddress, agents_argument, choice_option
from catbox_app.output import check_writable, games_progress, require

#: The suites. They stand here too, because the benchmark takes a second to import.
SUITES = ("cat_in_the_box", "cat_te", "petrify")
TRACKS = ("learn-10M", "learn-1B", "open", "open+search")

PrivateSeed = Annotated[
    str | None,
    typer.Option(
        "--private-seed",
        envvar="CATBOX_PRIVATE_SEED",
        show_envvar=True,
        metavar="TEXT",
        help="An organiser's secret: deals and variants of opponents that nobody has seen.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="A tenth of the deals: to try it out, not to compare.")]

bench = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Measure an agent by the benchmark: see docs/benchmark.md.

    [bold]Example[/]

    catbox bench run runs/quick --suite cat_in_the_box --quick --output bench/quick
    """,
)


@bench.command("list")
def list_suites(
    suite_name: Annotated[str | None, choice_option("--suite", SUITES, "Only this suite.", "all")] = None,
    long: Annotated[bool, typer.Option("--long", help="Also each scenario: its deals and its hash.")] = False,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Also write the scenarios to this file.")
    ] = None,
) -> None:
    """Show the suites: the opponents, the roles in which your agent meets them, and what each asks.

    The hash is that of the scenario as this version of catbox plays it: rules, opponents and deals.
    """
    require("catbox bench", NEEDED, "arena")
    from catbox_agents.arena.terminal_tables import terminal_table  # these need the extra arena
    from catbox_agents.bench import suite, suite_names
    from catbox_agents.bench.report import opponent_in_full
    from catbox_agents.bench.run import current_hash

    check_writable(json_path)
    console = Console()
    every: list[dict[str, Any]] = []
    for name in [suite_name] if suite_name else suite_names():
        tables, scenarios = suite(name).tables, suite(name).scenarios
        roles: dict[tuple[str, str], dict[str, None]] = {}
        hashes = [["scenario", "deals", "hash"]]
        for scenario in scenarios:
            roles.setdefault((opponent_in_full(scenario), scenario.asks), {})[scenario.role] = None
            hash_ = current_hash(scenario) if long or json_path else ""
            hashes.append([scenario.name, f"{scenario.deals}", hash_])
            opponent = scenario.opponent if scenario.file else scenario.spec
            every.append({**scenario.data(), "asks": scenario.asks, "spec": opponent, "hash": hash_})
        rows = [["opponent", "role", "asks"]]
        rows += [[opponent, ", ".join(found), asks] for (opponent, asks), found in roles.items()]
        names = ", ".join(table.name.removeprefix(f"{name}-") for table in tables)
        title = f"{name}: {len(scenarios)} scenarios at {len(tables)} tables ({names})"
        console.print(terminal_table(rows, title=title), "")
        if long:
            console.print(terminal_table(hashes), "")
    if not long:
        typer.echo("--long shows each scenario with its deals and its hash.")
    if json_path is not None:
        write_atomically(json_path, (json.dumps(every, indent=1) + "\n").encode())


@bench.command("run", no_args_is_help=True)
def run(
    agents: Annotated[
        list[str], agents_argument(f"One or more of: {AGENTS}. The first that can play a table plays there.")
    ],
    suite_name: Annotated[str, choice_option("--suite", SUITES, "The suite to play.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the submission. A stopped run resumes from it.")
    ],
    quick: Quick = False,
    name: Annotated[
        str | None, typer.Option("--name", help="What tables call the agent.", show_default="its spec")
    ] = None,
    track: Annotated[
        str, choice_option("--track", TRACKS, "What it declares to be: see docs/benchmark.md.", "open")
    ] = "open",
    decisions: Annotated[
        int | None,
        typer.Option("--decisions", help="Decisions of its training, with those of its ancestors."),
    ] = None,
    settings: Annotated[
        str | None, typer.Option("--settings", help="How it was trained, such as the command.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="The seed of its training.")] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", help="Seconds of its training.")] = None,
    hardware: Annotated[str | None, typer.Option("--hardware", help="What it was trained on.")] = None,
    licence: Annotated[str | None, typer.Option("--licence", help="Of its weights or code.")] = None,
    contact: Annotated[str | None, typer.Option("--contact", help="Who may be asked about it.")] = None,
    private_seed: PrivateSeed = None,
    processes: Processes = None,
    ray_address: RayAddress = None,
) -> None:
    """Play an agent through a suite, and write a submission: submission.json, games.jsonl, card.svg, and its policies.

    [bold]Examples[/]

    catbox bench run runs/quick --suite cat_in_the_box --quick --output bench/quick

    catbox bench run runs/2p runs/3p runs/4p runs/5p --suite cat_in_the_box --output bench/mine
    """
    require("catbox bench", NEEDED, "arena")
    from catbox_agents.arena.terminal_tables import terminal_table  # these need the extra arena
    from catbox_agents.bench import BenchInterrupted, run_bench, suite
    from catbox_agents.bench.report import CARD_FILE, card_rows, draw_card, total_in_words
    from catbox_agents.system.machine import physical_cores

    if ray_address is None and processes is None:
        processes = physical_cores()
    declared = {
        "track": track,
        "decisions": decisions,
        "settings": settings,
        "seed": seed,
        "seconds": seconds,
        "hardware": hardware,
        "licence": licence,
        "contact": contact,
    }
    try:
        with games_progress() as progress:
            submission = run_bench(
                agents,
                suite(suite_name, private_seed=private_seed, quick=quick),
                output,
                name=name,
                declared=declared,
                processes=processes,
                ray_address=ray_address,
                progress=progress,
            )
    except BenchInterrupted as interrupted:
        typer.echo(f"catbox: {interrupted}", err=True)
        raise typer.Exit(130) from None
    console = Console()
    title = f"{submission['agent']['name']}, {suite_name}: {total_in_words(submission)}"
    caption = "0: as much as the heuristic earns in the same seats; 100: a standard deviation of a round more"
    console.print(terminal_table(card_rows(submission), title=title, caption=caption))
    for name, score in submission["tables"].items():
        if score is not None:
            worst = f"worst scenario {score['worst']} {score['worst_score']:+.0f}"
            typer.echo(f"{name}: {score['mean']:+.1f} ± {score['ci95']:.1f}, {worst}")
    for result in submission["scenarios"]:
        if "error" in result:
            typer.echo(f"{result['name']} ended with an error: {result['error']}", err=True)
    with writing_atomically(output / CARD_FILE) as file:
        draw_card(submission).savefig(file, format="svg")
    typer.echo(f"Written to {output}. Anyone can check it:  catbox bench verify {output}")


@bench.command("verify", no_args_is_help=True)
def verify_submission(
    folder: Annotated[Path, typer.Argument(help="The folder of a submission.")],
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="SPEC",
            help="Ask this agent whether it would decide as recorded. Its code runs: only if you trust it. "
            "Repeat it as in catbox bench run.",
            show_default="the policies that the submission holds",
        ),
    ] = None,
    private_seed: PrivateSeed = None,
    all_moves: Annotated[
        bool, typer.Option("--all", help="Ask opponents that search in all their moves, not in some: slow.")
    ] = False,
    processes: Processes = None,
) -> None:
    """Check a submission: play its games again, ask the opponents and its policies, compute every number anew.

    The exit code is 0 if all holds, else 1.
    """
    require("catbox bench", NEEDED, "arena")
    from catbox_agents.bench import verify  # these need the extra arena
    from catbox_agents.system.machine import physical_cores

    with games_progress() as progress:
        found = verify(
            folder,
            agents=agents or None,
            private_seed=private_seed,
            **({"search_share": 1.0} if all_moves else {}),
            processes=processes or physical_cores(),
            progress=progress,
        )
    for line in found.holds:
        typer.echo(f"holds: {line}")
    for line in found.problems:
        typer.echo(f"does not hold: {line}", err=True)
    if not found.is_valid:
        raise typer.Exit(1)
    tables = ", ".join(name for name, score in found.submission["tables"].items() if score is not None)
    complete = "" if found.is_complete else f" It has a score for {tables or 'no table'}, none for the suite."
    unasked = [name for name in found.submission["tables"] if name not in found.asked]
    agent = (
        "the agent was not asked"
        if not found.asked
        else f"the agent was asked for {', '.join(found.asked)} alone"
    )
    checked = (
        f"games, opponents and numbers; {agent}" if unasked else "games, opponents, numbers and the agent"
    )
    typer.echo(f"{folder} is valid: {checked}. What it declares about itself cannot be checked.{complete}")


@bench.command("table", no_args_is_help=True)
def table(
    folders: Annotated[list[Path], typer.Argument(help="Folders of submissions.")],
    ranked: Annotated[
        list[str] | None,
        typer.Option(
            "--ranked", metavar="HASH", help="The hash of a private seed that an organiser has published."
        ),
    ] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write it to this file.")] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Also write it to this file, in Markdown.")
    ] = None,
) -> None:
    """Show a leaderboard of submissions. Nothing is verified: catbox bench verify does that."""
    require("catbox bench", NEEDED, "arena")
    from catbox_agents.arena.terminal_tables import terminal_table  # these need the extra arena
    from catbox_agents.bench.report import leaderboard, leaderboard_page, leaderboard_tables

    check_writable(json_path)
    check_writable(page)
    rows = leaderboard(folders, ranked or [])
    for name, cells in leaderboard_tables(rows, declared=False).items():
        shown = terminal_table(cells)
        shown.title = name
        Console().print(shown)
    if json_path is not None:
        write_atomically(json_path, (json.dumps(rows, indent=1) + "\n").encode())
    if page is not None:
        write_atomically(page, leaderboard_page(rows).encode())
