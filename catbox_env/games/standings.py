"""What the games that add up points over rounds share: who wins, and the scores in an observation."""

from __future__ import annotations

from collections.abc import Sequence

from catbox_env.core.bits import INT8_MAX, INT8_MIN, clip_int8
from catbox_env.core.compilation import njit
from catbox_env.core.layout import Part
from catbox_env.core.state import Event, GameState, winners_of
from catbox_env.core.text import counted, names

#: A score that does not fit in an int8 is written as three digits, each from -128 to 127.
DIGIT_BASE, NUM_DIGITS = 256, 3


def score_part(num_players: int, num_rounds: int, doc: str) -> Part:
    """The scores of all seats, clipped to an int8."""
    return Part("scores", (num_players,), doc, INT8_MIN, INT8_MAX, included=num_rounds > 1)


def exact_score_part(num_players: int, num_rounds: int, lowest: int, highest: int) -> Part:
    """The scores of all seats as digits, where totals, from ``lowest`` to ``highest``, may not fit in `score_part`."""
    only = f"only where one may be beyond {INT8_MIN}..{INT8_MAX}"
    doc = f"the scores as digits to base {DIGIT_BASE}, the lowest first ({only})"
    included = num_rounds > 1 and (lowest < INT8_MIN or highest > INT8_MAX)
    return Part("exact_scores", (num_players, NUM_DIGITS), doc, INT8_MIN, INT8_MAX, included)


@njit
def write_score(at, i, score, out):
    """Write the score of the seat that the observer calls ``i`` into ``out`` (O,), parts at the offsets ``at``."""
    out[at.scores + i] = clip_int8(score)
    if at.exact_scores >= 0:
        for k in range(NUM_DIGITS):
            digit = (score - INT8_MIN) % DIGIT_BASE + INT8_MIN
            out[at.exact_scores + i * NUM_DIGITS + k] = digit
            score = (score - digit) // DIGIT_BASE


@njit
def read_score(at, observation, i):
    """The inverse of ``write_score``, any integer of 24 bits; 0 where a game has one round."""
    if at.scores < 0:
        return 0
    if at.exact_scores < 0:
        return int(observation[at.scores + i])
    score = 0
    for k in range(NUM_DIGITS - 1, -1, -1):
        score = score * DIGIT_BASE + int(observation[at.exact_scores + i * NUM_DIGITS + k])
    return score


@njit
def share_win(num_players, totals, last_round, win_shares):
    """Set ``win_shares`` (P,): the highest of ``totals`` wins. A tie goes to the best ``last_round``, or is split."""
    best_total, best_last, winners = -1_000_000, -1_000_000, 0
    for seat in range(num_players):
        total, last = int(totals[seat]), int(last_round[seat])
        if total > best_total or (total == best_total and last > best_last):
            best_total, best_last, winners = total, last, 1
        elif total == best_total and last == best_last:
            winners += 1
    for seat in range(num_players):
        wins = totals[seat] == best_total and last_round[seat] == best_last
        win_shares[seat] = 1.0 / winners if wins else 0.0


def winners_event(after: GameState, totals: Sequence[int], last_round: Sequence[int], unit: str) -> Event:
    """The end of a game that adds up points over rounds: who has won, with how many, and why.

    ``totals`` and ``last_round`` (P): each seat's points in total and in the last round.
    """
    winners = winners_of(after)
    best = totals[winners[0]]
    level = [seat for seat, total in enumerate(totals) if total == best]
    if len(winners) > 1:
        text = f"{names(winners)} share the win with {counted(best, unit)} each"
    elif len(level) > 1:
        others = names([seat for seat in level if seat != winners[0]])
        text = (
            f"player_{winners[0]} wins with {counted(best, unit)}: {others} "
            f"{'has' if len(level) == 2 else 'have'} as many, but fewer in the last round"
        )
    else:
        text = f"player_{winners[0]} wins with {counted(best, unit)}"
    data = {"winners": winners, "totals": list(totals), "last_round": list(last_round)}
    return Event("game_end", winners[0] if len(winners) == 1 else None, text, data)
