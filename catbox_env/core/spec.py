"""A game under one rule set, without its states: what follows from the rules, and how the game is put into words.

`core.game.Game` adds what makes states. States and batches of games are made of this alone.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np

from catbox_env.core.checks import (
    PUBLIC,
    check_action,
    check_instance,
    check_integer,
    check_known,
    short_repr,
    suggestion,
)
from catbox_env.core.draws import Draws
from catbox_env.core.kernels import REWARDS, Kernels, as_records, make_params, part_offsets
from catbox_env.core.layout import Layout
from catbox_env.core.loops import Loops, make_loops
from catbox_env.core.text import Segment, game_title, part_lines

#: The most actions of a game: histories hold their ids as int8.
MAX_ACTIONS = 128
#: The format of a serialised state; increment it when the format changes.
FORMAT = 3


class GameSpec(ABC):
    """What the rules of a game fix. Immutable, picklable, equal to another of the same id, rules and reward.

    A new game is a subclass of `core.game.Game` that declares the class attributes and sets others in ``_set_up``.

    Class attributes:
        id: name and version, a key of ``GAMES``.
        rules_class: the game's frozen dataclass of options, with ``num_players`` among them.
        kernels: the compiled functions of the game, see `core.kernels.Kernels`.
        is_perfect_information: whether every seat sees everything.
        agent_module: the name of the module with what agents know of the game, see `catbox_agents.features`; None: the
            one there that is named after the game, if any.

    Attributes:
        rules: the game's frozen ``Rules``.
        reward: ``"score"``, points of each round; ``"margin"``, own points minus the mean of the others';
            ``"win"``, 1 shared among the winners at the end of the game.
        num_players: the number of seats P, that of the rules.
        num_actions: the number of actions A, at most 128.
        observation_layout, state_layout: the named parts of an observation (O,) and of the full state (S,); a game of
            perfect information sets only the first.
        max_game_length: the largest number of actions T in a game.
        min_utility, max_utility: bounds of a seat's return, in units of ``reward``, except that rewards are rounded to
            float32: a return may be that little beyond.
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
            raise ValueError(f"reward={short_repr(reward)}: expected one of {', '.join(map(repr, REWARDS))}")
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
                f"rules={short_repr(rules)}: {self.id} expected a {self.rules_class.__module__}."
                f"{self.rules_class.__name__}"
            )
        self.rules, self.reward, self.num_players = rules, reward, rules.num_players
        self._set_up()
        check_integer(f"num_actions of {self.id}", self.num_actions, 1, MAX_ACTIONS, ": histories are int8")
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
            margin = (
                worst * self.num_players / (self.num_players - 1),
                best * self.num_players / (self.num_players - 1),
            )
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
        raise ValueError(f"deal={short_repr(deal)}: expected None, because no deal can be given to {self.id}")

    def _read_deal(self, record: np.record) -> dict[str, Any] | None:
        """The deal of a round that has just begun, as JSON-serialisable values: what `_write_deal` takes.

        None for a game without deals, which always begins the same way.
        """
        return None

    def _complete_deal(self, deal: Any, random: np.random.Generator) -> Any:
        """``deal`` with random cards for each hand that is None; in a game of perfect information ``deal`` itself."""
        return deal

    def _action_text(self, action: int) -> str:
        """``action``, ``0 .. A-1``, in words: by default a number instead of a name."""
        return f"action {action}"

    def _illegal_reason(self, record: np.record, action: int) -> str:
        """The rule that forbids ``action``, ``0 .. A-1``, in ``record``: by default a list of the legal actions."""
        legal = [self.action_to_string(other) for other in self._legal_actions(record)]
        listed = ", ".join(map(repr, legal[:5])) + (f" and {len(legal) - 5} more" if len(legal) > 5 else "")
        return f"it is not legal now; legal actions: {listed}"

    def _legal_actions(self, record: np.record) -> list[int]:
        """What the seat to move may do in ``record``."""
        mask = np.zeros(self.num_actions, np.int8)
        self.loops.mask_one(self.params, as_records(record, self.kernels.state), mask)
        found: list[int] = np.flatnonzero(mask).tolist()
        return found

    def _styled_text(self, record: np.record, seat: int | None) -> list[Segment]:
        """The position as (text, rich style) segments, with what ``seat`` sees; everything for None, only what
        everybody sees for ``PUBLIC``. ``repr(state)`` shows the first line, so it holds nothing hidden.

        By default who is to move, and the parts of the observation, or for None of the full state.
        """
        mover = int(record.current_player)
        whose = f"player_{mover} to move" if mover >= 0 else "the game is over"
        lines: list[Segment] = [(f"{game_title(self.id)}: {whose}\n", "bold")]
        return lines + [(f"{line}\n", "") for line in vector_lines(self, record, seat)]

    def describe_actions(self) -> list[tuple[int, int, str]]:
        """Rows (first id, last id, what they do): by default one for each action."""
        return [(action, action, self.action_to_string(action)) for action in range(self.num_actions)]

    def describe_rules(self) -> list[str]:
        """A summary of the rules for players: a paragraph for each subject, with the numbers of this rule set.

        By default the first paragraph of the docstring of the game's class ``Rules``.
        """
        text = inspect.getdoc(self.rules_class) or self.rules_class.__name__
        return [" ".join(text.partition("\n\n")[0].split())]

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
        return [(self.draws.to_deal(each, True), probability / total) for each, probability in drawn]

    def action_to_string(self, action: int) -> str:
        """``action`` in words, such as ``"play yellow 7"``. Raises ``ValueError`` outside ``0 .. A-1``."""
        return self._action_text(check_action(action, self.num_actions))

    def string_to_action(self, text: str) -> int:
        """The action whose ``action_to_string`` is ``text``; case and extra spaces do not matter.

        Raises ``ValueError`` with the nearest known names.
        """
        if not isinstance(text, str):
            raise ValueError(
                f"action {short_repr(text)}: expected text, such as {self.action_to_string(0)!r}"
            )
        wanted = " ".join(text.lower().split())
        names = [self.action_to_string(action) for action in range(self.num_actions)]
        known = {name.lower(): action for action, name in enumerate(names)}
        if wanted not in known:
            raise ValueError(
                f"unknown action {short_repr(text)}: expected a name such as {names[0]!r}{suggestion(text, names)}"
            )
        return known[wanted]

    def _make_rules(self, options: dict[str, Any]) -> Any:
        known = [field.name for field in fields(self.rules_class)]
        for name in options:
            check_known("option", name, ["reward", "rules", *known], self.id)
        return self.rules_class(**options)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_made" in self.__dict__:
            raise AttributeError(f"{name} of a game cannot be changed: make another game")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GameSpec) and self.id == other.id and self.options == other.options

    def __hash__(self) -> int:
        return hash((self.id, self.rules, self.reward))

    def __repr__(self) -> str:
        return f"make_game({self.id!r}, rules={self.rules!r}, reward={self.reward!r})"

    def __deepcopy__(self, memo: dict) -> Self:
        return self

    def __reduce__(self) -> tuple:
        return _rebuild_game, (type(self), self.rules, self.reward)


def _rebuild_game(cls: type[GameSpec], rules: Any, reward: str) -> GameSpec:
    return cls(rules=rules, reward=reward)


def check_game_object(value: Any) -> Any:
    """``value`` itself. Raises ``ValueError`` unless it is a game."""
    return check_instance("game", value, GameSpec, "a game, as make_game returns")


def vector_lines(game: GameSpec, record: np.record, seat: int | None) -> list[str]:
    """The named parts of what ``seat`` sees of ``record``, or for None those of the full state, as lines of text.

    None for ``PUBLIC``: which parts everybody sees is not known.
    """
    if seat == PUBLIC:
        return []
    layout = game.state_layout if seat is None else game.observation_layout
    write = game.loops.state_one if seat is None else game.loops.observe_one
    vector = np.empty(layout.size, np.int8)
    write(game.params, as_records(record, game.kernels.state), seat or 0, vector)
    return part_lines(layout, vector)


def origin_of(game: GameSpec) -> dict[str, Any]:
    """What a saved state says of its game."""
    return {"format": FORMAT, "game": game.id, "options": game.options}


def check_same_game(what: str, given: GameSpec, own: GameSpec) -> None:
    """Raise ``ValueError``, naming the difference, unless the two games are equal."""
    if given is not own and given != own:
        check_origin(what, origin_of(given), own)


def check_origin(what: str, origin: Mapping[str, Any], game: GameSpec) -> None:
    """Raise ``ValueError``, naming the difference, unless ``origin``, as `origin_of` makes it, is that of ``game``."""
    if origin["format"] != FORMAT:
        raise ValueError(
            f"{what}: format {short_repr(origin['format'])}, expected {FORMAT}; read it with the version of catbox "
            "that wrote it"
        )
    if origin["game"] != game.id:
        raise ValueError(
            f"{what}: a game of {short_repr(origin['game'])}, expected {game.id!r}; make that game"
        )
    given = origin["options"] if isinstance(origin["options"], dict) else {}
    differing = [
        f"{name}={short_repr(given.get(name))}, expected {game.options.get(name)!r}"
        for name in sorted({*given, *game.options})
        if given.get(name) != game.options.get(name)
    ]
    if differing:
        raise ValueError(
            f"{what}: other rules or reward ({', '.join(differing)}); make the game with the same options"
        )
