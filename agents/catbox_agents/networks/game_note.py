"""What an observation space says about its game, so that a saved model of Stable-Baselines3 says what it plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from catbox_env import Game

if TYPE_CHECKING:
    from gymnasium import spaces

#: The attribute in which an observation space names its game.
NOTE = "catbox"


def note_game(space: spaces.Space[Any], game: Game, features: Mapping[str, int] | None = None) -> None:
    """Note in the observation ``space`` that it is of ``game``, with the sizes of the ``features`` appended to it.

    A model of Stable-Baselines3 that was trained on the space keeps the note in its file.
    """
    vars(space)[NOTE] = {"game": game.id, "options": game.options, "features": dict(features or {})}


def noted_game(space: Any) -> dict[str, Any] | None:
    """What `note_game` wrote into a space: the values of "game", "options" and "features". None if it wrote nothing."""
    note = getattr(space, NOTE, None)
    kinds = {"game": str, "options": dict, "features": dict}
    known = isinstance(note, dict) and all(isinstance(note.get(key), kind) for key, kind in kinds.items())
    return note if known else None
