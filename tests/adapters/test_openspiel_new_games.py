"""A game that is only registered, as docs/new_game.md describes it, is also a game of OpenSpiel."""
# No `from __future__ import annotations` here: the options have real types, not text.

from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from typing import Any, Literal, Optional, Union

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import minimax  # noqa: E402  # after the check that it is there

import catbox_env  # noqa: E402
from catbox_env.adapters import openspiel  # noqa: E402
from catbox_env.core.compilation import njit  # noqa: E402
from catbox_env.core.game import Game  # noqa: E402
from catbox_env.core.kernels import (  # noqa: E402
    CORE_PARAMS,
    Kernels,
    core_state_fields,
    new_params,
    record_dtype,
)
from catbox_env.core.layout import Layout, Part  # noqa: E402
from catbox_env.games.cat_in_the_box.game import CatInTheBox  # noqa: E402
from tests.adapters.openspiel_games import advance  # noqa: E402

STATE = record_dtype([*core_state_fields(2, 0), ("heap", np.int8)])
PARAMS = record_dtype([*CORE_PARAMS, ("heap", np.int64)])


@njit
def deal(params, generator, state):
    state.heap = params.heap
    state.current_player = 0


@njit
def apply(params, generator, state, action):
    seat = int(state.current_player)
    state.heap -= action + 1
    state.current_player = 1 - seat
    if state.heap == 0:
        state.rewards[seat], state.rewards[1 - seat] = 1.0, -1.0
        state.win_shares[seat] = 1.0
        state.round_ended = state.terminated = 1
        state.current_player = -1


@njit
def write_mask(params, state, mask):
    for action in range(len(mask)):
        mask[action] = state.current_player >= 0 and action < state.heap


@njit
def write_observation(params, state, seat, out):
    out[0] = state.heap
    out[1] = state.current_player == seat


@dataclass(frozen=True)
class NimRules:
    num_players: int = 2
    heap: int = 9
    most: int | None = None
    skips: tuple[int, ...] = ()


class Nim(Game):
    """Take one to three, or at most ``most``, from a heap; whoever takes the last one wins."""

    id = "nim_v0"
    rules_class = NimRules
    kernels = Kernels(STATE, (), deal, apply, write_mask, write_observation)
    is_perfect_information = True
    _score_sum = 0.0

    def _set_up(self) -> None:
        self.num_players, self.num_actions, self.max_game_length = 2, self.rules.most or 3, self.rules.heap
        self.observation_layout = Layout(
            [Part("heap", (1,), "left", 0, 99), Part("to_move", (1,), "own turn")]
        )
        self.max_utility = 2.0 if self.reward == "margin" else 1.0
        self.min_utility = -self.max_utility
        self.params = new_params(
            PARAMS, num_players=2, num_actions=self.num_actions, reward=self.reward, heap=self.rules.heap
        )


class SecretNim(Nim):
    """It says that it hides something, and has no kernel ``rewind``."""

    id = "secret_nim_v0"
    is_perfect_information = False


@dataclass(frozen=True)
class OddRules(CatInTheBox.rules_class):
    table: dict[str, int] | None = None


class Odd(CatInTheBox):
    id = "odd_v0"
    rules_class = OddRules


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for class_ in (Nim, SecretNim, Odd):
        monkeypatch.setitem(catbox_env.GAMES, class_.id, f"{__name__}:{class_.__name__}")


def test_a_game_that_is_only_registered_passes_through_openspiel() -> None:
    game = openspiel.load("nim_v0", heap=7)
    assert game.game == Nim(heap=7)
    assert pyspiel.load_game("python_nim(heap=7)").game == game.game == pyspiel.load_game(str(game)).game
    assert pyspiel.load_game("python_nim(most=2,skips=1 2)").game.rules == NimRules(most=2, skips=(1, 2))
    type_ = game.get_type()
    assert type_.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    assert type_.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
    assert type_.utility == pyspiel.GameType.Utility.ZERO_SUM
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    value, best = minimax.alpha_beta_search(game)
    assert (value, best) == (1, 2)  # leave a multiple of four
    state = advance(game.new_initial_state(), np.random.default_rng(0), 2)
    twin = state.resample_from_infostate(0, np.random.default_rng(0).random)
    assert (str(twin), twin.history()) == (str(state), state.history())
    twin.apply_action(0)
    assert len(game.new_initial_state().history()) == 0 < len(state.history()) < len(twin.history())


def test_information_is_what_the_game_declares() -> None:
    game = openspiel.load("secret_nim_v0")
    assert game.get_type().information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    with pytest.raises(ValueError, match="secret_nim_v0 has no kernel `rewind`"):
        game.new_initial_state().resample_from_infostate(0, np.random.default_rng(0).random)


def test_an_option_that_openspiel_cannot_take_is_named_when_its_game_is_loaded() -> None:
    for load in (lambda: openspiel.load("odd_v0"), lambda: pyspiel.load_game("python_odd")):
        with pytest.raises(ValueError, match=r"option table of .*no parameter of type .*dict\[str, int\]"):
            load()
    assert openspiel.load("cat_in_the_box_v0").game.id == "cat_in_the_box_v0"


@pytest.mark.parametrize(("type_", "default", "parameters", "others"), [
    (int, 3, {"x": 3}, [(4, {"x": 4})]),
    ("int", None, {"x": -1}, [(4, {"x": 4})]),
    (int | None, 3, {"x": 3}, [(None, {"x": -1})]),
    (Optional[int], None, {"x": -1}, [(0, {"x": 0})]),  # noqa: UP045  # an older spelling
    (float, 0.5, {"x": 0.5}, [(1.0, {"x": 1.0})]),
    (bool, True, {"x": True}, [(False, {"x": False})]),
    (str, "a", {"x": "a"}, [("none", {"x": "none"})]),
    (str | None, None, {"x": "none"}, [("a", {"x": "a"})]),
    (Literal["a", "b"], "a", {"x": "a"}, [("b", {"x": "b"})]),
    (Union[int, str], 1, {"x": 1, "x_word": "none"}, [("a", {"x_word": "a"}), (2, {"x": 2})]),  # noqa: UP007  # as above
    ("int | str", "a", {"x": -1, "x_word": "a"}, [(2, {"x": 2, "x_word": "none"})]),
    (int | str | None, None, {"x": -1, "x_word": "none"}, [("a", {"x_word": "a"}), (2, {"x": 2})]),
    (tuple[int, ...], (1, 3), {"x": "1 3"}, [((1,), {"x": "[1]"}), ((), {"x": "[]"}), ((-1, 20), {"x": "-1, 20"})]),
    (Sequence[int] | None, None, {"x": "open"}, [((4,), {"x": "[4]"})]),
])  # fmt: skip
def test_options_of_every_type_are_parameters(
    type_: Any, default: Any, parameters: dict[str, Any], others: list[tuple[Any, dict[str, Any]]]
) -> None:
    rules = make_dataclass("Rules", [("x", type_, default)])
    assert openspiel.default_parameters(rules) == {"reward": "score", **parameters}
    for value, given in others:
        chosen = {"reward": "win", **parameters, **given}
        assert openspiel.options_of(rules, chosen) == {"reward": "win", "x": value}
        written = openspiel.parameters_of(rules, {"reward": "win", "x": value})
        assert openspiel.options_of(rules, {**chosen, **written}) == {"reward": "win", "x": value}


@pytest.mark.parametrize(
    "type_", [dict, list[str], tuple[float, ...], int | float, bool | None, Any, "bytes"]
)
def test_other_types_are_refused(type_: Any) -> None:
    rules = make_dataclass("Rules", [("x", type_, 0)])
    with pytest.raises(ValueError, match=r"option x of .*OpenSpiel has no parameter of type"):
        openspiel.rule_types(rules)
