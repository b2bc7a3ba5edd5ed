"""Agents: how they are named, what they may see, and how well they play."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import catbox_agents
import catbox_env
from catbox_agents import Agent
from catbox_agents.specs import best_agent
from tests.games.rule_sets import RULES


class FirstLegal(Agent):
    """A user's own agent: the lowest legal id."""

    def act(self, observation: np.ndarray, action_mask: np.ndarray, history: np.ndarray | None = None) -> int:
        return int(np.argmax(action_mask))


class NoAgent:
    """A class that make() has to refuse."""

    def __init__(self, game: Any, seed: Any) -> None:
        self.act = self.__doc__


@pytest.mark.parametrize("game_id", catbox_env.GAMES)
def test_variants_of_the_heuristic_play_legally_differently_and_the_same_each_time(game_id: str) -> None:
    game = catbox_env.make_game(game_id)
    vec = catbox_env.make_vec(game_id, 200, seed=1)
    vec.step_random(3, seed=2)
    masks, rows = vec.action_mask.copy(), np.arange(200)
    chosen = {
        spec: catbox_agents.make(spec, game).act_batch(vec.observation, masks)
        for spec in ("heuristic", "heuristic:1", "heuristic:2")
    }
    assert all(masks[rows, actions].all() for actions in chosen.values())
    again = catbox_agents.make("heuristic:1", game, seed=5).act_batch(vec.observation, masks)
    assert np.array_equal(again, chosen["heuristic:1"])
    assert not np.array_equal(chosen["heuristic:1"], chosen["heuristic:2"])
    assert not np.array_equal(chosen["heuristic"], chosen["heuristic:2"])


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "²", "9999999999", "1,2"])
def test_a_variant_is_a_positive_number(number: str) -> None:
    with pytest.raises(ValueError, match="expected heuristic:N with a number N of 1 or more"):
        catbox_agents.make(f"heuristic:{number}", catbox_env.make_game("petrify_v0"))


def game_for(players: int, **options: Any) -> Any:
    return catbox_env.make_game("cat_in_the_box_v0", num_players=players, **options)


# Names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("heuristc", "did you mean 'heuristic'"),
        ("heruistic", "did you mean 'heuristic'"),
        ("nosuch", "unknown agent 'nosuch'; expected one of random"),  # no name is like it
        ("", "expected one of random, heuristic"),
        ("zoo:expert", "unknown agent 'expert' of the zoo"),
        ("pimcs:samples=64", "unknown agent 'pimcs:samples=64'; did you mean 'pimc'"),
        ("no_such_package.bots:Bot", "there is no module 'no_such_package'"),
        (f"{__name__}:FirstLegel", "did you mean 'FirstLegal'"),
        (f"{__name__}:NoAgent", "has no method 'act'"),
        ("runs/nowhere/policy.safetensors", "runs/nowhere/policy.safetensors"),
        ("os:getcwd", "module 'os' has no class 'getcwd'"),
        ("json:JSONDecoder", r"cannot be called as JSONDecoder\(game, seed\)"),
        ("x/" * 2500, "the checkpoint could not be loaded"),
        (5, "agent 5: expected a string"),
    ],
)
def test_a_spec_that_names_no_agent_is_refused_with_a_remedy(spec: Any, said: str) -> None:
    with pytest.raises(ValueError, match="(?s)" + said):
        catbox_agents.make(spec, game_for(3))


def test_a_game_without_a_heuristic_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(catbox_agents.HEURISTICS, "petrify_v0")
    with pytest.raises(ValueError, match="no heuristic agent for 'petrify_v0'"):
        catbox_agents.make("heuristic", catbox_env.make_game("petrify_v0"))


@pytest.mark.parametrize("spec", ["careful", "careful:2", "habits", "never_red"])
def test_a_style_that_a_game_has_not_is_refused_and_the_heuristic_offered(spec: str) -> None:
    game, style = catbox_env.make_game("cat_te_v0"), spec.partition(":")[0]
    with pytest.raises(
        ValueError, match=f"no {style} agent for 'cat_te_v0', only for: cat_in_the_box_v0; use 'heur"
    ):
        catbox_agents.make(spec, game)
    assert style in catbox_agents.known_agents()
    assert style in catbox_agents.known_agents(game_for(3))
    assert style not in catbox_agents.known_agents(game)


def test_a_class_of_the_user_is_an_agent() -> None:
    game = game_for(3)
    agent = catbox_agents.make(f"{__name__}:FirstLegal", game, seed=4)
    assert type(agent) is FirstLegal
    assert agent.game == game
    vec = catbox_env.make_vec(game.id, 5, seed=1, **game.options)
    assert (
        agent.act_batch(vec.observation, vec.action_mask).tolist() == vec.action_mask.argmax(axis=1).tolist()
    )


@pytest.mark.parametrize(
    ("program", "error", "said"),
    [
        ("import a_library_that_is_not_there\n", ModuleNotFoundError, "a_library_that_is_not_there"),
        ("class Bot(:\n", ValueError, r"module 'bots_of_a_user' is not valid Python: .*line 1"),
    ],
)
def test_an_error_in_a_users_module_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, error: type[Exception], said: str
) -> None:
    (tmp_path / "bots_of_a_user.py").write_text(program)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(error, match=said):
        catbox_agents.make("bots_of_a_user:Bot", game_for(3))


# Random ----------------------------------------------------------------------------------------------------------


def test_random_is_uniform_over_the_legal_actions() -> None:
    game = game_for(3)
    mask = np.zeros((6000, game.num_actions), bool)
    mask[:, [2, 9, 30]] = True
    observations = np.zeros((6000, game.observation_layout.size), np.int8)
    actions = catbox_agents.make("random", game, seed=5).act_batch(observations, mask)
    counts = np.bincount(actions, minlength=game.num_actions)
    assert counts.sum() == counts[[2, 9, 30]].sum()
    assert ((counts[[2, 9, 30]] - 2000) ** 2 / 2000).sum() < 13.8  # chi-squared, 2 degrees, p = 0.001


@pytest.mark.parametrize("spec", ["random", "heuristic"])
def test_an_empty_mask_is_refused(spec: str) -> None:
    game = game_for(3)
    masks = np.ones((3, game.num_actions), bool)
    masks[1] = False
    observations = np.zeros((3, game.observation_layout.size), np.int8)
    with pytest.raises(ValueError, match="row 1"):
        catbox_agents.make(spec, game).act_batch(observations, masks)


@pytest.mark.nojit
@pytest.mark.parametrize("game_id", catbox_agents.HEURISTICS)
@pytest.mark.parametrize("kind", ["ones", "noise", "one element off"])
def test_an_impossible_observation_never_makes_the_agent_read_out_of_bounds(game_id: str, kind: str) -> None:
    """Compiled code would read or write beside an array; without compilation that is an IndexError."""
    game, rng = catbox_env.make_game(game_id), np.random.default_rng(0)
    agent = catbox_agents.make("heuristic", game)
    for seed in range(20):
        state = game.new_initial_state(seed=seed)
        seen = state.observation(0)
        if kind == "ones":
            seen[:] = 1
        elif kind == "noise":
            seen[:] = rng.integers(0, 2, len(seen))
        else:
            seen[rng.integers(len(seen))] ^= 1
        with contextlib.suppress(ValueError):  # to refuse it is right, and so is an answer
            agent.act(seen, np.ones(game.num_actions, np.int8))


# Heuristic: in every game ----------------------------------------------------------------------------------------


def test_an_agent_may_play_rules_that_it_cannot_tell_from_its_own() -> None:
    agent = catbox_agents.make("heuristic", catbox_env.make_game("cat_in_the_box_v0"))
    for options in ({"reward": "margin"}, {"start_player": 2}):
        game = catbox_env.make_game("cat_in_the_box_v0", **options)
        assert catbox_agents.check_agent(agent, "it", game) is agent
    two_rounds = catbox_env.make_game("cat_in_the_box_v0", rounds=2)  # which has a score to see
    with pytest.raises(ValueError, match=r"it was made for .* with rounds=1, asked to play with rounds=2"):
        catbox_agents.check_agent(agent, "it", two_rounds)


def test_an_agent_made_for_other_rules_is_refused() -> None:
    laos, khmer = (catbox_env.make_game("cat_te_v0", region=region) for region in ("laos", "khmer"))
    agent = catbox_agents.make("heuristic", khmer)
    assert catbox_agents.check_agent(agent, "it", khmer) is agent
    with pytest.raises(
        ValueError, match=r"it was made for .*'khmer'.*, asked to play .*'laos'.*: make it for"
    ):
        catbox_agents.check_agent(agent, "it", laos)
    with pytest.raises(ValueError, match="was made for"):
        catbox_agents.evaluate(laos, [agent, "random"], 10)
    dealt_by_another = catbox_env.make_game("cat_te_v0", region="laos", reward="margin", dealer=1)
    with pytest.raises(
        ValueError, match=r"cat_te_v0 with region='khmer', asked to play with region='laos': "
    ):
        catbox_agents.check_agent(agent, "it", dealt_by_another)  # what may differ is not named


def test_two_names_of_the_same_rules_are_no_difference() -> None:
    laos, vietnamese = (catbox_env.make_game("cat_te_v0", region=region) for region in ("laos", "vietnamese"))
    agent = catbox_agents.make("heuristic", laos)
    assert catbox_agents.check_agent(agent, "it", vietnamese) is agent
    assert best_agent(vietnamese) == best_agent(laos) == "zoo:cat_te-4p-laos"
    assert catbox_agents.evaluate(vietnamese, ["best", "random"], 10).standings[0].margin > 0
    others = catbox_env.make_game("cat_te_v0", region="vietnamese", offsuit_faceup=False)
    with pytest.raises(ValueError, match="with offsuit_faceup=True, asked to play with offsuit_faceup=False"):
        catbox_agents.check_agent(agent, "it", others)


@settings(max_examples=15)
@given(rules=RULES["cat_in_the_box_v0"])
def test_the_heuristic_plays_only_legal_actions_under_every_rule_set(rules: Any) -> None:
    game = catbox_env.make_game("cat_in_the_box_v0", rules=rules)
    agent = catbox_agents.make("heuristic", game)
    vec = catbox_env.make_vec(game.id, 8, seed=2, rules=rules)
    for _ in range(min(game.max_game_length, 60) + 1):
        vec.step(agent.act_batch(vec.observation, vec.action_mask))  # raises for an illegal action


@pytest.mark.nojit
def test_one_decision_at_a_time_is_the_same_as_many() -> None:
    game = game_for(3)
    agent = catbox_agents.make("heuristic", game)
    vec = catbox_env.make_vec(game.id, 6, seed=3, **game.options)
    for _ in range(20):
        actions = agent.act_batch(vec.observation, vec.action_mask)
        single = [agent.act(vec.observation[i], vec.action_mask[i].astype(np.int8)) for i in range(6)]
        assert actions.tolist() == single
        vec.step(actions)


def test_wrong_shapes_are_refused_before_compiled_code_reads_them() -> None:
    game = game_for(3)
    agent = catbox_agents.make("heuristic", game)
    with pytest.raises(ValueError, match=f"{game.observation_layout.size}.*{game.num_actions}"):
        agent.act_batch(np.zeros((2, 10), np.int8), np.ones((2, game.num_actions), bool))
    with pytest.raises(ValueError, match="expected integers of shape"):
        agent.act_batch(
            np.zeros((2, game.observation_layout.size), np.int8), np.ones((3, game.num_actions), bool)
        )


@pytest.mark.parametrize(("players", "margin"), [(2, 6.0), (3, 3.0), (5, 1.2)])
def test_the_heuristic_clearly_beats_random(players: int, margin: float) -> None:
    result = catbox_agents.evaluate(game_for(players), ["heuristic", "random"], num_deals=200, seed=11)
    heuristic, random = result.standings
    assert heuristic.margin - heuristic.margin_ci95 > margin
    assert heuristic.statistics["paradox"] < 0.5 * random.statistics["paradox"]
