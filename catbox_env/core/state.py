"""One game under way; names follow OpenSpiel where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from catbox_env.core.checks import brief, check_action, check_seat
from catbox_env.core.rng import GENERATOR
from catbox_env.core.saved import check_origin, check_records, check_same_game, checksum

if TYPE_CHECKING:
    from catbox_env.core.game import Game

_MAGIC = b"catbox-state\n"


def copy_records(records: np.ndarray) -> np.ndarray:
    """A byte-exact copy: NumPy leaves the padding between fields undefined."""
    return records.view(np.uint8).copy().view(records.dtype)


class GameState:
    """One game under way. It changes in place with ``apply_action``; ``clone`` makes a copy.

    ``copy.deepcopy``, ``pickle`` and ``serialize`` copy everything, the generator of future deals included.

    Attributes: ``game``; ``record``: the game's structured record, which holds hidden cards too.
    """

    def __init__(self, game: Game, records: np.ndarray, generators: np.ndarray, log: np.ndarray) -> None:
        self.game = game
        self.records = records
        self.generators = generators
        self.log = log
        # Views of the fields common to all games: reading a field of a record through NumPy takes microseconds.
        players = game.num_players
        self._current_player = records["current_player"]
        self._terminated = records["terminated"]
        self._round_ended = records["round_ended"]
        self._rewards = records["rewards"][0, :players]
        self._returns = records["returns"][0, :players]
        self._info = records["info"][0]

    @property
    def record(self) -> np.record:
        """The structured record of this game, hidden cards included."""
        return self.records[0]

    @property
    def current_player(self) -> int:
        """The seat to move, -1 when the game is over."""
        return int(self._current_player[0])

    @property
    def round_ended(self) -> bool:
        """Whether the last action ended a round."""
        return bool(self._round_ended[0])

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(self._terminated[0])

    def rewards(self) -> list[float]:
        """What the last action paid to each seat (P)."""
        return self._rewards.tolist()

    def returns(self) -> list[float]:
        """What each seat (P) has been paid since the beginning."""
        return self._returns.tolist()

    def info(self, player: int) -> dict[str, int]:
        """A seat's statistics of the last finished round; empty before the first round has ended."""
        self._check_player(player)
        if not self.record.rounds_ended:
            return {}
        return dict(zip(self.game.info_names, self._info[:, player].tolist(), strict=True))

    def action_mask(self, player: int | None = None) -> np.ndarray:
        """The legal actions of ``player`` (``None``: the seat to move): a new int8 array (A,) of 0 and 1.

        All zeros if it is not that seat's turn.
        """
        mask = np.zeros(self.game.num_actions, np.int8)
        if player is not None:
            self._check_player(player)
        if player is None or player == self.current_player:
            self.game.loops.mask_one(self.game.params, self.records, mask)
        return mask

    def legal_actions(self) -> list[int]:
        """The legal actions of the seat to move, ascending; empty when the game is over."""
        return [int(action) for action in np.flatnonzero(self.action_mask())]

    def apply_action(self, action: int) -> None:
        """Take ``action`` for the seat to move.

        Raises ``ValueError`` for an illegal action or when the game is over, leaving the state unchanged.
        """
        self.apply_and_mask(action, np.empty(self.game.num_actions, np.int8))

    def apply_and_mask(self, action: int, mask: np.ndarray) -> None:
        """Like ``apply_action``; also writes the legal actions of the next seat to move into ``mask`` (A,) int8."""
        if self.is_terminal():
            raise ValueError(
                f"action {brief(action)}: the game is over; begin another with game.new_initial_state()"
            )
        game = self.game
        action = check_action(action, game.num_actions)
        if not game.loops.apply_if_legal(game.params, self.generators, self.records, self.log, action, mask):
            raise ValueError(
                f"illegal action {action} ({game.action_to_string(action)}) by seat {self.current_player}: "
                f"{game.why_illegal(self.record, action)}"
            )

    def observation(self, player: int) -> np.ndarray:
        """What a seat sees: a new int8 array (O,), laid out as ``game.observation_layout``."""
        player = self._check_player(player)
        out = np.empty(self.game.observation_layout.size, np.int8)
        self.game.loops.observe_one(self.game.params, self.records, player, out)
        return out

    def state_vector(self, player: int = 0) -> np.ndarray:
        """Everything, hidden cards included: a new int8 array (S,), laid out as ``game.state_layout``.

        Seats are relative to ``player``; from seat 0 they are absolute.
        """
        player = self._check_player(player)
        out = np.empty(self.game.state_layout.size, np.int8)
        self.game.loops.state_one(self.game.params, self.records, player, out)
        return out

    def history(self) -> list[int]:
        """The actions taken so far."""
        return [int(action) for action in self.log[: self.record.num_moves, 1]]

    def history_observation(self, player: int) -> np.ndarray:
        """The history as a seat saw it: a new int8 array (T, 2), rows (relative seat, action).

        An action that the seat cannot see is -1; unused rows are -2.
        """
        player = self._check_player(player)
        out = np.empty((self.game.history_length, 2), np.int8)
        self.game.loops.history_one(self.game.params, self.records, self.log, player, out)
        return out

    def information_state(self, player: int) -> np.ndarray:
        """What a seat knows: a new int8 array (O + 2 T,), ``observation`` and then ``history_observation``.

        In a round of Cat in the Box or Cat Te, two states have the same exactly if the seat has seen and done the same
        in both (perfect recall). Not included: a card of an earlier round that the seat never played, and which of the
        closed cells of Petrify each player began on.
        """
        return np.concatenate([self.observation(player), self.history_observation(player).reshape(-1)])

    def clone(self) -> GameState:
        """An independent copy with the same cards, which draws its own future deals."""
        twin = GameState(self.game, copy_records(self.records), np.zeros(1, GENERATOR), self.log.copy())
        self.game.loops.split_one(self.generators, twin.generators)
        return twin

    def __deepcopy__(self, memo: dict) -> GameState:
        return GameState(self.game, copy_records(self.records), self.generators.copy(), self.log.copy())

    def __reduce__(self) -> tuple:
        return read_state, (self.game, self.serialize())

    def serialize(self) -> bytes:
        """Everything as bytes, for ``game.deserialize_state``."""
        header = self.game.header
        body = self.records.tobytes() + self.generators.tobytes() + self.log.tobytes()
        return _MAGIC + checksum(header, body) + header + b"\n\n" + body

    def __str__(self) -> str:
        return self.game.render_text(self)

    def __repr__(self) -> str:
        """The game's id and the first line of its text, which shows only public information."""
        return f"<GameState of {self.game.id}: {self.game.render_text(self, 0).splitlines()[0]}>"

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        return self.game.render_svg(self)

    def _check_player(self, player: Any) -> int:
        return check_seat("player", player, self.game.num_players)


def read_state(game: Game, data: bytes) -> GameState:
    """The state that ``GameState.serialize`` wrote; errors as in ``Game.deserialize_state``."""
    what = "a serialised state"
    if not isinstance(data, bytes | bytearray | memoryview) or bytes(data[: len(_MAGIC)]) != _MAGIC:
        raise ValueError(f"data={brief(data)}: expected the bytes that state.serialize() returned")
    start = len(_MAGIC) + len(checksum())
    header, _, body = bytes(data[start:]).partition(b"\n\n")
    check_origin(what, game, bytes(data[len(_MAGIC) : start]), header, body)
    sizes = [game.state_dtype.itemsize, GENERATOR.itemsize, game.empty_log().nbytes]
    if len(body) != sum(sizes):
        raise ValueError(
            f"{what}: {len(body)} bytes after the header, expected {sum(sizes)}; use another copy"
        )
    parts = np.split(np.frombuffer(bytearray(body), np.uint8), np.cumsum(sizes)[:-1])
    records, generators = parts[0].view(game.state_dtype), parts[1].view(GENERATOR)
    log = parts[2].view(np.int8).reshape(-1, 3)
    check_records(what, game, records, generators, log[None])
    return GameState(game, records, generators, log)


def gather_states(
    states: GameState | Sequence[GameState], game: Game, count: int, log_length: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Copies of the records (N,), generators (N,) and logs (N, ``log_length``, 3) of ``count`` states of ``game``.

    A single state is copied to all. Raises ``ValueError`` for a wrong number of states, or another game.
    """
    given = [states] * count if isinstance(states, GameState) else states
    listed = isinstance(given, Sequence) and all(isinstance(state, GameState) for state in given)
    if not listed or len(given) != count:
        raise ValueError(
            f"states={brief(states)}: expected one state, {count} states, one for each row, or a batch of them"
        )
    records, generators = np.zeros(count, game.state_dtype), np.zeros(count, GENERATOR)
    logs = np.zeros((count, log_length, 3), np.int8)
    for i, state in enumerate(given):
        check_same_game("states", state.game, game)
        records[i], generators[i], logs[i] = state.records[0], state.generators[0], state.log[:log_length]
    return records, generators, logs


def check_own_state(what: str, state: Any, game: Game) -> None:
    """Raise ``ValueError`` unless ``state`` is a state of ``game``."""
    if not isinstance(state, GameState):
        raise ValueError(f"{what}={brief(state)}: expected a state, as new_initial_state returns")
    check_same_game(what, state.game, game)
