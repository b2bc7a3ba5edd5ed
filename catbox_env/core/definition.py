"""What a game declares: its rules, sizes, layouts, kernels and deals. Nothing here depends on states or batches.

`core.game.Game` builds on it: it adds text and pictures, and makes states and batches.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from catbox_env.core.binding import bind
from catbox_env.core.checks import brief, check_flag, check_integer, closest
from catbox_env.core.draws import Draws
from catbox_env.core.kernels import REWARDS, Kernels
from catbox_env.core.layout import Layout

#: The format of saved games; increment it when the format changes.
FORMAT = 2


class GameDefinition(ABC):
    """A game under one rule set: immutable, picklable, equal to another of the same id, rules and reward.

    Attributes:
        id: name and version, a key of ``GAMES``.
        rules: the game's frozen ``Rules``.
        reward: ``"score"``, points of each round; ``"margin"``, own points minus the mean of the others';
            ``"win"``, 1 shared among the winners at the end of the game.
        num_players, num_actions: sizes P and A.
        observation_layout, state_layout: the named parts of an observation (O,) and of the full state (S,); a game that
            hides nothing sets only the first.
        history_length: the largest number of actions T in a game.
        min_utility, max_utility: bounds of a seat's return, in units of ``reward``.
        info_names: names of the statistics that every seat gets when a round ends.
        info_values: statistics whose individual values evaluations count, such as bids: name -> values.
        agent_module: the module with what agents use of a game of your own, by its dotted name
            (`catbox_agents.features`); None: there is none.
        params: array (1,) of the game's parameter record.
        state_bounds: the lowest and highest value of each of the game's own state fields, for all elements of the
            field, including those these rules do not use: name -> (low, high). An external state is rejected unless it
            is within them.
        draws: how deals are drawn, card by card (`core.draws`); None: every game begins the same way.
        score_sum: the sum of all seats' scores at the end of every game; None: not constant.
    """

    id: ClassVar[str]
    kernels: ClassVar[Kernels]
    rules_class: ClassVar[type]
    state_dtype: ClassVar[np.dtype]
    info_names: ClassVar[tuple[str, ...]]
    agent_module: ClassVar[str | None] = None

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
    draws: Draws | None = None
    score_sum: float | None = None

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
        elif not isinstance(rules, self.rules_class):
            raise ValueError(
                f"rules={brief(rules)}: {self.id} expected a {self.rules_class.__module__}."
                f"{self.rules_class.__name__}"
            )
        else:
            rules = replace(rules)  # type: ignore[type-var]  # checked again, because unpickling does not check
        self.reward = reward
        self.rules = rules
        self.info_values, self.state_bounds = {}, {}
        self.set_up()
        if not hasattr(self, "state_layout"):
            self.state_layout = self.observation_layout
        self.params.setflags(write=False)
        self.loops = bind(self.kernels)
        self.__dict__["_made"] = True

    def _make_rules(self, options: dict[str, Any]) -> Any:
        known = [field.name for field in fields(self.rules_class)]
        for name in options:
            if name not in known:
                raise ValueError(
                    f"unknown option {name!r} of {self.id}: expected reward, rules or one of {', '.join(known)}"
                    f"{closest(name, known)}"
                )
        return self.rules_class(**options)

    def check_record(self, state: Any) -> None:
        """Raise ``ValueError`` unless ``state`` is the record of a state of this game."""
        if not isinstance(state, np.void) or state.dtype != self.state_dtype:
            raise ValueError(f"state={brief(state)}: expected the record of a state of this game")

    # What a game provides besides these attributes.

    @abstractmethod
    def set_up(self) -> None:
        """Set every attribute that follows from ``self.rules`` and ``self.reward``."""

    def set_deal(self, state: np.record, deal: Any) -> None:
        """Replace the random deal by ``deal``. Raises ``ValueError`` for an impossible deal.

        By default, every deal is rejected.
        """
        raise ValueError(f"deal={brief(deal)}: expected None, because no deal can be given to {self.id}")

    def deal_of(self, state: np.record) -> dict[str, Any] | None:
        """The deal of a round that has just begun, as JSON-serialisable values: what `set_deal` takes.

        None for a game without deals, which always begins the same way.
        """
        return None

    def statistics(self, info: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Statistics for training and evaluation, each (n, P) float64, computed from ``info`` arrays (n, P).

        By default, ``info`` itself.
        """
        return {name: values.astype(np.float64) for name, values in info.items()}

    def deals_before(self, state: np.record, actions: Sequence[int]) -> Iterator[Any]:
        """Candidate deals from which ``actions`` may lead to ``state``, for a game that hides nothing; the caller
        filters out those that do not. None stands for the beginning of a game without deals."""
        yield None

    # Derived from these.

    @property
    def options(self) -> dict[str, Any]:
        """JSON-serialisable options: ``make_game(game.id, **game.options)`` is an equal game."""
        values = {field.name: getattr(self.rules, field.name) for field in fields(self.rules_class)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {**plain, "reward": self.reward}

    @cached_property
    def header(self) -> bytes:
        """The header of saved games, as JSON: format, game, options, and a hash of the record's dtype."""
        dtype_hash = hashlib.sha256(repr(self.state_dtype.descr).encode()).hexdigest()[:16]
        header = {"format": FORMAT, "game": self.id, "options": self.options, "records": dtype_hash}
        return json.dumps(header, sort_keys=True).encode()

    def __setattr__(self, name: str, value: Any) -> None:
        if "_made" in self.__dict__:
            raise AttributeError(f"{name} of a game cannot be changed: make another game")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GameDefinition) and self.id == other.id and self.options == other.options

    def __hash__(self) -> int:
        return hash((self.id, self.rules, self.reward))

    def __repr__(self) -> str:
        return f"make_game({self.id!r}, rules={self.rules!r}, reward={self.reward!r})"

    def __deepcopy__(self, memo: dict) -> Self:
        return self

    def __reduce__(self) -> tuple:
        return _rebuild_game, (type(self), self.rules, self.reward)

    @property
    def num_rounds(self) -> int:
        """Rounds in a game: ``rules.num_rounds``, or 1 if the rules lack it."""
        return getattr(self.rules, "num_rounds", 1)

    @property
    def utility_sum(self) -> float | None:
        """The sum of all seats' returns at the end of every game, in units of ``reward``; None: not constant."""
        return {"score": self.score_sum, "margin": 0.0, "win": 1.0}[self.reward]

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
            first_round: whether this deal is for the first round of a game.

        Empty when the deal is complete; ``game.draws.deal(drawn, first_round)`` is that deal, and
        ``game.draws.to_string(drawn, draw, first_round)`` names a draw. A complete deal may be impossible
        (``draws.is_possible``) and is then redrawn. With at most 10,000 deals, no draw leads to such a deal.

        Raises ``ValueError`` for draws that no deal begins with.
        """
        if self.draws is None:
            return []
        first_round = check_flag("first_round", first_round)
        return self.draws.outcomes(self.draws.check_drawn(drawn, first_round), first_round)

    @property
    def hides_nothing(self) -> bool:
        """Whether every seat sees everything, so that an observation is consistent with a single world."""
        return self.kernels.rewind is None

    def empty_log(self) -> np.ndarray:
        """An array (T, 3) int8 for the actions of one game."""
        return np.zeros((self.history_length, 3), np.int8)


def check_game_object(value: Any) -> Any:
    """``value`` itself. Raises ``ValueError`` unless it is a game."""
    if not isinstance(value, GameDefinition):
        raise ValueError(f"game={brief(value)}: expected a game, as make_game returns")
    return value


def _rebuild_game(cls: type[GameDefinition], rules: Any, reward: str) -> GameDefinition:
    return cls(rules=rules, reward=reward)
