"""What a picture of Cat in the Box shows: all that one seat sees of a position, or all seats together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from catbox_env.core.compilation import cached_njit
from catbox_env.core.picture import actions_shown, last_action, winners_of
from catbox_env.core.state import GameState
from catbox_env.games.cat_in_the_box.play.board import trick_winner
from catbox_env.games.cat_in_the_box.play.state import INFO, NONE, PLAY
from catbox_env.games.cat_in_the_box.rules import COLORS, Rules

Cell = tuple[int, int]


@cached_njit
def winner_so_far(params: np.record, state: np.record) -> int:
    """The seat that wins the trick as it lies, NONE before it is led."""
    return trick_winner(params, state)


@dataclass(frozen=True)
class View:
    """A position as ``seat`` sees it, as everybody together for None. Ranks and colours are indices from 0.

    Attributes:
        mover: the seat to move, -1 when the game is over.
        shown: the seat whose hand lies below the board, -1: none.
        legal: the legal actions of the mover; none for another seat.
        hands: cards of each rank, by the seats whose hands are seen; discards: the ranks they put aside.
        plays: the cards of the trick, (seat, colour, rank) in the order of play; of the last one, if ``is_over``.
        winner: who wins this trick so far, or won it.
        groups: the cells of the largest group of each seat.
        results: score, tricks and bonus of each seat in the last finished round, and who caused a paradox (-1: nobody).
        winners: who won the game, or shares the win.
        last: the last action, in words.
    """

    rules: Rules
    seat: int | None
    mover: int
    shown: int
    phase: int
    legal: list[int]
    board: list[list[int]]
    hands: dict[int, list[int]]
    discards: dict[int, int]
    x_tokens: list[list[int]]
    bids: list[int | None]
    tricks_won: list[int]
    scores: list[int]
    plays: list[tuple[int, int, int]]
    is_over: bool
    led: int
    leader: int
    winner: int
    start_player: int
    trump_broken: bool
    trick: int
    round: int
    groups: list[list[Cell]]
    results: list[tuple[int, int, int]] | None
    paradox: int
    winners: list[int]
    last: str

    @classmethod
    def of(cls, rules: Rules, params: np.record, state: GameState, seat: int | None) -> View:
        """What ``seat`` sees of ``state``. Nothing hidden from it is in the view."""
        record, players = state.record, rules.num_players
        mover = state.current_player
        seen = range(players) if seat is None else (seat,)
        board = record.board[: rules.num_colors, : rules.num_ranks].tolist()
        discards = {other: int(record.discarded[other]) for other in seen if record.discarded[other] != NONE}
        plays, is_over = _trick(rules, state)
        ended = bool(record.rounds_ended)
        info = dict(zip(INFO, record.info[:, :players].tolist(), strict=True))
        return cls(
            rules=rules,
            seat=seat,
            mover=mover,
            shown=mover if seat is None else seat,
            phase=int(record.phase),
            legal=actions_shown(state, seat),
            board=board,
            hands={other: record.hand[other, : rules.num_ranks].tolist() for other in seen},
            discards=discards,
            x_tokens=record.x_tokens[:players, : rules.num_colors].tolist(),
            bids=[None if bid == NONE else rules.bids[bid] for bid in record.bids[:players].tolist()],
            tricks_won=record.tricks_won[:players].tolist(),
            scores=record.scores[:players].tolist(),
            plays=plays,
            is_over=is_over,
            led=plays[0][1] if plays else NONE,
            leader=int(record.leader),
            winner=int(record.leader) if is_over else int(winner_so_far(params, record)),
            start_player=int(record.start_player),
            trump_broken=bool(record.trump_broken),
            trick=min(rules.num_tricks - int(record.tricks_left) + 1, rules.num_tricks),
            round=rules.num_rounds - int(record.rounds_left),
            groups=[largest_group(board, other) for other in range(players)],
            results=list(zip(info["score"], info["tricks_won"], info["bonus"], strict=True))
            if ended
            else None,
            paradox=info["paradox"].index(1) if ended and any(info["paradox"]) else NONE,
            winners=winners_of(state),
            last=_last_words(rules, state, seat),
        )

    def hand_in_words(self, seat: int) -> str:
        """The ranks of a hand that is seen, such as ``"1 1 4"``."""
        counts = enumerate(self.hands[seat])
        return " ".join(str(rank + 1) for rank, count in counts for _ in range(count)) or "no card"


def _trick(rules: Rules, state: GameState) -> tuple[list[tuple[int, int, int]], bool]:
    """The cards of the trick under way; before the first one those of the last trick, and True."""
    record, players = state.record, rules.num_players
    colors, ranks = record.trick_color.tolist(), record.trick_rank.tolist()
    order = [(int(record.leader) + turn) % players for turn in range(players)]
    plays = [(seat, colors[seat], ranks[seat]) for seat in order if colors[seat] != NONE]
    moves = int(record.num_moves)
    is_later = record.phase == PLAY and record.tricks_left < rules.num_tricks
    if plays or not is_later or moves > len(state.log):
        return plays, False
    last = state.log[moves - players : moves].tolist() if moves >= players else []
    if not all(rules.first_play <= action < rules.paradox for _, action, _ in last):
        return [], False
    plays = [(seat, *divmod(action - rules.first_play, rules.num_ranks)) for seat, action, _ in last]
    return plays, bool(plays)


def _last_words(rules: Rules, state: GameState, seat: int | None) -> str:
    last = last_action(state, seat)
    if last is None:
        return ""
    mover, action = last
    if action < rules.num_ranks:  # -1, hidden, is a discard too
        what = "put a card aside" if action < 0 else f"put {action + 1} aside"
    elif action < rules.first_play:
        what = f"bid {rules.bids[action - rules.num_ranks]}"
    elif action == rules.paradox:
        what = "caused a paradox"
    else:
        color, rank = divmod(action - rules.first_play, rules.num_ranks)
        what = f"declared {COLORS[color]} {rank + 1}"
    return f"player_{mover} {what}."


def largest_group(board: list[list[int]], seat: int) -> list[Cell]:
    """The cells of the largest orthogonally connected group of ``seat``; the first one of several."""
    left = {
        (color, rank) for color, row in enumerate(board) for rank, owner in enumerate(row) if owner == seat
    }
    largest: list[Cell] = []
    while left:
        first = min(left)
        left.remove(first)
        cells = [first]
        for color, rank in cells:  # grows meanwhile
            for cell in ((color - 1, rank), (color + 1, rank), (color, rank - 1), (color, rank + 1)):
                if cell in left:
                    left.remove(cell)
                    cells.append(cell)
        if len(cells) > len(largest):
            largest = cells
    return largest
