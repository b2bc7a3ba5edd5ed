"""`catbox train`: self-play training, from settings to a run folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from catbox_app.options import (
    ALGORITHMS,
    PRESETS,
    TRACKERS,
    GameOptions,
    RayAddress,
    add_once,
    add_pairs,
    choice_option,
)
from catbox_app.output import require
from catbox_app.rules import DEFAULT_GAME
from catbox_env.core.checks import check_integer

#: What training needs beyond the command line, by import name.
NEEDED = ("filelock", "matplotlib", "psutil", "pydantic", "tensorboard", "torch", "yaml")


def train(
    game: GameOptions,
    preset: Annotated[
        str | None,
        choice_option(
            "--preset",
            PRESETS,
            f"Settings to start from: {', '.join(PRESETS)}.",
            "quick, unless --config is given",
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="YAML file of settings.")] = None,
    algorithm: Annotated[
        str | None,
        choice_option(
            "--algo",
            ALGORITHMS,
            f"Learning algorithm: {', '.join(ALGORITHMS)}, or package.module:Class for your own.",
            "ppo",
        ),
    ] = None,
    device: Annotated[
        str | None,
        choice_option(
            "--device",
            ["auto", "cpu", "cuda", "mps"],
            "Device of the networks: auto, cpu, cuda, cuda:N or mps.",
            "auto",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any setting, its value in YAML, such as hidden=[64,64]; may be repeated. See --settings.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the run.", show_default="a new one in runs/"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in --output.")] = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Import the modules that the settings file or the run names.",
        ),
    ] = False,
    workers_on_ray: Annotated[
        int | None,
        typer.Option(
            "--workers-on-ray",
            metavar="K",
            help="Play and learn in K processes, all but one of them on a Ray cluster; sets workers to K.",
        ),
    ] = None,
    ray_address: RayAddress = None,
    tracker: Annotated[
        str | None, choice_option("--tracker", TRACKERS, f"Log the metrics there too: {', '.join(TRACKERS)}.")
    ] = None,
    show_settings: Annotated[bool, typer.Option("--settings", help="List the settings and exit.")] = False,
) -> None:
    """Train an agent by self-play.

    Later sources override earlier ones: the preset, the file, the options
    of the command. Ctrl-C saves and stops; --resume continues exactly from
    there. Modules that a file names are imported only with --trust.

    [bold]Examples[/]

    catbox train --players 3

    catbox train --preset standard --players 5 --set seed=7 --output runs/five

    catbox train --resume --output runs/five

    catbox train --preset standard --workers-on-ray 8 --ray-address auto
    """
    require("catbox train", NEEDED, "train")
    if show_settings:
        _print_settings(algorithm or "ppo")
        return
    from catbox_train import registry  # these need torch, which takes seconds
    from catbox_train.memory import keep_freed_memory
    from catbox_train.ray import OnRay
    from catbox_train.runs import loop
    from catbox_train.runs.folder import free_run_folder
    from catbox_train.trackers import tracking

    overrides = given_settings(game, settings, algorithm)
    if workers_on_ray is None and ray_address is not None:
        raise ValueError("--ray-address: give the number of workers on the cluster with --workers-on-ray")
    if workers_on_ray is not None and "workers" in overrides:
        raise ValueError("--workers-on-ray sets the number of workers: leave out --set workers")
    if resume:
        if output is None:
            raise ValueError(
                "--resume: give the folder of the run with --output, such as --output runs/quick"
            )
        if preset is not None or config is not None or overrides.keys() - {"total_decisions"}:
            raise ValueError(
                "--resume keeps the settings of the run: leave out all others but --device and --set total_decisions=N"
            )
        if "total_decisions" in overrides:
            check_integer("total_decisions", overrides["total_decisions"], 1)
        folder = output
    else:
        if workers_on_ray is not None:
            overrides |= {"workers": workers_on_ray, "device": "cpu"}
        if device is not None:
            overrides["device"] = device
        if preset is None and config is None:
            preset = registry.default_preset(game.game_id or DEFAULT_GAME)
        chosen = registry.load_config(preset, config, overrides, trust)
        if config is not None and preset is None:
            name = config.stem
        else:
            of_game = "" if preset and chosen.game == DEFAULT_GAME else chosen.game.rpartition("_v")[0]
            name = "-".join(filter(None, (of_game, preset)))
        folder = output or free_run_folder(Path("runs"), name)
    # What resuming needs too, besides the folder.
    given = {"--workers-on-ray": workers_on_ray, "--ray-address": ray_address, "--tracker": tracker}
    if resume:
        given["--device"] = device
    again = [part for name, value in given.items() if value is not None for part in (name, str(value))]
    keep_freed_memory()  # here, because it affects the whole process, which this command owns
    on_ray = nullcontext() if workers_on_ray is None else OnRay(workers_on_ray, ray_address)
    try:
        with stops_of_training(), on_ray as make_algorithm, tracking(tracker, folder) as on_update:
            if resume:
                loop.resume(
                    folder,
                    trust=trust,
                    device=device,
                    make_algorithm=make_algorithm,
                    options=again,
                    on_update=on_update,
                    total_decisions=overrides.get("total_decisions"),
                )
            else:
                loop.train(chosen, folder, make_algorithm=make_algorithm, options=again, on_update=on_update)
    finally:
        if output is None:  # refused before anything was written: leave no empty folders
            with suppress(OSError):
                folder.rmdir()
                folder.parent.rmdir()


@contextmanager
def stops_of_training(told: str | None = None) -> Iterator[None]:
    """Turn the errors of training that has diverged or was stopped into a message, or ``told``, and an exit code."""
    from catbox_train.runs.progress import (  # needs torch
        TrainingAborted,
        TrainingDiverged,
        TrainingInterrupted,
    )

    try:
        yield
    except TrainingDiverged as diverged:
        typer.echo(f"catbox: {diverged}", err=True)
        raise typer.Exit(1) from None
    except (TrainingInterrupted, TrainingAborted) as stopped:
        typer.echo(told or str(stopped), err=True)
        raise typer.Exit(128 + stopped.signal) from None


def given_settings(
    game: GameOptions, settings: list[str] | None, algorithm: str | None = None
) -> dict[str, Any]:
    """The overrides for ``load_config`` that the options of a command give."""
    from catbox_train.registry import parse_yaml  # in the extra train

    overrides: dict[str, Any] = {} if game.game_id is None else {"game": game.game_id}
    overrides |= {} if algorithm is None else {"algorithm": algorithm}
    overrides |= {f"game_options.{name}": value for name, value in game.rules.items()}
    texts: dict[str, str] = {}
    add_pairs(texts, settings, "--set")
    for name, text in texts.items():
        add_once(overrides, name, parse_yaml(f"--set {name}={text}", text), f"--set {name}={text}")
    return overrides


def _print_settings(algorithm: str) -> None:
    from catbox_agents.arena.terminal_tables import TerminalTable  # catbox_agents takes a second
    from catbox_train.registry import algorithm_class, preset_names  # needs torch

    table = TerminalTable(
        "setting", "default", "what it does", title=f"Settings of a training run with {algorithm}"
    )
    for row in algorithm_class(algorithm).Config.describe():
        table.add_row(*row)
    Console().print(table)
    Console().print(f"Presets: {', '.join(preset_names())}. Algorithms (--algo): {', '.join(ALGORITHMS)}")
