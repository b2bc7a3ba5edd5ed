"""Every game as a game of OpenSpiel: parameters, chance, copies and bad input, against OpenSpiel's own tests."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import rl_environment  # noqa: E402  # after the check that it is there
from open_spiel.python.algorithms import generate_playthrough  # noqa: E402

import catbox_env  # noqa: E402
from catbox_env import make_game  # noqa: E402
from catbox_env.adapters import openspiel  # noqa: E402
from catbox_env.cat_in_the_box_v0 import Rules  # noqa: E402
from tests.adapters.openspiel_games import GAMES, advance  # noqa: E402
from tests.adapters.playthroughs import FOLDER, PLAYTHROUGHS, playthrough  # noqa: E402
from tests.core.fuzz import random_game  # noqa: E402
from tests.core.game_cases import CASES  # noqa: E402

# OpenSpiel's own tests.


@pytest.mark.parametrize("name", GAMES)
def test_openspiels_random_simulation_accepts_every_game(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_golden_playthroughs(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert playthrough(name) == golden, "to accept: python -m tests.adapters.playthroughs"
    lines = golden.splitlines()
    params = generate_playthrough._playthrough_params(lines)
    again = generate_playthrough.playthrough(params["game_string"], params["action_sequence"])
    assert again == golden  # the actions in the file lead through the same game


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_every_game_of_the_registry_is_registered(game_id: str) -> None:
    game = openspiel.load(game_id)
    type_, players = game.get_type(), CASES[game_id].values["num_players"]
    assert type_.short_name == openspiel.short_name(game_id)
    assert game.game == make_game(game_id)
    assert (type_.min_num_players, type_.max_num_players) == (min(players), max(players))
    is_perfect = type_.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    assert is_perfect == CASES[game_id].perfect_information


@pytest.mark.parametrize("name", GAMES)
def test_a_game_can_be_named_and_pickled(name: str) -> None:
    game = pyspiel.load_game(name)
    assert pyspiel.load_game(str(game)).game == game.game
    assert openspiel.load(game.game).game == game.game
    again = pickle.loads(pickle.dumps(game))
    assert (again.game, str(again)) == (game.game, str(game))
    state = advance(game.new_initial_state(), np.random.default_rng(0), 40)
    again = pickle.loads(pickle.dumps(state))
    assert str(again) == str(state)
    assert again.history() == state.history()


@pytest.mark.slow
def test_a_pickled_game_is_read_in_a_process_that_did_not_import_the_adapter(tmp_path: Path) -> None:
    file = tmp_path / "game"
    file.write_bytes(pickle.dumps(pyspiel.load_game("python_petrify(size=5)")))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).game.rules.size)"
    result = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, env=os.environ
    )
    assert result.stdout == "5\n", result.stderr


@pytest.mark.parametrize("game_id", CASES)
def test_every_option_can_be_given_as_a_parameter(game_id: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(8):
        game = random_game(game_id, rng)
        spiel = openspiel.load(game)
        assert spiel.game == game
        assert spiel.num_players() == game.num_players
        assert spiel.num_distinct_actions() == game.num_actions
        assert (spiel.min_utility(), spiel.max_utility()) == (game.min_utility, game.max_utility)
        assert spiel.utility_sum() == game.utility_sum
        assert spiel.max_game_length() == game.max_game_length
    options_game = openspiel.load(game_id, num_players=2)
    assert options_game.game == make_game(game_id, num_players=2)


def test_parameters_are_the_rules_under_openspiels_names() -> None:
    game = pyspiel.load_game("python_cat_in_the_box(players=3,num_ranks=4,rounds=2,bids=[2])").game
    assert game.rules == Rules(num_players=3, num_ranks=4, rounds=2, bids=(2,))
    assert pyspiel.load_game("python_cat_in_the_box(players=3,bids=[])").game.rules.bids == ()
    assert pyspiel.load_game("python_cat_in_the_box(rounds_word=match)").game.rules.rounds == "match"
    for bids in ((), (2,), (1, 3)):
        name = str(openspiel.load("cat_in_the_box_v0", bids=bids))
        assert pyspiel.load_game(name).game.rules.bids == bids


def test_a_game_of_several_rounds_that_pays_the_win_alone_is_declared_to_pay_at_its_end() -> None:
    for reward, declared in (("win", "TERMINAL"), ("score", "REWARDS")):
        type_ = openspiel.load("cat_in_the_box_v0", rounds=2, reward=reward).get_type()
        assert type_.reward_model.name == declared


# Chance and rewards.


@pytest.mark.parametrize("name", GAMES)
def test_chance_deals_card_by_card_in_every_round_with_these_probabilities(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(2)
    core = game.game
    for _ in range(2):
        state, dealt = game.new_initial_state(), 0
        while not state.is_terminal():
            if not state.is_chance_node():
                state.apply_action(int(rng.choice(state.legal_actions())))
                continue
            assert state.drawn == ()
            drawn: list[int] = []
            while state.is_chance_node():
                outcomes = state.chance_outcomes()
                assert outcomes == core.draws.outcomes(drawn, dealt == 0)
                assert sum(p for _, p in outcomes) == pytest.approx(1.0)
                assert state.legal_actions() == [draw for draw, _ in outcomes]
                assert max(state.legal_actions()) < game.max_chance_outcomes()
                assert len({state.action_to_string(draw) for draw in state.legal_actions()}) == len(outcomes)
                draw = int(rng.choice([draw for draw, _ in outcomes]))
                state.apply_action(draw)
                drawn.append(draw)
                if state.is_chance_node() and state.drawn == ():
                    drawn = []  # this deal was not possible
            assert core.draws.from_deal(core.deal_of(state.game_state), dealt == 0) == drawn
            dealt += 1
        assert dealt == core.num_rounds
        assert state.returns() == pytest.approx(state.game_state.returns(), abs=1e-5)
        assert len(state.history()) <= game.max_history_length()


def test_an_environment_of_openspiel_pays_every_reward_of_every_round_in_exact_thirds() -> None:
    game = pyspiel.load_game("python_cat_in_the_box(players=4,rounds=3,reward=margin)")
    sampler = rl_environment.ChanceEventSampler(seed=0)
    environment = rl_environment.Environment(game, chance_event_sampler=sampler)
    rng, step = np.random.default_rng(0), environment.reset()
    paid = np.zeros(4)
    while not step.last():
        legal = step.observations["legal_actions"][step.observations["current_player"]]
        step = environment.step([int(rng.choice(legal))])
        paid += step.rewards
    returns = np.array(environment.get_state.returns())
    assert returns == pytest.approx(paid, abs=1e-12)
    assert 3 * returns == pytest.approx(np.round(3 * returns), abs=1e-12)
    assert (returns != np.round(returns)).any()


# Copies and bad input.


@pytest.mark.parametrize("name", GAMES)
def test_clones_are_independent_and_texts_of_states_exact(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(7)
    for moves in (0, 10, 45, 60):
        state = advance(game.new_initial_state(), rng, moves)
        before = str(state), state.history(), state.returns()
        for twin in (state.clone(), copy.deepcopy(state), game.deserialize_state(state.serialize())):
            assert (str(twin), twin.history(), twin.returns()) == before
            advance(twin, rng, 20)
        assert (str(state), state.history(), state.returns()) == before


@pytest.mark.parametrize("parameters", [
    "players=9", "players=x", "no=1", "num_ranks=0", "rounds=0", "rounds_word=most", "bids=one two", "bids=3 2",
    "reward=points",
])  # fmt: skip
def test_wrong_parameters_are_errors(parameters: str) -> None:
    with pytest.raises(
        (ValueError, pyspiel.SpielError), match=parameters.partition("=")[0].replace("_word", "")
    ):
        pyspiel.load_game(f"python_cat_in_the_box({parameters})")


def test_what_is_no_game_is_refused() -> None:
    for wrong in (None, 3, pyspiel.load_game("kuhn_poker")):
        with pytest.raises(ValueError, match="expected a game"):
            openspiel.load(wrong)
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        openspiel.load("chess")
    with pytest.raises(ValueError, match="num_players: given with a game"):
        openspiel.load(make_game("cat_in_the_box_v0"), num_players=3)
    with pytest.raises(ValueError, match="no parameters"):
        openspiel.load("cat_in_the_box_v0").make_py_observer(None, {"a": 1})


def test_damaged_texts_of_states_are_refused() -> None:
    game = pyspiel.load_game("python_cat_te(players=2)")
    state = advance(game.new_initial_state(), np.random.default_rng(0), 18)
    text = state.serialize()
    first, rest = text.split("\n", 1)
    steps = first.removeprefix("history=").split(",")
    wrong = [
        "", None, "history=0:999\n", "history=a:b\n" + rest, "history=" + ",".join(steps[1:]) + "\n" + rest,
        "history=" + ",".join([*steps, "0:105"]) + "\n" + rest, first.replace("history", "story"),
        first.replace("-1:", "0:", 1),
    ]  # fmt: skip
    for data in wrong:
        with pytest.raises(ValueError, match="damaged, or of another game"):
            game.deserialize_state(data)
    with pytest.raises(ValueError, match="damaged, or of another game"):
        pyspiel.load_game("python_cat_in_the_box(players=2)").deserialize_state(text)
    assert game.deserialize_state(text).history() == state.history()


def test_impossible_steps_are_refused_and_change_nothing() -> None:
    game = pyspiel.load_game("python_cat_in_the_box(players=3)")
    state = game.new_initial_state()
    with pytest.raises(ValueError, match="chance outcome 77: expected one of"):
        state.apply_action(77)
    assert (state.history(), state.drawn) == ([], ())
    with pytest.raises(ValueError, match="a player is to move"):
        state.resample_from_infostate(0, np.random.default_rng(0).random)
    state = advance(game.new_initial_state(), np.random.default_rng(0), 40)
    before = str(state), state.history(), state.serialize()
    for wrong in (999, state.get_game().num_distinct_actions() - 1):
        with pytest.raises(ValueError, match="action"):
            state.apply_action(wrong)
    with pytest.raises(ValueError, match="not a chance node"):
        state.chance_outcomes()
    for seat in (-1, 3):
        with pytest.raises(ValueError, match="player_id="):
            state.resample_from_infostate(seat, np.random.default_rng(0).random)
        with pytest.raises(ValueError, match="player="):
            game.make_py_observer().string_from(state, seat)
    assert (str(state), state.history(), state.serialize()) == before
