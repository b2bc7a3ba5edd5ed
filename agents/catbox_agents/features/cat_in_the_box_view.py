"""A view of an observation of Cat in the Box, for features and the heuristic, as a record of `VIEW`.

Sets of cells are bits of one integer: cell (colour, rank) is bit ``colour * (R + 1) + rank``, rank from 0. The bit
between two rows stays empty, so that a shift by 1 or R + 1 moves to a neighbour and never to another row. Sets of
colours are bits too. Seats are relative to the observer, who is 0.

Only the length of the observation can be trusted: numbers are clipped to what the rules allow, so that every feature
fits in an int8, and none is used as an index.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.bits import group_at, largest_group, lowest_bit, neighbours, one_hot_index, popcount
from catbox_env.core.compilation import njit
from catbox_env.core.kernels import record_dtype
from catbox_env.games.cat_in_the_box.play import cell_at, strength, trick_winner
from catbox_env.games.cat_in_the_box.rules import MAX_COLORS, MAX_PLAYERS, MAX_RANKS
from catbox_env.games.cat_in_the_box.state import NONE

#: What a seat wants: more tricks are optional, it needs more, it wants no more, its bonus is lost.
FREE, NEEDS, EXACT, LOST = range(4)
#: Expected tricks are counted in quarters of a trick.
QUARTERS = 4

MAX_CELLS = MAX_COLORS * MAX_RANKS

VIEW = record_dtype(
    [
        ("hand", np.int64, (MAX_RANKS,)),  # own cards of each rank
        ("unseen", np.int64, (MAX_RANKS,)),  # copies of each rank that the observer has not seen
        ("held", np.int64),  # set of the cells of the ranks in hand
        ("open", np.int64),  # set of the empty cells
        ("column", np.int64),  # set of the cells of rank index 0
        ("tokens", np.int64, (MAX_PLAYERS,)),  # set of the colours that each seat may declare
        ("x_tokens", np.int64, (MAX_PLAYERS, MAX_COLORS)),  # the same as 0 or 1 for each colour
        ("rows", np.int64, (MAX_PLAYERS,)),  # set of the cells of these colours
        ("owned", np.int64, (MAX_PLAYERS,)),  # set of the cells with a token of the seat
        ("groups", np.int64, (MAX_CELLS,)),  # connected sets of tokens of one seat, those of seat 0 first
        ("sizes", np.int64, (MAX_CELLS,)),  # their sizes
        ("first_group", np.int64, (MAX_PLAYERS + 1,)),  # index of each seat's first group; last, their number
        ("largest", np.int64, (MAX_PLAYERS,)),  # the largest group of each seat, a set of cells
        ("largest_size", np.int64, (MAX_PLAYERS,)),
        # unseen cards of this rank or higher whose cell of the colour is open
        ("above", np.int64, (MAX_COLORS, MAX_RANKS + 1)),
        # set of the cells of the own colours: all (0), all except the led one (1)
        ("kept_rows", np.int64, (2,)),
        ("placeable", np.int64, (2,)),  # own cards that can be placed in these colours
        ("without", np.int64, (2, MAX_COLORS)),  # those that can be placed if one more colour is lost
        # of the hand, and of the unseen cards as if another seat had them:
        ("reach", np.int64, (MAX_PLAYERS,)),  # set of the cells that the seat may declare
        ("slack", np.int64, (MAX_PLAYERS,)),  # cards that it can place, minus its plays to come
        ("plays", np.int64),  # own cards still to be played in a full round
        ("tricks_left", np.int64),
        ("led", np.int64),  # colour led, or NONE
        ("trick_color", np.int64, (MAX_PLAYERS,)),  # card of each seat in the trick, or NONE
        ("trick_rank", np.int64, (MAX_PLAYERS,)),
        ("best_seat", np.int64),  # the seat that is winning the trick, or NONE
        ("best_color", np.int64),  # its card
        ("best_rank", np.int64),
        ("best_strength", np.int64),  # how high it is in the trick, or NONE
        ("following", np.int64),  # other seats that have yet to play to the trick
        ("follow_tokens", np.int64),  # set of the colours that one of them may declare
        ("other_tokens", np.int64),  # set of the colours that another seat may declare
        ("needed", np.int64, (MAX_PLAYERS,)),  # bid minus tricks won; without bids, tricks it may still win
        ("status", np.int64, (MAX_PLAYERS,)),  # FREE, NEEDS, EXACT or LOST
        ("bid", np.int64, (MAX_PLAYERS,)),  # what each seat bid, or NONE
        ("won", np.int64, (MAX_PLAYERS,)),  # tricks won
        ("expected", np.int64),  # expected tricks of the hand, in quarters
    ]
)


@njit
def clamp(value, low, high):
    """``value`` as an int, clipped to ``low`` .. ``high``."""
    return min(high, max(low, int(value)))


@njit
def read_view(params, observation, view):
    """Read an observation (O,) into ``view``, a record of `VIEW`."""
    read_table(params, observation, view)
    find_groups(params, view, params.num_players)
    count_placeable(params, view)
    count_others(params, view)


@njit
def read_table(params, observation, view):
    """Read all of a view except the groups, and what the hand can place and is expected to win."""
    read_board(params, observation, view)
    read_seats(params, observation, view)
    read_trick(params, observation, view)


@njit
def read_board(params, observation, view):
    """Read the cards, the cells and the X-tokens."""
    players, ranks, colors, copies = params.num_players, params.num_ranks, params.num_colors, params.copies
    stride = ranks + 1
    row = (1 << ranks) - 1
    column = board = 0
    for color in range(colors):
        column |= 1 << (color * stride)
        board |= row << (color * stride)
    view.column = column
    owners = observation[params.at.board : params.at.board + colors * ranks * players]
    taken = 0
    for seat in range(players):
        # Without branches, which would be unpredictable, and with unsigned indices, which need no check for negative
        # values.
        own, index = 0, np.uint64(seat)
        for color in range(colors):
            for rank in range(ranks):
                own |= int(owners[index] != 0) << (color * stride + rank)
                index += np.uint64(players)
        view.owned[seat] = own
        taken |= own
        tokens = rows = 0
        index = np.uint64(params.at.x_tokens + seat * colors)
        for color in range(colors):
            view.x_tokens[seat, color] = has_token = int(observation[index] != 0)
            tokens |= has_token << color
            rows |= (row * has_token) << (color * stride)
            index += np.uint64(1)
        view.tokens[seat] = tokens
        view.rows[seat] = rows
    blocked = held = 0
    for rank in range(ranks):
        hand = clamp(observation[params.at.hand + rank], 0, copies)
        unseen = copies - hand - popcount(taken & (column << rank))
        if observation[params.at.discarded + rank]:
            unseen -= 1
        if params.revealed_cards > 0:
            for color in range(colors):
                revealed = clamp(observation[params.at.neutral + color * ranks + rank], 0, copies)
                unseen -= revealed
                if revealed > 0:
                    blocked |= 1 << (color * stride + rank)
        view.hand[rank] = hand
        view.unseen[rank] = max(0, unseen)
        if hand > 0:
            held |= column << rank
    view.held = held
    view.open = board & ~(taken | blocked)
    for color in range(colors):
        above = 0
        view.above[color, ranks] = 0
        for rank in range(ranks - 1, -1, -1):
            if (view.open >> (color * stride + rank)) & 1:
                above += view.unseen[rank]
            view.above[color, rank] = above


@njit
def read_seats(params, observation, view):
    """Read the bids, and what each seat wants."""
    bids, tricks = params.num_bids, params.num_tricks
    left = clamp(observation[params.at.tricks_left], 0, tricks)
    view.tricks_left = left
    for seat in range(params.num_players):
        won = clamp(observation[params.at.tricks_won + seat], 0, tricks)
        view.won[seat] = won
        view.bid[seat] = NONE
        if bids == 0:
            needed = params.bonus_max_tricks - won
            status = LOST if needed < 0 else (EXACT if needed == 0 else FREE)
        else:
            needed, status = 0, FREE
            bid = one_hot_index(observation, params.at.bids + seat * bids, bids)
            if bid != NONE:
                view.bid[seat] = params.bids[bid]
                needed = params.bids[bid] - won
                status = LOST if needed < 0 or needed > left else (EXACT if needed == 0 else NEEDS)
        view.needed[seat] = needed
        view.status[seat] = status


@njit
def read_trick(params, observation, view):
    """Read who is winning the trick, and who is still to play."""
    players, ranks, colors = params.num_players, params.num_ranks, params.num_colors
    led = one_hot_index(observation, params.at.led, colors)
    following = follow_tokens = other_tokens = 0
    plays = view.tricks_left
    for seat in range(players):
        card, first = NONE, params.at.trick + seat * colors * ranks
        played = np.int8(0)
        for i in range(np.uint64(first), np.uint64(first + colors * ranks)):  # many at a time
            played |= observation[i]
        if played and led != NONE:
            card = one_hot_index(observation, first, colors * ranks)
        view.trick_color[seat], view.trick_rank[seat] = cell_at(params, card)
        if seat > 0:
            other_tokens |= view.tokens[seat]
            if card == NONE:
                following += 1
                follow_tokens |= view.tokens[seat]
        elif card != NONE:
            plays = max(0, plays - 1)
    view.led = led
    best = trick_winner(params, view)
    view.best_seat = best
    view.best_color = view.trick_color[best] if best != NONE else NONE
    view.best_rank = view.trick_rank[best] if best != NONE else NONE
    view.best_strength = strength(params, view, view.best_color, view.best_rank)
    view.following, view.follow_tokens, view.other_tokens = following, follow_tokens, other_tokens
    view.plays = plays
    view.kept_rows[0] = view.kept_rows[1] = view.rows[0]
    if led != NONE:
        view.kept_rows[1] &= ~(((1 << ranks) - 1) << (led * (ranks + 1)))


@njit
def find_groups(params, view, num_seats):
    """Find the connected groups of tokens of the first ``num_seats`` seats; of equally large ones the lowest counts."""
    stride = params.num_ranks + 1
    number = 0
    for seat in range(num_seats):
        view.first_group[seat] = number
        rest = view.owned[seat]
        while rest and number < MAX_CELLS:
            group = group_at(rest, lowest_bit(rest), stride)
            rest &= ~group
            view.groups[number] = group
            view.sizes[number] = popcount(group)
            number += 1
        view.largest[seat] = largest_group(view.owned[seat], stride)
        view.largest_size[seat] = popcount(view.largest[seat])
    view.first_group[num_seats] = number


@njit(inline="always")  # a tenth of the time of the heuristic
def largest_group_with(view, here, stride):
    """The observer's largest group, a set of cells, and its size with a token on ``here``, a set of one cell."""
    beside = neighbours(here, stride)
    group, size = here, 1
    for i in range(view.first_group[1]):
        if view.groups[i] & beside:
            group |= view.groups[i]
            size += view.sizes[i]
    if size < view.largest_size[0]:
        group, size = view.largest[0], view.largest_size[0]
    return group, size


@njit
def placeable_cards(view, hand, rank, rows):
    """How many of ``hand`` cards of a rank can be placed on empty cells in ``rows``, a set of cells.

    A card fits only cells of its own rank, so the sum over the ranks is the maximum matching of cards to cells.
    """
    return min(hand, popcount(view.open & rows & (view.column << rank)))


@njit
def count_placeable(params, view):
    """Count what the hand can still place, and its expected tricks."""
    total = 0
    for rank in range(params.num_ranks):
        total += view.unseen[rank]
    placeable = without_led = lower = 0
    strength = 0.0
    row = (1 << params.num_ranks) - 1
    for color in range(params.num_colors):
        view.without[0, color] = view.without[1, color] = 0
    for rank in range(params.num_ranks):
        if view.hand[rank] > 0:
            cards = placeable_cards(view, view.hand[rank], rank, view.kept_rows[0])
            placeable += cards
            without_led += placeable_cards(view, view.hand[rank], rank, view.kept_rows[1])
            for color in range(params.num_colors):
                kept = ~(row << (color * (params.num_ranks + 1)))
                for lost in range(2):
                    view.without[lost, color] += placeable_cards(
                        view, view.hand[rank], rank, view.kept_rows[lost] & kept
                    )
            share = (lower + 0.5 * view.unseen[rank]) / max(1, total)
            highest = 1.0
            for _ in range(params.num_players - 1):
                highest *= share
            strength += cards * highest
        lower += view.unseen[rank]
    view.placeable[0], view.placeable[1] = placeable, without_led
    view.expected = int(QUARTERS * view.plays * strength / max(1, placeable) + 0.5)


@njit
def count_others(params, view):
    """Count the cells that the other seats may reach, and the cards that they can still place, as far as is known."""
    unseen = 0
    for rank in range(params.num_ranks):
        if view.unseen[rank] > 0:
            unseen |= view.column << rank
    view.reach[0] = view.open & view.rows[0] & view.held
    view.slack[0] = view.placeable[0] - view.plays
    for seat in range(1, params.num_players):
        cells = view.open & view.rows[seat]
        placeable = 0
        for rank in range(params.num_ranks):
            placeable += min(view.unseen[rank], popcount(cells & (view.column << rank)))
        view.reach[seat] = cells & unseen
        plays = view.tricks_left - (1 if view.trick_color[seat] != NONE else 0)
        view.slack[seat] = placeable - max(0, plays)
