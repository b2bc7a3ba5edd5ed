"""One block of deals at one table: the unit of work that is played, stored, and never lost once it is finished.

What is played depends on the arena's settings and on the number of the block alone. So it does not matter which process
plays it, and every table of an arena has the same deals, the same seats, the same seeds of agents, and the same random
numbers for agents that take them decision by decision (``seed_decisions``).
"""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents.agent import Agent, agent_seed
from catbox_agents.arena.playing import Cast, deal_seed, play_deals
from catbox_agents.arena.records import forfeit_scores
from catbox_agents.arena.referee import ENDED, TIME, Absent, Fault, Recorder, Referee, Watch
from catbox_agents.arena.results import Part, RoundTotals
from catbox_agents.arena.tables import Table
from catbox_agents.drawing import MIX_STEP, mix
from catbox_agents.errors import AgentError
from catbox_agents.specs import AgentSpec, agent_of
from catbox_env import Game, Vec

#: The first blocks are small, so that little is lost when an arena of slow agents ends in between; the others are
#: large, because fast agents are faster in large batches.
SMALL_BLOCKS, SMALL, LARGE = 8, 16, 64


def first_deal(number: int) -> int:
    """The number of the first deal of block ``number``."""
    return SMALL * min(number, SMALL_BLOCKS) + LARGE * max(0, number - SMALL_BLOCKS)


def num_blocks(num_deals: int) -> int:
    """How many blocks so many deals make; the last one may be cut short."""
    if num_deals <= SMALL_BLOCKS * SMALL:
        return -(-num_deals // SMALL)
    return SMALL_BLOCKS - (SMALL_BLOCKS * SMALL - num_deals) // LARGE


@dataclass(frozen=True)
class Setup:
    """An arena as its processes know it. ``agents``: specs, or pickled agents."""

    game: Game
    agents: tuple[str | bytes, ...]
    names: tuple[str, ...]
    tables: tuple[Table, ...]
    seed: int
    move_time: float | None = None
    record: bool = False

    def agent(self, index: int) -> AgentSpec:
        """The spec of an agent, or a copy of the agent as it was given."""
        given = self.agents[index]
        agent: AgentSpec = pickle.loads(given) if isinstance(given, bytes) else given
        return agent


@dataclass(frozen=True)
class Task:
    """Block ``number`` of table ``table``, with its first ``num_deals`` deals."""

    table: int
    number: int
    num_deals: int


@dataclass(frozen=True)
class Block:
    """What came of a task. ``comparisons`` (deals, m, m): how often a seat of one agent had more points than one of
    another in the same game, a draw being a half. ``seconds``, ``decisions`` (m,). ``games``: the records."""

    part: Part
    comparisons: NDArray[np.float64]
    seconds: NDArray[np.float64]
    decisions: NDArray[np.int64]
    faults: list[Fault]
    games: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, from which `from_dict` makes an equal block."""
        rounds = self.part.rounds
        return {
            # The shortest texts that give the same 32-bit numbers.
            "deals": [[[float(str(x)) for x in row] for row in measure] for measure in self.part.deals],
            "by_seat": self.part.by_seat.tolist(),
            "rounds": rounds.rounds,
            "statistics": {name: sums.tolist() for name, sums in rounds.statistics.items()},
            "counts": {
                name: [[value, sums.tolist()] for value, sums in counts.items()]
                for name, counts in rounds.counts.items()
            },
            "comparisons": self.comparisons.tolist(),
            "seconds": self.seconds.tolist(),
            "decisions": self.decisions.tolist(),
            "faults": [asdict(fault) for fault in self.faults],
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Block:
        """The block of `as_dict`, without its games."""
        deals = np.array(plain["deals"], np.float32)
        rounds = RoundTotals(deals.shape[2])
        rounds.rounds = plain["rounds"]
        rounds.statistics = {name: np.array(sums) for name, sums in plain["statistics"].items()}
        rounds.counts = {
            name: {value: np.array(sums) for value, sums in counts}
            for name, counts in plain["counts"].items()
        }
        return cls(
            Part(deals, np.array(plain["by_seat"]), rounds),
            np.array(plain["comparisons"]),
            np.array(plain["seconds"]),
            np.array(plain["decisions"], np.int64),
            [Fault(**fault) for fault in plain["faults"]],
            [],
        )


def play_block(setup: Setup, task: Task, watch: Watch, timed: bool = True) -> Block:
    """Play the games of ``task``. Without ``timed`` there is no limit to the time of a move."""
    table = setup.tables[task.table]
    root = np.random.SeedSequence(setup.seed)
    game = played_game(setup.game)
    names = [setup.names[i] for i in table.agents]
    line_ups = line_ups_of(setup, task)

    def make(given: AgentSpec, label: str, game: Game, seed: int) -> Agent:
        with watch.asking(names.index(label)):
            return _made(given, label, game, seed)

    cast = Cast(
        setup.game,
        [setup.agent(i) for i in table.agents],
        names,
        line_ups,
        lambda agent, turn, seat: agent_seed(task.number, turn, seat),
        make,
    )
    num_games = task.num_deals * len(line_ups)
    recorder = Recorder(num_games) if setup.record else None
    seeds = functools.partial(_decision_seeds, root, first_deal(task.number), len(line_ups))
    referee = Referee(cast, names, seeds, setup.move_time if timed else None, watch, recorder)

    def moved(vec: Vec, rows: NDArray[np.int64]) -> None:
        if recorder is not None:
            recorder.moved(vec, rows)

    order = np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=(2, task.number)))
    with _one_thread():
        scores, win_shares, rounds = play_deals(
            game, cast, line_ups, deals_of(setup, task), order, moved, referee
        )
    _score_forfeits(game, scores, win_shares, [(row, seat) for row, seat, _, _ in referee.forfeits])
    return Block(
        Part.of(scores, win_shares, rounds, line_ups),
        _comparisons(scores, line_ups, len(names)),
        referee.seconds,
        referee.decisions,
        list(referee.faults.values()),
        [] if recorder is None else _records(task, recorder, referee, names, line_ups, scores),
    )


def play_here(setup: Setup, tasks: Iterable[Task]) -> Iterator[tuple[Task, Block]]:
    """Each task with its block, played in this process."""
    for task in tasks:
        yield task, play_block(setup, task, Watch())


def forfeited_block(setup: Setup, task: Task, agent: int, why: str, late: bool) -> Block:
    """The block of a process that had to be ended, or ended, while ``agent`` of the table was asked.

    The games in progress are lost with the process, so the agent forfeits every game of the block.
    """
    table, line_ups = setup.tables[task.table], line_ups_of(setup, task)
    game = played_game(setup.game)
    shape = (task.num_deals, *line_ups.shape)
    scores, win_shares = np.zeros(shape), np.zeros(shape)
    num_games = task.num_deals * len(line_ups)
    lost = [(row, int(np.argmax(line_ups[row % len(line_ups)] == agent))) for row in range(num_games)]
    _score_forfeits(game, scores, win_shares, lost)
    names = [setup.names[i] for i in table.agents]
    recorder = Recorder(num_games)
    if setup.record:
        deals = [deal for deal in deals_of(setup, task) for _ in line_ups]
        recorder.moved(Vec(game, num_games, seed=deals, auto_deal=False), np.arange(num_games))
    fault = Fault(agent, TIME if late else ENDED, num_games, why)
    games = [_record(task, recorder, row, names, line_ups, scores, (seat, agent, why)) for row, seat in lost]
    return Block(
        Part.of(scores, win_shares, RoundTotals(len(names)), line_ups),
        _comparisons(scores, line_ups, len(names)),
        np.zeros(len(names)),
        np.zeros(len(names), np.int64),
        [fault],
        games if setup.record else [],
    )


def played_game(game: Game) -> Game:
    """The game as the arena plays it: the reward is the score."""
    return catbox_env.make_game(game.id, **{**game.options, "reward": "score"})


def deals_of(setup: Setup, task: Task) -> list[np.random.SeedSequence]:
    """The seeds of the deals of the block."""
    root, first = np.random.SeedSequence(setup.seed), first_deal(task.number)
    return [deal_seed(root, number) for number in range(first, first + task.num_deals)]


def line_ups_of(setup: Setup, task: Task) -> NDArray[np.int64]:
    """Who sits where in each game of a deal of the block: (rotations, P)."""
    order = np.random.SeedSequence(setup.seed, spawn_key=(3, task.number))
    return setup.tables[task.table].line_ups(np.random.default_rng(order))


def _made(given: AgentSpec, label: str, game: Game, seed: int) -> Agent:
    """As `agent_of`; an agent whose own code fails forfeits its games. All were made once before the arena began."""
    try:
        return agent_of(given, label, game, seed)
    except AgentError as error:
        return Absent(error.error)


def _score_forfeits(
    game: Game,
    scores: NDArray[np.float64],
    win_shares: NDArray[np.float64],
    forfeits: Sequence[tuple[int, int]],
) -> None:
    """A forfeited game is the worst that can happen by the rules: the lowest score, and the highest for all others.

    Whatever an agent does, it never does better by forfeiting.
    """
    rotations, seats = scores.shape[1:]
    for row, seat in forfeits:
        at = divmod(row, rotations)
        scores[at], win_shares[at] = forfeit_scores(game, seat), 1 / (seats - 1)
        win_shares[at][seat] = 0


def _comparisons(
    scores: NDArray[np.float64], line_ups: NDArray[np.int64], num_agents: int
) -> NDArray[np.float64]:
    more = (scores[..., :, None] > scores[..., None, :]) + 0.5 * (
        scores[..., :, None] == scores[..., None, :]
    )
    holds = (line_ups == np.arange(num_agents)[:, None, None]).astype(np.float64)
    found = np.einsum("drst,ars,brt->dab", more, holds, holds)
    found[:, np.arange(num_agents), np.arange(num_agents)] = 0  # seats of the same agent
    return found


def _records(
    task: Task,
    recorder: Recorder,
    referee: Referee,
    names: Sequence[str],
    line_ups: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> list[dict[str, Any]]:
    forfeits = {row: (seat, agent, said) for row, seat, agent, said in referee.forfeits}
    return [
        _record(task, recorder, row, names, line_ups, scores, forfeits.get(row))
        for row in range(task.num_deals * len(line_ups))
    ]


def _record(
    task: Task,
    recorder: Recorder,
    row: int,
    names: Sequence[str],
    line_ups: NDArray[np.int64],
    scores: NDArray[np.float64],
    forfeit: tuple[int, int, str] | None,
) -> dict[str, Any]:
    """One game as `catbox_agents.arena.records` describes it."""
    deal, turn = divmod(row, len(line_ups))
    record = {
        "deal_number": first_deal(task.number) + deal,
        "agents": [names[agent] for agent in line_ups[turn]],
        "deals": recorder.deals[row],
        "actions": recorder.actions[row],
        "returns": scores[deal, turn].tolist(),
    }
    if any(policy is not None for policy in recorder.policies[row]):
        record["policies"] = recorder.policies[row]
    if forfeit is not None:
        seat, agent, said = forfeit
        record["forfeit"] = {"seat": seat, "agent": names[agent], "reason": said}
    return record


def _decision_seeds(
    root: np.random.SeedSequence, first: int, rotations: int, rows: NDArray[np.int64], move: int
) -> NDArray[np.uint64]:
    """A seed for each decision: a hash of the deal, the rotation and the number of the move."""
    key = np.random.SeedSequence(root.entropy, spawn_key=(4,)).generate_state(1, np.uint64)
    game = (first * rotations + rows).astype(np.uint64)
    step = np.uint64(MIX_STEP)
    per_game = mix(mix(key + game + step) + np.uint64(rotations) + step)
    return mix(per_game + np.uint64(move) + step)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Torch, if an agent has loaded it, computes in one thread: the same numbers on any machine, a core a process."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
