"""`catbox train`: self-play training, from settings to a run folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from catbox_app.options import (
    ALGORITHMS,
    PRESETS,
    TRACKERS,
    GameOptions,
    RayAddress,
    add_once,
    add_pairs,
    complete_words,
)
from catbox_app.preconditions import require
from catbox_app.rules import DEFAULT_GAME

#: What training needs beyond the command line, by import name.
NEEDED = ("filelock", "matplotlib", "psutil", "pydantic", "tensorboard", "torch", "yaml")


def train(
    game: GameOptions,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help=f"Settings to start from: {', '.join(PRESETS)}.",
            show_default="quick, unless --config is given",
            autocompletion=complete_words(PRESETS),
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="YAML file of settings.")] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algo",
            help=f"Learning algorithm: {', '.join(ALGORITHMS)}, or package.module:Class for your own.",
            show_default="ppo",
            autocompletion=complete_words(ALGORITHMS),
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            help="Device of the networks: auto, cpu, cuda, cuda:N or mps.",
            show_default="auto",
            autocompletion=complete_words(["auto", "cpu", "cuda", "mps"]),
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
    workers: Annotated[str | None, typer.Option("--workers", hidden=True)] = None,
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
        str | None,
        typer.Option(
            "--tracker",
            help=f"Log the metrics there too: {', '.join(TRACKERS)}.",
            autocompletion=complete_words(TRACKERS),
        ),
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
    from catbox_train import config as configuration
    from catbox_train.memory import keep_freed_memory
    from catbox_train.runs.folder import free_run_folder
    from catbox_train.runs.progress import TrainingAborted, TrainingDiverged, TrainingInterrupted
    from catbox_train.trackers import tracking

    if show_settings:
        _print_settings(algorithm)
        return
    if workers is not None:  # hidden: otherwise it would abbreviate --workers-on-ray
        raise ValueError(f"--workers {workers}: it is a setting, so write  --set workers={workers}")
    overrides = given_settings(game, settings, algorithm)
    if workers_on_ray is not None:
        require("catbox train --workers-on-ray", ("ray",), "ray")
        if "workers" in overrides:
            raise ValueError("--workers-on-ray sets the number of workers: leave out --set workers")
        if not resume:
            overrides["workers"] = workers_on_ray
    elif ray_address is not None:
        raise ValueError("--ray-address: give the number of workers on the cluster with --workers-on-ray")
    again = _on_ray(workers_on_ray, ray_address) + ([] if tracker is None else ["--tracker", tracker])
    keep_freed_memory()  # here, because it affects the whole process, which this command owns
    try:
        if resume:
            if output is None:
                raise ValueError(
                    "--resume: give the folder of the run with --output, such as --output runs/quick"
                )
            if preset is not None or config is not None or overrides:
                raise ValueError("--resume keeps the settings of the run: leave out all others but --device")
            from catbox_train.runs.loop import resume as resume_run

            options = again + ([] if device is None else ["--device", device])
            with (
                _algorithm(workers_on_ray, ray_address) as make_algorithm,
                tracking(tracker, output) as tracked,
            ):
                resume_run(
                    output,
                    trust=trust,
                    device=device,
                    make_algorithm=make_algorithm,
                    options=options,
                    on_update=tracked,
                )
            return
        if workers_on_ray is not None:
            device = device or "cpu"
        overrides |= {} if device is None else {"device": device}
        if preset is None and config is None:
            preset = configuration.default_preset(game.game_id or DEFAULT_GAME)
        chosen = configuration.load_config(preset, config, overrides, trust)
        from catbox_train.runs.loop import train as train_run

        name = config.stem if config and not preset else "-".join(_names(preset, chosen.game))
        folder = output or free_run_folder(Path("runs"), name)
        try:
            with (
                _algorithm(workers_on_ray, ray_address) as make_algorithm,
                tracking(tracker, folder) as tracked,
            ):
                train_run(
                    chosen,
                    folder,
                    make_algorithm=make_algorithm,
                    options=again,
                    on_update=tracked,
                )
        finally:
            if output is None:  # refused before anything was written: leave no empty folders
                with suppress(OSError):
                    folder.rmdir()
                    folder.parent.rmdir()
    except TrainingDiverged as diverged:
        typer.echo(f"catbox: {diverged}", err=True)
        raise typer.Exit(1) from None
    except (TrainingInterrupted, TrainingAborted) as stopped:
        typer.echo(str(stopped), err=True)
        raise typer.Exit(128 + stopped.signal) from None


def _on_ray(workers: int | None, address: str | None) -> list[str]:
    """The options of the command for a run with ``workers`` on a Ray cluster."""
    given = {"--workers-on-ray": workers, "--ray-address": address}
    return [part for name, value in given.items() if value is not None for part in (name, str(value))]


@contextmanager
def _algorithm(workers: int | None, address: str | None) -> Iterator[Any]:
    """The ``make_algorithm`` of a run with ``workers`` on a Ray cluster; None for local workers."""
    if workers is None:
        yield None
        return
    from catbox_train.ray import OnRay

    with OnRay(workers, address) as make_algorithm:
        yield make_algorithm


def given_settings(
    game: GameOptions, settings: list[str] | None, algorithm: str | None = None
) -> dict[str, Any]:
    """The overrides for ``load_config`` that the options of a command give."""
    import yaml

    overrides: dict[str, Any] = {} if game.game_id is None else {"game": game.game_id}
    overrides |= {} if algorithm is None else {"algorithm": algorithm}
    overrides |= {f"game_options.{name}": value for name, value in game.rules.items()}
    texts: dict[str, str] = {}
    add_pairs(texts, settings, "--set")
    for name, text in texts.items():
        try:
            add_once(overrides, name, yaml.safe_load(text), f"--set {name}={text}")
        except yaml.YAMLError as error:
            raise ValueError(f"--set {name}={text}: not valid YAML, {' '.join(str(error).split())}") from None
    return overrides


def _names(preset: str | None, game: str) -> list[str]:
    """The parts of a run's name: the game, unless it is the default one, and the preset."""
    named = [] if game == DEFAULT_GAME and preset else [game.rpartition("_v")[0]]
    return [*named, *([preset] if preset else [])]


def _print_settings(algorithm: str | None) -> None:
    from catbox_train.algorithm import algorithm_class
    from catbox_train.config import preset_names

    name = algorithm or "ppo"
    table = Table("setting", "default", "what it does", title=f"Settings of a training run with {name}")
    for row in algorithm_class(name).Config.describe():
        table.add_row(*row)
    Console().print(table)
    Console().print(f"Presets: {', '.join(preset_names())}. Algorithms (--algo): {', '.join(ALGORITHMS)}")
