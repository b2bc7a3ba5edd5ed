"""A view of a position of Cat in the Box, for text, events and pictures: all that one seat sees, or all seats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catbox_env.games.cat_in_the_box.play.state import NONE, RED
from catbox_env.games.cat_in_the_box.rules import COLORS, Rules

Cell = tuple[int, int]


@dataclass(frozen=True)
class View:
    """A position as ``seat`` sees it, or as all seats together see it for None. It contains nothing hidden from them.

    Ranks and colours are indices from 0.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        hands: cards of each rank, by the seats whose hands are visible; discards: the ranks they discarded.
        board: the owner of each cell, by colour and rank: a seat, NONE or NEUTRAL.
        x_tokens: the colours that each seat may declare.
        bids: each seat's bid, None before it bids.
        plays: the cards of the trick, (seat, colour, rank) in the order of play.
        led: the colour led, or NONE.
        trick, round: the current ones, from 1; after the end the last ones.
    """

    rules: Rules
    seat: int | None
    mover: int
    phase: int
    hands: dict[int, list[int]]
    discards: dict[int, int]
    board: list[list[int]]
    x_tokens: list[list[int]]
    bids: list[int | None]
    tricks_won: list[int]
    scores: list[int]
    plays: list[tuple[int, int, int]]
    led: int
    leader: int
    start_player: int
    trump_broken: bool
    trick: int
    round: int

    @classmethod
    def of(cls, rules: Rules, record: np.record, seat: int | None) -> View:
        """What ``seat`` sees of the state ``record``."""
        players = rules.num_players
        seen = range(players) if seat is None else (seat,)
        colors, ranks = record.trick_color.tolist(), record.trick_rank.tolist()
        order = [(int(record.leader) + turn) % players for turn in range(players)]
        return cls(
            rules=rules,
            seat=seat,
            mover=int(record.current_player),
            phase=int(record.phase),
            hands={other: record.hand[other, : rules.num_ranks].tolist() for other in seen},
            discards={
                other: int(record.discarded[other]) for other in seen if record.discarded[other] != NONE
            },
            board=record.board[: rules.num_colors, : rules.num_ranks].tolist(),
            x_tokens=[
                [color for color in range(rules.num_colors) if record.x_tokens[other, color]]
                for other in range(players)
            ],
            bids=[None if bid == NONE else rules.bids[bid] for bid in record.bids[:players].tolist()],
            tricks_won=record.tricks_won[:players].tolist(),
            scores=record.scores[:players].tolist(),
            plays=[(other, colors[other], ranks[other]) for other in order if colors[other] != NONE],
            led=int(record.led),
            leader=int(record.leader),
            start_player=int(record.start_player),
            trump_broken=bool(record.trump_broken),
            trick=min(rules.num_tricks - int(record.tricks_left) + 1, rules.num_tricks),
            round=rules.num_rounds - int(record.rounds_left),
        )

    def costs_token(self, color: int) -> bool:
        """Whether the seat to move loses its X-token of the led colour by declaring ``color``."""
        return self.led not in (NONE, color) and self.led in self.x_tokens[self.mover]

    def cards(self, seat: int) -> list[int]:
        """The ranks in a visible hand, ascending, with repetitions."""
        return [rank for rank, count in enumerate(self.hands[seat]) for _ in range(count)]


def winning_play(plays: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    """Which of the cards of a trick, (seat, colour, rank) in the order of play, is winning."""
    strongest = RED if any(color == RED for _, color, _ in plays) else plays[0][1]
    return max((play for play in plays if play[1] == strongest), key=lambda play: play[2])


def card_to_string(color: int, rank: int) -> str:
    """``"yellow 7"``."""
    return f"{COLORS[color]} {rank + 1}"


def largest_group(board: list[list[int]], seat: int) -> list[Cell]:
    """The cells of the largest orthogonally connected group of ``seat``; the first of equally large ones."""
    left = {
        (color, rank) for color, row in enumerate(board) for rank, owner in enumerate(row) if owner == seat
    }
    largest: list[Cell] = []
    while left:
        first = min(left)
        left.remove(first)
        cells = [first]
        for color, rank in cells:  # grows during the loop
            for cell in ((color - 1, rank), (color + 1, rank), (color, rank - 1), (color, rank + 1)):
                if cell in left:
                    left.remove(cell)
                    cells.append(cell)
        if len(cells) > len(largest):
            largest = cells
    return largest
