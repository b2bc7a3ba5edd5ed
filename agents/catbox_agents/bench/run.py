"""Plays an agent through a suite: `run_bench` makes a submission."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import catbox_env
from catbox_agents.arena.fingerprints import agent_fingerprint, rules_fingerprint
from catbox_agents.arena.results import Block, mean_and_half_width, t_quantile
from catbox_agents.arena.run import playing, spec_or_pickle
from catbox_agents.arena.seatings import Players, PlayTasks, Setup, Task, first_deal, num_blocks
from catbox_agents.arena.store import Store
from catbox_agents.bench.games import ActionRecorder
from catbox_agents.bench.scenarios import VISITOR, Scenario, Suite, Table, hash_of
from catbox_agents.networks.checkpoint import find_policy
from catbox_agents.specs import AgentSpec, Kind, can_play, label_of, make, parse_spec, printable
from catbox_agents.system.files import write_atomically
from catbox_env.core.checks import check_instance, check_known, check_path, short_repr

FORMAT = "catbox-submission-1"
SUBMISSION_FILE, GAMES_FILE, WORK_FOLDER = "submission.json", "games.jsonl", "unfinished"
#: What a submission declares about how the agent came about; nobody can check it.
TRACKS = {
    "learn-10M": "learned from scratch, by at most 10 million decisions",
    "learn-1B": "learned from scratch, by at most 1 billion decisions",
    "open": "anything that takes no search",
    "open+search": "anything that takes at most 100 ms a decision on the machine named",
}
#: The most decisions of a track; the last update of a run may go beyond what it was to make.
MOST_DECISIONS = {"learn-10M": 10_100_000, "learn-1B": 1_010_000_000}
#: The seeds that a row of such a track should have.
MIN_SEEDS = 5
#: The agents of every table: the one that is measured, and the one that it is compared with.
OWN, HEURISTIC = 0, 1
#: Characters of the error of an agent that are kept.
MAX_ERROR = 300
#: Decimals of all numbers in a submission.
DECIMALS = 6


class BenchInterrupted(KeyboardInterrupt):
    """Ctrl-C in `run_bench`. What has been played is kept."""


def run_bench(
    agents: AgentSpec | Sequence[AgentSpec],
    suite: Suite,
    output: str | os.PathLike[str],
    *,
    name: str | None = None,
    declared: Mapping[str, Any] | None = None,
    processes: int | None = None,
    ray_address: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Play an agent through ``suite``, and write a submission into the folder ``output``. Returns its content.

    Args:
        agents: a spec, or an agent that can be pickled. Of several, such as policies for different numbers of players,
            the first that can play a table plays there; tables that none can play are left out.
        name: what the tables call it, by default the spec of the first.
        declared: what it says about itself: ``track`` (see TRACKS), ``decisions`` of training with those of its
            ancestors, ``settings`` and ``seed`` of training, ``seconds`` of training, ``hardware``, ``licence``,
            ``contact``. The tracks that learn need the first three.
        processes, ray_address, progress: as in `catbox_agents.run_arena`.

    An agent that raises an error or answers anything but a legal action ends the scenario, which then has an ``error``
    instead of a score. The suite has a score only if all its scenarios have one. A checkpoint that names no code is
    copied to TABLE.safetensors in the folder first, and the copy plays. Ctrl-C raises `BenchInterrupted`; the same call
    resumes. Raises ``ValueError`` for declarations that are unknown, agents of which none can play or one cannot be
    made, and a folder that holds a submission or something else.
    """
    folder = check_path("output", output)
    check_instance("suite", suite, Suite, "a suite, such as suite('petrify')")
    check_instance("name", name, str | None, "text or None")
    check_instance("declared", declared, Mapping | None, "a mapping or None")
    entered = agents_by_table(agents, suite)
    if existing := [name for name in (SUBMISSION_FILE, GAMES_FILE) if (folder / name).exists()]:
        raise ValueError(f"{folder} holds {existing[0]}, of another submission: name another folder")
    checked = check_declared(declared or {})
    label = printable(label_of(next(iter(entered.values()))) if name is None else name)
    specs = {place: label_of(agent) for place, agent in entered.items()}
    for place, agent in entered.items():
        if (data := _policy_of(agent)) is not None:  # the copy plays: a run may go on meanwhile
            specs[place] = policy_name(place)
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / specs[place], data)
            entered[place] = str(folder.absolute() / specs[place])
    results: dict[str, dict[str, Any]] = {}
    lines: list[str] = []
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    total = sum(2 * _num_games(scenario) for scenario in suite.scenarios if scenario.table.name in entered)
    done = 0

    def count(games: int) -> None:
        nonlocal done
        done += games
        if progress is not None:
            progress(done, total)

    count(0)
    fingerprints = {}
    try:
        for table in suite.tables:
            if table.name not in entered:
                continue
            scenarios, agent = suite.of_table(table), entered[table.name]
            work = folder / WORK_FOLDER / table.name
            with BenchTable(table, scenarios, agent, suite, work, processes, ray_address) as played:
                fingerprints[table.name] = played.fingerprints[OWN].rpartition(" ")[2]
                for number, scenario in enumerate(scenarios):
                    error = played.play(number, count)
                    results[scenario.name] = played.result(number, error)
                    lines += [] if error else played.lines(number)
                    seconds[scenario.name] = played.seconds_per_decision(number)
    except KeyboardInterrupt:
        raise BenchInterrupted(
            f"interrupted; what was played is kept in {folder}: the same command resumes"
        ) from None
    games = "".join(f"{line}\n" for line in lines).encode()
    submission = {
        "format": FORMAT,
        "suite": suite.name,
        "quick": suite.is_quick,
        "private": suite.private,
        "agent": {
            "name": label,
            "specs": specs,
            "fingerprints": fingerprints,
        },
        "declared": checked,
        "catbox": catbox_env.__version__,
        **scores(suite, results),
        "scenarios": list(results.values()),
        "games": hashlib.sha256(games).hexdigest(),
        "times": {
            "seconds": round(time.perf_counter() - began, 1),
            "seconds_per_decision": {each: float(f"{value:.3g}") for each, value in seconds.items()},
            "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, "
            f"numpy {np.__version__}",
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / GAMES_FILE, games)
    write_atomically(folder / SUBMISSION_FILE, (json.dumps(submission, indent=1) + "\n").encode())
    shutil.rmtree(folder / WORK_FOLDER)
    return submission


def policy_name(table: str) -> str:
    """The file of a policy that a submission holds."""
    return f"{table}.safetensors"


def _policy_of(agent: AgentSpec) -> bytes | None:
    """The file of an agent that is a policy, without code; None for any other agent."""
    if not isinstance(agent, str | os.PathLike):
        return None
    parsed = parse_spec(os.fspath(agent))
    return (
        find_policy(parsed.path).read_bytes() if parsed.kind is Kind.POLICY and not parsed.modules else None
    )


def agents_by_table(agents: AgentSpec | Sequence[AgentSpec], suite: Suite) -> dict[str, AgentSpec]:
    """The first of ``agents`` that can play each table, by its name. Raises ``ValueError`` if none can play any."""
    every = list(agents) if isinstance(agents, Sequence) and not isinstance(agents, str) else [agents]
    found = {table.name: [agent for agent in every if can_play(agent, table.game)] for table in suite.tables}
    entered = {table: fitting[0] for table, fitting in found.items() if fitting}
    if not entered:
        raise ValueError(
            f"agents: {', '.join(map(label_of, every))}: none can play a table of the suite {suite.name}; expected one "
            f"for the rules of {', '.join(found)}"
        )
    return entered


def scores(suite: Suite, results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The ``score`` of the suite, and of its ``tables`` that were played: see `total_score`."""
    tables = {
        table.name: [results[each.name] for each in suite.of_table(table)]
        for table in suite.tables
        if suite.of_table(table)[0].name in results
    }
    every = [result for found in tables.values() for result in found]
    return {
        "score": total_score(every) if len(tables) == len(suite.tables) else None,
        "tables": {name: total_score(found) for name, found in tables.items()},
    }


def check_declared(declared: Mapping[str, Any]) -> dict[str, Any]:
    """What a submission declares, complete. Raises ``ValueError`` for unknown names and values of the wrong kind."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "track": str,
        "decisions": int,
        "settings": str,
        "seed": int,
        "seconds": (int, float),
        "hardware": str,
        "licence": str,
        "contact": str,
    }
    for name, value in declared.items():
        check_known("declaration", name, list(kinds))
        if value is not None and (not isinstance(value, kinds[name]) or isinstance(value, bool)):
            raise ValueError(
                f"{name}={short_repr(value)}: expected {'text' if kinds[name] is str else 'a number'}"
            )
        if isinstance(value, int | float) and not 0 <= value < math.inf:
            raise ValueError(f"{name}={short_repr(value)}: expected a number of 0 or more")
        if isinstance(value, str) and value != printable(value):
            raise ValueError(f"{name}={short_repr(value)}: expected printable characters")
    track = declared.get("track") or "open"
    check_known("track", track, list(TRACKS))
    if (declared.get("decisions") or 0) > MOST_DECISIONS.get(track, math.inf):
        raise ValueError(
            f"decisions={declared['decisions']}: too many for the track {track}, {TRACKS[track]}"
        )
    if track in MOST_DECISIONS and (
        missing := [name for name in ("decisions", "settings", "seed") if declared.get(name) is None]
    ):
        raise ValueError(f"the track {track} also needs {' and '.join(missing)}: {TRACKS[track]}")
    return {**dict.fromkeys(kinds), **declared, "track": track}


def tasks_of(seating: int, scenario: Scenario) -> list[Task]:
    """The blocks of a scenario, at place ``seating`` of the seatings."""
    ends = [min(first_deal(k), scenario.deals) for k in range(num_blocks(scenario.deals) + 1)]
    return [Task(seating, scenario.first + start, stop - start) for start, stop in pairwise(ends)]


def _num_games(scenario: Scenario) -> int:
    return scenario.deals * scenario.table.game.num_players


class BenchTable:
    """The scenarios of one table of a suite: what has been played of them. A context manager that locks its folder.

    Attributes: ``setup``, whose seatings 2k and 2k + 1 are those of scenario k, with the agent and with the heuristic
    in its place; ``fingerprints`` of its agents.
    """

    def __init__(
        self,
        table: Table,
        scenarios: Sequence[Scenario],
        agent: AgentSpec,
        suite: Suite,
        folder: Path,
        processes: int | None = None,
        ray_address: str | None = None,
    ) -> None:
        self.scenarios = scenarios
        self._where = processes, ray_address
        self._playing = ExitStack()
        self._play: PlayTasks | None = None
        self.setup = setup_of(table, scenarios, agent, suite)
        self.players = Players(self.setup)
        self.fingerprints = self.players.fingerprints()
        settings = {
            "game": table.game_id,
            "options": dict(table.options),
            "agents": list(self.setup.names),
            "seed": self.setup.seed,
            "scenarios": [scenario.data() for scenario in scenarios],
        }
        self._store = Store(folder, settings, self.setup.seatings, self.fingerprints)

    def __enter__(self) -> BenchTable:
        self._store.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._playing.close()
        self._store.__exit__(*error)

    def play(self, number: int, count: Callable[[int], None]) -> str:
        """Play what is missing of a scenario. Returns the error of the agent that ended it, or an empty text."""
        tasks = self.tasks(number)
        count(sum(self.setup.games_of(task) for task in tasks if task in self._store))
        missing = [task for task in tasks if task not in self._store]
        if not missing:
            return ""
        if self._play is None:
            self._play = self._playing.enter_context(playing(self.players, *self._where))
        try:
            for task, block in self._play(missing):
                self._store[task] = block
                count(self.setup.games_of(task))
        except (ValueError, ChildProcessError) as error:  # the agent's: the opponents are ours, and tested
            self._playing.close()  # other processes may still be playing the scenario
            self._play = None
            return printable(str(error))[:MAX_ERROR]
        return ""

    def tasks(self, number: int) -> list[Task]:
        """The blocks of a scenario, those of the agent first."""
        scenario = self.scenarios[number]
        return [*tasks_of(2 * number, scenario), *tasks_of(2 * number + 1, scenario)]

    def result(self, number: int, error: str) -> dict[str, Any]:
        """The result of a scenario, see `scenario_result`."""
        if error:
            return {"name": self.scenarios[number].name, "error": error}
        own, heuristic = (
            [self._store[task] for task in tasks_of(2 * number + k, self.scenarios[number])] for k in range(2)
        )
        return scenario_result(self.scenarios[number], own, heuristic, self.hash(number))

    def hash(self, number: int) -> str:
        """The hash of a scenario."""
        place = 2 + number
        return scenario_hash(self.scenarios[number], self.fingerprints[HEURISTIC], self.fingerprints[place])

    def lines(self, number: int) -> list[str]:
        """The lines of the games of a scenario in the file of the games."""
        scenario = self.scenarios[number]
        return [
            game_line(scenario.name, task, self._store.games(task)[0])
            for task in tasks_of(2 * number, scenario)
        ]

    def seconds_per_decision(self, number: int) -> float:
        """What the agent took for a decision."""
        own = 0 if self.scenarios[number].role == VISITOR else 1
        blocks = [
            self._store[task] for task in tasks_of(2 * number, self.scenarios[number]) if task in self._store
        ]
        decisions = sum(int(block.decisions[own]) for block in blocks)
        return float(sum(block.seconds[own] for block in blocks)) / max(1, decisions)


def game_line(scenario: str, task: Task, actions: str) -> str:
    """The line of a block in the file of the games."""
    return json.dumps(
        {"scenario": scenario, "first": task.first, "deals": task.num_deals, "actions": actions}
    )


def setup_of(table: Table, scenarios: Sequence[Scenario], agent: AgentSpec, suite: Suite) -> Setup:
    """The setup of a table: the agent, the heuristic, and an opponent for each scenario."""
    seatings = [
        scenario.seating(own, 2 + number)
        for number, scenario in enumerate(scenarios)
        for own in (OWN, HEURISTIC)
    ]
    return Setup(
        table.game,
        (spec_or_pickle(agent, "the agent"), "heuristic", *(scenario.spec for scenario in scenarios)),
        ("the agent", "the heuristic in its place", *(scenario.name for scenario in scenarios)),
        tuple(seatings),
        suite.seed,
        recorder=ActionRecorder,
    )


def scenario_hash(scenario: Scenario, heuristic: str, opponent: str) -> str:
    """A hash of all that decides a result: the scenario, its rules, and what the opponent and the heuristic decide.

    ``heuristic`` and ``opponent`` are fingerprints of these agents, see `Players.fingerprints`.
    """
    decided = [fingerprint.rpartition(" ")[2] for fingerprint in (heuristic, opponent)]
    return hash_of([scenario.data(), rules_fingerprint(scenario.table.game), *decided])


def current_hash(scenario: Scenario) -> str:
    """The hash of a scenario as it is with this version of catbox."""
    game = scenario.table.game
    return scenario_hash(
        scenario,
        *(agent_fingerprint(spec, make(spec, game, 0), game) for spec in ("heuristic", scenario.spec)),
    )


def scenario_result(
    scenario: Scenario, own: Sequence[Block], heuristic: Sequence[Block], hash_: str
) -> dict[str, Any]:
    """The margin a round of the agent and of the heuristic in its place, and the score: how much more it is, in
    hundredths of the table's spread, with half the width of its 95 % interval."""
    place = 0 if scenario.role == VISITOR else 1
    margins, baseline = (
        np.concatenate([block.deals[1][:, place] for block in blocks]).astype(np.float64)
        for blocks in (own, heuristic)
    )
    score, ci95 = mean_and_half_width(100 * (margins - baseline) / scenario.table.spread)
    return {
        "name": scenario.name,
        "hash": hash_,
        "deals": len(margins),
        "margin": round(float(margins.mean()), DECIMALS),
        "heuristic": round(float(baseline.mean()), DECIMALS),
        "score": round(float(score), DECIMALS),
        "ci95": round(float(ci95), DECIMALS),
    }


def total_score(results: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The mean over the scenarios, half its 95 % interval, and the worst scenario; None if one ended with an error."""
    if any("error" in result for result in results):
        return None
    # Scenarios share no deals, so their errors are independent.
    errors = [result["ci95"] / t_quantile(result["deals"] - 1) for result in results]
    worst = min(results, key=lambda result: result["score"])
    return {
        "mean": round(float(np.mean([result["score"] for result in results])), DECIMALS),
        "ci95": round(1.959964 * float(np.sqrt(np.square(errors).sum())) / len(results), DECIMALS),
        "worst": worst["name"],
        "worst_score": worst["score"],
    }
