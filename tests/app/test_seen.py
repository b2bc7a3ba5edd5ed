"""A game followed from one seat is the true game, as far as that seat sees it."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from catbox_app.seen import apply_as_seen, begin_as_seen, state_as_seen
from catbox_env import Game, GameState, make_game
from catbox_env.core.kernels import HIDDEN
from tests.core.fuzz import random_game
from tests.core.game_cases import CASES


def seen_deal(state: GameState, seat: int, later: bool) -> Any:
    """What ``seat`` sees of the deal of the round that has just begun; ``later``: it is not the first."""
    deal = state.game.deal_of(state)
    if deal is None or "hands" not in deal:
        return deal
    dealer = {"dealer": int(state.record.dealer)} if later and state.game.id == "cat_te_v0" else {}
    hands = [hand if other == seat else None for other, hand in enumerate(deal["hands"])]
    return {**deal, **dealer, "hands": hands}


def seen_action(state: GameState, seat: int) -> int:
    """What ``seat`` saw of the action that led to ``state``."""
    mover, action, public = state._log[int(state.record.num_moves) - 1].tolist()
    return action if seat == mover else public


def check_same(seen: GameState, true: GameState, seat: int) -> None:
    assert (seen.history_observation(seat) == true.history_observation(seat)).all()
    assert (seen.action_mask(seat) == true.action_mask(seat)).all()
    assert seen.current_player == true.current_player
    if not true.is_terminal():  # the end may show cards
        assert (seen.observation(seat) == true.observation(seat)).all()
        assert seen.info(seat).keys() == true.info(seat).keys(), "of the last finished round"
        if true.game.id != "cat_te_v0":  # there cards that the seat has not seen may win a trick
            assert seen.info(seat) == true.info(seat)


def follow(game: Game, seed: int) -> int:
    """Play a random game, follow it from every seat, and return how many positions were compared."""
    random, true, compared = np.random.default_rng(seed), game.new_initial_state(seed), 0
    seats = range(game.num_players)
    seen = [begin_as_seen(game, seat, seen_deal(true, seat, False), random) for seat in seats]
    while not true.is_terminal():
        true.apply_action(int(random.choice(true.legal_actions())))
        begins = true.round_ended and not true.is_terminal()
        for seat in seats:
            known = seen_action(true, seat)
            deal = seen_deal(true, seat, True) if begins else None
            seen[seat] = apply_as_seen(seen[seat], seat, known, random, deal).after
            check_same(seen[seat], true, seat)
            compared += 1
    return compared


@pytest.mark.parametrize("game_id", CASES)
def test_every_seat_follows_the_true_game(game_id: str) -> None:
    """Under any rules, in thousands of positions."""
    compared = seed = 0
    while compared < 3400:
        compared += follow(random_game(game_id, np.random.default_rng(seed)), seed)
        seed += 1


@pytest.mark.parametrize("game_id", CASES)
def test_the_whole_sequence_gives_the_same_state(game_id: str) -> None:
    game = make_game(game_id)
    true, random, seat = game.new_initial_state(3), np.random.default_rng(3), 1
    deals, actions = [seen_deal(true, seat, False)], []
    for _ in range(4):
        true.apply_action(int(random.choice(true.legal_actions())))
        actions.append(seen_action(true, seat))
    state = state_as_seen(game, seat, deals, actions, seed=5)
    check_same(state, true, seat)
    again = state_as_seen(game, seat, deals, actions, seed=5)
    assert (state.state_vector() == again.state_vector()).all()
    assert state.history() == actions


def test_what_is_hidden_stays_hidden() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    hand = [1, 1, 2, 2, 3, 3, 4, 5, 6, 6]
    states = [
        state_as_seen(game, 0, [{"hands": [hand, None, None]}], [0, -1, -1], seed) for seed in range(20)
    ]
    assert all((state.observation(0) == states[0].observation(0)).all() for state in states)
    assert len({state.state_vector().tobytes() for state in states}) > 10
    assert all(state.history() == [0, HIDDEN, HIDDEN] for state in states)


HAND = {"hands": [[1, 1, 2, 2, 3, 3, 4, 5, 6, 6], None, None]}
NO_FIVE = {"hands": [[1, 1, 2, 2, 3, 3, 4, 4, 6, 6], None, None]}
GAMES = {
    "an own discard that is not in the hand": (
        [NO_FIVE],
        [4],
        r"actions\[0\]: player_0 cannot do this: discard 5: player_0 has no 5",
    ),
    "an own action that is unknown": ([HAND], [-1], r"actions\[0\]: action -1 of player_0: expected 0 to 34"),
    "an action that does not exist": (
        [HAND],
        [0, 99],
        r"actions\[1\]: action 99 of player_1: expected 0 to 34, or -1",
    ),
    "an action of another phase": (
        [HAND],
        [0, -1, -1, 10],
        r"actions\[3\]: player_0 cannot do this: play red 1",
    ),
    "a hidden action where all are seen": ([HAND], [0, -1, -1, 6, -1], r"actions\[4\]: player_0 sees all"),
    "no deal": ([], [], "deals=.*first round"),
    "a hand of nine cards": (
        [{"hands": [HAND["hands"][0][:9], None, None]}],
        [],
        "hands of .9, 10, 10. cards",
    ),
    "six cards of a rank": ([{"hands": [[1] * 6 + [2] * 4, None, None]}], [], "rank 1 occurs 6 times"),
}


@pytest.mark.parametrize("name", GAMES)
def test_what_no_game_allows_is_refused(name: str) -> None:
    deals, actions, message = GAMES[name]
    with pytest.raises(ValueError, match=message):
        state_as_seen(make_game("cat_in_the_box_v0", num_players=3), 0, deals, actions)


@pytest.mark.parametrize("game_id", ["cat_in_the_box_v0", "cat_te_v0"])
@pytest.mark.parametrize(
    "hands", [None, 5, [], [None], [[1] * 99, None, None], [None, 7, None], [[[]], None], ["AS", None, None]]
)
def test_what_is_no_deal_is_refused(game_id: str, hands: Any) -> None:
    game = make_game(game_id, num_players=3)
    for deal in ({"hands": hands}, {"hands": hands, "revealed": 3}, {"hands": hands, "upturned": []}, hands):
        with pytest.raises(ValueError, match="deal"):
            state_as_seen(game, 0, [deal], [])


def test_a_dealer_who_does_not_deal_is_refused() -> None:
    game = make_game("cat_te_v0", num_players=2)
    hand = ["AS", "KS", "QS", "JS", "10S", "8S"]
    deals = [state_as_seen(game, 0, [{"hands": [hand, None]}], []).record.dealer]
    with pytest.raises(ValueError, match=f"dealer=7, but player_{deals[0]} deals"):
        state_as_seen(game, 0, [{"hands": [hand, None], "dealer": 7}], [])


def test_a_cell_is_taken_once() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    play = game.string_to_action
    actions = [0, -1, -1, 6, 6, 6, play("play blue 4"), play("play blue 4")]
    with pytest.raises(ValueError, match=r"actions\[7\]: player_1 cannot do this: play blue 4: .*taken"):
        state_as_seen(game, 0, [HAND], actions)


def test_each_round_needs_its_deal() -> None:
    game = make_game("cat_te_v0", num_players=2, rounds=2)
    true, random = game.new_initial_state(1), np.random.default_rng(1)
    deals, actions = [seen_deal(true, 0, False)], []
    while not true.round_ended:
        true.apply_action(int(random.choice(true.legal_actions())))
        actions.append(seen_action(true, 0))
    with pytest.raises(ValueError, match="deals: 1; expected one more"):
        state_as_seen(game, 0, deals, actions)
    deals.append(seen_deal(true, 0, True))
    check_same(state_as_seen(game, 0, deals, actions), true, 0)
    deals[1]["dealer"] = 1 - deals[1]["dealer"]
    state = state_as_seen(game, 0, deals, actions)
    assert state.record.dealer != true.record.dealer


@pytest.mark.parametrize("num_actions", [0, 5])
def test_the_view_of_a_seat_is_no_deal(num_actions: int) -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    true = game.new_initial_state(seed=4)
    deal = {"hands": [game.deal_of(true)["hands"][0], None, None]}
    for _ in range(num_actions):
        true.apply_action(true.legal_actions()[0])
    known = [*true.history()[:1], *[-1, -1][: max(0, num_actions - 1)], *true.history()[3:]]
    state = state_as_seen(game, 0, [deal], known, seed=1)
    assert (state.observation(0) == true.observation(0)).all()
    for copied in (state, state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        with pytest.raises(ValueError, match="shows the view of one seat"):
            copied.serialize()
        with pytest.raises(ValueError, match="shows the view of one seat"):
            game.deal_of(copied)


def test_no_action_follows_the_end() -> None:
    game = make_game("petrify_v0", num_players=2, size=4)
    true = game.new_initial_state(seed=4)
    while not true.is_terminal():
        true.apply_action(true.legal_actions()[0])
    actions, deal = true.history(), game.deal_of(true)
    assert state_as_seen(game, 0, [deal], actions).is_terminal()
    with pytest.raises(ValueError, match=rf"^actions\[{len(actions)}\]: action 3: the game is over"):
        state_as_seen(game, 0, [deal], [*actions, 3])
