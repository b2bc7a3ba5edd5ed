"""The settings of an arena that all its processes share: agents, tables, and the blocks of deals, its units of work.

What is played in a block depends only on the arena's settings and the block's number, not on the process that plays it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents.agent import agent_seed, check_agent
from catbox_agents.arena.deal_sets import deal_seed
from catbox_agents.arena.tables import Table, all_tables
from catbox_agents.settings import is_configured, specs_within
from catbox_agents.specs import AgentSpec, agent_of, imports_module, label_of, make, meaning
from catbox_env import Game
from catbox_env.core.checks import brief, is_integer
from catbox_env.core.game import check_game_object

#: The first blocks are small, so that little is lost when an arena of slow agents is interrupted; the others are large,
#: because fast agents are faster in large batches.
SMALL_BLOCKS, SMALL, LARGE = 8, 16, 64
#: With fewer deals an interval would be meaningless. From here on its quantile is exact to 0.001.
MIN_DEALS = 10


@dataclass(frozen=True)
class Task:
    """Block ``number`` of table ``table``, with its first ``num_deals`` deals."""

    table: int
    number: int
    num_deals: int


@dataclass(frozen=True)
class Setup:
    """The settings. ``agents``: specs, or pickled agents. ``fingerprints``: texts that change when an agent does."""

    game: Game
    agents: tuple[str | bytes, ...]
    names: tuple[str, ...]
    fingerprints: tuple[str, ...]
    tables: tuple[Table, ...]
    seed: int
    move_time: float | None
    record: bool

    def agent(self, index: int) -> AgentSpec:
        """The spec of an agent, or a copy of the agent as it was given."""
        given = self.agents[index]
        agent: AgentSpec = pickle.loads(given) if isinstance(given, bytes) else given
        return agent

    def blocks(self, num_deals: int) -> list[list[Task]]:
        """The tasks of each block of the first ``num_deals`` deals, one for each table."""
        return [
            [Task(table, number, size) for table in range(len(self.tables))]
            for number in range(num_blocks(num_deals))
            for size in [min(first_deal(number + 1), num_deals) - first_deal(number)]
        ]

    def finished(self, done: Mapping[Task, Any], num_deals: int) -> list[list[Task]]:
        """Those `blocks` of which every task is in ``done``."""
        return [tasks for tasks in self.blocks(num_deals) if all(task in done for task in tasks)]

    def games_of(self, task: Task) -> int:
        """How many games a task has."""
        return task.num_deals * self.tables[task.table].rotations

    def deals_of(self, task: Task) -> list[np.random.SeedSequence]:
        """The seeds of the deals of a task."""
        root, first = np.random.SeedSequence(self.seed), first_deal(task.number)
        return [deal_seed(root, number) for number in range(first, first + task.num_deals)]

    def line_ups_of(self, task: Task) -> NDArray[np.int64]:
        """Who sits where in each game of a deal of a task: (rotations, P), indices in the table's agents."""
        order = np.random.SeedSequence(self.seed, spawn_key=(3, task.number))
        return self.tables[task.table].line_ups(np.random.default_rng(order))


def set_up(
    game: Game,
    agents: Sequence[AgentSpec],
    names: Sequence[str] | None,
    seed: int,
    mixed: bool,
    move_time: float | None,
    record: bool,
) -> Setup:
    """The checked settings; makes every agent once. Raises ``ValueError`` for agents that cannot be played."""
    check_game_object(game)
    check_agents(agents)
    if names is not None:
        labels = check_labels(names, len(agents))
    else:
        labels = [label_of(agent).strip() for agent in agents]
        meanings = [meaning(label, game) for label in labels]
        first = next((what for what in meanings if meanings.count(what) > 1), None)
        if first is not None:
            twice = [label for label, what in zip(labels, meanings, strict=True) if what == first]
            raise ValueError(
                f"agents: {', '.join(twice)}: the same agent more than once; list each agent once, or give each its "
                "own name"
            )
    given: list[str | bytes] = []
    fingerprints = []
    for agent, label in zip(agents, labels, strict=True):
        made = agent_of(agent, label, game, agent_seed())
        check_agent(made, label, game)
        if isinstance(agent, str | os.PathLike):
            given.append(os.fspath(agent))
            fingerprints.append(fingerprint(os.fspath(agent), made, game))
            continue
        try:
            pickled = pickle.dumps(agent)
            pickle.loads(pickled)
        except Exception as error:
            raise ValueError(
                f"agent {label!r} cannot be copied for each block of deals: pickle raised {type(error).__name__}: "
                f"{error}; give a spec, such as 'package.module:Class', or make the agent picklable"
            ) from error
        given.append(pickled)
        fingerprints.append(f"{type(agent).__qualname__} {_hash(pickled)}")
    tables = all_tables(len(labels), game.num_players, mixed)
    return Setup(
        game, tuple(given), tuple(labels), tuple(fingerprints), tuple(tables), seed, move_time, record
    )


def fingerprint(spec: str, made: Any, game: Game) -> str:
    """The spec, and a hash of the file that holds the agent: the network's weights, or the module of a user's class.

    For an agent with settings, the files of the agents in them.
    """
    meant = meaning(spec.strip(), game)
    if is_configured(meant):
        within = specs_within(meant).values()
        return " ".join([spec, *(fingerprint(each, make(each, game), game) for each in within)])
    if imports_module(meant):
        path = getattr(sys.modules[type(made).__module__], "__file__", None)
    else:
        path = getattr(made, "name", None)
    if not isinstance(path, str) or not os.path.isfile(path):
        return spec
    return f"{spec} {_hash(Path(path).read_bytes())}"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def first_deal(number: int) -> int:
    """The number of the first deal of block ``number``."""
    return SMALL * min(number, SMALL_BLOCKS) + LARGE * max(0, number - SMALL_BLOCKS)


def num_blocks(num_deals: int) -> int:
    """How many blocks ``num_deals`` deals make; the last one may be cut short."""
    if num_deals <= SMALL_BLOCKS * SMALL:
        return -(-num_deals // SMALL)
    return SMALL_BLOCKS - (SMALL_BLOCKS * SMALL - num_deals) // LARGE


def played_game(game: Game) -> Game:
    """The game as it is played for a comparison: the reward is the score."""
    return catbox_env.make_game(game.id, **{**game.options, "reward": "score"})


def check_agents(agents: object) -> None:
    """Raise ``ValueError`` unless ``agents`` is a list of at least two."""
    if isinstance(agents, str | bytes) or not isinstance(agents, Sequence):
        raise ValueError(
            f"agents={brief(agents)}: expected a list of agents, such as ['heuristic', 'random']"
        )
    if len(agents) < 2:
        given = ", ".join(map(label_of, agents)) or "none"
        raise ValueError(f"agents: {len(agents)} ({given}); expected at least 2 to compare")


def check_labels(names: Any, number: int) -> list[str]:
    """``names`` as a list. Raises ``ValueError`` unless they are ``number`` different texts of printable characters."""
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    if (
        not listed
        or not all(isinstance(name, str) and name.strip() and name.isprintable() for name in names)
        or not len(names) == len(set(names)) == number
    ):
        raise ValueError(
            f"names={brief(names)}: expected {number} different names of printable characters, one for each agent"
        )
    return list(names)


def check_num_deals(num_deals: object) -> int:
    """``num_deals`` as an int. Raises ``ValueError`` unless it is an integer of at least `MIN_DEALS`."""
    if not is_integer(num_deals):
        raise ValueError(f"num_deals={brief(num_deals)}: expected an integer, such as 1000")
    if num_deals < MIN_DEALS:
        raise ValueError(
            f"num_deals={num_deals}: expected at least {MIN_DEALS}; with fewer the interval would be meaningless"
        )
    return int(num_deals)
