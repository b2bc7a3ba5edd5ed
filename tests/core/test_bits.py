"""The small compiled functions that games share, and the offsets of a layout."""

import numpy as np
import pytest

from catbox_env.core import bits
from catbox_env.core.kernels import part_offsets
from catbox_env.core.layout import Layout, Part

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("num_players", [2, 3, 6])
def test_relative_and_absolute_seats_are_inverse_and_count_clockwise(num_players: int) -> None:
    for observer in range(num_players):
        assert bits.relative_seat(observer, observer, num_players) == 0
        following = bits.next_seat(observer, num_players)
        assert following == (observer + 1) % num_players
        assert bits.relative_seat(following, observer, num_players) == 1
        for seat in range(num_players):
            relative = bits.relative_seat(seat, observer, num_players)
            assert relative in range(num_players)
            assert bits.absolute_seat(relative, observer, num_players) == seat
        assert bits.absolute_seat(bits.NONE, observer, num_players) == bits.NONE


@pytest.mark.parametrize("members", [(), (0,), (3, 5, 62), tuple(range(0, 63, 2))])
def test_a_set_tells_how_many_members_it_has_and_which(members: tuple[int, ...]) -> None:
    one = sum(1 << member for member in members)
    assert bits.popcount(one) == len(members)
    assert bits.lowest_bit(one) == (1 << members[0] if members else 0)
    for n, member in enumerate(members):
        assert bits.nth_bit(one, n) == 1 << member
        assert bits.bit_index(1 << member) == member
    assert bits.nth_bit(one, len(members)) == 0


def test_popcount_counts_all_64_bits_of_an_unsigned_set() -> None:
    assert bits.popcount(np.uint64(2**64 - 1)) == 64
    assert bits.popcount(np.uint64(2**63)) == 1


def test_a_one_hot_part_is_read_within_its_bounds() -> None:
    vector = np.array([1, 0, 0, 1, 1], np.int8)
    assert bits.one_hot_index(vector, 1, 3) == 2
    assert bits.one_hot_index(vector, 1, 2) == bits.NONE
    bits.clear(vector)
    assert not vector.any()


@pytest.mark.parametrize(("value", "clipped"), [(-129, -128), (-128, -128), (0, 0), (127, 127), (128, 127)])
def test_numbers_are_clipped_to_an_int8(value: int, clipped: int) -> None:
    assert bits.clip_int8(value) == clipped


def test_a_layout_tells_where_parts_begin_and_minus_one_for_a_part_that_the_rules_do_not_need() -> None:
    parts = [Part("first", (2, 3), ""), Part("missing", (7,), "", when=False), Part("last", (2,), "", -1, 9)]
    layout = Layout(parts)
    assert layout.names == ("first", "missing", "last")
    assert part_offsets(layout)[0].tolist() == (0, -1, 6)
    assert (list(layout), layout.size) == (["first", "last"], 8)
    assert (layout.low.tolist(), layout.high.tolist()) == ([0] * 6 + [-1] * 2, [1] * 6 + [9] * 2)
    assert layout.unpack(np.arange(8))["last"].tolist() == [6, 7]
    with pytest.raises(ValueError, match="two parts have the name 'hand'"):
        Layout([Part("hand", (2,), ""), Part("hand", (3,), "")])
