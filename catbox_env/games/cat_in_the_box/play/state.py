"""The state of a game of Cat in the Box: one record, with the sizes of the largest rule set.

Ranks, colours, bids and seats are indices from 0; a cell is (colour, rank).
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.kernels import CORE_PARAMS, REWARDS, core_state_fields, record_dtype
from catbox_env.games.cat_in_the_box.observe.layout import PARTS, observation_layout, state_layout
from catbox_env.games.cat_in_the_box.rules import (
    MAX_BIDS,
    MAX_COLORS,
    MAX_COPIES,
    MAX_PLAYERS,
    MAX_RANKS,
    PHASES,
    UNPLAYED_CARDS,
    Rules,
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
        ("forced_ranks", np.int16),  # set of the ranks that its hand could hold then
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

#: The offset of each part of a vector; -1 for a part that the vector lacks.
OFFSETS = record_dtype([(name, np.int64) for name in PARTS])

PARAMS = record_dtype(
    [
        *CORE_PARAMS,
        ("num_ranks", np.int64),
        ("num_colors", np.int64),
        ("num_bids", np.int64),
        ("bids", np.int64, (MAX_BIDS,)),
        ("copies", np.int64),
        ("hand_size", np.int64),
        ("num_tricks", np.int64),
        ("bonus_max_tricks", np.int64),
        ("revealed_cards", np.int64),
        ("num_rounds", np.int64),
        ("start_player", np.int64),  # seat, or NONE: random
        ("at", OFFSETS),  # of the observation
        ("state_at", OFFSETS),  # of the state vector
    ]
)


def make_params(rules: Rules, reward: str) -> np.ndarray:
    """``rules`` as an array (1,) of PARAMS for the kernels."""
    params = np.zeros(1, PARAMS)
    record = params[0]
    record.num_players = rules.num_players
    record.num_actions = rules.num_actions
    record.reward_mode = REWARDS.index(reward)
    record.num_ranks = rules.num_ranks
    record.num_colors = rules.num_colors
    record.num_bids = len(rules.bids)
    record.bids[: len(rules.bids)] = rules.bids
    record.copies = rules.copies
    record.hand_size = rules.hand_size
    record.num_tricks = rules.num_tricks
    record.bonus_max_tricks = rules.bonus_max_tricks
    record.revealed_cards = rules.revealed_cards
    record.num_rounds = rules.num_rounds
    record.start_player = NONE if rules.start_player == "random" else rules.start_player
    record.at = observation_layout(rules).offsets(PARTS)
    record.state_at = state_layout(rules).offsets(PARTS)
    return params


def state_bounds(rules: Rules) -> dict[str, tuple[int, int]]:
    """See ``Game.state_bounds``."""
    players, tricks, rounds = rules.num_players, rules.num_tricks, rules.num_rounds
    most = tricks + rules.num_colors * rules.num_ranks  # on a board that play cannot reach
    return {
        "info": (-tricks, most),
        "phase": (DISCARD, PLAY),
        "start_player": (0, players - 1),
        "leader": (0, players - 1),
        "led": (NONE, rules.num_colors - 1),
        "trump_broken": (0, 1),
        "forced_leader": (NONE, players - 1),
        "forced_ranks": (0, (1 << rules.num_ranks) - 1),
        "tricks_left": (0, tricks),
        "rounds_left": (0, rounds - 1),
        "hand": (0, rules.copies),
        "discarded": (NONE, rules.num_ranks - 1),
        "undealt": (0, rules.copies),
        "revealed": (0, min(rules.copies, rules.revealed_cards)),
        "board": (NEUTRAL, players - 1),
        "num_tokens": (0, tricks),
        "tokens": (0, rules.num_colors * rules.num_ranks - 1),
        "x_tokens": (0, 1),
        "bids": (NONE, len(rules.bids) - 1 if rules.bids else 0),
        "tricks_won": (0, tricks),
        "trick_color": (NONE, rules.num_colors - 1),
        "trick_rank": (NONE, rules.num_ranks - 1),
        "scores": (-tricks * rounds, most * rounds),
    }
