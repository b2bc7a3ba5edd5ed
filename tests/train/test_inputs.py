"""Rows of a buffer, as the networks take them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from catbox_train.self_play.inputs import Inputs

SCALE = torch.tensor([1.0, 0.5, 0.125])


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_every_int8_is_scaled_without_rounding(precision: torch.dtype) -> None:
    vectors = np.arange(-128, 128, dtype=np.int8)[:, None].repeat(3, axis=1)
    rows = np.random.default_rng(1).permutation(256)
    inputs = Inputs(SCALE, precision)
    taken = inputs.take(vectors, rows)
    assert taken.dtype == precision
    assert torch.equal(taken.double(), torch.from_numpy(vectors[rows]).double() * SCALE.double())
    assert torch.equal(inputs.take(vectors, rows[:7]), taken[:7])


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("row", [-1, 4, 2**62])
def test_a_row_that_is_not_there_is_refused(precision: torch.dtype, row: int) -> None:
    with pytest.raises(IndexError, match="expected 0 to 3"):
        Inputs(SCALE, precision).take(np.zeros((4, 3), np.int8), np.array([0, row]))


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(4, 2\): expected \(M, 3\)"):
        Inputs(SCALE, torch.float32).take(np.zeros((4, 2), np.int8), np.array([0]))
