"""What a search has found so far: sums over its rollouts, for each action of each observation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Tallies:
    """Sums over rollouts in equally weighted worlds, (n, A). `SearchResult` describes the results."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.visits = np.zeros(shape, np.int64)
        self.num_worlds = np.zeros(shape[0], np.int64)
        self.paid = np.zeros(shape)
        # Of a round: an action's deviations from the mean of its world, and their squares.
        self.beyond, self.squares = np.zeros(shape), np.zeros(shape)
        # Of all rounds: squared deviations from the mean of the round, and their degrees of freedom.
        self.deviations, self.freedom = np.zeros(shape), np.zeros(shape)

    def begin_round(self) -> None:
        self.beyond.fill(0)
        self.squares.fill(0)

    def add(
        self,
        row_of_world: NDArray[np.int64],
        world: NDArray[np.int64],
        action: NDArray[np.int64],
        paid: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Add rollouts k of ``action[k]`` in ``world[k]``, which paid ``paid[k]``. Every world has at least one.

        Returns each rollout's deviation from the mean of its world. ``add.at`` adds one after the other, so that the
        sums do not depend on how the rollouts are cut into pieces.
        """
        at = (row_of_world[world], action)
        beyond: NDArray[np.float64] = paid - (np.bincount(world, paid) / np.bincount(world))[world]
        np.add.at(self.num_worlds, row_of_world, 1)
        np.add.at(self.visits, at, 1)
        np.add.at(self.paid, at, paid)
        np.add.at(self.beyond, at, beyond)
        np.add.at(self.squares, at, np.square(beyond))
        return beyond

    def end_round(self, tried: NDArray[np.bool_], worlds: NDArray[np.int64]) -> None:
        """Every action ``tried`` (n, A) has been tried in ``worlds`` (n,) worlds."""
        count = worlds[:, None].clip(1)
        deviations = (self.squares - np.square(self.beyond) / count).clip(0) * _unshrunk(tried)
        active = tried & (worlds > 0)[:, None]
        self.deviations += np.where(active, deviations, 0.0)
        self.freedom += np.where(active, count - 1, 0)

    def values(self) -> NDArray[np.float64]:
        return _ratio(self.paid, self.visits)

    def errors(self) -> NDArray[np.float64]:
        return np.sqrt(_ratio(_ratio(self.deviations, self.freedom), self.visits))

    def effective_worlds(self) -> NDArray[np.float64]:
        return self.num_worlds.astype(np.float64)


class WeightedTallies(Tallies):
    """Sums over rollouts in worlds with weights: self-normalised importance sampling.

    A value is sum(weight * paid) / sum(weight), and the square of its error is sum(weight^2 * deviation^2) /
    sum(weight)^2, times n / (n - 1) for the effective number n = sum(weight)^2 / sum(weight^2) of the worlds: Owen,
    "Monte Carlo theory, methods and examples" (2013), sections 9.2 and 9.3. Deviations are from the mean of a round; so
    each round has its own n, and rounds with n = 1 are assumed to vary as the others do. Resampling from worlds with an
    effective number E multiplies the square of the error by 1 + n / E.
    Weights are known up to a factor; they are kept relative to the largest of their observation so far. If all weights
    are 0, the worlds count equally.
    """

    def __init__(self, shape: tuple[int, ...], chosen: bool = False) -> None:
        super().__init__(shape)
        self.chosen = chosen  # whether the worlds that are tried were resampled from more
        self.top = np.full(shape[0], -np.inf)  # the log of the unit of an observation's weights
        # Of the sampled worlds, and of those that were tried: sums of weights and of their squares.
        self.drawn, self.tried = np.zeros((2, shape[0])), np.zeros((2, shape[0]))
        self.weights, self.weighted_paid = np.zeros(shape), np.zeros(shape)
        # Of a round, as in the base class: sums of w, w b, w^2, w^2 b and w^2 b^2 for deviations b from world means.
        self.sums = np.zeros((5, *shape))
        # Of all rounds: w^2 b^2 for the deviations b from the mean of the round; what that is for b^2 = 1; and w^2.
        self.weighted_deviations, self.weighted_freedom, self.squared_weights = np.zeros((3, *shape))

    def begin_round(self) -> None:
        super().begin_round()
        self.sums.fill(0)

    def add_drawn(self, row_of_world: NDArray[np.int64], log_weights: NDArray[np.float64]) -> None:
        """Add sampled worlds: their observations and log weights, minus infinity for 0."""
        top = self.top.copy()
        np.maximum.at(top, row_of_world, log_weights)
        factor = np.ones(len(top))
        risen = (top > self.top) & np.isfinite(self.top)
        factor[risen] = np.exp(self.top[risen] - top[risen])
        self.top = top
        self.drawn *= [factor, factor**2]
        self.tried *= [factor, factor**2]
        by_row = factor[:, None]
        self.weights *= by_row
        self.weighted_paid *= by_row
        self.sums[:2] *= by_row
        self.sums[2:] *= by_row**2
        for squares in (self.weighted_deviations, self.weighted_freedom, self.squared_weights):
            squares *= by_row**2
        weights = self._in_unit(row_of_world, log_weights)
        np.add.at(self.drawn[0], row_of_world, weights)
        np.add.at(self.drawn[1], row_of_world, np.square(weights))

    def add_weighted(
        self,
        row_of_world: NDArray[np.int64],
        world: NDArray[np.int64],
        action: NDArray[np.int64],
        paid: NDArray[np.float64],
        log_weights: NDArray[np.float64],
    ) -> None:
        """As ``add``; ``log_weights`` are those of the worlds, none above those added by ``add_drawn``."""
        beyond = self.add(row_of_world, world, action, paid)
        weights = self._in_unit(row_of_world, log_weights)
        np.add.at(self.tried[0], row_of_world, weights)
        np.add.at(self.tried[1], row_of_world, np.square(weights))
        at, weight = (row_of_world[world], action), weights[world]
        np.add.at(self.weights, at, weight)
        np.add.at(self.weighted_paid, at, weight * paid)
        terms = (weight, weight * beyond, weight**2, weight**2 * beyond, weight**2 * beyond**2)
        for total, term in zip(self.sums, terms, strict=True):
            np.add.at(total, at, term)

    def _in_unit(
        self, row_of_world: NDArray[np.int64], log_weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        unit = np.where(np.isfinite(self.top), self.top, 0.0)[row_of_world]
        return np.asarray(np.exp(log_weights - unit))

    def end_round(self, tried: NDArray[np.bool_], worlds: NDArray[np.int64]) -> None:
        super().end_round(tried, worlds)
        weight, beyond, squares, times_beyond, times_square = self.sums
        mean = np.divide(beyond, weight, out=np.zeros_like(beyond), where=weight > 0)
        deviations = times_square - 2 * mean * times_beyond + mean**2 * squares
        number = np.divide(weight**2, squares, out=np.ones_like(weight), where=squares > 0)
        active = tried & (worlds > 0)[:, None]
        several = active & (number > 1 + 1e-9)
        self.weighted_deviations += np.where(several, deviations.clip(0) * _unshrunk(tried), 0.0)
        self.weighted_freedom += np.where(several, squares * (1 - 1 / number), 0.0)
        self.squared_weights += np.where(active, squares, 0.0)

    def values(self) -> NDArray[np.float64]:
        weighted = _ratio(self.weighted_paid, self.weights)
        return np.where(self._weighted()[:, None], weighted, super().values())

    def errors(self) -> NDArray[np.float64]:
        variances = _ratio(self.weighted_deviations, self.weighted_freedom)
        squares = variances * _ratio(self.squared_weights, self.weights**2)
        if self.chosen:
            squares *= (1 + _ratio(self.tried[0] ** 2, self.tried[1]) / self.effective_worlds())[:, None]
        errors = np.sqrt(squares)
        return np.where(self._weighted()[:, None], errors, super().errors())

    def effective_worlds(self) -> NDArray[np.float64]:
        effective = _ratio(self.drawn[0] ** 2, self.drawn[1])
        return np.where(self._weighted(), effective, super().effective_worlds())

    def _weighted(self) -> NDArray[np.bool_]:
        return self.drawn[0] > 0


def _unshrunk(tried: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Correction for the action's own share in the mean of its world: with k actions, 1 / k of the variance is lost."""
    width = tried.sum(axis=1, keepdims=True)
    return np.asarray(width / (width - 1).clip(1))


def _ratio(part: NDArray[np.float64], whole: NDArray[Any]) -> NDArray[np.float64]:
    """``part / whole``, NaN where ``whole`` is 0."""
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
