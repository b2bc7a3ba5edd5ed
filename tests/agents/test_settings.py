"""Values as text, and specs with settings: how they are read, what is refused, and what the agents make of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import catbox_agents
import catbox_env
from catbox_agents.search import ISMCTSAgent, PIMCAgent, SearchAgent
from catbox_agents.search.rollout import MANY_WORLDS
from catbox_agents.settings import complete_spec, parse_value, read_options, read_settings
from catbox_agents.specs import label_of, parse_spec
from tests.agents.policies import checkpoint


def game_for(players: int = 3) -> Any:
    return catbox_env.make_game("cat_in_the_box_v0", num_players=players)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("7", 7), ("-3", -3), ("2_000_000", 2_000_000), ("0x10", 16), ("5e-4", 5e-4), (" 1.5 ", 1.5)),
        *(("true", True), ("No", False), ("on", True), ("null", None), ("None", None)),
        *(("1,3,4", [1, 3, 4]), ("[1, 3, 4]", [1, 3, 4]), ("(1,3)", [1, 3]), ("1,", [1]), ("[1]", [1])),
        *(("", []), ("[]", []), ("random, heuristic", ["random", "heuristic"]), ("[random]", ["random"])),
        *(("laos", "laos"), ("module:Class", "module:Class"), ("it's", "it's"), ("run [1]", "run [1]")),
        *(("[1", "[1"), ("]", "]"), ("[1]x", "[1]x"), ("{a}", "{a}"), ("010", "010"), ("0.5", 0.5), ("0", 0)),
    ],
)
def test_a_text_is_read_as_what_it_says(text: str, value: Any) -> None:
    read = parse_value(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["1" * 5000, "1e999", "nan", "b'x'", "1+2j", "__import__('os')"])
def test_what_is_no_finite_number_stays_a_text(text: str) -> None:
    assert parse_value(text) == text


@pytest.mark.parametrize("bids", ["1,3", "[1, 3]", [1, 3], (1, 3)])
def test_a_rule_with_several_values_may_be_written_in_any_form(bids: Any) -> None:
    options = read_options("cat_in_the_box_v0", {"bids": bids, "num_players": "3", "reward": "margin"})
    assert options == {"bids": [1, 3], "num_players": 3, "reward": "margin"}
    assert catbox_env.make_game("cat_in_the_box_v0", **options).rules.bids == (1, 3)


@pytest.mark.parametrize("bids", [2, "2", "2,", [2]])
def test_one_value_for_a_rule_that_takes_several_is_a_list_of_one(bids: Any) -> None:
    assert read_options("cat_in_the_box_v0", {"bids": bids}) == {"bids": [2]}


def test_options_that_no_rule_has_are_read_and_left_to_the_game_to_refuse() -> None:
    assert read_options("petrify_v0", {"size": "5", "bids": "2"}) == {"size": 5, "bids": 2}
    assert read_options("chess_v9", {"bids": "2", "rounds": None}) == {"bids": 2, "rounds": None}
    assert read_options("cat_in_the_box_v0", {"bids": None}) == {"bids": None}


def test_rules_that_only_an_object_can_give_are_no_option() -> None:
    with pytest.raises(
        ValueError, match=r"unknown option 'rules' of petrify_v0.*expected one of reward, num_pl"
    ):
        read_options("petrify_v0", {"rules": "1"})


@pytest.mark.parametrize(
    ("spec", "settings"),
    [
        ("search", {}),
        ("search:fast", {"budget": 0.02}),
        ("search:normal", {"budget": 0.1}),
        ("search:deep", {"budget": 1.0}),
        ("search:budget=1.5s, fast", {"budget": 1.5}),
        ("search:fast,worlds=64,beta=.5", {"budget": 0.02, "worlds": 64, "beta": 0.5}),
        ("search:worlds=128,policy=random,budget=100ms", {"worlds": 128, "policy": "random", "budget": 0.1}),
        # A comma separates only before a setting or a preset of this agent.
        ("search:policy=pimc:samples=8,budget=1s", {"policy": "pimc:samples=8", "budget": 1.0}),
        ("search:policy=runs/a, b,seed 1/best,worlds=3", {"policy": "runs/a, b,seed 1/best", "worlds": 3}),
        (
            "pimc:policy=search:worlds=5,budget=1s,fast,samples=2",
            {"policy": "search:worlds=5,budget=1s,fast", "samples": 2},
        ),
        ("search:policy=faster,fastest", {"policy": "faster,fastest"}),
        (
            " ismcts:simulations=10,exploration=0.5,parallel=4 ",
            {"simulations": 10, "exploration": 0.5, "parallel": 4},
        ),
    ],
)
def test_settings_are_read(spec: str, settings: dict[str, Any]) -> None:
    assert read_settings(spec) == settings


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "search:world=3",
            r"unknown setting 'world'; did you mean 'worlds'\?; expected one of worlds, policy, opp",
        ),
        ("search:fest", r"unknown setting 'fest'; did you mean 'fast'"),
        ("search:", "unknown setting ''"),
        ("pimc:worlds=3", "unknown setting 'worlds'; expected one of samples, policy, separated by commas"),
        ("pimc:samples", "samples has no value; expected samples=VALUE"),
        ("search:worlds=0", "worlds=0: expected an integer from 1 to 2147483647"),
        ("search:worlds=99999999999", "worlds=99999999999: expected an integer"),
        ("search:worlds=3,dept=2", "unknown setting 'dept'; did you mean 'depth'"),
        ("search:budget=0ms", "budget=0: expected a time above 0, such as 100ms or 1.5s"),
        ("search:budget=100", "budget='100': expected a time above 0"),
        ("search:budget=" + "9" * 400 + "s", "expected a time above 0"),
        ("search:beta=2", "beta=2: expected a number from 0 to 1"),
        ("search:epsilon=nan", "epsilon='nan': expected a number from 0 to 1"),
        ("search:policy=", "policy='': expected the spec of an agent"),
        ("pimc:opponent_model=random", "unknown setting 'opponent_model'"),
        ("search:worlds=3,worlds=4", "worlds is given twice; give it once"),
        ("search:fast,deep", "more than one preset; give one of fast, normal, deep"),
        ("ismcts:simulations=0", "simulations=0: expected an integer from 1 to 2147483647"),
        ("ismcts:exploration=-1", "exploration=-1: expected a number of 0 or more"),
        ("pimc:samples=x", "samples='x': expected an integer from 1 to 2147483647"),
    ],
)
def test_wrong_settings_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match="agent '" + spec.split(":")[0]) as checked:
        parse_spec(spec)
    checked.match(message)
    with pytest.raises(ValueError, match="agent '" + spec.split(":")[0]) as made:
        catbox_agents.make(spec, game_for())
    made.match(message)


@pytest.mark.parametrize("setting", ["policy=", "policy=search:policy=", "opponent_model="])
def test_a_wrong_agent_in_the_settings_is_refused_by_name(setting: str) -> None:
    spec = f"search:{setting}heuristics,fast"
    for refuse in (parse_spec, lambda spec: catbox_agents.make(spec, game_for())):
        with pytest.raises(ValueError, match="unknown agent 'heuristics'; did you mean 'heuristic'"):
            refuse(spec)


def test_a_policy_of_rollouts_must_not_ask_for_its_history() -> None:
    with pytest.raises(ValueError, match="needs its history, which a sampled world does not have"):
        catbox_agents.make("pimc:policy=search:beta=1", game_for())


def test_what_the_specs_make() -> None:
    game = game_for()
    searcher = catbox_agents.make("search", game, 0)
    assert isinstance(searcher, SearchAgent)
    assert (searcher.search.worlds, searcher.search.budget, searcher.search.players[0].label) == (
        128,
        None,
        "heuristic",
    )
    assert searcher.needs_history
    timed = catbox_agents.make("search:fast,policy=random,beta=0", game, 0)
    assert isinstance(timed, SearchAgent)
    assert (timed.search.worlds, timed.search.budget, timed.search.players[0].label) == (
        MANY_WORLDS,
        0.02,
        "random",
    )
    assert not timed.needs_history
    both = catbox_agents.make("search:deep,worlds=7,epsilon=0.5,proposals=3", game, 0)
    assert isinstance(both, SearchAgent)
    search = both.search
    assert (search.worlds, search.budget, search.epsilon, search.proposals) == (7, 1.0, 0.5, 3)
    baseline = catbox_agents.make("pimc", game, 0)
    assert isinstance(baseline, PIMCAgent)
    assert baseline.search.worlds == 64
    tree = catbox_agents.make("ismcts:simulations=50,parallel=4", game, 0)
    assert isinstance(tree, ISMCTSAgent)
    assert (tree.search.simulations, tree.search.parallel, tree.search.exploration) == (50, 4, 0.7)
    assert not catbox_agents.make("search", catbox_env.make_game("petrify_v0"), 0).needs_history


def test_a_policy_may_be_a_checkpoint_whose_path_has_commas(tmp_path: Path) -> None:
    folder = tmp_path / "a, b,c 1"
    folder.mkdir()
    path = checkpoint(folder, "cat_in_the_box_v0", 0, num_players=3)
    agent = catbox_agents.make(f"search:worlds=4,policy={path},beta=0.5", game_for(), 0)
    assert isinstance(agent, SearchAgent)
    assert agent.search.players[0].label == path
    tree = catbox_agents.make(f"ismcts:policy={path}", game_for(), 0)
    assert isinstance(tree, ISMCTSAgent)
    assert tree.search.has_priors


def test_a_spec_names_a_users_module_only_where_its_policy_does() -> None:
    assert not parse_spec("search:fast").runs_code
    assert not parse_spec("pimc:policy=random,samples=3").runs_code
    assert parse_spec("my.module:Class").runs_code
    assert parse_spec("search:policy=my.module:Class,fast").runs_code
    assert parse_spec("pimc:policy=search:policy=my_module:Class").runs_code
    assert parse_spec("search:policy=random,opponent_model=my.module:Class").runs_code


def test_names_labels_and_completion_know_the_searches() -> None:
    known = catbox_agents.known_agents()
    assert known[:7] == ["random", "heuristic", "best", "zoo", "search", "ismcts", "pimc"]
    assert known[7:13] == ["easy", "normal", "hard", "careful", "habits", "never_red"]
    assert all(name.startswith("zoo:") for name in known[13:])
    assert label_of("search:fast,policy=random") == "search:fast,policy=random"
    with pytest.raises(
        ValueError,
        match=r"did you mean 'search'\?; expected one of .*, pimc, easy, normal, hard, .*, never_red, 'zoo:NAME'",
    ):
        catbox_agents.make("serch", game_for())
    assert complete_spec("search:")[:4] == ["search:fast", "search:normal", "search:deep", "search:worlds="]
    assert "search:worlds=3,budget=" in complete_spec("search:worlds=3,bu")
    assert "search:worlds=3,worlds=" not in complete_spec("search:worlds=3,")
    assert complete_spec("random") == complete_spec("search") == []
