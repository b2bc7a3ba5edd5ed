"""Small compiled functions that several games share: seats around the table, sets as bits, parts of a vector.

A set is one non-negative integer in which bit i says whether i is a member.
"""

from __future__ import annotations

import numpy as np

from catbox_env.core.compilation import njit

#: No seat, no index.
NONE = -1
#: The range of an element of an observation.
INT8_MIN, INT8_MAX = -128, 127


@njit
def relative_seat(seat, observer, num_players):
    """``seat`` counted clockwise from ``observer``, which is 0."""
    return seat - observer if seat >= observer else seat - observer + num_players


@njit
def absolute_seat(seat, observer, num_players):
    """The seat that ``observer`` calls ``seat``: the inverse of ``relative_seat``. NONE stays NONE."""
    if seat < 0:
        return NONE
    return seat + observer if seat + observer < num_players else seat + observer - num_players


@njit
def next_seat(seat, num_players):
    """The next seat clockwise."""
    return seat + 1 if seat + 1 < num_players else 0


@njit
def popcount(bits):
    """The number of members of a set."""
    one, rest, number = np.uint64(1), np.uint64(bits), 0
    while rest:
        rest &= rest - one
        number += 1
    return number


@njit
def lowest_bit(bits):
    """The lowest member of a set, as a set of one; 0 for the empty set."""
    return bits & -bits


@njit
def nth_bit(bits, n):
    """The n-th (from 0) lowest member of a set, as a set of one; 0 if there are fewer."""
    for _ in range(n):
        bits &= bits - 1
    return bits & -bits


@njit
def bit_index(bit):
    """The member of a set of one."""
    index = 0
    while bit > 1:
        bit >>= 1
        index += 1
    return index


@njit
def neighbours(cells, stride):
    """The neighbours of a set of cells of a board with ``stride`` bits a row, and bits that are not cells."""
    return (cells << 1) | (cells >> 1) | (cells << stride) | (cells >> stride)


@njit
def group_at(cells, start, stride):
    """The connected group of ``cells`` that contains ``start``, a set of one."""
    group, grown = start, 0
    while grown != group:
        grown = group
        group |= cells & neighbours(group, stride)
    return group


@njit
def largest_group(cells, stride):
    """The largest connected group of a set of cells, of equally large ones the one with the lowest cell."""
    largest, size = 0, 0
    while cells:
        group = group_at(cells, lowest_bit(cells), stride)
        cells &= ~group
        number = popcount(group)
        if number > size:
            largest, size = group, number
    return largest


@njit(inline="always")  # a call with an array argument counts references to it
def one_hot_index(vector, start, length):
    """The index of the first nonzero element among ``length`` from ``start`` on; NONE if all are 0."""
    for i in range(length):
        if vector[start + i]:
            return i
    return NONE


@njit
def clear(vector):
    """Set every element of ``vector`` to 0."""
    for i in range(len(vector)):
        vector[i] = 0


@njit
def clip_int8(value):
    """``value`` clipped to the range of an int8."""
    return min(INT8_MAX, max(INT8_MIN, value))


@njit
def legal_at(mask, point):
    """The legal action of ``mask`` (A,) at ``point`` in [0, 1), all equally likely; NONE if none is legal."""
    count = 0
    for action in range(len(mask)):
        count += mask[action]
    skipped = int(point * count)
    for action in range(len(mask)):
        if mask[action]:
            if skipped == 0:
                return action
            skipped -= 1
    return NONE
