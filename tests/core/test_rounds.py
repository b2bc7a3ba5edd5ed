"""The end of a round: what is shown between two rounds, and where the deal of a round is known."""

import copy
from collections.abc import Iterator

import numpy as np
import pytest

from catbox_env import Game, GameState, make_game, make_vec
from catbox_env.core.state import last_position

MATCHES = [
    ("cat_in_the_box_v0", {"num_players": 3, "rounds": 3}),
    ("cat_te_v0", {"num_players": 3, "rounds": 3, "side_pot": 2}),
]


def ends(game: Game, seed: int) -> Iterator[tuple[GameState, int, GameState]]:
    """Every action of a random game that ends a round but not the game: before, action, after."""
    rng, state = np.random.default_rng(seed), game.new_initial_state(seed=seed)
    while not state.is_terminal():
        before, action = copy.deepcopy(state), int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        if state.round_ended and not state.is_terminal():
            yield before, action, copy.deepcopy(state)


@pytest.mark.parametrize(("game_id", "options"), MATCHES)
def test_between_two_rounds_the_scores_and_statistics_are_those_of_the_next_one(
    game_id: str, options: dict
) -> None:
    game, found = make_game(game_id, **options), 0
    for seed in range(8):
        for before, action, after in ends(game, seed):
            position = last_position(before, action, after)
            assert (position.record.scores == after.record.scores).all()
            assert [position.info(seat) for seat in range(3)] == [after.info(seat) for seat in range(3)]
            assert position.returns() == after.returns()
            assert position.record.rounds_left == before.record.rounds_left == after.record.rounds_left + 1
            assert (position.current_player, position.legal_actions()) == (-1, [])
            assert position.round_ended
            assert not position.is_terminal()
            found += 1
    assert found == 16


def test_a_side_pot_that_nobody_claims_stays_on_the_table_between_two_rounds() -> None:
    game = make_game("cat_te_v0", num_players=3, rounds=3, side_pot=5)
    unclaimed = claimed = 0
    for seed in range(20):
        for before, action, after in ends(game, seed):
            position = last_position(before, action, after)
            text = game.render_text(position)
            if any(position.info(seat)["claimed"] for seat in range(3)):
                claimed += 1
                assert "side pot: 0, " in text
            else:
                unclaimed += 1
                assert f"side pot: {before.record.pot}, " in text
                assert position.record.pot == after.record.pot - 15
                (event,) = [event for event in game.events(before, action, after) if event.kind == "side_pot"]
                assert event.text.startswith(f"nobody claimed the side pot of {before.record.pot} antes")
                assert event.text.endswith("carried over to the next round")
            for seat in range(3):
                row = next(line for line in text.splitlines() if f" player_{seat} " in line)
                assert int(row.split("(")[0].split()[-1]) == int(after.record.scores[seat])
    assert min(claimed, unclaimed) > 3


@pytest.mark.parametrize(
    ("game_id", "options"), [*MATCHES, ("petrify_v0", {"num_players": 2, "size": 4, "zeros": 2})]
)
def test_the_deal_of_a_state_from_a_batch_is_known_at_the_beginning_of_a_round_alone(
    game_id: str, options: dict
) -> None:
    vec = make_vec(game_id, 4, seed=3, history=True, auto_deal=False, **options)
    game, states = vec.game, [vec.game.new_initial_state(seed) for seed in np.random.SeedSequence(3).spawn(4)]
    rng, rows, asked, refused = np.random.default_rng(0), np.arange(4), 0, 0
    while len(rows):
        for row in rows.tolist():
            state = states[row]
            if not state.history() or state.round_ended:
                asked += 1
                assert game.deal_of(vec.get_state(row)) == game.deal_of(state)
            else:
                refused += 1
                with pytest.raises(ValueError, match=r"^state: it is in the middle of a round"):
                    game.deal_of(vec.get_state(row))
        actions = np.array([rng.choice(np.flatnonzero(vec.action_mask[row])) for row in rows])
        vec.step(actions, rows)
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            states[row].apply_action(action)
        rows = rows[~vec.terminated[rows]]
    assert asked == 4 * game.num_rounds
    assert refused > 20


def test_the_deal_of_a_world_is_known_if_it_was_sampled_with_its_history() -> None:
    game = make_game("cat_in_the_box_v0", num_players=3)
    state = game.new_initial_state(seed=1)
    for _ in range(8):
        state.apply_action(state.legal_actions()[0])
    seat = state.current_player
    world = game.sample_state(state.observation(seat), 1, state.history_observation(seat))
    replayed = game.replay([game.deal_of(world)], world.history())
    assert (replayed.state_vector() == world.state_vector()).all()
    with pytest.raises(ValueError, match=r"^state: it is in the middle of a round"):
        game.deal_of(game.sample_state(state.observation(seat), 1))
