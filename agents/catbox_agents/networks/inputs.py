"""The inputs of a network: the observation, and features that are computed from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import catbox_agents.features
from catbox_agents.networks.history import HistorySizes
from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_env import Game, Layout


def input_scale(layout: Layout) -> NDArray[np.float32]:
    """Factors (O,) float32 that scale the counts in a vector of ``layout`` to about the size of its one-hot parts.

    Each is the power of two nearest to 1/sqrt(largest magnitude): 1 for one-hot parts, 1/2 for a hand count of up to 5.
    Multiplying small integers by a power of two is exact, even in bfloat16.
    """
    largest = np.maximum(np.maximum(np.abs(layout.low.astype(int)), np.abs(layout.high.astype(int))), 1)
    return np.exp2(-np.round(np.log2(largest) / 2)).astype(np.float32)


class NetworkInputs:
    """The inputs of a policy for ``game``.

    ``features`` appends the features of the position to the observation; ``action_features`` passes those of each
    action to the action head. A game without features has neither. ``history``: the policy also takes the seat's
    history.

    Attributes: ``size``, the number of inputs I; ``action_size``, the features K of an action, or 0;
    ``max_game_length``, the rows T of a history, or 0; ``history_sizes``, those of the history encoder, or None.
    """

    def __init__(
        self, game: Game, features: bool = False, action_features: bool = False, history: bool = False
    ) -> None:
        self.game = game
        self.max_game_length = game.max_game_length if history else 0
        self.history_sizes = (
            HistorySizes(game.num_players, game.num_actions, self.max_game_length)
            if self.max_game_length
            else None
        )
        self._features = given = catbox_agents.features.of(game)
        self.layout = given.layout if given and features else None
        self.action_layout = given.action_layout if given and action_features else None
        self.size = game.observation_layout.size + (self.layout.size if self.layout else 0)
        self.action_size = self.action_layout.size if self.action_layout else 0

    @classmethod
    def of(cls, network: PolicyNetwork, game: Game) -> NetworkInputs:
        """Those that ``network`` takes in ``game``. Raises ``ValueError`` if the game does not provide them."""
        inputs = cls(game, bool(network.features), bool(network.action_features), bool(network.history))
        for name, wanted, layout in (
            ("features", network.features, inputs.layout),
            ("action features", network.action_features, inputs.action_layout),
        ):
            if wanted != part_sizes(layout):
                raise ValueError(
                    f"its network takes the {name} {wanted}, but {game.id} has {part_sizes(layout)}: it was trained "
                    "with another version"
                )
        if network.history:
            taken = network.history.num_players, network.history.num_actions
            if taken != (game.num_players, game.num_actions):
                raise ValueError(
                    f"its network takes histories of {taken[0]} players and {taken[1]} actions, but {game.id} has "
                    f"{game.num_players} and {game.num_actions}: it was trained with another version"
                )
        return inputs

    def bounds(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """The lowest and the highest value of each input, (I,) each."""
        layouts = [self.game.observation_layout, *([self.layout] if self.layout else [])]
        return np.concatenate([part.low for part in layouts]), np.concatenate([part.high for part in layouts])

    def fill(
        self,
        observations: NDArray[np.int8],
        masks: NDArray[np.bool_],
        out: NDArray[np.int8],
        action_out: NDArray[np.int8],
    ) -> None:
        """Write the inputs of ``observations`` (n, O) and ``masks`` (n, A) to ``out`` (n, I) and ``action_out``
        (n, A, K)."""
        seen = self.game.observation_layout.size
        out[:, :seen] = observations
        if self._features is None or not (self.layout or self.action_layout):
            return
        features, _ = self._features.compute(
            observations, masks, action_out=action_out if self.action_layout else None
        )
        if self.layout:
            out[:, seen:] = features

    def compute(
        self, observations: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """New arrays (n, I) and (n, A, K), as `fill` writes them."""
        out = np.empty((len(observations), self.size), np.int8)
        action_out = np.empty((*masks.shape, self.action_size), np.int8)
        self.fill(observations, masks, out, action_out)
        return out, action_out

    def scale(self) -> NDArray[np.float32]:
        """Factors (I,) of the inputs; see ``input_scale``."""
        layouts = [self.game.observation_layout, *([self.layout] if self.layout else [])]
        return np.concatenate([input_scale(layout) for layout in layouts])


def part_sizes(layout: Layout | None) -> dict[str, int]:
    """The size of each part of a layout, empty for None."""
    return {part.name: int(np.prod(part.shape)) for part in layout.values()} if layout else {}
