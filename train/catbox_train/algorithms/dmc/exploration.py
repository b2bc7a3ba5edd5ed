"""How actions are chosen in training: epsilon-greedily."""

from __future__ import annotations

import numpy as np

from catbox_env.core.compilation import cached_njit


@cached_njit(nogil=True)
def epsilon_greedy(
    values: np.ndarray, masks: np.ndarray, uniforms: np.ndarray, epsilon: float, actions: np.ndarray
) -> None:
    """Choose the legal action of the highest value, or with probability ``epsilon`` any legal one.

    Takes ``values`` (n, at least A) float32, ``masks`` (n, A) bool with at least one legal action per row, ``uniforms``
    (n,) in [0, 1); fills ``actions`` (n,). Ties go to the lowest action.
    """
    num_rows, num_actions = masks.shape
    if min(len(values), len(uniforms), len(actions)) < num_rows or values.shape[1] < num_actions:
        return
    legal = np.empty(num_actions, np.int64)
    for row in range(num_rows):
        count = 0
        best = -1
        for action in range(num_actions):
            if masks[row, action]:
                legal[count] = action
                count += 1
                if best < 0 or values[row, action] > values[row, best]:
                    best = action
        if count and uniforms[row] < epsilon:
            # Below epsilon, the number is uniform too.
            best = legal[min(count - 1, int(uniforms[row] / epsilon * count))]
        actions[row] = best
