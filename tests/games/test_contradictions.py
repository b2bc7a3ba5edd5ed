"""Observations that contradict themselves, and files that the rules do not allow, are refused."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from catbox_env import Game, GameState, make_game, make_vec
from catbox_env.games.petrify.state import WALL_TILE

Parts = dict[str, np.ndarray]
CAT_IN_THE_BOX = make_game("cat_in_the_box_v0", num_players=2)
CAT_TE = make_game("cat_te_v0", num_players=4, side_pot=1, rounds=3)
PETRIFY = make_game("petrify_v0")


def observed(game: Game, fits: Callable[[Parts], bool]) -> np.ndarray:
    """What the seat to move sees in the first position of a random game of which this is true."""
    state, rng = game.new_initial_state(seed=3), np.random.default_rng(0)
    while not fits(game.observation_layout.unpack(state.observation(state.current_player))):
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state.observation(state.current_player)


def token_on_a_neutral_cell(parts: Parts) -> None:
    token, neutral = np.argwhere(parts["board"])[0], np.argwhere(parts["neutral"])[0]
    parts["board"][tuple(token)] = 0
    parts["board"][(*neutral, token[2])] = 1


def trick_card_that_lies_elsewhere(parts: Parts) -> None:
    seat, color, rank = np.argwhere(parts["trick"])[0]
    parts["trick"][seat, color, rank] = 0
    parts["trick"][seat, color, (rank + 1) % 5] = 1


def break_trump(parts: Parts) -> None:
    parts["trump_broken"][:] = 1


def take_x_tokens(parts: Parts) -> None:
    parts["x_tokens"][:] = 0


def add_to_the_pot(parts: Parts) -> None:
    parts["scores"][1] -= 1


CONTRADICTIONS: list[tuple[Game, Callable[[Parts], bool], Callable[[Parts], None]]] = [
    (
        CAT_IN_THE_BOX,
        lambda seen: seen["board"].sum() >= 4 and not seen["led"].any(),
        token_on_a_neutral_cell,
    ),
    (CAT_IN_THE_BOX, lambda seen: seen["trick"].sum() == 1, trick_card_that_lies_elsewhere),
    (CAT_IN_THE_BOX, lambda seen: True, break_trump),
    (CAT_IN_THE_BOX, lambda seen: True, take_x_tokens),
    (CAT_TE, lambda seen: seen["rounds_left"][0] == 1, add_to_the_pot),
]


@pytest.mark.parametrize(("game", "fits", "change"), CONTRADICTIONS)
def test_an_observation_that_contradicts_itself_is_refused(
    game: Game, fits: Callable[[Parts], bool], change: Callable[[Parts], None]
) -> None:
    seen = observed(game, fits)
    game.sample_state(seen, seed=1)
    change(game.observation_layout.unpack(seen))
    with pytest.raises(ValueError, match="no state of this game agrees with it"):
        game.sample_state(seen, seed=1)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("game_id", "options"),
    [
        ("cat_in_the_box_v0", {"num_players": 2, "rounds": 127}),
        ("cat_te_v0", {"num_players": 3, "side_pot": 100, "rounds": 127}),
        ("petrify_v0", {"num_players": 3, "size": 5, "teleports": 2, "walls": 1}),
    ],
)
def test_a_part_that_holds_the_lowest_or_the_highest_values_is_refused_or_seen_by_a_seat(
    game_id: str, options: dict[str, Any]
) -> None:
    game = make_game(game_id, **options)
    layout, state, rng = game.observation_layout, game.new_initial_state(seed=1), np.random.default_rng(1)
    assert tuple(layout) == layout.names, "these rules need every part"
    for moves in (0, 4, 4):
        for _ in range(moves):
            state.apply_action(int(rng.choice(state.legal_actions())))
        seen = state.observation(state.current_player)
        for name, part in layout.items():
            for place in (..., *range(part.shape[0])):
                for value in (part.low, part.high):
                    changed = seen.copy()
                    layout.unpack(changed)[name][place] = value
                    if world := world_of(game, changed):
                        assert any((world.observation(k) == changed).all() for k in range(game.num_players))


def world_of(game: Game, seen: np.ndarray) -> GameState | None:
    """A state that agrees with ``seen``; None if ``seen`` is refused as one that no seat can see."""
    try:
        return game.sample_state(seen, seed=0)
    except ValueError as error:
        if "no state of this game agrees with it" in str(error):
            return None
        raise


def test_an_open_wall_or_one_too_many_is_refused() -> None:
    for is_open in (True, False):
        state = PETRIFY.new_initial_state(seed=1)
        pawns = state.record.position[: PETRIFY.num_players].tolist()
        cell = next(cell for cell in range(PETRIFY.num_actions) if cell not in pawns)
        state.record.tile[cell] = WALL_TILE
        if not is_open:
            state.record.open &= ~np.uint64(1 << cell)
        with pytest.raises(ValueError, match="no state of this game agrees with it"):
            PETRIFY.sample_state(state.observation(state.current_player), seed=1)


def rewritten(data: bytes, change: Callable[[list], None]) -> bytes:
    """A serialised state with other deals and a checksum that fits."""
    head, _, body = data.partition(b"\n")
    content = json.loads(body)
    change(content["deals"])
    body = json.dumps(content).encode()
    return head.split()[0] + b" " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def second_round() -> GameState:
    game = make_game("cat_in_the_box_v0", num_players=3, rounds=2, start_player="random")
    state = game.new_initial_state(seed=1)
    while not state.record.rounds_ended:
        state.apply_action(state.legal_actions()[0])
    return state


def other_start_player(deals: list) -> None:
    deals[1]["start_player"] = (deals[1]["start_player"] + 1) % 3


def test_a_file_cannot_change_who_starts_a_later_round_or_leave_out_a_deal() -> None:
    state = second_round()
    data = state.serialize()
    assert state.game.deserialize_state(rewritten(data, lambda deals: None)).serialize() == data
    with pytest.raises(ValueError, match="only that of the first round can be given"):
        state.game.deserialize_state(rewritten(data, other_start_player))
    with pytest.raises(ValueError, match="1 deals for 2 rounds with deals"):
        state.game.deserialize_state(rewritten(data, lambda deals: deals.__setitem__(1, None)))


def test_states_without_a_history_have_no_events_and_can_be_put_beside_others() -> None:
    vec = make_vec("cat_in_the_box_v0", num_envs=2, seed=0)
    before = vec.get_state(0)
    after, action = before.clone(), before.legal_actions()[0]
    after.apply_action(action)
    with pytest.raises(ValueError, match="a batch that keeps none"):
        before.game.events(before, action, after)
    other = before.game.new_initial_state(seed=1)
    vec.set_states([vec.get_state(1), other])
    assert vec.get_state(1).record.hand.tolist() == other.record.hand.tolist()
