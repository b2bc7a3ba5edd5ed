"""Exploitability, against known values, a recursion over single states and games played; and what agents are asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspiel")

import catbox_agents
from catbox_agents import Agent, AgentError
from catbox_agents.arena.exact import exploitability
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game, GameState, make_game, make_vec
from catbox_env.cat_in_the_box_v0 import Rules
from catbox_env.petrify_v0 import Rules as PetrifyRules
from tests.agents.policies import network_for

TINY = Rules.tiny()
SMALL = [
    replace(TINY, num_ranks=2, bids=(), copies=5, revealed_cards=2, start_player="random"),
    replace(TINY, num_ranks=2, hand_size=4, copies=4, bids=(0, 2)),
    replace(TINY, num_players=3, num_colors=2, num_ranks=2, copies=5),
]


def game_of(rules: Any = TINY, reward: str = "margin") -> Game:
    game_id = "petrify_v0" if isinstance(rules, PetrifyRules) else "cat_in_the_box_v0"
    return make_game(game_id, rules=rules, reward=reward)


GAME = game_of()


class Mixing(Agent):
    """A policy that differs in every information state: drawn from what its seat has seen."""

    needs_history = True
    samples_actions = True

    def policy_batch(self, observations: Any, masks: Any, histories: Any = None) -> Any:
        policies = np.zeros(masks.shape)
        for policy, *seen, mask in zip(policies, observations, histories, masks, strict=True):
            draws = np.random.default_rng([*np.concatenate([part.ravel() for part in seen]).astype(np.uint8)])
            policy[mask.astype(bool)] = draws.dirichlet(np.full(int(mask.sum()), 0.5))
        return policies

    def act_batch(self, observations: Any, masks: Any, histories: Any = None) -> Any:
        raise AssertionError("an agent that draws from policy_batch is not asked for actions")


class Answering(Agent):
    """Gives a fixed answer to one kind of question."""

    samples_actions = True

    def __init__(self, game: Game = GAME, **answers: Any) -> None:
        super().__init__(game)
        for name, answer in answers.items():
            setattr(self, name, answer)

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        return int(action_mask.argmax())


# Values --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "reward", "known"),
    [
        ("random", "margin", 1.33304),
        ("random", "score", 1.0),
        ("random", "win", 0.41652),
        ("heuristic", "margin", 1.93333),
        ("heuristic", "score", 1.38988),
        ("heuristic", "win", 0.91280),
    ],
)
def test_nash_conv_is_the_known_one(agent: str, reward: str, known: float) -> None:
    found = exploitability(game_of(reward=reward), agent)
    assert (found.deals, found.histories, found.information_states) == (55, 6433, [100, 250])
    assert found.nash_conv == pytest.approx(known, abs=5e-6)
    assert sum(found.gains) == pytest.approx(found.nash_conv)
    assert np.subtract(found.best_response_values, found.values) == pytest.approx(found.gains)
    assert (found.agent, found.options["reward"]) == (agent, reward)
    assert found.as_dict()["nash_conv"] == found.nash_conv


def after(state: GameState, action: int) -> GameState:
    twin = state.clone()
    twin.apply_action(action)
    return twin


def policy_in(state: GameState, agent: Agent) -> dict[int, float]:
    seat = state.current_player
    seen = state.observation(seat), state.action_mask(), state.history_observation(seat)
    row = agent.policy_batch(*(array[None] for array in seen))[0]  # type: ignore[attr-defined]
    return {action: row[action] for action in state.legal_actions()}


def expected(state: GameState, agent: Agent) -> Any:
    if state.is_terminal():
        return np.array(state.returns())
    return sum(p * expected(after(state, action), agent) for action, p in policy_in(state, agent).items())


def most(states: list[tuple[float, GameState]], seat: int, agent: Agent) -> float:
    """The most that ``seat`` can be paid in weighted states that it cannot tell apart, or that are the deals."""
    total, decisions = 0.0, {}
    while states:
        weight, state = states.pop()
        if state.is_terminal():
            total += weight * state.returns()[seat]
        elif state.current_player == seat:
            decisions.setdefault(state.information_state(seat).tobytes(), []).append((weight, state))
        else:
            states += [(weight * p, after(state, action)) for action, p in policy_in(state, agent).items()]
    for alike in decisions.values():
        legal = alike[0][1].legal_actions()
        total += max(most([(w, after(s, action)) for w, s in alike], seat, agent) for action in legal)
    return total


@pytest.mark.parametrize(
    ("rules", "reward"),
    [(SMALL[0], "margin"), (SMALL[0], "score"), (SMALL[1], "win"), (SMALL[2], "margin")],
    ids=["no bids", "score", "four cards", "three players"],
)
def test_values_and_best_responses_are_those_of_a_recursion_over_single_states(
    rules: Rules, reward: str
) -> None:
    game = game_of(rules, reward)
    agent = Mixing(game)
    found = exploitability(game, agent)
    deals = [(p, game.new_initial_state(seed=3, deal=deal)) for deal, p in game.chance_outcomes()]
    assert found.deals == len(deals)
    assert found.values == pytest.approx(sum(p * expected(state, agent) for p, state in deals))
    for seat in range(game.num_players):
        assert found.best_response_values[seat] == pytest.approx(most(list(deals), seat, agent))


@pytest.mark.parametrize(
    "rules",
    [TINY, pytest.param(PetrifyRules.tiny(), marks=pytest.mark.slow)],
    ids=["cat_in_the_box", "petrify"],
)
def test_the_values_of_the_heuristic_are_those_of_all_deals_played_out(rules: Any) -> None:
    game = game_of(rules)
    found = exploitability(game, "heuristic")
    assert found.policy == "deterministic"
    deals = game.chance_outcomes()
    assert found.deals == len(deals)
    vec = make_vec(game.id, len(deals), auto_deal=False, **game.options)
    vec.set_states([game.new_initial_state(seed=0, deal=deal) for deal, _ in deals])
    paid = catbox_agents.play_out(vec, "heuristic", until="end_of_game")
    assert found.values == pytest.approx([p for _, p in deals] @ paid, abs=1e-6)


# What agents are asked -----------------------------------------------------------------------------------------------


def test_an_agent_that_draws_is_estimated_by_its_frequencies() -> None:
    plain = catbox_agents.make("random", GAME, 4)
    found = exploitability(GAME, Answering(act_batch=lambda o, m, h: plain.act_batch(o, m)), samples=1000)
    assert (found.policy, found.samples) == ("estimated", 1000)
    assert found.nash_conv == pytest.approx(1.33304, abs=0.08)


def test_an_agent_that_takes_its_luck_from_the_decision_is_asked_with_other_luck_each_time() -> None:
    agent = catbox_agents.make("pimc:samples=1,policy=random", GAME, 1)
    found = exploitability(GAME, agent, samples=4)
    assert found.policy == "estimated"
    assert found == exploitability(GAME, agent, samples=4)


def test_every_answer_is_asked_for_each_sample_in_another_order_and_may_spoil_what_it_was_given() -> None:
    given = []

    def act(observations: Any, masks: Any, histories: Any) -> Any:
        chosen = masks.argmax(axis=1)
        given.append(observations.copy())
        for array in (observations, masks):
            array[:] = 1
        assert histories is None
        return chosen

    found = exploitability(GAME, Answering(act_batch=act), samples=3)
    assert (found.policy, found.samples) == ("deterministic", 3)
    assert len({observations.tobytes() for observations in given}) == 3
    rows = [sorted(row.tobytes() for row in observations) for observations in given]
    assert rows[0] == rows[1] == rows[2]
    assert len(rows[0]) == 350


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"act_batch": lambda o, m, h: np.zeros(len(o))}, "returned float64 of shape"),
        ({"act_batch": lambda o, m, h: m.argmin(axis=1)}, "chose the illegal action"),
        ({"policy_batch": lambda o, m, h: m[:1] / 1.0}, "policy_batch returned float64 of shape"),
        ({"policy_batch": lambda o, m, h: m * np.nan}, "expected probabilities of 0 or more that sum to 1"),
        ({"policy_batch": lambda o, m, h: np.full(m.shape, 1 / m.shape[1])}, "that sum to 1"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_policy_is_refused_with_the_agents_name(answers: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^agent '.*Answering'.*{message}"):
        exploitability(GAME, Answering(**answers))


@pytest.mark.parametrize("question", ["act_batch", "policy_batch", "seed_decisions"])
def test_an_error_in_the_agents_code_has_its_name(question: str) -> None:
    def fail(*asked: Any) -> Any:
        raise KeyError("lost")

    with pytest.raises(AgentError, match=r"agent '.*Answering' raised KeyError"):
        exploitability(GAME, Answering(**{question: fail}))


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game_id", "options", "size"),
    [
        ("cat_in_the_box_v0", {}, r"it has about [\d.]+e\+\d\d histories"),
        ("cat_in_the_box_v0", {"rules": replace(TINY, rounds=2)}, r"it has about [\d.]+e\+07 histories"),
        ("petrify_v0", {}, r"the limit is 1,000,000 histories; use smaller rules, such as Rules.tiny\(\)"),
        ("cat_te_v0", {"num_players": 2}, "is too large to be solved exactly"),
    ],
)  # fmt: skip
def test_a_tree_that_cannot_be_walked_through_is_refused(
    game_id: str, options: dict[str, Any], size: str
) -> None:
    with pytest.raises(ValueError, match=size):
        exploitability(make_game(game_id, **options), "random")


def test_a_tree_over_the_limit_is_refused_before_and_during_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    assert exploitability(GAME, "random", max_histories=6433).histories == 6433
    with pytest.raises(ValueError, match=r"about [\d.e+]+ histories, and the limit is 3,000"):
        exploitability(GAME, "random", max_histories=3000)
    monkeypatch.setattr("catbox_agents.arena.exact._estimate", lambda game, generator: 2.0)
    with pytest.raises(ValueError, match=r"it has more than 6,432 histories"):
        exploitability(GAME, "random", max_histories=6432)


def test_agents_for_other_rules_and_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"asked to play with .* make it for these rules"):
        exploitability(GAME, Answering(make_game("cat_in_the_box_v0", num_players=2)))
    with pytest.raises(ValueError, match="was made for the game 'petrify_v0'"):
        exploitability(GAME, Answering(make_game("petrify_v0")))
    with pytest.raises(ValueError, match="unknown agent 'nobody'"):
        exploitability(GAME, "nobody")
    with pytest.raises(ValueError, match="expected a game"):
        exploitability("cat_in_the_box_v0", "random")  # type: ignore[arg-type]
    for value in (0, 1.5, "3"):
        with pytest.raises(ValueError, match="samples="):
            exploitability(GAME, "random", samples=value)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="max_histories="):
            exploitability(GAME, "random", max_histories=value)  # type: ignore[arg-type]


def test_a_trained_policy_is_solved_as_it_plays() -> None:
    """Its most probable action; with ``greedy=False`` its probabilities, which are another policy."""
    network = network_for(GAME, seed=3)
    plays, draws = (exploitability(GAME, PolicyAgent(network, GAME, 1, greedy)) for greedy in (True, False))
    assert (plays.policy, draws.policy) == ("deterministic", "given")
    assert plays.nash_conv != pytest.approx(draws.nash_conv, abs=0.01)
