"""What the finished rounds can have paid: the scores and the side pot of a match.

After k rounds a seat that won W antes' worth of pots of P antes each (a doubled round counts twice) and C rounds'
stakes of the side pot has

    score = P * W - T - k * side_pot + P * side_pot * C

where T, from k to 2 k, is the sum of all W (k and the number of doubled rounds). The sum of all C is the number of
rounds whose stakes were claimed; the stakes of the others lie in the pot. The dealer has won the last round.
"""

from __future__ import annotations

from catbox_env.core.bits import INT8_MAX, INT8_MIN
from catbox_env.core.compilation import njit
from catbox_env.games.cat_te.rules import DOUBLE
from catbox_env.games.cat_te.state import NONE

#: What an observation shows of scores and of the stakes in the side pot.
LEAST_SHOWN, MOST_SHOWN = INT8_MIN, INT8_MAX
#: More than any score.
LARGE = 1 << 40


@njit
def balance(params, state, as_shown):
    """Whether the rounds before this one can have led to the ``scores``, the ``pot`` and the ``dealer``.

    ``as_shown``: a score or pot that reaches the end of what an observation shows may lie beyond it. Where the others
    tell it, it is set to that; of several possibilities, the first one that is found is taken.
    """
    players, stake = params.num_players, params.side_pot
    finished = params.num_rounds - 1 - int(state.rounds_left)
    if finished == 0 and state.dealer != params.dealer:
        return False
    doubles = params.sweep_factor == DOUBLE or (params.instant_wins != 0 and params.show_factor == DOUBLE)
    most_wins = DOUBLE * finished if doubles else finished
    if stake == 0:
        return state.pot == 0 and settle(params, state, finished, most_wins, 0, as_shown)
    first = int(state.pot) // (players * stake)
    if first < 1 or first * players * stake != state.pot:
        return False
    beyond = as_shown and first * players >= MOST_SHOWN
    last = finished + 1 if beyond else min(first, finished + 1)
    for rounds in range(first, last + 1):
        if settle(params, state, finished, most_wins, finished + 1 - rounds, as_shown):
            state.pot = rounds * players * stake
            return True
    return False


@njit
def settle(params, state, finished, most_wins, claims, as_shown):
    """``balance`` where the stakes of ``claims`` rounds have been claimed."""
    wins = finished
    while wins <= most_wins and not settle_wins(params, state, finished, wins, claims, as_shown):
        wins += 1
    return wins <= most_wins


@njit
def least(params, state, seat, finished):
    """The fewest wins of ``seat``: the dealer has won the last round."""
    return 1 if finished > 0 and seat == state.dealer else 0


@njit
def shares_of(params, state, seat, finished, wins, as_shown):
    """The fewest and the most W + side_pot * C (see above) that ``seat`` can have; the most is NONE for no number."""
    base, score = wins + finished * params.side_pot, int(state.scores[seat])
    low, high = least(params, state, seat, finished), LARGE
    if as_shown and score <= LEAST_SHOWN:
        high = (base + LEAST_SHOWN) // params.num_players
    elif as_shown and score >= MOST_SHOWN:
        low = max(low, -((-base - MOST_SHOWN) // params.num_players))
    elif (base + score) % params.num_players == 0:
        low, high = max(low, (base + score) // params.num_players), (base + score) // params.num_players
    else:
        high = NONE
    return low, high


@njit
def settle_wins(params, state, finished, wins, claims, as_shown):
    """``settle`` with ``wins`` as the sum of all W. Sets the scores that are not shown."""
    players, stake = params.num_players, params.side_pot
    left = wins + stake * claims
    room, covered, odd = 0, 0, 0
    for seat in range(players):
        low, high = shares_of(params, state, seat, finished, wins, as_shown)
        if high < low:
            return False
        left -= low
        room += min(high - low, LARGE)
        covered += (low - least(params, state, seat, finished)) // max(stake, 1)
        odd += low & 1
    if left < 0 or left > room:
        return False
    # Without doubled rounds beyond reach of the shown scores, each odd W needs a round that was not doubled.
    if stake == 0 and DOUBLE * (players - 1) * finished < MOST_SHOWN and odd > DOUBLE * finished - wins:
        return False
    if as_shown:
        return spread(params, state, finished, wins, claims - covered, left)
    return left == 0 and (covered >= claims or stake == 0)


@njit
def spread(params, state, finished, wins, claims, left):
    """Give ``left`` to the scores that are not shown, so that ``claims`` more rounds' stakes are among it.

    A seat takes the stakes of one round more when its W + side_pot * C reaches the next multiple of ``side_pot``, so
    the cheapest steps are taken first. The scores that are set stay beyond what is shown until it succeeds.
    """
    players, stake = params.num_players, params.side_pot
    base = wins + finished * stake
    for seat in range(players):
        low, _ = shares_of(params, state, seat, finished, wins, True)
        state.scores[seat] = players * low - base
    while claims > 0 and stake > 0:
        taker, cost = NONE, left + 1
        for seat in range(players):
            _, high = shares_of(params, state, seat, finished, wins, True)
            share = (base + int(state.scores[seat])) // players
            step = stake - (share - least(params, state, seat, finished)) % stake
            if share + step <= high and step < cost:
                taker, cost = seat, step
        if taker == NONE:
            return False
        state.scores[taker] += players * cost
        left -= cost
        claims -= 1
    for seat in range(players):
        _, high = shares_of(params, state, seat, finished, wins, True)
        more = min(left, high - (base + int(state.scores[seat])) // players)
        state.scores[seat] += players * more
        left -= more
    return True
