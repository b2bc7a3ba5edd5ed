"""A game under one rule set, for search and analysis. Names follow OpenSpiel where it has the same thing."""

from __future__ import annotations

import difflib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from catbox_env.core.binding import bind
from catbox_env.core.checks import (
    check_action,
    check_flag,
    check_integer,
    check_seat,
    is_array,
    shown,
)
from catbox_env.core.draws import Draws
from catbox_env.core.events import Event, check_step
from catbox_env.core.kernels import REWARDS, Kernels
from catbox_env.core.layout import Layout
from catbox_env.core.past import Past, rewind, sample_past
from catbox_env.core.picture import Sheet
from catbox_env.core.rng import GENERATOR, new_generators, seed_sequence
from catbox_env.core.sampling import checked_observations, fill_with_worlds, sample_worlds
from catbox_env.core.saved import check_same_game, header_of
from catbox_env.core.state import GameState, read_state

if TYPE_CHECKING:
    from catbox_env.core.batch import Vec
    from catbox_env.core.features import Features

__all__ = ["Game", "GameState"]

_ONLY = np.zeros(1, np.int64)


class Game(ABC):
    """A game under one rule set: immutable, picklable, equal to another of the same id, rules and reward.

    Attributes:
        id: name and version, a key of ``GAMES``.
        rules: the game's frozen ``Rules``.
        reward: ``"score"``, points of each round; ``"margin"``, own points minus the mean of the others';
            ``"win"``, 1 shared among the winners at the end of the game.
        num_players, num_actions: sizes P and A.
        observation_layout, state_layout: the named parts of an observation (O,) and of the full state (S,).
        history_length: the largest number of actions T in a game.
        min_utility, max_utility: bounds of a seat's return, in units of ``reward``.
        info_names: names of the statistics that every seat gets when a round ends.
        info_values: the statistics whose single values are counted in evaluations, such as bids: name -> values.
        lenient_options: options that do not change how an agent has to play, such as who begins and how many rounds
            there are: an agent made for other values may play, if the observation has the same parts.
        synonyms: values of an option that stand for the same rules: option -> these values.
        chance_names: those of its `statistics` that are 0 or 1 for a seat and that matter to a player: hints say how
            likely they are. Rules may leave some out.
        params: array (1,) of the game's parameter record.
        state_bounds: the lowest and highest value of each of the game's own fields of a state, for all elements of the
            field, those that these rules do not use too: name -> (low, high). A state from outside is refused unless it
            is within them.
        draws: how deals are drawn, card by card (`core.draws`); None: every game begins alike.
        score_sum: what the scores of all seats sum to at the end of every game; None: not the same.
        features: what the game computes from an observation for a network; None: nothing.
    """

    id: ClassVar[str]
    kernels: ClassVar[Kernels]
    rules_class: ClassVar[type]
    state_dtype: ClassVar[np.dtype]
    info_names: ClassVar[tuple[str, ...]]
    lenient_options: ClassVar[tuple[str, ...]] = ()
    synonyms: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    chance_names: ClassVar[tuple[str, ...]] = ()

    rules: Any
    num_players: int
    num_actions: int
    observation_layout: Layout
    state_layout: Layout
    history_length: int
    min_utility: float
    max_utility: float
    info_values: dict[str, tuple[int, ...]]
    params: np.ndarray
    state_bounds: Mapping[str, tuple[int, int]]
    features: Features | None = None
    draws: Draws | None = None
    score_sum: float | None = None

    def __init__(self, *, rules: Any = None, reward: str = "score", **rule_options: Any) -> None:
        if not isinstance(reward, str) or reward not in REWARDS:
            raise ValueError(f"reward={shown(reward)}: expected one of {', '.join(map(repr, REWARDS))}")
        if rules is not None and rule_options:
            raise ValueError(
                f"rules and {', '.join(rule_options)} were both given: give either a {self.rules_class.__name__} "
                f"object or single options (to change one field: dataclasses.replace(rules, name=value))"
            )
        if rules is None:
            rules = self._make_rules(rule_options)
        elif not isinstance(rules, self.rules_class):
            raise ValueError(
                f"rules={shown(rules)}: {self.id} expected a {self.rules_class.__module__}."
                f"{self.rules_class.__name__}"
            )
        else:
            rules = replace(rules)  # type: ignore[type-var]  # checked again, because unpickling does not check
        self.reward = reward
        self.rules = rules
        self.info_values, self.state_bounds = {}, {}
        self.set_up()
        self.params.setflags(write=False)
        self.loops = bind(self.kernels)
        self.__dict__["_made"] = True

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
        """Replace the random deal by the given one. Raises ``ValueError`` for a deal that is not possible."""

    def deal_of(self, state: np.record) -> dict[str, Any] | None:
        """The deal of a round that has just begun, as JSON-able values: what `set_deal` takes.

        None for a game without deals, which begins alike every time.
        """
        return None

    @abstractmethod
    def describe_actions(self) -> list[tuple[int, int, str]]:
        """Rows (first id, last id, what they do), for documentation."""

    @abstractmethod
    def describe_rules(self) -> list[str]:
        """The rules in short, for a player: a paragraph for each subject, with the numbers of this rule set."""

    @abstractmethod
    def draw_text(self, state: np.record, seat: int | None) -> list[tuple[str, str]]:
        """What `render` returns; ``seat`` is None or a seat of the game.

        The first line says in short where the game is, and nothing hidden: ``repr(state)`` shows it.
        """

    @abstractmethod
    def tell_events(self, before: GameState, action: int, after: GameState, seat: int | None) -> list[Event]:
        """What `events` returns; the arguments have been checked."""

    @abstractmethod
    def draw_picture(self, state: GameState, seat: int | None, sheet: Sheet) -> str:
        """What `render_svg` returns: panels on ``sheet``; ``seat`` is None or a seat of the game."""

    @abstractmethod
    def statistics(self, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Statistics for training and evaluation, each (n, P) float64, computed from ``info`` arrays (n, P)."""

    def deals_before(self, state: np.record, actions: Sequence[int]) -> Iterator[Any]:
        """The deals from which ``actions`` may lead to ``state``, for a game that hides nothing; deals that do not are
        sorted out. None stands for the beginning of a game without deals."""
        yield None

    # What follows for every game.

    @property
    def options(self) -> dict[str, Any]:
        """JSON-able options: ``make_game(game.id, **game.options)`` is an equal game."""
        values = {field.name: getattr(self.rules, field.name) for field in fields(self.rules_class)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {**plain, "reward": self.reward}

    @cached_property
    def _header(self) -> bytes:
        """The header of saved states of this game."""
        return header_of(self)

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse_change(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_change(name)
        super().__delattr__(name)

    def _refuse_change(self, name: str) -> None:
        if "_made" in self.__dict__:
            raise AttributeError(f"{name} of a game cannot be changed: make another game")

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
            deal: a given deal instead of a random one, in the game's own format. Later rounds are random.
        """
        generators = new_generators([seed_sequence(seed)])
        return self.initial_state_from(generators, deal)

    def initial_state_from(self, generators: np.ndarray, deal: Any = None) -> GameState:
        """As ``new_initial_state``, with a generator instead of a seed: array (1,), advanced in place.

        Raises ``ValueError`` for anything else.
        """
        if not is_array(generators, (1,), GENERATOR):
            raise ValueError(
                f"generators={shown(generators)}: expected the attribute `generators` of a GameState"
            )
        state = GameState(self, np.zeros(1, self.state_dtype), generators, self.empty_log())
        self.loops.deal_games(self.params, generators, state.records, _ONLY)
        if deal is not None:
            self.set_deal(state.record, deal)
        return state

    @property
    def num_rounds(self) -> int:
        """Rounds in a game: ``rules.num_rounds``, 1 where there is none."""
        return getattr(self.rules, "num_rounds", 1)

    @property
    def utility_sum(self) -> float | None:
        """What the returns of all seats sum to at the end of every game, in units of ``reward``; None: not the same."""
        return {"score": self.score_sum, "margin": 0.0, "win": 1.0}[self.reward]

    def chance_outcomes(self, limit: int = 100_000) -> list[tuple[Any, float]]:
        """Every deal that a game can begin with: pairs (deal, probability), in a fixed order.

        Args:
            limit: the most deals to list, 1 .. 2**62.

        ``new_initial_state(deal=deal)`` begins a game with a deal; a game without deals has the deal None alone. Deals
        that no seat can ever tell apart are one: cards of equal rank are alike. Of a game of several rounds these are
        the deals of the first round.

        Raises ``ValueError`` where there are more than ``limit``.
        """
        limit = check_integer("limit", limit, 1, 2**62)
        if self.draws is None:
            return [(None, 1.0)]
        drawn = list(itertools.islice(self.draws.every_deal(), limit + 1))
        if len(drawn) > limit:
            raise ValueError(
                f"{self.id} with {self.rules} has more than limit={limit:,} deals; take smaller rules or a larger limit"
            )
        total = sum(probability for _, probability in drawn)
        return [(self.draws.deal(each, True), probability / total) for each, probability in drawn]

    def draw_outcomes(self, drawn: Sequence[int] = (), first_round: bool = True) -> list[tuple[int, float]]:
        """What the next draw of a deal can be, such as a card: pairs (draw, probability), ascending.

        Args:
            drawn: the draws of this deal so far.
            first_round: whether the first round of a game is dealt.

        Empty when the deal is complete; ``game.draws.deal(drawn, first_round)`` is that deal, and
        ``game.draws.to_string(drawn, draw, first_round)`` names a draw. A deal that is complete may not be possible
        (``draws.is_possible``); then all is drawn again. Where there are at most 10,000 deals, no draw leads to those.

        Raises ``ValueError`` for draws that no deal begins with.
        """
        if self.draws is None:
            return []
        first_round = check_flag("first_round", first_round)
        return self.draws.outcomes(self.draws.check_drawn(drawn, first_round), first_round)

    def sample_state(
        self,
        observation: np.ndarray,
        seed: Any = None,
        history: np.ndarray | None = None,
        beginnings: np.ndarray | None = None,
    ) -> GameState:
        """A full state drawn uniformly from all those consistent with one observation.

        Args:
            observation: int8 (O,), what one seat sees before the end of the game.
            seed: as in ``new_initial_state``; the deals of later rounds are drawn from it as well.
            history: int8 (T, 2), what that seat has seen of all actions: its ``history_observation``.
            beginnings: int8 (K, O), what it saw at the beginning of each round, the first ones first; None: what it saw
                only then, such as a card of an earlier round that it did not play, is drawn too. Needs ``history``.

        Without ``history`` the ``history()`` of the state begins empty. With it the state has a past: its ``history()``
        holds all actions since the beginning of the game, those of other seats that were hidden too, and its returns
        those of the earlier rounds. Then the state is drawn with its past, uniformly from all that agree with
        observation and history, cards of equal rank told apart: so what only the history tells counts, such as the
        order of play.

        A game may need a search to find out what an observation tells; if that search is limited, the game's rules
        page says how often it stops early. Raises ``ValueError`` for a vector that no seat of this game can see, or
        that was made after the end; for a history that does not go with it, which is known after a million draws.
        """
        if history is not None:
            checked = checked_observations(self, observation, 1)
            return sample_past(self, checked, seed, history, beginnings)[0]
        if beginnings is not None:
            raise ValueError("beginnings were given without the history of the same seat; give both")
        generators = new_generators([seed_sequence(seed)])
        records = np.zeros(1, self.state_dtype)
        fill_with_worlds(
            self, checked_observations(self, observation, 1), np.ones(1, np.int64), generators, records
        )
        return GameState(self, records, generators, self.empty_log())

    def sample_states(self, observation: np.ndarray, count: int, seed: Any = None) -> Vec:
        """``count`` full states, each drawn as ``sample_state`` draws one, as a batch.

        Args:
            observation: int8 (O,), or (M, O): many observations, each of which gets ``count`` states of its own. Game
                ``i * count + k`` of the batch is then the k-th state of observation i.
            count: how many, at least 1.
            seed: as in ``sample_state``. Observation i of many gets the states that it would get alone with the seed
                ``SeedSequence(seed).spawn(M)[i]``.

        The batch has ``auto_deal`` off and keeps no history: each of its games begins here. Errors as in
        ``sample_state``.
        """
        count = check_integer("count", count, 1, 2**63 - 1)
        root = seed_sequence(seed)
        if np.ndim(observation) == 2:
            observations = checked_observations(self, observation, 2)
            children = [
                np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, i), pool_size=root.pool_size)
                for i in range(len(observations))
            ]
        else:
            observations, children = checked_observations(self, observation, 1), [root]
        counts = np.full(len(observations), count, np.int64)
        return self.sample_states_from(observations, counts, new_generators(children))

    def sample_states_from(
        self, observations: np.ndarray, counts: np.ndarray, generators: np.ndarray, num_threads: int = 1
    ) -> Vec:
        """As ``sample_states``, with a generator for each observation instead of a seed, and a number of states.

        Args:
            observations: (M, O) int8, M at least 1.
            counts: (M,) int64, how many states of each, at least 1. Those of one observation come one after the other.
            generators: (M,) records of ``core.rng.GENERATOR``, advanced in place.
            num_threads: of the batch that is returned.

        Errors as in ``sample_state``; they name the row.
        """
        return sample_worlds(self, observations, counts, generators, num_threads)

    @property
    def hides_nothing(self) -> bool:
        """Whether every seat sees everything, so that an observation leaves one world alone."""
        return self.kernels.rewind is None

    def rewind(self, worlds: Vec, histories: np.ndarray, history_of: np.ndarray | None = None) -> Past:
        """Take worlds back to the beginning of their round, with a past that agrees with what a seat has seen.

        Args:
            worlds: N worlds, drawn by ``sample_states`` from what their seats to move see.
            histories: int8 (T, 2), or (M, T, 2): the histories of these seats, as ``vec.history`` has them.
            history_of: (N,) which of the M histories each world has; None: one for all, or world i has the i-th.

        Returns the worlds at the beginning, the actions since, and a weight for each: see `core.past.Past`. Actions of
        earlier rounds stay unknown. Raises ``ValueError`` for a game that hides nothing, for arrays of another shape
        and for histories that are not of these worlds, at this moment.
        """
        return rewind(self, worlds, histories, history_of)

    def string_to_action(self, text: str) -> int:
        """The action whose ``action_to_string`` is ``text``; case and extra spaces do not matter.

        Raises ``ValueError`` with the nearest known names.
        """
        if not isinstance(text, str):
            raise ValueError(f"action {shown(text)}: expected text, such as {self.action_to_string(0)!r}")
        wanted = " ".join(text.lower().split())
        names = [self.action_to_string(action) for action in range(self.num_actions)]
        known = {name.lower(): action for action, name in enumerate(names)}
        if wanted not in known:
            close = difflib.get_close_matches(wanted, known, n=3, cutoff=0.4)
            hint = f"; similar: {', '.join(repr(names[known[name]]) for name in close)}" if close else ""
            raise ValueError(f"unknown action {shown(text)}: expected a name such as {names[0]!r}{hint}")
        return known[wanted]

    def check_action_id(self, action: Any) -> int:
        """``action`` as an int. Raises ``ValueError`` unless it is an integer in ``0 .. A-1``."""
        return check_action(action, self.num_actions)

    def explain_refusal(self, record: np.record, action: int) -> str:
        """Why the illegal ``action``, any integer, cannot be taken in ``record``."""
        if record.terminated:
            return "the game is over"
        if not 0 <= action < self.num_actions:
            return f"expected 0 to {self.num_actions - 1}"
        return f"{self.action_to_string(action)}: {self.why_illegal(record, action)}"

    def render(self, state: np.record, seat: int | None = None) -> list[tuple[str, str]]:
        """The state as pieces (text, style), with styles of rich and the hand of ``seat``, or every hand for ``None``.

        Raises ``ValueError`` for a seat that the game does not have.
        """
        if not isinstance(state, np.void) or state.dtype != self.state_dtype:
            raise ValueError(f"state={shown(state)}: expected the record of a state of this game")
        return self.draw_text(state, seat if seat is None else check_seat("seat", seat, self.num_players))

    def render_text(self, state: GameState, seat: int | None = None) -> str:
        """The state as plain text, with the hand of ``seat``, or every hand for ``None``. Errors as in `render`."""
        if not isinstance(state, GameState):
            raise ValueError(f"state={shown(state)}: expected a state, as new_initial_state returns")
        check_same_game("state", state.game, self)
        return "".join(text for text, _ in self.render(state.record, seat))

    def events(
        self, before: GameState, action: int, after: GameState, seat: int | None = None
    ) -> list[Event]:
        """What ``action`` did, in order: moves, tricks won and why, ends of rounds with their sums, winners.

        Args:
            before: the state in which the action was taken; not changed.
            action: the id of the action.
            after: the state to which it led. In a game of several rounds it may be the beginning of the next one: the
                events are of the round that has ended all the same.
            seat: who is told. It is told nothing that it does not see; None: everything is told.

        When a round ends, its cards are laid open to everybody. Raises ``ValueError`` for states of another game, for
        an ``after`` to which ``action`` does not lead, and for a seat that the game does not have.
        """
        action = check_step(self, before, action, after)
        viewer = seat if seat is None else check_seat("seat", seat, self.num_players)
        return self.tell_events(before, action, after, viewer)

    def render_svg(
        self, state: GameState, seat: int | None = None, size: int = 720, theme: str = "light"
    ) -> str:
        """The state as a picture: SVG text that needs nothing else.

        Args:
            state: of this game.
            seat: whose view: only what that seat sees is in the text. None: everything, all hands.
            size: width in pixels, 240 to 4096. Its height follows, and is the same for all states of a game.
            theme: ``"light"`` or ``"dark"``.

        Where the seat to move is looked at, each of its legal actions is one element with the role ``button``, the
        attribute ``data-action`` (the action's id) and an ``aria-label`` (its name). Raises ``ValueError`` for
        anything else than described.
        """
        if not isinstance(state, GameState):
            raise ValueError(f"state={shown(state)}: expected a state, as new_initial_state returns")
        check_same_game("state", state.game, self)
        seat = seat if seat is None else check_seat("seat", seat, self.num_players)
        return self.draw_picture(state, seat, Sheet(size, theme))

    def deserialize_state(self, data: bytes) -> GameState:
        """The state that ``GameState.serialize`` wrote.

        Raises ``ValueError`` for damaged data, for data of another game or rule set, naming the difference, and for a
        state from which the game cannot be played on.
        """
        return read_state(self, data)

    def empty_log(self) -> np.ndarray:
        """An array (T, 3) int8 for the actions of one game."""
        return np.zeros((self.history_length, 3), np.int8)


def check_game_object(value: Any) -> Game:
    """``value`` itself. Raises ``ValueError`` unless it is a game."""
    if not isinstance(value, Game):
        raise ValueError(f"game={shown(value)}: expected a game, as make_game returns")
    return value


def _rebuild_game(cls: type[Game], rules: Any, reward: str) -> Game:
    return cls(rules=rules, reward=reward)
