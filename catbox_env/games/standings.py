"""The winners of a game that adds up points over rounds, such as the trick-taking games; also in words."""

from __future__ import annotations

from collections.abc import Sequence

from catbox_env.core.compilation import njit
from catbox_env.core.events import Event, counted, names
from catbox_env.core.state import GameState


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
    shares = after.record.win_shares[: after.game.num_players].tolist()
    winners = [seat for seat, share in enumerate(shares) if share > 0]
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
