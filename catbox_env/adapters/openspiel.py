"""Every game of the registry as a game of OpenSpiel (``pyspiel``); needs the extra ``spiel``.

Importing this module registers each game: ``some_game_v0`` as ``python_some_game``. Parameters are the options of
``make_game`` under their names, but for the number of players, which OpenSpiel calls ``players``:

    pyspiel.load_game("python_some_game(players=3,reward=margin)")

- A rule that follows from others if it is left open is -1, or ``open`` for a list. A list is written with spaces between
  its items, ``bids=1 3 4``; of one or no item in brackets, ``bids=[1]``, ``bids=[]``.
- A rule that takes a number or a word has two parameters: ``rounds=2``, or ``rounds_word=match``.

Every draw of a deal is a chance node: a card, a tile, a place (`core.draws`). A later round begins with such nodes too.
Where a complete deal is not possible, all is drawn again in further nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from fractions import Fraction
from functools import cache, wraps
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_env.core.checks import check_seat, shown
from catbox_env.core.draws import Draws
from catbox_env.core.game import Game, check_game_object
from catbox_env.core.kernels import REWARDS, UNUSED
from catbox_env.core.layout import Layout
from catbox_env.core.options import parse_value
from catbox_env.core.past import sample_past
from catbox_env.core.registry import GAMES, game_class, make_game
from catbox_env.core.rng import new_generators, seed_sequence
from catbox_env.core.state import GameState, copy_records
from catbox_env.core.versions import warn_untested

try:
    import pyspiel
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        'catbox_env.adapters.openspiel needs OpenSpiel:  pip install "catbox-env[spiel]"', name=error.name
    ) from None

__all__ = ["SpielGame", "SpielState", "load"]

warn_untested("open_spiel", "2.0", "3")

#: How often the chance nodes of a deal may begin again, for ``max_chance_nodes_in_history``.
MOST_REDRAWN = 100
#: Rewards are fractions with denominators up to here: means over the other seats, shares of a win.
LARGEST_DENOMINATOR = 1000
#: The values of parameters that stand for "follows from the other rules" and "no word".
OPEN_NUMBER, OPEN_LIST, NO_WORD = -1, "open", "none"
WORD = "_word"


def load(game: Game | str, **options: Any) -> SpielGame:
    """A game of catbox as a game of OpenSpiel.

    Args:
        game: a game, or an id of ``catbox_env.GAMES`` with the ``options`` of ``make_game``.

    Raises ``ValueError`` for anything else and for options that ``make_game`` refuses.
    """
    if isinstance(game, str):
        game = make_game(game, **options)
    elif options:
        raise ValueError(f"{', '.join(options)}: given with a game; give the id of a game with its options")
    return pyspiel.load_game(short_name(check_game_object(game).id), _parameters_of(game))


def short_name(game_id: str) -> str:
    """The name of a game in OpenSpiel: ``"python_some_game"`` for ``"some_game_v0"``."""
    return f"python_{game_id.rpartition('_v')[0]}"


# Parameters.


def _kind(field: Field) -> str:
    """What a rule takes: ``number``, ``number or word``, ``list``, ``flag`` or ``word``."""
    kind = str(field.type)
    if kind.startswith("tuple"):
        return "list"
    return {"int": "number", "int | str": "number or word", "bool": "flag", "str": "word"}[kind]


def _specification(rules_class: type) -> dict[str, Any]:
    """The parameters of a game with their default values."""
    specification: dict[str, Any] = {"reward": REWARDS[0]}
    for field in fields(rules_class):
        name, kind, default = field.name, _kind(field), field.default
        if name == "num_players":
            specification["players"] = default
        elif kind == "number" and default is None:
            specification[name] = OPEN_NUMBER
        elif kind == "list":
            specification[name] = OPEN_LIST if default is None else _list_text(default)
        else:
            specification[name] = default
            if kind == "number or word":
                specification[name + WORD] = NO_WORD
    return specification


def _options_of(rules_class: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``make_game`` that ``parameters`` stand for. Raises ``ValueError`` for a list that is none."""
    options: dict[str, Any] = {"reward": parameters["reward"]}
    for field in fields(rules_class):
        name, kind = field.name, _kind(field)
        value = parameters["players" if name == "num_players" else name]
        if kind == "number" and field.default is None:
            value = None if value == OPEN_NUMBER else value
        elif kind == "list":
            value = None if value == OPEN_LIST else _list_of(name, value)
        elif kind == "number or word" and parameters[name + WORD] != NO_WORD:
            value = parameters[name + WORD]
        options[name] = value
    return options


def _parameters_of(game: Game) -> dict[str, Any]:
    """The parameters that stand for the options of ``game``."""
    parameters: dict[str, Any] = {"reward": game.reward}
    for field in fields(game.rules_class):
        name, value = field.name, getattr(game.rules, field.name)
        if _kind(field) == "list":
            parameters[name] = _list_text(value)
        elif _kind(field) == "number or word" and isinstance(value, str):
            parameters[name + WORD] = value
        else:
            parameters["players" if name == "num_players" else name] = value
    return parameters


def _list_text(items: Any) -> str:
    text = " ".join(map(str, items))
    return text if len(items) > 1 else f"[{text}]"


def _list_of(name: str, text: str) -> list[Any]:
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    items = [parse_value(item) for item in inner.replace(",", " ").split()]
    if not all(isinstance(item, int) for item in items):
        raise ValueError(
            f"{name}={shown(text)}: expected integers with spaces between them, such as '1 3 4', '[1]' for one, '[]' "
            f"for none, or {OPEN_LIST!r}"
        )
    return items


def _game_type(game: type[Game] | Game, utility: Any, rewards: Any, chance: Any) -> Any:
    players = _numbers_of_players(game.rules_class)
    perfect = game.kernels.rewind is None
    kinds = pyspiel.GameType
    return kinds(
        short_name=short_name(game.id),
        long_name=f"catbox {game.id}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=chance,
        information=kinds.Information.PERFECT_INFORMATION if perfect else kinds.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=rewards,
        max_num_players=max(players),
        min_num_players=min(players),
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=_specification(game.rules_class),
        default_loadable=True,
    )


def _numbers_of_players(rules_class: type) -> list[int]:
    """The numbers of players that a game accepts, with every other rule left open."""
    accepted = []
    for number in range(1, 11):
        try:
            rules_class(num_players=number)
        except ValueError:
            continue
        accepted.append(number)
    return accepted


# Games and states.


class SpielGame(pyspiel.Game):
    """A game of catbox for OpenSpiel. ``pyspiel.load_game`` and `load` make it.

    Attributes: ``game``: the game of catbox.
    """

    game_id: str

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        rules_class = game_class(self.game_id).rules_class
        given = {**_specification(rules_class), **(params or {})}
        self.game = game = make_game(self.game_id, **_options_of(rules_class, given))
        kinds, draws, total = pyspiel.GameType, game.draws, game.utility_sum
        utility = kinds.Utility.GENERAL_SUM if total is None else kinds.Utility.CONSTANT_SUM
        if total == 0.0:
            utility = kinds.Utility.ZERO_SUM
        at_end = game.num_rounds == 1 or game.reward == "win"
        type_ = _game_type(
            game,
            utility,
            kinds.RewardModel.TERMINAL if at_end else kinds.RewardModel.REWARDS,
            kinds.ChanceMode.DETERMINISTIC if draws is None else kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        )
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=0 if draws is None else draws.num_values,
            num_players=game.num_players,
            min_utility=game.min_utility,
            max_utility=game.max_utility,
            utility_sum=total,
            max_game_length=game.history_length,
        )
        super().__init__(type_, info, given)
        self.action_names = [game.action_to_string(action) for action in range(game.num_actions)]
        self.generators = new_generators([seed_sequence(0)])  # what it draws is dealt anew by chance nodes

    def new_initial_state(self, *given: Any) -> SpielState:
        """A game that is about to be dealt. A state cannot be made from text: ``deserialize_state`` does that."""
        if given:
            raise ValueError(
                f"new_initial_state({shown(given[0])}): expected nothing; deserialize_state reads a state from text"
            )
        return SpielState(self)

    def __reduce__(self) -> tuple:
        return pyspiel.load_game, (short_name(self.game_id), self.get_parameters())

    def max_chance_nodes_in_history(self) -> int:
        """The most chance nodes in a game. Deals that are drawn again have no bound; this one is not reached."""
        draws = self.game.draws
        if draws is None:
            return 0
        again = type(draws).is_possible is not Draws.is_possible and self.game._draw_table is None
        return draws.length * self.game.num_rounds * (MOST_REDRAWN if again else 1)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """What a player sees, as ``iig_obs_type`` says; None: an observation. See `Observer`."""
        if params:
            raise ValueError(f"params={shown(params)}: an observer of catbox has no parameters; give none")
        return Observer(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))

    def deserialize_state(self, data: str) -> SpielState:
        """The state that ``serialize`` wrote, played again from its history. Raises ``ValueError`` for other text."""
        found = re.match(r"history=((?:-?\d+:\d+,?)*)\n", data) if isinstance(data, str) else None
        if not found:
            raise ValueError(f"state={shown(data)}: it is damaged; expected what serialize() of a state returned")
        state = self.new_initial_state()
        for step in filter(None, found[1].split(",")):
            player, action = map(int, step.split(":"))
            if state.is_terminal() or state.current_player() != player or action not in state.legal_actions():
                raise ValueError(
                    f"state: it is damaged, or of another game; {step} (player:action) in its history is not possible "
                    f"in {self}"
                )
            state.apply_action(action)
        return state


class _Beginning:
    """A round that has been dealt: the records (1,) at its beginning. Not changed any more, so that copies share it."""

    def __init__(self, game: Game, records: NDArray[Any]) -> None:
        self.game, self.records = game, records
        self._seen: dict[int, NDArray[np.int8]] = {}
        self._texts: dict[int, str] = {}

    def seen(self, player: int) -> NDArray[np.int8]:
        """What ``player`` saw: (O,)."""
        if player not in self._seen:
            vector = np.empty(self.game.observation_layout.size, np.int8)
            self.game.loops.observe_one(self.game.params, self.records, player, vector)
            self._seen[player] = vector
        return self._seen[player]

    def text(self, player: int, names: list[str]) -> str:
        """The same in words."""
        if player not in self._texts:
            self._texts[player] = _text_of(self.game.observation_layout, names, self.seen(player))
        return self._texts[player]

    def __reduce__(self) -> tuple:
        return _Beginning, (self.game, self.records)


class _Play:
    """What a `SpielState` is beside its history; cheap to copy.

    Attributes:
        state: the game under way; None until the first deal is complete.
        drawn: the draws of the deal under way; None while players move.
        beginnings: the rounds that have been dealt.
    """

    __slots__ = ("beginnings", "drawn", "state")

    def __init__(
        self, state: GameState | None, drawn: list[int] | None, beginnings: tuple[_Beginning, ...]
    ) -> None:
        self.state, self.drawn, self.beginnings = state, drawn, beginnings

    def __deepcopy__(self, memo: dict) -> _Play:
        state = None if self.state is None else self.state.__deepcopy__(memo)
        return _Play(state, None if self.drawn is None else self.drawn.copy(), self.beginnings)

    def __reduce__(self) -> tuple:
        return _Play, (self.state, self.drawn, self.beginnings)


class SpielState(pyspiel.State):
    """One game under way, for OpenSpiel: chance draws the deals, card by card, and players move.

    Attributes: ``play``: what it holds of catbox; ``play.state`` is the `GameState`, None until all is dealt.
    """

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.play = _Play(None, [], ())
        if game.game.draws is None:
            self._begin(game.game, None)

    def _begin(self, game: Game, deal: Any) -> None:
        """Begin a round with ``deal``."""
        play = self.play
        if play.state is None:
            play.state = game.initial_state_from(self.get_game().generators.copy(), deal)
        else:
            game.set_deal(play.state.record, deal)
        play.beginnings = (*play.beginnings, _Beginning(game, copy_records(play.state.records)))
        play.drawn = None

    def current_player(self) -> int:
        """The player to move, ``PlayerId.CHANCE`` while cards are dealt, ``PlayerId.TERMINAL`` at the end."""
        play = self.play
        if play.drawn is not None:
            return _CHANCE
        assert play.state is not None
        player = play.state.current_player
        return player if player >= 0 else _TERMINAL

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.play.state is not None and self.play.state.is_terminal()

    def _legal_actions(self, player: int) -> list[int]:
        return self.play.state.legal_actions() if self.play.state is not None else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What can be drawn next: pairs (draw, probability). Raises ``ValueError`` where a player is to move."""
        if self.play.drawn is None:
            raise ValueError("chance_outcomes: no chance node; see is_chance_node()")
        return self.get_game().game.draw_outcomes(self.play.drawn, not self.play.beginnings)

    def _apply_action(self, action: int) -> None:
        play, game = self.play, self.get_game().game
        if play.drawn is None:
            play.state.apply_action(action)  # raises ValueError for an illegal one
            if play.state.round_ended and not play.state.is_terminal() and game.draws is not None:
                play.drawn = []
            return
        outcomes = [draw for draw, _ in self.chance_outcomes()]
        if action not in outcomes:
            raise ValueError(f"chance outcome {shown(action)}: expected one of {shown(outcomes)}")
        self._draw(game, action)

    def _draw(self, game: Game, draw: int) -> None:
        """One draw of the deal under way; the last one begins the round."""
        play, draws = self.play, game.draws
        play.drawn.append(int(draw))
        first_round = not play.beginnings
        # a later round may have fewer draws, but for who starts
        if len(play.drawn) < draws.length - 1 or draws.weights(play.drawn, first_round):
            return
        if draws.is_possible(play.drawn):
            self._begin(game, draws.deal(play.drawn, first_round))
        else:
            play.drawn = []

    def _action_to_string(self, player: int, action: int) -> str:
        if player >= 0:
            return self.get_game().action_names[action]
        game = self.get_game().game
        return game.draws.to_string(self.play.drawn or [], action, not self.play.beginnings)

    def returns(self) -> list[float]:
        """What each player was paid since the beginning."""
        return _exact(self.play.state.returns()) if self.play.state is not None else self._nothing()

    def rewards(self) -> list[float]:
        """What the last action of a player paid to each player."""
        return _exact(self.play.state.rewards()) if self.play.state is not None else self._nothing()

    def _nothing(self) -> list[float]:
        return [0.0] * self.num_players()

    def __deepcopy__(self, memo: dict) -> SpielState:
        return self.clone()

    def __reduce__(self) -> tuple:
        return _read_state, (self.get_game(), self.serialize())

    def __str__(self) -> str:
        play, game = self.play, self.get_game().game
        if play.drawn is None:
            return game.render_text(play.state)
        steps = range(len(play.drawn))
        names = [game.draws.to_string(play.drawn[:i], play.drawn[i], not play.beginnings) for i in steps]
        return f"round {len(play.beginnings) + 1}: {', '.join(names) or 'to be dealt'}"

    def resample_from_infostate(self, player_id: int, rng: Callable[[], float]) -> SpielState:
        """Another game in which ``player_id`` has seen and done the same, drawn uniformly from all of them.

        Args:
            player_id: a player, to move or not.
            rng: returns random numbers from 0 to 1; one is taken.

        Raises ``ValueError`` at a chance node and after the end.
        """
        spiel_game, play = self.get_game(), self.play
        game, state = spiel_game.game, play.state
        if play.drawn is not None or state is None or state.is_terminal():
            raise ValueError("resample_from_infostate: expected a state in which a player is to move")
        seat = check_seat("player_id", player_id, game.num_players)
        _, rounds = sample_past(
            game,
            state.observation(seat)[None],
            int(rng() * 2**53),
            state.history_observation(seat),
            np.stack([beginning.seen(seat) for beginning in play.beginnings]),
            seat,
        )
        other = spiel_game.new_initial_state()
        for round_ in rounds:
            if game.draws is not None:
                for draw in game.draws.drawn(round_.deal, not other.play.beginnings):
                    other.apply_action(draw)
            for action in round_.actions:
                other.apply_action(action)
        return other


def _exact(paid: list[float]) -> list[float]:
    """``paid``, which catbox has as float32, in double precision, where OpenSpiel adds it up: thirds are thirds."""
    return [each if each == int(each) else _fraction(each) for each in paid]


@cache
def _fraction(value: float) -> float:
    return float(Fraction(value).limit_denominator(LARGEST_DENOMINATOR))


def _read_state(game: SpielGame, data: str) -> SpielState:
    return game.deserialize_state(data)


_CHANCE, _TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)


# Observers.


class Observer:
    """What a player sees of a `SpielState`, as OpenSpiel asks for it: `set_from` fills the tensors.

    ``tensor`` (n,) float32 holds everything; ``dict`` has views of its pieces by name, in order:

    - ``player`` (P,): who observes, one-hot; not where only what everybody sees was asked for.
    - the parts of ``game.observation_layout``, seats relative to the player: those that everybody sees, and the
      player's own hidden cards, as the type of observation says. With the hidden cards of all players these parts are
      those of ``game.state_layout``. What everybody sees is seen from player 0 where it is asked for alone.
    - with perfect recall ``history`` (T, 2): rows of (relative seat, action), -1 for a hidden action, -2 for no action
      yet; and ``beginnings`` (R, n): these parts at the beginning of each of the R rounds.

    While cards are dealt, and before, the parts are zeros.
    """

    def __init__(self, spiel_game: SpielGame, type_: Any) -> None:
        self.game = game = spiel_game.game
        self.names = spiel_game.action_names
        self.type = type_
        self.all_hidden = type_.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS
        self.own_hidden = type_.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self.layout = game.state_layout if self.all_hidden else game.observation_layout
        # Hidden cards have a row for each seat in the state.
        public = [name for name, part in self.layout.items() if game.state_layout[name].shape == part.shape]
        if self.all_hidden:
            own = game.observation_layout
            public = [name for name, part in self.layout.items() if own[name].shape == part.shape]
        hidden = [name for name in self.layout if name not in public]
        shows_hidden = self.all_hidden or self.own_hidden
        self.parts = [
            name for name in self.layout if (type_.public_info and name in public) or (shows_hidden and name in hidden)
        ]
        slices = [np.arange(self.layout.size)[self.layout[name].slice] for name in self.parts]
        self.places = np.concatenate([np.empty(0, np.int64), *slices]).astype(np.int64)
        pieces: list[tuple[str, tuple[int, ...]]] = []
        if shows_hidden:
            pieces.append(("player", (game.num_players,)))
        pieces += [(name, self.layout[name].shape) for name in self.parts]
        if type_.perfect_recall:
            if type_.public_info:
                pieces.append(("history", (game.history_length, 2)))
            pieces.append(("beginnings", (game.num_rounds, len(self.places))))
        self.tensor = np.zeros(sum(prod(shape) for _, shape in pieces), np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {}
        first = 0
        for name, shape in pieces:
            self.dict[name] = self.tensor[first : first + prod(shape)].reshape(shape)
            first += prod(shape)
        first = game.num_players if shows_hidden else 0
        self._now = self.tensor[first : first + len(self.places)]

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what ``player`` sees into ``tensor``."""
        self.tensor.fill(0)
        player = self._seat(player)
        play = state.play
        if "player" in self.dict:
            self.dict["player"][player] = 1
        if play.drawn is None:
            self._now[:] = self._seen(play.state, player)[self.places]
        if "history" in self.dict:
            self.dict["history"][:] = self._history(play.state, player)
        if "beginnings" in self.dict:
            for i, beginning in enumerate(play.beginnings):
                self.dict["beginnings"][i] = self._seen_at(beginning, player)[self.places]

    def string_from(self, state: SpielState, player: int) -> str:
        """What ``player`` sees, in words: what is not 0 in each part, as ``place`` or ``place=value``."""
        player, play = self._seat(player), state.play
        lines = [f"player {player}"] if "player" in self.dict else []
        if play.drawn is None:
            now = _text_of(self.layout, self.parts, self._seen(play.state, player))
            lines.append(now)
        else:
            lines.append("to be dealt")
        if "beginnings" in self.dict:
            for i, beginning in enumerate(play.beginnings):
                seen = (
                    _text_of(self.layout, self.parts, self._seen_at(beginning, player))
                    if self.all_hidden
                    else beginning.text(player, self.parts)
                )
                lines.append(f"round {i + 1} began with {seen}")
        if "history" in self.dict:
            rows = self._history(play.state, player).tolist()
            taken = (f"{seat} {self.names[a] if a >= 0 else 'hidden'}" for seat, a in rows if seat != UNUSED)
            lines.append(f"actions: {', '.join(taken)}")
        return "\n".join(lines)

    def _seat(self, player: int) -> int:
        player = check_seat("player", player, self.game.num_players)
        return player if "player" in self.dict else 0

    def _seen(self, state: GameState, player: int) -> NDArray[np.int8]:
        return state.state_vector(player) if self.all_hidden else state.observation(player)

    def _seen_at(self, beginning: _Beginning, player: int) -> NDArray[np.int8]:
        if not self.all_hidden:
            return beginning.seen(player)
        vector = np.empty(self.layout.size, np.int8)
        self.game.loops.state_one(self.game.params, beginning.records, player, vector)
        return vector

    def _history(self, state: GameState | None, player: int) -> NDArray[np.int8]:
        """Rows (T, 2) of (relative seat, action), as the type of observation shows them."""
        if state is None:
            return np.full((self.game.history_length, 2), UNUSED, np.int8)
        rows = state.history_observation(player)
        if not self.own_hidden:
            used = len(state.history())
            rows[:used, 1] = state.log[:used, 1 if self.all_hidden else 2]
        return rows


def _text_of(layout: Layout, names: list[str], vector: NDArray[np.int8]) -> str:
    """What is not 0 in the parts ``names`` of ``vector``."""
    words = []
    values = vector.tolist()
    for name in names:
        part = layout[name]
        items = [
            f"{i}" if value == 1 else f"{i}={value}"
            for i, value in enumerate(values[part.offset : part.offset + part.size])
            if value
        ]
        if items:
            words.append(f"{name} {' '.join(items)}")
    return "; ".join(words)


def _register(game_id: str) -> None:
    """Register one game with OpenSpiel."""
    kinds = pyspiel.GameType
    class_ = type(f"SpielGame_{game_id}", (SpielGame,), {"game_id": game_id, "__module__": __name__})
    globals()[class_.__name__] = class_  # where pickle looks for it
    type_ = _game_type(
        game_class(game_id),
        kinds.Utility.GENERAL_SUM,
        kinds.RewardModel.REWARDS,
        kinds.ChanceMode.EXPLICIT_STOCHASTIC,
    )
    pyspiel.register_game(type_, class_)


def _guard_bots() -> None:
    """Keep two of OpenSpiel's bots in C++ from killing the process when they get one of our states.

    Their method ``step`` gives the interpreter lock away, and then calls the game, which is in Python, without it.
    ``step_with_policy`` of `pyspiel.MCTSBot` does the same with the lock. `pyspiel.ISMCTSBot` has no use for a game in
    Python: it does not call its ``resample_from_infostate``.
    """
    for bot, names in ((pyspiel.MCTSBot, ["step"]), (pyspiel.ISMCTSBot, ["step", "step_with_policy", "get_policy"])):
        for name in names:
            setattr(bot, name, _guarded(getattr(bot, name)))


def _guarded(method: Callable) -> Callable:
    """A method of one of these bots, safe for our states and unchanged for others."""

    @wraps(method)
    def guarded(self: Any, state: Any, *args: Any) -> Any:
        if not isinstance(state, SpielState):
            return method(self, state, *args)
        if isinstance(self, pyspiel.ISMCTSBot):
            raise ValueError(
                "pyspiel.ISMCTSBot: it cannot resample the states of a game in Python; take "
                "open_spiel.python.algorithms.ismcts.ISMCTSBot, which can"
            )
        return self.step_with_policy(state)[1]

    return guarded


for _game_id in GAMES:
    if short_name(_game_id) not in pyspiel.registered_names():
        _register(_game_id)
_guard_bots()
