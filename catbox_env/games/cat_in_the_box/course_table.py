"""Boundaries between tricks from which a search for courses found nothing, in a table, so that none is searched twice.

A row of the table is a boundary as three words, in the place that their hash gives; a later one takes its place.
"""

from __future__ import annotations

from catbox_env.core.bits import lowest_bit
from catbox_env.core.compilation import njit
from catbox_env.games.cat_in_the_box.board import cells_of_color
from catbox_env.games.cat_in_the_box.rules import MAX_COLORS, MAX_PLAYERS
from catbox_env.games.cat_in_the_box.state import NONE

#: Words of a boundary.
NUM_WORDS = 3
#: Bits of a word that hold a seat, or one of those and NONE; and the tricks that a seat has yet to win.
SEAT_BITS, WINS_BITS = 3, 5
#: Digits of a word of owners: the seats, and the mark after a colour.
OWNER_BASE, COLOR_MARK = MAX_PLAYERS + 1, MAX_PLAYERS
#: Masks and odd factors that mix the bits of a hash; products stay below 2**63.
MASK31, MASK32 = 0x7FFFFFFF, 0xFFFFFFFF
FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B1, 0x5EBCA6B


@njit
def boundary(search, trick):
    """What the rest of a course depends on as a trick begins, as three words of which the last is never 0.

    Of the tokens yet to be laid, these are the owners in the order of ranks; the cells themselves as well where a
    forced lead is to come.
    """
    low, high, rest = search.tokens[0], 0, 0
    for seat in range(search.players):
        rest = (rest << MAX_COLORS) | search.lost[seat]
        rest = (rest << WINS_BITS) | search.wins[seat]
        low |= search.tokens[seat]
    if search.forced == NONE or trick > search.forced_trick:
        half = 2 * search.ranks
        unlaid = low
        low = owners(search, unlaid & ((1 << half) - 1))
        high = owners(search, unlaid >> half << half)
    forced = search.forced - NONE + 1
    return low, (high << SEAT_BITS) | search.leader[trick], (rest << SEAT_BITS) | forced


@njit
def owners(search, unlaid):
    """The owners of cells yet to be laid, in the order of ranks and with a mark after each colour, as digits."""
    digits = 0
    for color in range(search.colors):
        cells = unlaid & cells_of_color(color, search.ranks)
        digits = digits * OWNER_BASE + COLOR_MARK
        while cells:
            cell = lowest_bit(cells)
            cells ^= cell
            owner = 0
            while search.tokens[owner] & cell == 0:
                owner += 1
            digits = digits * OWNER_BASE + owner
    return digits


@njit
def place_of(words, size):
    """The place of a boundary in a table of that size, a power of two."""
    mixed = 0
    for word in words:
        mixed = (mixed ^ (word & MASK31)) * FIRST_FACTOR
        mixed = (((mixed >> 20) ^ (word >> 31)) & MASK32) * SECOND_FACTOR
        mixed = (mixed ^ (mixed >> 27)) & MASK31
    return mixed & (size - 1)


@njit
def remember(search, table, trick):
    """Nothing more is to be found from this boundary on."""
    if len(table) > 0:
        words = boundary(search, trick)
        place = place_of(words, len(table))
        for i in range(NUM_WORDS):
            table[place, i] = words[i]


@njit
def is_known(search, table, trick):
    """Whether nothing more is to be found from this boundary on, as far as it is remembered."""
    if len(table) == 0:
        return False
    words = boundary(search, trick)
    place = place_of(words, len(table))
    same = True
    for i in range(NUM_WORDS):
        same = same and table[place, i] == words[i]
    return same
