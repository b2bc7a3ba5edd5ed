"""Bad input to any public function of ``catbox_env`` is refused with a message that names it, and changes nothing."""

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import catbox_env
from catbox_env import Layout, make_game, make_vec
from catbox_env.adapters.aec import AECGame
from catbox_env.core.checks import PUBLIC
from catbox_env.core.game import Game
from catbox_env.core.state import styled_text
from tests.core.bad_values import FLAGS, INTEGERS, NONE, check_refusals
from tests.core.game_cases import CASES, arrays_of

GAME = make_game("cat_in_the_box_v0", num_players=2)
TE = make_game("cat_te_v0", num_players=2)
STATE = GAME.new_initial_state(seed=0)
ACTION, OTHER = STATE.legal_actions()[:2]
AFTER = copy.deepcopy(STATE)
AFTER.apply_action(ACTION)
VEC = make_vec("cat_in_the_box_v0", 2, seed=0, history=True, num_players=2)
DRAWS = GAME.draws
assert DRAWS is not None
ENV = AECGame("cat_in_the_box_v0", num_players=2)
ENV.reset(seed=0)

Case = tuple[str, Callable[[Any], Any], list[Any]]


def rules_of(game_id: str) -> list[Case]:
    """Each option of a game, with the bad values that it accepts."""
    return [
        (
            f"{game_id} {field.name}",
            lambda v, n=field.name: make_game(game_id, **{n: v}),  # type: ignore[misc]
            CASES[game_id].accepted.get(field.name, []),
        )
        for field in dataclasses.fields(make_game(game_id).rules_class)
    ]


def deals_of(game_id: str) -> list[Case]:
    """A given deal as a whole, and each part of it: the part itself, its first item, the first item of that item."""
    game = make_game(game_id, num_players=min(CASES[game_id].values["num_players"]))
    given = CASES[game_id].deal or {}

    def deal(part: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: game.new_initial_state(seed=0, deal={**given, part: change(value)})

    cases: list[Case] = [(f"{game_id} deal", lambda value: game.new_initial_state(seed=0, deal=value), NONE)]
    for part, items in given.items():
        cases.append((f"{game_id} deal {part}", deal(part, lambda value: value), []))
        cases.append((f"{game_id} deal {part} item", deal(part, lambda value, i=items: [value, *i[1:]]), []))
        if isinstance(items[0], list):
            inner = deal(part, lambda value, i=items: [[value, *i[0][1:]], *i[1:]])
            cases.append((f"{game_id} deal {part} inner item", inner, []))
    return cases


def deal_of(game: Game) -> Mapping[str, Any]:
    given = CASES[game.id].deal
    assert given is not None
    return given


@pytest.mark.parametrize("game_id", [game_id for game_id, cases in CASES.items() if cases.deal is not None])
def test_the_deal_that_the_cases_change_is_accepted(game_id: str) -> None:
    game = make_game(game_id, num_players=min(CASES[game_id].values["num_players"]))
    state = game.new_initial_state(seed=0, deal=CASES[game_id].deal)
    assert state.serialize() != game.new_initial_state(seed=0).serialize()


def some_actions() -> np.ndarray:
    return VEC.action_mask.argmax(axis=1)


FUNCTIONS: list[Case] = [
    *(case for game_id in catbox_env.GAMES for case in rules_of(game_id) + deals_of(game_id)),
    ("deal start_player", lambda v: GAME.new_initial_state(deal={**deal_of(GAME), "start_player": v}), NONE),
    ("deal upturned", lambda v: TE.new_initial_state(deal={**deal_of(TE), "upturned": v}), NONE),
    ("make_game id", make_game, []),
    ("make_game rules", lambda v: make_game("petrify_v0", rules=v), [None, {}]),
    ("make_game reward", lambda v: make_game("petrify_v0", reward=v), []),
    ("make_vec id", lambda v: make_vec(v, 1), []),
    ("make_vec num_envs", lambda v: make_vec("petrify_v0", v), [99_999]),
    ("make_vec num_threads", lambda v: make_vec("petrify_v0", 2, num_threads=v), []),
    ("make_vec history", lambda v: make_vec("petrify_v0", 2, history=v), FLAGS),
    ("make_vec state", lambda v: make_vec("petrify_v0", 2, state=v), FLAGS),
    ("make_vec auto_deal", lambda v: make_vec("petrify_v0", 2, auto_deal=v), FLAGS),
    ("make_vec seed", lambda v: make_vec("petrify_v0", 2, seed=v), NONE + INTEGERS),
    ("vec.reset", VEC.reset, NONE + INTEGERS),
    ("vec.deal", VEC.deal, []),
    ("vec.deal seeds", lambda v: VEC.deal(np.arange(2), v), NONE),
    ("vec.deal seed", lambda v: VEC.deal(np.arange(1), [v]), NONE + INTEGERS),
    ("vec.step", VEC.step, []),
    ("vec.step rows", lambda v: VEC.step(some_actions()[:1], v), NONE),
    ("vec.step_random", VEC.step_random, INTEGERS[:1]),
    ("vec.step_random seed", lambda v: VEC.step_random(1, v), NONE + INTEGERS),
    ("vec.play_compiled", lambda v: VEC.play_compiled(lambda *games: None, v), []),
    ("vec.observe", VEC.observe, []),
    ("vec.observe rows", lambda v: VEC.observe(np.zeros(1, np.int64), v), NONE),
    ("vec.get_state", VEC.get_state, []),
    ("vec.take", VEC.take, []),
    ("vec.set_states", VEC.set_states, []),
    ("vec.set_states rows", lambda v: VEC.set_states(STATE, v), NONE),
    ("state.apply_action", STATE.apply_action, []),
    ("state.observation", STATE.observation, []),
    ("state.state_vector", STATE.state_vector, []),
    ("state.history_observation", STATE.history_observation, []),
    ("state.information_state", STATE.information_state, []),
    ("state.info", STATE.info, []),
    ("state.action_mask", STATE.action_mask, NONE),
    ("game.new_initial_state", GAME.new_initial_state, NONE + INTEGERS),
    ("game.sample_state", GAME.sample_state, []),
    ("game.sample_state seed", lambda v: GAME.sample_state(STATE.observation(0), v), NONE + INTEGERS),
    ("game.sample_state history", lambda v: GAME.sample_state(STATE.observation(0), 0, v), NONE),
    ("game.chance_outcomes", GAME.chance_outcomes, INTEGERS),
    ("draws.outcomes", DRAWS.outcomes, [[], ()]),
    ("draws.outcomes first_round", lambda v: DRAWS.outcomes([], v), FLAGS),
    ("game.sample_states", lambda v: GAME.sample_states(v, 2, 0), []),
    ("game.sample_states count", lambda v: GAME.sample_states(STATE.observation(0), v, 0), INTEGERS[:1]),
    ("game.sample_states seed", lambda v: GAME.sample_states(STATE.observation(0), 2, v), NONE + INTEGERS),
    ("game.string_to_action", GAME.string_to_action, []),
    ("game.action_to_string", GAME.action_to_string, []),
    ("game.deserialize_state", GAME.deserialize_state, []),
    ("game.replay deals", lambda v: GAME.replay(v, [], 0), [[], (), np.array([])]),
    ("game.replay actions", lambda v: GAME.replay([], v, 0), [[], (), np.array([])]),
    ("game.set_deal state", lambda v: GAME.set_deal(v, None), []),
    ("Layout", Layout, [[], (), np.array([])]),
    ("game.replay action", lambda v: GAME.replay([], [v], 0), []),
    ("game.replay deal", lambda v: GAME.replay([v], [], 0), NONE),
    ("game.deal_of", GAME.deal_of, []),
    ("game.events before", lambda v: GAME.events(v, ACTION, AFTER), []),
    ("game.events action", lambda v: GAME.events(STATE, v, AFTER), []),
    ("game.events after", lambda v: GAME.events(STATE, ACTION, v), []),
    ("game.events seat", lambda v: GAME.events(STATE, ACTION, AFTER, v), [None, PUBLIC]),
    ("game.render_text", GAME.render_text, []),
    ("game.render_text seat", lambda v: GAME.render_text(STATE, v), [None, PUBLIC]),
    ("styled_text seat", lambda v: styled_text(STATE, v), [None, PUBLIC]),
    ("layout.unpack", GAME.observation_layout.unpack, []),
    ("env id", AECGame, []),
    ("env render_mode", lambda v: AECGame("petrify_v0", render_mode=v), NONE),
    ("env history", lambda v: AECGame("petrify_v0", history=v), FLAGS),
    ("env.reset seed", lambda v: AECGame("petrify_v0").reset(seed=v), NONE + INTEGERS),
    ("env.reset options", lambda v: ENV.reset(options=v), [None, {}]),
    ("env.reset deal", lambda v: ENV.reset(options={"deal": v}), NONE),
    ("env.step", ENV.step, []),
    ("env.observe", ENV.observe, []),
    ("env.observation_space", ENV.observation_space, []),
    ("env.action_space", ENV.action_space, []),
]  # fmt: skip


def fingerprint() -> bytes:
    assert ENV.game_state is not None
    return b"".join([STATE.serialize(), ENV.game_state.serialize(), *arrays_of(VEC).values()])


@pytest.mark.parametrize(("name", "function", "taken"), FUNCTIONS, ids=[name for name, *_ in FUNCTIONS])
def test_bad_input_is_refused_by_name_and_nothing_changes(
    name: str, function: Callable[[Any], Any], taken: list[Any]
) -> None:
    check_refusals(name, function, taken, fingerprint)


def test_events_of_states_that_do_not_follow_one_another_are_refused() -> None:
    twice = copy.deepcopy(AFTER)
    twice.apply_action(twice.legal_actions()[0])
    assert GAME.events(STATE, np.int64(ACTION), AFTER)
    wrong = [(STATE, OTHER, AFTER), (STATE, ACTION, STATE), (STATE, ACTION, twice), (AFTER, ACTION, STATE)]
    for before, action, after in wrong:
        with pytest.raises(ValueError, match="not the state that action"):
            GAME.events(before, action, after)
    with pytest.raises(ValueError, match="before: other rules or reward"):
        make_game("cat_in_the_box_v0", num_players=4).events(STATE, ACTION, AFTER)
