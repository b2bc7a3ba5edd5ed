"""The distribution over legal actions, drawn from and differentiated."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from catbox_train.self_play.distribution import sample_actions
from tests.train.ppo_reference import masked_log_probabilities

pytestmark = pytest.mark.nojit


def random_rows(num_rows: int, num_actions: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits and masks, every mask with one legal action at least."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3.0, size=(num_rows, num_actions)).astype(np.float32)
    masks = rng.random((num_rows, num_actions)) < 0.4
    masks[np.arange(num_rows), rng.integers(num_actions, size=num_rows)] = True
    return logits, masks


def draw(logits: np.ndarray, masks: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    actions, log_probabilities = np.empty(len(logits), np.int64), np.empty(len(logits), np.float32)
    sample_actions(logits, masks, uniforms, actions, log_probabilities)
    return actions, log_probabilities


def test_drawn_log_probabilities_are_those_that_learning_sees():
    logits, masks = random_rows(500, 17)
    actions, log_probabilities = draw(logits, masks, np.random.default_rng(1).random(500))
    expected = masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks))
    assert masks[np.arange(500), actions].all()
    assert log_probabilities == pytest.approx(expected.numpy()[np.arange(500), actions], abs=1e-5)


def test_draws_have_the_stated_frequencies():
    """Chi-squared of 40,000 draws of one row against its probabilities (4 degrees of freedom, 0.1 % level 18.5)."""
    logits, masks = random_rows(1, 9, seed=4)
    masks[:] = [[True, False, True, True, False, True, False, True, False]]
    logits /= 3
    count = 40_000
    actions, _ = draw(
        np.repeat(logits, count, axis=0),
        np.repeat(masks, count, axis=0),
        np.random.default_rng(6).random(count),
    )
    probabilities = (
        masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks)).exp()[0].numpy()
    )
    observed = np.bincount(actions, minlength=9)
    assert (observed[~masks[0]] == 0).all()
    expected = count * probabilities[masks[0]]
    assert ((observed[masks[0]] - expected) ** 2 / expected).sum() < 18.5


def test_the_ends_of_the_unit_interval_give_the_first_and_the_last_legal_action():
    """The cumulative sum may round to just under 1: the last legal action is drawn then, never an illegal one."""
    logits, masks = random_rows(300, 12, seed=7)
    first, _ = draw(logits, masks, np.zeros(300))
    last, _ = draw(logits, masks, np.full(300, 1.0))
    assert (first == masks.argmax(axis=1)).all()
    assert (last == 11 - masks[:, ::-1].argmax(axis=1)).all()


def test_a_large_logit_of_an_illegal_action_does_not_matter():
    logits = np.array([[1e4, 0.5, 2e4, -0.5]], np.float32)
    masks = np.array([[False, True, False, True]])
    actions, log_probabilities = draw(logits, masks, np.array([0.9]))
    assert actions.tolist() == [3]
    assert log_probabilities[0] == pytest.approx(-math.log(1 + math.e), abs=1e-5)


def test_an_action_whose_probability_is_0_is_not_drawn():
    """Not even with the smallest of uniform numbers, where it is the first one."""
    logits = np.array([[-1e4, 3.0, -1e4]], np.float32)
    actions, log_probabilities = draw(logits, np.ones((1, 3), bool), np.zeros(1))
    assert actions.tolist() == [1]
    assert log_probabilities.tolist() == [0.0]


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_adding_a_number_to_all_logits_changes_nothing(shift):
    logits = np.array([[0.5, 0.0, -0.5]], np.float32) + np.float32(shift)
    masks = np.array([[True, False, True]])
    for uniform, expected in ((0.1, 0), (0.9, 2)):
        actions, log_probabilities = draw(logits, masks, np.array([uniform]))
        assert actions.tolist() == [expected]
        share = math.exp(-expected / 2) / (1 + math.exp(-1))
        assert log_probabilities[0] == pytest.approx(math.log(share), abs=1e-5)
