"""Exact values, best responses and CFR+, against known values and against a recursion over single states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from catbox_agents.exact import CFRPlus, GameTree, best_response, nash_conv, values
from catbox_agents.exact.tree import histories_per_deal
from catbox_env import GameState, make_game
from catbox_env.cat_in_the_box_v0 import Rules
from catbox_env.petrify_v0 import Rules as PetrifyRules
from tests.core.bad_values import INTEGERS, VALUES, is_one_of

TINY = Rules.tiny()


def tree_of(rules: Any = TINY, reward: str = "margin") -> GameTree:
    game_id = "petrify_v0" if isinstance(rules, PetrifyRules) else "cat_in_the_box_v0"
    return GameTree(make_game(game_id, rules=rules, reward=reward))


def random_policy(tree: GameTree, seed: int, alpha: float = 0.5) -> np.ndarray:
    amounts = np.random.default_rng(seed).gamma(alpha, size=tree.num_slots) + 1e-12
    return amounts / tree.sums(amounts)[tree.slot_state]


SMALL = [
    TINY,
    replace(TINY, num_players=3, num_colors=2, num_ranks=2, copies=5),
    replace(TINY, num_ranks=2, bids=(), copies=5, revealed_cards=2, start_player="random"),
    replace(TINY, num_ranks=2, hand_size=4, copies=4, bids=(0, 2)),
]

# Known values -------------------------------------------------------------------------------------------------------


def test_the_tiny_tree_has_its_known_size() -> None:
    tree = tree_of()
    assert (tree.num_deals, tree.num_histories, tree.num_information_states) == (55, 6433, [100, 250])


@pytest.mark.parametrize(("reward", "known"), [("margin", 1.33304), ("win", 0.4165), ("score", 1.0)])
def test_the_uniform_policy_has_its_known_nash_conv(reward: str, known: float) -> None:
    tree = tree_of(reward=reward)
    assert nash_conv(tree, tree.uniform_policy()) == pytest.approx(known, abs=5e-5)


def test_cfr_plus_has_its_known_nash_conv_after_10_and_30_iterations() -> None:
    solver = CFRPlus(tree_of())
    solver.iterate(10)
    assert nash_conv(solver.tree, solver.average_policy()) == pytest.approx(0.0333, abs=5e-5)
    solver.iterate(20)
    assert solver.iterations == 30
    assert nash_conv(solver.tree, solver.average_policy()) == pytest.approx(0.0039, abs=5e-5)


# An independent computation: single states, one after the other ------------------------------------------------------

Policy = Callable[[GameState], dict[int, float]]


def what_agents_see(tree: GameTree) -> list[tuple[int, bytes, bytes]]:
    """Seat, observation and history of each information state."""
    seen = zip(tree.seats.tolist(), tree.observations, tree.history_views, strict=True)
    return [(seat, observation.tobytes(), history.tobytes()) for seat, observation, history in seen]


def policy_by_state(tree: GameTree, policy: np.ndarray) -> Policy:
    """The policy as a function of a single state; in these games observation and history tell everything."""
    rows = tree.rows_of(policy)
    place = {seen: i for i, seen in enumerate(what_agents_see(tree))}

    def play(state: GameState) -> dict[int, float]:
        seat = state.current_player
        row = rows[place[seat, state.observation(seat).tobytes(), state.history_observation(seat).tobytes()]]
        return {action: row[action] for action in state.legal_actions()}

    return play


def after(state: GameState, action: int) -> GameState:
    twin = state.clone()
    twin.apply_action(action)
    return twin


def expected(state: GameState, policy: Policy) -> np.ndarray:
    if state.is_terminal():
        return np.array(state.returns())
    chances = policy(state)
    return sum(chance * expected(after(state, action), policy) for action, chance in chances.items())


def most(states: list[tuple[float, GameState]], seat: int, policy: Policy) -> float:
    """The most that ``seat`` can be paid in weighted states that it cannot tell apart, or that are the deals."""
    total, decisions = 0.0, {}
    while states:
        weight, state = states.pop()
        if state.is_terminal():
            total += weight * state.returns()[seat]
        elif state.current_player == seat:
            decisions.setdefault(state.information_state(seat).tobytes(), []).append((weight, state))
        else:
            states += [(weight * chance, after(state, action)) for action, chance in policy(state).items()]
    for alike in decisions.values():
        legal = alike[0][1].legal_actions()
        total += max(most([(w, after(s, action)) for w, s in alike], seat, policy) for action in legal)
    return total


@pytest.mark.parametrize(("rules", "reward"), [*((rules, "margin") for rules in SMALL), (TINY, "score")])
def test_values_and_best_responses_are_those_of_a_recursion_over_single_states(
    rules: Rules, reward: str
) -> None:
    tree = tree_of(rules, reward)
    policy = random_policy(tree, seed=1)
    play = policy_by_state(tree, policy)
    deals = [(p, tree.game.new_initial_state(seed=3, deal=deal)) for deal, p in tree.game.chance_outcomes()]
    assert values(tree, policy) == pytest.approx(sum(p * expected(state, play) for p, state in deals))
    for seat in range(tree.num_players):
        value, response = best_response(tree, policy, seat)
        assert value == pytest.approx(most(list(deals), seat, play))
        assert values(tree, response)[seat] == pytest.approx(value)
        others = tree.slot_seat != seat
        assert np.array_equal(response[others], policy[others])


# Properties -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [SMALL[1], SMALL[3], PetrifyRules.tiny()], ids=str)
def test_no_policy_beats_a_best_response(rules: Any) -> None:
    tree = tree_of(rules)
    policy = random_policy(tree, seed=2)
    for seat in range(tree.num_players):
        best, _ = best_response(tree, policy, seat)
        for seed in range(4):
            for alpha in (0.01, 1.0):  # nearly deterministic, and mixed
                own = random_policy(tree, 100 + seed, alpha)
                tried = np.where(tree.slot_seat == seat, own, policy)
                assert values(tree, tried)[seat] <= best + 1e-12
    assert nash_conv(tree, policy) > 0


@pytest.mark.parametrize(
    ("rules", "reward"), [(SMALL[2], "margin"), (SMALL[3], "win"), (PetrifyRules.tiny(), "win")]
)
def test_nash_conv_of_the_average_policy_of_cfr_plus_falls(rules: Any, reward: str) -> None:
    tree = tree_of(rules, reward)
    solver, found = CFRPlus(tree), []
    for _ in range(4):
        found.append(nash_conv(tree, solver.average_policy()))
        solver.iterate(40)
        assert tree.sums(solver.policy) == pytest.approx(np.ones(len(tree.seats)))
    assert found[0] == pytest.approx(nash_conv(tree, tree.uniform_policy()))
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0] / 100


def test_a_walk_in_small_batches_gives_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tree_of()
    monkeypatch.setattr("catbox_agents.exact.tree.GAMES_AT_ONCE", 7)
    pieces = tree_of()
    assert pieces.num_information_states == whole.num_information_states
    assert [level.stop for level in pieces.levels] == [level.stop for level in whole.levels]
    number = {seen: i for i, seen in enumerate(what_agents_see(whole))}
    policy = random_policy(whole, 5)
    same = pieces.policy_of(whole.rows_of(policy)[[number[seen] for seen in what_agents_see(pieces)]])
    assert nash_conv(pieces, same) == pytest.approx(nash_conv(whole, policy))


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game_id", "options", "message"),
    [
        ("cat_in_the_box_v0", {}, r"exactly: every deal has about \de\+\d\d histories"),
        ("cat_in_the_box_v0", {"rules": replace(TINY, num_ranks=9, num_colors=4)}, r"more than [\d,]+ deals, each"),
        ("petrify_v0", {}, r"more than [\d,]+ deals, each with about .* such as Rules.tiny\(\)"),
        ("cat_te_v0", {"num_players": 2}, r"more than [\d,]+ deals, each"),
        ("cat_in_the_box_v0", {"rules": replace(TINY, rounds=2)}, "cards are dealt during the game"),
    ],
)  # fmt: skip
def test_a_tree_that_cannot_be_walked_through_is_refused(
    game_id: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        GameTree(make_game(game_id, **options))


def test_a_tree_over_the_limit_is_refused_before_and_during_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("cat_in_the_box_v0", rules=TINY)
    assert GameTree(game, 20_000).num_histories == 6433
    with pytest.raises(
        ValueError, match=r"there are 55 deals and about [\d.e+]+ histories, and the limit is 3,000"
    ):
        GameTree(game, 3000)
    monkeypatch.setattr("catbox_agents.exact.tree.histories_per_deal", lambda game, deals=None: 2.0)
    with pytest.raises(ValueError, match=r"there are more than 3,000 histories"):
        GameTree(game, 3000)


def test_the_size_of_a_tree_is_estimated_beforehand() -> None:
    for rules in SMALL:
        tree = tree_of(rules)
        deals = [deal for deal, _ in tree.game.chance_outcomes()]
        estimate = tree.num_deals * histories_per_deal(tree.game, deals, dives=400)
        assert estimate == pytest.approx(tree.num_histories, rel=0.25)


def test_bad_arguments_are_refused() -> None:
    game = make_game("cat_in_the_box_v0", rules=TINY)
    solver = CFRPlus(tree_of())
    for value in VALUES:
        with pytest.raises(ValueError, match="expected a game"):
            GameTree(value)
        if not is_one_of(value, INTEGERS):
            with pytest.raises(ValueError, match="max_histories="):
                GameTree(game, value)
            with pytest.raises(ValueError, match="iterations="):
                solver.iterate(value)
    assert solver.iterations == 0


def test_cfr_plus_refuses_what_it_does_not_solve() -> None:
    with pytest.raises(ValueError, match="3 players: CFR\\+ solves two-player games"):
        CFRPlus(tree_of(SMALL[1]))
    with pytest.raises(ValueError, match="reward='score': the two players are paid between"):
        CFRPlus(tree_of(reward="score"))
