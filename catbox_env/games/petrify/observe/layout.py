"""The parts of the observation, which is also the state vector: nothing is hidden."""

from __future__ import annotations

from catbox_env.core.layout import Layout, Part
from catbox_env.games.petrify.rules import KINDS, NUM_COLORS, NUM_SYMBOLS, Rules

#: End cells after an action are counted up to here: the difference between none, one or two matters, not nine or ten.
MOST_COUNTED = 6


def observation_layout(rules: Rules) -> Layout:
    """The parts under ``rules``; all rules have the same parts."""
    players, board = rules.num_players, (rules.size, rules.size)
    return Layout(
        [
            Part(
                "symbols", (NUM_SYMBOLS, *board), "symbol 1-4 of each cell, one-hot; zeros: not a number card"
            ),
            Part("colors", (NUM_COLORS, *board), "colour 0-4 of each cell, one-hot; 0: colourless"),
            Part("kinds", (len(KINDS), *board), f"{', '.join(KINDS)}: kind of each tile, one-hot"),
            Part("open", board, "1: the cell is not closed"),
            Part("positions", (players, *board), "cell of each pawn, one-hot, petrified ones included"),
            Part("to_move", (players,), "who is to move, one-hot; zeros: the game is over"),
            Part(
                "teleporting", (1,), "1: the seat to move stands on a teleport and chooses where it comes out"
            ),
            Part("in_game", (players,), "1: the seat is not petrified"),
            Part("seat", (players,), "own absolute seat, one-hot"),
            Part("place", (players, players), "finishing place of each seat, one-hot; zeros: not decided"),
            Part(
                "end_cells",
                (players, *board),
                "where each seat in the game could go if it were to move now; for the seat to move: the legal actions",
            ),
            Part(
                "end_cells_after",
                (players, *board),
                "for each legal action, 1 + how many end cells each seat in the game would have once the pawn stands "
                f"there (before the landing takes effect; counted up to {MOST_COUNTED}); zeros elsewhere",
                high=1 + MOST_COUNTED,
            ),
        ]
    )


#: The names of all parts, in order.
PARTS = tuple(observation_layout(Rules()))
