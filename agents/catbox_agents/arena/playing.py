"""Plays deals from every seat. A block of deals at a table is the arena's unit of work.

Every table of an arena has the same deals, the same seats, the same seeds of agents, and the same random numbers for
agents that accept them for each decision (``seed_decisions``).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, agent_seed, needs_history
from catbox_agents.arena.records import Recorder, forfeit_scores
from catbox_agents.arena.referee import ENDED, TIME, Absent, Fault, Referee, Watch
from catbox_agents.arena.results import Block, RoundTotals
from catbox_agents.arena.setup import Setup, Task, first_deal, played_game
from catbox_agents.arena.tables import Cast
from catbox_agents.errors import AgentError
from catbox_agents.play_out import Ask, rollout
from catbox_agents.random_agent import MIX_STEP, mix
from catbox_agents.specs import AgentSpec, agent_of, is_users_own
from catbox_env import Game, Vec


def play_deals(
    game: Game,
    cast: Cast,
    line_ups: NDArray[np.int64],
    deals: Sequence[np.random.SeedSequence],
    order: np.random.Generator,
    moved: Callable[[Vec, NDArray[np.int64]], None],
    ask: Ask | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], RoundTotals]:
    """Play every deal with every line-up, all at once: scores and win shares (deals, rotations, P), and the rounds.

    Game ``d * rotations + r`` of the batch is deal d with line-up r. ``order`` shuffles the rows of every step, and
    ``moved(vec, rows)`` is called before the first step, with all rows, and after each. ``ask`` as in `rollout`.
    """
    rotations, seats = line_ups.shape
    num_games = len(deals) * rotations
    history = any(needs_history(agent) for agent in cast.agents)
    seeds = [deal for deal in deals for _ in range(rotations)]
    vec = Vec(game, num_games, seed=seeds, history=history, auto_deal=False)
    players, objects = (np.tile(seating, (len(deals), 1)) for seating in (line_ups, cast.places))
    scores = np.zeros((num_games, seats))
    rounds = RoundTotals(int(line_ups.max()) + 1)
    games = np.arange(num_games)
    moved(vec, games)
    for rows in rollout(vec, cast.agents, cast.labels, objects, games, order=order, ask=ask):
        scores[rows] += vec.rewards[rows]
        rounds.add_round(vec, players)
        moved(vec, rows)
    shape = (len(deals), rotations, seats)
    return scores.reshape(shape), vec.win_shares.astype(np.float64).reshape(shape), rounds


def play_block(setup: Setup, task: Task, watch: Watch, timed: bool = True) -> Block:
    """Play the games of ``task``. Without ``timed`` there is no time limit for moves."""
    table, line_ups = setup.tables[task.table], setup.line_ups_of(task)
    root = np.random.SeedSequence(setup.seed)
    game = played_game(setup.game)
    names = [setup.names[i] for i in table.agents]

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
    recorder = Recorder(setup.games_of(task)) if setup.record else None
    seeds = functools.partial(decision_seeds, root, first_deal(task.number), len(line_ups))
    referee = Referee(cast, names, seeds, setup.move_time if timed else None, watch, recorder)

    def moved(vec: Vec, rows: NDArray[np.int64]) -> None:
        if recorder is not None:
            recorder.moved(vec, rows)

    order = np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=(2, task.number)))
    with _one_thread():
        scores, win_shares, rounds = play_deals(
            game, cast, line_ups, setup.deals_of(task), order, moved, referee
        )
    _score_forfeits(game, scores, win_shares, referee.forfeits)
    games = [] if recorder is None else recorder.games(first_deal(task.number), names, line_ups, scores)
    faults = list(referee.faults.values())
    found = {"seconds": referee.seconds, "decisions": referee.decisions, "tallies": _tallies(cast, names)}
    return Block.of(scores, win_shares, rounds, line_ups, faults=faults, games=games, **found)


def play_here(setup: Setup, tasks: Iterable[Task]) -> Iterator[tuple[Task, Block]]:
    """Each task with its block, played in this process."""
    for task in tasks:
        yield task, play_block(setup, task, Watch())


def forfeited_block(setup: Setup, task: Task, agent: int, why: str, late: bool) -> Block:
    """The block of a process that ended, or had to be killed, while ``agent`` of the table was asked.

    The games in progress are lost with the process, so the agent forfeits every game of the block.
    """
    table, line_ups = setup.tables[task.table], setup.line_ups_of(task)
    game = played_game(setup.game)
    names = [setup.names[i] for i in table.agents]
    num_games = setup.games_of(task)
    recorder = Recorder(num_games)
    if setup.record:
        deals = [deal for deal in setup.deals_of(task) for _ in line_ups]
        recorder.moved(Vec(game, num_games, seed=deals, auto_deal=False), np.arange(num_games))
    for row in range(num_games):
        recorder.forfeited(row, int(np.argmax(line_ups[row % len(line_ups)] == agent)), why)
    shape = (task.num_deals, *line_ups.shape)
    scores, win_shares = np.zeros(shape), np.zeros(shape)
    _score_forfeits(game, scores, win_shares, [(row, seat) for row, (seat, _) in recorder.forfeits.items()])
    games = recorder.games(first_deal(task.number), names, line_ups, scores) if setup.record else []
    faults = [Fault(agent, TIME if late else ENDED, num_games, why)]
    return Block.of(scores, win_shares, RoundTotals(len(names)), line_ups, faults=faults, games=games)


def _tallies(cast: Cast, names: Sequence[str]) -> list[dict[str, float]]:
    """What the agents of catbox have counted themselves, in the order of ``names``; each is one object."""
    found: list[dict[str, float]] = [{} for _ in names]
    for agent, label in zip(cast.agents, cast.labels, strict=True):
        if not is_users_own(agent):
            found[names.index(label)] = getattr(agent, "tally", {})
    return found


def _made(given: AgentSpec, label: str, game: Game, seed: int) -> Agent:
    """As `agent_of`, but an agent whose own code fails forfeits its games. All were made once before the arena."""
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
    """Score forfeited games: the lowest score that the rules allow, and the highest for all others.

    So an agent never gains by forfeiting.
    """
    rotations, seats = scores.shape[1:]
    for row, seat in forfeits:
        at = divmod(row, rotations)
        scores[at], win_shares[at] = forfeit_scores(game, seat), 1 / (seats - 1)
        win_shares[at][seat] = 0


def decision_seeds(
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
    """Limit torch, if an agent has loaded it, to one thread: the same numbers on any machine, one core a process."""
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
