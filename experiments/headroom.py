"""How much an agent of the zoo leaves on the table, on the deals of the set `test`.

- *Clairvoyant*: what one seat would gain if it knew all cards, while the other seats play as the zoo agent does. It is
  no agent: it sees what its seat must not see, so it gains more than a search can be expected to, but less than the
  best play with open cards. At each of its decisions it tries every action in the true position, with the rest played
  by the zoo agent (depth 1), or by itself at depth 1 (depth 2). Each depth gains at least what the one before does.
- *Lost by phase*: among zoo agents, how much better than its own actions those are that a search prefers, in points a
  round, if the zoo agent plays on, summed over the decisions of a seat. One search chooses, and another one in other
  worlds judges, so that luck does not count.
- *Luck of the deal*: the share of the variance of a seat's margin that is due to its deal, if all seats sample their
  actions from the policy.

Blocks of deals are kept in `experiments/results/zoo/headroom.jsonl`; the same command continues.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from rich.console import Console

from catbox_agents import zoo
from catbox_agents.arena.seatings import DEAL_SETS, deal_seed
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.play import END_OF_ROUND
from catbox_agents.search import RolloutSearch
from catbox_agents.search.halving import flat_schedule
from catbox_agents.search.playing import Player, action_rewards, rollout_player, rollout_rewards
from catbox_env import Game, Vec, make_game
from experiments.results import Folders, Record, append_line, read_lines
from experiments.runner import commit, say
from experiments.zoo import zoo_settings

FILE = "zoo/headroom.jsonl"
#: Deals of a block, and blocks.
DEALS, BLOCKS = 50, 8
DEPTHS = (1, 2)
#: Worlds of each of the two searches.
WORLDS = 64
#: Plays by the number of cards in hand, and the most cards of each but the last.
PLAYS, _MOST_CARDS = ("2-3 cards", "4-5 cards", "6-7 cards", "8 cards or more"), (3, 5, 7)
PHASES = ("discard", "bid", *reversed(PLAYS))
#: Games of a deal in which the seats sample their actions.
REPEATS = 8


class Block(Record):
    """What one block of deals gave.

    ``clairvoyant``: for each depth the gain (deals,), the mean over the seats. ``lost``: for each phase, points a round
    and seat, (deals,). ``sampled``: the margins of all seats, (deals, repeats, seats).
    """

    table: str
    sha256: str
    first_deal: int = Field(ge=0)
    clairvoyant: dict[int, list[float]]
    lost: dict[str, list[float]]
    sampled: list[list[list[float]]]
    commit: str


def measure_headroom(names: Sequence[str], folders: Folders, console: Console) -> None:
    """Measure the tables ``names``, by default all, block by block."""
    file = folders.results / FILE
    tables = [name for name in zoo_settings(folders) if not names or name in names]
    for number in range(BLOCKS):
        for table in tables:
            agent = zoo.zoo_agent(zoo.PREFIX + table)
            first = number * DEALS
            done = {(b.table, b.sha256, b.first_deal) for b in read_lines(file, Block)}
            if (table, agent.sha256, first) in done:
                continue
            say(console, f"{table}: deals {first} to {first + DEALS - 1}.")
            game = with_margins(agent.game)
            player = rollout_player(game, agent.spec)
            assert isinstance(player.agent, PolicyAgent)
            seeds = [deal_seed(np.random.SeedSequence(DEAL_SETS["test"]), first + k) for k in range(DEALS)]
            block = Block(
                table=table,
                sha256=agent.sha256,
                first_deal=first,
                clairvoyant={depth: clairvoyant_gains(game, player, seeds, depth) for depth in DEPTHS},
                lost={} if game.is_perfect_information else lost_by_phase(game, player, seeds),
                sampled=sampled_margins(game, agent.spec, seeds),
                commit=commit(),
            )
            append_line(file, block)


def with_margins(game: Game) -> Game:
    """The same rules, paying margins."""
    return make_game(game.id, **{**game.options, "reward": "margin"})


def clairvoyant_gains(
    game: Game, player: Player, seeds: Sequence[np.random.SeedSequence], depth: int
) -> list[float]:
    """For each deal, the margin of a clairvoyant seat among zoo agents, the mean over its seats (deals,).

    Zoo agents among themselves have the margin 0 in this mean.
    """
    seats = game.num_players
    games = Vec(
        game, len(seeds) * seats, seed=[seed for seed in seeds for _ in range(seats)], auto_deal=False
    )
    own = np.tile(np.arange(seats), len(seeds))
    paid = play_clairvoyant(games, own, player, depth)
    means: list[float] = paid.reshape(-1, seats).mean(axis=1).round(4).tolist()
    return means


def play_clairvoyant(games: Vec, own: NDArray[np.int64], player: Player, depth: int) -> NDArray[np.float64]:
    """Play ``games`` to the end of the round: the seats ``own`` (N,) see everything, ``player`` has the others.

    Returns what ``own`` is paid, (N,).
    """
    every = np.arange(games.num_envs)
    paid = np.zeros(games.num_envs)
    running = every
    while len(running):
        masks = games.action_mask[running]
        actions = player.agent.act_batch(games.observation[running], masks)
        choosing = np.flatnonzero((games.current_player[running] == own[running]) & (masks.sum(axis=1) > 1))
        for part in _parts(choosing, masks.sum(axis=1)):
            place, action = np.nonzero(masks[part])
            values = _values(games, running[part][place], action, own, player, depth)
            table = np.full(masks[part].shape, -np.inf)
            table[place, action] = values
            best, policy = table.argmax(axis=1), actions[part]
            rows = np.arange(len(part))
            actions[part] = np.where(table[rows, policy] >= table[rows, best], policy, best)
        games.step(actions, running)
        paid[running] += games.rewards[running, own[running]]
        running = running[~(games.terminated[running] | games.round_ended[running])]
    return paid


def _parts(
    rows: NDArray[np.int64], sizes: NDArray[np.int64], most: int = 4096
) -> Iterator[NDArray[np.int64]]:
    """``rows`` in parts with at most about ``most`` actions."""
    if len(rows):
        yield from np.split(rows, np.flatnonzero(np.diff(np.cumsum(sizes[rows]) // most)) + 1)


def _values(
    games: Vec,
    rows: NDArray[np.int64],
    actions: NDArray[np.int64],
    own: NDArray[np.int64],
    player: Player,
    depth: int,
) -> NDArray[np.float64]:
    """What the seats ``own`` of ``rows`` (M,) are paid after ``actions`` (M,), with one depth less."""
    tried, seats = games.take(rows), own[rows]
    every = np.arange(len(rows))
    if depth == 1:
        line_up = np.zeros((1, tried.game.num_players), np.int64)
        return action_rewards(tried, actions, [player], line_up, END_OF_ROUND, None)
    tried.step(actions)
    paid = tried.rewards[every, seats].astype(np.float64)
    on = np.flatnonzero(~(tried.terminated | tried.round_ended))
    if not len(on):
        return paid
    paid[on] += play_clairvoyant(tried.take(on), seats[on], player, depth - 1)
    return paid


def lost_by_phase(
    game: Game, player: Player, seeds: Sequence[np.random.SeedSequence]
) -> dict[str, list[float]]:
    """For each phase, how much more the actions of a search earn than those of the agent: points a round and seat,
    (deals,)."""
    search = RolloutSearch(
        game, player.agent, WORLDS, schedule=flat_schedule, beta=1.0, proposals=8, effective=0.25
    )
    games = Vec(game, len(seeds), seed=list(seeds), auto_deal=False, history=True)
    lost: dict[str, NDArray[np.float64]] = {}
    running, turn = np.arange(len(seeds)), 0
    while len(running):
        seen, masks = games.observation[running], games.action_mask[running]
        own = player.agent.act_batch(seen, masks)
        some = np.flatnonzero(masks.sum(axis=1) > 1)
        if len(some):
            chosen, judged = (
                search.search(
                    seen[some],
                    masks[some],
                    [np.random.SeedSequence([turn, int(row), number]) for row in running[some]],
                    games.history[running[some]],
                )
                for number in range(2)
            )
            rows = np.arange(len(some))
            gain = judged.values[rows, chosen.actions] - judged.values[rows, own[some]]
            for phase, row, points in zip(phases(game, seen[some]), running[some], gain, strict=True):
                lost.setdefault(phase, np.zeros(len(seeds)))[row] += points / game.num_players
        games.step(own, running)
        turn += 1
        running = running[~(games.terminated[running] | games.round_ended[running])]
    return {phase: points.round(4).tolist() for phase, points in lost.items()}


def phases(game: Game, observations: NDArray[np.int8]) -> list[str]:
    """The phase of each observation (n, O), one of `PHASES`."""
    layout = game.observation_layout
    cards = observations[:, layout["hand"].slice].sum(axis=1)
    plays = [PLAYS[int(np.searchsorted(_MOST_CARDS, count))] for count in cards]
    if "phase" not in layout:
        return plays
    kinds = observations[:, layout["phase"].slice].argmax(axis=1)
    return [("discard", "bid", play)[kind] for kind, play in zip(kinds, plays, strict=True)]


def sampled_margins(
    game: Game, spec: str, seeds: Sequence[np.random.SeedSequence]
) -> list[list[list[float]]]:
    """The margins of all seats in `REPEATS` games of each deal, (deals, repeats, seats)."""
    agent = PolicyAgent.load(zoo.zoo_agent(spec).path, game, seed=1, greedy=False)
    games = Vec(
        game, len(seeds) * REPEATS, seed=[seed for seed in seeds for _ in range(REPEATS)], auto_deal=False
    )
    line_up = np.zeros((1, game.num_players), np.int64)
    paid = rollout_rewards(
        games, np.arange(games.num_envs), [Player(agent, spec)], line_up, END_OF_ROUND, None
    )
    rounded: list[list[list[float]]] = paid.reshape(len(seeds), REPEATS, -1).round(4).tolist()
    return rounded


def share_of_the_deal(sampled: NDArray[np.float64]) -> float:
    """The share of the variance of a seat's margin that its deal accounts for; ``sampled`` (deals, repeats, seats).

    From the mean squares between and within the deals: the intraclass correlation (Fisher 1925).
    """
    repeats = sampled.shape[1]
    within = sampled.var(axis=1, ddof=1).mean()
    between = sampled.mean(axis=1).var(axis=0, ddof=1).mean() - within / repeats
    return float(max(between, 0.0) / (max(between, 0.0) + within))
