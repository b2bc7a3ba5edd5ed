"""The search for courses of play: ways to deal out the tokens on the board to the completed tricks of a round.

Three facts make the search for one short:

- A seat that still has a token of the led colour to lay must follow, for otherwise it could lay it no more. One that
  has none cannot follow, and loses its X-token. So the tokens yet to be laid say who follows.
- A colour cannot be led once a seat that keeps its X-token of the colour has no token of it left to lay.
- Of a seat's tokens between which no other seat's lies, one is as good as another.

The search is depth first, token by token. ``course_table`` keeps the boundaries between tricks from which
nothing was found.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import lowest_bit, nth_bit, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.games.cat_in_the_box.board import cells_of_color, color_of_cell
from catbox_env.games.cat_in_the_box.course_table import is_known, remember
from catbox_env.games.cat_in_the_box.rules import MAX_COLORS, MAX_PLAYERS, MAX_RANKS
from catbox_env.games.cat_in_the_box.state import NONE, RED

#: What is found out: there is no course; one is free; too many to try them all; every one has a forced lead.
IMPOSSIBLE, FREE, BUDGET_SPENT, LIMITED = 0, 1, 2, 3
#: Most sets of ranks that are kept.
MOST_SETS = 64

MAX_DEPTH = MAX_COLORS * MAX_RANKS + 1

#: The linear congruential generator of ISO C's example of ``rand``; its lowest bits are weak.
NOISE_FACTOR, NOISE_STEP, NOISE_MASK, NOISE_WEAK_BITS = 1103515245, 12345, 0x7FFFFFFF, 16

SEARCH = record_dtype(
    [
        # What is asked.
        ("players", np.int64),
        ("ranks", np.int64),
        ("colors", np.int64),
        ("tricks", np.int64),  # completed tricks
        ("last", np.int64),  # winner of the last of them
        ("may_lose", np.int64, (MAX_PLAYERS,)),  # colours, as bits, whose X-token the seat can have lost
        ("must_lose", np.int64, (MAX_PLAYERS,)),  # colours whose X-token it has lost
        ("blocked", np.int64),  # cells of neutral tokens
        ("forced", np.int64),  # the seat that had to lead red; NONE: a free course is looked for
        ("forced_trick", np.int64),  # the trick that it led with it
        ("known_ranks", np.int64),  # ranks that it held then, as far as they are known
        ("held", np.int64),  # unseen cards in its hand now: none where the observer is this seat
        ("unseen", np.int64, (MAX_RANKS,)),  # cards that the observer has not seen, by rank
        ("hidden_ranks", np.int64),  # ranks of which there are such cards
        ("all_tokens", np.int64),  # cells of all tokens
        # How far the course under way has come; cells are bits, color * ranks + rank.
        ("tokens", np.int64, (MAX_PLAYERS,)),  # cells of each seat yet to be laid
        ("counts", np.int64, (MAX_PLAYERS, MAX_COLORS)),  # as many of each colour
        ("wins", np.int64, (MAX_PLAYERS,)),  # tricks yet to be won
        ("lost", np.int64, (MAX_PLAYERS,)),  # colours whose X-token is lost
        ("leader", np.int64, (MAX_DEPTH,)),  # of each trick
        ("led", np.int64, (MAX_DEPTH,)),
        ("unlaid", np.int64, (MAX_DEPTH,)),  # cells of all seats yet to be laid, as each trick begins
        ("untried", np.int64, (MAX_DEPTH,)),  # of each token of the course: cells not yet tried
        ("laid", np.int64, (MAX_DEPTH,)),  # its cell
        ("lost_before", np.int64, (MAX_DEPTH,)),  # its seat's ``lost`` before it was laid
        ("nodes", np.int64),  # tokens laid
        ("noise", np.int64),  # a number that changes with each of them
        # What was found.
        ("left_ranks", np.int64),  # ranks that the forced lead of the course under way leaves to the hand
        ("num_sets", np.int64),
        ("set_seat", np.int64, (MOST_SETS,)),  # the hand of this seat ...
        ("set_ranks", np.int64, (MOST_SETS,)),  # ... has these ranks alone
    ]
)


@njit
def search_courses(search, table, most_nodes):
    """Look for courses of play: FREE when one leaves all hidden cards possible, BUDGET_SPENT when not all were tried.

    Otherwise every set of ranks that a course with a forced lead of ``search.forced`` leaves is among the sets, but
    for those that lie in another. ``search`` is as it was before but for these and ``nodes``, unless it ended early.
    """
    depth, deepest = np.int64(0), search.players * search.tricks  # a literal 0 would have all compiled twice
    entering = True
    while True:
        if entering:
            search.untried[depth] = candidates_at(search, table, depth)
        entering = False
        untried = search.untried[depth]
        if untried == 0:
            if depth % search.players == 0:
                remember(search, table, depth // search.players)
            if depth == 0:
                return IMPOSSIBLE
            depth -= 1
            take_back(search, depth)
            continue
        search.nodes += 1
        if search.nodes > most_nodes:
            return BUDGET_SPENT
        token = draw_token(search, untried)
        search.untried[depth] = untried ^ token
        if not lay(search, depth, token):
            continue
        depth += 1
        if depth < deepest:
            entering = True
        elif not loses_all(search):
            depth -= 1
            take_back(search, depth)
        elif search.forced == NONE or search.held == 0 or search.hidden_ranks & ~search.left_ranks == 0:
            return FREE
        elif not keep_set(search):
            return BUDGET_SPENT
        else:  # other courses after the same lead would tell the same
            while depth > search.forced_trick * search.players:
                depth -= 1
                take_back(search, depth)
            search.untried[depth] = 0


@njit
def draw_token(search, untried):
    """One of the cells, at random, so that a search that went astray is not made again."""
    search.noise = (search.noise * NOISE_FACTOR + NOISE_STEP) & NOISE_MASK
    return nth_bit(untried, (search.noise >> NOISE_WEAK_BITS) % popcount(untried))


@njit
def seat_at(search, depth):
    """The seat that lays the token ``depth``."""
    return (search.leader[depth // search.players] + depth % search.players) % search.players


@njit
def lay(search, depth, token):
    """Lay a token, unless it ends the trick in favour of a seat that has no trick left to win: then False."""
    players, ranks = search.players, search.ranks
    trick, turn = depth // players, depth % players
    seat = seat_at(search, depth)
    color = color_of_cell(token, ranks)
    search.laid[depth] = token
    if turn == 0:
        search.led[trick] = color
    elif turn == players - 1:
        winner = trick_winner_in_course(search, trick)
        if search.wins[winner] == 0 or (trick == search.tricks - 1 and winner != search.last):
            return False
        search.wins[winner] -= 1
        search.leader[trick + 1] = winner
    search.lost_before[depth] = search.lost[seat]
    if color != search.led[trick]:
        search.lost[seat] |= 1 << search.led[trick]
    search.tokens[seat] ^= token
    search.counts[seat, color] -= 1
    return True


@njit
def take_back(search, depth):
    """The reverse of ``lay``."""
    players, token = search.players, search.laid[depth]
    seat = seat_at(search, depth)
    if depth % players == players - 1:
        search.wins[search.leader[depth // players + 1]] += 1
    search.lost[seat] = search.lost_before[depth]
    search.tokens[seat] ^= token
    search.counts[seat, color_of_cell(token, search.ranks)] += 1


@njit
def trick_winner_in_course(search, trick):
    """The seat that wins a trick of the course, all of whose tokens are laid: ``board.trick_winner`` on bits."""
    players, ranks = search.players, search.ranks
    first = trick * players
    red, led_row = cells_of_color(RED, ranks), cells_of_color(search.led[trick], ranks)
    winner, best, best_is_red = 0, 0, False
    for turn in range(players):
        token = search.laid[first + turn]
        is_red = token & red != 0
        counts = is_red or (token & led_row != 0 and not best_is_red)
        if counts and (token > best or (is_red and not best_is_red)):
            winner, best, best_is_red = turn, token, is_red
    return (search.leader[trick] + winner) % players


@njit
def loses_all(search):
    """Whether every X-token was lost that is gone."""
    missing = 0
    for seat in range(search.players):
        missing |= search.must_lose[seat] & ~search.lost[seat]
    return missing == 0


@njit
def candidates_at(search, table, depth):
    """The cells that the token ``depth`` can be laid on, one of each kind."""
    players, ranks = search.players, search.ranks
    trick, turn = depth // players, depth % players
    seat = seat_at(search, depth)
    before_force = search.forced != NONE and trick < search.forced_trick
    candidates = search.tokens[seat]
    if turn > 0:
        own_led = candidates & cells_of_color(search.led[trick], ranks)
        if own_led:
            candidates = own_led
        elif before_force:
            candidates &= ~cells_of_color(RED, ranks)
        return candidates if before_force else one_of_each(search, candidates, seat, trick)
    if not promising(search, trick) or is_known(search, table, trick):
        return 0
    unlaid = search.tokens[0]
    for other in range(1, players):
        unlaid |= search.tokens[other]
    search.unlaid[trick] = unlaid
    if search.forced != NONE and trick == search.forced_trick:
        if seat != search.forced or not can_be_forced(search, unlaid):
            return 0
        candidates &= cells_of_color(RED, ranks)
    elif before_force or (search.forced == NONE and untouched(search, unlaid)):
        candidates &= ~cells_of_color(RED, ranks)
    for color in range(search.colors):
        for other in range(players):
            keeps = not (search.may_lose[other] >> color) & 1
            if other != seat and keeps and search.counts[other, color] == 0:
                candidates &= ~cells_of_color(color, ranks)
    return candidates if before_force else one_of_each(search, candidates, seat, trick)


@njit
def one_of_each(search, candidates, seat, trick):
    """``candidates`` of ``seat`` without those that are as good as a lower one: no other seat's token lies between."""
    kept = 0
    for color in range(search.colors):
        unlaid = search.unlaid[trick] & cells_of_color(color, search.ranks)
        after_own = False
        while unlaid and candidates & cells_of_color(color, search.ranks):
            token = lowest_bit(unlaid)
            unlaid ^= token
            own = search.tokens[seat] & token != 0
            if own and not after_own:
                kept |= candidates & token
            after_own = own
    return kept


@njit
def promising(search, trick):
    """Whether the leads yet to come can be shared out among the colours.

    A seat that keeps its X-token of a colour has a token for every lead of it; one that keeps all of them lays nothing
    but these. A seat that is to lose its X-token of a colour needs a lead of it by another seat when its own tokens of
    the colour are laid.
    """
    left = search.tricks - trick
    fewest, most = 0, 0
    for color in range(search.colors):
        low, high, total = 0, left, 0
        for seat in range(search.players):
            total += search.counts[seat, color]
        high = min(high, total)
        for seat in range(search.players):
            count, bit = search.counts[seat, color], 1 << color
            if search.may_lose[seat] & bit == 0:
                high = min(high, count)
            if search.may_lose[seat] & ~bit == 0:
                low = max(low, count)
            if search.must_lose[seat] & ~search.lost[seat] & bit:
                low = max(low, count + 1 if search.may_lose[seat] == bit else 1)
                if total == count or count >= left:
                    return False
        if low > high:
            return False
        fewest += low
        most += high
    return fewest <= left <= most


@njit
def can_be_forced(search, unlaid):
    """Whether the seat that leads red can have had no other declaration; the ranks that this leaves to its hand."""
    ranks, seat = search.ranks, search.forced
    left_ranks = (1 << ranks) - 1
    for color in range(RED + 1, search.colors):
        if (search.lost[seat] >> color) & 1 == 0:
            taken = (search.all_tokens & ~unlaid) | search.blocked
            left_ranks &= taken >> (color * ranks)
    search.left_ranks = left_ranks
    if search.known_ranks & ~left_ranks or num_unseen(search, left_ranks) < search.held:
        return False
    hidden = left_ranks & search.hidden_ranks
    known_already = False
    for i in range(search.num_sets):
        if search.set_seat[i] == seat and hidden & ~search.set_ranks[i] == 0:
            known_already = True
    return not known_already


@njit
def num_unseen(search, ranks):
    """Unseen cards of a set of ranks."""
    cards = 0
    for rank in range(search.ranks):
        if (ranks >> rank) & 1:
            cards += search.unseen[rank]
    return cards


@njit
def untouched(search, unlaid):
    """Whether no token lies on red yet."""
    reds = cells_of_color(RED, search.ranks)
    return unlaid & reds == search.all_tokens & reds


@njit
def keep_set(search):
    """Add the set of the course that was found, in place of those that lie in it; False when there are too many."""
    hidden, kept = search.left_ranks & search.hidden_ranks, 0
    for i in range(search.num_sets):
        if search.set_seat[i] != search.forced or search.set_ranks[i] & ~hidden:
            search.set_seat[kept], search.set_ranks[kept] = search.set_seat[i], search.set_ranks[i]
            kept += 1
    search.num_sets = kept
    if kept == MOST_SETS:
        return False
    search.set_seat[kept], search.set_ranks[kept] = search.forced, hidden
    search.num_sets = kept + 1
    return True
