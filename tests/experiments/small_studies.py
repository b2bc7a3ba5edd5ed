"""A study whose runs take a second, its file, and the command; for the tests of experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from experiments.__main__ import main
from experiments.results import RunResult, read_results

#: Eight updates; a checkpoint after every third, an evaluation after every fourth.
BASE = {
    "game_options": {"num_ranks": 3, "copies": 4},
    "precision": "float32",
    "total_decisions": 8 * 512,
    "num_envs": 32,
    "batch_size": 512,
    "minibatch_size": 128,
    "hidden": [16],
    "checkpoint_every": 3,
    "evaluate_every": 4,
    "evaluate_deals": 10,
    "opponents": ["random"],
}

SMALL = {
    "title": "Small",
    "question": "Does it run?",
    "base": BASE,
    "rules": {"3 players": {"game_options.num_players": 3}},
    "variants": {"low": {"entropy": 0.01}, "high": {"entropy": 0.12}},
    "seeds": [1],
    "final_deals": 10,
}


class Workplace:
    """Folders of studies, runs, results and the page, in ``folder``, and the command that uses them."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.studies, self.runs, self.results = (folder / name for name in ("studies", "runs", "results"))
        self.page = folder / "docs" / "experiments.md"
        self.studies.mkdir(parents=True)
        self.write(**changes)

    def write(self, **changes: Any) -> None:
        """Write the study with other values; None takes a key out."""
        study = {key: value for key, value in {**SMALL, **changes}.items() if value is not None}
        (self.studies / "small.yaml").write_text(json.dumps(study))  # JSON is YAML

    @property
    def file(self) -> Path:
        return self.results / "small.jsonl"

    def arguments(self, command: str) -> list[str]:
        """Of the command line."""
        own = {"report": ["--page", str(self.page)], "speeds": ["small"]}.get(
            command, ["--runs", str(self.runs), "small"]
        )
        return [command, "--studies", str(self.studies), "--results", str(self.results), *own]

    def run(self) -> int:
        """The exit code."""
        return main(self.arguments("run"))

    def lines(self) -> list[RunResult]:
        return read_results(self.file)


def measured(result: RunResult) -> dict[str, Any]:
    """What of a result does not depend on the speed of the machine."""
    return result.model_dump(exclude={"seconds", "decisions_per_second"})
