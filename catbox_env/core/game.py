"""A game and its states, for search and analysis; names follow OpenSpiel where it has one."""

from __future__ import annotations

import difflib
import json
import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from catbox_env.core.kernels import REWARDS, Kernels, bind
from catbox_env.core.layout import Layout
from catbox_env.core.rng import GENERATOR, new_generators, seed_sequence

_MAGIC = b"catbox-state-1\n"
_ONLY = np.zeros(1, np.int64)


def check_sequence(what: str, value: Any, of: str) -> None:
    """Raise ``ValueError`` unless ``value``, (in) the part ``what`` of a deal, is a sequence ``of`` items."""
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes):
        raise ValueError(f"deal: {value!r} in {what}; expected a sequence of {of}")


def check_sequences(what: str, value: Any, of: str) -> None:
    """Raise ``ValueError`` unless ``value``, the part ``what`` of a deal, is a sequence of sequences ``of`` items."""
    check_sequence(what, value, f"sequences of {of}")
    for given in value:
        check_sequence(what, given, of)


class Game(ABC):
    """A game under one rule set: immutable, picklable, equal to another of the same id, rules and reward.

    Attributes:
        id: name and version: a key of ``GAMES``.
        rules: the game's frozen ``Rules``.
        reward: ``"score"``, points of each round; ``"margin"``, own points minus the mean of the others';
            ``"win"``, 1 shared among the winners at the end of the game.
        num_players, num_actions: sizes P and A.
        observation_layout, state_layout: the named parts of an observation (O,) and of the full state (S,).
        history_length: most actions T that a game can take.
        min_utility, max_utility: bounds of a seat's return, in units of ``reward``.
        info_names: the figures that every seat gets when a round ends.
        lenient_options: rules in which an agent may differ from those it was made for, as long as the observation has
            the same parts: who begins, how many rounds there are.
        params: array (1,) of the game's parameter record.
    """

    id: ClassVar[str]
    kernels: ClassVar[Kernels]
    rules_class: ClassVar[type]
    state_dtype: ClassVar[np.dtype]
    info_names: ClassVar[tuple[str, ...]]
    lenient_options: ClassVar[tuple[str, ...]] = ()

    rules: Any
    num_players: int
    num_actions: int
    observation_layout: Layout
    state_layout: Layout
    history_length: int
    min_utility: float
    max_utility: float
    params: np.ndarray

    def __init__(self, *, rules: Any = None, reward: str = "score", **rule_options: Any) -> None:
        if reward not in REWARDS:
            raise ValueError(f"reward={reward!r}: expected one of {', '.join(map(repr, REWARDS))}")
        if rules is not None and rule_options:
            raise ValueError(
                f"rules and {', '.join(rule_options)} were both given: give either a {self.rules_class.__name__} "
                f"object or single options (dataclasses.replace changes a field of one)"
            )
        if rules is None:
            rules = self._make_rules(rule_options)
        elif not isinstance(rules, self.rules_class):
            raise ValueError(
                f"rules={rules!r}: {self.id} expected a {self.rules_class.__module__}.{self.rules_class.__name__}"
            )
        self.reward = reward
        self.rules = rules
        self.set_up()
        self.params.setflags(write=False)
        self.loops = bind(self.id, self.kernels)

    def _make_rules(self, options: dict[str, Any]) -> Any:
        known = [field.name for field in fields(self.rules_class)]
        for name in options:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise ValueError(
                    f"unknown option {name!r} of {self.id}: expected reward, rules or one of {', '.join(known)}.{hint}"
                )
        return self.rules_class(**options)

    # What a game provides.

    @abstractmethod
    def set_up(self) -> None:
        """Set every attribute that follows from ``self.rules`` and ``self.reward``."""

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """``action`` in words, such as ``"play yellow 7"``. Raises ``ValueError`` outside ``0 .. A-1``."""

    @abstractmethod
    def why_illegal(self, state: np.record, action: int) -> str:
        """The rule that forbids ``action`` (in ``0 .. A-1``) in ``state``, for the error message."""

    @abstractmethod
    def set_deal(self, state: np.record, deal: Any) -> None:
        """Put a given deal in place of the drawn one. Raises ``ValueError`` for one that cannot come up."""

    @abstractmethod
    def describe_actions(self) -> list[tuple[int, int, str]]:
        """Rows (first id, last id, what they do), for documentation."""

    @abstractmethod
    def render(self, state: np.record, seat: int | None = None) -> list[tuple[str, str]]:
        """The table as pieces (text, style), styles as in rich; ``seat``'s hand, or every hand for ``None``."""

    @abstractmethod
    def statistics(self, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Figures to watch in training and evaluation, each (n, P) float64, from ``info`` arrays (n, P)."""

    # What follows for every game.

    @property
    def options(self) -> dict[str, Any]:
        """JSON-able options: ``make_game(game.id, **game.options)`` is an equal game."""
        values = {field.name: getattr(self.rules, field.name) for field in fields(self.rules_class)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {**plain, "reward": self.reward}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.id == other.id and self.options == other.options

    def __hash__(self) -> int:
        return hash((self.id, self.rules, self.reward))

    def __repr__(self) -> str:
        return f"make_game({self.id!r}, rules={self.rules!r}, reward={self.reward!r})"

    def __reduce__(self) -> tuple:
        return _rebuild_game, (type(self), self.rules, self.reward)

    def new_initial_state(self, seed: Any = None, deal: Any = None) -> GameState:
        """The beginning of a game.

        Args:
            seed: an integer of 0 or more, a numpy ``SeedSequence``, or ``None`` (entropy of the system).
            deal: a given deal instead of a drawn one; what it holds is said by the game. Later rounds are drawn.
        """
        generators = new_generators([seed_sequence(seed)])
        return self.initial_state_from(generators, deal)

    def initial_state_from(self, generators: np.ndarray, deal: Any = None) -> GameState:
        """As ``new_initial_state``, going on from a generator: array (1,), used and advanced in place."""
        state = GameState(self, np.zeros(1, self.state_dtype), generators, self._empty_log())
        self.loops.deal_games(self.params, generators, state.records, _ONLY)
        if deal is not None:
            self.set_deal(state.record, deal)
        return state

    def sample_state(self, observation: np.ndarray, seed: Any = None) -> GameState:
        """A full state drawn uniformly from all those consistent with one observation.

        Args:
            observation: int8 (O,), what one seat sees while the game runs.
            seed: as in ``new_initial_state``; the deals of later rounds are drawn from it as well.

        The sampled state has no past: its ``history()`` begins here. Raises ``ValueError`` for a vector that no
        seat of this game can see, or that was made after the end.
        """
        observation = np.asarray(observation)
        size = self.observation_layout.size
        if observation.shape != (size,) or observation.dtype != np.int8:
            raise ValueError(
                f"observation: {observation.dtype} of shape {observation.shape}; expected int8 of shape ({size},), "
                f"as given by state.observation(player)"
            )
        generators = new_generators([seed_sequence(seed)])
        state = GameState(self, np.zeros(1, self.state_dtype), generators, self._empty_log())
        observation = np.ascontiguousarray(observation)
        low, high = self.observation_layout.bounds()
        bounded = bool(((observation >= low) & (observation <= high)).all())
        failed = not bounded or self.loops.sample_one(self.params, observation, generators, state.records)
        # What no seat can see does not come back from the state that was drawn for it.
        if failed or not any(
            np.array_equal(state.observation(p), observation) for p in range(self.num_players)
        ):
            raise ValueError(
                "observation: no state of this game agrees with it; expected what a seat sees before the end, "
                "as given by state.observation(player)"
            )
        return state

    def string_to_action(self, text: str) -> int:
        """The action that ``action_to_string`` calls ``text`` (case and spaces aside).

        Raises ``ValueError`` with the nearest known strings.
        """
        wanted = " ".join(text.lower().split())
        names = [self.action_to_string(action) for action in range(self.num_actions)]
        known = {name.lower(): action for action, name in enumerate(names)}
        if wanted not in known:
            close = difflib.get_close_matches(wanted, known, n=3, cutoff=0.4)
            hint = f"; near it: {', '.join(repr(names[known[name]]) for name in close)}" if close else ""
            raise ValueError(f"unknown action {text!r}: expected, say, {names[0]!r}{hint}")
        return known[wanted]

    def check_action_id(self, action: Any) -> int:
        """``action`` as an int. Raises ``ValueError`` unless it is an integer in ``0 .. A-1``."""
        try:
            chosen = -1 if isinstance(action, bool | np.bool_) else operator.index(action)
        except TypeError:
            chosen = -1
        if not 0 <= chosen < self.num_actions:
            raise ValueError(f"action {action!r}: expected an integer from 0 to {self.num_actions - 1}")
        return chosen

    def why_refused(self, record: np.record, action: int) -> str:
        """Why the integer ``action`` cannot be taken in ``record``, where it is not legal."""
        if record.terminated:
            return "the game is over"
        if not 0 <= action < self.num_actions:
            return f"expected 0 to {self.num_actions - 1}"
        return f"{self.action_to_string(action)}: {self.why_illegal(record, action)}"

    def render_text(self, state: GameState, seat: int | None = None) -> str:
        """The table in plain text, with the hand of ``seat``, or every hand for ``None``."""
        return "".join(text for text, _ in self.render(state.record, seat))

    def deserialize_state(self, data: bytes) -> GameState:
        """The state that ``GameState.serialize`` wrote. Raises ``ValueError`` for data of another game or rule set."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise ValueError(
                f"data: {type(data).__name__}; expected the bytes that state.serialize() returned"
            )
        head, separator, body = bytes(data).partition(b"\n\n")
        if not head.startswith(_MAGIC) or not separator:
            raise ValueError(
                "not a serialised catbox state: expected the bytes that state.serialize() returned"
            )
        written = json.loads(head[len(_MAGIC) :])
        if written != self._signature():
            raise ValueError(
                f"a state of {written}, given to {self._signature()}: make the game with the same id and options"
            )
        state = GameState(self, np.zeros(1, self.state_dtype), np.zeros(1, GENERATOR), self._empty_log())
        arrays = [state.records, state.generators, state.log]
        if len(body) != sum(array.nbytes for array in arrays):
            raise ValueError(
                f"a damaged state: {len(body)} bytes after the header, expected {sum(a.nbytes for a in arrays)}"
            )
        start = 0
        for array in arrays:
            array.view(np.uint8).reshape(-1)[:] = np.frombuffer(body[start : start + array.nbytes], np.uint8)
            start += array.nbytes
        return state

    def _signature(self) -> dict[str, Any]:
        return {"id": self.id, **self.options}

    def _empty_log(self) -> np.ndarray:
        return np.zeros((self.history_length, 3), np.int8)


def _rebuild_game(cls: type[Game], rules: Any, reward: str) -> Game:
    return cls(rules=rules, reward=reward)


def _copy(records: np.ndarray) -> np.ndarray:
    """A copy to the last byte: NumPy leaves the padding between fields undefined."""
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
        # Views of the fields that every game has: reading a field of a record through NumPy takes microseconds.
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
        """What each seat (P) was paid since the beginning."""
        return self._returns.tolist()

    def info(self, player: int) -> dict[str, int]:
        """The figures of the last finished round for a seat; empty before the first round ended."""
        self._check_player(player)
        if not self.record.rounds_ended:
            return {}
        return dict(zip(self.game.info_names, self._info[:, player].tolist(), strict=True))

    def action_mask(self, player: int | None = None) -> np.ndarray:
        """The legal actions of ``player`` (``None``: the seat to move): a new int8 array (A,) of 0 and 1.

        All zeros for a seat that is not to move.
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

        Raises ``ValueError``, the state untouched, for an illegal action or when the game is over.
        """
        if self.is_terminal():
            raise ValueError(
                f"action {action!r}: the game is over; begin another with game.new_initial_state()"
            )
        action = self.game.check_action_id(action)
        if not self.action_mask()[action]:
            raise ValueError(
                f"illegal action {action} ({self.game.action_to_string(action)}) by seat {self.current_player}: "
                f"{self.game.why_illegal(self.record, action)}"
            )
        self.apply_legal(action)

    def apply_legal(self, action: int) -> None:
        """As ``apply_action``, for an action that the caller has checked against ``action_mask``."""
        self.game.loops.apply_one(self.game.params, self.generators, self.records, self.log, action)

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

    def clone(self) -> GameState:
        """A copy that plays on by itself. It holds the same cards, but draws its own future deals."""
        twin = GameState(self.game, _copy(self.records), np.zeros(1, GENERATOR), self.log.copy())
        self.game.loops.split_one(self.generators, twin.generators)
        return twin

    def __deepcopy__(self, memo: dict) -> GameState:
        return GameState(self.game, _copy(self.records), self.generators.copy(), self.log.copy())

    def __reduce__(self) -> tuple:
        return GameState, (self.game, self.records, self.generators, self.log)

    def serialize(self) -> bytes:
        """Everything as bytes, for ``game.deserialize_state``."""
        head = _MAGIC + json.dumps(self.game._signature()).encode() + b"\n\n"
        return head + self.records.tobytes() + self.generators.tobytes() + self.log.tobytes()

    def __str__(self) -> str:
        return self.game.render_text(self)

    def _check_player(self, player: Any) -> int:
        if not isinstance(player, int | np.integer) or not 0 <= player < self.game.num_players:
            raise ValueError(f"player {player!r}: expected a seat from 0 to {self.game.num_players - 1}")
        return int(player)
