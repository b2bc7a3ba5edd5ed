"""The state of a game of Cat Te: one record, with the sizes of the largest rule set.

Seats, ranks, suits and tricks are indices from 0. A card is ``rank * 4 + suit``, and a set of cards is one integer
with bit ``card`` set for each of them.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.kernels import core_state_fields, record_dtype
from catbox_env.games.cat_te.rules import (
    HAND_SIZE,
    LOW_RANKS,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_SUITS,
    NUM_TRICKS,
    RANKS,
    rank_of,
)

#: No card, no suit, no seat; and a card that only its player knows.
NONE, UNKNOWN_CARD = -1, NUM_CARDS
#: Later than every trick; in between come the cards that stay in hand, one a moment.
NEVER = NUM_TRICKS + HAND_SIZE

#: Actions: 0 .. 51 play a card face up (or choose it), FOLD .. FOLD + 51 fold it, then two actions without a card.
FOLD = NUM_CARDS
CLAIM = 2 * NUM_CARDS
SHOW = CLAIM + 1
NUM_ACTIONS = SHOW + 1

ALL_CARDS = (1 << NUM_CARDS) - 1
#: The set of the cards of suit 0; shifted by s, those of suit s.
ONE_SUIT = sum(1 << card for card in range(0, NUM_CARDS, NUM_SUITS))
#: The set of the cards of ``LOW_RANKS``.
LOW_CARDS = sum(1 << card for card in range(NUM_CARDS) if RANKS[rank_of(card)] in LOW_RANKS)
#: The kinds of instant wins; `show` tells them in this order.
FOUR_OF_A_KIND, SAME_SUIT, LOW_HAND = range(3)

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
        ("winners", np.int8, (NUM_TRICKS,)),  # seat that won each trick of this round, or NONE
        ("hand", np.int64, (MAX_PLAYERS,)),  # set of the cards held, by seat
        ("folded", np.int64, (MAX_PLAYERS,)),  # set of the cards folded
        ("fold_tricks", np.int8, (MAX_PLAYERS,)),  # set of the tricks in which they were folded
        ("chosen", np.int8, (MAX_PLAYERS,)),  # card chosen blind and not shown yet, or NONE
        ("faceup", np.int8, (MAX_PLAYERS, NUM_TRICKS)),  # card shown by each seat in each trick, or NONE
        # the first trick in which the seat did not follow the suit with a face-up card, or NEVER: it has had none since
        ("void_since", np.int8, (MAX_PLAYERS, NUM_SUITS)),
        ("in_round", np.int8, (MAX_PLAYERS,)),  # 0: eliminated
        ("scores", np.int32, (MAX_PLAYERS,)),  # antes won in the finished rounds
    ]
)
