"""Solvers, searches and bots of OpenSpiel on our games, and the known values of the tiny one."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import (  # noqa: E402
    get_all_states,
    ismcts,
    mcts,
)

from tests.adapters.openspiel_games import advance, tiny  # noqa: E402

KNOWN = {"margin": 1.33304, "score": 1.0, "win": 0.41652}


def test_the_tiny_game_has_its_known_size() -> None:
    states = get_all_states.get_all_states(
        tiny(), depth_limit=-1, include_terminals=True, include_chance_states=False
    )
    known = [set(), set()]
    for state in states.values():
        if not state.is_terminal():
            known[state.current_player()].add(state.information_state_string())
    deals = [state for state in states.values() if len(state.full_history()) == 6]
    assert (len(deals), len(states), [len(each) for each in known]) == (55, 6433, [100, 250])


@pytest.mark.slow
@pytest.mark.parametrize("reward", KNOWN)
def test_nash_conv_of_the_uniform_policy_is_the_known_one(reward: str) -> None:
    game = tiny(reward)
    cached = pyspiel.convert_to_cached_tree(game)
    found = pyspiel.nash_conv(cached, pyspiel.UniformRandomPolicy(cached))
    assert found == pytest.approx(KNOWN[reward], abs=1e-5)


@pytest.mark.slow
def test_cfr_plus_comes_to_the_known_values() -> None:
    game = pyspiel.convert_to_cached_tree(tiny())
    solver = pyspiel.CFRPlusSolver(game)
    for iterations, known in ((10, 0.03331), (20, 0.00394)):
        for _ in range(iterations):
            solver.evaluate_and_update_policy()
        assert pyspiel.nash_conv(game, solver.average_policy()) == pytest.approx(known, abs=1e-5)


@pytest.mark.parametrize("solver", ["ExternalSamplingMCCFRSolver", "OutcomeSamplingMCCFRSolver"])
def test_the_policy_of_a_sampling_solver_is_asked_by_state(solver: str) -> None:
    game = pyspiel.convert_to_cached_tree(tiny())
    sampling = getattr(pyspiel, solver)(game, seed=0)
    for _ in range(1000):
        sampling.run_iteration()
    assert pyspiel.nash_conv(game, sampling.average_policy(), True) < KNOWN["margin"] / 3


def test_learners_in_pytorch_have_what_they_import_and_play() -> None:
    from open_spiel.python import rl_agent
    from open_spiel.python.pytorch import deep_cfr, dqn, nfsp

    game = pyspiel.convert_to_cached_tree(tiny())
    solver = deep_cfr.DeepCFRSolver(
        game,
        (8,),
        (8,),
        1,
        num_traversals=1,
        batch_size_advantage=8,
        batch_size_strategy=8,
        memory_capacity=100,
    )
    solver.solve()
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    chances = solver.action_probabilities(state)
    assert set(chances) == set(state.legal_actions())
    assert 0 < min(chances.values()) <= 1
    assert issubclass(dqn.DQN, rl_agent.AbstractAgent)
    assert issubclass(nfsp.NFSP, rl_agent.AbstractAgent)


# Searches.


@pytest.mark.parametrize("name", ["python_cat_in_the_box(players=3)", "python_cat_te(players=3,rounds=2)"])
def test_is_mcts_of_openspiel_plays_with_our_resampling(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(0)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(0))
    for samples in (-1, 4):
        bot = ismcts.ISMCTSBot(game, evaluator, 2.0, 30, samples, random_state=np.random.RandomState(0))
        state = advance(game.new_initial_state(), rng, game.game.draws.length + 7)
        assert not state.is_chance_node()
        assert bot.step(state) in state.legal_actions()


def test_an_import_changes_nothing_in_openspiel() -> None:
    code = """
        import pyspiel
        classes = [each for each in vars(pyspiel).values() if isinstance(each, type)]
        before = [dict(vars(each)) for each in (pyspiel, *classes)]
        from catbox_env.adapters import openspiel
        assert before == [dict(vars(each)) for each in (pyspiel, *classes)]
        openspiel.guard_bots()
        assert before != [dict(vars(each)) for each in (pyspiel, *classes)]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, env=os.environ)


@pytest.mark.faults
def test_bots_in_cpp_never_kill_the_process() -> None:
    """In a process of its own, because a mistake here would end this one."""
    code = """
        import numpy as np, pyspiel, pytest
        from catbox_env.adapters import openspiel
        openspiel.guard_bots()
        evaluator = pyspiel.RandomRolloutEvaluator(1, 42)
        for name in ("python_cat_in_the_box(players=3)", "python_petrify"):
            game, rng = pyspiel.load_game(name), np.random.default_rng(0)
            to_be_dealt, state = game.new_initial_state(), game.new_initial_state()
            while state.is_chance_node():
                state.apply_action(state.legal_actions()[0])
            if name == "python_petrify":
                bot = pyspiel.MCTSBot(game, evaluator, 2.0, 30, 10, False, 42, False)
                assert bot.step(state) in state.legal_actions()
                assert bot.step_verbose(state)[0] in state.legal_actions()
                assert bot.step_with_policy(state)[1] in state.legal_actions()
                bot.mcts_search(state)
                over = state.clone()
                while not over.is_terminal():
                    over.apply_action(over.legal_actions()[0])
                for method in (bot.step, bot.step_verbose, bot.step_with_policy, bot.mcts_search):
                    for nobody_moves in (to_be_dealt, over):
                        with pytest.raises(ValueError, match="expected a state in which a player is to move"):
                            method(nobody_moves)
                assert pyspiel.evaluate_bots(state, [bot, bot], 1)
            else:
                bot = pyspiel.ISMCTSBot(42, evaluator, 2.0, 30)
                for method in (bot.step, bot.step_verbose, bot.step_with_policy, bot.get_policy):
                    with pytest.raises(ValueError, match="open_spiel.python.algorithms.ismcts.ISMCTSBot"):
                        method(state)
        # A bot on a game in C++ is what it was.
        kuhn = pyspiel.load_game("kuhn_poker").new_initial_state()
        kuhn.apply_action(0)
        kuhn.apply_action(1)
        assert pyspiel.ISMCTSBot(42, evaluator, 2.0, 30).step(kuhn) in (0, 1)
        print("alive")
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ,
    )
    assert result.returncode == 0, result.stderr
    assert "alive" in result.stdout
