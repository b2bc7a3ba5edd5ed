"""The scenarios of the benchmark: who plays whom, by which rules, on which deals.

They are data, ``suites.json``, and the policies in ``opponents/``. None of them ever changes: a change makes another
scenario, whose name ends in the next version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from catbox_agents.arena.seatings import PAIR, Seating
from catbox_agents.system.files import parse_json, read_text
from catbox_env import Game, make_game
from catbox_env.core.checks import check_known

FOLDER = Path(__file__).parent
OPPONENTS = FOLDER / "opponents"
VERSION = 1
#: One of mine among copies of the opponent; one opponent among copies of mine. For two players they are the same.
VISITOR, RESIDENT = "visitor", "resident"
#: The share of the deals that ``--quick`` plays.
QUICK = 10
#: Deals of a scenario are numbered from a multiple of this on, so that no two scenarios of a table share any.
DEALS_APART = 1 << 20


@dataclass(frozen=True)
class Table:
    """Rules of a game. ``spread``: the standard deviation of the margin of a round among heuristics, in points: the
    unit of the scores. It was measured once and does not change."""

    name: str
    game_id: str
    options: Mapping[str, Any]
    spread: float

    @cached_property
    def game(self) -> Game:
        """The game, with the score as its reward."""
        return make_game(self.game_id, **{**self.options, "reward": "score"})


@dataclass(frozen=True)
class Scenario:
    """Who plays whom, by which rules, on which deals.

    Attributes:
        table: the rules.
        opponent: the name of the opponent; ``spec``: of the agent, as `catbox_agents.make` takes it.
        role: VISITOR or RESIDENT.
        asks: what it asks of an agent, in a sentence.
        seed: of the deals, as in `catbox_agents.arena.seatings.Setup`.
        first: the number of the first of its ``deals``.
    """

    table: Table
    opponent: str
    spec: str
    role: str
    asks: str
    seed: int
    first: int
    deals: int

    @property
    def name(self) -> str:
        """Such as ``cat_in_the_box-3p-visitor-heuristic-v1``."""
        return f"{self.table.name}-{self.role}-{self.opponent}-v{VERSION}"

    @property
    def file(self) -> Path | None:
        """The policy of the opponent, if it is one."""
        path = Path(self.spec)
        return path if path.suffix == ".safetensors" else None

    def seating(self, own: int, opponent: int) -> Seating:
        """Who sits where: ``own`` and ``opponent`` are indices of agents."""
        visitor, host = (own, opponent) if self.role == VISITOR else (opponent, own)
        return Seating(PAIR, (visitor, host), (0, *(1,) * (self.table.game.num_players - 1)))

    def data(self) -> dict[str, Any]:
        """All of it that decides a result, as JSON values: an opponent's file by its hash."""
        opponent = self.spec if self.file is None else hashlib.sha256(self.file.read_bytes()).hexdigest()
        return {
            "name": self.name,
            "game": self.table.game_id,
            "options": dict(self.table.options),
            "spread": self.table.spread,
            "role": self.role,
            "opponent": opponent,
            "seed": hash_of(f"{self.seed}"),
            "first": self.first,
            "deals": self.deals,
        }


@dataclass(frozen=True)
class Suite:
    """Scenarios of one game.

    Attributes: ``seed``: of all their deals; ``private``: the SHA-256 hash of the organiser's secret that it follows
    from, None for the public one; ``is_quick``: whether they have a tenth of the deals.
    """

    name: str
    scenarios: tuple[Scenario, ...]
    seed: int
    private: str | None = None
    is_quick: bool = False

    @property
    def tables(self) -> list[Table]:
        """The rules, each once."""
        return list({scenario.table.name: scenario.table for scenario in self.scenarios}.values())

    def of_table(self, table: Table) -> list[Scenario]:
        """The scenarios under these rules."""
        return [scenario for scenario in self.scenarios if scenario.table.name == table.name]


def suite_names() -> list[str]:
    """The names of the suites."""
    return list(_data()["suites"])


def suite(name: str, *, private_seed: str | None = None, quick: bool = False) -> Suite:
    """The suite ``name``: its public deals and opponents, or those that follow from ``private_seed``, any text.

    A private seed gives other deals and other weights to the opponents that have some drawn. Raises ``ValueError`` for
    an unknown suite, and for a seed of fewer than 16 characters.
    """
    content = _data()
    check_known("suite", name, list(content["suites"]))
    if private_seed is not None and len(private_seed) < 16:
        raise ValueError("private_seed: expected at least 16 characters that nobody can guess")
    seed = _number(content["seed"] if private_seed is None else f"private {private_seed}", 128)
    tables = [
        Table(table["name"], table["game"], table["options"], table["spread"])
        for table in content["suites"][name]["tables"]
    ]
    scenarios = []
    for table in tables:
        for place, about in enumerate(content["suites"][name]["opponents"]):
            number = 1 + _number(f"{seed} {about['name']}", 128) % 10**8
            spec = about["spec"].format(folder=OPPONENTS, table=table.name, number=number)
            roles = about["roles"] if table.game.num_players > 2 else about["roles"][:1]
            for role in roles:
                first = (2 * place + (role == RESIDENT)) * DEALS_APART
                deals = about["deals"] // (QUICK if quick else 1)
                scenarios.append(
                    Scenario(table, about["name"], spec, role, about["asks"], seed, first, deals)
                )
    private = None if private_seed is None else hashlib.sha256(private_seed.encode()).hexdigest()
    return Suite(name, tuple(scenarios), seed, private, quick)


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = parse_json(read_text(FOLDER / "suites.json"))
    return found


def _number(text: str, bits: int) -> int:
    """A number of so many bits that follows from ``text``."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[: bits // 8], "little")


def hash_of(data: Any) -> str:
    """The SHA-256 hash of JSON values, 16 hexadecimal digits."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
