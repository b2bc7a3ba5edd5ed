"""A position of Cat in the Box as styled text: research board, seats, current trick, hands."""

from __future__ import annotations

import numpy as np

from catbox_env.games.cat_in_the_box.play.state import NEUTRAL, NONE
from catbox_env.games.cat_in_the_box.rules import COLORS, MAX_COLORS, PHASES, Rules

Piece = tuple[str, str]


def render(rules: Rules, state: np.record, seat: int | None = None) -> list[Piece]:
    """Pieces (text, rich style) that together show the position; ``seat``'s own cards, or everybody's for ``None``."""
    lines = [_headline(rules, state), [], *_board(rules, state), []]
    lines += _seats(rules, state)
    lines += [[], _trick(rules, state), *_hands(rules, state, seat)]
    return [piece for line in lines for piece in [*line, ("\n", "")]]


def _headline(rules: Rules, state: np.record) -> list[Piece]:
    where = ""
    if rules.num_rounds > 1:
        where = f"round {rules.num_rounds - state.rounds_left} of {rules.num_rounds}, "
    trick = rules.num_tricks - state.tricks_left + 1
    if state.terminated:
        what = "the round is over" if state.rounds_left else "the game is over"
    elif PHASES[state.phase] == "play":
        broken = "broken" if state.trump_broken else "not broken"
        what = f"trick {trick} of {rules.num_tricks}, trump {broken}, player_{state.current_player} to move"
    else:
        what = f"{PHASES[state.phase]}, player_{state.current_player} to move"
    return [(f"Cat in the Box: {where}{what}", "bold")]


def _board(rules: Rules, state: np.record) -> list[list[Piece]]:
    """A row for each colour, a column for each rank; the owner's seat, # for neutral, a dot for empty."""
    rows: list[list[Piece]] = [
        [("        " + "".join(f"{rank + 1:>3}" for rank in range(rules.num_ranks)), "bold")]
    ]
    for color in range(rules.num_colors):
        row: list[Piece] = [(f"{COLORS[color]:<8}", COLORS[color])]
        for rank in range(rules.num_ranks):
            owner = state.board[color, rank]
            mark = "." if owner == NONE else "#" if owner == NEUTRAL else str(owner)
            row.append((f"{mark:>3}", "dim" if owner == NONE else f"bold {COLORS[color]}"))
        rows.append(row)
    return rows


def _seats(rules: Rules, state: np.record) -> list[list[Piece]]:
    rows: list[list[Piece]] = [
        [("            X-tokens  bid  tricks" + ("  score" if rules.num_rounds > 1 else ""), "bold")]
    ]
    for seat in range(rules.num_players):
        turn = ">" if seat == state.current_player else " "
        row: list[Piece] = [(f"{turn} player_{seat}  ", "bold" if turn == ">" else "")]
        for color in range(MAX_COLORS):
            in_game = color < rules.num_colors
            kept = in_game and state.x_tokens[seat, color]
            row.append((COLORS[color][0].upper() if kept else "-" if in_game else " ", COLORS[color]))
        bid = "-" if state.bids[seat] == NONE else rules.bids[state.bids[seat]]
        row.append((f"{'':<6}{bid:>3}{state.tricks_won[seat]:>8}", ""))
        if rules.num_rounds > 1:
            row.append((f"{state.scores[seat]:>7}", ""))
        if seat == state.start_player:
            row.append(("  (start player)", "dim"))
        rows.append(row)
    return rows


def _trick(rules: Rules, state: np.record) -> list[Piece]:
    row: list[Piece] = [("trick:", "bold")]
    for turn in range(rules.num_players):
        seat = (state.leader + turn) % rules.num_players
        color = state.trick_color[seat]
        if color != NONE:
            card = f"{COLORS[color]} {state.trick_rank[seat] + 1}"
            row += [(f"  player_{seat} ", ""), (card, COLORS[color])]
    if len(row) == 1:
        row.append((f"  player_{state.leader} leads" if not state.terminated else "  none", ""))
    return row


def _hands(rules: Rules, state: np.record, only: int | None) -> list[list[Piece]]:
    rows: list[list[Piece]] = []
    for seat in range(rules.num_players) if only is None else [only]:
        cards = [str(rank + 1) for rank in range(rules.num_ranks) for _ in range(state.hand[seat, rank])]
        discard = state.discarded[seat]
        aside = f"   discarded {discard + 1}" if discard != NONE else ""
        rows.append([(f"hand of player_{seat}: ", "bold"), (" ".join(cards) + aside, "")])
    return rows
