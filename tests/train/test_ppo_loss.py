"""The compiled loss of PPO, beside one that is differentiated automatically."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from catbox_train.algorithms.ppo.loss import (
    BAD_ROW,
    FINE,
    LARGE_LOGIT,
    LEARNING_METRICS,
    LOGIT_NOT_FINITE,
    logit_gradient,
)
from tests.train.ppo_reference import ppo_losses

NUM_ROWS, NUM_ACTIONS, BUFFER = 60, 9, 200
CLIP, ENTROPY_WEIGHT = 0.2, 0.3


class Batch:
    """Random outputs of networks for some rows of a buffer."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.logits = rng.normal(scale=2, size=(NUM_ROWS, NUM_ACTIONS)).astype(np.float32)
        self.values = rng.normal(size=(NUM_ROWS, 1)).astype(np.float32)
        self.rows = rng.permutation(BUFFER)[:NUM_ROWS]
        self.actions = rng.integers(NUM_ACTIONS, size=BUFFER)
        self.masks = rng.random((BUFFER, NUM_ACTIONS)) < 0.4
        self.masks[np.arange(BUFFER), self.actions] = True
        self.log_probabilities, self.advantages, self.returns = rng.normal(size=(3, BUFFER)).astype(
            np.float32
        )
        self.log_probabilities -= 2

    def gradient(self, size: int = NUM_ROWS) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        """What is returned, the gradients by logits and values, and the metrics."""
        filled = np.full_like(self.logits, 7), np.full_like(self.values, 7), np.full(5, 7.0)
        fields = (
            "logits",
            "values",
            "rows",
            "masks",
            "actions",
            "log_probabilities",
            "advantages",
            "returns",
        )
        found = logit_gradient(*(getattr(self, f) for f in fields), CLIP, ENTROPY_WEIGHT, size, *filled)
        return found, *filled


@pytest.mark.parametrize("seed", range(3))
def test_gradient_and_metrics_are_those_of_automatic_differentiation(seed: int) -> None:
    batch = Batch(seed)
    logits = torch.tensor(batch.logits, dtype=torch.float64, requires_grad=True)
    values = torch.tensor(batch.values, dtype=torch.float64, requires_grad=True)
    names = ("masks", "actions", "log_probabilities", "advantages", "returns")
    rows = {name: torch.from_numpy(getattr(batch, name)[batch.rows]) for name in names}
    losses = ppo_losses(logits, values, rows, CLIP)
    (losses["policy_loss"] - ENTROPY_WEIGHT * losses["entropy"] + losses["value_loss"]).backward()
    found, by_logits, by_values, metrics = batch.gradient()
    assert found == FINE
    assert by_logits == pytest.approx(logits.grad.numpy(), abs=1e-7)
    assert by_values == pytest.approx(values.grad.numpy(), abs=1e-7)
    assert metrics == pytest.approx([losses[name].item() for name in LEARNING_METRICS], abs=1e-7)
    assert 0.1 < metrics[LEARNING_METRICS.index("clip_fraction")] < 1
    assert (by_logits[~batch.masks[batch.rows]] == 0).all()


def test_a_large_logit_of_an_illegal_action_does_not_matter() -> None:
    batch = Batch()
    _, before, _, metrics = batch.gradient()
    batch.logits[~batch.masks[batch.rows]] = 9e7
    found, after, _, metrics_after = batch.gradient()
    assert found == FINE
    assert np.array_equal(before, after)
    assert np.array_equal(metrics, metrics_after)


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


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["advantages", "returns", "log_probabilities"])
def test_a_number_that_is_not_finite_is_not_lost(name: str, number: float) -> None:
    """It comes out in a gradient or a metric, where the update looks for it."""
    batch = Batch()
    getattr(batch, name)[batch.rows[5]] = number
    assert not all(np.isfinite(array).all() for array in batch.gradient()[1:])


def test_rows_that_were_not_played_are_refused() -> None:
    """Nothing outside the arrays is read for them."""
    for row in (-1, BUFFER, 2**62):
        batch = Batch()
        batch.rows[3] = row
        assert batch.gradient()[0] == BAD_ROW
    for action in (-1, NUM_ACTIONS):
        batch = Batch()
        batch.actions[batch.rows[3]] = action
        assert batch.gradient()[0] == BAD_ROW
    batch = Batch()
    batch.masks[batch.rows[3], batch.actions[batch.rows[3]]] = False
    assert batch.gradient()[0] == BAD_ROW


@pytest.mark.parametrize("name", ["values", "rows", "masks", "actions", "log_probabilities", "returns"])
def test_arrays_that_do_not_fit_each_other_are_refused(name: str) -> None:
    batch = Batch()
    array = getattr(batch, name)
    setattr(batch, name, array[:, :-1] if name == "masks" else array[:-1])
    assert batch.gradient()[0] == BAD_ROW
