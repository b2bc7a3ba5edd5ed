"""Trains the agents of the zoo (`experiments/zoo.yaml`) and puts them into `agents/catbox_agents/zoo`.

Each is trained in a folder of its own, by the public functions of ``catbox_train``, and may be stopped at any time.
The policy of the end is the one that is taken: nothing is chosen by how well it does. Its weights are kept in half
precision; how much that costs is measured on the deal set `selection`. What a card says of the training is kept in
`experiments/results/zoo/NAME.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from rich.console import Console

import catbox_agents
from catbox_agents import zoo
from catbox_agents.files import parse_json, read_text, write_atomically
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_env import Game
from catbox_env.core.checks import closest
from catbox_train import TrainConfig, load_config
from catbox_train.runs.loop import check_run
from catbox_train.settings_file import read_settings
from experiments.results import write_file
from experiments.runner import CONFIG_FILE, provenance, say, settings_of, train_in
from experiments.study import FOLDER, PRESET, differences, dotted, flat

ZOO_FILE = FOLDER / "zoo.yaml"
#: Deals on which full and half precision are compared.
PRECISION_DEALS = 1000


class Training(BaseModel):
    """How an agent of the zoo was trained. ``seconds``: of playing and learning, without evaluations.

    ``sha256``: of the file in the zoo. ``half_precision``: what the policy earns in half precision more than in full,
    among heuristics (among random players where there are none), with the ends of its 95 % interval.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    settings: dict[str, Any]
    config: dict[str, Any]
    decisions: int
    seconds: float
    sha256: str
    half_precision: tuple[float, float, float]
    version: str
    commit: str
    machine: str
    date: str


def zoo_settings() -> dict[str, Any]:
    """The settings of each agent of the zoo, as its file has them."""
    return read_settings(ZOO_FILE)


def zoo_configs(names: Sequence[str] = ()) -> dict[str, TrainConfig]:
    """The settings of the agents ``names``, by default of all, in their order.

    Raises ``ValueError`` for an unknown name, and for settings that cannot be trained.
    """
    every = zoo_settings()
    for name in names:
        if name not in every:
            raise ValueError(f"unknown agent of the zoo {name!r}{closest(name, list(every))}")
    return {name: _config(name, every[name]) for name in names or every}


def _config(name: str, settings: dict[str, Any]) -> TrainConfig:
    overrides = dotted(settings)
    preset = overrides.pop(PRESET, None)
    try:
        config = load_config(preset=preset, overrides=overrides)
        check_run(config, now=False)
    except ValueError as error:
        raise ValueError(f"agent {name!r} of the zoo: {error}") from error
    return config


def make_zoo(names: Sequence[str], runs: Path, results: Path, console: Console) -> None:
    """Train the agents ``names`` (all, if none are named) that are not trained yet, and put each into the zoo.

    Raises ``ValueError`` for a run in ``runs`` that was made with other settings, and what training raises.
    """
    settings = zoo_settings()
    configs = zoo_configs(names)
    for name, config in configs.items():
        folder = runs / name
        exists = (folder / CONFIG_FILE).exists()
        if exists and (changed := differences(settings_of(folder), flat(config))):
            raise ValueError(
                f"{folder} was made with other settings than {ZOO_FILE.name} has now ({', '.join(changed)}): write "
                "the earlier values there to go on with it, or delete that folder to start anew"
            )
    for number, (name, config) in enumerate(configs.items(), start=1):
        say(console, f"\nAgent {number} of {len(configs)}: {name}.")
        report = train_in(runs / name, config, console)
        digest = _put_into_zoo(name, config, runs / name, report)
        seconds = round(report["training"]["seconds"], 1)
        file = training_file(name, results)
        if file.exists():
            known = read_training(name, results)
            if (known.sha256, known.seconds) == (digest, seconds):
                say(console, f"{name} is in the zoo.")
                continue
        training = Training(
            name=name,
            settings=settings[name],
            config=settings_of(runs / name),
            decisions=report["training"]["decisions"],
            seconds=seconds,
            sha256=digest,
            half_precision=_cost_of_half_precision(
                config.make_game(), zoo.FOLDER / f"{name}.safetensors", runs / name
            ),
            **provenance(),
        )
        write_file(file, training.model_dump_json(indent=1) + "\n")
        mean, low, high = training.half_precision
        say(
            console,
            f"{zoo.FOLDER / name}.safetensors; half precision: {mean:+.3f} ({low:+.3f} to {high:+.3f})",
        )


def training_file(name: str, results: Path) -> Path:
    """Where the training of an agent is described."""
    return results / "zoo" / f"{name}.json"


def read_training(name: str, results: Path) -> Training:
    """How the agent was trained. Raises ``ValueError`` for a damaged file, ``OSError`` where there is none."""
    file = training_file(name, results)
    try:
        return Training.model_validate(parse_json(read_text(file)))
    except ValueError as error:
        raise ValueError(
            f"{file} is damaged ({error}): put it back from version control, or make the agent again"
        ) from None


def _put_into_zoo(name: str, config: TrainConfig, run: Path, report: dict[str, Any]) -> str:
    """Write the policy, in half precision, and its entry in the index; the checksum of the file."""
    game = config.make_game()
    file = zoo.FOLDER / f"{name}.safetensors"
    training = {"algorithm": config.algorithm, "decisions": report["training"]["decisions"]}
    save_checkpoint(file, load_checkpoint(run, game).network, game, training, half=True)
    return _write_entry(name, game, file)


def _write_entry(name: str, game: Game, file: Path) -> str:
    index = zoo.FOLDER / zoo.INDEX
    content = parse_json(read_text(index))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    agents = {**content["agents"], name: {"game": game.id, "options": game.options, "sha256": digest}}
    order = list(zoo_settings())
    agents = {known: agents[known] for known in sorted(agents, key=order.index)}
    text = json.dumps({"format": zoo.FORMAT, "agents": agents}, indent=1) + "\n"
    write_atomically(index, text.encode())
    return digest


def _cost_of_half_precision(game: Game, half: Path, full: Path) -> tuple[float, float, float]:
    field = "heuristic" if game.id in catbox_agents.HEURISTICS else "random"
    result = catbox_agents.run_arena(
        game, [str(half), str(full), field], PRECISION_DEALS, names=["half", "full", field]
    )
    difference = result.difference("half", "full", field)
    return difference.mean, difference.low, difference.high
