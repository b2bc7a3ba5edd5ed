"""Cat Te: states from outside are played on only where every seat has its cards and the round comes to its end."""

import random

import numpy as np
import pytest

from catbox_env.core.game import GameState
from catbox_env.core.saved import state_bounds
from tests.cat_te.positions import move_id as card
from tests.cat_te.positions import play, start
from tests.core.fuzz import is_sound, random_game
from tests.core.record_changes import set_field

HANDS = ["AS KS QS JS 9H 8H", "5S 2C 3C 4C 5C 10H", "2D 3D 4D 5D 6D 7H", "2S 3S 9C 10C 9D 6H"]


def in_play() -> GameState:
    """In the third trick, before the turn of seat 3; seat 1 has claimed in the second trick and folded three cards."""
    state = start(HANDS, upturned="4S", region="laos", side_pot=2, rounds=3, instant_wins=False)
    play(state, "AS, fold 2C, 2D, 2S", "KS, claim, fold 3C, fold 3D, 3S", "QS, fold 4C, fold 4D")
    assert is_sound(state)
    return state


CORRUPTIONS = {
    "a card in two hands": set_field("hand", sum(1 << card(name) for name in ("JS", "9H", "10H")), 0),
    "a card in a hand and face up": set_field("hand", sum(1 << card(name) for name in ("AS", "9H", "8H")), 0),
    "the upturned card in a hand": set_field("upturned", card("10H")),
    "too few cards in a hand": set_field("hand", 0, 3),
    "too many cards in a hand": set_field("hand", 0b111111, 3),
    "fewer folded cards than folds": set_field("folded", 0, 1),
    "more folds than turns": set_field("num_folded", 4, 1),
    "a blind choice before the blind trick": set_field("chosen", card("7C"), 2),
    "a card shown in a trick to come": set_field("faceup", card("7C"), 0, 4),
    "a trick that nobody led": set_field("faceup", -1, 0, 1),
    "no card led": set_field("faceup", -1, 0, 2),
    "another led suit": set_field("led", 0),
    "no led suit": set_field("led", -1),
    "another leader": set_field("leader", 1),
    "another trick": set_field("trick", 3),
    "the sixth trick": set_field("trick", 5),
    "another mover": set_field("current_player", 2),
    "a leader that is out": set_field("in_round", 0, 0),
    "a seat that is out too soon": set_field("in_round", 0, 2),
    "more early tricks than tricks": set_field("early_tricks", 1, 1),
    "more tricks won than tricks": set_field("tricks_won", 1, 1),
    "a claimer, but no time of the claim": set_field("claim_trick", -1),
    "no claimer, but a time of the claim": set_field("claimed", -1),
    "a pot that nobody has paid": set_field("pot", 9),
    "more lost than can have been": set_field("scores", [-1, 1, 0, 0, 0, 0]),
    "more moves than can have been": set_field("num_moves", 13),
    "more rounds than can have been": set_field("rounds_ended", 1),
}


@pytest.mark.nojit
@pytest.mark.parametrize("what", CORRUPTIONS)
def test_a_record_with_one_thing_wrong_is_refused(what: str) -> None:
    state = in_play()
    CORRUPTIONS[what](state.record)
    assert not is_sound(state)


def test_each_field_is_refused_one_step_beyond_its_bounds() -> None:
    state = in_play()
    for name, (low, high) in state_bounds(state.game).items():
        if state.records[name].dtype.kind == "i":
            for value in (low - 1, high + 1):
                changed = state.clone()
                changed.record[name] = np.full_like(changed.record[name], value)
                assert not is_sound(changed), (name, value)


def test_the_blind_choice_is_made_once() -> None:
    hands = ["AS KS 2C 3C 4C 5C", "2S QC 6D 8D 9D 10D", "3S 6C 7D AD KD QD"]
    state = play(start(hands), "AS, 2S, 3S", "2C, QC, 6C", "6D, 7D, 3C", "AD, 4C, 8D", "KD", "KS")
    assert is_sound(state)
    for changes in ([("chosen", -1)], [("chosen", -1), ("faceup", card("KS"))]):
        changed = state.clone()
        for name, value in changes:
            changed.record[name][(0, 4) if name == "faceup" else 0] = value
        assert not is_sound(changed)


def test_every_state_of_play_and_every_world_of_one_is_accepted() -> None:
    rng = random.Random(5)
    worlds = 0
    for seed in range(60):
        game = random_game("cat_te_v0", np.random.default_rng(seed))
        state = game.new_initial_state(seed=seed)
        favourite = rng.choice([None, rng.randrange(game.num_players)])  # the others fold: sweeps come up
        for _ in range(150):
            assert is_sound(state), state.record
            if state.is_terminal():
                break
            if rng.random() < 0.1:
                world = game.sample_state(state.observation(rng.randrange(game.num_players)), seed)
                assert is_sound(world)
                worlds += 1
                state = world if rng.random() < 0.2 else state
            legal = state.legal_actions()
            folds = [action for action in legal if 52 <= action < 104]
            follows = [action for action in legal if action < 52 and action % 4 == state.record.led]
            if state.current_player != favourite is not None and folds:
                legal = folds
            elif state.current_player == favourite and follows:
                legal = [max(follows)]
            state.apply_action(rng.choice(legal))
    assert worlds > 200
