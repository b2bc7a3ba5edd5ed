"""Plays rules that are part of others: an agent for four bids plays with three, one for single rounds plays a match."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import differing_options
from catbox_agents.features import facts
from catbox_env import Game


class Adaptation:
    """How an agent for the rules of ``original`` plays ``game``; `adaptation` makes one.

    Every action of ``game`` is one of ``original``, by its name. Parts of an observation that only ``original`` has,
    such as a bid that ``game`` lacks, are 0; parts that only ``game`` has, such as the scores of a match, are left out.
    """

    def __init__(self, original: Game, game: Game) -> None:
        self.original, self.game = original, game
        axis_labels = facts(game).axis_labels
        ids = {original.action_to_string(action): action for action in range(original.num_actions)}
        #: The action of ``original`` that each action of ``game`` is, (A,).
        self.actions = np.array([ids[game.action_to_string(action)] for action in range(game.num_actions)])
        sources = np.full(original.observation_layout.size, -1)
        for name, part in original.observation_layout.items():
            if name in game.observation_layout:
                there = game.observation_layout[name]
                places = np.ix_(
                    *(
                        [list(labels).index(label) for label in wanted]
                        for labels, wanted in zip(
                            axis_labels(original, name), axis_labels(game, name), strict=True
                        )
                    )
                )
                sources[part.slice].reshape(part.shape)[places] = np.arange(
                    there.offset, there.offset + there.size
                ).reshape(there.shape)
        self._sources = sources

    def observations(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Observations (n, O) of ``game`` as ``original`` has them."""
        return np.where(self._sources >= 0, observations[:, self._sources], 0).astype(np.int8)

    def masks(self, masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Action masks (n, A) of ``game`` as ``original`` has them."""
        adapted = np.zeros((len(masks), self.original.num_actions), np.bool_)
        adapted[:, self.actions] = masks
        return adapted


def adaptation(original: Game, game: Game) -> Adaptation | None:
    """How an agent for the rules of ``original`` plays ``game``; None if it cannot.

    The options that differ must be among the ``transferable_options`` and ``adaptable_options`` of `facts`, and the
    actions and observations of ``game`` among those of ``original``. What ``original`` lacks, such as instant wins, its
    agent has not learned. Some bids and none are too different, and so are some revealed cards and none.
    """
    if original.id != game.id:
        return None
    differing, known = set(differing_options(original, game)), facts(game)
    if not differing <= {*known.transferable_options, *known.adaptable_options}:
        return None
    for name in differing & {*known.adaptable_options}:
        theirs, wanted = original.options[name], game.options[name]
        if not theirs or not (wanted or isinstance(wanted, bool)):
            return None
    try:
        return Adaptation(original, game)
    except (KeyError, ValueError):  # an action, or a label of a part, that `original` does not have
        return None
