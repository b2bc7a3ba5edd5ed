"""What text and pictures show of Cat in the Box agrees with the rules."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from catbox_env import make_game
from catbox_env.games.cat_in_the_box.play import board, tricks
from catbox_env.games.cat_in_the_box.play.state import NONE
from catbox_env.games.cat_in_the_box.show.view import View, largest_group, winning_play
from tests.games.rule_sets import cat_in_the_box_rules


@given(cat_in_the_box_rules(), st.integers(0, 2**32 - 1), st.integers(0, 60))
def test_groups_and_winners_are_those_of_the_rules(rules: object, seed: int, moves: int) -> None:
    game = make_game("cat_in_the_box_v0", rules=rules)
    state, rng = game.new_initial_state(seed=seed), np.random.default_rng(seed)
    for _ in range(moves):
        if state.is_terminal():
            break
        state.apply_action(int(rng.choice(state.legal_actions())))
    params = game.params[0]
    view = View.of(game.rules, state.record, None)
    for seat in range(game.num_players):
        cells = largest_group(view.board, seat)
        assert len(cells) == board.largest_group(params, state.record, seat)
        assert all(view.board[color][rank] == seat for color, rank in cells)
    if view.plays:
        assert winning_play(view.plays)[0] == tricks.trick_winner(params, state.record)
        assert view.plays[0][0] == state.record.leader
    else:
        assert view.led == NONE
