"""The rules page of Cat in the Box, sentence by sentence: research variants, their bounds, given deals, actions."""

import numpy as np
import pytest

import catbox_env
from catbox_env.games.cat_in_the_box.rules import Deal, Rules
from tests.cat_in_the_box.positions import view

pytestmark = pytest.mark.nojit


def make(**options):
    return catbox_env.make_game("cat_in_the_box_v0", **options)


# ---------------------------------------------------------------- Rules


def test_the_tiny_game_is_for_two_players_with_bids_and_small():
    rules = Rules.tiny()
    assert rules.num_players == 2
    assert len(rules.bids) > 0
    state = make(rules=rules).new_initial_state(seed=0)
    lengths = set()

    def explore(position, depth):
        if position.is_terminal():
            lengths.add(depth)
            return 1
        total = 0
        for action in position.legal_actions():
            child = position.clone()
            child.apply_action(action)
            total += explore(child, depth + 1)
        return total

    endings = explore(state, 0)
    assert 2 <= endings <= 100_000
    assert max(lengths) == 2 * (2 + rules.hand_size - 2)


# ---------------------------------------------------------------- given deals


def test_a_given_deal_is_played_as_given():
    game = make(num_players=2, num_ranks=5, hand_size=4, start_player=1)
    hands = [[1, 1, 2, 3], [5, 5, 5, 4]]
    for deal in (
        Deal(hands=hands, revealed=[3, 3, 4], start_player=1),
        {"hands": hands, "revealed": [3, 3, 4], "start_player": 1},
    ):
        state = game.new_initial_state(deal=deal)
        assert view(state, 0)["hand"].tolist() == [2, 1, 1, 0, 0]
        assert view(state, 1)["hand"].tolist() == [0, 0, 0, 1, 3]
        cells = {tuple(map(int, cell)) for cell in np.argwhere(view(state, 0)["neutral"])}
        assert cells == {(3, 2), (2, 2), (3, 3)}
        assert state.current_player == 1
