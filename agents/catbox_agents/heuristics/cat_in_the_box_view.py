"""What the heuristic of Cat in the Box reads from one observation, as a record that compiled functions fill."""

from __future__ import annotations

import numpy as np

from catbox_env.core.kernels import record_dtype
from catbox_env.games.cat_in_the_box.rules import MAX_COLORS, MAX_PLAYERS, MAX_RANKS

#: What one observation says, in the form the reasons need; colours "kept" are those that may still be declared after
#: the action: all that the seat has (place 0), or all but the one led (place 1).
VIEW = record_dtype(
    [
        # Written by `look`, for every decision.
        ("hand", np.int64, (MAX_RANKS,)),  # cards of each rank in the own hand
        ("unseen", np.int64, (MAX_RANKS,)),  # cards of each rank not seen by the observer
        ("unseen_cards", np.int64),  # all of them, and one more so that it can divide
        ("quantile", np.float64, (MAX_RANKS,)),  # share of the unseen cards that are lower
        ("open", np.int64),  # empty cells
        ("open_colors", np.int64, (MAX_RANKS,)),  # colours in which the rank's cell is empty
        ("mine", np.int64),  # cells with an own token
        ("tokens", np.int64, (MAX_PLAYERS,)),  # colours of a seat's X-tokens
        ("kept", np.int64, (2,)),  # colours kept
        ("usable", np.float64, (2, MAX_RANKS)),  # cards of a rank that will find a cell
        ("strength", np.float64, (2, MAX_RANKS)),  # ... times the chance of each to win a trick
        ("supply_below", np.float64, (2, MAX_RANKS)),  # sums of `usable` over the lower ranks
        ("strength_below", np.float64, (2, MAX_RANKS)),  # sums of `strength` over the lower ranks
        # Written by `look_at_trick`, for plays.
        (
            "above",
            np.int64,
            (MAX_COLORS, MAX_RANKS + 1),
        ),  # unseen cards of this rank or higher with an open cell
        ("eagerness", np.float64, (MAX_PLAYERS,)),  # chance to try for the trick, or PLAYED
        ("untrumped", np.float64, (MAX_PLAYERS,)),  # chance that a seat does not take the trick with red
        ("following", np.int64),  # seats that have yet to play
        ("over", np.float64),  # chance that a paradox ends the round before the next trick
        ("finished", np.float64),  # chance that the trick is completed
        ("groups", np.int64, (MAX_COLORS * MAX_RANKS,)),  # connected parts of `mine`
        ("num_groups", np.int64),
        ("group", np.int64),  # the largest of them
        ("group_size", np.int64),
        ("reach", np.int64, (2,)),  # cells of the hand's ranks in the colours kept
        ("led", np.int64),  # colour led, -1 = none yet
        ("best_color", np.int64),  # the card that is winning the trick, -1 = none yet
        ("best_rank", np.int64),
        (
            "best_need",
            np.int64,
        ),  # 1 = the seat winning needs the trick, -1 = it spoils its bonus, 0 = neither
        ("least", np.int64),  # the bonus needs at least this many more tricks
        ("most", np.int64),  # ... and at most this many
        ("won", np.int64),  # tricks won
        ("tricks_left", np.int64),  # tricks to come, the current one included
        # Kept by `weigh_play` from one play of a rank to the next.
        ("memo", np.int64, (MAX_RANKS,)),  # what the numbers below were worked out for, -1 = not yet
        ("risk", np.float64, (MAX_RANKS,)),  # of a paradox
        ("hit_losing", np.float64, (MAX_RANKS,)),  # chance of the bonus when the trick is lost
        ("hit_winning", np.float64, (MAX_RANKS,)),  # ... and when it is won
    ]
)
