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

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, wraps
from typing import Any

import numpy as np

from catbox_env.adapters.openspiel_observer import Beginning, Observer, Play
from catbox_env.adapters.openspiel_parameters import (
    numbers_of_players,
    options_of,
    parameters_of,
    specification_of,
)
from catbox_env.core.checks import brief, check_seat
from catbox_env.core.game import Game, check_game_object
from catbox_env.core.past import sample_past
from catbox_env.core.registry import GAMES, game_class, make_game
from catbox_env.core.rng import new_generators, seed_sequence
from catbox_env.core.extras import missing_extra

try:
    import pyspiel
except ModuleNotFoundError as error:
    raise missing_extra(error, "catbox_env.adapters.openspiel", "spiel") from error

__all__ = ["SpielGame", "SpielState", "load"]

#: How often a deal may be redrawn, for ``max_chance_nodes_in_history``.
MOST_REDRAWN = 100
#: The largest denominator of rewards, which are fractions: means over the other seats, shares of a win.
LARGEST_DENOMINATOR = 1000


def load(game: Game | str, **options: Any) -> SpielGame:
    """A catbox game as an OpenSpiel game.

    Args:
        game: a game, or an id of ``catbox_env.GAMES`` with the ``options`` of ``make_game``.

    Raises ``ValueError`` for anything else and for options that ``make_game`` rejects.
    """
    if isinstance(game, str):
        game = make_game(game, **options)
    elif options:
        raise ValueError(f"{', '.join(options)}: given with a game; give the id of a game with its options")
    return pyspiel.load_game(short_name(check_game_object(game).id), parameters_of(game))


def short_name(game_id: str) -> str:
    """The name of a game in OpenSpiel: ``"python_some_game"`` for ``"some_game_v0"``."""
    return f"python_{game_id.rpartition('_v')[0]}"


def _game_type(game: type[Game] | Game, utility: Any, rewards: Any, chance: Any) -> Any:
    players = numbers_of_players(game.rules_class)
    perfect = game.kernels.rewind is None
    kinds = pyspiel.GameType
    return kinds(
        short_name=short_name(game.id),
        long_name=f"catbox {game.id}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=chance,
        information=kinds.Information.PERFECT_INFORMATION
        if perfect
        else kinds.Information.IMPERFECT_INFORMATION,
        utility=utility,
        reward_model=rewards,
        max_num_players=max(players),
        min_num_players=min(players),
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=True,
        parameter_specification=specification_of(game.rules_class),
        default_loadable=True,
    )


# Games and states.


class SpielGame(pyspiel.Game):
    """A catbox game for OpenSpiel, made by ``pyspiel.load_game`` and `load`.

    Attributes: ``game``: the catbox game.
    """

    game_id: str

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        rules_class = game_class(self.game_id).rules_class
        given = {**specification_of(rules_class), **(params or {})}
        self.game = game = make_game(self.game_id, **options_of(rules_class, given))
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
            max_game_length=game.max_game_length,
        )
        super().__init__(type_, info, given)
        self.action_names = [game.action_to_string(action) for action in range(game.num_actions)]
        self.generators = new_generators([seed_sequence(0)])  # chance nodes replace what it deals

    def new_initial_state(self, *given: Any) -> SpielState:
        """A game that is about to be dealt. It takes no text: ``deserialize_state`` reads a state from text."""
        if given:
            raise ValueError(
                f"new_initial_state({brief(given[0])}): expected no argument; deserialize_state reads a state from text"
            )
        return SpielState(self)

    def __reduce__(self) -> tuple:
        return _read_game, (short_name(self.game_id), self.get_parameters())

    def max_chance_nodes_in_history(self) -> int:
        """The most chance nodes in a game. Redraws are unbounded in theory, but never reach this number."""
        draws = self.game.draws
        if draws is None:
            return 0
        return draws.length * self.game.num_rounds * (MOST_REDRAWN if draws.may_begin_again else 1)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """An observer of what ``iig_obs_type`` selects; None: an observation. See `Observer`."""
        if params:
            raise ValueError(f"params={brief(params)}: a catbox observer has no parameters; pass none")
        type_ = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        kinds = pyspiel.PrivateInfoType
        hidden = {kinds.NONE: "none", kinds.SINGLE_PLAYER: "own", kinds.ALL_PLAYERS: "all"}[
            type_.private_info
        ]
        return Observer(self.game, self.action_names, type_.public_info, hidden, type_.perfect_recall)

    def deserialize_state(self, data: str) -> SpielState:
        """The state that ``serialize`` wrote, replayed from its history. Raises ``ValueError`` for other text."""
        found = _HISTORY.match(data) if isinstance(data, str) else None
        if not found:
            raise ValueError(f"state={brief(data)}: damaged; expected what a state's serialize() returned")
        state = self.new_initial_state()
        for step in filter(None, found[1].split(",")):
            player, action = map(int, step.split(":"))
            if state.is_terminal() or state.current_player() != player or action not in state.legal_actions():
                raise ValueError(
                    f"state: damaged, or of another game; {step} (player:action) in its history is impossible "
                    f"in {self}"
                )
            state.apply_action(action)
        return state


class SpielState(pyspiel.State):
    """One game under way, for OpenSpiel: chance draws the deals, card by card, and players move.

    Attributes: ``play``: its catbox data; ``play.state`` is the `GameState`, None until the first deal is complete.
    """

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.play = Play(None, [], ())
        if game.game.draws is None:
            self._begin(game.game, None)

    def _begin(self, game: Game, deal: Any) -> None:
        """Begin a round with ``deal``."""
        play = self.play
        if play.state is None:
            play.state = game.initial_state_from(self.get_game().generators.copy(), deal)
        else:
            game.set_deal(play.state.record, deal)
        play.beginnings = (*play.beginnings, Beginning.of(play.state))
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
        """What can be drawn next: pairs (draw, probability). Raises ``ValueError`` unless this is a chance node."""
        if self.play.drawn is None:
            raise ValueError("chance_outcomes: not a chance node; see is_chance_node()")
        return self.get_game().game.draws.outcomes(self.play.drawn, not self.play.beginnings)

    def _apply_action(self, action: int) -> None:
        play, game = self.play, self.get_game().game
        if play.drawn is None:
            assert play.state is not None
            play.state.apply_action(action)  # raises ValueError for an illegal one
            if play.state.round_ended and not play.state.is_terminal() and game.draws is not None:
                play.drawn = []
            return
        outcomes = [draw for draw, _ in self.chance_outcomes()]
        if action not in outcomes:
            raise ValueError(f"chance outcome {brief(action)}: expected one of {brief(outcomes)}")
        play.drawn.append(int(action))
        draws, first_round = game.draws, not play.beginnings
        assert draws is not None
        # the start player is drawn in the first round only
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
        """What each player has been paid since the beginning."""
        return _exact(self.play.state.returns()) if self.play.state is not None else self._nothing()

    def rewards(self) -> list[float]:
        """What the last player action paid to each player."""
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
            np.stack([beginning.observations[seat] for beginning in play.beginnings]),
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
    """``paid``, float32 in catbox, in exact double precision, because OpenSpiel sums it: thirds stay thirds."""
    return [each if each == int(each) else _fraction(each) for each in paid]


@cache
def _fraction(value: float) -> float:
    return float(Fraction(value).limit_denominator(LARGEST_DENOMINATOR))


def _read_game(name: str, parameters: dict[str, Any]) -> SpielGame:
    """What pickle calls: a function of this module, so that the games are registered first."""
    return pyspiel.load_game(name, parameters)


def _read_state(game: SpielGame, data: str) -> SpielState:
    return game.deserialize_state(data)


#: The start of what `serialize` returns: player:action for each step, separated by commas.
_HISTORY = re.compile(r"history=(|-?\d{1,9}:\d{1,9}(?:,-?\d{1,9}:\d{1,9})*)\n")
_CHANCE, _TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)


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
    """Keep two of OpenSpiel's C++ bots from crashing the process when they get one of our states.

    - The ``step`` method of both releases the interpreter lock and then calls the Python game without it.
      ``step_with_policy`` of `pyspiel.MCTSBot` runs the same search but keeps the lock.
    - `pyspiel.MCTSBot` also searches states in which nobody is to move, and reads invalid memory.
    - `pyspiel.ISMCTSBot` cannot use a game in Python: it does not call its ``resample_from_infostate``.
    """
    for bot, names in (
        (pyspiel.MCTSBot, ["step", "step_verbose", "step_with_policy", "mcts_search"]),
        (pyspiel.ISMCTSBot, ["step", "step_verbose", "step_with_policy", "get_policy"]),
    ):
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
                "pyspiel.ISMCTSBot: it cannot resample the states of a Python game; use "
                "open_spiel.python.algorithms.ismcts.ISMCTSBot, which can"
            )
        if state.current_player() < 0:
            raise ValueError(
                f"pyspiel.MCTSBot.{method.__name__}: expected a state in which a player is to move; "
                "see is_chance_node() and is_terminal()"
            )
        return self.step_with_policy(state)[1] if method.__name__ == "step" else method(self, state, *args)

    return guarded


for _game_id in GAMES:
    if short_name(_game_id) not in pyspiel.registered_names():
        _register(_game_id)
_guard_bots()
