"""The seatings of an arena: which deals are played, which agents sit in which seats, and how a block is played.

A block of deals of a seating is the unit of work. What is played in it depends only on the agents and on the deals, not
on the process that plays it: every seating has the same deals, the same seats, and the same random numbers for agents
that accept them for each decision (``seed_decisions``). All of it follows from a seed, which names a set of deals: deal
number d of a set is the same for everybody. The seeds of deals in training have a key of their own
(`core.rng.TRAINING`), so no run learns from a deal of an evaluation, whatever the seeds of both. (Two deals may still
have the same cards by chance, even in one set.)
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents.agent import MIX_STEP, Agent, agent_seed, has_policy, mix, needs_history
from catbox_agents.arena.fingerprints import agent_fingerprint
from catbox_agents.arena.records import GameRecorder, policy_pairs
from catbox_agents.arena.results import Block, RoundTotals
from catbox_agents.play import ask_agent, ask_policy, play
from catbox_agents.specs import AgentSpec, agent_of, is_users_own
from catbox_env import Game, Vec
from catbox_env.core.checks import check_choice
from catbox_env.core.rng import seed_sequence

#: name -> seed. ``training``: for anything that an agent or a person learns from; ``selection``: to choose between
#: agents or settings; ``report``: for reported results, and nothing else; ``test``: for results of older versions, some
#: of which led to choices.
DEAL_SETS = {
    "training": 0x965E03D475F1E9EF736CE261A0B7E52C,
    "selection": 0xC95D5611B2C7D2CCA7679959EA598AB4,
    "report": 0x5AEFA8517CCADEBAF16BFD32A54A74BD,
    "test": 0x995EE9666718635395F2B46E5F05B672,
}

#: Deals are numbered in groups of this many: deal d is child d % GROUP of child d // GROUP.
GROUP = 2048
#: The first blocks are small, so that little is lost when an arena of slow agents is interrupted; the others are large,
#: because fast agents are faster in large batches.
SMALL_BLOCKS, SMALL, LARGE = 8, 16, 64
#: With fewer deals an interval would be meaningless. From here on its quantile is exact to 0.001.
MIN_DEALS = 10
#: One agent among copies of another; an agent among its own copies; every agent, or as many as there are seats.
PAIR, SELF, MIXED = "pair", "self", "mixed"
#: Seconds for a move in the warm-up game, in which code is compiled.
WARM_UP = 120.0


def deal_seed(root: np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """The seed of deal ``number`` of the set with the seed ``root``."""
    return seed_sequence(root, 1, number // GROUP, number % GROUP)


def decision_seeds(
    root: np.random.SeedSequence, first: int, rotations: int, rows: NDArray[np.int64], move: int
) -> NDArray[np.uint64]:
    """A seed (M,) for each decision: a hash of the deal, the rotation and the number of the move.

    ``root``: the seed of the deals. Row d * ``rotations`` + r of a batch is deal ``first`` + d with the line-up rotated
    by r seats.
    """
    key = seed_sequence(root, 4).generate_state(1, np.uint64)
    game = (first * rotations + rows).astype(np.uint64)
    step = np.uint64(MIX_STEP)
    per_game = mix(mix(key + game + step) + np.uint64(rotations) + step)
    return mix(per_game + np.uint64(move) + step)


def first_deal(number: int) -> int:
    """The number of the first deal of block ``number``."""
    return SMALL * min(number, SMALL_BLOCKS) + LARGE * max(0, number - SMALL_BLOCKS)


def num_blocks(num_deals: int) -> int:
    """How many blocks ``num_deals`` deals make; the last one may be cut short."""
    if num_deals <= SMALL_BLOCKS * SMALL:
        return -(-num_deals // SMALL)
    return SMALL_BLOCKS - (SMALL_BLOCKS * SMALL - num_deals) // LARGE


def seed_of_deals(deal_set: str | None, seed: int | None) -> tuple[int, str | None]:
    """The seed of the deals and the name of their set: ``seed`` and None if it is given, else those of ``deal_set``,
    by default selection. Raises ValueError for unknown ones, and if both are given."""
    if seed is None:
        name = check_choice("deal_set", "selection" if deal_set is None else deal_set, tuple(DEAL_SETS))
        return DEAL_SETS[name], name
    if deal_set is not None:
        raise ValueError(f"deal_set={deal_set!r} and seed={seed!r}: give one of them")
    if isinstance(seed, np.random.SeedSequence):
        raise ValueError(
            f"seed={seed!r}: expected an integer of 0 or more; pass the entropy of a SeedSequence"
        )
    seed_sequence(seed)  # raises ValueError unless it is a seed
    return int(seed), None


def rotate_seats(line_up: Sequence[int]) -> NDArray[np.int64]:
    """The agent in each seat for every rotation of ``line_up`` (P,): (P, P)."""
    return np.stack([np.roll(np.asarray(line_up, np.int64), turn) for turn in range(len(line_up))])


@dataclass(frozen=True)
class Seating:
    """``agents``: the distinct ones, as indices in the arena. ``line_up`` (P,): the agent in each seat, an index in
    ``agents``."""

    kind: str
    agents: tuple[int, ...]
    line_up: tuple[int, ...]

    @property
    def rotations(self) -> int:
        """How often each deal is played: from every seat, or once if the same agent has all seats."""
        return 1 if self.kind == SELF else len(self.line_up)

    def line_ups(self, order: np.random.Generator) -> NDArray[np.int64]:
        """Who sits where in each game of a deal: (rotations, P), indices in ``agents``.

        For a mixed seating ``order`` shuffles the line-up. Others do not depend on it.
        """
        if self.kind == SELF:
            return np.zeros((1, len(self.line_up)), np.int64)
        return rotate_seats(order.permutation(self.line_up).tolist() if self.kind == MIXED else self.line_up)


def all_seatings(num_agents: int, num_seats: int, mixed: bool) -> list[Seating]:
    """The seatings of an arena: each agent among copies of each other and among its own, and ``mixed`` ones.

    With two seats, one A among B's is also one B among A's, and is played once. A mixed one has every agent. With
    fewer agents than seats, there are as many mixed ones as agents, which take turns in the extra seats; with more,
    there is one for each combination of as many agents as there are seats.
    """
    seatings = []
    for agent in range(num_agents):
        for field in range(num_agents):
            if agent == field:
                seatings.append(Seating(SELF, (agent,), (0,) * num_seats))
            elif num_seats > 2 or agent < field:
                seatings.append(Seating(PAIR, (agent, field), (0, *(1,) * (num_seats - 1))))
    if not mixed:
        return seatings
    if num_agents > num_seats:
        chosen = combinations(range(num_agents), num_seats)
        return seatings + [Seating(MIXED, agents, tuple(range(num_seats))) for agents in chosen]
    turns = 1 if num_seats % num_agents == 0 else num_agents
    everybody = tuple(range(num_agents))
    return seatings + [
        Seating(MIXED, everybody, tuple((turn + seat) % num_agents for seat in range(num_seats)))
        for turn in range(turns)
    ]


@dataclass(frozen=True)
class Task:
    """``num_deals`` deals of ``Setup.seatings[seating]``, from number ``first`` on."""

    seating: int
    first: int
    num_deals: int

    def play(self, players: Players) -> Block:
        """Play it, see `play_block`."""
        return play_block(players, self)


#: Plays tasks: each with its block, in any order.
PlayTasks = Callable[[Iterable[Task]], Iterator[tuple[Task, Block]]]


@dataclass(frozen=True)
class Setup:
    """What all processes of an arena share.

    ``agents``: specs, agents, or agents pickled (`Players`). ``recorder``: what makes the recorder of so many games.
    """

    game: Game
    agents: tuple[AgentSpec | bytes, ...]
    names: tuple[str, ...]
    seatings: tuple[Seating, ...]
    seed: int
    move_time: float | None = None
    recorder: Callable[[int], GameRecorder] | None = None

    def blocks(self, num_deals: int) -> list[list[Task]]:
        """The tasks of each block of the first ``num_deals`` deals, one for each seating."""
        firsts = [first_deal(number) for number in range(num_blocks(num_deals) + 1)]
        return [
            [Task(seating, first, min(end, num_deals) - first) for seating in range(len(self.seatings))]
            for first, end in pairwise(firsts)
        ]

    def finished(self, done: Mapping[Task, Any], num_deals: int) -> list[list[Task]]:
        """Those `blocks` of which every task is in ``done``."""
        return [tasks for tasks in self.blocks(num_deals) if all(task in done for task in tasks)]

    def games_of(self, task: Task) -> int:
        """How many games a task has."""
        return task.num_deals * self.seatings[task.seating].rotations

    def who(self, task: Task) -> str:
        """The names of the agents that play a task, for messages."""
        return " and ".join(repr(self.names[agent]) for agent in self.seatings[task.seating].agents)


class Players:
    """The agents of an arena in this process.

    Each is made once. An agent of a user's class that may draw random numbers of its own, because it has no method
    ``seed_decisions``, is made anew for each block, or copied if it was pickled: so a block does not depend on those
    before it, and all agents have the same luck.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self._is_warm = False
        self._made = [self._make(place, agent_seed(0)) for place in range(len(setup.agents))]

    def for_block(self, place: int, first: int) -> Agent:
        """Agent ``place`` of the arena, for the deals from number ``first`` on."""
        made, source = self._made[place], self.setup.agents[place]
        if hasattr(made, "seed_decisions") or not isinstance(source, str | os.PathLike | bytes):
            return made
        return self._make(place, agent_seed(first)) if is_users_own(made) else made

    def _make(self, place: int, seed: int) -> Agent:
        source, label = self.setup.agents[place], self.setup.names[place]
        agent: AgentSpec = pickle.loads(source) if isinstance(source, bytes) else source
        return agent_of(agent, label, self.setup.game, seed)

    def fingerprints(self) -> list[str]:
        """A text for each agent that changes when the agent does."""
        return [
            f"{os.fspath(source)} {agent_fingerprint(os.fspath(source), made, self.setup.game)}"
            if isinstance(source, str | os.PathLike)
            else f"{type(made).__qualname__} {_hash(source) if isinstance(source, bytes) else ''}"
            for source, made in zip(self.setup.agents, self._made, strict=True)
        ]

    def _warm_up(self) -> None:
        """Once: let each agent play a game that does not count, in which its code is compiled."""
        for number, seating in enumerate([] if self._is_warm else self.setup.seatings):
            self._is_warm = True
            if seating.kind == SELF:
                play_block(self, Task(number, 0, 1), limit=WARM_UP)


def play_block(
    players: Players,
    task: Task,
    ended: Callable[[int], None] = lambda games: None,
    limit: float | None = None,
    make_asking: Callable[..., Asking] | None = None,
) -> Block:
    """Play the games of ``task``, all side by side.

    Game ``d * rotations + r`` of the batch is deal d with the line-up rotated by r seats. ``ended(games)`` is called
    when so many more games are over. ``limit``: seconds for a move, instead of ``setup.move_time``. ``make_asking``:
    what asks the agents, by default `Asking`.

    Raises ValueError, naming the agent, for an agent that answers anything but a legal action or a valid policy, or
    takes longer than the limit, and `AgentError` for an error in its code.
    """
    setup = players.setup
    if limit is None and setup.move_time is not None:
        players._warm_up()
        limit = setup.move_time
    seating, root = setup.seatings[task.seating], np.random.SeedSequence(setup.seed)
    block = num_blocks(task.first + 1) - 1
    line_ups = seating.line_ups(
        np.random.default_rng(np.random.SeedSequence(setup.seed, spawn_key=(3, block)))
    )
    agents = [players.for_block(place, task.first) for place in seating.agents]
    labels = [setup.names[place] for place in seating.agents]
    rotations, seats = line_ups.shape
    numbers = range(task.first, task.first + task.num_deals)
    deals = [deal for number in numbers for deal in [deal_seed(root, number)] * rotations]
    history = any(map(needs_history, agents))
    vec = Vec(played_game(setup.game), len(deals), seed=deals, history=history, auto_deal=False)
    seated = np.tile(line_ups, (task.num_deals, 1))
    scores, rounds, games = np.zeros(seated.shape), RoundTotals(len(agents)), np.arange(len(deals))
    recorder = setup.recorder(len(deals)) if setup.recorder else None
    seeds = partial(decision_seeds, root, task.first, rotations)
    asking = (make_asking or Asking)(agents, labels, seeds, limit, recorder)
    if recorder is not None:
        recorder.moved(vec, games)
    with _one_torch_thread():
        for rows in play(vec, seated, games, asking):
            scores[rows] += vec.rewards[rows]
            rounds.add_round(vec, seated)
            if recorder is not None:
                recorder.moved(vec, rows)
            if over := int(vec.terminated[rows].sum()):
                ended(over)
    shape = (task.num_deals, rotations, seats)
    scores, win_shares = scores.reshape(shape), vec.win_shares.astype(np.float64).reshape(shape)
    return Block.of(
        scores,
        win_shares,
        rounds,
        line_ups,
        seconds=asking.seconds,
        decisions=asking.decisions,
        tallies=asking.tallies(),
        games=[] if recorder is None else recorder.games(task.first, labels, line_ups, scores),
    )


class Asking:
    """Asks the agents of a block for their actions, as `play` needs it, and counts.

    ``seeds(rows, move)``: of these decisions, uint64; ``limit``: seconds for a move, None: any; ``recorder``: records
    actions and policies. Attributes: ``seconds`` and ``decisions`` of each agent.
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        labels: Sequence[str],
        seeds: Callable[[NDArray[np.int64], int], NDArray[np.uint64]],
        limit: float | None,
        recorder: GameRecorder | None,
    ) -> None:
        self.agents, self.labels, self.seeds = agents, labels, seeds
        self.limit, self.recorder = limit, recorder
        self.seconds, self.decisions = np.zeros(len(agents)), np.zeros(len(agents), np.int64)
        self._move = 0
        self._tallies_before = [dict(getattr(agent, "tally", {})) for agent in agents]

    def __call__(self, asked: NDArray[np.int64], vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        seeds = self.seeds(rows, self._move)
        actions, policies = np.empty(len(rows), np.int64), list[Any]([None] * len(rows))
        for i, (agent, label) in enumerate(zip(self.agents, self.labels, strict=True)):
            places = np.flatnonzero(asked == i)
            # The limit is for one move, so agents are then asked about one game at a time.
            for some in np.split(places, len(places) if self.limit else 1) if len(places) else []:
                begun = time.perf_counter()
                ask = partial(ask_agent, agent, label, vec, rows[some], seeds[some])
                actions[some] = _with_time_limit(self.limit, label, ask)
                self.seconds[i] += time.perf_counter() - begun
                if self.recorder is not None and self.recorder.has_policies and has_policy(agent):
                    tell = partial(ask_policy, agent, label, vec, rows[some])
                    for k, policy in zip(some, _with_time_limit(self.limit, label, tell), strict=True):
                        policies[k] = policy_pairs(policy)
            self.decisions[i] += len(places)
        if self.recorder is not None:
            self.recorder.acted(rows, actions, policies)
        self._move += 1
        return actions

    def tallies(self) -> list[dict[str, float]]:
        """What each agent has counted in its ``tally`` since the beginning."""
        return [
            {name: number - before.get(name, 0) for name, number in getattr(agent, "tally", {}).items()}
            for agent, before in zip(self.agents, self._tallies_before, strict=True)
        ]


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    """Networks in torch, if it is loaded, compute the same numbers on any machine, on one core for a process."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        yield
    finally:
        torch.set_num_threads(threads)


def _with_time_limit(limit: float | None, label: str, answer: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """What ``answer`` returns or raises. Raises ValueError, naming the agent, after ``limit`` seconds, if given.

    The answer is then computed in a thread of its own, which is not waited for.
    """
    if limit is None:
        return answer()
    answers: list[NDArray[Any]] = []
    failed: list[BaseException] = []

    def compute() -> None:
        try:
            answers.append(answer())
        except BaseException as error:  # noqa: BLE001  (raised below)
            failed.append(error)

    thread = threading.Thread(target=compute, daemon=True)
    begun = time.perf_counter()
    thread.start()
    thread.join(limit)
    if thread.is_alive() or time.perf_counter() - begun > limit:
        raise ValueError(f"agent {label!r} took more than {limit:g} s for a move, the limit (move_time)")
    if failed:
        raise failed[0]
    return answers[0]


def played_game(game: Game) -> Game:
    """The game as it is played for a comparison: the reward is the score."""
    return catbox_env.make_game(game.id, **{**game.options, "reward": "score"})


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
