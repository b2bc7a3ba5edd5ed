"""Every game as a game of OpenSpiel, against OpenSpiel's own tests and algorithms."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import textwrap
from collections import Counter
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy as policies  # noqa: E402  # after the check that it is there
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    cfr,
    exploitability,
    external_sampling_mccfr,
    generate_playthrough,
    get_all_states,
    ismcts,
    mcts,
)

import catbox_env  # noqa: E402
from catbox_agents import make as make_agent  # noqa: E402
from catbox_agents.exact import exploitability as exact_exploitability  # noqa: E402
from catbox_env import make_game  # noqa: E402
from catbox_env.adapters import openspiel  # noqa: E402
from catbox_env.cat_in_the_box_v0 import Rules  # noqa: E402
from tests.adapters.playthroughs import FOLDER, PLAYTHROUGHS, playthrough  # noqa: E402
from tests.core.game_cases import CASES  # noqa: E402

GAMES = [
    "python_cat_in_the_box(players=5)",
    "python_cat_in_the_box(players=2,rounds=2)",
    "python_cat_in_the_box(players=3,num_ranks=4,reward=win,rounds_word=match,start_player_word=random,bids=1 3)",
    "python_cat_te(players=4,reward=margin)",
    "python_cat_te(players=3,side_pot=2,rounds=3)",
    "python_petrify",
    "python_petrify(players=3,size=5,teleports=3,walls=2,wildcards=2,zeros=1,move_rule=up_to)",
    "python_petrify(size=3,walls=3,wildcards=6)",
]
KNOWN = {"margin": 1.33304, "score": 1.0, "win": 0.41652}


def tiny(reward: str = "margin") -> Any:
    return openspiel.load(make_game("cat_in_the_box_v0", rules=Rules.tiny(), reward=reward))


def advance(state: Any, rng: np.random.Generator, moves: int) -> Any:
    """``state`` after so many random steps, chance included, or at the end."""
    for _ in range(moves):
        if state.is_terminal():
            break
        if state.is_chance_node():
            draws, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(draws, p=np.array(chances) / sum(chances))))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    return state


# OpenSpiel's own tests.


@pytest.mark.parametrize("name", GAMES)
def test_openspiels_random_simulation_accepts_every_game(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_golden_playthroughs(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert playthrough(name) == golden, "to accept: python -m tests.adapters.playthroughs"
    lines = golden.splitlines()
    params = generate_playthrough._playthrough_params(lines)
    again = generate_playthrough.playthrough(params["game_string"], params["action_sequence"])
    assert again == golden  # the actions in the file lead through the same game


def test_every_game_of_the_registry_is_registered() -> None:
    for game_id in catbox_env.GAMES:
        game = openspiel.load(game_id)
        assert game.get_type().short_name == openspiel.short_name(game_id)
        assert game.game == make_game(game_id)
        assert (game.get_type().min_num_players, game.get_type().max_num_players) == (
            min(CASES[game_id].values["num_players"]),
            max(CASES[game_id].values["num_players"]),
        )
    assert {"python_cat_in_the_box", "python_cat_te", "python_petrify"} <= set(pyspiel.registered_names())


@pytest.mark.parametrize("name", GAMES)
def test_a_game_can_be_named_and_pickled(name: str) -> None:
    game = pyspiel.load_game(name)
    assert pyspiel.load_game(str(game)).game == game.game
    assert openspiel.load(game.game).game == game.game
    assert pickle.loads(pickle.dumps(game)).game == game.game
    state = advance(game.new_initial_state(), np.random.default_rng(0), 40)
    again = pickle.loads(pickle.dumps(state))
    assert str(again) == str(state)
    assert again.history() == state.history()


@pytest.mark.parametrize("game_id", CASES)
def test_every_option_can_be_given_as_a_parameter(game_id: str) -> None:
    rng = np.random.default_rng(0)
    values, tested = CASES[game_id].values, 0
    for _ in range(60):
        options = {name: choices[int(rng.integers(len(choices)))] for name, choices in values.items()}
        try:
            game = make_game(game_id, reward=str(rng.choice(["score", "margin", "win"])), **options)
        except ValueError:
            continue
        spiel = openspiel.load(game)
        assert spiel.game == game
        assert spiel.num_players() == game.num_players
        assert spiel.num_distinct_actions() == game.num_actions
        assert (spiel.min_utility(), spiel.max_utility()) == (game.min_utility, game.max_utility)
        assert spiel.utility_sum() == game.utility_sum
        assert spiel.max_game_length() == game.history_length
        tested += 1
    assert tested > 10
    options_game = openspiel.load(game_id, num_players=2)
    assert options_game.game == make_game(game_id, num_players=2)


def test_parameters_are_the_rules_under_openspiels_names() -> None:
    game = pyspiel.load_game("python_cat_in_the_box(players=3,num_ranks=4,rounds=2,bids=[2])").game
    assert game.rules == Rules(num_players=3, num_ranks=4, rounds=2, bids=(2,))
    assert pyspiel.load_game("python_cat_in_the_box(players=3,bids=[])").game.rules.bids == ()
    assert pyspiel.load_game("python_cat_in_the_box(rounds_word=match)").game.rules.rounds == "match"


# The game tree.


@pytest.mark.parametrize("name", GAMES)
def test_chance_deals_card_by_card_in_every_round_with_these_probabilities(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(2)
    core = game.game
    for _ in range(3):
        state, dealt = game.new_initial_state(), 0
        while not state.is_terminal():
            if not state.is_chance_node():
                state.apply_action(int(rng.choice(state.legal_actions())))
                continue
            assert state.play.drawn == []
            drawn: list[int] = []
            while state.is_chance_node():
                outcomes = state.chance_outcomes()
                assert outcomes == core.draw_outcomes(drawn, dealt == 0)
                assert sum(p for _, p in outcomes) == pytest.approx(1.0)
                assert state.legal_actions() == [draw for draw, _ in outcomes]
                assert max(state.legal_actions()) < game.max_chance_outcomes()
                assert len({state.action_to_string(draw) for draw in state.legal_actions()}) == len(outcomes)
                draw = int(rng.choice([draw for draw, _ in outcomes]))
                state.apply_action(draw)
                drawn.append(draw)
                if state.is_chance_node() and state.play.drawn == []:
                    drawn = []  # this deal was not possible
            assert core.draws.drawn(core.deal_of(state.play.state.record), dealt == 0) == drawn
            dealt += 1
        assert dealt == core.num_rounds
        assert state.returns() == pytest.approx(state.play.state.returns(), abs=1e-5)
        assert len(state.history()) <= game.max_history_length()


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


@pytest.mark.parametrize("reward", KNOWN)
def test_nash_conv_of_the_uniform_policy_is_the_known_one(reward: str) -> None:
    game = tiny(reward)
    expected = exact_exploitability(game.game, make_agent("random", game.game, seed=0)).nash_conv
    cached = pyspiel.convert_to_cached_tree(game)
    found = pyspiel.nash_conv(cached, pyspiel.UniformRandomPolicy(cached))
    assert found == pytest.approx(expected, abs=1e-6)
    assert found == pytest.approx(KNOWN[reward], abs=1e-5)


class AgentPolicy(policies.Policy):
    """An agent of catbox that answers the same every time, as a policy of OpenSpiel."""

    def __init__(self, game: Any, agent: Any) -> None:
        super().__init__(game, list(range(game.num_players())))
        self.agent = agent

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        core = state.play.state
        player = core.current_player
        return {self.agent.act(core.observation(player), core.action_mask()): 1.0}


def test_nash_conv_of_the_heuristic_is_that_of_the_command_exploitability() -> None:
    game = tiny()
    agent = make_agent("heuristic", game.game, seed=0)
    found = exploitability.nash_conv(
        game, AgentPolicy(game, agent)
    )  # on the game itself, not on a cached tree
    assert found == pytest.approx(exact_exploitability(game.game, agent).nash_conv, abs=1e-9)
    assert found == pytest.approx(1.93333, abs=1e-5)


def test_cfr_plus_comes_to_the_known_values() -> None:
    game = pyspiel.convert_to_cached_tree(tiny())
    solver = pyspiel.CFRPlusSolver(game)
    found = {}
    for iteration in range(1, 31):
        solver.evaluate_and_update_policy()
        if iteration in (10, 30):
            found[iteration] = pyspiel.nash_conv(game, solver.average_policy())
    assert found == pytest.approx({10: 0.03331, 30: 0.00394}, abs=1e-5)
    python = cfr.CFRPlusSolver(game)
    for _ in range(10):
        python.evaluate_and_update_policy()
    assert exploitability.nash_conv(game, python.average_policy()) == pytest.approx(found[10], abs=1e-9)


def test_external_sampling_mccfr_learns_the_tiny_game() -> None:
    np.random.seed(0)  # noqa: NPY002  # the solver draws from NumPy's global generator
    game = tiny()
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(20):  # on the game itself
        solver.iteration()
    cached = pyspiel.convert_to_cached_tree(game)
    solver = external_sampling_mccfr.ExternalSamplingSolver(cached)
    for _ in range(1000):
        solver.iteration()
    assert exploitability.nash_conv(cached, solver.average_policy()) < 0.1


# Information states.


def seen_so_far(state: Any, player: int) -> list[tuple]:
    """All that ``player`` has seen and done on the way to ``state``, step by step."""
    game = state.get_game()
    along, seen = game.new_initial_state(), []
    for step in state.full_history():
        if not along.is_chance_node():
            core = along.play.state
            shown = step.action
            if step.player != player:
                shown = int(shown_action(core, step.action))
            seen.append((step.player, shown))
        along.apply_action(step.action)
        if not along.is_chance_node():
            seen.append(tuple(along.play.state.observation(player).tolist()))
    return seen


def shown_action(core: Any, action: int) -> int:
    after = core.clone()
    after.apply_action(action)
    return int(after.log[after.record.num_moves - 1, 2])


@pytest.mark.parametrize("name", [
    "python_cat_in_the_box(players=2,num_ranks=2,num_colors=2,copies=4,hand_size=3,bids=[],revealed_cards=1,rounds=2)",
    "python_petrify(size=3,walls=3,wildcards=6)",
])  # fmt: skip
def test_an_information_state_is_all_that_the_player_has_seen_and_done(name: str) -> None:
    """Strings and tensors differ exactly where what was seen differs, over many games of few cards."""
    game, rng = pyspiel.load_game(name), np.random.default_rng(0)
    by_string: dict[str, set] = {}
    by_tensor: dict[bytes, set] = {}
    by_seen: dict[tuple, set] = {}
    for _ in range(150):
        state = advance(game.new_initial_state(), rng, int(rng.integers(10, 30)))
        if state.is_chance_node() or state.is_terminal():
            continue
        for player in range(2):
            seen = (player, *seen_so_far(state, player))
            text = state.information_state_string(player)
            tensor = np.array(state.information_state_tensor(player), np.float32).tobytes()
            by_string.setdefault(text, set()).add(seen)
            by_tensor.setdefault(tensor, set()).add(seen)
            by_seen.setdefault(seen, set()).add((text, tensor))
    assert len(by_seen) >= 40
    for table in (by_string, by_tensor, by_seen):
        assert all(len(each) == 1 for each in table.values())


@pytest.mark.parametrize("name", GAMES)
def test_the_observer_has_named_tensors_and_shows_nobody_elses_cards(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(3)
    core = game.game
    for moves in (0, 45, 60, 75):
        state = advance(game.new_initial_state(), rng, moves)
        for player in range(core.num_players):
            observer = game.make_py_observer()
            observer.set_from(state, player)
            assert list(observer.dict) == ["player", *core.observation_layout]
            assert observer.tensor.tolist() == state.observation_tensor(player)
            assert observer.dict["player"].tolist() == [float(p == player) for p in range(core.num_players)]
            if state.is_chance_node():
                assert not observer.tensor[core.num_players :].any()
                assert "to be dealt" in observer.string_from(state, player)
                continue
            vector = state.play.state.observation(player)
            for part, values in core.observation_layout.unpack(vector).items():
                assert np.array_equal(observer.dict[part], values)
            recalls = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
            recalls.set_from(state, player)
            assert recalls.tensor.tolist() == state.information_state_tensor(player)
            assert np.array_equal(recalls.dict["history"], state.play.state.history_observation(player))
            if state.is_terminal():
                continue
            other = state.resample_from_infostate(player, rng.random)
            for kind in ("observation_string", "observation_tensor", "information_state_string"):
                assert getattr(other, kind)(player) == getattr(state, kind)(player)


def test_public_private_and_all_hidden_information() -> None:
    game = pyspiel.load_game("python_cat_in_the_box(players=3)")
    state = advance(game.new_initial_state(), np.random.default_rng(0), 45)
    hidden = pyspiel.PrivateInfoType

    def observer(public: bool, private: Any, recall: bool = False) -> Any:
        return game.make_py_observer(pyspiel.IIGObservationType(public, recall, private))

    public = observer(True, hidden.NONE, True)
    texts = {public.string_from(state, player) for player in range(3)}
    public.set_from(state, 1)
    assert len(texts) == 1
    assert "hand" not in texts.pop()
    assert (public.dict["history"][:3, 1] == -1).all()  # nobody's discard
    own = observer(False, hidden.SINGLE_PLAYER)
    assert list(own.dict) == ["player", "hand", "discarded"]
    own.set_from(state, 1)
    assert own.dict["hand"].tolist() == state.play.state.record.hand[1, :6].tolist()
    everything = observer(True, hidden.ALL_PLAYERS, True)
    everything.set_from(state, 2)
    assert everything.dict["hand"][1].tolist() == state.play.state.record.hand[0, :6].tolist()
    used = len(state.play.state.history())
    assert everything.dict["history"][:used, 1].tolist() == state.play.state.history()
    assert everything.string_from(state, 0) != everything.string_from(state, 1)


# Searches.


@pytest.mark.parametrize("name", GAMES)
def test_resampling_keeps_what_the_player_knows_and_changes_what_it_does_not(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(5)
    hands = Counter()
    for _ in range(10):
        state = advance(game.new_initial_state(), rng, game.game.draws.length)
        state = advance(state, rng, int(rng.integers(3, game.max_game_length())))
        if state.is_chance_node() or state.is_terminal():
            continue
        for player in range(game.num_players()):
            other = state.resample_from_infostate(player, rng.random)
            assert other.information_state_string(player) == state.information_state_string(player)
            assert other.information_state_tensor(player) == state.information_state_tensor(player)
            assert len(other.history()) == len(state.history())
            assert (other.current_player(), other.returns()) == (state.current_player(), state.returns())
            assert game.deserialize_state(other.serialize()).history() == other.history()
            if player == state.current_player():
                assert other.legal_actions() == state.legal_actions()
            hands[str(other) == str(state)] += 1
    assert hands[False] or game.game.hides_nothing


@pytest.mark.parametrize("name", ["python_cat_in_the_box(players=3)", "python_cat_te(players=3,rounds=2)"])
def test_is_mcts_of_openspiel_plays_with_our_resampling(name: str) -> None:
    game, rng = pyspiel.load_game(name), np.random.default_rng(0)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(0))
    for samples in (-1, 4):
        bot = ismcts.ISMCTSBot(game, evaluator, 2.0, 30, samples, random_state=np.random.RandomState(0))
        state = advance(game.new_initial_state(), rng, game.game.draws.length + 7)
        assert not state.is_chance_node()
        assert bot.step(state) in state.legal_actions()


def test_bots_in_cpp_never_kill_the_process() -> None:
    """In a process of its own, because a mistake here would end this one."""
    code = """
        import numpy as np, pyspiel
        from catbox_env.adapters import openspiel
        evaluator = pyspiel.RandomRolloutEvaluator(1, 42)
        for name in ("python_cat_in_the_box(players=3)", "python_petrify"):
            game, rng = pyspiel.load_game(name), np.random.default_rng(0)
            state = game.new_initial_state()
            while state.is_chance_node():
                state.apply_action(state.legal_actions()[0])
            if name == "python_petrify":
                bot = pyspiel.MCTSBot(game, evaluator, 2.0, 30, 10, False, 42, False)
                assert bot.step(state) in state.legal_actions()
                assert pyspiel.evaluate_bots(state, [bot, bot], 1)
            else:
                bot = pyspiel.ISMCTSBot(42, evaluator, 2.0, 30)
                for method in (bot.step, bot.step_with_policy, bot.get_policy):
                    try:
                        method(state)
                        raise SystemExit("no error")
                    except ValueError as error:
                        assert "open_spiel.python.algorithms.ismcts.ISMCTSBot" in str(error)
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


def test_an_environment_of_openspiel_pays_every_reward_of_every_round() -> None:
    environment = rl_environment.Environment(pyspiel.load_game("python_cat_in_the_box(players=2,rounds=3)"))
    rng, step = np.random.default_rng(0), environment.reset()
    paid = np.zeros(2)
    while not step.last():
        legal = step.observations["legal_actions"][step.observations["current_player"]]
        step = environment.step([int(rng.choice(legal))])
        paid += step.rewards
    assert paid.tolist() == environment.get_state.returns()
    assert paid.any()


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
        openspiel.load(make_game("petrify_v0"), num_players=3)
    game = openspiel.load("petrify_v0")
    with pytest.raises(ValueError, match="no parameters"):
        game.make_py_observer(None, {"a": 1})
    with pytest.raises(ValueError, match="deserialize_state"):
        game.new_initial_state("text")


def test_damaged_texts_of_states_are_refused() -> None:
    game = pyspiel.load_game("python_cat_te(players=2)")
    state = advance(game.new_initial_state(), np.random.default_rng(0), 18)
    text = state.serialize()
    first, rest = text.split("\n", 1)
    steps = first.removeprefix("history=").split(",")
    wrong = [
        "", "x", 7, None, text.replace("history", "story"), "history=0:999\n", "history=a:b\n" + rest,
        "history=" + ",".join(steps[1:]) + "\n" + rest, "history=" + ",".join([*steps, "0:105"]) + "\n" + rest,
        "history=" + ",".join(steps + ["1:0"] * 40) + "\n" + rest,
    ]  # fmt: skip
    for data in wrong:
        with pytest.raises(ValueError, match="state"):
            game.deserialize_state(data)
    other = pyspiel.load_game("python_cat_in_the_box(players=2)")
    with pytest.raises(ValueError, match="damaged, or of another game"):
        other.deserialize_state(text)
    assert game.deserialize_state(text).history() == state.history()


def test_impossible_steps_are_refused_and_change_nothing() -> None:
    game = pyspiel.load_game("python_cat_in_the_box(players=3)")
    state = game.new_initial_state()
    with pytest.raises(ValueError, match="chance outcome 77: expected one of"):
        state.apply_action(77)
    with pytest.raises(ValueError, match="a player is to move"):
        state.resample_from_infostate(0, np.random.default_rng(0).random)
    state = advance(game.new_initial_state(), np.random.default_rng(0), 40)
    before = str(state)
    for wrong in (999, state.get_game().num_distinct_actions() - 1):
        with pytest.raises(ValueError, match="action"):
            state.clone().apply_action(wrong)
    with pytest.raises(ValueError, match="no chance node"):
        state.chance_outcomes()
    for seat in (-1, 3):
        with pytest.raises(ValueError, match="player_id="):
            state.resample_from_infostate(seat, np.random.default_rng(0).random)
        with pytest.raises(ValueError, match="player="):
            game.make_py_observer().string_from(state, seat)
    assert str(state) == before


def test_without_openspiel_the_error_names_what_to_install() -> None:
    code = """
        import sys
        sys.modules["pyspiel"] = None
        try:
            import catbox_env.adapters.openspiel
        except ModuleNotFoundError as error:
            print(error)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=os.environ
    )
    assert 'pip install "catbox-env[spiel]"' in result.stdout
