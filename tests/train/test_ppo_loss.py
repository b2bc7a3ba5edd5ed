"""What the compiled loss of PPO refuses. (Its gradient is that of `test_ppo_update`.)"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from catbox_train.algorithms.ppo.loss import (
    BAD_ROW,
    LARGE_LOGIT,
    LOGIT_NOT_FINITE,
    logit_gradient,
)

NUM_ROWS, NUM_ACTIONS, BUFFER = 60, 9, 200
CLIP, ENTROPY_WEIGHT = 0.2, 0.3
FIELDS = ("masks", "actions", "log_probabilities", "advantages", "returns")


class Batch:
    """Random outputs of networks for some rows of a buffer."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.logits = rng.normal(scale=2, size=(NUM_ROWS, NUM_ACTIONS)).astype(np.float32)
        self.values = rng.normal(size=(NUM_ROWS, 1)).astype(np.float32)
        self.rows = rng.permutation(BUFFER)[:NUM_ROWS]
        self.actions = rng.integers(NUM_ACTIONS, size=BUFFER)
        self.masks = rng.random((BUFFER, NUM_ACTIONS)) < 0.4
        self.masks[np.arange(BUFFER), self.actions] = True
        numbers = rng.normal(size=(3, BUFFER)).astype(np.float32)
        self.log_probabilities, self.advantages, self.returns = numbers
        self.log_probabilities -= 2

    def gradient(self) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        """What is returned, the gradients by logits and values, and the metrics."""
        filled = np.full_like(self.logits, 7), np.full_like(self.values, 7), np.full(5, 7.0)
        given = (getattr(self, name) for name in ("logits", "values", "rows", *FIELDS))
        return logit_gradient(*given, CLIP, ENTROPY_WEIGHT, NUM_ROWS, *filled), *filled


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1.1e8, LARGE_LOGIT), (-1.1e8, LARGE_LOGIT), (np.inf, LOGIT_NOT_FINITE), (np.nan, LOGIT_NOT_FINITE)],
)
@pytest.mark.parametrize("legal", [True, False])
def test_a_logit_of_a_policy_that_has_diverged_is_found(number: float, expected: int, legal: bool) -> None:
    batch = Batch()
    row, action = np.argwhere(batch.masks[batch.rows] == legal)[-1]
    batch.logits[row, action] = number
    assert batch.gradient()[0] == expected


@pytest.mark.parametrize("name", ["advantages", "returns", "log_probabilities"])
def test_a_number_that_is_not_finite_is_not_lost(name: str) -> None:
    """It comes out in a gradient or a metric, where the update looks for it."""
    batch = Batch()
    getattr(batch, name)[batch.rows[5]] = np.nan
    assert not all(np.isfinite(array).all() for array in batch.gradient()[1:])


def shorten(name: str) -> Callable[[Batch], None]:
    return lambda batch: setattr(batch, name, getattr(batch, name)[:-1])


@pytest.mark.parametrize(
    "spoil",
    [
        *(lambda batch, row=row: batch.rows.put(3, row) for row in (-1, BUFFER, 2**62)),
        *(lambda batch, a=a: batch.actions.put(batch.rows[3], a) for a in (-1, NUM_ACTIONS)),
        lambda batch: batch.masks[batch.rows[3]].put(batch.actions[batch.rows[3]], False),
        lambda batch: setattr(batch, "masks", batch.masks[:, :-1]),
        *(shorten(name) for name in ("values", "rows", "actions", "log_probabilities", "returns")),
    ],
)
def test_rows_that_were_not_played_and_arrays_that_do_not_fit_are_refused(
    spoil: Callable[[Batch], object],
) -> None:
    """Nothing outside the arrays is read for them."""
    batch = Batch()
    spoil(batch)
    assert batch.gradient()[0] == BAD_ROW
