"""`check_game` finds games that break the contract of all games."""

import dataclasses

import numba
import numpy as np
import pytest

from catbox_env.core.conformance import ConformanceError, check_game
from catbox_env.core.picture import Sheet
from catbox_env.core.state import GameState
from catbox_env.games.cat_in_the_box.game import CatInTheBox
from catbox_env.games.cat_in_the_box.observe.features import fill

KERNELS = CatInTheBox.kernels
write_mask, write_observation = KERNELS.write_mask, KERNELS.write_observation


@numba.njit
def leak_a_hand(params, state, seat, out):  # type: ignore[no-untyped-def]
    write_observation(params, state, seat, out)
    out[params.at[1]] = state.hand[(seat + 1) % params.num_players, 0]


@numba.njit
def forget_the_paradox(params, state, mask):  # type: ignore[no-untyped-def]
    write_mask(params, state, mask)
    mask[-1] = False


@numba.njit
def show_a_wrong_rank(params, state, action):  # type: ignore[no-untyped-def]
    return 0 if action else 1


class LeaksAHand(CatInTheBox):
    id = "leaks_a_hand"
    kernels = dataclasses.replace(KERNELS, write_observation=leak_a_hand)


class ForgetsTheParadox(CatInTheBox):
    id = "forgets_the_paradox"
    kernels = dataclasses.replace(KERNELS, write_mask=forget_the_paradox)


class ShowsAWrongRank(CatInTheBox):
    id = "shows_a_wrong_rank"
    kernels = dataclasses.replace(KERNELS, public_action=show_a_wrong_rank)


def tell_of_all_actions(params, offsets, observations, masks, out, action_out):  # type: ignore[no-untyped-def]
    fill(params, offsets, observations, np.ones_like(masks), out, action_out)


class ForgetsABound(CatInTheBox):
    id = "forgets_a_bound"

    def set_up(self) -> None:
        super().set_up()
        self.state_bounds = {name: pair for name, pair in self.state_bounds.items() if name != "tokens"}


class TellsOfIllegalActions(CatInTheBox):
    id = "tells_of_illegal_actions"

    def set_up(self) -> None:
        super().set_up()
        self.features = dataclasses.replace(self.features, fill=tell_of_all_actions)


class DrawsAllHandsForEverybody(CatInTheBox):
    id = "draws_all_hands_for_everybody"

    def draw_picture(self, state: GameState, seat: int | None, sheet: Sheet) -> str:
        return super().draw_picture(state, None, sheet)


class DrawsAHiddenHand(CatInTheBox):
    id = "draws_a_hidden_hand"

    def draw_picture(self, state: GameState, seat: int | None, sheet: Sheet) -> str:
        sheet.panel(0, 20, f"<!-- {state.record.hand[0]} -->")
        return super().draw_picture(state, seat, sheet)


class GrowsAPicture(CatInTheBox):
    id = "grows_a_picture"

    def draw_picture(self, state: GameState, seat: int | None, sheet: Sheet) -> str:
        sheet.panel(0, 500 + int(state.record.num_moves), "")
        return super().draw_picture(state, seat, sheet)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "found"),
    [
        (LeaksAHand, "an observation of seat|does not give the observation"),
        (ForgetsTheParadox, "mask of the seat to move is empty"),
        (ShowsAWrongRank, "history shows"),
        (ForgetsABound, "state_bounds does not say the bounds of tokens"),
        (TellsOfIllegalActions, "an illegal action has features"),
        (DrawsAllHandsForEverybody, "has other buttons than actions|tells what the seat cannot see"),
        (DrawsAHiddenHand, "tells what the seat cannot see"),
        (GrowsAPicture, "different, or odd, sizes"),
    ],
)
def test_a_broken_game_does_not_pass(broken: type[CatInTheBox], found: str) -> None:
    game = broken(num_players=2, num_ranks=2, copies=5, hand_size=5, revealed_cards=0)
    with pytest.raises(ConformanceError, match=found):
        check_game(game, num_games=30)
