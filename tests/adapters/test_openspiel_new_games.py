"""A game that is only registered, such as that of docs/new_game.md, is also a game of OpenSpiel."""
# No `from __future__ import annotations` here: the annotations of options are types, not text.

from collections.abc import Sequence
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Any, Literal, Optional, Union

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import minimax  # noqa: E402  # after the check that it is there

import catbox_env  # noqa: E402
from catbox_env.adapters import openspiel, openspiel_parameters  # noqa: E402
from catbox_env.games.cat_in_the_box.game import CatInTheBox  # noqa: E402
from tests.adapters.openspiel_games import advance  # noqa: E402
from tests.core.test_new_game import nim  # noqa: E402, F401  # a fixture
from tests.core.test_past import Forgetful  # noqa: E402


@dataclass(frozen=True)
class OddRules(CatInTheBox.rules_class):
    table: dict[str, int] | None = None


class OddOption(CatInTheBox):
    id = "odd_option_v0"
    rules_class = OddRules


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for class_ in (OddOption, Forgetful):
        monkeypatch.setitem(catbox_env.GAMES, class_.id, f"{class_.__module__}:{class_.__name__}")


def test_the_game_of_the_page_passes_through_openspiel(nim: Path) -> None:  # noqa: F811  # the fixture
    game = openspiel.load("nim_v0", heap=7)
    assert game.game == catbox_env.make_game("nim_v0", heap=7)
    assert pyspiel.load_game("python_nim(heap=7)").game == game.game == pyspiel.load_game(str(game)).game
    type_ = game.get_type()
    assert type_.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    assert type_.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    value, best = minimax.alpha_beta_search(openspiel.load("nim_v0", heap=7, reward="margin"))
    assert (value, game.action_names[best]) == (2, "take 3")  # leave a multiple of four
    state = advance(game.new_initial_state(), np.random.default_rng(0), 2)
    twin = state.resample_from_infostate(0, np.random.default_rng(0).random)
    assert (str(twin), twin.history()) == (str(state), state.history())
    twin.apply_action(0)
    assert len(game.new_initial_state().history()) == 0 < len(state.history()) < len(twin.history())


@pytest.mark.usefixtures("_registered")
def test_information_is_what_the_game_declares() -> None:
    game = openspiel.load("forgetful_v0", num_players=2)
    assert game.get_type().information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    state = advance(game.new_initial_state(), np.random.default_rng(0), game.game.draws.length)
    with pytest.raises(ValueError, match="forgetful_v0 has no kernel `rewind`"):
        state.resample_from_infostate(0, np.random.default_rng(0).random)


@pytest.mark.usefixtures("_registered")
def test_an_option_that_openspiel_cannot_take_is_named_when_its_game_is_loaded() -> None:
    for load in (lambda: openspiel.load("odd_option_v0"), lambda: pyspiel.load_game("python_odd_option")):
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
    assert openspiel_parameters.default_parameters(rules) == {"reward": "score", **parameters}
    assert openspiel_parameters.options_of(rules, {"reward": "score", **parameters}) == {
        "reward": "score",
        "x": default,
    }
    for value, given in others:
        chosen = {"reward": "win", **parameters, **given}
        assert openspiel_parameters.options_of(rules, chosen) == {"reward": "win", "x": value}
        written = openspiel_parameters.parameters_of(rules, {"reward": "win", "x": value})
        assert openspiel_parameters.options_of(rules, {**chosen, **written}) == {"reward": "win", "x": value}


def test_a_default_can_be_made_anew() -> None:
    rules = make_dataclass("Rules", [("x", list[int], field(default_factory=lambda: [2, 3]))])
    assert openspiel_parameters.default_parameters(rules)["x"] == "2 3"


@pytest.mark.parametrize(
    "type_", [dict, list[str], tuple[float, ...], int | float, bool | None, Any, "bytes"]
)
def test_other_types_are_refused(type_: Any) -> None:
    rules = make_dataclass("Rules", [("x", type_, 0)])
    with pytest.raises(ValueError, match=r"option x of .*OpenSpiel has no parameter of type"):
        openspiel_parameters.rule_types(rules)
