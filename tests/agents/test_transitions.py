"""Transitions of every seat: rewards are conserved, observations are the seat's own; wrong ways are found out."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.utils import BaseWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

import catbox_env
from catbox_agents import Agent, AgentError, make
from catbox_agents.transitions import SeatTransition, seat_transitions
from catbox_env import cat_in_the_box_v0, cat_te_v0, petrify_v0
from catbox_env.adapters.aec import AECGame
from tests.conservation import Ledger, Received, compare
from tests.core.bad_values import INTEGERS, NONE, VALUES, check_refusals

#: Rounds that pay in the middle of a game, and seats that never decide.
GAMES = [
    ("cat_in_the_box_v0", {"num_players": 4, "rounds": 2}),
    ("cat_in_the_box_v0", {"num_players": 5, "reward": "margin"}),
    ("cat_te_v0", {"num_players": 4, "rounds": 3, "instant_wins": True}),
    ("petrify_v0", {"num_players": 4, "size": 4}),
]


def lowest(observation: np.ndarray, mask: np.ndarray) -> int:
    return int(mask.argmax())


def received(steps: Iterator[SeatTransition]) -> Iterator[Received]:
    return (Received(step.seat, step.reward, step.next_own_observation) for step in steps)


@pytest.mark.parametrize(
    ("game_id", "options", "wrapped"), [*((*game, False) for game in GAMES), (*GAMES[0], True)]
)
def test_rewards_of_every_seat_are_conserved(game_id: str, options: dict[str, Any], wrapped: bool) -> None:
    ledger = Ledger(AECGame(game_id, **options))
    env = OrderEnforcingWrapper(TerminateIllegalWrapper(ledger, illegal_reward=-1.0)) if wrapped else ledger
    found = compare(ledger, received(seat_transitions(env, "random", games=15, seed=3)))
    assert ledger.games == 15
    assert any(found.paid.values())
    assert found.conserved(), found


def test_a_seats_transitions_are_a_chain_of_its_own_decisions() -> None:
    env, asked = cat_in_the_box_v0.raw_env(num_players=3, rounds=2), defaultdict(list)
    rng = np.random.default_rng(0)

    def policy_of(seat: str) -> Callable[[np.ndarray, np.ndarray], int]:
        def policy(observation: np.ndarray, mask: np.ndarray) -> int:
            action = int(rng.choice(np.flatnonzero(mask)))
            asked[seat].append((observation.copy(), mask.copy(), action))
            return action

        return policy

    steps = list(seat_transitions(env, {seat: policy_of(seat) for seat in env.possible_agents}, seed=1))
    for seat in env.possible_agents:
        own = [step for step in steps if step.seat == seat]
        assert len(own) == len(asked[seat]) > 10
        for step, (observation, mask, action) in zip(own, asked[seat], strict=True):
            assert (step.observation == observation).all()
            assert (step.mask == mask).all()
            assert step.action == action
            assert step.mask[step.action]
        for step, following in itertools.pairwise(own):
            assert not step.terminated
            assert (step.next_own_observation == following.observation).all()
            assert (step.next_own_mask == following.mask).all()
        assert own[-1].terminated
        assert not own[-1].next_own_mask.any()
        assert sum(step.reward != 0 for step in own[:-1]) <= 1  # the first round pays in the middle


@pytest.mark.parametrize(
    ("module", "options"),
    [(cat_te_v0, {"num_players": 6, "instant_wins": True}), (petrify_v0, {"num_players": 4, "size": 3})],
)
def test_a_seat_that_never_decides_has_one_transition_without_an_action(module: Any, options: dict) -> None:
    env, undecided = module.raw_env(**options), 0
    for game in range(60):
        steps = list(seat_transitions(env, "random", seed=game))
        decided = {step.seat for step in steps if step.action is not None}
        for step in steps:
            if step.action is None:
                undecided += 1
                assert step.observation is None
                assert step.mask is None
                assert step.terminated
                assert step.seat not in decided
                assert (
                    step.next_own_observation
                    == env.unwrapped.game_state.observation(env.possible_agents.index(step.seat))
                ).all()
        assert {step.seat for step in steps} == set(env.possible_agents)
    assert undecided


def masking(observation: np.ndarray, mask: np.ndarray) -> int:
    """The lowest legal action, found by writing into what it is given."""
    chosen = int(mask.argmax())
    observation[:] = 0
    mask[:] = 0
    mask[chosen] = 1
    return int(mask.argmax())


class Masking(Agent):
    def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
        return masking(observation, action_mask)


@pytest.mark.parametrize("history", [False, True])
def test_what_is_recorded_is_what_was_seen(history: bool) -> None:
    """A policy may write into its arguments, and so may an agent: the same transitions as without that."""
    env = cat_in_the_box_v0.raw_env(num_players=3, history=history)
    wanted = list(seat_transitions(env, lowest, seed=4))
    for policy in (masking, Masking(env.game)):
        found = list(seat_transitions(env, policy, seed=4))
        for step, other in zip(found, wanted, strict=True):
            for value, seen in zip(step, other, strict=True):
                assert np.array_equal(value, seen)
    assert max(step.mask.sum() for step in wanted) > 1


class PaysEarly(AECEnv):
    """Two seats in turn, four decisions; whoever acts pays the other its number. It ends by ``how``."""

    metadata = {"name": "pays_early"}  # noqa: RUF012

    def __init__(self, how: str = "terminations") -> None:
        super().__init__()
        self.how, self.possible_agents, self.render_mode = how, ["a", "b"], None

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        self.agents = self.possible_agents[:]
        for name in ("rewards", "_cumulative_rewards"):
            setattr(self, name, dict.fromkeys(self.agents, 0.0))
        for name in ("terminations", "truncations"):
            setattr(self, name, dict.fromkeys(self.agents, False))
        self.infos: dict[str, dict] = {seat: {} for seat in self.agents}
        self.agent_selection, self.moves = "a", 0

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        return {"observation": np.array([self.moves]), "action_mask": np.ones(2, np.int8)}

    def step(self, action: int | None) -> None:
        seat = self.agent_selection
        if self.terminations[seat] or self.truncations[seat]:
            self._was_dead_step(action)
            return
        self.moves += 1
        other = "b" if seat == "a" else "a"
        self._cumulative_rewards[seat] = 0.0
        self.rewards = {seat: 0.0, other: 10.0**self.moves}
        self._accumulate_rewards()
        self.agent_selection = other
        if self.moves == 4:
            setattr(self, self.how, dict.fromkeys(self.agents, True))
            self.agent_selection = "a"


@pytest.mark.parametrize("how", ["terminations", "truncations"])
def test_any_aec_environment_payments_before_the_first_decision_come_with_it(how: str) -> None:
    steps = list(seat_transitions(PaysEarly(how), lambda observation, mask: 1, games=2))
    ended = how == "terminations"
    one_game = [
        ("a", 0, 1, 100.0, 2, False),
        ("b", 1, 1, 10.0 + 1000.0, 3, False),
        ("a", 2, 1, 10000.0, 4, ended),
        ("b", 3, 1, 0.0, 4, ended),
    ]
    assert [
        (s.seat, s.observation[0], s.action, s.reward, s.next_own_observation[0], s.terminated) for s in steps
    ] == one_game * 2


def play(env: AECEnv, policies: Any, **options: Any) -> list[tuple]:
    return [(step.seat, step.action, step.reward) for step in seat_transitions(env, policies, **options)]


def test_a_seed_repeats_games_and_agents_and_games_differ() -> None:
    env = cat_in_the_box_v0.raw_env(num_players=3)
    first = play(env, "random", games=2, seed=5)
    assert play(env, "random", games=2, seed=5) == first
    assert play(env, "random", games=2, seed=6) != first
    assert first[: len(first) // 2] != first[len(first) // 2 :]


def test_each_seat_can_have_its_own_policy() -> None:
    env = cat_in_the_box_v0.raw_env(num_players=3)
    agents = {"player_0": lowest, "player_1": make("heuristic", env.game), "player_2": "heuristic"}
    steps = list(seat_transitions(env, agents, seed=2))
    assert all(s.action == s.mask.argmax() for s in steps if s.seat == "player_0")
    heuristic = make("heuristic", env.game)
    assert all(
        s.action == heuristic.act(s.observation, s.mask) for s in steps if s.seat in ("player_1", "player_2")
    )


class Reader(Agent):
    needs_history = True

    def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
        assert history.shape == (self.game.max_game_length, 2)
        return int(action_mask.argmax())


class Broken(Agent):
    def act(self, observation, action_mask, history=None):  # type: ignore[no-untyped-def]
        raise KeyError("lost")


def test_agents_get_their_history_or_an_error_says_how() -> None:
    env = cat_in_the_box_v0.raw_env(num_players=3, history=True)
    assert play(env, Reader(env.game))
    env = cat_in_the_box_v0.raw_env(num_players=3)
    with pytest.raises(ValueError, match="make the environment with history=True"):
        play(env, Reader(env.game))


def test_an_error_of_an_agent_names_it() -> None:
    env = cat_in_the_box_v0.raw_env(num_players=3)
    with pytest.raises(AgentError, match="'Broken' raised KeyError"):
        play(env, Broken(env.game))
    with pytest.raises(TypeError, match=r"the policy of player_0 chose 1\.5: expected an integer"):
        play(env, lambda observation, mask: 1.5)


def test_an_illegal_action_is_the_environments_to_refuse() -> None:
    def worst(observation: np.ndarray, mask: np.ndarray) -> int:
        return int(mask.argmin())

    with pytest.raises(ValueError, match="illegal"):
        play(cat_in_the_box_v0.raw_env(num_players=3), worst)
    steps = play(cat_in_the_box_v0.env(num_players=3), worst)
    assert [(seat, action is None) for seat, action, _ in steps] == [
        ("player_0", False),
        ("player_1", True),
        ("player_2", True),
    ]


def test_other_environments_are_refused() -> None:
    class Plain(BaseWrapper):
        def observe(self, agent: str) -> Any:
            return super().observe(agent)["observation"]

    env = cat_in_the_box_v0.raw_env(num_players=3)
    with pytest.raises(ValueError, match="expected a dict with 'observation' and 'action_mask'"):
        play(Plain(env), lowest)
    with pytest.raises(
        ValueError, match="policy 'random' of a: the spec of an agent needs an environment of catbox"
    ):
        play(PaysEarly(), "random")
    with pytest.raises(ValueError, match="expected one for each of player_0, player_1, player_2"):
        play(env, {"player_0": "random"})
    with pytest.raises(ValueError, match="the class Reader, expected an agent"):
        play(env, Reader)
    other = catbox_env.make_game("petrify_v0")
    with pytest.raises(ValueError, match="petrify_v0"):
        play(env, make("heuristic", other))


ENV = petrify_v0.raw_env()
FUNCTIONS: list[tuple[str, Callable[[Any], Any], list[Any]]] = [
    ("env", lambda v: seat_transitions(v, "random"), []),
    ("policies", lambda v: seat_transitions(ENV, v), [v for v in VALUES if callable(v)]),
    ("games", lambda v: seat_transitions(ENV, "random", games=v), NONE + INTEGERS),
    ("seed", lambda v: seat_transitions(ENV, "random", seed=v), NONE + INTEGERS),
]


@pytest.mark.parametrize(("name", "function", "taken"), FUNCTIONS, ids=[name for name, *_ in FUNCTIONS])
def test_bad_input_is_refused_at_once_by_name(
    name: str, function: Callable[[Any], Any], taken: list[Any]
) -> None:
    check_refusals(name, function, taken, lambda: b"")
