"""Games, decision by decision: played here, or replayed from a file of records."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, agent_seed, needs_history
from catbox_agents.arena.records import GameRecord, game_of_records, read_records
from catbox_agents.arena.seatings import deal_seed, decision_seeds, rotate_seats, seed_of_deals
from catbox_agents.play import ask_agents, play
from catbox_agents.specs import AgentSpec, agent_of, labels_of
from catbox_env import Game, Vec
from catbox_env.core.checks import check_integer, check_path, is_sequence, short_repr
from catbox_env.core.rng import DATA_SETS, seed_for
from catbox_env.core.spec import check_game_object

#: Most games in memory at once, and most decisions: however long the games are, they take as much memory.
CHUNK, CHUNK_DECISIONS = 2048, 1 << 16


@dataclass(frozen=True)
class Chunk:
    """G finished games with N decisions, in the order of games, then seats, then time.

    Attributes:
        first: the number of the first game in the data set; the others follow.
        agents: the agent in each seat, for each game.
        deals: the deal of each round as ``new_initial_state(deal=...)`` takes it, as JSON text, for each game.
        returns: (G, P) float64, what each seat was paid in each game.
        last: (G, P, O) int8, what each seat sees at the end.
        game: (N,) int64, the place of the decision's game in the lists above.
        seat: (N,) int64, the seat that decided.
        move: (N,) int64, the place of its action among all actions of the game, from 0.
        observation: (N, O) int8. action_mask: (N, A) bool. action: (N,) int64.
        reward: (N,) float64, what the seat was paid from this decision to its next one or the end; at its first
            decision also what it was paid before. So they sum to the seat's return.
    """

    first: int
    agents: list[list[str]]
    deals: list[str]
    returns: NDArray[np.float64]
    last: NDArray[np.int8]
    game: NDArray[np.int64]
    seat: NDArray[np.int64]
    move: NDArray[np.int64]
    observation: NDArray[np.int8]
    action_mask: NDArray[np.bool_]
    action: NDArray[np.int64]
    reward: NDArray[np.float64]

    def episodes(self) -> list[slice]:
        """The rows of each seat in each game. A seat that never decided has none."""
        new = (np.diff(self.game) != 0) | (np.diff(self.seat) != 0)
        edges = [0, *(np.flatnonzero(new) + 1).tolist(), len(self.game)]
        return [slice(begin, end) for begin, end in itertools.pairwise(edges)]


@dataclass
class GameData:
    """The games of a data set, to be read once, and what its card says about them.

    Attributes:
        game: the game with its rules.
        chunks: the games; each is played or replayed when it is read.
        num_games: how many there will be; None: unknown.
        about: lines (what, text) of the card.
        left_out: how many unfinished games were left out; complete when ``chunks`` has been read.
    """

    game: Game
    chunks: Iterator[Chunk]
    num_games: int | None
    about: dict[str, str]
    left_out: int = 0


def play_games(
    game: Game,
    agents: Sequence[AgentSpec],
    num_games: int,
    seed: int | None = None,
) -> GameData:
    """Games that ``agents`` play, each with a deal of its own; the same arguments give the same games.

    ``agents``: specs or agents, at most one for each seat; the last one fills the remaining seats, and from game to
    game everybody moves on by one seat. ``seed`` seeds the deals and the random numbers of catbox's own agents; None:
    the deal set ``training``, whose deals no other set has. The games are played when they are read; an agent that
    fails then raises as in `evaluate`.

    Raises ``ValueError`` for no agents, more agents than seats, an unknown agent, and a number or a seed that is none.
    """
    check_game_object(game)
    num_games = check_integer("num_games", num_games, 1)
    seed, deal_set = seed_of_deals("training" if seed is None else None, seed)
    if not is_sequence(agents) or not 1 <= len(agents) <= game.num_players:
        raise ValueError(f"agents={short_repr(agents)}: expected a list of 1 to {game.num_players} agents")
    labels = labels_of(agents)
    line_ups = rotate_seats([min(seat, len(agents) - 1) for seat in range(game.num_players)])
    made = [
        agent_of(agent, label, game, agent_seed(place))
        for place, (agent, label) in enumerate(zip(agents, labels, strict=True))
    ]
    about = {
        "agents": ", ".join(f"`{label}`" for label in labels),
        "deals": f"those of the set `{deal_set}`" if deal_set else f"of seed {seed}",
    }
    root = np.random.SeedSequence(seed) if deal_set else seed_for(DATA_SETS, seed)
    return GameData(game, _played(game, made, labels, line_ups, num_games, root), num_games, about)


def _played(
    game: Game,
    agents: list[Agent],
    labels: list[str],
    line_ups: NDArray[np.int64],
    num_games: int,
    root: np.random.SeedSequence,
) -> Iterator[Chunk]:
    history = any(map(needs_history, agents))
    for first in range(0, num_games, size := _games_at_once(game)):
        numbers = np.arange(first, min(first + size, num_games))
        deals = [deal_seed(root, number) for number in numbers.tolist()]
        vec = Vec(game, len(numbers), seed=deals, history=history, auto_deal=False)
        yield _played_chunk(vec, agents, labels, line_ups[numbers % len(line_ups)], numbers, root)


def _played_chunk(
    vec: Vec,
    agents: list[Agent],
    labels: list[str],
    line_ups: NDArray[np.int64],
    numbers: NDArray[np.int64],
    root: np.random.SeedSequence,
) -> Chunk:
    rows, seats = np.arange(vec.num_envs), vec.game.num_players
    totals = np.zeros((vec.num_envs, seats))
    dealt: list[list[Any]] = [[vec.game.deal_of(vec.get_state(row))] for row in rows.tolist()]
    decisions: list[tuple[NDArray[Any], ...]] = []

    def ask(asked: NDArray[np.int64], vec: Vec, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        move = len(decisions)
        seeds = decision_seeds(root, int(numbers[0]), 1, rows, move)
        actions = ask_agents(agents, labels, asked, vec, rows, seeds)
        seat = vec.current_player[rows].astype(np.int64)
        paid = totals[rows, seat]
        seen = vec.observation[rows], vec.action_mask[rows]
        decisions.append((rows, seat, np.full(len(rows), move), *seen, actions, paid))
        return actions

    for moved in play(vec, line_ups, rows, ask):
        totals[moved] += vec.rewards[moved]
        for row in moved[vec.round_ended[moved] & ~vec.terminated[moved]].tolist():
            dealt[row].append(vec.game.deal_of(vec.get_state(row)))
    columns = [np.concatenate(column) for column in zip(*decisions, strict=True)]
    last = np.stack([vec.observe(np.full(len(rows), seat)) for seat in range(seats)], axis=1)
    seated = [[labels[place] for place in line_up] for line_up in line_ups.tolist()]
    return _chunk(int(numbers[0]), seated, dealt, totals, last, columns)


def _games_at_once(game: Game) -> int:
    return max(1, min(CHUNK, CHUNK_DECISIONS // game.max_game_length))


def read_games(path: Path | str) -> GameData:
    """The games of a file of records, such as ``catbox arena --record`` writes, replayed.

    Unfinished games are left out. Raises ``ValueError`` for a damaged file, now or, for a damaged game,
    when the games are read; ``OSError`` for a file that cannot be read.
    """
    path = check_path("path", path)
    game = game_of_records(path)
    data = GameData(
        game, iter(()), None, {"agents": "see the column `agents`", "deals": f"those of `{path.name}`"}
    )
    data.chunks = _replayed(path, data)
    return data


def _replayed(path: Path, data: GameData) -> Iterator[Chunk]:
    game = data.game
    records: list[GameRecord] = []
    first = 0
    for record in read_records(path):
        if record.returns is None:
            data.left_out += 1
            continue
        records.append(record)
        if len(records) == _games_at_once(game):
            yield _replayed_chunk(game, records, first)
            first, records = first + len(records), []
    if records:
        yield _replayed_chunk(game, records, first)


def _replayed_chunk(game: Game, records: Sequence[GameRecord], first: int) -> Chunk:
    seats = range(game.num_players)
    decisions: list[tuple[Any, ...]] = []
    returns, last = [], []
    for row, record in enumerate(records):
        actions = iter(record.actions)
        for move, state in enumerate(record.states()):
            if state.is_terminal():
                returns.append(state.returns())
                last.append([state.observation(seat) for seat in seats])
                break
            seat = state.current_player
            seen = state.observation(seat), state.action_mask().astype(np.bool_)
            decisions.append((row, seat, move, *seen, next(actions), state.returns()[seat]))
    columns = [np.array(column) for column in zip(*decisions, strict=True)]
    agents, deals = [record.agents for record in records], [record.deals for record in records]
    return _chunk(first, agents, deals, np.array(returns), np.array(last), columns)


def _chunk(
    first: int,
    agents: list[list[str]],
    deals: list[list[Any]],
    returns: NDArray[np.float64],
    last: NDArray[np.int8],
    columns: list[NDArray[Any]],
) -> Chunk:
    """``columns``, in any order: game, seat, move, observation, mask, action, what the seat had been paid before."""
    order = np.lexsort((columns[2], columns[1], columns[0]))
    game, seat, move, seen, mask, action, before = (column[order] for column in columns)
    texts = [json.dumps(deal, separators=(",", ":")) for deal in deals]
    goes_on = (np.diff(game) == 0) & (np.diff(seat) == 0)
    following = returns[game, seat]
    following[:-1][goes_on] = before[1:][goes_on]
    before[1:][~goes_on] = 0.0  # a seat's first decision: its reward includes what the seat was paid earlier
    before[:1] = 0.0
    return Chunk(
        first, agents, texts, returns, last, game, seat, move, seen, mask, action, following - before
    )
