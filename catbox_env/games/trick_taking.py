"""Facts that trick-taking games share: who has won a game in which points are added up over rounds."""

from __future__ import annotations

from catbox_env.core.compilation import njit


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
