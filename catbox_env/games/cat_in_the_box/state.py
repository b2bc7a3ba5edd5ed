"""The state of a game of Cat in the Box: one record, with the sizes of the largest rule set.

Ranks, colours, bids and seats are indices from 0; a cell is (colour, rank).
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.kernels import core_state_fields, record_dtype
from catbox_env.games.cat_in_the_box.rules import (
    MAX_COLORS,
    MAX_COPIES,
    MAX_PLAYERS,
    MAX_RANKS,
    PHASES,
    UNPLAYED_CARDS,
)

#: Phases of a round, in the order of ``rules.PHASES``.
DISCARD, BID, PLAY = range(len(PHASES))
#: No owner, no colour, no card, no bid.
NONE = -1
#: The owner of a cell that a neutral token blocks.
NEUTRAL = -2
RED = 0
#: Most tokens of one seat: two players with the largest deck lay down all but two cards.
MAX_TOKENS = MAX_RANKS * MAX_COPIES // 2 - UNPLAYED_CARDS

#: Rows of ``state.info``: statistics of the last finished round.
INFO = ("score", "tricks_won", "bid", "bonus", "paradox")
INFO_SCORE, INFO_TRICKS, INFO_BID, INFO_BONUS, INFO_PARADOX = range(len(INFO))

STATE = record_dtype(
    [
        *core_state_fields(MAX_PLAYERS, len(INFO)),
        ("phase", np.int8),  # DISCARD, BID or PLAY
        ("start_player", np.int8),  # seat that began this round
        ("leader", np.int8),  # seat that led, or will lead, this trick
        ("led", np.int8),  # colour led in this trick, or NONE
        ("trump_broken", np.int8),  # 1 when a player's token lies on red
        ("forced_leader", np.int8),  # seat that broke trump by a forced lead, or NONE
        ("forced_ranks", np.int16),  # set of the ranks that its hand can hold after that lead
        ("tricks_left", np.int8),  # tricks not completed in this round
        ("rounds_left", np.int8),  # rounds after this one
        ("hand", np.int8, (MAX_PLAYERS, MAX_RANKS)),  # cards held, by seat and rank
        ("discarded", np.int8, (MAX_PLAYERS,)),  # rank discarded by each seat, or NONE
        ("undealt", np.int8, (MAX_RANKS,)),  # undealt cards, by rank
        ("revealed", np.int8, (MAX_RANKS,)),  # revealed cards, by rank
        ("board", np.int8, (MAX_COLORS, MAX_RANKS)),  # owner of each cell: a seat, NONE or NEUTRAL
        ("num_tokens", np.int8, (MAX_PLAYERS,)),  # tokens of each seat on the board
        # their cells, colour * num_ranks + rank, in the order laid
        ("tokens", np.int8, (MAX_PLAYERS, MAX_TOKENS)),
        ("x_tokens", np.int8, (MAX_PLAYERS, MAX_COLORS)),  # 1: the seat may still declare the colour
        ("bids", np.int8, (MAX_PLAYERS,)),  # index of each seat's bid, or NONE
        ("tricks_won", np.int8, (MAX_PLAYERS,)),
        ("trick_color", np.int8, (MAX_PLAYERS,)),  # each seat's card in this trick: colour, or NONE
        ("trick_rank", np.int8, (MAX_PLAYERS,)),  # its rank
        ("scores", np.int16, (MAX_PLAYERS,)),  # points of the finished rounds
    ]
)
