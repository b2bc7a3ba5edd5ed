"""Trains the agents of the zoo (`experiments/zoo.yaml`) and puts them into `agents/catbox_agents/zoo`.

Each is trained in its own folder, by the public functions of ``catbox_train``, and may be stopped at any time. The zoo
gets the final policy: nothing is selected by results. Its weights are stored in half precision; the cost of that is
measured on the deal set `selection`. What a card says of the training is kept in `experiments/results/zoo/NAME.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

import catbox_agents
from catbox_agents import zoo
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_agents.system.files import write_atomically
from catbox_env import Game
from experiments.results import Folders, Record, write_file
from experiments.runner import check_run_folder, provenance, say, settings_of, train_in
from experiments.study import checked_config

#: Deals on which full and half precision are compared.
PRECISION_DEALS = 1000


class Training(Record):
    """How an agent of the zoo was trained. ``seconds``: of playing and learning, without evaluations.

    ``sha256``: of the file in the zoo. ``half_precision``: how much more the policy earns in half precision than in
    full, among heuristics (or random players if there are none), with the ends of its 95 % interval.
    """

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


def zoo_settings(folders: Folders) -> dict[str, Any]:
    """The settings of each agent of the zoo, as its file has them: every value a text, as ``--set`` takes it."""
    text = (folders.own / "zoo.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.load(text, yaml.BaseLoader)
    return found


def make_zoo(names: Sequence[str], folders: Folders, console: Console) -> None:
    """Train the agents ``names`` (by default all) that are not trained yet, and put each into the zoo.

    Raises ``ValueError`` for invalid settings and for a run that was made with other settings, and what training
    raises.
    """
    settings = zoo_settings(folders)
    runs = folders.runs / "zoo"
    configs = {
        name: checked_config(f"agent {name!r} of the zoo", settings[name]) for name in names or settings
    }
    for name, config in configs.items():
        check_run_folder(runs / name, config)
    for number, (name, config) in enumerate(configs.items(), start=1):
        say(console, f"\nAgent {number} of {len(configs)}: {name}.")
        game = config.make_game()
        report = train_in(runs / name, config, console)
        decisions, seconds = report["training"]["decisions"], round(report["training"]["seconds"], 1)
        file = zoo.FOLDER / f"{name}.safetensors"
        training = {"algorithm": config.algorithm, "decisions": decisions}
        save_checkpoint(file, load_checkpoint(runs / name, game).network, game, training, half=True)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        _write_entry(name, game, digest, list(settings))
        known = read_training(name, folders)
        if known is not None and (known.sha256, known.seconds) == (digest, seconds):
            say(console, f"{name} is in the zoo.")
            continue
        made = Training(
            name=name,
            settings=settings[name],
            config=settings_of(runs / name),
            decisions=decisions,
            seconds=seconds,
            sha256=digest,
            half_precision=_cost_of_half_precision(game, file, runs / name),
            **provenance(),
        )
        write_file(_training_file(name, folders), made.model_dump_json(indent=1) + "\n")
        mean, low, high = made.half_precision
        say(console, f"{file}; half precision: {mean:+.3f} ({low:+.3f} to {high:+.3f})")


def _training_file(name: str, folders: Folders) -> Path:
    return folders.results / "zoo" / f"{name}.json"


def read_training(name: str, folders: Folders) -> Training | None:
    """How the agent was trained; None if it was not trained here. Raises ``ValueError`` for a damaged file."""
    file = _training_file(name, folders)
    return Training.model_validate_json(file.read_bytes()) if file.exists() else None


def _write_entry(name: str, game: Game, digest: str, order: Sequence[str]) -> None:
    """Add the agent to the index of the zoo."""
    index = zoo.FOLDER / zoo.INDEX
    agents = json.loads(index.read_text(encoding="utf-8"))["agents"]
    agents[name] = {"game": game.id, "options": game.options, "sha256": digest}
    agents = {known: agents[known] for known in order if known in agents}
    write_atomically(index, (json.dumps({"format": zoo.FORMAT, "agents": agents}, indent=1) + "\n").encode())


def _cost_of_half_precision(game: Game, half: Path, full: Path) -> tuple[float, float, float]:
    field = "heuristic" if game.id in catbox_agents.HEURISTICS else "random"
    result = catbox_agents.run_arena(
        game, [str(half), str(full), field], PRECISION_DEALS, names=["half", "full", field]
    )
    difference = result.difference("half", "full", field)
    return difference.mean, difference.low, difference.high
