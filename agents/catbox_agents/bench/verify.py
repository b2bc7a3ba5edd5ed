"""Verifies a submission: by its games alone, or also by asking its agent again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from catbox_agents.arena.results import Block
from catbox_agents.arena.run import playing
from catbox_agents.arena.seatings import Players, PlayTasks, Task
from catbox_agents.bench.games import ReplayTask
from catbox_agents.bench.run import (
    DECIMALS,
    FORMAT,
    GAMES_FILE,
    OWN,
    SUBMISSION_FILE,
    agents_by_table,
    check_declared,
    scenario_hash,
    scenario_result,
    scores,
    setup_of,
    tasks_of,
)
from catbox_agents.bench.scenarios import VISITOR, Scenario, Suite, Table, hash_of, suite
from catbox_agents.specs import AgentSpec
from catbox_agents.system.files import check_format, parse_json, read_text
from catbox_env.core.checks import short_repr

#: The share of the agent's decisions that must be equal when it is asked again: processors round differently.
EQUAL = 0.995
#: An opponent that searches is asked in the games of so many blocks of a scenario: it is slow.
SEARCHED_BLOCKS = 1
#: Larger files are no submissions.
MAX_BYTES = 1 << 28
_REMEDY = "give the folder that catbox bench run wrote"


@dataclass
class Verification:
    """What holds of a submission, and what does not, as sentences; ``submission`` is its content."""

    submission: dict[str, Any]
    holds: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems


def verify(
    folder: str | Path,
    *,
    agents: AgentSpec | Sequence[AgentSpec] | None = None,
    private_seed: str | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Check the submission in ``folder``: play its games again by the rules, ask the opponents what they would have
    done, play the heuristic's games, and compute every number anew.

    Args:
        agents: as in `run_bench`. They are then asked too: at least EQUAL of their decisions must be the same.
        private_seed: of a submission that was played with one.
        processes, progress: as in `catbox_agents.run_arena`.

    Raises ``ValueError`` and ``OSError`` for files that are no submission or cannot be read.
    """
    submission = read_submission(Path(folder))
    games = _read_games(Path(folder))
    found = Verification(submission)
    played = suite(submission["suite"], private_seed=private_seed, quick=submission["quick"])
    private = hash_of(f"{played.seed}") if played.is_private else None
    if submission["private"] != private:
        found.problems.append(
            "it was played with a private seed: give that"
            if private is None
            else "it was played with another private seed"
        )
        return found
    tables = _tables(submission, played, found)
    played = replace(played, scenarios=tuple(each for each in played.scenarios if each.table.name in tables))
    asked = {} if agents is None else agents_by_table(agents, played)
    results = _results_by_name(submission, played, found)
    recorded = _games_by_scenario(games, submission, played, results, found)
    total = sum(2 * scenario.deals * scenario.table.game.num_players for scenario in played.scenarios)
    done = 0

    def count(number: int) -> None:
        nonlocal done
        done += number
        if progress is not None:
            progress(done, total)

    if found.is_valid:
        for table in played.tables:
            agent = asked.get(table.name)
            _verify_table(table, played, results, recorded, agent, processes, count, found)
    if found.is_valid:
        complete = suite(submission["suite"], private_seed=private_seed, quick=submission["quick"])
        for name, expected in scores(complete, results).items():
            if not _same(submission[name], expected):
                found.problems.append(f"{name} is {short_repr(submission[name])}, expected {expected}")
    return found


def _tables(submission: Mapping[str, Any], played: Suite, found: Verification) -> list[str]:
    """The names of the tables that were played; notes those that the suite does not have."""
    fingerprints = submission["agent"].get("fingerprints")
    tables = list(fingerprints) if isinstance(fingerprints, dict) else []
    known = [table.name for table in played.tables]
    found.problems += [
        f"table {short_repr(name)} is not one of the suite {played.name}"
        for name in tables
        if name not in known
    ]
    if not tables:
        found.problems.append("it names no table that was played")
    return tables


def _check_size(file: Path) -> None:
    if file.stat().st_size > MAX_BYTES:
        raise ValueError(f"{file} is larger than {MAX_BYTES:,} bytes: {_REMEDY}")


def _read_games(folder: Path) -> bytes:
    _check_size(folder / GAMES_FILE)
    return (folder / GAMES_FILE).read_bytes()


def read_submission(folder: Path) -> dict[str, Any]:
    """The content of a submission, its parts of the right kinds.

    Raises ``ValueError`` for another file, ``OSError`` for one that cannot be read.
    """
    _check_size(folder / SUBMISSION_FILE)
    try:
        content: Any = parse_json(read_text(folder / SUBMISSION_FILE))
    except ValueError as error:
        raise ValueError(f"{folder / SUBMISSION_FILE} is not JSON ({error}): {_REMEDY}") from None
    if not isinstance(content, dict):
        content = {}
    check_format(str(folder / SUBMISSION_FILE), content.get("format"), FORMAT, _REMEDY)
    kinds: dict[str, Any] = {
        "suite": str,
        "quick": bool,
        "private": (str, type(None)),
        "agent": dict,
        "declared": dict,
        "score": (dict, type(None)),
        "tables": dict,
        "scenarios": list,
        "games": str,
    }
    for name, kind in kinds.items():
        if not isinstance(content.get(name), kind):
            raise ValueError(
                f"{folder / SUBMISSION_FILE}: {name} = {short_repr(content.get(name))}: {_REMEDY}"
            )
    check_declared(content["declared"])
    return dict(content)


def _results_by_name(
    submission: Mapping[str, Any], played: Suite, found: Verification
) -> dict[str, dict[str, Any]]:
    """The results of the scenarios of the suite; notes those that are missing, unknown or there twice."""
    names = [scenario.name for scenario in played.scenarios]
    results: dict[str, dict[str, Any]] = {}
    for result in submission["scenarios"]:
        name = result.get("name") if isinstance(result, dict) else None
        if name not in names:
            found.problems.append(f"scenario {short_repr(name)} is not one of the suite {played.name}")
        elif name in results:
            found.problems.append(f"scenario {name} is there twice")
        else:
            results[name] = result
    found.problems += [f"scenario {name} is missing" for name in names if name not in results]
    return results


def _games_by_scenario(
    games: bytes,
    submission: Mapping[str, Any],
    played: Suite,
    results: Mapping[str, Mapping[str, Any]],
    found: Verification,
) -> dict[str, list[str]]:
    """The packed actions of each block of the scenarios that have a score; notes what is missing or too much."""
    if hashlib.sha256(games).hexdigest() != submission["games"]:
        found.problems.append(f"{GAMES_FILE} is not the file that the submission names: its hash is another")
    expected = [
        (scenario.name, task.first, task.num_deals)
        for scenario in played.scenarios
        if "error" not in results.get(scenario.name, {"error": ""})
        for task in tasks_of(0, scenario)
    ]
    recorded: dict[str, list[str]] = {}
    lines = games.decode("utf-8", "replace").splitlines()
    for number, (line, block) in enumerate(zip(lines, expected, strict=False), 1):
        try:
            content = parse_json(line)
            about = tuple(content[name] for name in ("scenario", "first", "deals"))
            actions = content["actions"]
        except (ValueError, LookupError, TypeError):
            about, actions = None, None
        if about != block or not isinstance(actions, str):
            found.problems.append(
                f"{GAMES_FILE}, line {number}: expected {block[2]} deals of {block[0]} from number {block[1]} on"
            )
            return recorded
        recorded.setdefault(block[0], []).append(actions)
    if len(lines) != len(expected):
        found.problems.append(f"{GAMES_FILE} has {len(lines)} lines, expected {len(expected)}")
    return recorded


def _verify_table(
    table: Table,
    played: Suite,
    results: Mapping[str, Mapping[str, Any]],
    recorded: Mapping[str, list[str]],
    agent: AgentSpec | None,
    processes: int | None,
    count: Callable[[int], None],
    found: Verification,
) -> None:
    """Verify the scenarios of one table, as `verify` does."""
    scenarios = played.of_table(table)
    setup = setup_of(table, scenarios, "random" if agent is None else agent, played)
    players = Players(setup)
    fingerprints = players.fingerprints()
    played_by = found.submission["agent"]["fingerprints"][table.name]
    if agent is not None and fingerprints[OWN].rpartition(" ")[2] != played_by:
        found.problems.append(
            f"{table.name}: the agent given is not the one that played: its fingerprint is another"
        )
    with playing(players, processes) as play:
        for number, scenario in enumerate(scenarios):
            result = results[scenario.name]
            if "error" in result:
                found.holds.append(f"{scenario.name} ended with an error: {result['error']}")
                continue
            hash_ = scenario_hash(scenario, fingerprints[1], fingerprints[2 + number])
            if result.get("hash") != hash_:
                found.problems.append(
                    f"{scenario.name} has the hash {result.get('hash')}, with this version {hash_}: it is of other "
                    "rules, opponents or deals"
                )
                continue
            _verify_scenario(
                scenario,
                number,
                recorded[scenario.name],
                result,
                hash_,
                agent is not None,
                play,
                count,
                found,
            )


def _verify_scenario(
    scenario: Scenario,
    number: int,
    recorded: list[str],
    result: Mapping[str, Any],
    hash_: str,
    with_agent: bool,
    play: PlayTasks,
    count: Callable[[int], None],
    found: Verification,
) -> None:
    """Play the games of a scenario again, and compare."""
    own = 0 if scenario.role == VISITOR else 1
    tasks: list[Task] = []
    for place, (task, actions) in enumerate(zip(tasks_of(2 * number, scenario), recorded, strict=True)):
        asks_opponent = not scenario.spec.startswith("search:") or place < SEARCHED_BLOCKS
        asked = (with_agent, asks_opponent) if own == 0 else (asks_opponent, with_agent)
        tasks.append(ReplayTask(task.seating, task.first, task.num_deals, actions, asked))
    baseline = tasks_of(2 * number + 1, scenario)
    blocks: dict[Task, Block] = {}
    try:
        for task, block in play([*tasks, *baseline]):
            blocks[task] = block
            count(task.num_deals * scenario.table.game.num_players)
    except ValueError as error:
        found.problems.append(f"{scenario.name}: {error}")
        return
    for agent, name in ((1 - own, f"the opponent {scenario.opponent}"), (own, "the agent")):
        compared, differ = (
            sum(int(blocks[task].tallies[agent][what]) for task in tasks) for what in ("compared", "differ")
        )
        allowed = 0 if agent != own else math.floor((1 - EQUAL) * compared)
        if differ > allowed:
            found.problems.append(
                f"{scenario.name}: {name} decides otherwise in {differ} of {compared} moves"
            )
        elif compared:
            found.holds.append(
                f"{scenario.name}: {name} decides the same in {compared - differ} of {compared} moves"
            )
    expected = scenario_result(
        scenario, [blocks[task] for task in tasks], [blocks[task] for task in baseline], hash_
    )
    for key, value in expected.items():
        if not _same(result.get(key), value):
            found.problems.append(
                f"{scenario.name}: {key} is {short_repr(result.get(key))}, expected {value}"
            )
    if unknown := sorted(set(result) - set(expected)):
        found.problems.append(f"{scenario.name}: {', '.join(unknown)}: not part of a result")


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, numbers up to the last decimal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(other, float) and isinstance(one, float | int) and not isinstance(one, bool):
        return abs(one - other) <= 2 * 10**-DECIMALS
    return json.dumps(one) == json.dumps(other)
