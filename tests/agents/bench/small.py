"""A suite of few deals for tests, and agents."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catbox_agents import Agent
from catbox_agents.bench import run_bench, scenarios, suite
from catbox_agents.bench.games import packed, unpacked
from catbox_agents.bench.run import GAMES_FILE, SUBMISSION_FILE

HERE = __name__
SUITE = "petrify"
#: With a tenth replaced by this, a scenario has 20 deals, one against a search 4.
QUICK = 25


class Lowest(Agent):
    """The lowest legal action."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        return int(np.argmax(action_mask))


class Raising(Agent):
    """Fails in the fifth decision of a block."""

    made = 0

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        Raising.made += 1
        if Raising.made == 5:
            raise RuntimeError("five")
        return int(np.argmax(action_mask))


@pytest.fixture(autouse=True)
def _few_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "QUICK", QUICK)


def submit(folder: Path, agent: Any = "heuristic:5", **options: Any) -> dict[str, Any]:
    """A submission of few deals."""
    return run_bench(agent, suite(SUITE, quick=True), folder, **options)


def change(folder: Path, make: Any) -> None:
    """Let ``make`` change the content of a submission."""
    content = json.loads((folder / SUBMISSION_FILE).read_text())
    make(content)
    (folder / SUBMISSION_FILE).write_text(json.dumps(content))


def change_games(folder: Path, number: int, make: Any, games: int, most: int) -> None:
    """Let ``make`` change the actions (games, most) in line ``number`` of the games; the file's hash stays true."""
    lines = (folder / GAMES_FILE).read_text().splitlines()
    line = json.loads(lines[number])
    actions = make(unpacked(line["actions"], games, most))
    line["actions"] = packed([row[row >= 0].tolist() for row in actions])
    lines[number] = json.dumps(line)
    data = "".join(f"{each}\n" for each in lines).encode()
    (folder / GAMES_FILE).write_bytes(data)
    change(folder, lambda content: content.update(games=hashlib.sha256(data).hexdigest()))
