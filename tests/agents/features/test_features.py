"""What holds for the features of every game that has them, and where they are found."""

import copy
import pickle
import sys
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from catbox_agents import features
from catbox_agents.features import GameFacts
from catbox_env import GAMES, Game, Vec, make_game, make_vec
from catbox_env.games.petrify.game import Petrify
from tests.core.game_cases import CASES

WITH_FEATURES = [game_id for game_id in GAMES if features.features_of(make_game(game_id)) is not None]


def begun(game: Game, moves: int) -> Vec:
    """A batch of 64 games after so many random moves."""
    vec = make_vec(game.id, 64, seed=1, **game.options)
    vec.step_random(moves, seed=2)
    return vec


@pytest.mark.parametrize("game_id", WITH_FEATURES)
def test_every_feature_is_used(game_id: str) -> None:
    """Under some rules some position has each part of the layout, and some action."""
    cases = CASES[game_id]
    options = [{}, *cases.other_rules, *(other for other, _ in cases.playthroughs.values())]
    names, used = set(), set()
    for game in (make_game(game_id, **{**each, "reward": "score"}) for each in options):
        vec, given = begun(game, 0), features.features_of(game)
        for step in range(40):
            arrays = given.compute(vec.observation, vec.action_mask)
            for of, (layout, array) in enumerate(
                zip((given.layout, given.action_layout), arrays, strict=True)
            ):
                found = array.reshape(-1, layout.size).any(axis=0)
                names |= {(of, name) for name in layout}
                used |= {(of, name) for name, part in layout.items() if found[part.slice].any()}
            vec.step_random(1, seed=step)
    assert names == used


@pytest.mark.parametrize("game_id", WITH_FEATURES)
def test_views_and_read_only_arrays_are_read_and_given_arrays_are_written(game_id: str) -> None:
    game = make_game(game_id)
    vec, given = begun(game, 5), features.features_of(game)
    expected = given.compute(vec.observation, vec.action_mask)
    large = np.full((70, given.layout.size), 99, np.int8)
    large_actions = np.full((70, game.num_actions, given.action_layout.size), 99, np.int8)
    out, action_out = given.compute(vec.observation, vec.action_mask, large[3:67], large_actions[3:67])
    assert out.base is large
    assert action_out.base is large_actions
    assert np.array_equal(large[3:67], expected[0])
    assert np.array_equal(large_actions[3:67], expected[1])
    for array in (large, large_actions):
        assert (array[:3] == 99).all()
        assert (array[67:] == 99).all()
    fixed = vec.observation.copy()
    fixed.setflags(write=False)
    every_other = given.compute(fixed[::2], vec.action_mask[::2])
    assert all(np.array_equal(*pair) for pair in zip(every_other, (a[::2] for a in expected), strict=True))
    assert [len(array) for array in given.compute(fixed[:0], vec.action_mask[:0])] == [0, 0]


@pytest.mark.nojit
@pytest.mark.parametrize("game_id", WITH_FEATURES)
def test_a_vector_that_no_seat_sees_is_harmless(game_id: str) -> None:
    """Without compilation an index beyond an array, or a number beyond an int8, raises an error."""
    rng = np.random.default_rng(0)
    for options in CASES[game_id].options_to_compare():
        game = make_game(game_id, **options)
        rows = 1 if numba.config.DISABLE_JIT else 8  # type: ignore[attr-defined]  # some take seconds uncompiled
        shape = (rows, game.observation_layout.size)
        for seen in (rng.integers(-128, 128, shape), rng.integers(0, 2, shape), np.full(shape, 127)):
            for masks in (np.ones((rows, game.num_actions), bool), np.zeros((rows, game.num_actions), bool)):
                _, action_out = features.features_of(game).compute(seen.astype(np.int8), masks)
                assert masks.any() or not action_out.any()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("observations", lambda array: array.astype(np.float32)),
        ("observations", lambda array: array[:, :-1]),
        ("observations", lambda array: array.tolist()),
        ("observations", lambda array: array[:-1]),
        ("masks", lambda array: array.astype(np.int8)),
        ("masks", lambda array: array[:, 1:]),
        ("masks", lambda array: None),
        ("out", lambda array: array[:-1]),
        ("out", lambda array: np.asfortranarray(array)),
        ("out", lambda array: np.broadcast_to(array[:1], array.shape)),
        ("action_out", lambda array: array[:, :, :-1]),
        ("action_out", lambda array: array[:, ::-1]),
        ("action_out", lambda array: array.tolist()),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, change: Any) -> None:
    given = features.features_of(make_game("petrify_v0"))
    vec = begun(given.game, 5)
    arrays: dict[str, Any] = {"observations": vec.observation, "masks": vec.action_mask}
    arrays["out"], arrays["action_out"] = given.compute(vec.observation, vec.action_mask)
    arrays[name] = change(arrays[name])
    # A mask of other rows shows as observations that do not fit it.
    with pytest.raises(ValueError, match=rf"^({name}|observations): .*expected"):
        given.compute(**arrays)


@pytest.mark.parametrize("game_id", WITH_FEATURES)
def test_equal_games_share_their_features_which_are_copied_with_their_game(game_id: str) -> None:
    given = features.features_of(make_game(game_id, num_players=3))
    assert given.game == make_game(game_id, num_players=3)
    for twin in (features.features_of(given.game), pickle.loads(pickle.dumps(given)), copy.deepcopy(given)):
        assert twin is given
    assert features.features_of(make_game(game_id, num_players=2)).layout != given.layout


def test_a_game_of_your_own_has_what_the_module_that_it_names_defines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Unknown(Petrify):
        id = "unknown_v0"

    assert features.features_of(Unknown()) is None
    assert features.facts(Unknown()) == GameFacts()

    class Own(Petrify):
        id = "own_v0"
        agent_module = "agents_of_own"

    with pytest.raises(ValueError, match=r"agent_module='agents_of_own' of the game 'own_v0' cannot be imp"):
        features.features_of(Own())
    module: Any = ModuleType("agents_of_own")
    module.make_features = lambda game: (game, "features")
    monkeypatch.setitem(sys.modules, "agents_of_own", module)
    assert features.features_of(Own(size=5)) == (Own(size=5), "features")
    assert features.facts(Own) == GameFacts()
    module.FACTS = GameFacts(binary_statistics=("won",))
    assert features.facts(Own).binary_statistics == ("won",)
