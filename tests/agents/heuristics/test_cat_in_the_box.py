"""The heuristic of Cat in the Box: what it does and says in single positions, and the parts it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import catbox_agents
import catbox_env
from catbox_agents import Agent
from catbox_agents.features.cat_in_the_box_view import VIEW, read_table
from catbox_agents.heuristics import cat_in_the_box_reasons as reasons
from catbox_env.core.bits import popcount
from tests.cat_in_the_box.positions import play, start


def game_for(players: int, **options: Any) -> Any:
    return catbox_env.make_game("cat_in_the_box_v0", num_players=players, **options)


def choice(state: Any, agent: Agent | None = None) -> str:
    """What the heuristic (or ``agent``) does here, in words."""
    agent = agent or catbox_agents.make("heuristic", state.game)
    action = agent.act(state.observation(state.current_player), state.action_mask())
    return str(state.game.action_to_string(action))


# Heuristic: single positions -------------------------------------------------------------------------------------

HANDS = [[1, 1, 5, 6, 6], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]


def after_bids(*bids: int, hands: Any = HANDS) -> Any:
    """Three players, three tricks, each one's lowest card discarded."""
    state = start(hands, num_ranks=6, bids=(0, 1, 2, 3))
    play(state, *[f"discard {min(hand)}" for hand in hands])
    return play(state, *[f"bid {bid}" for bid in bids])


def test_a_strong_hand_bids_more_than_a_weak_one() -> None:
    low, high, middle = [1, 1, 1, 2, 2, 2, 3], [6, 6, 6, 5, 5, 5, 4], [1, 2, 3, 4, 5, 6, 4]
    bids = []
    for hand in (low, high):
        state = play(start([hand, middle, middle]), f"discard {hand[-1]}", "discard 4", "discard 4")
        bids.append(int(choice(state).removeprefix("bid ")))
    assert bids[0] < bids[1]


def test_the_last_to_play_takes_the_trick_it_needs() -> None:
    # Seat 2 holds 2 3 4 5 against blue 5: only red wins.
    assert choice(play(after_bids(1, 1, 3), "blue 5", "blue 3")).startswith("play red")


def test_winning_counts_for_a_bid_that_needs_it_and_against_one_that_is_hit() -> None:
    shares = []
    for bid in (0, 3):
        state = play(after_bids(1, 1, bid), "blue 5", "blue 3")
        agent: Any = catbox_agents.make("heuristic", state.game)
        why = agent.explain(state.observation(2), state.action_mask())
        named = {state.game.action_to_string(action): points for action, points in why.items()}
        shares.append(named["play red 4"]["bid"] - named["play blue 4"]["bid"])
    assert shares[0] < 0 < shares[1]


def test_following_keeps_the_token() -> None:
    state = play(after_bids(1, 1, 1), "yellow 6")
    agent: Any = catbox_agents.make("heuristic", state.game)
    why = agent.explain(state.observation(1), state.action_mask())
    named = {state.game.action_to_string(action): points for action, points in why.items()}
    assert named["play yellow 3"]["tokens"] == 0
    assert named["play green 3"]["tokens"] < 0


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_what_is_said_of_an_action_does_not_depend_on_the_others_that_are_legal(players: int) -> None:
    state = game_for(players).new_initial_state(seed=4)
    agent: Any = catbox_agents.make("heuristic", state.game)
    for move in range(10 * players):
        seen, mask = state.observation(state.current_player), state.action_mask()
        why = agent.explain(seen, mask)
        if move % 3 == 0:
            for action, points in why.items():
                alone = np.zeros_like(mask)
                alone[action] = 1
                assert agent.explain(seen, alone) == {action: points}
        state.apply_action(next(iter(why)))
        if state.is_terminal():
            return


def test_a_group_counts_with_the_cells_that_the_cards_left_in_hand_can_still_add() -> None:
    def points(state: Any, move: str) -> float:
        agent: Any = catbox_agents.make("heuristic", state.game)
        why = agent.explain(state.observation(state.current_player), state.action_mask())
        return float(why[state.game.string_to_action(move)]["group"])

    state = after_bids(1, 1, 1)  # seat 0 leads to the first of three tricks with 1, 5, 6 and 6
    weights = planned(state)[2]
    assert points(state, "play blue 1") == pytest.approx(weights.group)
    # Red 6, yellow 6 and blue 5 lie beside blue 6, and two tricks are left then.
    assert points(state, "play blue 6") == pytest.approx(weights.group * (1 + 2 * weights.growth))
    play(state, "blue 6", "blue 3", "blue 4")
    assert points(state, "play blue 5") == pytest.approx(weights.group * (2 + 1 * weights.growth))
    assert points(state, "play blue 1") == pytest.approx(weights.group)  # of two equal groups the new one


# Heuristic: its parts --------------------------------------------------------------------------------------------


def planned(state: Any) -> tuple[Any, Any, Any, Any]:
    """What the heuristic of the seat to move knows: the parameters, the view, its weights and its plan."""
    agent: Any = catbox_agents.make("heuristic", state.game)
    params, weights = state.game.params[0], agent.weights_record[0]
    views, plans = np.zeros(1, VIEW), np.zeros(1, reasons.PLAN)
    read_table(params, state.observation(state.current_player), views[0])
    reasons.plan_hand(params, views[0], weights, plans[0])
    reasons.plan_trick(params, views[0], weights, plans[0])
    return params, views[0], weights, plans[0]


@pytest.mark.nojit
def test_what_the_hand_promises_without_a_card_is_the_sum_over_the_cards_that_are_left() -> None:
    params, view, weights, plan = planned(play(after_bids(1, 1, 1), "blue 6", "blue 3"))
    # Five of each rank; seat 2 has 2 3 4 5 in hand and discarded its 1; a 6 and a 3 lie on the board.
    assert view.unseen[:6].tolist() == [4, 4, 3, 4, 4, 4]
    green = 1 << (3 * 7)
    for place in range(2):
        for rank in (1, 2, 3, 4):
            supply = strength = 0.0
            for other in range(6):
                cards = view.hand[other] - (other == rank)
                cells = int(view.open & (view.column << other))
                if other == rank:
                    cells &= ~(green << rank)  # taken by the play
                usable, power = reasons.promise(view, weights, plan, place, other, cards, cells)
                supply, strength = supply + usable, strength + usable * power
            cells = int(view.open & (view.column << rank)) & ~(green << rank)
            left = reasons.promised(params, view, weights, plan, place, rank, cells)
            assert left == pytest.approx((supply, strength / supply))
    assert popcount(int(view.kept_rows[0])) == 4 * 6
    assert int(view.kept_rows[0] ^ view.kept_rows[1]) == 0b111111 << 7  # not following blue loses blue


@pytest.mark.nojit
def test_the_chance_to_win_is_certain_where_it_is() -> None:
    params, view, _, plan = planned(play(after_bids(1, 1, 1), "blue 1", "blue 3"))
    assert reasons.win_chance(params, view, plan, 1, 4) == 1.0  # last to play, higher
    assert reasons.win_chance(params, view, plan, 1, 1) == 0.0  # lower
    assert reasons.win_chance(params, view, plan, 0, 1) == 1.0  # red
    assert reasons.win_chance(params, view, plan, 3, 4) == 0.0  # another colour

    params, view, _, plan = planned(after_bids(1, 1, 1))
    chances = [reasons.win_chance(params, view, plan, 1, rank) for rank in range(6)]
    assert chances == sorted(chances)
    assert 0.0 < chances[0] < chances[5] < 1.0


@pytest.mark.nojit
def test_the_risk_of_a_paradox_falls_with_spare_cards_and_ends_with_the_round() -> None:
    weights = planned(after_bids(1, 1, 1))[2]
    risks = [reasons.paradox_risk(supply, 3, weights) for supply in (1.0, 2.0, 3.0, 4.0)]
    assert risks == sorted(risks, reverse=True)
    assert reasons.paradox_risk(0.0, 0, weights) == 0.0


@pytest.mark.nojit
def test_the_chance_to_hit_the_bid_is_nothing_when_it_cannot_be_hit_and_all_when_it_is() -> None:
    weights = planned(after_bids(1, 1, 1))[2]
    assert reasons.hit_chance(-1, -1, 1.0, 3, 0.2, weights) == 0.0
    assert reasons.hit_chance(4, 4, 1.0, 3, 0.2, weights) == 0.0
    assert reasons.hit_chance(0, 0, 0.0, 0, 0.2, weights) == 1.0
    assert reasons.hit_chance(1, 1, 1.0, 3, 0.0, weights) > reasons.hit_chance(3, 3, 1.0, 3, 0.0, weights)
