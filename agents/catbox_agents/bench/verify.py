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
from catbox_agents.bench.games import LISTED, ReplayTask
from catbox_agents.bench.run import (
    DECIMALS,
    FORMAT,
    GAMES_FILE,
    HEURISTIC,
    MAX_ERROR,
    OWN,
    SUBMISSION_FILE,
    agents_by_table,
    check_declared,
    game_line,
    policy_name,
    scenario_hash,
    scenario_result,
    scores,
    setup_of,
    tasks_of,
)
from catbox_agents.bench.scenarios import VISITOR, Scenario, Suite, Table, suite
from catbox_agents.settings import read_settings
from catbox_agents.specs import AgentSpec, Kind, load_policy, parse_spec, printable, resolve
from catbox_agents.system.files import check_format, parse_json
from catbox_env.core.checks import check_path, short_repr

#: The share of the agent's decisions that must be equal when it is asked again: processors round differently.
EQUAL = 0.995
#: The share of the decisions in which an opponent that searches is asked: it is slow.
SEARCHED = 0.15
#: Larger files are no submissions.
MAX_SUBMISSION, MAX_GAMES, MAX_POLICY = 1 << 20, 1 << 26, 1 << 27
_REMEDY = "give the folder that catbox bench run wrote"


@dataclass
class Verification:
    """What holds of a submission, and what does not, as sentences.

    Attributes: ``submission``: its content; ``asked``: the tables whose agent was asked; ``is_complete``: whether all
    scenarios of its suite have a score.
    """

    submission: dict[str, Any]
    holds: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems

    @property
    def is_complete(self) -> bool:
        """Whether all scenarios of its suite have a score."""
        return self.submission["score"] is not None


def verify(
    folder: str | Path,
    *,
    agents: AgentSpec | Sequence[AgentSpec] | None = None,
    private_seed: str | None = None,
    search_share: float = SEARCHED,
    processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Check the submission in ``folder``: play its games again by the rules, ask the opponents what they would have
    done, play the heuristic's games, and compute every number anew.

    Args:
        agents: as in `run_bench`, by default the policies that the submission holds, which are data. They are asked
            too: at least EQUAL of their decisions must be the same.
        private_seed: of a submission that was played with one.
        search_share: in which share of its decisions, drawn anew each time, an opponent that searches is asked.
        processes, progress: as in `catbox_agents.run_arena`.

    Raises ``ValueError`` and ``OSError`` for files that are no submission or cannot be read, and ``ValueError`` for an
    agent that decides by the time it has: it would not decide the same again.
    """
    folder = check_path("folder", folder)
    submission = read_submission(folder)
    if not (folder / GAMES_FILE).exists():
        raise FileNotFoundError(
            f"{folder} holds no {GAMES_FILE}, without which nothing can be verified: ask whoever played them; those of "
            "catbox's own rows can be played again, see benchmark/README.md"
        )
    games = _read(folder / GAMES_FILE, MAX_GAMES)
    verification = Verification(submission)
    complete = suite(submission["suite"], private_seed=private_seed, quick=submission["quick"])
    if submission["private"] != complete.private:
        theirs, ours = (
            "a private seed" if each else "the public seed"
            for each in (submission["private"], complete.private)
        )
        verification.problems.append(
            f"it was played with {theirs if theirs != ours else 'another private seed'}"
        )
        return verification
    verifier = _Verifier(verification, complete, search_share, progress)
    verifier.check_content(games)
    if verification.is_valid:
        held = verifier.policies(folder)  # also if others are asked: the submission names them
        verifier.play(held if agents is None else agents_by_table(agents, verifier.suite), processes)
    if verification.is_valid:
        for name, expected in scores(complete, verifier.results).items():
            if not _same(submission[name], expected):
                verification.problems.append(f"{name} is {short_repr(submission[name])}, expected {expected}")
    return verification


class _Verifier:
    """Notes in ``verification`` what holds of a submission that was played on ``complete``, a suite."""

    def __init__(
        self,
        verification: Verification,
        complete: Suite,
        search_share: float,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self.verification, self.search_share, self.progress = verification, search_share, progress
        self.submission, self.problems = verification.submission, verification.problems
        self.fingerprints: dict[str, str] = self.submission["agent"]["fingerprints"]
        known = [table.name for table in complete.tables]
        for name in self.fingerprints:
            if name not in known:
                self.problems.append(f"table {short_repr(name)} is not one of the suite {complete.name}")
        played = tuple(each for each in complete.scenarios if each.table.name in self.fingerprints)
        self.suite = replace(complete, scenarios=played)
        self.results: dict[str, dict[str, Any]] = {}
        self.recorded: dict[str, list[str]] = {}
        self._played, self._games = 0, sum(2 * each.deals * each.table.game.num_players for each in played)

    def check_content(self, games: bytes) -> None:
        """Whether there is a result of each scenario that was played, and each block of its games."""
        names = [scenario.name for scenario in self.suite.scenarios]
        for result in self.submission["scenarios"]:
            name = result["name"]
            if name not in names:
                self.problems.append(f"scenario {short_repr(name)} is not one that was played")
            elif name in self.results:
                self.problems.append(f"scenario {name} is there twice")
            else:
                self.results[name] = result
        self.problems += [f"scenario {name} is missing" for name in names if name not in self.results]
        if not names:
            self.problems.append("it names no table that was played")
        if hashlib.sha256(games).hexdigest() != self.submission["games"]:
            self.problems.append(
                f"{GAMES_FILE} is not the file that the submission names: its hash is another"
            )
        expected = [
            (scenario.name, task)
            for scenario in self.suite.scenarios
            if "error" not in self.results.get(scenario.name, {"error": ""})
            for task in tasks_of(0, scenario)
        ]
        lines = games.decode("utf-8", "replace").splitlines()
        for number, (line, (name, task)) in enumerate(zip(lines, expected, strict=False), 1):
            try:
                actions = parse_json(line)["actions"]
            except (ValueError, LookupError, TypeError):
                actions = None
            if not isinstance(actions, str) or line != game_line(name, task, actions):
                self.problems.append(
                    f"{GAMES_FILE}, line {number}: expected {task.num_deals} deals of {name} from {task.first} on"
                )
                return
            self.recorded.setdefault(name, []).append(actions)
        if len(lines) != len(expected):
            self.problems.append(f"{GAMES_FILE} has {len(lines)} lines, expected {len(expected)}")

    def policies(self, folder: Path) -> dict[str, AgentSpec]:
        """The policies that the submission holds, by table, after a look whether each can play there."""
        specs: dict[str, str] = self.submission["agent"]["specs"]
        held: dict[str, AgentSpec] = {}
        for table in self.suite.tables:
            name = policy_name(table.name)
            if specs.get(table.name) != name:
                continue
            # An absolute path that exists is that of a policy, whatever its folders are called.
            file = str(folder.absolute() / name)
            try:
                _read(Path(file), MAX_POLICY)
                load_policy(file, table.game, adapt=True)
            except (ValueError, OSError) as error:
                self.problems.append(f"{table.name}: its policy cannot be asked: {error}")
            else:
                held[table.name] = file
        return held

    def play(self, entered: Mapping[str, AgentSpec], processes: int | None) -> None:
        """Play all games again, and compare. ``entered``: the agents that are asked, by table."""
        self.verification.asked = sorted(entered)
        for table in self.suite.tables:
            agent = entered.get(table.name)
            if isinstance(agent, str):
                _check_decides_alike(agent, table)
            scenarios = self.suite.of_table(table)
            players = Players(setup_of(table, scenarios, "random" if agent is None else agent, self.suite))
            prints = [text.rpartition(" ")[2] for text in players.fingerprints()]
            if agent is not None and prints[OWN] != self.fingerprints[table.name]:
                self.problems.append(
                    f"{table.name}: {agent} is not the agent that played: its fingerprint is another"
                )
            with playing(players, processes) as play:
                for number, scenario in enumerate(scenarios):
                    self._scenario(scenario, number, scenario_hash(scenario, prints[HEURISTIC], prints[2 + number]),
                                   agent is not None, play)  # fmt: skip

    def _scenario(
        self, scenario: Scenario, number: int, hash_: str, asks_agent: bool, play: PlayTasks
    ) -> None:
        """Play the games of a scenario again, and compare."""
        result = self.results[scenario.name]
        if "error" in result:
            self.verification.holds.append(f"{scenario.name} ended with an error: {result['error']}")
            return
        if result.get("hash") != hash_:
            self.problems.append(
                f"{scenario.name} has the hash {short_repr(result.get('hash'))}, with this version {hash_}: it is of "
                "other rules, opponents or deals"
            )
            return
        own = 0 if scenario.role == VISITOR else 1
        shares = {
            own: float(asks_agent),
            1 - own: self.search_share if scenario.spec.startswith("search:") else 1.0,
        }
        tasks: list[Task] = [
            ReplayTask(task.seating, task.first, task.num_deals, actions, (shares[0], shares[1]))
            for task, actions in zip(
                tasks_of(2 * number, scenario), self.recorded[scenario.name], strict=True
            )
        ]
        baseline = tasks_of(2 * number + 1, scenario)
        blocks: dict[Task, Block] = {}
        try:
            for task, block in play([*tasks, *baseline]):
                blocks[task] = block
                self._played += task.num_deals * scenario.table.game.num_players
                if self.progress is not None:
                    self.progress(self._played, self._games)
        except ValueError as error:
            self.problems.append(f"{scenario.name}: {error}")
            return
        for agent, name in ((1 - own, f"the opponent {scenario.opponent}"), (own, "the agent")):
            compared, differ = (
                sum(int(blocks[task].tallies[agent][what]) for task in tasks)
                for what in ("compared", "differ")
            )
            too_many = differ > (math.floor((1 - EQUAL) * compared) if agent == own else 0)
            found = self.problems if too_many else self.verification.holds
            if too_many:
                found.append(f"{scenario.name}: {name} decides otherwise in {differ} of {compared} moves")
            elif compared:
                found.append(
                    f"{scenario.name}: {name} decides the same in {compared - differ} of {compared} moves"
                )
            listed = [
                f"{scenario.name}: {name} in the block from deal {task.first + 1}, {difference}"
                for task in tasks
                for difference in blocks[task].tallies[agent]["differences"]  # type: ignore[attr-defined]
            ]
            found += listed[:LISTED]
        expected = scenario_result(
            scenario, [blocks[task] for task in tasks], [blocks[task] for task in baseline], hash_
        )
        for key, value in expected.items():
            if not _same(result.get(key), value):
                self.problems.append(
                    f"{scenario.name}: {key} is {short_repr(result.get(key))}, expected {value}"
                )
        if unknown := sorted(set(result) - set(expected)):
            self.problems.append(
                f"{scenario.name}: {', '.join(map(short_repr, unknown))}: not part of a result"
            )


def _check_decides_alike(agent: str, table: Table) -> None:
    """Raise ``ValueError`` for an agent with a time budget."""
    parsed = parse_spec(resolve(agent.strip(), table.game))
    if parsed.kind is Kind.CONFIGURED and "budget" in read_settings(parsed.text):
        raise ValueError(f"agent {short_repr(agent)} decides by the time it has: verify without it")


def read_submission(folder: Path) -> dict[str, Any]:
    """The content of a submission, its parts of the right kinds and printable.

    Raises ``ValueError`` for another file, ``OSError`` for one that cannot be read.
    """
    file = folder / SUBMISSION_FILE
    try:
        content: Any = parse_json(_read(file, MAX_SUBMISSION).decode())
    except ValueError as error:
        raise ValueError(f"{file} is not JSON ({error}): {_REMEDY}") from None
    found: dict[str, Any] = content if isinstance(content, dict) else {}
    check_format(str(file), found.get("format"), FORMAT, _REMEDY)

    def expect(holds: bool, name: str, value: Any) -> None:
        if not holds:
            raise ValueError(f"{file}: {name} = {short_repr(value)}: {_REMEDY}")

    for name, kind in _KINDS.items():
        expect(isinstance(found.get(name), kind), name, found.get(name))
    agent = found["agent"]
    expect(_is_text(agent.get("name")), "agent: name", agent.get("name"))
    for name in ("specs", "fingerprints"):
        texts = agent.get(name)
        fits = isinstance(texts, dict) and all(_is_text(text) for pair in texts.items() for text in pair)
        expect(fits, f"agent: {name}", texts)
    for name, score in {"score": found["score"], **found["tables"]}.items():
        expect(_is_text(name) and (score is None or _is_score(score)), f"score of {name}", score)
    for result in found["scenarios"]:
        expect(isinstance(result, dict) and _is_text(result.get("name")), "a scenario", result)
        if "error" in result:
            fits = result.keys() == {"name", "error"} and _is_text(result["error"])
            expect(fits and len(result["error"]) <= MAX_ERROR, f"scenario {result['name']}", result)
    found["declared"] = check_declared(found["declared"])
    return found


_KINDS: dict[str, Any] = {
    "suite": str,
    "quick": bool,
    "private": (str, type(None)),
    "agent": dict,
    "declared": dict,
    "catbox": str,
    "score": (dict, type(None)),
    "tables": dict,
    "scenarios": list,
    "games": str,
}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value == printable(value)


def _is_score(score: Any) -> bool:
    numbers = ("mean", "ci95", "worst_score")
    return (
        isinstance(score, dict)
        and score.keys() == {*numbers, "worst"}
        and all(isinstance(score[name], int | float) and abs(score[name]) < 1e9 for name in numbers)
        and _is_text(score["worst"])
    )


def _read(file: Path, most: int) -> bytes:
    """The bytes of a regular file of at most ``most``."""
    if not file.is_file() and file.exists():
        raise ValueError(f"{file} is no regular file: {_REMEDY}")
    with open(file, "rb") as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{file} has more than {most:,} bytes: {_REMEDY}")
    return data


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, numbers up to the last decimal."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(other, float) and isinstance(one, float | int) and not isinstance(one, bool):
        return abs(one) < 1e9 and abs(one - other) <= 2 * 10**-DECIMALS
    return json.dumps(one) == json.dumps(other)
