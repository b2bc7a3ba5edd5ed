"""Comparisons of agents on the same deals from every seat: `evaluate` plays one table, `run_arena` all of them.

Every deal is played once for each seat; each time the line-up rotates by one seat, so that every agent holds every
hand. An agent's margin over the others is first averaged over the games of one deal. These averages are independent,
and the interval is computed from them. In this paired design the luck of the deal cancels out and does not widen the
interval.
"""

from __future__ import annotations

import importlib.util
import math
import os
import pickle
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import catbox_env
from catbox_agents.arena.arena_result import ArenaResult, arena_result
from catbox_agents.arena.records import Recorder, record_lines, write_records
from catbox_agents.arena.results import Block, Result, table_result
from catbox_agents.arena.seatings import (
    MIN_DEALS,
    PAIR,
    SMALL,
    SMALL_BLOCKS,
    Players,
    PlayTasks,
    Seating,
    Setup,
    Task,
    all_seatings,
    first_deal,
    num_blocks,
    play_block,
    played_game,
    seed_of_deals,
)
from catbox_agents.arena.store import BLOCKS_FILE, Store
from catbox_agents.specs import AgentSpec, label_of, labels_of, resolve
from catbox_env import Game
from catbox_env.core.checks import check_flag, check_integer, check_number, check_path, is_integer, short_repr
from catbox_env.core.extras import install_line
from catbox_env.core.spec import check_game_object

#: Most games that `evaluate` plays side by side. Larger batches cost memory and save little time.
CHUNK = 2048
#: Deals of its first batch. Each next batch is 1.5 times as large, up to CHUNK games, so that little is lost when a
#: comparison of slow agents is interrupted.
FIRST_DEALS = 16
#: Most processes of an arena.
MAX_PROCESSES = 1024
#: The packages that an arena needs: the extra "arena".
NEEDED = ("choix", "filelock", "matplotlib")
#: With a target width: the deals after which the intervals are first checked, and the largest factor between two
#: checks.
_FIRST_CHECK, _FARTHEST = SMALL_BLOCKS * SMALL, 4
#: Without --deals, an arena with a target width ends here.
DEALS_FOR_WIDTH = 1_000_000
#: Most deals of an arena: all are held in memory.
MAX_DEALS = 10_000_000


class EvaluationInterrupted(KeyboardInterrupt):
    """Ctrl-C during `evaluate`. ``result``: of the finished deals; None if there are fewer than MIN_DEALS."""

    def __init__(self, result: Result | None, num_deals: int) -> None:
        done = 0 if result is None else result.deals
        super().__init__(f"interrupted: {done} of {num_deals} deals were finished")
        self.result = result


class ArenaInterrupted(KeyboardInterrupt):
    """Ctrl-C in `run_arena`. ``result``: of the deals that every table has finished; None if fewer than MIN_DEALS."""

    def __init__(self, result: ArenaResult | None, num_deals: int) -> None:
        done = 0 if result is None else result.deals
        super().__init__(f"interrupted: {done} of {num_deals} deals were finished at every table")
        self.result = result


def evaluate(
    game: Game,
    agents: Sequence[AgentSpec],
    num_deals: int,
    seed: int | None = 0,
    names: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Play ``num_deals`` deals, each with every rotation of the seats, and compare the agents.

    ``agents``: specs (see `catbox_agents.make`) or agents; the last one fills the remaining seats, so
    ``[net, "heuristic"]`` is one net among heuristics. ``progress`` is called with (games played, games in total).
    The same arguments give the same result. ``seed`` seeds the deals and the random numbers of agents with
    ``seed_decisions``; None draws a random one, which the result contains. Give None for agents that might know the
    deals of a small seed.

    Raises ValueError for fewer than two agents, more agents than seats, fewer than ten deals (their interval would be
    meaningless), an unknown agent, a seed that is not an integer of 0 or more, an agent that plays an illegal action,
    and one whose code raises an error (`AgentError`). Ctrl-C raises `EvaluationInterrupted`, a KeyboardInterrupt that
    holds the result so far.
    """
    check_game_object(game)
    labels = _names_of(agents, names)
    seats = game.num_players
    if len(labels) > seats:
        raise ValueError(
            f"{len(labels)} agents ({', '.join(labels)}) for {seats} seats: name at most {seats} agents, or play with "
            "more players"
        )
    num_deals = _check_num_deals(num_deals)
    seed = secrets.randbits(128) if seed is None else seed_of_deals(None, seed)[0]
    line_up = tuple(min(seat, len(labels) - 1) for seat in range(seats))
    seating = Seating(PAIR, tuple(range(len(labels))), line_up)
    setup = Setup(game, tuple(agents), tuple(labels), (seating,), seed)
    players = Players(setup)
    blocks: list[Block] = []
    first = finished = 0

    def ended(games: int) -> None:
        nonlocal finished
        finished += games
        if progress is not None:
            progress(finished, num_deals * seats)

    def result() -> Result:
        about = {"game": game.id, "options": dict(game.options), "deals_planned": num_deals, "seed": seed}
        return table_result(blocks, line_up, seats, labels, **about)

    size = min(FIRST_DEALS, largest := max(1, CHUNK // seats))
    try:
        while first < num_deals:
            if num_deals - first < 1.5 * size:  # the last batch is about as large as the one before it
                size = num_deals - first
            blocks.append(play_block(players, Task(0, first, size), ended))
            first += size
            size = min(size + (size + 1) // 2, largest)
    except KeyboardInterrupt:
        raise EvaluationInterrupted(result() if first >= MIN_DEALS else None, num_deals) from None
    return result()


def run_arena(
    game: Game,
    agents: Sequence[AgentSpec],
    num_deals: int | None = None,
    *,
    until_ci: float | None = None,
    deal_set: str | None = None,
    seed: int | None = None,
    names: Sequence[str] | None = None,
    mixed: bool = False,
    processes: int | None = None,
    move_time: float | None = None,
    output: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    ray_address: str | None = None,
) -> ArenaResult:
    """Play one of each agent among copies of each other one, and compare them.

    Args:
        agents: specs (see `catbox_agents.make`) or agents, at least two. Each is made once; an agent of your own that
            has no method ``seed_decisions`` is made anew for each block of deals, or copied (with ``pickle``) as it is.
        num_deals: deals of each table, 10 to 10,000,000, each played from every seat; 1,000 by default. With
            ``until_ci``: the most deals, 1,000,000 by default.
        until_ci: play until no 95 % interval in the matrix has a larger half width than this.
        deal_set: a name in `DEAL_SETS`, by default ``"selection"``; ``seed``: your own deals instead.
        names: of the agents, all different; by default the specs.
        mixed: also play tables with every agent (if there are more agents than seats, every selection of them).
        processes: the number of processes to play in; None: this one. The result is the same. Processes are new
            interpreters, so a script needs ``if __name__ == "__main__":``.
        move_time: seconds for one move. Agents are then asked for one game at a time.
        output: a folder for finished blocks of deals, from which a second call resumes; at the end it gets
            ``results.json``, ``results.md`` and ``matrix.png``. After an agent has changed, only its tables are played
            again.
        record: a file for the games, see ``catbox_agents.arena.records``. An existing file is replaced only if the
            arena resumes in ``output`` and the file belongs to it.
        progress: called with (games played, games in total); with ``until_ci`` the total is an estimate.
        ray_address: play on a Ray cluster: ``"HOST:PORT"`` of its head, or ``"auto"`` for the cluster of this machine;
            ``processes`` is then the most cores to use, None: all. The result is the same. The agents' files must be at
            the same paths on all machines. Needs the extra ``ray``.

    Raises ValueError for agents or options that cannot be played, for a folder of another arena, and for an agent that
    answers anything but a legal action or takes longer than ``move_time``; `AgentError` for an error in an agent's
    code; `WriteError` for a folder or file that cannot be written. Ctrl-C raises `ArenaInterrupted`, a
    KeyboardInterrupt with the result so far, which is also written to ``output``.
    """
    setup, deal_set_name = _arena_setup(
        game, agents, names, mixed, deal_set, seed, move_time, record is not None
    )
    default = 1000 if until_ci is None else DEALS_FOR_WIDTH
    most = _check_num_deals(default if num_deals is None else num_deals)
    if most > MAX_DEALS:
        raise ValueError(f"num_deals={most}: expected at most {MAX_DEALS}")
    if until_ci is not None:
        until_ci = check_number("until_ci", until_ci, "a number above 0, in points, such as 0.05", above=True)
    if processes is not None:
        processes = check_integer("processes", processes, 1, MAX_PROCESSES)
    players = Players(setup)
    fingerprints = players.fingerprints()
    labels = list(setup.names)
    arena = {"seed": setup.seed, "mixed": mixed, "agents": fingerprints}
    header: dict[str, Any] = {"game": played_game(game), "agents": labels, "arena": arena}
    output = None if output is None else check_path("output", output)
    if record is not None:
        _check_record(check_path("record", record), header, output)
    planned = first_check = most if until_ci is None else min(most, _FIRST_CHECK)
    interrupted = False
    with ExitStack() as stack:
        store = None
        if output is not None or record is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory()) if output is None else output
            settings = {
                "catbox": catbox_env.__version__,
                "game": game.id,
                "options": game.options,
                "agents": labels,
                "seed": setup.seed,
                "mixed": mixed,
                "record": setup.recorder is not None,
            }
            store = stack.enter_context(Store(Path(folder), settings, setup.seatings, fingerprints))
        blocks: MutableMapping[Task, Block] = {} if store is None else store
        try:
            play = stack.enter_context(playing(players, processes, ray_address))
            for planned, total in _checks(setup, blocks, first_check, most, until_ci):
                play_deals(setup, planned, play, blocks, progress, total)
        except KeyboardInterrupt:
            interrupted = True
        finished = sum(tasks[0].num_deals for tasks in setup.finished(blocks, planned))
        result = arena_result(setup, blocks, planned, deal_set_name) if finished >= MIN_DEALS else None
        if output is not None and result is not None:
            from catbox_agents.arena.report import write_report  # needs rich

            write_report(result, output)
        if record is not None and store:
            write_records(Path(record), games=store.all_games(), **header)
    if result is None or interrupted:
        raise ArenaInterrupted(result, planned)
    return result


@contextmanager
def playing(
    players: Players, processes: int | None = None, ray_address: str | None = None
) -> Iterator[PlayTasks]:
    """A function that plays tasks of ``players.setup``: in this process; in that many others; or on the cluster at
    ``ray_address``, on at most ``processes`` of its cores. See `run_arena`."""
    if ray_address is not None:
        from catbox_agents.arena.ray_workers import on_cluster  # needs Ray

        with on_cluster(players.setup, players.fingerprints(), ray_address, processes) as play:
            yield play
    elif processes is not None:
        from catbox_agents.arena.workers import in_processes  # a browser has no processes

        with in_processes(players.setup, processes) as play:
            yield play
    else:
        yield lambda tasks: ((task, task.play(players)) for task in tasks)


def play_deals(
    setup: Setup,
    num_deals: int,
    play: PlayTasks,
    blocks: MutableMapping[Task, Block],
    progress: Callable[[int, int], None] | None = None,
    total_deals: int | None = None,
) -> None:
    """Play the first ``num_deals`` deals of every seating of ``setup``, but for those in ``blocks``, into which each
    block is put when it is finished.

    ``play``: see `playing`. ``blocks``: a dict, or a `Store`, from which a later call resumes. ``progress`` is called
    with (games played, games of ``total_deals``, by default ``num_deals``).
    """
    tasks = list(chain.from_iterable(setup.blocks(num_deals)))
    missing = [task for task in tasks if task not in blocks]
    done = sum(setup.games_of(task) for task in tasks if task in blocks)
    total = (total_deals or num_deals) * sum(seating.rotations for seating in setup.seatings)
    if progress is not None:
        progress(done, total)
    for task, block in play(missing):
        blocks[task] = block
        done += setup.games_of(task)
        if progress is not None:
            progress(done, total)


def _checks(
    setup: Setup, blocks: Mapping[Task, Block], planned: int, most: int, until_ci: float | None
) -> Iterator[tuple[int, int]]:
    """How many deals to have played next, ``planned`` at first, and how many it will be in the end, by an estimate.

    The end is at ``most`` deals, or when no interval of those in ``blocks`` has a larger half width than ``until_ci``.
    """
    total = planned
    while True:
        yield planned, total
        if until_ci is None or planned == most:
            return
        widest = arena_result(setup, blocks, planned, None).widest
        if widest <= until_ci:
            return
        needed = planned * (widest / until_ci) ** 2
        planned = _next_check(planned, needed, most)
        total = max(planned, min(most, math.ceil(needed)))


def _arena_setup(
    game: Game,
    agents: Sequence[AgentSpec],
    names: Sequence[str] | None,
    mixed: bool,
    deal_set: str | None,
    seed: int | None,
    move_time: float | None,
    record: bool,
) -> tuple[Setup, str | None]:
    """The setup of an arena with all its seatings, and the name of the deal set. Raises ``ValueError`` as `run_arena`
    does."""
    if not_installed := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise ValueError(f"the arena needs {', '.join(not_installed)}. {install_line('arena')}")
    if move_time is not None:
        move_time = check_number(
            "move_time", move_time, "a number above 0, in seconds, such as 1", above=True
        )
    seed_of_set, deal_set_name = seed_of_deals(deal_set, seed)
    check_game_object(game)
    labels = _names_of(agents, names)
    specs = [label_of(agent) for agent in agents if isinstance(agent, str | os.PathLike)]
    resolved = [resolve(spec, game) for spec in specs]
    same = [spec for spec, meant in zip(specs, resolved, strict=True) if resolved.count(meant) > 1]
    if same and names is None:
        raise ValueError(
            f"agents: {', '.join(same)}: the same agent more than once; list each agent once, or give each its own "
            "name"
        )
    seatings = all_seatings(len(labels), game.num_players, check_flag("mixed", mixed))
    copies = tuple(spec_or_pickle(agent, name) for agent, name in zip(agents, labels, strict=True))
    return Setup(
        game, copies, tuple(labels), tuple(seatings), seed_of_set, move_time, Recorder if record else None
    ), deal_set_name


def spec_or_pickle(agent: AgentSpec, name: str) -> AgentSpec | bytes:
    """A spec, or the pickled agent. Raises ValueError for an agent that cannot be pickled."""
    if isinstance(agent, str | os.PathLike):
        return os.fspath(agent)
    try:
        pickled = pickle.dumps(agent)
        pickle.loads(pickled)
    except Exception as error:
        raise ValueError(
            f"agent {name!r} cannot be copied for each block of deals: pickle raised {type(error).__name__}: {error}; "
            "give a spec, such as 'package.module:Class', or make the agent picklable"
        ) from error
    return pickled


def _names_of(agents: Sequence[AgentSpec], names: Sequence[str] | None) -> list[str]:
    """``names`` as a list, or the labels of ``agents``.

    Raises ``ValueError`` unless there are at least two agents, and as many different names of printable characters.
    """
    if isinstance(agents, str | bytes) or not isinstance(agents, Sequence):
        raise ValueError(
            f"agents={short_repr(agents)}: expected a list of agents, such as ['heuristic', 'random']"
        )
    number = len(agents)
    if number < 2:
        listed = ", ".join(map(label_of, agents)) or "none"
        raise ValueError(f"agents: {number} ({listed}); expected at least 2 to compare")
    for agent in agents:
        if isinstance(agent, bytes):
            raise ValueError(
                f"agent {short_repr(agent)}: expected a spec, which is a string or a path, or an agent"
            )
    if names is None:
        return labels_of(agents)
    if (
        not (isinstance(names, Sequence) and not isinstance(names, str))
        or not all(isinstance(name, str) and name.strip() and name.isprintable() for name in names)
        or not len(names) == len(set(names)) == number
    ):
        raise ValueError(
            f"names={short_repr(names)}: expected {number} different names of printable characters, one for each agent"
        )
    return list(names)


def _check_record(path: Path, header: dict[str, Any], output: Path | None) -> None:
    """Raise ValueError for a file at ``path``, unless the arena resumes in ``output`` and the file is its record."""
    if not path.exists():
        return
    blocks = None if output is None else output / BLOCKS_FILE
    goes_on = blocks is not None and blocks.is_file() and blocks.stat().st_size > 0
    if goes_on and path.is_file():
        expected = next(record_lines(games=[], **header)).encode()
        with open(path, "rb") as file:
            if file.readline(len(expected)) == expected:
                return
    raise ValueError(
        f"{path} already exists{' and holds other games' if goes_on else ''}: give another name, or move it away"
    )


def _next_check(checked: int, needed: float, most: int) -> int:
    """The number of deals after which the intervals are checked next: whole blocks, at least one more.

    ``needed``: the estimated number of deals for the target width, by the intervals of the first ``checked`` deals.
    """
    aim = min(1.05 * needed, _FARTHEST * checked)
    return min(most, first_deal(max(num_blocks(checked) + 1, num_blocks(math.ceil(aim)))))


def _check_num_deals(num_deals: object) -> int:
    """``num_deals`` as an int. Raises ``ValueError`` unless it is an integer of at least `MIN_DEALS`."""
    if not is_integer(num_deals):
        raise ValueError(f"num_deals={short_repr(num_deals)}: expected an integer, such as 1000")
    if num_deals < MIN_DEALS:
        raise ValueError(
            f"num_deals={num_deals}: expected at least {MIN_DEALS}; with fewer the interval would be meaningless"
        )
    return int(num_deals)
