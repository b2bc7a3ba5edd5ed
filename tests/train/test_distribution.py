"""What is drawn from the distribution over legal actions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from catbox_train.algorithms.ppo.ppo import ppo_loss
from catbox_train.self_play.distribution import sample_actions

from tests.train.ppo_reference import masked_log_probabilities

pytestmark = pytest.mark.nojit


def compiled(logits: np.ndarray, masks: np.ndarray, uniforms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    actions, log_probabilities = np.empty(len(logits), np.int64), np.empty(len(logits), np.float32)
    with np.errstate(all="ignore"):  # without the compiler, NumPy warns of logits that are not finite
        sample_actions(logits, masks, uniforms, actions, log_probabilities)
    return actions, log_probabilities


def drawn(logits: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Actions (n,) and their log-probabilities (n,)."""
    return compiled(logits, masks, np.random.default_rng(6).random(len(logits)))


def random_rows(num_rows: int, num_actions: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits and masks, every mask with one legal action at least."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3.0, size=(num_rows, num_actions)).astype(np.float32)
    masks = rng.random((num_rows, num_actions)) < 0.4
    masks[np.arange(num_rows), rng.integers(num_actions, size=num_rows)] = True
    return logits, masks


@pytest.mark.parametrize("shift", [0.0, 1e4, -1e4])
def test_drawn_log_probabilities_are_those_that_learning_sees(shift: float) -> None:
    """Neither a number that is added to all logits changes them, nor a large logit of an illegal action."""
    logits, masks = random_rows(500, 17)
    logits = (logits * 4).round() / 4 + np.float32(shift)  # no digit is lost
    expected = masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks)).numpy()
    logits[~masks] += 2e4
    actions, log_probabilities = drawn(logits, masks)
    assert masks[np.arange(500), actions].all()
    close = 1e-3 if shift else 1e-5
    assert log_probabilities == pytest.approx(expected[np.arange(500), actions], abs=close)
    given = map(torch.from_numpy, (logits, np.zeros(500, np.float32), masks, actions, log_probabilities))
    gains = torch.arange(500.0)
    _, metrics = ppo_loss(*given, gains, gains, clip=9.0, value_weight=0.0, entropy_weight=0.0)
    assert metrics["policy_loss"].item() == pytest.approx(-gains.mean().item(), rel=close), "all ratios are 1"


def test_draws_have_the_stated_frequencies() -> None:
    """Chi-squared of 40,000 draws of one row against its probabilities (4 degrees of freedom, 0.1 % level 18.5)."""
    logits, count = random_rows(1, 9, seed=4)[0] / 3, 40_000
    masks = np.array([[True, False, True, True, False, True, False, True, False]])
    actions, _ = drawn(np.repeat(logits, count, axis=0), np.repeat(masks, count, axis=0))
    probabilities = masked_log_probabilities(torch.from_numpy(logits), torch.from_numpy(masks)).exp()[0]
    observed, expected = np.bincount(actions, minlength=9), count * probabilities.numpy()
    assert (observed[~masks[0]] == 0).all()
    assert ((observed - expected)[masks[0]] ** 2 / expected[masks[0]]).sum() < 18.5


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e38])
def test_an_illegal_action_is_never_drawn_whatever_the_logits(number: float) -> None:
    _, masks = random_rows(500, 9)
    actions, _ = drawn(np.full((500, 9), number, np.float32), masks)
    assert masks[np.arange(500), actions].all()


def test_the_ends_of_the_unit_interval_give_the_first_and_the_last_legal_action() -> None:
    """The cumulative sum may round to just under 1: the last legal action is drawn then, never an illegal one."""
    logits, masks = random_rows(300, 12, seed=7)
    first, _ = compiled(logits, masks, np.zeros(300))
    last, _ = compiled(logits, masks, np.full(300, 1.0))
    assert (first == masks.argmax(axis=1)).all()
    assert (last == 11 - masks[:, ::-1].argmax(axis=1)).all()


def test_an_action_whose_probability_is_0_is_not_drawn() -> None:
    """Not even with the smallest of uniform numbers, where it is the first one."""
    logits = np.array([[-1e4, 3.0, -1e4]], np.float32)
    actions, log_probabilities = compiled(logits, np.ones((1, 3), bool), np.zeros(1))
    assert (actions.tolist(), log_probabilities.tolist()) == ([1], [0.0])
