"""A study whose runs take a second, its file, and the command; for the tests of experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.generators.__main__ import main as write_files
from experiments.__main__ import main
from experiments.results import Folders, RunResult

#: Eight updates; a checkpoint after every third, an evaluation after every fourth.
BASE = {
    "game_options": {"num_ranks": 3, "copies": 4},
    "precision": "float32",
    "total_decisions": 8 * 512,
    "games_per_update": 26,
    "minibatch_size": 128,
    "hidden": [16],
    "checkpoint_every": 3,
    "evaluate_every": 4,
    "evaluate_deals": 10,
    "eval_opponents": ["random"],
}

SMALL = {
    "title": "Small",
    "question": "Does it run?",
    "base": BASE,
    "rules": {"3 players": {"game_options.num_players": 3}},
    "variants": {"low": {"ent_coef": 0.01}, "high": {"ent_coef": 0.12}},
    "seeds": [1, 2],
    "final_deals": 10,
}


class Workplace:
    """A checkout at ``folder`` with one study and no zoo, and the command that works there."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.root, self.folders = folder, Folders(folder)
        self.runs, self.results = self.folders.runs / "experiments", self.folders.results
        self.folders.studies.mkdir(parents=True)
        (self.folders.own / "zoo.yaml").write_text("{}")
        self.write(**changes)

    def write(self, **changes: Any) -> None:
        """Write the study with other values; None takes a key out."""
        study = {key: value for key, value in {**SMALL, **changes}.items() if value is not None}
        (self.folders.studies / "small.yaml").write_text(json.dumps(study))  # JSON is YAML

    @property
    def file(self) -> Path:
        return self.results / "small.jsonl"

    def arguments(self, *words: str) -> list[str]:
        """Of the command line."""
        return ["--root", str(self.root), *words]

    def run(self, *words: str) -> int:
        """The exit code of a command, by default the one that trains."""
        return main(self.arguments(*words or ("run", "small")))

    def report(self, *words: str) -> int:
        """The exit code of the command that writes what comes from results."""
        return write_files(self.arguments(*words))

    def lines(self) -> list[RunResult]:
        return self.folders.results_of("small")


def measured(result: RunResult) -> dict[str, Any]:
    """What of a result does not depend on the speed of the machine."""
    return result.model_dump(exclude={"seconds", "decisions_per_second"})
