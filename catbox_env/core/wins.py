"""Who has won a game in which points are added up over rounds."""

from __future__ import annotations

from catbox_env.core.compilation import njit

#: Shares of a win are 32-bit floats: their sum may be off by less than this.
ROUNDING_ERROR = 1e-4


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


@njit
def is_win_shared(num_players, win_shares):
    """Whether ``win_shares`` (P,) give away one win, as far as 32-bit floats can tell."""
    total = 0.0
    for seat in range(num_players):
        total += win_shares[seat]
    return abs(total - 1.0) < ROUNDING_ERROR
