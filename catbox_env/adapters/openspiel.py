"""Every registered game as an OpenSpiel (``pyspiel``) game; needs the extra ``spiel``.

Importing this module registers each game: ``some_game_v0`` as ``python_some_game``. Parameters are the options of
``make_game`` under the same names, except for the number of players, which OpenSpiel calls ``players``:

    pyspiel.load_game("python_some_game(players=3,reward=margin)")

- A rule that defaults to a value derived from other rules is -1, or ``open`` for a list. A list has spaces between its
  items, ``bids=1 3 4``; with one item or none it has brackets, ``bids=[1]``, ``bids=[]``.
- A rule that takes a number or a word has two parameters: ``rounds=2``, or ``rounds_word=match``.

Every draw of a deal is a chance node: a card, a tile, a place (`core.draws`). Later rounds begin with such nodes too.
If a complete deal turns out to be impossible, further nodes draw it again.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache, wraps
from typing import Any

from catbox_env.adapters.openspiel_observer import Observer
from catbox_env.adapters.openspiel_parameters import default_parameters, options_of, parameters_of
from catbox_env.core.checks import check_seat, short_repr
from catbox_env.core.extras import missing_extra
from catbox_env.core.game import Game
from catbox_env.core.rng import WORLDS, seed_for
from catbox_env.core.worlds import sample_with_history
from catbox_env.registry import GAMES, game_class, make_game

try:
    import pyspiel
except ModuleNotFoundError as error:
    raise missing_extra(error, "catbox_env.adapters.openspiel", "spiel") from error

__all__ = ["SpielGame", "SpielState", "guard_bots", "load"]

#: How often a deal may be redrawn, for ``max_chance_nodes_in_history``.
MAX_REDRAWN = 100
#: The largest denominator of rewards, which are fractions: means over the other seats, shares of a win.
LARGEST_DENOMINATOR = 1000
#: How many chance nodes of a game to keep the outcomes of.
MAX_KEPT = 10_000

_CHANCE, _TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)


def load(game: Game | str, **options: Any) -> SpielGame:
    """A catbox game as an OpenSpiel game.

    Args:
        game: a game, or an id of ``catbox_env.GAMES`` with the ``options`` of ``make_game``.

    Raises ``ValueError`` for anything else, for options that ``make_game`` rejects, and for a game with an option of a
    type that OpenSpiel does not have.
    """
    if isinstance(game, str):
        game = make_game(game, **options)
    elif options:
        raise ValueError(f"{', '.join(options)}: given with a game; give the id of a game with its options")
    elif not isinstance(game, Game):
        raise ValueError(f"game={short_repr(game)}: expected a game, as make_game returns")
    parameters = parameters_of(game.rules_class, game.options)
    _register_games()  # it may have been added to GAMES since the import
    return pyspiel.load_game(short_name(game.id), parameters)


def short_name(game_id: str) -> str:
    """The name of a game in OpenSpiel: ``"python_some_game"`` for ``"some_game_v0"``."""
    return f"python_{game_id.rpartition('_v')[0]}"


def _game_type(game: Game, parameters: Mapping[str, Any]) -> pyspiel.GameType:
    kinds, players = pyspiel.GameType, [game.num_players]
    for number in range(1, 11):
        with suppress(ValueError):
            players.append(game.rules_class(num_players=number).num_players)
    information, utility = kinds.Information.IMPERFECT_INFORMATION, kinds.Utility.GENERAL_SUM
    if game.is_perfect_information:
        information = kinds.Information.PERFECT_INFORMATION
    if game.utility_sum is not None:
        utility = kinds.Utility.CONSTANT_SUM if game.utility_sum else kinds.Utility.ZERO_SUM
    pays_at_end = game.num_rounds == 1 or game.reward == "win"
    deterministic, stochastic = kinds.ChanceMode.DETERMINISTIC, kinds.ChanceMode.EXPLICIT_STOCHASTIC
    return kinds(
        short_name=short_name(game.id),
        long_name=f"catbox {game.id}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=deterministic if game.draws is None else stochastic,
        information=information,
        utility=utility,
        reward_model=kinds.RewardModel.TERMINAL if pays_at_end else kinds.RewardModel.REWARDS,
        max_num_players=max(players),
        min_num_players=min(players),
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=parameters,
    )


def _register_games() -> None:
    """Register all games that are not; one with an option that OpenSpiel cannot take says so when it is loaded."""
    for game_id in GAMES:
        if short_name(game_id) not in pyspiel.registered_names():
            game = make_game(game_id)
            try:
                parameters = default_parameters(game.rules_class)
            except (ValueError, NameError):  # NameError: a type that only type checkers import
                parameters = {}
            class_ = type("SpielGame", (SpielGame,), {"game_id": game_id})
            pyspiel.register_game(_game_type(game, parameters), class_)


# Games and states.


class SpielGame(pyspiel.Game):
    """A catbox game for OpenSpiel, made by ``pyspiel.load_game`` and `load`.

    Attributes: ``game``: the catbox game.
    """

    game_id: str

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        rules_class = game_class(self.game_id).rules_class
        parameters = {**default_parameters(rules_class), **(params or {})}
        self.game = game = make_game(self.game_id, **options_of(rules_class, parameters))
        self.action_names = [game.action_to_string(action) for action in range(game.num_actions)]
        # What can be drawn next: two calls for each draw, and searches come back to the same chance nodes.
        self.outcomes = lru_cache(MAX_KEPT)(game.draws._outcomes) if game.draws is not None else None
        self.undealt = game.new_initial_state(seed=0)
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=0 if game.draws is None else game.draws.num_values,
            num_players=game.num_players,
            min_utility=game.min_utility,
            max_utility=game.max_utility,
            utility_sum=game.utility_sum,
            max_game_length=game.max_game_length,
        )
        super().__init__(_game_type(game, parameters), info, parameters)

    def new_initial_state(self) -> SpielState:
        """A game that is about to be dealt."""
        return SpielState(self)

    def __reduce__(self) -> tuple:
        return _read_game, (short_name(self.game.id), self.get_parameters())

    def max_chance_nodes_in_history(self) -> int:
        """The most chance nodes in a game. Redraws are unbounded in theory, but never reach this number."""
        draws = self.game.draws
        if draws is None:
            return 0
        return draws.length * self.game.num_rounds * (MAX_REDRAWN if draws.may_be_redrawn else 1)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """An observer of what ``iig_obs_type`` selects; None: an observation. See `Observer`."""
        if params:
            raise ValueError(f"params={short_repr(params)}: a catbox observer has no parameters; pass none")
        selected = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return Observer(self.game, self.action_names, selected)

    def deserialize_state(self, data: str) -> SpielState:
        """The state that ``serialize`` wrote, replayed from its history. Raises ``ValueError`` for other text."""
        history = str(data).partition("\n")[0]
        state = self.new_initial_state()
        for action in map(int, re.findall(r":(\d{1,9})\b", history)):
            if action in state.legal_actions():
                state.apply_action(action)
        if history != state.serialize().partition("\n")[0]:
            raise ValueError(
                f"state={short_repr(data)}: damaged, or of another game; expected what serialize() returned in {self}"
            )
        return state


class SpielState(pyspiel.State):
    """One game under way, for OpenSpiel: chance draws the deals, card by card, and players move.

    Attributes:
        game_state: the game of catbox. At a chance node the cards of its round are not those that are drawn.
        drawn: the draws of the deal under way; None while players move, and at the end.
    """

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.game_state = game.undealt  # no copy: OpenSpiel makes a new state for every clone
        self.drawn: tuple[int, ...] | None = ()
        if game.game.draws is None:
            self.game_state, self.drawn = copy.deepcopy(game.undealt), None

    def current_player(self) -> int:
        """The player to move, ``PlayerId.CHANCE`` while cards are dealt, ``PlayerId.TERMINAL`` at the end."""
        if self.drawn is not None:
            return _CHANCE
        return _TERMINAL if self.is_terminal() else self.game_state.current_player

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.game_state.is_terminal()

    def _legal_actions(self, player: int) -> list[int]:
        return self.game_state.legal_actions()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What can be drawn next: pairs (draw, probability). Raises ``ValueError`` unless this is a chance node."""
        if self.drawn is None:
            raise ValueError("chance_outcomes: not a chance node; see is_chance_node()")
        return [*self.get_game().outcomes(self.drawn, self._is_first_round())]

    def _apply_action(self, action: int) -> None:
        draws, state = self.get_game().game.draws, self.game_state
        if self.drawn is None:
            state.apply_action(action)  # raises ValueError for an illegal one
            if draws is not None and state.round_ended and not state.is_terminal():
                self.drawn = ()
            return
        outcomes = [draw for draw, _ in self.chance_outcomes()]
        if action not in outcomes:
            raise ValueError(f"chance outcome {short_repr(action)}: expected one of {short_repr(outcomes)}")
        self.drawn = (*self.drawn, int(action))
        if self.chance_outcomes():
            return
        if draws.is_possible(self.drawn):
            if self._is_first_round():
                self.game_state = copy.deepcopy(state)
            state.game.set_deal(self.game_state, draws.to_deal(self.drawn, self._is_first_round()))
            self.drawn = None
        else:
            self.drawn = ()

    def _action_to_string(self, player: int, action: int) -> str:
        game = self.get_game()
        if player >= 0:
            return game.action_names[action]
        return game.game.draws.to_string(self.drawn or (), action, self._is_first_round())

    def _is_first_round(self) -> bool:
        return len(self.game_state._round_starts) == 1

    def returns(self) -> list[float]:
        """What each player has been paid since the beginning."""
        return [_exact(paid) for paid in self.game_state.returns()]

    def rewards(self) -> list[float]:
        """What the last player action paid to each player."""
        return [_exact(paid) for paid in self.game_state.rewards()]

    def __deepcopy__(self, memo: dict) -> SpielState:
        return self.clone()

    def __reduce__(self) -> tuple:
        return SpielGame.deserialize_state, (self.get_game(), self.serialize())

    def __str__(self) -> str:
        drawn, draws, first = self.drawn, self.get_game().game.draws, self._is_first_round()
        if drawn is None:
            return str(self.game_state)
        names = [draws.to_string(drawn[:i], draw, first) for i, draw in enumerate(drawn)]
        return f"round {len(self.game_state._round_starts)}: {', '.join(names) or 'to be dealt'}"

    def resample_from_infostate(self, player_id: int, rng: Callable[[], float]) -> SpielState:
        """Another game in which ``player_id`` has the same information state, drawn uniformly from all of them.

        The cards of finished rounds are open to all: only the deal and the hidden actions of the round under way are
        drawn. In a game of perfect information nothing is, and the result is a copy.

        Args:
            player_id: a player, to move or not.
            rng: returns random numbers from 0 to 1; at most one is taken.

        Raises ``ValueError`` at a chance node and after the end.
        """
        state, game = self.game_state, self.get_game().game
        if self.drawn is not None or state.is_terminal():
            raise ValueError("resample_from_infostate: expected a state in which a player is to move")
        seat = check_seat("player_id", player_id, game.num_players)
        if game.is_perfect_information:
            return self.clone()
        root = seed_for(WORLDS, int(rng() * 2**53))
        seen, history = state.observation(seat)[None], state.history_observation(seat)
        sampled = sample_with_history(game, seen, history, root, seat)
        other, steps = self.get_game().new_initial_state(), iter(self.history())
        while other.game_state.record.num_moves < state._round_starts[-1]["num_moves"][0]:
            other.apply_action(next(steps))
        if game.draws is not None:
            for draw in game.draws.from_deal(game.deal_of(sampled), other._is_first_round()):
                other.apply_action(draw)
        for action in sampled.history():
            other.apply_action(action)
        return other


@cache
def _exact(paid: float) -> float:
    """``paid``, float32 in catbox, in exact double precision, because OpenSpiel sums it: thirds stay thirds."""
    return float(Fraction(paid).limit_denominator(LARGEST_DENOMINATOR))


def _read_game(name: str, parameters: dict[str, Any]) -> SpielGame:
    """What pickle calls: a function of this module, so that the games are registered first."""
    return pyspiel.load_game(name, parameters)


# Bots of OpenSpiel.


def guard_bots() -> None:
    """Keep two of OpenSpiel's C++ bots from crashing this process when they get a state of ours, by replacing methods.

    `pyspiel.MCTSBot` then plays our games. `pyspiel.ISMCTSBot`, which cannot resample the states of games in Python,
    and a state in which nobody is to move raise ``ValueError``. With other games the bots are what they were.
    """
    for bot, last in ((pyspiel.MCTSBot, "mcts_search"), (pyspiel.ISMCTSBot, "get_policy")):
        for name in ("step", "step_verbose", "step_with_policy", last):
            setattr(bot, name, _guarded(getattr(bot, name)))


def _guarded(method: Callable) -> Callable:
    @wraps(method)
    def guarded(self: Any, state: Any, *args: Any) -> Any:
        is_ours = isinstance(state, SpielState)
        if is_ours and isinstance(self, pyspiel.ISMCTSBot):
            raise ValueError(
                "pyspiel.ISMCTSBot: it cannot resample the states of a Python game; use "
                "open_spiel.python.algorithms.ismcts.ISMCTSBot, which can"
            )
        if is_ours and state.current_player() < 0:
            raise ValueError(
                f"pyspiel.MCTSBot.{method.__name__}: expected a state in which a player is to move; "
                "see is_chance_node() and is_terminal()"
            )
        if is_ours and method.__name__ == "step":
            # It releases the interpreter lock and then calls the game without it; this runs the same search.
            return self.step_with_policy(state)[1]
        return method(self, state, *args)

    return guarded


_register_games()
