"""The small compiled functions that games share, and the offsets of a layout."""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

from catbox_env.core import bits
from catbox_env.core.kernels import make_params, part_offsets
from catbox_env.core.layout import Layout, Part

pytestmark = pytest.mark.nojit


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


def test_a_layout_tells_where_parts_begin_and_minus_one_for_a_part_that_the_rules_do_not_need() -> None:
    parts = [
        Part("first", (2, 3), ""),
        Part("missing", (7,), "", included=False),
        Part("last", (2,), "", -1, 9),
    ]
    layout = Layout(parts)
    assert layout.names == ("first", "missing", "last")
    assert part_offsets(layout)[0].tolist() == (0, -1, 6)
    assert (list(layout), layout.size) == (["first", "last"], 8)
    assert (layout.low.tolist(), layout.high.tolist()) == ([0] * 6 + [-1] * 2, [1] * 6 + [9] * 2)
    assert layout.unpack(np.arange(8))["last"].tolist() == [6, 7]
    with pytest.raises(ValueError, match="two parts have the name 'hand'"):
        Layout([Part("hand", (2,), ""), Part("hand", (3,), "")])


@pytest.mark.parametrize(
    ("low", "high"), [(0, 200), (-129, 0), (1, 0), (0, 0.5), (0, None), (False, 1), (0, np.int64(128))]
)
def test_a_part_whose_range_does_not_fit_in_an_int8_is_refused_by_name(low: Any, high: Any) -> None:
    said = f"part 'heap': low={low!r}, high={high!r}; expected integers, low at most high, from -128 to 127"
    with pytest.raises(ValueError, match=re.escape(said)):
        Part("heap", (1,), "what is left", low, high)
    assert "heap" not in Layout([Part("heap", (1,), "what is left", low, high, included=False)])


def test_a_part_may_have_the_whole_range_of_an_int8() -> None:
    layout = Layout([Part("heap", (1,), "", -128, np.int64(127))])
    assert (layout.low.tolist(), layout.high.tolist()) == ([-128], [127])


@pytest.mark.parametrize("shape", [3, [3], (2, -1), (1.0,), (True,), None])
def test_a_part_whose_shape_is_not_a_tuple_of_integers_is_refused_by_name(shape: Any) -> None:
    said = f"part 'heap': shape={shape!r}; expected a tuple of integers of 0 or more"
    with pytest.raises(ValueError, match=re.escape(said)):
        Part("heap", shape, "what is left")


@dataclass(frozen=True)
class OddRules:
    """Rules with what only type checkers know, a name that NumPy's records have, and no number of players as an int."""

    num_players: Literal[2] = 2
    heap: int = 7
    fast: bool = True
    size: int = 3
    start: "NotImported | None" = None  # noqa: F821


def test_the_rules_that_are_numbers_are_parameters_whatever_the_other_annotations_name() -> None:
    params = make_params(OddRules(), num_players=2, sizes=[1, 2], cells=np.uint64(2**63))
    assert params.dtype.names == ("heap", "fast", "num_players", "sizes", "cells")
    heap, fast, players, sizes, cells = params[0].tolist()
    assert (heap, fast, players, list(sizes), cells) == (7, 1, 2, [1, 2], 2**63)
