"""Adam (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980, algorithm 1), compiled: one pass over flat vectors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from catbox_env.core.compilation import cached_njit

BETA_1, BETA_2 = 0.9, 0.999
#: As in OpenAI's baselines (ppo2), and most implementations since.
EPSILON = 1e-5
#: Steps are counted in float32, which counts no further.
LARGEST_STEP = 1 << 24


class Adam:
    """The optimizer of a flat vector of ``num_weights`` weights; ``allocate`` makes the means.

    Attribute: ``state``, what its future depends on: ``step`` () float32, the steps that were made; ``exp_avg`` and
    ``exp_avg_sq`` (K,) float32, the running means of the gradient and of its square.
    """

    def __init__(self, num_weights: int, allocate: Callable[..., torch.Tensor] = torch.zeros) -> None:
        self.state = {
            "step": torch.zeros(()),
            "exp_avg": allocate((num_weights,), dtype=torch.float32),
            "exp_avg_sq": allocate((num_weights,), dtype=torch.float32),
        }

    @property
    def num_steps(self) -> int:
        """Steps that were made, ``LARGEST_STEP`` at most."""
        return int(self.state["step"])

    @num_steps.setter
    def num_steps(self, number: int) -> None:
        self.state["step"].fill_(min(number, LARGEST_STEP))

    def move(
        self,
        weights: torch.Tensor,
        gradient: torch.Tensor,
        part: slice,
        learning_rate: float,
        step: int,
        factor: float = 1.0,
    ) -> None:
        """Make step number ``step``, from 1, for ``part`` of ``weights`` (K,) float32 by ``factor`` times ``gradient``
        (K,) float32.

        The parts may be moved by different workers; ``num_steps`` is left as it is.
        """
        step = min(step, LARGEST_STEP)
        _move(
            weights.numpy()[part],
            gradient.numpy()[part],
            self.state["exp_avg"].numpy()[part],
            self.state["exp_avg_sq"].numpy()[part],
            np.float32(learning_rate / (1 - BETA_1**step)),
            np.float32(1 / math.sqrt(1 - BETA_2**step)),
            np.float32(factor),
        )


@cached_njit(nogil=True)
def _move(
    weights: np.ndarray,
    gradient: np.ndarray,
    mean: np.ndarray,
    mean_square: np.ndarray,
    rate: float,
    growth: float,
    factor: float,
) -> None:
    """One step. ``rate`` is the learning rate over the bias correction of ``mean``, ``growth`` 1 over the root of
    that of ``mean_square``."""
    keep_1, keep_2 = np.float32(BETA_1), np.float32(BETA_2)
    take_1, take_2, epsilon = np.float32(1 - BETA_1), np.float32(1 - BETA_2), np.float32(EPSILON)
    for i in range(min(len(weights), len(gradient), len(mean), len(mean_square))):
        pull = factor * gradient[i]
        mean[i] = keep_1 * mean[i] + take_1 * pull
        mean_square[i] = keep_2 * mean_square[i] + take_2 * pull * pull
        # Python's / looks for a divisor of 0 each time, and so is many times slower than NumPy's.
        weights[i] -= np.divide(rate * mean[i], np.sqrt(mean_square[i]) * growth + epsilon)
