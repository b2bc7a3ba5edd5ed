"""Plays rules that are part of others: an agent for four bids plays with three, one for single rounds plays a match."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import differing_options
from catbox_agents.features import facts
from catbox_env import Game


class Adaptation:
    """How an agent for the rules of ``own`` plays ``game``; `adaptation` makes one.

    Every action of ``game`` is one of ``own``, by its name. Parts of an observation that only ``own`` has, such as a
    bid that ``game`` lacks, are 0; parts that only ``game`` has, such as the scores of a match, are left out.
    """

    def __init__(self, own: Game, game: Game) -> None:
        self.own, self.game = own, game
        axis_labels = facts(game).axis_labels
        ids = {own.action_to_string(action): action for action in range(own.num_actions)}
        #: The action of ``own`` that each action of ``game`` is, (A,).
        self.actions = np.array([ids[game.action_to_string(action)] for action in range(game.num_actions)])
        seen = np.full(own.observation_layout.size, -1)
        for name, part in own.observation_layout.items():
            if name in game.observation_layout:
                there = game.observation_layout[name]
                places = np.ix_(
                    *(
                        [list(labels).index(label) for label in wanted]
                        for labels, wanted in zip(
                            axis_labels(own, name), axis_labels(game, name), strict=True
                        )
                    )
                )
                seen[part.slice].reshape(part.shape)[places] = np.arange(
                    there.offset, there.offset + there.size
                ).reshape(there.shape)
        self._seen = seen

    def observations(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Observations (n, O) of ``game`` as ``own`` has them."""
        return np.where(self._seen >= 0, observations[:, self._seen], 0).astype(np.int8)

    def masks(self, masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Action masks (n, A) of ``game`` as ``own`` has them."""
        adapted = np.zeros((len(masks), self.own.num_actions), np.bool_)
        adapted[:, self.actions] = masks
        return adapted


def adaptation(own: Game, game: Game) -> Adaptation | None:
    """How an agent for the rules of ``own`` plays ``game``; None if it cannot.

    The options that differ must be among the ``transferable_options`` and ``adaptable_options`` of `facts`, and the
    actions and observations of ``game`` among those of ``own``. Bids and no bids are too different.
    """
    if own.id != game.id:
        return None
    differing, known = set(differing_options(own, game)), facts(game)
    if not differing <= {*known.transferable_options, *known.adaptable_options}:
        return None
    if any(
        not own.options[name] or not game.options[name] for name in differing & {*known.adaptable_options}
    ):
        return None
    try:
        return Adaptation(own, game)
    except (KeyError, ValueError):  # an action, or a label of a part, that `own` does not have
        return None
