"""Trains the agents of the zoo (`experiments/zoo.yaml`), puts them into `agents/catbox_agents/zoo` and measures them.

Each is trained in its own folder, by the public functions of ``catbox_train``, and may be stopped at any time. The zoo
gets the final policy: nothing is selected by results. Its weights are stored in half precision; the cost of that is
measured on the deal set `selection`. Then the agent, the heuristic and `random` play each other on the deal set
`report`. What a card says is kept in `experiments/results/zoo/NAME.json`: an agent that has this file is not trained
again, one whose file has no report is measured.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

import catbox_agents
from catbox_agents import HEURISTICS, zoo
from catbox_agents.arena.results import Estimate
from catbox_agents.networks.checkpoint import load_checkpoint, save_checkpoint
from catbox_agents.system.files import write_atomically
from catbox_agents.system.machine import physical_cores
from catbox_env import Game
from catbox_train import TrainConfig
from catbox_train.registry import parse_yaml
from experiments.results import Folders, Record, write_file
from experiments.runner import check_run_folder, provenance, say, settings_of, train_in
from experiments.study import checked_config

#: Deals on which full and half precision are compared, and those of the report.
PRECISION_DEALS, REPORT_DEALS = 1000, 2000
REPORT_SET = "report"
#: How the report names the agent.
ZOO = "zoo"


class Margin(Record):
    """What one ``agent`` earns among copies of another, in points a round, with the ends of the 95 % interval."""

    agent: str
    field: str
    margin: float
    low: float
    high: float

    @property
    def estimate(self) -> Estimate:
        """The margin with its interval."""
        return Estimate(self.margin, self.low, self.high)


class Report(Record):
    """What the agent, the heuristic and `random` earn among each other."""

    deals: int
    deal_set: str
    margins: list[Margin]
    version: str
    commit: str
    machine: str
    date: str


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
    report: Report | None = None

    def margin(self, agent: str, field: str) -> Estimate | None:
        """What one ``agent`` earns among copies of ``field``; None if it is not in the report."""
        rows = self.report.margins if self.report else []
        return next((row.estimate for row in rows if (row.agent, row.field) == (agent, field)), None)


def zoo_settings(folders: Folders) -> dict[str, Any]:
    """The settings of each agent of the zoo, as its file has them: every value a text, as ``--set`` takes it."""
    text = (folders.own / "zoo.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = parse_yaml("zoo.yaml", text, yaml.BaseLoader)
    return found


def make_zoo(names: Sequence[str], folders: Folders, console: Console) -> None:
    """Train, put into the zoo and measure those of the agents ``names`` (by default all) that are not yet.

    Raises ``ValueError`` for invalid settings and for a run that was made with other settings, and what training
    raises.
    """
    settings = zoo_settings(folders)
    runs = folders.runs / "zoo"
    configs = {
        name: checked_config(f"agent {name!r} of the zoo", settings[name]) for name in names or settings
    }
    trained = {name: read_training(name, folders) for name in configs}
    to_train = {name for name, known in trained.items() if known is None or known.settings != settings[name]}
    for name in to_train:
        check_run_folder(runs / name, configs[name])
    for number, (name, config) in enumerate(configs.items(), start=1):
        say(console, f"\nAgent {number} of {len(configs)}: {name}.")
        known = trained[name]
        if known is None or name in to_train:
            known = _train(name, settings, config, runs / name, console)
            write_file(_training_file(name, folders), known.model_dump_json(indent=1) + "\n")
        if known.report is None:
            known = known.model_copy(update={"report": _report(name)})
            write_file(_training_file(name, folders), known.model_dump_json(indent=1) + "\n")
        margin = known.margin(ZOO, _field(config.make_game()))
        say(console, f"{name}: margin {margin} on the deals {REPORT_SET}.")


def _train(
    name: str, settings: Mapping[str, Any], config: TrainConfig, run: Path, console: Console
) -> Training:
    """Train an agent and put it into the zoo."""
    game = config.make_game()
    report = train_in(run, config, console)
    decisions, seconds = report["training"]["decisions"], round(report["training"]["seconds"], 1)
    file = zoo.FOLDER / f"{name}.safetensors"
    training = {"algorithm": config.algorithm, "decisions": decisions}
    save_checkpoint(file, load_checkpoint(run, game).network, game, training, half=True)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    _write_entry(name, game, digest, list(settings))
    return Training(
        name=name,
        settings=settings[name],
        config=settings_of(run),
        decisions=decisions,
        seconds=seconds,
        sha256=digest,
        half_precision=_cost_of_half_precision(game, file, run),
        **provenance(),
    )


def _report(name: str) -> Report:
    """Play the agent of the zoo, the heuristic and `random` among each other."""
    agent = zoo.zoo_agent(zoo.PREFIX + name)
    others = [spec for spec in ("heuristic", "random") if spec == "random" or agent.game_id in HEURISTICS]
    result = catbox_agents.run_arena(
        agent.game,
        [agent.spec, *others],
        REPORT_DEALS,
        deal_set=REPORT_SET,
        names=[ZOO, *others],
        processes=physical_cores(),
    )
    margins = [Margin(**{key: row[key] for key in Margin.model_fields}) for row in result.as_dict()["matrix"]]
    return Report(deals=REPORT_DEALS, deal_set=REPORT_SET, margins=margins, **provenance())


def _field(game: Game) -> str:
    """Among whom the agents for ``game`` are measured first."""
    return "heuristic" if game.id in HEURISTICS else "random"


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
    field = _field(game)
    result = catbox_agents.run_arena(
        game, [str(half), str(full), field], PRECISION_DEALS, names=["half", "full", field]
    )
    difference = result.difference("half", "full", field)
    return difference.mean, difference.low, difference.high
