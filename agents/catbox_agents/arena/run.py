"""The arena: every agent among copies of every other, on the same deals from every seat."""

from __future__ import annotations

import importlib.util
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import catbox_env
from catbox_agents.arena.arena_result import ArenaResult, arena_result, widest_interval
from catbox_agents.arena.deal_sets import seed_of_deals
from catbox_agents.arena.playing import play_here
from catbox_agents.arena.records import begins_with, count_games, record_lines, write_records
from catbox_agents.arena.results import Block
from catbox_agents.arena.setup import (
    MIN_DEALS,
    SMALL,
    SMALL_BLOCKS,
    Setup,
    Task,
    check_num_deals,
    first_deal,
    num_blocks,
    played_game,
    set_up,
)
from catbox_agents.arena.store import BLOCKS_FILE, Store
from catbox_agents.specs import AgentSpec
from catbox_env import Game
from catbox_env.core.checks import check_flag, check_integer, check_number
from catbox_env.core.extras import install_line

if TYPE_CHECKING:
    from catbox_agents.arena.ray_workers import RayWorkers
    from catbox_agents.arena.workers import Workers

#: Most processes of an arena.
MAX_PROCESSES = 1024
#: The packages that an arena needs: the extra "arena".
NEEDED = ("choix", "filelock", "matplotlib", "scipy")
#: With a target width: the deals after which the intervals are first checked, and the largest factor between two
#: checks.
_FIRST_CHECK, _FARTHEST = SMALL_BLOCKS * SMALL, 4
#: Without --deals, an arena with a target width ends here.
DEALS_FOR_WIDTH = 1_000_000
#: Most deals of an arena: all are held in memory.
MOST_DEALS = 10_000_000


class ArenaInterrupted(KeyboardInterrupt):
    """Ctrl-C in `run_arena`. ``result``: of the deals that every table has finished; None if fewer than MIN_DEALS."""

    def __init__(self, result: ArenaResult | None, num_deals: int) -> None:
        done = 0 if result is None else result.deals
        super().__init__(f"interrupted: {done} of {num_deals} deals were finished at every table")
        self.result = result


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
        agents: specs (see `catbox_agents.make`) or agents, at least two. Each block of deals gets newly made agents; an
            agent that you pass is copied (with ``pickle``) as it is. One that ends its process, as by ``sys.exit``,
            forfeits only with ``processes``.
        num_deals: deals of each table, 10 to 10,000,000, each played from every seat; 1,000 by default. With
            ``until_ci``: the most deals, 1,000,000 by default.
        until_ci: play until no 95 % interval in the matrix has a larger half width than this.
        deal_set: ``"training"``, ``"selection"`` (the default) or ``"test"``; ``seed``: your own deals instead.
        names: of the agents, all different; by default the specs.
        mixed: also play tables with every agent (if there are more agents than seats, every selection of them).
        processes: the number of processes to play in; None: this one. The result is the same. Processes are new
            interpreters, so a script needs ``if __name__ == "__main__":``.
        move_time: seconds for one move. Agents are then asked for one game at a time, in separate processes.
        output: a folder for finished blocks of deals, from which a second call resumes; at the end it gets
            ``results.json``, ``results.md`` and ``matrix.png``.
        record: a file for the games, see ``catbox_agents.arena.records``. An existing file is replaced only if the
            arena resumes in ``output`` and the file belongs to it.
        progress: called with (games played, games in total); with ``until_ci`` the total is an estimate.
        ray_address: play on a Ray cluster: ``"HOST:PORT"`` of its head, or ``"auto"`` for the cluster of this machine;
            ``processes`` is then the most cores to use, None: all. The result is the same. The agents' files must be at
            the same paths on all machines. Needs the extra ``ray``.

    An agent that raises an error, answers anything but a legal action or takes longer than ``move_time`` forfeits that
    game: docs/arena.md has the rule. Raises ValueError for agents or options that cannot be played, and for a folder of
    another arena; `WriteError` for a folder or file that cannot be written. Ctrl-C raises `ArenaInterrupted`, a
    KeyboardInterrupt with the result so far, which is also written to ``output``.
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ValueError(f"the arena needs {', '.join(missing)}. {install_line('arena')}")
    most = check_num_deals(
        (1000 if until_ci is None else DEALS_FOR_WIDTH) if num_deals is None else num_deals
    )
    if most > MOST_DEALS:
        raise ValueError(f"num_deals={most}: expected at most {MOST_DEALS}")
    width, limit = until_ci, move_time
    if width is not None:
        width = check_number("until_ci", width, "a number above 0, in points, such as 0.05", above=True)
    if limit is not None:
        limit = check_number("move_time", limit, "a number above 0, in seconds, such as 1", above=True)
    if processes is not None:
        processes = check_integer("processes", processes, 1, MAX_PROCESSES)
    elif limit is not None and ray_address is None:
        processes = 1
    seed_of_set, deal_set_name = seed_of_deals(deal_set, seed)
    setup = set_up(game, agents, names, seed_of_set, check_flag("mixed", mixed), limit, record is not None)
    settings = {
        "catbox": catbox_env.__version__,
        "game": game.id,
        "options": game.options,
        "agents": [{"name": n, "is": f} for n, f in zip(setup.names, setup.fingerprints, strict=True)],
        "seed": setup.seed,
        "mixed": mixed,
        "move_time": limit,
        "record": record is not None,
    }
    arena = {name: settings[name] for name in ("seed", "mixed", "move_time", "agents")}
    header = {"game": played_game(game), "agents": list(setup.names), "arena": arena}
    if record is not None:
        _check_record(Path(record), header, output)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory()) if output is None else output
        store = stack.enter_context(Store(Path(folder), settings))
        planned = most if width is None else min(most, _FIRST_CHECK)
        try:
            workers: Workers | RayWorkers | None = None
            if ray_address is not None:
                from catbox_agents.arena.ray_workers import RayWorkers

                workers = stack.enter_context(RayWorkers(setup, ray_address, processes))
            elif processes is not None:
                from catbox_agents.arena.workers import Workers  # a browser has no processes

                workers = stack.enter_context(Workers(setup, processes))
            total = planned
            while True:
                _play(setup, store, planned, total, workers, progress)
                if width is None or planned == most:
                    break
                widest = widest_interval(setup, store.blocks, planned)
                if widest <= width:
                    break
                needed = planned * (widest / width) ** 2
                planned = _next_check(planned, needed, most)
                total = max(planned, min(most, math.ceil(needed)))
        except KeyboardInterrupt:
            result = _partial(setup, store.blocks, planned, deal_set_name)
            _write(setup, store, result, planned, output, record, header)
            raise ArenaInterrupted(result, planned) from None
        result = arena_result(setup, store.blocks, planned, deal_set_name)
        _write(setup, store, result, planned, output, record, header)
    return result


def _check_record(path: Path, header: dict[str, Any], output: str | os.PathLike[str] | None) -> None:
    """Raise ValueError for a file at ``path``, unless the arena resumes in ``output`` and the file is its record."""
    if not path.exists():
        return
    blocks = None if output is None else Path(output) / BLOCKS_FILE
    goes_on = blocks is not None and blocks.is_file() and blocks.stat().st_size > 0
    if not goes_on or not path.is_file() or not begins_with(path, next(record_lines(games=[], **header))):
        raise ValueError(
            f"{path} already exists{' and holds other games' if goes_on else ''}: give another name, or move it away"
        )


def _play(
    setup: Setup,
    store: Store,
    planned: int,
    total: int,
    workers: Workers | RayWorkers | None,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Play what is missing of the first ``planned`` deals; ``total`` is for the progress."""
    games_of_deal = sum(table.rotations for table in setup.tables)
    tasks = list(chain.from_iterable(setup.blocks(planned)))
    missing = [task for task in tasks if task not in store.blocks]
    done = sum(setup.games_of(task) for task in tasks if task in store.blocks)
    if progress is not None:
        progress(done, total * games_of_deal)
    for task, block in play_here(setup, missing) if workers is None else workers.play(missing):
        store.add(task, block)
        done += setup.games_of(task)
        if progress is not None:
            progress(done, total * games_of_deal)


def _next_check(checked: int, needed: float, most: int) -> int:
    """The number of deals after which the intervals are checked next: whole blocks, at least one more.

    ``needed``: the estimated number of deals for the target width, by the intervals of the first ``checked`` deals.
    """
    aim = min(1.05 * needed, _FARTHEST * checked)
    return min(most, first_deal(max(num_blocks(checked) + 1, num_blocks(math.ceil(aim)))))


def _partial(
    setup: Setup, blocks: Mapping[Task, Block], planned: int, deal_set: str | None
) -> ArenaResult | None:
    num_deals = sum(tasks[0].num_deals for tasks in setup.finished(blocks, planned))
    return arena_result(setup, blocks, planned, deal_set) if num_deals >= MIN_DEALS else None


def _write(
    setup: Setup,
    store: Store,
    result: ArenaResult | None,
    planned: int,
    output: str | os.PathLike[str] | None,
    record: str | os.PathLike[str] | None,
    header: dict[str, Any],
) -> None:
    """Write the result into the folder, and the records of all finished games, if there are any.

    A record with more games of the arena is kept. ``header``: its content, as arguments of `record_lines`.
    """
    if output is not None and result is not None:
        from catbox_agents.arena.report import write_report

        write_report(result, Path(output))
    if record is not None:
        path = Path(record)
        tasks = [task for task in chain.from_iterable(setup.blocks(planned)) if task in store.blocks]
        finished = sum(map(setup.games_of, tasks))
        if finished == 0 or (path.exists() and count_games(path) > finished):
            return
        games = (game for task in tasks for game in store.games(task))
        write_records(path, games=games, **header)
