"""One game under way (`GameState`), and what an action did (`Event`). Names follow OpenSpiel."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from catbox_env.core import drawing
from catbox_env.core.checks import PUBLIC, check_action, check_instance, check_seat, check_viewer
from catbox_env.core.kernels import copy_records, new_records
from catbox_env.core.rng import GENERATOR, WORDS, split_one
from catbox_env.core.spec import GameSpec, check_same_game, origin_of
from catbox_env.core.text import Segment

#: What a serialised state begins with.
MAGIC = b"catbox-state "


class Source(Enum):
    """What is known of how a state came about."""

    DEALT = "all deals and actions are known"
    SAMPLED = "it was sampled, or comes from a batch: its deals are not known"
    SEEN = "it shows the view of one seat, with invented cards in the other hands"


@dataclass(frozen=True)
class Event:
    """One effect of an action.

    Attributes:
        kind: what happened, such as ``"trick_won"``; the module that shows the game lists its kinds.
        seat: the seat that it is about; None: no single one.
        text: one sentence without a full stop, in which seats are called ``player_0``, ``player_1``, ...
        data: the same as JSON-serialisable values, for programs.
    """

    kind: str
    seat: int | None
    text: str
    data: dict[str, Any] = field(default_factory=dict)


class GameState:
    """One game under way. It changes in place with ``apply_action``; ``clone`` makes a copy.

    ``copy.deepcopy`` and ``pickle`` copy everything, the generator of future deals included.

    Attributes: ``game``; ``record``: the game's structured record, which holds hidden cards too.
    """

    #: A `core.game.Game`, which makes states: this file cannot import it.
    game: Any

    def __init__(
        self,
        game: GameSpec,
        records: np.ndarray,
        generators: np.ndarray,
        log: np.ndarray,
        round_starts: Sequence[np.ndarray] = (),
        source: Source = Source.SAMPLED,
    ) -> None:
        """Made by a game. ``records`` (1,); ``generators`` (1,); ``log`` (T, 3); ``round_starts``: the record (1,) at
        the beginning of each round that is known; ``source``: how the state came about."""
        self.game = game
        self._records, self._generators, self._log = records, generators, log
        self._round_starts, self._source = list(round_starts), source
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
        return self._records[0]

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
        """The reward of each seat (P) for the last action."""
        return self._rewards.tolist()

    def returns(self) -> list[float]:
        """The sum of the rewards of each seat (P) since the beginning."""
        return self._returns.tolist()

    def info(self, player: int) -> dict[str, int]:
        """A seat's statistics of the last finished round; empty before the first round has ended."""
        self._check_player(player)
        if not self.record.rounds_ended:
            return {}
        return dict(zip(self.game.kernels.info_names, self._info[:, player].tolist(), strict=True))

    def action_mask(self, player: int | None = None) -> np.ndarray:
        """The legal actions of ``player`` (``None``: the seat to move): a new int8 array (A,) of 0 and 1.

        All zeros if it is not that seat's turn.
        """
        mask = np.zeros(self.game.num_actions, np.int8)
        if player is not None:
            self._check_player(player)
        if player is None or player == self.current_player:
            self.game.loops.mask_one(self.game.params, self._records, mask)
        return mask

    def legal_actions(self) -> list[int]:
        """The legal actions of the seat to move, ascending; empty when the game is over."""
        return np.flatnonzero(self.action_mask()).tolist()

    def apply_action(self, action: int) -> None:
        """Take ``action`` for the seat to move.

        Raises ``ValueError`` for an illegal action or when the game is over, leaving the state unchanged.
        """
        self._apply(action, np.empty(self.game.num_actions, np.int8))

    def observation(self, player: int) -> np.ndarray:
        """What a seat sees: a new int8 array (O,), laid out as ``game.observation_layout``."""
        game, player = self.game, self._check_player(player)
        out = np.empty(game.observation_layout.size, np.int8)
        game.loops.observe_one(game.params, self._records, player, out)
        return out

    def state_vector(self, player: int = 0) -> np.ndarray:
        """Everything, hidden cards included: a new int8 array (S,), laid out as ``game.state_layout``.

        Seats are relative to ``player``; from seat 0 they are absolute.
        """
        game, player = self.game, self._check_player(player)
        out = np.empty(game.state_layout.size, np.int8)
        game.loops.state_one(game.params, self._records, player, out)
        return out

    def history(self) -> list[int]:
        """The actions taken so far; of a sampled state, those since it was sampled or since its round began.

        Raises ``ValueError`` for a state from a batch that keeps no history.
        """
        return self._log[: self._num_moves(), 1].tolist()

    def history_observation(self, player: int) -> np.ndarray:
        """The history as a seat saw it: a new int8 array (T, 2), rows (relative seat, action).

        An action that the seat cannot see is -1; unused rows are -2. Errors as in ``history``.
        """
        game, player = self.game, self._check_player(player)
        self._num_moves()
        out = np.empty((game.max_game_length, 2), np.int8)
        game.loops.history_one(game.params, self._records, self._log, player, out)
        return out

    def information_state(self, player: int) -> np.ndarray:
        """What a seat knows: a new int8 array (O + 2 T,), ``observation`` and then ``history_observation``.

        In a game with hidden information, two states of a round have the same exactly if the seat has seen and done the
        same in both (perfect recall). Not included: the cards of earlier rounds, which everybody saw when they ended,
        and how a game of perfect information began.
        """
        return np.concatenate([self.observation(player), self.history_observation(player).reshape(-1)])

    def clone(self) -> GameState:
        """An independent copy with the same cards, which draws its own future deals.

        The next clone draws others: the state counts its clones.
        """
        generators = new_records(GENERATOR)
        split_one(self._generators, generators)
        return self._copy(generators)

    def serialize(self) -> bytes:
        """The game as bytes, for ``game.deserialize_state``: the deal of every round, the actions, future deals.

        Raises ``ValueError`` for a state that was sampled, taken from a batch or shows the view of one seat: its deals
        are not known. Copy or pickle such a state.
        """
        if self._source is not Source.DEALT:
            raise ValueError(
                "serialize: this state was sampled, taken from a batch or shows the view of one seat, so the deals "
                "that led to it are not known; use pickle or copy.deepcopy"
            )
        game = self.game
        content = {
            **origin_of(game),
            "deals": [game._read_deal(records[0]) for records in self._round_starts],
            "actions": self.history(),
            "generator": [int(self._generators[0][name]) for name in WORDS],
        }
        body = json.dumps(content).encode()
        return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    def _apply(self, action: Any, mask: np.ndarray) -> None:
        """Like ``apply_action``; also writes the legal actions of the next seat to move into ``mask`` (A,) int8."""
        game: GameSpec = self.game
        action = check_action(action, game.num_actions)
        if not game.loops.step_if_legal(
            game.params, self._generators, self._records, self._log, action, mask
        ):
            if self.is_terminal():
                raise ValueError(
                    f"action {action}: the game is over; begin another with game.new_initial_state()"
                )
            raise ValueError(
                f"illegal action {action} ({game.action_to_string(action)}) by seat {self.current_player}: "
                f"{game._illegal_reason(self.record, action)}"
            )
        if self._round_ended[0] and self._round_starts and not self._terminated[0]:
            self._round_starts.append(copy_records(self._records))

    def _num_moves(self) -> int:
        moves = int(self._records["num_moves"][0])
        if moves > len(self._log):
            raise ValueError(
                "history: this state comes from a batch that keeps none; make it with history=True"
            )
        return moves

    def _check_player(self, player: Any) -> int:
        return check_seat("player", player, self.game.num_players)

    def _copy(self, generators: np.ndarray) -> GameState:
        """A copy with ``generators`` (1,)."""
        records, log = copy_records(self._records), self._log.copy()
        return GameState(self.game, records, generators, log, self._round_starts, self._source)

    def __copy__(self) -> GameState:
        return self._copy(copy_records(self._generators))

    def __deepcopy__(self, memo: dict) -> GameState:
        return self.__copy__()

    def __reduce__(self) -> tuple:
        return GameState, (
            self.game,
            self._records,
            self._generators,
            self._log,
            self._round_starts,
            self._source,
        )

    def __str__(self) -> str:
        return "".join(text for text, _ in styled_text(self, None))

    def __repr__(self) -> str:
        """The game's id and the first line of its text, which shows only public information."""
        text = "".join(text for text, _ in styled_text(self, PUBLIC))
        return f"<GameState of {self.game.id}: {text.splitlines()[0]}>"

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        return drawing.render_svg(self, None, drawing.SIZE, drawing.THEME)


def illegal_reason(state: GameState, action: int) -> str:
    """Why the illegal ``action``, any integer, cannot be taken in ``state``."""
    game: GameSpec = state.game
    if state.is_terminal():
        return "the game is over"
    if not 0 <= action < game.num_actions:
        return f"expected 0 to {game.num_actions - 1}"
    return f"{game.action_to_string(action)}: {game._illegal_reason(state.record, action)}"


def styled_text(state: GameState, seat: int | None) -> list[Segment]:
    """What ``seat`` (as for `Game.render_text`) sees of ``state``, as (text, rich style) segments.

    Raises ``ValueError`` for a seat that the game does not have.
    """
    segments: list[Segment] = state.game._styled_text(
        state.record, check_viewer(seat, state.game.num_players)
    )
    return segments


def last_action(state: GameState, viewer: int | None) -> tuple[int, int] | None:
    """The seat that moved last and its action, -1 if ``viewer`` did not see it (None: sees everything; -1: only what
    everybody sees). None before the first action, and if the history is unknown."""
    moves = int(state.record.num_moves)
    if not 0 < moves <= len(state._log):
        return None
    mover, action, public = state._log[moves - 1].tolist()
    return mover, action if viewer in (None, mover) else public


def winners_of(state: GameState) -> list[int]:
    """The seats that have won; none before the end."""
    shares = state.record.win_shares[: state.game.num_players].tolist()
    return [seat for seat, share in enumerate(shares) if share > 0] if state.is_terminal() else []


def last_position(before: GameState, action: int, after: GameState) -> GameState:
    """The position after ``action`` in the round in which it was taken: before a new deal if it ended that round.

    At the end of a round nobody is to move, though the game may go on.
    """
    if not after.round_ended or after.is_terminal():
        return after
    position = before.__copy__()
    position.game.loops.take_one(
        position.game.params, position._generators, position._records, position._log, action
    )
    return position


def check_state(what: str, state: Any, game: GameSpec) -> None:
    """Raise ``ValueError`` unless ``state`` is a state of ``game``."""
    check_instance(what, state, GameState, "a state, as new_initial_state returns")
    check_same_game(what, state.game, game)
