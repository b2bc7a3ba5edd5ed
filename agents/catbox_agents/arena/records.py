"""Records of games: a JSON Lines file from which every game can be replayed.

The first line is a header:

    {"format": "catbox-games-1", "catbox": "0.1.0", "game": "cat_in_the_box_v0", "options": {...}, "agents": [...]}

``catbox`` is the version that wrote it, ``game`` and ``options`` are the arguments of `make_game`, ``agents`` are the
agents' names; a file of an arena also has ``arena``, what else identifies it. Every other line is a game:

| key | value |
|---|---|
| ``deal_number`` | of an arena: the number of its deal in the deal set |
| ``seed`` | of a game at a table: the seed that it began with |
| ``agents`` | the name of the agent, or the person, in each seat |
| ``deals`` | the deal of each round that began, as ``new_initial_state(deal=...)`` takes it; null: no deals |
| ``actions`` | the ids of all actions, in order |
| ``returns`` | what each seat was paid in total, in units of the game's reward; null: the game was not finished |
| ``policies`` | for each action, pairs [action, probability] of its policy, or null; may be absent |

A replay needs neither the agents nor a seed: the deals are in the file.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

import catbox_env
from catbox_agents.system.files import check_format, parse_json, writing_atomically
from catbox_env import Game, GameState, Vec
from catbox_env.core.checks import check_integer, check_path, is_integer, short_repr
from catbox_env.core.text import counted

FORMAT = "catbox-games-1"
#: The longest line that is read, in bytes.
MAX_LINE_BYTES = 1 << 24
#: Far above any score of a game; a float holds all integers up to it.
_MAX_SCORE = 1e15
_REMEDY = "give a file that catbox arena --record, catbox play --save or catbox watch --save wrote"
#: Probabilities below this are left out of a record.
MIN_PROBABILITY = 5e-5


@dataclass(frozen=True)
class GameRecord:
    """One game of a file; the module's docstring describes the fields."""

    game: Game
    agents: list[str]
    deals: list[Any]
    actions: list[int]
    returns: list[float] | None
    policies: list[Any]

    def states(self) -> Iterator[GameState]:
        """The position at the beginning and after each action: one state, changed in place.

        Raises ValueError if the record breaks the rules.
        """
        state = self.game.new_initial_state(seed=0, deal=self.deals[0])
        rounds = 1
        yield state
        for number, action in enumerate(self.actions, 1):
            try:
                state.apply_action(action)
                if state.round_ended and not state.is_terminal():
                    if rounds == len(self.deals):
                        raise ValueError(f"no deal of round {rounds + 1}")
                    if self.deals[rounds] is not None:
                        self.game.set_deal(state, self.deals[rounds])
                    rounds += 1
            except ValueError as error:
                raise ValueError(f"action {number} of {len(self.actions)}: {error}") from None
            yield state
        if rounds != len(self.deals):
            raise ValueError(f"{len(self.deals)} deals, but {rounds} rounds began")
        expected = state.returns() if state.is_terminal() else None
        if expected != self.returns:
            whose = "an unfinished game" if expected is None else "this game"
            raise ValueError(
                f"returns={self.returns}; {whose} has {expected} after its {len(self.actions)} actions"
            )


def policy_pairs(policy: NDArray[np.floating]) -> list[list[Any]]:
    """A policy (A,) as it is recorded: pairs [action, probability], rounded, without those close to 0."""
    probable = np.flatnonzero(policy >= MIN_PROBABILITY).tolist()
    return [[action, round(float(policy[action]), 4)] for action in probable]


class GameRecorder(Protocol):
    """Records the games of a batch. ``has_policies``: whether policies of the agents are recorded."""

    has_policies: bool

    def moved(self, vec: Vec, rows: NDArray[np.int64]) -> None:
        """Called before the first move, and after each with the rows that moved."""

    def acted(self, rows: NDArray[np.int64], actions: NDArray[np.int64], policies: Sequence[Any]) -> None:
        """Called with the actions of ``rows`` before they are made; each has its policy, pairs, or None."""

    def games(
        self, first_deal: int, names: Sequence[str], line_ups: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> list[Any]:
        """What is recorded, as JSON values; ``line_ups`` (rotations, P), ``scores`` (deals, rotations, P)."""


class Recorder:
    """Records the games of a batch: deals, actions, and policies of agents with ``policy_batch``."""

    has_policies = True

    def __init__(self, num_games: int) -> None:
        self.deals: list[list[Any]] = [[] for _ in range(num_games)]
        self.actions: list[list[int]] = [[] for _ in range(num_games)]
        self.policies: list[list[Any]] = [[] for _ in range(num_games)]

    def moved(self, vec: Vec, rows: NDArray[np.int64]) -> None:
        """Record the deal of every game of ``rows`` in which a round has begun."""
        for row in rows.tolist():
            if not self.actions[row] or (vec.round_ended[row] and not vec.terminated[row]):
                self.deals[row].append(vec.game.deal_of(vec.get_state(row)))

    def acted(self, rows: NDArray[np.int64], actions: NDArray[np.int64], policies: Sequence[Any]) -> None:
        """Record the actions of ``rows``, each with its policy, pairs (action, probability), or None."""
        for row, action, policy in zip(rows.tolist(), actions.tolist(), policies, strict=True):
            self.actions[row].append(action)
            self.policies[row].append(policy)

    def games(
        self, first_deal: int, names: Sequence[str], line_ups: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> list[dict[str, Any]]:
        """The games as the lines of a file; ``line_ups`` (rotations, P), ``scores`` (deals, rotations, P)."""
        found = []
        for row, actions in enumerate(self.actions):
            deal, turn = divmod(row, len(line_ups))
            agents = [names[agent] for agent in line_ups[turn]]
            game = {"deal_number": first_deal + deal, "agents": agents, "deals": self.deals[row]}
            game |= {"actions": actions, "returns": scores[deal, turn].tolist()}
            if any(policy is not None for policy in self.policies[row]):
                game["policies"] = self.policies[row]
            found.append(game)
        return found


def record_lines(
    game: Game, agents: list[str], games: Iterable[dict[str, Any]], **more: Any
) -> Iterator[str]:
    """The lines of a file of ``games``, with line ends. ``more``: further keys of the header."""
    header = {
        "format": FORMAT,
        "catbox": catbox_env.__version__,
        "game": game.id,
        "options": game.options,
        "agents": agents,
        **more,
    }
    for line in itertools.chain([header], games):
        yield json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"


def write_records(
    path: Path, game: Game, agents: list[str], games: Iterable[dict[str, Any]], **more: Any
) -> None:
    """Write a file of `record_lines` atomically. Raises `WriteError`."""
    with writing_atomically(path) as file:
        for line in record_lines(game, agents, games, **more):
            file.write(line.encode())


def read_record(path: Path, number: int = 1) -> GameRecord:
    """Game ``number`` of a file, counted from 1 and checked completely.

    Raises ValueError, naming the line and the reason, for a damaged file, one of another version, and a number that
    does not exist; OSError for a file that cannot be read.
    """
    with open(check_path("path", path), "rb") as file:
        return read_record_from(file, path, number)


def read_record_from(file: BinaryIO, name: Path | str, number: int = 1) -> GameRecord:
    """As `read_record`, from an open file or bytes (``io.BytesIO``); messages call it ``name``."""
    number = check_integer("number of the game", number, 1)
    header = _line(name, 1, file.readline(MAX_LINE_BYTES))
    game = _game(name, header)
    for line_number in range(2, number + 2):
        line = file.readline(MAX_LINE_BYTES)
        if not line:
            raise ValueError(f"{name} holds {counted(line_number - 2, 'game')}; asked for game {number}")
    return _checked_record(game, header, name, number + 1, line)


def read_records(path: Path) -> Iterator[GameRecord]:
    """Every game of a file, checked completely when its turn comes. Errors as in `read_record`."""
    with open(path, "rb") as file:
        header = _line(path, 1, file.readline(MAX_LINE_BYTES))
        game = _game(path, header)
        for number in itertools.count(2):
            if not (line := file.readline(MAX_LINE_BYTES)):
                return
            yield _checked_record(game, header, path, number, line)


def game_of_records(path: Path) -> Game:
    """The game that the records of a file are of. Errors as in `read_record`."""
    with open(path, "rb") as file:
        return _game(path, _line(path, 1, file.readline(MAX_LINE_BYTES)))


def _checked_record(
    game: Game, header: dict[str, Any], name: Path | str, number: int, line: bytes
) -> GameRecord:
    """The game of line ``number``, played through."""
    try:
        record = _record(game, _line(name, number, line))
        for _ in record.states():
            pass
    except ValueError as error:
        by = header.get("catbox")
        other = f" (catbox {by} wrote the file, this is {catbox_env.__version__})"
        text = str(error) if str(error).startswith(str(name)) else f"{name}, line {number}: {error}"
        raise ValueError(text + (other if by != catbox_env.__version__ else "")) from None
    return record


def _line(name: Path | str, number: int, line: bytes) -> dict[str, Any]:
    where = f"{name}, line {number}"
    if not line.endswith(b"\n"):
        why = "it is empty" if not line else "the file was cut off here, or the line is too long"
        raise ValueError(f"{where}: {why}; {_REMEDY}")
    try:
        found = parse_json(line.decode())
    except ValueError as error:
        raise ValueError(f"{where}: it is not JSON ({error}); {_REMEDY}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{where}: {short_repr(found)}; expected an object; {_REMEDY}")
    return found


def _game(name: Path | str, header: dict[str, Any]) -> Game:
    check_format(f"{name}, line 1", header.get("format"), FORMAT, _REMEDY)
    game_id, options = header.get("game"), header.get("options")
    try:
        if not isinstance(game_id, str) or not isinstance(options, dict):
            raise ValueError(f"game={short_repr(game_id)} with options={short_repr(options)}")
        return catbox_env.make_game(game_id, **options)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}, line 1: {error}; {_REMEDY}") from None


def _record(game: Game, line: dict[str, Any]) -> GameRecord:
    """The game of a line, its types checked; `GameRecord.states` checks the rest."""
    players = game.num_players

    def listed(name: str, length: int | None = None) -> list[Any]:
        value = line.get(name)
        if not isinstance(value, list) or (length is not None and len(value) != length):
            expected = "a list" if length is None else f"a list of {length}"
            raise ValueError(f"{name}={short_repr(value)}; expected {expected}")
        return value

    agents, deals, actions = listed("agents", players), listed("deals"), listed("actions")
    returns = None if "returns" in line and line["returns"] is None else listed("returns", players)
    if not all(isinstance(name, str) and name.isprintable() for name in agents):
        raise ValueError(f"agents={short_repr(agents)}; expected names of printable characters")
    if not all(isinstance(value, float | int) and abs(value) <= _MAX_SCORE for value in returns or ()):
        raise ValueError(f"returns={short_repr(returns)}; expected numbers of at most {_MAX_SCORE:.0e}")
    if not all(is_integer(action) for action in actions):
        raise ValueError(f"actions={short_repr(actions)}; expected ids of actions")
    if not deals:
        raise ValueError("deals=[]; expected the deal of each round")
    policies = listed("policies", len(actions)) if "policies" in line else [None] * len(actions)
    for policy in policies:
        if policy is not None and not _is_policy(policy, game.num_actions):
            raise ValueError(f"policy {short_repr(policy)}; expected pairs [action, probability]")
    paid = None if returns is None else [float(value) for value in returns]
    return GameRecord(game, agents, deals, actions, paid, policies)


def _is_policy(policy: Any, num_actions: int) -> bool:
    return isinstance(policy, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and is_integer(pair[0])
        and 0 <= pair[0] < num_actions
        and isinstance(pair[1], float | int)
        and 0 <= pair[1] <= 1
        for pair in policy
    )
