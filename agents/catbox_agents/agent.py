"""What an agent is.

An agent is told the observation and the action mask of the seat to move (and that seat's history where it asks for
it) and nothing else, ever: it holds no state of a game, so one agent may play several seats of many games at once.
"""

from __future__ import annotations

import hashlib
import operator
import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_env.core.checks import as_array
from catbox_env.core.game import Game

Seed = int | np.random.SeedSequence | None


class Agent:
    """Base of the agents here. Your own need not inherit from it, only have these three members.

    Inherit to write one of ``act`` and ``act_batch`` alone: the other then calls it.
    """

    #: True for an agent that wants the ``history`` argument; the others are given None.
    needs_history: bool = False

    def __init__(self, game: Game, seed: Seed = None) -> None:
        self.game = game

    def act(
        self,
        observation: NDArray[np.int8],
        action_mask: NDArray[Any],
        history: NDArray[np.int8] | None = None,
    ) -> int:
        """The id of one legal action. ``observation`` (O,) int8, ``action_mask`` (A,) nonzero where legal,
        ``history`` (T, 2) int8 or None."""
        if type(self).act_batch is Agent.act_batch:
            raise NotImplementedError(
                f"{type(self).__name__} has to define act(observation, action_mask, history=None) or act_batch"
            )
        past = None if history is None else history[None]
        return whole(self.act_batch(observation[None], action_mask[None], past)[0], type(self).__name__)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        """One legal action for each row: (N, O), (N, A) and (N, T, 2) or None in, (N,) integers out."""
        rows = range(len(observations))
        past = [None] * len(observations) if histories is None else histories
        name = type(self).__name__
        actions = [whole(self.act(observations[i], action_masks[i], past[i]), name) for i in rows]
        return np.array(actions, dtype=np.int64)


def whole(action: object, name: str) -> int:
    """``action`` as an int; TypeError, naming the class of the agent, for what is no integer (2.0 is none)."""
    try:
        return operator.index(action)  # type: ignore[arg-type]  # that is what is found out
    except TypeError:
        raise TypeError(f"{name} chose {action!r}: expected an integer, the id of a legal action") from None


def checked_rows(
    game: Game, observations: Any, action_masks: Any
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """What `Agent.act_batch` was given, as contiguous arrays (N, O) int8 and (N, A) bool.

    Raises ValueError for other shapes: compiled code does not look where it reads.
    """
    seen, masks = as_array("observations", observations), as_array("action_masks", action_masks)
    rows = len(masks) if masks.ndim else 0
    if (seen.shape, masks.shape) != (
        (rows, game.observation_layout.size),
        (rows, game.num_actions),
    ) or not {seen.dtype.kind, masks.dtype.kind} <= set("biu"):
        raise ValueError(
            f"observations {seen.dtype} of shape {seen.shape} and action masks {masks.dtype} of shape {masks.shape}: "
            f"expected integers of shape (N, {game.observation_layout.size}) and (N, {game.num_actions})"
        )
    return np.ascontiguousarray(seen, np.int8), np.ascontiguousarray(masks, np.bool_)


def agent_seed(*known: int | bytes) -> int:
    """A seed to hand to an agent: 128 bits, a hash (SHA-256) of what the agent may know; random when nothing is given.

    A seed that follows from the seed of the deals tells the deals: whoever holds it tries the small seeds one after
    the other until one gives the same number. So nothing goes in here but the agent's place in the line-up and, where
    its random numbers have to differ from game to game, the first observation that it is shown itself.
    """
    if not known:
        return secrets.randbits(128)
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in known]
    text = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    return int.from_bytes(hashlib.sha256(b"catbox agent " + text).digest()[:16], "little")


def needs_history(agent: Agent) -> bool:
    """Whether the agent asks for the history. An agent without the attribute does not."""
    return bool(getattr(agent, "needs_history", False))
