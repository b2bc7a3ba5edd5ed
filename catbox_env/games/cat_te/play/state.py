"""The state of a game of Cat Te: one record, with the sizes of the largest rule set.

Seats, ranks, suits and tricks are indices from 0. A card is ``rank * 4 + suit``, and a set of cards is one integer
with bit ``card`` set for each of them.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.kernels import CORE_PARAMS, REWARDS, core_state_fields, record_dtype
from catbox_env.games.cat_te.observe.layout import PARTS, observation_layout, state_layout
from catbox_env.games.cat_te.rules import (
    BLIND_TRICK,
    DOUBLE,
    LAST_TRICK,
    LOW_RANKS,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_EARLY_TRICKS,
    NUM_SUITS,
    NUM_TRICKS,
    RANKS,
    Rules,
)

#: No card, no suit, no seat.
NONE = -1

#: Actions: 0 .. 51 play a card face up (or choose it), FOLD .. FOLD + 51 fold it, then two actions without a card.
FOLD = NUM_CARDS
CLAIM = 2 * NUM_CARDS
SHOW = CLAIM + 1
NUM_ACTIONS = SHOW + 1

ALL_CARDS = (1 << NUM_CARDS) - 1
#: The set of the cards of suit 0; shifted by s, those of suit s.
ONE_SUIT = sum(1 << card for card in range(0, NUM_CARDS, NUM_SUITS))
#: The set of the cards of ``LOW_RANKS``.
LOW_CARDS = sum(1 << card for card in range(NUM_CARDS) if RANKS[card // NUM_SUITS] in LOW_RANKS)

#: Rows of ``state.info``: statistics of the last finished round.
INFO = ("score", "won_round", "tricks_won", "eliminated", "showed", "claimed")
INFO_SCORE, INFO_WON, INFO_TRICKS, INFO_ELIMINATED, INFO_SHOWED, INFO_CLAIMED = range(len(INFO))

STATE = record_dtype(
    [
        *core_state_fields(MAX_PLAYERS, len(INFO)),
        ("dealer", np.int8),  # seat that deals this round
        ("leader", np.int8),  # seat that led, or will lead, this trick; after the last one its winner
        ("led", np.int8),  # suit led in this trick, or NONE
        ("trick", np.int8),  # the current trick, 0-5; after the end of the game the last one played
        ("upturned", np.int8),  # card turned up for the side pot, or NONE
        ("claimed", np.int8),  # seat that claimed the side pot in this round, or NONE
        ("claim_trick", np.int8),  # the trick in which it was claimed, or NONE
        ("rounds_left", np.int8),  # rounds after this one
        ("pot", np.int32),  # antes in the side pot
        ("hand", np.int64, (MAX_PLAYERS,)),  # set of the cards held, by seat
        ("folded", np.int64, (MAX_PLAYERS,)),  # set of the cards folded
        ("chosen", np.int8, (MAX_PLAYERS,)),  # card chosen blind and not shown yet, or NONE
        ("faceup", np.int8, (MAX_PLAYERS, NUM_TRICKS)),  # card shown by each seat in each trick, or NONE
        ("num_folded", np.int8, (MAX_PLAYERS,)),  # cards folded
        ("early_tricks", np.int8, (MAX_PLAYERS,)),  # tricks won among the first four
        ("tricks_won", np.int8, (MAX_PLAYERS,)),  # tricks won in this round
        ("in_round", np.int8, (MAX_PLAYERS,)),  # 0: eliminated
        ("scores", np.int32, (MAX_PLAYERS,)),  # antes won in the finished rounds
    ]
)

#: The offset of each part of a vector; -1 for a part that the vector lacks.
OFFSETS = record_dtype([(name, np.int64) for name in PARTS])

PARAMS = record_dtype(
    [
        *CORE_PARAMS,
        ("eliminates", np.int64),  # 1: laos and vietnamese
        ("offsuit_faceup", np.int64),
        ("instant_wins", np.int64),
        ("show_factor", np.int64),  # antes that each loser of an instant win pays
        ("sweep_factor", np.int64),  # antes that each loser to a player with all four early tricks pays
        ("side_pot", np.int64),  # antes of each player to the side pot in a round
        ("num_rounds", np.int64),
        ("dealer", np.int64),  # seat that deals the first round
        ("at", OFFSETS),  # of the observation
        ("state_at", OFFSETS),  # of the state vector
    ]
)


def state_bounds(rules: Rules) -> dict[str, tuple[int, int]]:
    """The lowest and highest value of each field of a state under ``rules``; see ``Game.state_bounds``."""
    seats = rules.num_players - 1
    cards, seen = (0, ALL_CARDS), (NONE, NUM_CARDS - 1)
    side_pot = rules.side_pot > 0
    most = rules.num_rounds * rules.num_players * (DOUBLE + rules.side_pot)  # antes that can change hands
    return {
        "info": (-most, max(most, NUM_TRICKS)),
        "dealer": (0, seats),
        "leader": (0, seats),
        "led": (NONE, NUM_SUITS - 1),
        "trick": (0, LAST_TRICK),
        "upturned": (0, NUM_CARDS - 1) if side_pot else (NONE, NONE),
        "claimed": (NONE, seats if side_pot else NONE),
        "claim_trick": (NONE, BLIND_TRICK if side_pot else NONE),
        "rounds_left": (0, rules.num_rounds - 1),
        "pot": (0, most),
        "hand": cards,
        "folded": cards,
        "chosen": seen,
        "faceup": seen,
        "num_folded": (0, LAST_TRICK),
        "early_tricks": (0, NUM_EARLY_TRICKS),
        "tricks_won": (0, NUM_TRICKS),
        "in_round": (0, 1),
        "scores": (-most, most),
    }


def make_params(rules: Rules, reward: str) -> np.ndarray:
    """``rules`` as an array (1,) of PARAMS for the kernels."""
    params = np.zeros(1, PARAMS)
    record = params[0]
    record.num_players = rules.num_players
    record.num_actions = NUM_ACTIONS
    record.reward_mode = REWARDS.index(reward)
    record.eliminates = rules.eliminates
    record.offsuit_faceup = rules.offsuit_faceup
    record.instant_wins = rules.instant_wins
    record.show_factor = rules.show_factor
    record.sweep_factor = rules.sweep_factor
    record.side_pot = rules.side_pot
    record.num_rounds = rules.num_rounds
    record.dealer = rules.first_dealer
    record.at = observation_layout(rules).offsets(PARTS)
    record.state_at = state_layout(rules).offsets(PARTS)
    return params
