"""States from outside: what play could not go on from is refused. That every state of play is accepted is part of
`check_game`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from catbox_env import GameState, make_game
from catbox_env.core.game import Vec
from catbox_env.core.saved import state_bounds
from tests.cat_te import positions as cat_te
from tests.cat_te.positions import move_id as card
from tests.core.fuzz import is_valid
from tests.core.record_changes import set_field
from tests.petrify import positions as petrify

Change = Callable[[Any], Any]


def cat_in_the_box(phase: int, moves: int) -> GameState:
    """The first round of a match of four, so many moves into a phase: 0 discard, 1 bid, 2 play."""
    state = make_game("cat_in_the_box_v0", rounds="match", start_player=1).new_initial_state(seed=3)
    rng = np.random.default_rng(3)
    while state.record.phase < phase:
        state.apply_action(int(rng.choice(state.legal_actions())))
    for _ in range(moves):
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def cat_te_position() -> GameState:
    """In the third trick, before the turn of seat 3; seat 1 has claimed in the second trick and folded three cards."""
    hands = ["AS KS QS JS 9H 8H", "5S 2C 3C 4C 5C 10H", "2D 3D 4D 5D 6D 7H", "2S 3S 9C 10C 9D 6H"]
    options: dict[str, Any] = {"upturned": "4S", "side_pot": 2, "rounds": 3, "instant_wins": False}
    state = cat_te.start(hands, **options)
    return cat_te.play(
        state, "AS, fold 2C, 2D, 2S", "KS, claim, fold 3C, fold 3D, 3S", "QS, fold 4C, fold 4D"
    )


def petrify_position() -> GameState:
    board = ["2.1 W 1.3 1.1", "T1 4.2 2.1 T0", "1.2 1.4 1.3 4.4", "3.1 3.1 3.1 3.1"]
    return petrify.start(board, [(0, 0), (3, 3), (2, 1)])


def add(name: str, number: int, *place: int) -> Change:
    """A change that adds to a field, or to one place of it."""
    return lambda record: set_field(name, (record[name][place] if place else record[name]) + number, *place)(
        record
    )


#: By game and position: what is wrong, and the change that makes it so.
CORRUPTIONS: list[tuple[GameState, dict[str, Change]]] = [
    (
        cat_in_the_box(0, 2),
        {
            "bidding before the discards": set_field("phase", 1),
            "a hand below nothing": set_field("hand", -1, 0, 3),
            "a discard that nobody made": set_field("discarded", 3, 0),
            "a score that the finished rounds cannot pay": set_field("scores", 41, 1),
        },
    ),
    (
        cat_in_the_box(1, 2),
        {"play before the bids": set_field("phase", 2), "a bid before its turn": set_field("bids", 1, 0)},
    ),
    (
        cat_in_the_box(2, 0),
        {
            "led colour without a card": set_field("led", 1),
            "a discard not made": set_field("discarded", -1, 2),
            "a bid not made": set_field("bids", -1, 0),
            "a trick won by nobody else": set_field("tricks_won", 1, 0),
            "a card in the trick before its turn": set_field("trick_color", 1, 0),
            "points before a round is over": set_field("scores", 1, 1),
            "lost points before a round is over": set_field("scores", -1, 1),
        },
    ),
    (
        cat_in_the_box(2, 1),
        {
            "led colour not that of the leader": lambda s: set_field("led", (s.led + 1) % 4)(s),
            "a card of no colour in the trick": lambda s: set_field("trick_color", -1, int(s.leader))(s),
        },
    ),
    (
        cat_in_the_box(2, 6),
        {
            "discards during play": set_field("phase", 0),
            "a trick too many": add("tricks_left", 1),
            "a trick too few": set_field("tricks_left", 0),
            "a card more in a hand": add("hand", 1, 0, 3),
            "a token more than tricks": add("num_tokens", 1, 0),
            "somebody else to move": lambda s: set_field("current_player", (s.current_player + 1) % 4)(s),
            "more moves than were made": add("num_moves", 1),
            "a round counted that was not": set_field("rounds_ended", 1),
        },
    ),
    (
        cat_te_position(),
        {
            "a card in two hands": set_field("hand", sum(1 << card(c) for c in ("JS", "9H", "10H")), 0),
            "a card in a hand and face up": set_field("hand", sum(1 << card(c) for c in ("AS", "9H", "8H")), 0),
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
        },
    ),
    (
        petrify_position(),
        {
            "an open cell beyond the board": set_field("open", 1 << 16),
            "two pawns on a cell": set_field("position", 15, 0),
            "a pawn on a closed cell": set_field("position", 1, 0),
            "nowhere to go": set_field("open", 1 << 0 | 1 << 9 | 1 << 15),
            "a mover that is out": set_field("place", 2, 0),
            "nobody left but the mover": set_field("place", [-1, 1, 2, 0]),
            "a place that is not the last": set_field("place", 1, 2),
            "a game longer than any": set_field("num_moves", 1),
            "an end with players in the game": lambda s: (
                set_field("terminated", 1)(s),
                set_field("current_player", -1)(s),
            ),
        },
    ),
]  # fmt: skip


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("state", "change"),
    [
        pytest.param(state, change, id=what)
        for state, all_of in CORRUPTIONS
        for what, change in all_of.items()
    ],
)
def test_a_record_with_one_thing_wrong_is_refused(state: GameState, change: Change) -> None:
    assert is_valid(state)
    wrong = state.clone()
    change(wrong.record)
    assert not is_valid(wrong)


@pytest.mark.nojit
@pytest.mark.parametrize(
    "state", [cat_in_the_box(2, 6), cat_te_position(), petrify_position()], ids=lambda s: s.game.id
)
def test_each_field_is_refused_one_step_beyond_its_bounds(state: GameState) -> None:
    for name, (low, high) in state_bounds(state.game).items():
        if state.records[name].dtype.kind == "i":
            for value in (low - 1, high + 1):
                changed = state.clone()
                changed.record[name] = np.full_like(changed.record[name], value)
                assert not is_valid(changed), (name, value)


def test_a_blind_choice_is_made_once() -> None:
    hands = ["AS KS 2C 3C 4C 5C", "2S QC 6D 8D 9D 10D", "3S 6C 7D AD KD QD"]
    state = cat_te.play(
        cat_te.start(hands), "AS, 2S, 3S", "2C, QC, 6C", "6D, 7D, 3C", "AD, 4C, 8D", "KD", "KS"
    )
    assert is_valid(state)
    set_field("chosen", -1, 0)(state.record)
    assert not is_valid(state)
    set_field("faceup", card("KS"), 0, 4)(state.record)
    assert not is_valid(state)


@pytest.mark.nojit
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_game_that_was_dealt_anew_in_its_row_is_valid(players: int) -> None:
    """Its ``info`` is still that of the game before."""
    game = make_game("cat_in_the_box_v0", num_players=players, num_ranks=9, hand_size=3, copies=3, rounds=2)
    vec = Vec(game, 3, seed=1)
    for step in range(40):
        vec.step_random(1, seed=step)
        assert game.loops.first_refused(game.params, vec._records) < 0
