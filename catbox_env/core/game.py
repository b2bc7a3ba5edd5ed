"""A game under one rule set (`Game`), one game under way (`GameState`), and many stepped at once (`Vec`).

Names follow OpenSpiel and Gymnasium where they have the same thing.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from catbox_env.core.checks import (
    as_array,
    brief,
    check_action,
    check_flag,
    check_integer,
    check_integers,
    check_seat,
    check_viewer,
    closest,
    is_array,
    is_integer,
)
from catbox_env.core.draws import Draws
from catbox_env.core.kernels import (
    HIDDEN,
    REWARDS,
    UNUSED,
    Kernels,
    copy_records,
    make_params,
    new_records,
    part_offsets,
)
from catbox_env.core.layout import Layout
from catbox_env.core.loops import Games, Loops, Outcomes, Views, make_loops
from catbox_env.core.rng import (
    ACTIONS,
    GENERATOR,
    MASK32,
    WORDS,
    WORLDS,
    child_seeds,
    new_generators,
    seed_for,
    seed_sequence,
    split_generators,
)
from catbox_env.core.sampling import make_samplers

#: The format of a serialised state; increment it when the format changes.
FORMAT = 3
#: Where the functions that show a game are, unless the game's own module has them.
DEFAULT_SHOW = "catbox_env.core.show"
MAX_THREADS = 1024
#: Random actions of a batch between two checks for Ctrl-C.
ACTIONS_AT_ONCE = 200_000
#: Illegal actions that one error message explains.
MAX_EXPLAINED = 3
#: Worlds to try after which a history counts as impossible, and the most to sample at a time.
MAX_SAMPLED, MAX_AT_ONCE = 1_000_000, 4096

_MAGIC = b"catbox-state "
#: As the seed of a `Vec`: begin no games, because ``_fill`` follows.
_UNDEALT = object()
_ROW = np.zeros(1, np.int64)


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


class Past(NamedTuple):
    """How worlds (N,) came about since the beginning of their round.

    - ``beginnings``: a `Vec` of the same worlds at the beginning of the round; ``auto_deal`` is off.
    - ``actions`` (N, T) int64: the actions since then, in order, including hidden ones; -2 after the last.
    - ``importance_weights`` (N,) float64: 0 if these actions do not lead to the world, because the history
      excludes it. Else proportional to P / Q: Q is the probability with which the world and the hidden actions were
      sampled, P that of the deal that they imply. Multiplied by the probabilities of all ``actions`` they are posterior
      weights, by Bayes' rule.
    - ``acceptance`` (N,) float64, probabilities: 0 if the weight is 0, else proportional to the number of pasts that
      lead to the world, with all cards distinct. Worlds accepted with these probabilities have uniform pasts.
    """

    beginnings: Vec
    actions: np.ndarray
    importance_weights: np.ndarray
    acceptance: np.ndarray


class Game(ABC):
    """A game under one rule set: immutable, picklable, equal to another of the same id, rules and reward.

    A new game is a subclass that declares the class attributes and sets others in ``_set_up``.

    Class attributes:
        id: name and version, a key of ``GAMES``.
        rules_class: the game's frozen dataclass of options, with ``num_players`` among them.
        kernels: the compiled functions of the game, see `core.kernels.Kernels`.
        is_perfect_information: whether every seat sees everything.
        show: the name of the module that puts the game into words: any of the functions of `core.show`, which has the
            defaults.
        agent_module: the name of the module with what agents know of the game, see `catbox_agents.features`; None: the
            one there that is named after the game, if any.

    Attributes:
        rules: the game's frozen ``Rules``.
        reward: ``"score"``, points of each round; ``"margin"``, own points minus the mean of the others';
            ``"win"``, 1 shared among the winners at the end of the game.
        num_players: the number of seats P, that of the rules.
        num_actions: the number of actions A.
        observation_layout, state_layout: the named parts of an observation (O,) and of the full state (S,); a game of
            perfect information sets only the first.
        max_game_length: the largest number of actions T in a game.
        min_utility, max_utility: bounds of a seat's return, in units of ``reward``.
        params: read-only array (1,) of a record, what compiled code knows of the rules: ``num_players``,
            ``num_actions``, ``reward_mode`` (an index into `core.kernels.REWARDS`), ``at`` and ``state_at`` (where the
            parts of the layouts begin), the rules that are numbers, and the game's own (`core.kernels.make_params`).
        draws: how deals are drawn, card by card (`core.draws`); None: every game begins the same way.
        loops: the compiled functions that play games by the kernels, see `core.loops.Loops`.
    """

    id: ClassVar[str]
    rules_class: ClassVar[type]
    kernels: ClassVar[Kernels]
    is_perfect_information: ClassVar[bool] = False
    show: ClassVar[str] = DEFAULT_SHOW
    agent_module: ClassVar[str | None] = None

    rules: Any
    num_players: int
    num_actions: int
    observation_layout: Layout
    state_layout: Layout
    max_game_length: int
    min_utility: float
    max_utility: float
    params: np.ndarray
    draws: Draws | None = None
    #: The fewest and the most points of a seat in a game.
    _score_bounds: tuple[float, float]
    #: The sum of all seats' scores at the end of every game; None: not constant.
    _score_sum: float | None = None
    #: What kernels need besides the rules that are numbers: see `core.kernels.make_params`.
    _own_params: Mapping[str, Any] = {}

    def __init__(self, *, rules: Any = None, reward: str = "score", **rule_options: Any) -> None:
        if not isinstance(reward, str) or reward not in REWARDS:
            raise ValueError(f"reward={brief(reward)}: expected one of {', '.join(map(repr, REWARDS))}")
        if rules is not None and rule_options:
            raise ValueError(
                f"rules and {', '.join(rule_options)} were both given: give either a {self.rules_class.__name__} "
                f"object or single options (to change one field: dataclasses.replace(rules, name=value))"
            )
        if rules is None:
            rules = self._make_rules(rule_options)
        elif isinstance(rules, Mapping):  # as the specification of a Gymnasium environment stores them
            rules = self._make_rules(dict(rules))
        elif not isinstance(rules, self.rules_class):
            raise ValueError(
                f"rules={brief(rules)}: {self.id} expected a {self.rules_class.__module__}."
                f"{self.rules_class.__name__}"
            )
        self.rules, self.reward, self.num_players = rules, reward, rules.num_players
        self._set_up()
        if not hasattr(self, "state_layout"):
            self.state_layout = self.observation_layout
        self.params = make_params(
            rules,
            num_players=self.num_players,
            num_actions=self.num_actions,
            reward_mode=REWARDS.index(reward),
            at=part_offsets(self.observation_layout),
            state_at=part_offsets(self.state_layout),
            **self._own_params,
        )
        worst, best = map(float, self._score_bounds)
        margin = (worst - best, best - worst)
        if self._score_sum == 0:  # the mean of the others is minus the own score / (P - 1)
            share = self.num_players / (self.num_players - 1)
            margin = (worst * share, best * share)
        bounds = {"score": (worst, best), "margin": margin, "win": (0.0, 1.0)}
        self.min_utility, self.max_utility = bounds[reward]
        self.loops: Loops = make_loops(self.kernels)
        self.__dict__["_made"] = True

    # What a game provides besides its class attributes.

    @abstractmethod
    def _set_up(self) -> None:
        """Set what follows from ``self.rules``: ``num_actions``, the layouts, ``max_game_length``, ``draws``, and
        ``_score_bounds``, ``_score_sum``, ``_own_params``."""

    def _write_deal(self, record: np.record, deal: Any) -> None:
        """Replace the random deal of a round that has just begun. Raises ``ValueError`` for an impossible deal.

        By default, every deal is rejected.
        """
        raise ValueError(f"deal={brief(deal)}: expected None, because no deal can be given to {self.id}")

    def _read_deal(self, record: np.record) -> dict[str, Any] | None:
        """The deal of a round that has just begun, as JSON-serialisable values: what `_write_deal` takes.

        None for a game without deals, which always begins the same way.
        """
        return None

    # Derived from these.

    @property
    def options(self) -> dict[str, Any]:
        """JSON-serialisable options: ``make_game(game.id, **game.options)`` is an equal game."""
        values = {field.name: getattr(self.rules, field.name) for field in fields(self.rules_class)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {**plain, "reward": self.reward}

    @property
    def num_rounds(self) -> int:
        """Rounds in a game: ``rules.num_rounds``, or 1 if the rules lack it."""
        return getattr(self.rules, "num_rounds", 1)

    @property
    def utility_sum(self) -> float | None:
        """The sum of all seats' returns at the end of every game, in units of ``reward``; None: not constant."""
        return {"score": self._score_sum, "margin": 0.0, "win": 1.0}[self.reward]

    def chance_outcomes(self, limit: int = 100_000) -> list[tuple[Any, float]]:
        """Every deal that a game can begin with: pairs (deal, probability), in a fixed order.

        Args:
            limit: the most deals to list, 1 .. 2**62.

        ``new_initial_state(deal=deal)`` begins a game with a deal; a game without deals has only the deal None. Deals
        that no seat can ever tell apart, as with cards of equal rank, count as one. In a game of several rounds these
        are the deals of the first round.

        Raises ``ValueError`` if there are more than ``limit``.
        """
        limit = check_integer("limit", limit, 1, 2**62)
        if self.draws is None:
            return [(None, 1.0)]
        count = self.draws.count()
        if count > limit:
            raise ValueError(
                f"{self.id} with {self.rules} has {count:.6g} deals, more than limit={limit:,}; take smaller rules or "
                "a larger limit"
            )
        drawn = list(self.draws.every_deal())
        total = sum(probability for _, probability in drawn)
        return [(self.draws.deal(each, True), probability / total) for each, probability in drawn]

    # States and worlds.

    def new_initial_state(self, seed: Any = None, deal: Any = None) -> GameState:
        """The initial state of a new game.

        Args:
            seed: a non-negative integer, a numpy ``SeedSequence``, or ``None`` (entropy from the operating system).
            deal: a fixed deal instead of a random one, in the game's own format. Later rounds are random.
        """
        return self._begin(new_generators([seed_sequence(seed)]), deal)

    def replay(self, deals: Sequence[Any], actions: Sequence[int], seed: Any = None) -> GameState:
        """The state to which ``actions`` lead if the rounds are dealt as ``deals`` say.

        Args:
            deals: the deal of each round that begins, as `deal_of` gives it; rounds beyond them are dealt at random.
            actions: the ids of all actions since the beginning.
            seed: of the random deals, as in ``new_initial_state``.

        Raises ``ValueError`` for an impossible deal or an illegal action.
        """
        state = self.new_initial_state(seed, deals[0] if len(deals) else None)
        later = iter(deals[1:])
        for action in actions:
            state.apply_action(action)
            if state.round_ended and not state.is_terminal() and (deal := next(later, None)) is not None:
                self._set_deal(state, deal)
        return state

    def state_as_seen(
        self, seat: int, deals: Sequence[Any], actions: Sequence[int], seed: Any = None
    ) -> GameState:
        """The position as ``seat`` knows it, in a game whose other cards are unknown, such as one on a real table.

        Args:
            seat: whose view it is.
            deals: what it sees of the deal of each round that has begun, as in ``new_initial_state``, with None for the
                hand of each other seat. In Cat Te, all but the first have the ``dealer``, who won the round before.
            actions: the ids of all actions since the beginning; -1 for one that ``seat`` did not see, such as a
                discard.
            seed: of the worlds, as in ``new_initial_state``.

        The state is a world that agrees with what ``seat`` has seen. Its ``observation(seat)``, ``action_mask(seat)``
        and ``history_observation(seat)`` are those of the true game; the cards of the others are not.

        Raises ``ValueError``, naming the action, for a sequence that the rules forbid with any cards of the others, or
        that fits none of 131,000 sampled worlds, and for a round without a deal.
        """
        module = importlib.import_module("catbox_env.core.seen")  # it imports this module
        return cast(GameState, module.state_as_seen(self, seat, deals, actions, seed))

    def deserialize_state(self, data: bytes) -> GameState:
        """The state that ``GameState.serialize`` wrote: its deals and actions, replayed by the rules.

        Raises ``ValueError`` for damaged data, for data of another game or rule set, naming the difference, and for
        deals and actions that the rules do not allow.
        """
        if not isinstance(data, bytes | bytearray | memoryview) or bytes(data[: len(_MAGIC)]) != _MAGIC:
            raise ValueError(f"data={brief(data)}: expected the bytes that state.serialize() returned")
        digest, _, body = bytes(data[len(_MAGIC) :]).partition(b"\n")
        if digest != hashlib.sha256(body).hexdigest().encode():
            raise ValueError("a serialised state: damaged (the checksum does not match); use another copy")
        try:
            found = json.loads(body)
            origin = {name: found[name] for name in ("format", "game", "options")}
            deals, actions, words = found["deals"], found["actions"], found["generator"]
            listed = isinstance(deals, list) and isinstance(actions, list) and len(words) == len(WORDS)
        except (ValueError, TypeError, KeyError, RecursionError):
            listed = False
        if not listed or not all(is_integer(word) and 0 <= word <= MASK32 for word in words):
            raise ValueError("a serialised state: not what state.serialize() returned; use another copy")
        _check_origin("a serialised state", origin, self)
        state = self.replay(deals, actions, seed=0)
        needed = [self._read_deal(records[0]) is not None for records in state._beginnings]
        if [deal is not None for deal in deals] != needed:
            raise ValueError(
                f"a serialised state: {len(deals) - deals.count(None)} deals for {sum(needed)} rounds with deals; use "
                "another copy"
            )
        for name, word in zip(WORDS, words, strict=True):
            state._generators[name] = word
        return state

    def sample_state(
        self, observation: np.ndarray, seed: Any = None, history: np.ndarray | None = None
    ) -> GameState:
        """A full state sampled uniformly from all those consistent with one observation, a determinization.

        Args:
            observation: int8 (O,), what one seat sees before the end of the game.
            seed: as in ``new_initial_state``; it also seeds the deals of later rounds. The same seed given for a deal
                and here gives independent numbers.
            history: int8 (T, 2), what that seat has seen of all actions: its ``history_observation``.

        Without ``history`` the state's ``history()`` begins empty. With it the round under way is sampled with the
        state, uniformly from all that agree with observation and history, with cards of equal rank distinct; so what
        only the order of play in this round reveals counts. ``history()`` then holds all actions since the beginning of
        this round, including hidden ones of other seats. Earlier rounds are over, and everybody has seen their cards.
        In a game of perfect information ``history()`` holds the actions of ``history``.

        Raises ``ValueError`` for a vector that no seat of this game can see or that was made after the end, and for a
        history that contradicts it, which may take a million samples to detect.
        """
        given = self._checked_observations(observation, 1)
        root = seed_for(WORLDS, seed)
        generators = new_generators([root])
        if history is None or self.is_perfect_information:
            records = self._sample(given, np.ones(1, np.int64), generators)
            log = self._empty_log()
            if history is not None:
                self._log_public_history(records, log, given[0], self._checked_histories(history)[0])
            return GameState(self, records, generators, log)
        return self._sample_with_history(given, self._checked_histories(history)[0], root)

    def sample_states(
        self, observation: np.ndarray, count: Any, seed: Any = None, num_threads: int = 1
    ) -> Vec:
        """``count`` full states ("worlds"), each sampled as by ``sample_state``, as a batch.

        Args:
            observation: int8 (O,), or (M, O): several observations.
            count: how many for each observation, at least 1; or (M,) int64, as many for each. Those of one observation
                are consecutive in the batch.
            seed: as in ``sample_state``. Of several observations, observation i gets the states that it would get
                alone with the seed ``SeedSequence(seed).spawn(M)[i]``. Or an array (M,) of generators, as
                `core.rng.new_generators` makes them: one for each observation, advanced in place.
            num_threads: threads of the returned batch.

        The batch has ``auto_deal`` off and keeps no history: each of its games begins here. Errors as in
        ``sample_state``; they name the row.
        """
        several = getattr(observation, "ndim", 1) == 2
        given = self._checked_observations(observation, 2 if several else 1)
        counts = np.full(len(given), check_integer("count", count, 1, 2**31)) if is_integer(count) else count
        if not is_array(counts, (len(given),), np.dtype(np.int64)) or (counts < 1).any():
            raise ValueError(f"count={brief(count)}: expected 1 or more, or int64 of shape ({len(given)},)")
        if not isinstance(seed, np.ndarray):
            root = seed_sequence(seed)
            roots = child_seeds(root, len(given)) if several else [root]
            seed = new_generators([seed_for(WORLDS, one) for one in roots])
        elif not is_array(seed, (len(given),), GENERATOR):
            raise ValueError(f"seed={brief(seed)}: expected a seed, or generators of shape ({len(given)},)")
        vec = Vec(self, sum(counts.tolist()), _UNDEALT, num_threads, auto_deal=False)
        generators = split_generators(seed, counts)
        vec._fill(self._sample(given, counts, generators), generators)
        return vec

    def rewind(self, worlds: Vec, histories: np.ndarray, history_of: np.ndarray | None = None) -> Past:
        """Take worlds back to the beginning of their round, with a past that agrees with what a seat has seen.

        Args:
            worlds: N worlds, sampled by ``sample_states`` from what their seats to move see.
            histories: int8 (T, 2), or (M, T, 2): the histories of these seats, as ``vec.history`` has them.
            history_of: (N,) which of the M histories each world has; None: one for all, or the i-th for world i.

        Returns the worlds at the beginning, the actions since then, and a weight for each: see `Past`. Raises
        ``ValueError`` for a game of perfect information, for arrays of the wrong shape, and for histories that do not
        belong to these worlds at this moment.
        """
        self._require_rewind()
        if not isinstance(worlds, Vec):
            raise ValueError(f"worlds={brief(worlds)}: expected a batch of games, as sample_states returns")
        check_same_game("worlds", worlds.game, self)
        seats = worlds.current_player.astype(np.int64)
        if (seats < 0).any():
            raise ValueError(f"worlds: game {int((seats < 0).argmax())} is over; it has no next seat")
        given, count = self._checked_histories(histories), worlds.num_envs
        if history_of is not None:
            of = np.ascontiguousarray(
                check_integers("history_of", history_of, (count,), 0, len(given) - 1), np.int64
            )
        elif len(given) in (1, count):
            of = np.arange(count) if len(given) == count else np.zeros(count, np.int64)
        else:
            raise ValueError(
                f"histories: {len(given)} for {count} worlds; give one for all, one for each, or history_of"
            )
        records, actions, weights, acceptance = self._rewind(
            worlds._records, worlds._generators, seats, given, of
        )
        beginnings = Vec(self, count, _UNDEALT, worlds.num_threads, auto_deal=False)
        beginnings._fill(records, worlds._generators)
        return Past(beginnings, actions, weights, acceptance)

    # Words and pictures.

    def action_to_string(self, action: int) -> str:
        """``action`` in words, such as ``"play yellow 7"``. Raises ``ValueError`` outside ``0 .. A-1``."""
        return self._shown("action_to_string")(self, check_action(action, self.num_actions))

    def string_to_action(self, text: str) -> int:
        """The action whose ``action_to_string`` is ``text``; case and extra spaces do not matter.

        Raises ``ValueError`` with the nearest known names.
        """
        if not isinstance(text, str):
            raise ValueError(f"action {brief(text)}: expected text, such as {self.action_to_string(0)!r}")
        wanted = " ".join(text.lower().split())
        names = [self.action_to_string(action) for action in range(self.num_actions)]
        known = {name.lower(): action for action, name in enumerate(names)}
        if wanted not in known:
            raise ValueError(
                f"unknown action {brief(text)}: expected a name such as {names[0]!r}{closest(text, names)}"
            )
        return known[wanted]

    def describe_actions(self) -> list[tuple[int, int, str]]:
        """Rows (first id, last id, what they do)."""
        return self._shown("describe_actions")(self)

    def describe_rules(self) -> list[str]:
        """A summary of the rules for players: a paragraph for each subject, with the numbers of this rule set."""
        return self._shown("describe_rules")(self)

    def render_text(self, state: GameState, seat: int | None = None) -> str:
        """The state as plain text, with the hand of ``seat``, every hand for None, or no hand for -1.

        Raises ``ValueError`` for a seat that the game does not have.
        """
        return "".join(text for text, _ in self._pieces(state, seat))

    def render_svg(
        self, state: GameState, seat: int | None = None, size: int = 720, theme: str = "light"
    ) -> str:
        """The state as a picture: self-contained SVG text.

        Args:
            state: a state of this game.
            seat: the viewer; the SVG contains only what that seat sees. None: everything, all hands; -1: only what
                everybody sees.
            size: width in pixels, 240 to 4096. The height follows, and is the same for all states of a game.
            theme: ``"light"`` or ``"dark"``.

        In the view of the seat to move, and in that of None, each legal action is one element with the role
        ``button``, the attribute ``data-action`` (the action's id) and an ``aria-label`` (its name). Raises
        ``ValueError`` for invalid arguments.
        """
        check_own_state("state", state, self)
        seat = check_viewer(seat, self.num_players)
        pictures = importlib.import_module("catbox_env.pictures")  # on demand: the rules do not need them
        return pictures.render_svg(state, seat, size, theme)

    def events(
        self, before: GameState, action: int, after: GameState, seat: int | None = None
    ) -> list[Event]:
        """What ``action`` did, in order: moves, tricks won and why, round ends with their scores, winners.

        Args:
            before: the state in which the action was taken; not changed.
            action: the id of the action.
            after: the state that it led to. In a game of several rounds this may be the beginning of the next round;
                the events are still those of the round that has ended.
            seat: the viewer; events contain only what it sees. None: everything; -1: only what everybody sees.

        When a round ends, its cards are revealed to everybody. Raises ``ValueError`` for states of another game, for
        an ``after`` that ``action`` does not lead to, and for a seat that the game does not have.
        """
        for name, state in (("before", before), ("after", after)):
            check_own_state(name, state, self)
        action = check_action(action, self.num_actions)
        moves = int(before.record.num_moves)
        follows = after._num_moves() == moves + 1
        if not follows or after._log[moves, :2].tolist() != [before.current_player, action]:
            raise ValueError(
                f"after: not the state that action {action} ({self.action_to_string(action)}) leads to from before; "
                "keep a copy.deepcopy of the state, apply the action, and pass both"
            )
        viewer = check_viewer(seat, self.num_players)
        return self._shown("events")(before, action, after, viewer)

    def deal_of(self, state: GameState) -> dict[str, Any] | None:
        """The deal of the round that ``state`` is in, as JSON-serialisable values for ``new_initial_state(deal=...)``.

        Of a sampled state or one from a batch: only at the beginning of a round, unless it was sampled with its
        history. None for a game without deals, which always begins the same way.
        """
        check_own_state("state", state, self)
        return self._read_deal(state._beginnings[-1][0] if state._beginnings else state.record)

    # Private.

    def _completed(self, deal: Any, random: np.random.Generator) -> Any:
        """``deal`` with random cards for each hand that is None; in a game of perfect information ``deal`` itself."""
        return deal

    def _make_rules(self, options: dict[str, Any]) -> Any:
        known = [field.name for field in fields(self.rules_class)]
        for name in options:
            if name not in known:
                registry = importlib.import_module("catbox_env.core.registry")  # it imports this module
                rules = {other: registry.game_class(other).rules_class for other in registry.GAMES}
                others = [other for other, each in rules.items() if name in each.__annotations__]
                hint = f"; it is an option of {' and '.join(others)}" if others else closest(name, known)
                raise ValueError(
                    f"unknown option {name!r} of {self.id}: expected reward, rules or one of {', '.join(known)}{hint}"
                )
        return self.rules_class(**options)

    def _begin(self, generators: np.ndarray, deal: Any = None) -> GameState:
        """Like ``new_initial_state``, with a generator (1,), advanced in place."""
        state = GameState(self, new_records(self.kernels.state), generators, self._empty_log())
        self.loops.deal_games(self.params, generators, state._records, _ROW)
        if deal is not None:
            self._write_deal(state.record, deal)
        state._beginnings, state._is_whole = [copy_records(state._records)], True
        return state

    def _set_deal(self, state: GameState, deal: Any) -> None:
        """Replace the deal of the round that has just begun in ``state``."""
        self._write_deal(state.record, deal)
        state._beginnings[-1:] = [copy_records(state._records)]

    def _empty_log(self) -> np.ndarray:
        return np.zeros((self.max_game_length, 3), np.int8)

    def _sample(self, observations: np.ndarray, counts: np.ndarray, generators: np.ndarray) -> np.ndarray:
        """``counts[i]`` consecutive worlds of each of ``observations`` (M, O), one by each of ``generators``: (N,).

        Raises ``ValueError`` for a vector that no seat can see.
        """
        layout, records = self.observation_layout, new_records(self.kernels.state, len(generators))
        seen, bounds = np.empty(layout.size, np.int8), (layout.low, layout.high)
        wrong = make_samplers(self.kernels).sample_worlds(
            self.params, observations, *bounds, counts, generators, records, seen
        )
        if wrong >= 0:
            which = f"observation {wrong}" if len(observations) > 1 else "observation"
            raise ValueError(
                f"{which}: no state of this game agrees with it; expected what a seat sees before the end, "
                "as given by state.observation(player)"
            )
        return records

    def _rewind(
        self,
        worlds: np.ndarray,
        generators: np.ndarray,
        seats: np.ndarray,
        histories: np.ndarray,
        history_of: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Copies of the records ``worlds`` (N,) at the beginning of their round, and the other fields of a `Past`.

        World i was sampled for the seat ``seats[i]``, which has the history ``histories[history_of[i]]``. Hidden
        actions are drawn by children of ``generators`` (N,). Raises ``ValueError`` for a history of another world.
        """
        count, samplers = len(worlds), make_samplers(self.kernels)
        assert samplers.rewind_worlds is not None
        records, actions = copy_records(worlds), np.empty((count, self.max_game_length), np.int64)
        weights, acceptance = np.empty(count), np.empty(count)
        drawn_by = split_generators(copy_records(generators), np.ones(count, np.int64))
        again, mask = new_records(self.kernels.state), np.empty(self.num_actions, np.bool_)
        seen = np.empty((2, self.observation_layout.size), np.int8)
        filled = (actions, weights, acceptance)
        misfit = samplers.rewind_worlds(
            self.params, drawn_by, records, seats, histories, history_of, *filled, again, seen, mask
        )
        if misfit >= 0:
            raise ValueError(
                f"histories: row {history_of[misfit]} is not a history of world {misfit}; give that of the seat that "
                "the world was sampled for, at that moment"
            )
        longest = int((actions != UNUSED).sum(axis=1).max(initial=0))
        return records, np.ascontiguousarray(actions[:, :longest]), weights, acceptance

    def _sample_with_history(
        self,
        observation: np.ndarray,
        history: np.ndarray,
        root: np.random.SeedSequence,
        seat: int | None = None,
    ) -> GameState:
        """`sample_state` of checked arrays (1, O) and (T, 2); ``seat``: the observer's, if the observation leaves it
        open."""
        self._require_rewind()
        generators, rng = new_generators([root]), np.random.default_rng(root)
        tried, at_once = 0, 1
        while tried < MAX_SAMPLED:
            drawn_by = split_generators(generators, np.array([at_once]))
            records = self._sample(observation, np.array([at_once]), drawn_by)
            observers, first = self._observers(records, observation[0]), np.zeros(at_once, np.int64)
            records, actions, _, acceptance = self._rewind(records, drawn_by, observers, history[None], first)
            keep = rng.random(at_once) < acceptance
            kept = np.flatnonzero(keep if seat is None else keep & (observers == seat))
            if len(kept):
                i = int(kept[0])
                beginning = copy_records(records[i : i + 1])
                state = GameState(self, beginning, generators, self._empty_log(), [copy_records(beginning)])
                for action in actions[i][actions[i] != UNUSED].tolist():
                    state.apply_action(action)
                return state
            tried += at_once
            at_once = min(4 * at_once, MAX_AT_ONCE)
        raise ValueError(
            f"history: none of {tried:,} samples of this round agree with it; give the observation and the history of "
            "the same seat at the same moment"
        )

    def _observers(self, records: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """The seat (N,) of each of ``records`` that sees ``observation`` (O,), the lowest if there are several."""
        rows, out = np.arange(len(records)), np.empty((len(records), len(observation)), np.int8)
        found = np.zeros(len(records), np.int64)
        for seat in reversed(range(self.num_players)):
            self.loops.write_observations(self.params, records, rows, np.full(len(rows), seat), out)
            found[(out == observation).all(axis=1)] = seat
        return found

    def _log_public_history(
        self, records: np.ndarray, log: np.ndarray, observation: np.ndarray, history: np.ndarray
    ) -> None:
        """Log the actions of ``history`` (T, 2), all of them public, in a state sampled from ``observation`` (O,)."""
        used = history[history[:, 0] != UNUSED].astype(np.int64)
        log[: len(used), 0] = (used[:, 0] + self._observers(records, observation)) % self.num_players
        log[: len(used), 1] = log[: len(used), 2] = used[:, 1]
        records["num_moves"] = len(used)

    def _checked_observations(self, given: Any, ndim: int) -> np.ndarray:
        """``given``, int8 (O,) or with ``ndim`` 2 (M, O), as a writable (M, O) copy. Raises ``ValueError`` for anything
        else."""
        size = self.observation_layout.size
        is_int8 = isinstance(given, np.ndarray) and given.dtype == np.int8 and given.ndim == ndim
        if not is_int8 or given.shape[-1] != size or len(given) < 1:
            is_found = isinstance(given, np.ndarray)
            found = f"{given.dtype} of shape {given.shape}" if is_found else type(given).__name__
            expected = f"({size},)" if ndim == 1 else f"(M, {size}), M at least 1"
            raise ValueError(
                f"observation: {found}; expected an int8 array of shape {expected}, as given by "
                "state.observation(player)"
            )
        # A copy, because a read-only array has another type, for which the code would be compiled again.
        return np.array(given, order="C").reshape(-1, size)

    def _checked_histories(self, given: Any) -> np.ndarray:
        """``given``, int8 (T, 2) or (M, T, 2), as a writable (M, T, 2) copy. Raises ``ValueError`` for other things."""
        shape, given = (self.max_game_length, 2), as_array("histories", given)
        if given.ndim == 2:
            given = given[None]
        if given.shape[1:] != shape or given.dtype != np.int8 or not len(given):
            raise ValueError(
                f"histories: {given.dtype} of shape {given.shape}; expected int8 of shape {shape} or "
                f"(M, {shape[0]}, 2)"
            )
        inside = ((given >= UNUSED) & (given < (self.num_players, self.num_actions))).all(axis=(1, 2))
        inside &= (given[..., 0] != HIDDEN).all(axis=1)  # only an action can be hidden
        if not inside.all():
            raise ValueError(
                f"histories: row {int(inside.argmin())} holds seats or actions that the game does not have"
            )
        return np.array(given, order="C")  # a copy, as above

    def _require_rewind(self) -> None:
        if self.kernels.rewind is None:
            why = "hides nothing, so there is nothing to rewind"
            if not self.is_perfect_information:
                why = "has no kernel `rewind`, so worlds cannot be sampled by histories"
            raise ValueError(f"{self.id} {why}")

    def _shown(self, name: str) -> Callable[..., Any]:
        """The function ``name`` of the module that shows this game, or its default."""
        own = getattr(importlib.import_module(self.show), name, None)
        return own or getattr(importlib.import_module(DEFAULT_SHOW), name)

    def _pieces(self, state: GameState, seat: int | None) -> list[tuple[str, str]]:
        """The state as (text, rich style) pieces."""
        check_own_state("state", state, self)
        viewer = check_viewer(seat, self.num_players)
        return self._shown("pieces")(self, state.record, viewer)

    def _why_illegal(self, record: np.record, action: int) -> str:
        """Why the illegal ``action``, any integer, cannot be taken in ``record``."""
        if record.terminated:
            return "the game is over"
        if not 0 <= action < self.num_actions:
            return f"expected 0 to {self.num_actions - 1}"
        return f"{self.action_to_string(action)}: {self._shown('why_illegal')(self, record, action)}"

    def __setattr__(self, name: str, value: Any) -> None:
        if "_made" in self.__dict__:
            raise AttributeError(f"{name} of a game cannot be changed: make another game")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.id == other.id and self.options == other.options

    def __hash__(self) -> int:
        return hash((self.id, self.rules, self.reward))

    def __repr__(self) -> str:
        return f"make_game({self.id!r}, rules={self.rules!r}, reward={self.reward!r})"

    def __deepcopy__(self, memo: dict) -> Self:
        return self

    def __reduce__(self) -> tuple:
        return _rebuild_game, (type(self), self.rules, self.reward)


def _rebuild_game(cls: type[Game], rules: Any, reward: str) -> Game:
    return cls(rules=rules, reward=reward)


class GameState:
    """One game under way. It changes in place with ``apply_action``; ``clone`` makes a copy.

    ``copy.deepcopy`` and ``pickle`` copy everything, the generator of future deals included.

    Attributes: ``game``; ``record``: the game's structured record, which holds hidden cards too.
    """

    def __init__(
        self,
        game: Game,
        records: np.ndarray,
        generators: np.ndarray,
        log: np.ndarray,
        beginnings: Sequence[np.ndarray] = (),
        is_whole: bool = False,
    ) -> None:
        """Made by a game. ``records`` (1,); ``generators`` (1,); ``log`` (T, 3); ``beginnings``: the record (1,) at the
        beginning of each round, since that of the game if ``is_whole``."""
        self.game = game
        self._records, self._generators, self._log = records, generators, log
        self._beginnings, self._is_whole = list(beginnings), is_whole
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

        In a round of Cat in the Box or Cat Te, two states have the same exactly if the seat has seen and done the same
        in both (perfect recall). Not included: the cards of earlier rounds, which everybody saw when they ended, and
        which of the closed cells of Petrify each player began on.
        """
        return np.concatenate([self.observation(player), self.history_observation(player).reshape(-1)])

    def clone(self) -> GameState:
        """An independent copy with the same cards, which draws its own future deals.

        The next clone draws others: the state counts its clones.
        """
        generators = new_records(GENERATOR)
        self.game.loops.split_generator(self._generators, generators)
        return self._copy(generators)

    def serialize(self) -> bytes:
        """The game as bytes, for ``game.deserialize_state``: the deal of every round, the actions, future deals.

        Raises ``ValueError`` for a state that was sampled or taken from a batch: its deals are not known. Copy or
        pickle such a state.
        """
        if not self._is_whole:
            raise ValueError(
                "serialize: this state was sampled or taken from a batch, so the deals that led to it are not known; "
                "use pickle or copy.deepcopy"
            )
        game = self.game
        content = {
            **_origin(game),
            "deals": [game._read_deal(records[0]) for records in self._beginnings],
            "actions": self.history(),
            "generator": [int(self._generators[0][name]) for name in WORDS],
        }
        body = json.dumps(content).encode()
        return _MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    def _apply(self, action: Any, mask: np.ndarray) -> None:
        """Like ``apply_action``; also writes the legal actions of the next seat to move into ``mask`` (A,) int8."""
        game = self.game
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
                f"{game._shown('why_illegal')(game, self.record, action)}"
            )
        if self._round_ended[0] and self._beginnings and not self._terminated[0]:
            self._beginnings.append(copy_records(self._records))

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
        return GameState(self.game, records, generators, log, self._beginnings, self._is_whole)

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
            self._beginnings,
            self._is_whole,
        )

    def __str__(self) -> str:
        return self.game.render_text(self)

    def __repr__(self) -> str:
        """The game's id and the first line of its text, which shows only public information."""
        return f"<GameState of {self.game.id}: {self.game.render_text(self, 0).splitlines()[0]}>"

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        return self.game.render_svg(self)


class Vec:
    """N games side by side. Every array below is allocated once and rewritten in place by ``reset`` and ``step``.

    Attributes:
        observation: (N, O) int8, what the seat to move sees.
        action_mask: (N, A) bool, its legal actions.
        current_player: (N,) int8, the seat to move.
        rewards: (N, P) float32, the reward of each seat for the last step.
        terminated: (N,) bool, whether the last step ended the game; with ``auto_deal`` a new one has been dealt.
        win_shares: (N, P) float32, each seat's share of the win; read the rows of ``terminated``.
        round_ended: (N,) bool, whether the last step ended a round.
        info: name -> (N, P) int32, the statistics of the last finished round; read the rows of ``round_ended``.
        history: (N, T, 2) int8, the history as the seat to move saw it; only with ``history=True``.
        state: (N, S) int8, everything, seats relative to the seat to move; only with ``state=True``.
        game, num_envs, num_threads, auto_deal: as given.

    Game i of ``reset(seed)`` is the game that ``new_initial_state(SeedSequence(seed).spawn(N)[i])`` begins; when it
    is over the next one comes from the same generator.

    ``copy.deepcopy`` and ``pickle`` give an exact, independent copy. A batch belongs to one thread at a time. After
    Ctrl-C, or any other exception but ``ValueError``, call ``reset``: the games may be anywhere.

    Args:
        game: the game to play.
        num_envs: how many games, at least 1.
        seed: as in ``reset``.
        num_threads: threads that share the games of one call, 1 .. 1024. The result does not depend on it.
        history, state: whether to keep these arrays.
        auto_deal: whether a game that ends is dealt anew in the same step. Without it the game stays at its end,
            ``current_player`` -1 and the mask empty, seen by seat 0, until ``deal``.

    Raises ``ValueError`` for an invalid argument.
    """

    info: dict[str, np.ndarray]

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seed: Any = None,
        num_threads: int = 1,
        history: bool = False,
        state: bool = False,
        auto_deal: bool = True,
    ) -> None:
        check_game_object(game)
        self.game, self.num_envs = game, check_integer("num_envs", num_envs, 1)
        self.num_threads = min(check_integer("num_threads", num_threads, 1, MAX_THREADS), self.num_envs)
        self.auto_deal = check_flag("auto_deal", auto_deal)
        self._keeps_history = check_flag("history", history)
        n, players, actions = self.num_envs, game.num_players, game.num_actions
        length = game.max_game_length if history else 0
        whole = game.state_layout.size if check_flag("state", state) else 0
        try:
            self.observation = np.zeros((n, game.observation_layout.size), np.int8)
            self.action_mask = np.zeros((n, actions), np.bool_)
            self.current_player = np.zeros(n, np.int8)
            self.rewards = np.zeros((n, players), np.float32)
            self.terminated = np.zeros(n, np.bool_)
            self.round_ended = np.zeros(n, np.bool_)
            self.win_shares = np.zeros((n, players), np.float32)
            # The records, as bytes, which NumPy copies exactly.
            self._bytes = np.zeros((n, game.kernels.state.itemsize), np.uint8)
            self._generators = np.zeros(n, GENERATOR)
            self._logs = np.zeros((n, length, 3), np.int8)
            self._histories = np.zeros((n, length, 2), np.int8)
            self._state_vectors = np.zeros((n, whole), np.int8)
            # What actions are checked against, because a caller may write into action_mask.
            self._legal = np.zeros((n, actions), np.bool_)
            self._all, self._actions, self._bad = np.arange(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
        except (MemoryError, ValueError, OverflowError) as error:
            raise ValueError(f"num_envs={n}: expected fewer games, which fit in memory ({error})") from error
        self._seeded = False  # whether the generators have been given a seed
        self._bind()
        if seed is not _UNDEALT:
            self.reset(seed)

    @property
    def history(self) -> np.ndarray:
        """(N, T, 2) int8: the history as the seat to move saw it."""
        if not self._keeps_history:
            raise ValueError("history is not kept: make the batch with history=True")
        return self._histories

    @property
    def state(self) -> np.ndarray:
        """(N, S) int8: everything, seats relative to the seat to move."""
        if self._state_vectors.shape[1] == 0:
            raise ValueError("state is not kept: make the batch with state=True")
        return self._state_vectors

    def reset(self, seed: Any = None) -> None:
        """Deal a new game in every row.

        Args:
            seed: a non-negative integer or a numpy ``SeedSequence``, of which game i gets the i-th child; ``None``
                continues with the current generators (at first: entropy from the operating system); or a list or tuple
                of N of these, one for each game.
        """
        several = isinstance(seed, list | tuple)
        if several and len(seed) != self.num_envs:
            raise ValueError(f"seed={brief(seed)}: expected one seed for each of {self.num_envs} games")
        if not self._seeded or not (several or seed is None):
            root = seed_sequence(None if several else seed)
            self._generators[:] = new_generators(child_seeds(root, self.num_envs))
            self._seeded = True
        if several:
            self._seed_rows(self._all, seed)
        self._deal(self._all)

    def deal(self, rows: np.ndarray, seeds: Sequence[Any] | None = None) -> None:
        """Deal new games in ``rows`` (M,), distinct indices; the other games stay as they are.

        ``seeds``: a list or tuple, one for each row, each a non-negative integer or a numpy ``SeedSequence``; ``None``
        continues with the row's generator. Raises ``ValueError`` for invalid rows or seeds, changing nothing.
        """
        rows = self._checked_rows(rows)
        if seeds is not None:
            if not isinstance(seeds, list | tuple) or len(seeds) != len(rows):
                raise ValueError(
                    f"seeds={brief(seeds)}: expected a list, one seed for each of {len(rows)} rows"
                )
            self._seed_rows(rows, seeds)
        self._deal(rows)

    def step(self, actions: np.ndarray, rows: np.ndarray | None = None) -> None:
        """Take one action in every game, or in some.

        Args:
            actions: (N,) integers, one for the seat to move of each game; (M,) when ``rows`` are given.
            rows: (M,) distinct indices of the games that move; the others stay as they are, with zero rewards.

        Raises ``ValueError`` for a wrong shape or dtype or any illegal action, naming the rows; no game has moved then.
        """
        rows = self._all if rows is None else self._checked_rows(rows)
        given = as_array("actions", actions)
        if given.shape != rows.shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions: {given.dtype} of shape {given.shape}; expected integers of shape {rows.shape}"
            )
        own = self._actions[: len(rows)]
        np.copyto(own, given, casting="unsafe")
        count = self.game.loops.check_actions(self._legal, rows, own, self._bad)
        if count:
            explained = "; ".join(
                f"row {rows[k]}: action {given[k]} of seat {self.current_player[rows[k]]}: "
                + self.game._why_illegal(self._records[rows[k]], int(given[k]))
                for k in self._bad[: min(count, MAX_EXPLAINED)]
            )
            more = f"; and {count - MAX_EXPLAINED} more" if count > MAX_EXPLAINED else ""
            raise ValueError(
                f"illegal actions in {count} of {len(rows)} games ({explained}{more}); no game has moved: choose "
                f"where action_mask is True"
            )
        if rows is not self._all:
            self._clear_outcomes(self._all)
        self._run(self._step, rows, own)

    def step_random(self, num_steps: int, seed: Any = None) -> None:
        """Take ``num_steps`` uniformly random legal actions in every game, in compiled code.

        Every array is written after every action, as ``num_steps`` calls of ``step`` would. ``seed`` seeds the actions
        and is independent of the same seed in ``reset``; the deals come from the games' own generators. Raises
        ``ValueError`` without ``auto_deal``, and unless ``num_steps`` is an integer from 0 to 2**63 - 1.
        """
        left = check_integer("num_steps", num_steps, 0, 2**63 - 1)
        if not self.auto_deal:
            raise ValueError("step_random needs auto_deal=True, because it plays on when a game ends")
        generators = new_generators(child_seeds(seed_for(ACTIONS, seed), self.num_envs))
        while left > 0:
            steps = min(left, max(1, ACTIONS_AT_ONCE // self.num_envs))

            def play(rows: np.ndarray, actions: np.ndarray, steps: int = steps) -> None:
                self.game.loops.step_games_at_random(
                    self._games, rows, actions, steps, generators, self._outcomes, self._views
                )

            self._run(play, self._all, self._actions)
            left -= steps

    def play_compiled(self, play: Callable[..., None], rows: np.ndarray) -> None:
        """Call ``play(games, rows, outcomes, views)``, which moves games in compiled code as `core.loops` does.

        ``rows`` (M,): the games to move; each thread gets a part of them. Nothing that ``play`` does is checked. The
        outcomes of the other rows are zero afterwards. Raises ``ValueError`` for invalid rows.
        """
        rows = self._checked_rows(rows)
        self._clear_outcomes(self._all)
        self._run(lambda some: play(self._games, some, self._outcomes, self._views), rows)

    def observe(self, seats: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """What any seat sees, whether or not it is to move: a new (M, O) int8 array.

        ``seats`` (M,): the observing seat of each of ``rows`` (M,), all games by default. Raises ``ValueError`` for
        seats that do not exist.
        """
        rows = self._all if rows is None else self._existing_rows(rows)
        seats = check_integers("seats", seats, rows.shape, 0, self.game.num_players - 1)
        out = np.empty((len(rows), self.game.observation_layout.size), np.int8)
        self.game.loops.write_observations(self.game.params, self._records, rows, seats.astype(np.int64), out)
        return out

    def public_actions(self, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """What the other seats would see of ``actions`` (M,), legal in the games ``rows`` (M,): a new (M,) int64 array.

        The action itself, or -1 where it is hidden. Raises ``ValueError`` for actions or rows that do not exist.
        """
        rows = self._existing_rows(rows)
        given = check_integers("actions", actions, rows.shape, 0, self.game.num_actions - 1)
        out = np.empty(len(rows), np.int64)
        self.game.loops.public_actions(self.game.params, self._records, rows, given.astype(np.int64), out)
        return out

    def set_states(
        self, states: GameState | Sequence[GameState] | Vec, rows: np.ndarray | None = None
    ) -> None:
        """Put the given states into ``rows`` (M,), all games by default; the others stay as they are.

        Args:
            states: one for each row, as a sequence or as a batch of M games, or one for all rows.
            rows: distinct indices of games.

        Each row continues exactly as its state would, with the same future deals; the states are copied. ``rewards``
        are 0 there until the next step. Raises ``ValueError``, changing nothing, for states of another game or rule
        set, for a wrong number of them, and with ``auto_deal`` for a finished game.
        """
        rows = self._all if rows is None else self._checked_rows(rows)
        if isinstance(states, Vec):
            games, count = {states.game}, states.num_envs
            records, generators = states._records, states._generators
        else:
            given = [states] * len(rows) if isinstance(states, GameState) else states
            listed = isinstance(given, Sequence) and all(isinstance(state, GameState) for state in given)
            games, count = {state.game for state in given} if listed else set(), len(given) if listed else -1
        if count != len(rows):
            raise ValueError(
                f"states={brief(states)}: expected one state, {len(rows)} states, one for each row, or a batch of them"
            )
        for game in games:
            check_same_game("states", game, self.game)
        if not isinstance(states, Vec):
            records = np.array([state._records for state in given], self._records.dtype).reshape(-1)
            generators = np.array([state._generators for state in given], GENERATOR).reshape(-1)
        self._check_running("states", records)
        if self._keeps_history:
            logs = states._logs if isinstance(states, Vec) else [state._log for state in given]
            if any(len(log) < moves for log, moves in zip(logs, records["num_moves"].tolist(), strict=True)):
                raise ValueError(
                    "states: the given games keep no history; take them from a batch with history=True"
                )
            for row, log in zip(rows.tolist(), logs, strict=True):
                self._logs[row, : len(log)] = log
        self._records[rows], self._generators[rows] = records, generators
        self._seeded = True
        self._show_new(rows)

    def get_state(self, row: int) -> GameState:
        """A copy of the game ``row`` as a state, with the same future deals. Raises ``ValueError`` for a wrong row."""
        row = check_integer("row", row, 0, self.num_envs - 1)
        one = slice(row, row + 1)
        records, generators = copy_records(self._records[one]), copy_records(self._generators[one])
        return GameState(self.game, records, generators, self._logs[row].copy())

    def take(self, rows: np.ndarray) -> Vec:
        """Copies of the games ``rows`` (M,), M at least 1, as a new batch; a game listed twice is copied twice.

        Each copy continues exactly as its game would, with the same future deals. ``rewards`` are 0 until the next
        step. The new batch has the options of this one: threads, history, state and ``auto_deal``. Raises
        ``ValueError`` for rows that do not exist.
        """
        rows = self._existing_rows(rows)
        history, state = self._keeps_history, self._state_vectors.shape[1] > 0
        copies = Vec(self.game, len(rows), _UNDEALT, self.num_threads, history, state, self.auto_deal)
        np.take(self._bytes, rows, 0, copies._bytes, "clip")
        copies._logs[:], copies.win_shares[:] = self._logs[rows], self.win_shares[rows]
        copies._fill(None, self._generators[rows])
        return copies

    def _bind(self) -> None:
        """Make what refers to the arrays: the records, ``info``, and the arrays as the loops take them."""
        self._records = self._bytes.view(self.game.kernels.state)[:, 0]
        statistics = self._records["info"][:, :, : self.game.num_players]
        statistics.setflags(write=False)  # a part of the records
        self.info = {name: statistics[:, i] for i, name in enumerate(self.game.kernels.info_names)}
        self._games = tuple(Games(self.game.params, self._generators, self._records, self._logs))
        self._outcomes = tuple(Outcomes(self.rewards, self.terminated, self.round_ended, self.win_shares))
        masks = (self._legal, self.action_mask)
        kept = (self._state_vectors, self._histories)
        self._views = tuple(Views(self.observation, *masks, self.current_player, *kept))
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def __getstate__(self) -> dict[str, Any]:
        made = ("_records", "info", "_games", "_outcomes", "_views", "_pool", "_process")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        self._bind()

    def _fill(self, records: np.ndarray | None, generators: np.ndarray) -> None:
        """Put games (N,) into all rows; ``records`` None: they are there already."""
        if records is not None:
            self._bytes[:] = records.view(np.uint8).reshape(self._bytes.shape)
        self._generators[:] = generators
        self._seeded = True
        self._show_new(self._all)

    def _seed_rows(self, rows: np.ndarray, seeds: Sequence[Any]) -> None:
        """Give ``rows`` (M,) new generators; a row whose seed is None keeps its own."""
        given = [k for k, seed in enumerate(seeds) if seed is not None]
        self._generators[rows[given]] = new_generators([seed_sequence(seeds[k]) for k in given])

    def _deal(self, rows: np.ndarray) -> None:
        self.game.loops.deal_games(self.game.params, self._generators, self._records, rows)
        self._show_new(rows)

    def _show_new(self, rows: np.ndarray) -> None:
        """Clear the outcomes of ``rows``, which hold new games, and write what their seats to move see."""
        self._clear_outcomes(rows)
        self._run(lambda some: self.game.loops.view_games(self._games, some, self._views), rows)

    def _step(self, rows: np.ndarray, actions: np.ndarray) -> None:
        self.game.loops.step_games(self._games, rows, actions, self.auto_deal, self._outcomes, self._views)

    def _run(self, work: Callable[..., None], *arrays: np.ndarray) -> None:
        """Call ``work(*arrays)``, with the arrays split into a slice for each thread; wait for all of them."""
        if self.num_threads == 1:
            work(*arrays)
            return
        if self._pool is None or self._process != os.getpid():  # a forked process has none of the threads
            self._pool = ThreadPoolExecutor(self.num_threads, thread_name_prefix="catbox")
            self._process = os.getpid()
        pool = self._pool
        try:
            slices = zip(*(np.array_split(array, self.num_threads) for array in arrays), strict=True)
            for future in [pool.submit(work, *some) for some in slices]:
                future.result()
        except BaseException:
            pool.shutdown()  # also waits for a thread whose future is not known, because Ctrl-C came meanwhile
            self._pool = None
            raise

    def _clear_outcomes(self, rows: np.ndarray) -> None:
        where = slice(None) if rows is self._all else rows  # much faster than an array of all indices
        for array in (self.rewards, self.terminated, self.round_ended):
            array[where] = 0

    def _check_running(self, what: str, records: np.ndarray) -> None:
        over = records["terminated"] != 0
        if self.auto_deal and over.any():
            raise ValueError(
                f"{what}: game {int(over.argmax())} is over; a batch with auto_deal=True cannot hold finished games, "
                f"make it with auto_deal=False"
            )

    def _existing_rows(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(check_integers("rows", rows, (None,), 0, self.num_envs - 1), np.intp)

    def _checked_rows(self, rows: np.ndarray) -> np.ndarray:
        given = self._existing_rows(rows)
        if np.bincount(given, minlength=1).max() > 1:
            raise ValueError(f"rows={brief(rows)}: a row is given twice; list each row at most once")
        return given


def check_game_object(value: Any) -> Any:
    """``value`` itself. Raises ``ValueError`` unless it is a game."""
    if not isinstance(value, Game):
        raise ValueError(f"game={brief(value)}: expected a game, as make_game returns")
    return value


def _origin(game: Game) -> dict[str, Any]:
    return {"format": FORMAT, "game": game.id, "options": game.options}


def check_own_state(what: str, state: Any, game: Game) -> None:
    """Raise ``ValueError`` unless ``state`` is a state of ``game``."""
    if not isinstance(state, GameState):
        raise ValueError(f"{what}={brief(state)}: expected a state, as new_initial_state returns")
    check_same_game(what, state.game, game)


def check_same_game(what: str, given: Game, own: Game) -> None:
    """Raise ``ValueError``, naming the difference, unless the two games are equal."""
    if given is not own and given != own:
        _check_origin(what, _origin(given), own)


def _check_origin(what: str, found: dict[str, Any], game: Game) -> None:
    """Raise ``ValueError``, naming the difference, unless ``found``, as `_origin` makes it, is that of ``game``."""
    if found["format"] != FORMAT:
        raise ValueError(
            f"{what}: format {brief(found['format'])}, expected {FORMAT}; read it with the version of catbox that "
            "wrote it"
        )
    if found["game"] != game.id:
        raise ValueError(f"{what}: a game of {brief(found['game'])}, expected {game.id!r}; make that game")
    given = found["options"] if isinstance(found["options"], dict) else {}
    differing = [
        f"{name}={brief(given.get(name))}, expected {game.options.get(name)!r}"
        for name in sorted({*given, *game.options})
        if given.get(name) != game.options.get(name)
    ]
    if differing:
        raise ValueError(
            f"{what}: other rules or reward ({', '.join(differing)}); make the game with the same options"
        )
