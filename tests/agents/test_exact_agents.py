"""Agents as policies over a tree: what they are asked, what they may answer, and the agent that plays a policy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import catbox_agents
from catbox_agents import Agent, AgentError
from catbox_agents.exact import (
    CFRAgent,
    Exploitability,
    GameTree,
    TabularAgent,
    exploitability,
    nash_conv,
    policy_of_agent,
    values,
)
from catbox_env import make_game, make_vec
from catbox_env.cat_in_the_box_v0 import Rules

GAME = make_game("cat_in_the_box_v0", rules=Rules.tiny(), reward="margin")
TREE = GameTree(GAME)


class Lowest(Agent):
    """The first legal action."""

    def act(self, observation: Any, action_mask: Any, history: Any = None) -> int:
        return int(action_mask.argmax())


class Drawing(Agent):
    """Every legal action with the same chance, but does not say so."""

    def __init__(self, game: Any, seed: Any = None) -> None:
        super().__init__(game, seed)
        self._own = catbox_agents.make("random", game, seed)

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return self._own.act_batch(observations, action_masks)


class Answering(Agent):
    """Gives a fixed answer to one kind of question."""

    def __init__(self, **answers: Any) -> None:
        super().__init__(GAME)
        self._answers = answers
        if "policy_batch" in answers:
            self.policy_batch = lambda *asked: answers["policy_batch"](*asked)

    def act_batch(self, observations: Any, action_masks: Any, histories: Any = None) -> Any:
        return self._answers["act_batch"](observations, action_masks, histories)


def test_the_report_has_the_known_values_of_a_random_player() -> None:
    found = exploitability(GAME, "random")
    assert isinstance(found, Exploitability)
    assert (found.game, found.options, found.agent) == (GAME.id, GAME.options, "random")
    assert (found.deals, found.histories, found.information_states) == (55, 6433, [100, 250])
    assert (found.policy, found.samples) == ("told", 1)
    assert found.nash_conv == pytest.approx(1.33304, abs=5e-6)
    assert sum(found.gains) == pytest.approx(found.nash_conv)
    assert np.subtract(found.best_response_values, found.values) == pytest.approx(found.gains)
    assert sum(found.values) == pytest.approx(0.0)
    assert found.as_dict()["nash_conv"] == found.nash_conv


def test_a_deterministic_agent_is_taken_by_its_answers() -> None:
    policy, source, samples = policy_of_agent(TREE, Lowest(GAME), samples=3)
    assert (source, samples) == ("deterministic", 3)
    first = TREE.first_slot[:-1]
    assert np.array_equal(np.flatnonzero(policy), first)
    assert set(policy[first]) == {1.0}


def test_the_values_of_the_heuristic_are_those_of_all_deals_played_out() -> None:
    found = exploitability(GAME, "heuristic")
    assert found.policy == "deterministic"
    deals = GAME.chance_outcomes()
    vec = make_vec(GAME.id, len(deals), auto_deal=False, **GAME.options)
    vec.set_states([GAME.new_initial_state(seed=0, deal=deal) for deal, _ in deals])
    paid = catbox_agents.play_out(vec, "heuristic", until="end_of_game")
    assert found.values == pytest.approx([p for _, p in deals] @ paid, abs=1e-6)


def test_an_agent_that_takes_its_luck_from_the_decision_is_asked_with_other_luck_each_time() -> None:
    agent = catbox_agents.make("pimc:samples=1,policy=random", GAME, 1)
    policy, source, _ = policy_of_agent(TREE, agent)
    assert source == "estimated"
    assert ((policy > 0) & (policy < 1)).sum() > 50
    assert np.array_equal(policy, policy_of_agent(TREE, agent).policy)


def test_an_agent_that_draws_is_estimated_by_its_frequencies() -> None:
    agent = Drawing(GAME, seed=4)
    policy, source, _ = policy_of_agent(TREE, agent, samples=16)
    assert source == "estimated"
    assert TREE.sums(policy) == pytest.approx(np.ones(len(TREE.seats)))
    policy, _, _ = policy_of_agent(TREE, agent, samples=2000)
    assert policy == pytest.approx(TREE.uniform_policy(), abs=0.06)
    assert nash_conv(TREE, policy) == pytest.approx(1.33304, abs=0.05)


def test_an_agent_is_given_what_its_seat_sees_and_can_change_nothing() -> None:
    before = [array.copy() for array in (TREE.observations, TREE.action_masks, TREE.history_views)]
    given = []

    def act(observations: Any, masks: Any, histories: Any) -> Any:
        chosen = masks.argmax(axis=1)
        given.append((observations.copy(), masks.copy(), histories))
        for array in (observations, masks):
            array[:] = 1
        return chosen

    agent = Answering(act_batch=act)
    policy_of_agent(TREE, agent, samples=2)
    assert all(histories is None for *_, histories in given)
    agent.needs_history = True
    policy_of_agent(TREE, agent, samples=1)
    for old, new in zip(before, (TREE.observations, TREE.action_masks, TREE.history_views), strict=True):
        assert np.array_equal(old, new)
    # The same rows, each time in another order, and not in that of the tree.
    orders = [observations.tobytes() for observations, *_ in given[:2]]
    assert len({TREE.observations.tobytes(), *orders}) == 3
    rows = [sorted(row.tobytes() for row in observations) for observations, *_ in given]
    assert rows == [sorted(row.tobytes() for row in TREE.observations)] * 3
    seen, _, histories = given[-1]
    place = {(o.tobytes(), h.tobytes()) for o, h in zip(TREE.observations, TREE.history_views, strict=True)}
    assert {(o.tobytes(), h.tobytes()) for o, h in zip(seen, histories, strict=True)} == place


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"act_batch": lambda o, m, h: np.zeros(len(o))}, "returned float64 of shape"),
        ({"act_batch": lambda o, m, h: m.argmin(axis=1)}, "chose the illegal action"),
        ({"policy_batch": lambda o, m, h: m[:1] / 1.0}, "policy_batch returned float64 of shape"),
        ({"policy_batch": lambda o, m, h: m * np.nan}, "expected probabilities of 0 or more that sum to 1"),
        ({"policy_batch": lambda o, m, h: np.full(m.shape, 1 / m.shape[1])}, "that sum to 1"),
        ({"policy_batch": lambda o, m, h: np.where(m.cumsum(1) * m == 1, 2.0, -1.0 * m)}, "sum to 1"),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_policy_is_refused_with_the_agents_name(answers: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^agent 'mine'.*{message}"):
        policy_of_agent(TREE, Answering(**answers), "mine")


def test_an_error_in_the_agents_code_has_its_name() -> None:
    def fail(*asked: Any) -> Any:
        raise KeyError("lost")

    for answers in ({"act_batch": fail}, {"policy_batch": fail}):
        with pytest.raises(AgentError, match="agent 'mine' raised KeyError"):
            policy_of_agent(TREE, Answering(**answers), "mine")


def test_agents_for_other_rules_and_bad_arguments_are_refused() -> None:
    other = make_game("cat_in_the_box_v0", num_players=2)
    with pytest.raises(ValueError, match=r"asked to play with .* make it for these rules"):
        exploitability(GAME, Lowest(other))
    with pytest.raises(ValueError, match="was made for the game 'petrify_v0'"):
        exploitability(GAME, Lowest(make_game("petrify_v0")))
    with pytest.raises(ValueError, match="unknown agent 'nobody'"):
        exploitability(GAME, "nobody")
    with pytest.raises(ValueError, match="too large to be solved exactly"):
        exploitability(make_game("cat_in_the_box_v0"), "random")
    for value in (0, 1.5, "3"):
        with pytest.raises(ValueError, match="samples="):
            exploitability(GAME, Lowest(GAME), samples=value)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="iterations="):
            CFRAgent(GAME, iterations=value)  # type: ignore[arg-type]


# The agent that plays a policy ----------------------------------------------------------------------------------------


def test_the_policy_of_a_tabular_agent_is_the_one_that_it_was_given() -> None:
    amounts = np.random.default_rng(0).random(TREE.num_slots)
    policy = amounts / TREE.sums(amounts)[TREE.slot_state]
    told, source, _ = policy_of_agent(TREE, TabularAgent(TREE, policy))
    assert source == "told"
    assert told == pytest.approx(policy)


def test_a_tabular_agent_draws_from_its_policy() -> None:
    agent = TabularAgent(TREE, TREE.uniform_policy(), seed=1)
    asked = (TREE.observations[:1], TREE.action_masks[:1], TREE.history_views[:1])
    counts = np.zeros(GAME.num_actions)
    for _ in range(3000):
        counts[agent.act_batch(*asked)] += 1
    assert counts / 3000 == pytest.approx(TREE.rows_of(TREE.uniform_policy())[0], abs=0.04)
    assert agent.act(*(array[0] for array in asked)) in np.flatnonzero(TREE.action_masks[0])
    again = TabularAgent(TREE, TREE.uniform_policy(), seed=9)
    copied = pickle.loads(pickle.dumps(again))
    everything = (TREE.observations, TREE.action_masks, TREE.history_views)
    assert np.array_equal(again.act_batch(*everything), copied.act_batch(*everything))


def test_the_arena_pays_the_cfr_agent_what_it_is_worth() -> None:
    solved = CFRAgent(GAME, seed=3, iterations=200)
    mine = policy_of_agent(TREE, solved).policy
    uniform = TREE.uniform_policy()
    exact = (
        values(TREE, TREE.with_seats([mine, uniform]))[0] + values(TREE, TREE.with_seats([uniform, mine]))[1]
    ) / 2
    standing = catbox_agents.evaluate(GAME, [solved, "random"], num_deals=1500, seed=1).standings[0]
    assert standing.margin == pytest.approx(exact, abs=2.5 * standing.margin_ci95)
    assert exact > 0.3


def test_the_cfr_agent_is_made_by_its_spec_and_close_to_an_equilibrium() -> None:
    agent = catbox_agents.make("catbox_agents.exact:CFRAgent", GAME, seed=0)
    assert agent.needs_history
    found = exploitability(GAME, agent)
    assert found.policy == "told"
    assert 0 <= found.nash_conv < 1e-4
    assert found.values == pytest.approx([-1.0, 1.0], abs=1e-4)


def test_a_tabular_agent_refuses_what_its_tree_does_not_hold() -> None:
    agent = TabularAgent(TREE, TREE.uniform_policy())
    seen, masks, past = TREE.observations[:2], TREE.action_masks[:2], TREE.history_views[:2]
    with pytest.raises(ValueError, match="row 1 is not what a seat to move sees"):
        agent.act_batch(seen, masks, np.stack([past[0], past[1] + 1]))
    with pytest.raises(ValueError, match=r"histories: .* expected integers of shape \(2, 6, 2\)"):
        agent.act_batch(seen, masks)
    with pytest.raises(ValueError, match="observations"):
        agent.act_batch(seen[:, 1:], masks, past)
    for policy in ("no", TREE.uniform_policy()[1:], np.ones(TREE.num_slots, int)):
        with pytest.raises(ValueError, match=r"policy: .* expected floats of shape \(\d+,\)"):
            TabularAgent(TREE, policy)  # type: ignore[arg-type]
    for policy in (np.ones(TREE.num_slots), -TREE.uniform_policy(), TREE.uniform_policy() * np.nan):
        with pytest.raises(ValueError, match="expected probabilities that sum to 1"):
            TabularAgent(TREE, policy)


def test_the_random_agent_tells_its_probabilities() -> None:
    told = catbox_agents.make("random", GAME).policy_batch(TREE.observations, TREE.action_masks)  # type: ignore[attr-defined]
    assert told == pytest.approx(TREE.rows_of(TREE.uniform_policy()))
