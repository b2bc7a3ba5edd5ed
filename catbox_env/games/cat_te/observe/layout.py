"""The parts of the observation and of the state vector."""

from __future__ import annotations

from catbox_env.core.bits import INT8_MAX, INT8_MIN
from catbox_env.core.layout import Layout, Part
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    MAX_ROUNDS,
    NUM_CARDS,
    NUM_EARLY_TRICKS,
    NUM_RANKS,
    NUM_SUITS,
    NUM_TRICKS,
    Rules,
)

#: A face-up card is two adjacent one-hot vectors.
CARD_WIDTH = NUM_RANKS + NUM_SUITS
#: A score that does not fit in an int8 is written as three digits, each from -128 to 127.
DIGIT_BASE, NUM_DIGITS = 256, 3


def observation_layout(rules: Rules) -> Layout:
    """The parts of an observation under ``rules``, without those that they do not need."""
    own = [
        Part("hand", (NUM_CARDS,), "own cards"),
        Part("folded", (NUM_CARDS,), "own folded cards"),
        Part("chosen", (NUM_CARDS,), "own blind choice, one-hot, until all are shown"),
    ]
    return Layout([*own, *_public_parts(rules)])


def state_layout(rules: Rules) -> Layout:
    """The parts of the full state under ``rules``: like an observation, with the hidden cards of all seats."""
    by_seat = (rules.num_players, NUM_CARDS)
    hidden = [
        Part("hand", by_seat, "cards by seat"),
        Part("folded", by_seat, "folded cards by seat"),
        Part("chosen", by_seat, "blind choice of each seat, one-hot, until all are shown"),
    ]
    return Layout([*hidden, *_public_parts(rules)])


def _public_parts(rules: Rules) -> list[Part]:
    """The public parts, in order."""
    players = rules.num_players
    of_side_pot, of_several_rounds, claim_trick, exact_scores = [], [], [], []
    if rules.side_pot:
        of_side_pot = [
            Part("upturned", (NUM_CARDS,), "the upturned card, one-hot"),
            Part("claimed", (players,), "who claimed the side pot in this round, one-hot; zeros: nobody"),
            Part("side_pot", (1,), f"stakes in the side pot, at most {INT8_MAX} shown", 0, INT8_MAX),
        ]
        when = "tricks completed when it was claimed, one-hot; zeros: nobody has"
        claim_trick = [Part("claim_trick", (BLIND_TRICK + 1,), when)]
    if rules.num_rounds > 1:
        of_several_rounds = [
            Part("rounds_left", (1,), "rounds after this one", 0, rules.num_rounds - 1),
            Part("scores", (players,), "antes won in the finished rounds", INT8_MIN, INT8_MAX),
            Part("seat", (players,), "the observer's own seat, counted from seat 0, one-hot"),
        ]
        if max(rules.score_bounds) > INT8_MAX:
            doc = f"the scores as digits to base {DIGIT_BASE}, the lowest first"
            exact_scores = [Part("exact_scores", (players, NUM_DIGITS), doc, INT8_MIN, INT8_MAX)]
    faceup = (players, NUM_TRICKS, CARD_WIDTH)
    return [
        Part("faceup", faceup, "card shown by seat and trick: rank, then suit, one-hot"),
        Part("num_folded", (players,), "cards folded", 0, NUM_TRICKS - 1),
        Part("early_tricks", (players,), "tricks won among the first four", 0, NUM_EARLY_TRICKS),
        Part("tricks_won", (players,), "tricks won in this round", 0, NUM_TRICKS),
        Part("in_round", (players,), "1: not eliminated"),
        Part("led_suit", (NUM_SUITS,), "led suit, one-hot; zeros: none"),
        Part("leader", (players,), "who led or will lead this trick, one-hot"),
        Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
        Part("trick", (NUM_TRICKS,), "the trick under way, one-hot"),
        *of_side_pot,
        Part("dealer", (players,), "who dealt this round, one-hot"),
        *of_several_rounds,
        *claim_trick,
        *exact_scores,
    ]


#: The names of all parts, in order: these rules need every one.
PARTS = tuple(observation_layout(Rules(side_pot=1, rounds=MAX_ROUNDS)))
