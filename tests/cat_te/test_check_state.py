"""Cat Te: a record is accepted where play, a given deal or a draw leads to it, and refused where none does."""

import random
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from catbox_env import make_game
from catbox_env.core.game import GameState
from tests.cat_te.positions import move_id, play, start
from tests.core.fuzz import is_sound, random_game
from tests.core.record_changes import set_field

HANDS = ["AS KS QS JS 9H 8H", "5S 2C 3C 4C 5C 10H", "2D 3D 4D 5D 6D 7H", "2S 3S 9C 10C 9D 6H"]


def in_play() -> GameState:
    """In the third trick of the second round of three, seat 1 having claimed in the second trick and folded."""
    game = make_game("cat_te_v0", num_players=4, region="khmer", side_pot=2, rounds=3, instant_wins=False)
    state = game.new_initial_state(seed=0, deal={"hands": [hand.split() for hand in HANDS], "upturned": "4S"})
    play(state, "AS, fold 2C, 2D, 2S", "KS, claim, fold 3C, fold 3D, 3S", "QS, fold 4C, fold 4D")
    record = state.record
    record.rounds_left, record.rounds_ended, record.num_moves = 1, 1, 32
    record.pot, record.dealer, record.scores[:4] = 16, 3, [-3, -3, -3, 1]
    assert is_sound(state)
    return state


def at_the_end() -> GameState:
    state = make_game("cat_te_v0", num_players=3, side_pot=1, region="khmer").new_initial_state(seed=3)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[-1])
    return state


def exchange(name: str, one: int, other: int) -> Callable[[np.record], None]:
    def change(record: np.record) -> None:
        values = record[name].copy()
        values[[one, other]] = values[[other, one]]
        record[name] = values

    return change


def card(name: str) -> int:
    return move_id(name)


CORRUPTIONS = {
    "dealer": set_field("dealer", 2),
    "no such dealer": set_field("dealer", 4),
    "leader": set_field("leader", 1),
    "no leader": set_field("leader", -1),
    "led suit": set_field("led", 0),
    "no led suit": set_field("led", -1),
    "trick": set_field("trick", 3),
    "no such trick": set_field("trick", 6),
    "the sixth trick": set_field("trick", 5),
    "mover": set_field("current_player", 2),
    "upturned card is in a hand": set_field("upturned", card("10H")),
    "no upturned card": set_field("upturned", -1),
    "no card is above the upturned one": set_field("upturned", card("AC")),
    "another upturned card": set_field("upturned", card("8S")),
    "claimer": set_field("claimed", 2),
    "no claimer, but a time of the claim": set_field("claimed", -1),
    "no time of the claim": set_field("claim_trick", -1),
    "a claim in a trick to come": set_field("claim_trick", 3),
    "rounds left": set_field("rounds_left", 3),
    "the first round, but scores": set_field("rounds_left", 2),
    "pot": set_field("pot", 17),
    "no pot": set_field("pot", 0),
    "negative pot": set_field("pot", -16),
    "a pot of more rounds": set_field("pot", 24),
    "a hand with a card of the table": set_field("hand", 1 << card("AS"), 0),
    "a hand beyond the deck": set_field("hand", 1 << 60, 0),
    "a hand with a sign": set_field("hand", -1, 0),
    "two hands exchanged": exchange("hand", 1, 3),
    "folded cards of two seats exchanged": exchange("folded", 1, 2),
    "no folded cards": set_field("folded", 0, 1),
    "a blind choice in khmer": set_field("chosen", card("7C"), 2),
    "no such blind choice": set_field("chosen", 52, 2),
    "two cards shown exchanged": exchange("faceup", 0, 2),
    "a card shown in a trick to come": set_field("faceup", card("7C"), 0, 4),
    "no such card shown": set_field("faceup", 90, 0, 0),
    "no card led": set_field("faceup", -1, 0, 1),
    "number of folds": set_field("num_folded", 1, 1),
    "early tricks": set_field("early_tricks", 1, 0),
    "tricks won": set_field("tricks_won", 1, 1),
    "out in khmer": set_field("in_round", 0, 3),
    "in_round of 2": set_field("in_round", 2, 0),
    "scores do not add up": set_field("scores", 0, 0),
    "scores nobody can have": set_field("scores", [-2, -2, -2, -2, 0, 0]),
    "the dealer has not won": set_field("scores", [1, -3, -3, -3, 0, 0]),
    "round_ended in the middle": set_field("round_ended", 1),
    "a share of a win before the end": set_field("win_shares", 0.5, 0),
    "more moves than can have been": set_field("num_moves", 34),
    "fewer moves than rounds": set_field("num_moves", 0),
    "more rounds than can have been": set_field("rounds_ended", 2),
    "info": set_field("info", 3, 1, 0),
}


@pytest.mark.nojit
@pytest.mark.parametrize("what", CORRUPTIONS)
def test_a_record_with_one_thing_wrong_is_refused(what: str) -> None:
    state = in_play()
    CORRUPTIONS[what](state.record)
    assert not is_sound(state)


@pytest.mark.nojit
def test_who_has_shown_another_suit_cannot_hold_the_led_one() -> None:
    """Seat 2 showed a diamond on spades; seat 3 followed, so that it may hold the spade instead."""
    state = in_play()
    record = state.record
    for seat, sound in ((2, False), (3, True)):
        changed = state.clone()
        out = 1 << int(np.flatnonzero([int(record.hand[seat]) >> c & 1 for c in range(52)])[0])
        changed.record.hand[seat] ^= out | 1 << card("10S")
        assert is_sound(changed) == sound


def test_the_claimed_card_cannot_have_been_folded_before_the_claim() -> None:
    state = in_play()
    held, before = 1 << card("5S"), 1 << card("3C")
    swapped = state.clone()
    swapped.record.hand[1] ^= held | before
    swapped.record.folded[1] ^= held | before
    assert is_sound(swapped), "it may have been folded in the trick of the claim or after"
    swapped.record.claim_trick = 2
    assert is_sound(swapped), "seat 1 folds in this trick after its claim"
    hands = ["AS KS QS JS 9H 8H", "5S 2C 3C 4C 5C 10H"]
    late = play(start(hands, upturned="4S", side_pot=1, region="khmer"), "AS, fold 2C", "KS, claim")
    late.record.hand[1] ^= held | 1 << card("2C")
    late.record.folded[1] ^= held | 1 << card("2C")
    assert not is_sound(late)


@pytest.mark.parametrize(
    "change",
    [
        set_field("rounds_left", 1),
        set_field("pot", 3),
        set_field("trick", 2),
        set_field("scores", 5, 0),
        set_field("win_shares", 1.0, slice(None)),  # type: ignore[arg-type]
        set_field("hand", 1, 0),
        set_field("round_ended", 0),
        set_field("leader", 3),
        set_field("faceup", -1, 0, 5),
    ],
)
def test_an_end_that_cannot_be_is_refused(change: Callable[[np.record], None]) -> None:
    state = at_the_end()
    assert is_sound(state)
    change(state.record)
    assert not is_sound(state)


@pytest.mark.nojit
def test_a_round_that_a_sweep_has_ended_does_not_go_on() -> None:
    hands = ["AS KS QS JS 9H 8H", "5S 2C 3C 4C 5C 10H", "2D 3D 4D 5D 6D 7H"]
    state = play(start(hands), "AS, fold 5S, fold 2D", "KS, fold 2C, fold 3D", "QS, fold 3C, fold 4D", "JS")
    play(state, "fold 4C")
    end = play(state.clone(), "fold 5D")
    assert end.is_terminal()
    assert is_sound(end)
    going_on = end.clone()
    record = going_on.record
    record.terminated, record.round_ended, record.current_player, record.trick = 0, 0, 0, 4
    record.win_shares, record.scores, record.num_moves, record.rounds_ended = 0, 0, 0, 0
    assert not is_sound(going_on)


def test_every_state_of_play_and_every_draw_from_one_is_accepted() -> None:
    rng = random.Random(5)
    draws = 0
    for seed in range(60):
        game = random_game("cat_te_v0", np.random.default_rng(seed))
        state = game.new_initial_state(seed=seed)
        favourite = rng.choice([None, rng.randrange(game.num_players)])  # the others fold: sweeps come up
        for _ in range(150):
            assert is_sound(state), state.record
            if state.is_terminal():
                break
            if rng.random() < 0.1:
                drawn = game.sample_state(state.observation(rng.randrange(game.num_players)), seed)
                assert is_sound(drawn)
                draws += 1
                state = drawn if rng.random() < 0.2 else state
            legal = state.legal_actions()
            folds = [action for action in legal if 52 <= action < 104]
            follows = [action for action in legal if action < 52 and action % 4 == state.record.led]
            if state.current_player != favourite is not None and folds:
                legal = folds
            elif state.current_player == favourite and follows:
                legal = [max(follows)]
            state.apply_action(rng.choice(legal))
    assert draws > 200


@pytest.mark.parametrize(
    ("region", "double", "side_pot"), [("khmer", False, 0), ("khmer", True, 0), ("khmer", False, 2)]
)
def test_scores_are_accepted_where_rounds_can_have_paid_them(
    region: str, double: bool, side_pot: int
) -> None:
    """Against every way to win and to claim two rounds, written down one by one."""
    game = make_game(
        "cat_te_v0", num_players=3, region=region, instant_wins_double=double, side_pot=side_pot, rounds=3
    )
    possible = set()
    for winners in product(range(3), repeat=2):
        for factors in product((1, 2) if double else (1,), repeat=2):
            for claimers in product((None, 0, 1, 2) if side_pot else (None,), repeat=2):
                scores, pot = [0, 0, 0], 0
                for winner, factor, claimer in zip(winners, factors, claimers, strict=True):
                    pot += 3 * side_pot
                    for seat in range(3):
                        scores[seat] += (2 * factor if seat == winner else -factor) - side_pot
                    if claimer is not None:
                        scores[claimer] += pot
                        pot = 0
                possible.add((tuple(scores), pot, winners[-1]))
    state = game.new_initial_state(seed=0)
    record = state.record
    record.rounds_left, record.rounds_ended, record.num_moves = 0, 2, 10
    accepted = set()
    for dealer in range(3):
        record.dealer = dealer
        record.leader = record.current_player = (dealer + 1) % 3
        for pot in {carried for _, carried, _ in possible}:
            record.pot = pot + 3 * side_pot
            for one, two in product(range(-10, 17), repeat=2):
                scores = (one, two, -pot - one - two)
                record.scores[:3] = scores
                if is_sound(state):
                    accepted.add((scores, pot, dealer))
    assert accepted == possible
