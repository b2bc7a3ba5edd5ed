"""Checks of the Gymnasium view's options, and the form of its observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import DTypeLike, NDArray

from catbox_agents.networks.game_note import note_game
from catbox_env import Game, make_game
from catbox_env.core.checks import check_choice, is_literal, short_repr, unknown
from catbox_env.registry import game_class

#: The keys of an observation with ``mask_in_observation=True``.
KEYS = ("observation", "action_mask")
_MODES = {mode.name.lower(): mode for mode in AutoresetMode}
#: The options of both environments, and of the vector environment alone.
OPTIONS = (
    "opponents",
    "learner_seat",
    "mask_in_observation",
    "dtype",
    "illegal_action",
    "constant_info",
    "render_mode",
)
VECTOR_OPTIONS = ("num_threads", "autoreset_mode")


class OptionError(ValueError, TypeError):
    """An unknown option, or an unknown ``render_mode``.

    Also a ``TypeError``, because Stable-Baselines3's ``make_vec_env`` and TorchRL's ``GymEnv`` try options of their own
    and continue without them after a ``TypeError``.
    """


class ObservationForm:
    """The form of an observation: its dtype, and whether the action mask is in it."""

    def __init__(self, game: Game, dtype: DTypeLike, mask_in_observation: bool | Mapping[str, str]) -> None:
        self.dtype = _checked_dtype(dtype)
        self.keys = _checked_keys(mask_in_observation)
        low, high = game.observation_layout.low, game.observation_layout.high
        if self.dtype.kind == "u" and low.min() < 0:
            raise ValueError(
                f"dtype={short_repr(dtype)}: the observation has values below 0; give a signed dtype"
            )
        self.space: spaces.Space[Any] = spaces.Box(
            low.astype(self.dtype), high.astype(self.dtype), dtype=self.dtype.type
        )
        note_game(self.space, game)
        if self.keys:
            mask = spaces.Box(0, 1, (game.num_actions,), np.int8)
            self.space = spaces.Dict(dict(zip(self.keys, (self.space, mask), strict=True)))

    def __call__(self, observations: NDArray[np.int8], masks: NDArray[np.int8]) -> Any:
        """The observation, or a batch of them, from the caller's ``observations`` (..., O) and ``masks`` (..., A)."""
        observations = observations.astype(self.dtype, copy=False)
        if not self.keys:
            return observations
        observation, mask = self.keys
        return {observation: observations, mask: masks.copy()}


def make_learner_game(game_id: str, options: Mapping[str, Any], more_options: tuple[str, ...]) -> Game:
    """The game. Raises `OptionError` for an option that the game does not have; the message also lists
    ``more_options``, those of the environment."""
    known = ["reward", "rules", *(field.name for field in fields(game_class(game_id).rules_class))]
    for name in options:
        if name not in known:
            # Some libraries search the message for Python's own words.
            more = f" (got an unexpected keyword argument {name!r})"
            raise OptionError(unknown("option", name, [*more_options, *known], game_id, more))
    return make_game(game_id, **options)


def _checked_dtype(dtype: Any) -> np.dtype[Any]:
    try:
        number_type = np.dtype(dtype) if isinstance(dtype, str | type | np.dtype) else None
    except (TypeError, ValueError, SyntaxError):  # what NumPy raises for texts
        number_type = None
    if number_type is None or number_type.kind not in "iuf":
        raise ValueError(
            f"dtype={short_repr(dtype)}: expected an integer or floating-point dtype of NumPy, such as np.float32"
        )
    return number_type.newbyteorder("=")


def _checked_keys(value: Any) -> tuple[str, str] | None:
    """The keys of the observation and of the mask; None if the mask is not in the observation."""
    if isinstance(value, bool | np.bool_):
        return KEYS if value else None
    if isinstance(value, Mapping) and value and set(value) <= set(KEYS):
        observation, mask = (value.get(key, key) for key in KEYS)
        texts = isinstance(observation, str) and isinstance(mask, str)
        if texts and observation and mask and observation != mask:
            return observation, mask
    raise ValueError(
        f"mask_in_observation={short_repr(value)}: expected True, False, or new names for "
        f"{' and '.join(map(repr, KEYS))}, "
        'such as {"observation": "observations", "action_mask": "action_mask"}'
    )


def checked_render_mode(value: Any, modes: tuple[str, ...]) -> str | None:
    """``value`` itself. Raises `OptionError` unless it is None or one of ``modes``.

    Whether the extra ``render`` is installed is checked when a picture is drawn: Stable-Baselines3's ``make_vec_env``
    sets "rgb_array" without drawing any.
    """
    if value is not None and not any(is_literal(value, mode) for mode in modes):
        raise OptionError(
            f"render_mode={short_repr(value)}: expected None or {' or '.join(map(repr, modes))}"
        )
    return value


def checked_mode(value: Any) -> AutoresetMode:
    """The mode ``value``, by name or as a member. Raises ``ValueError`` for anything else."""
    return (
        value
        if isinstance(value, AutoresetMode)
        else _MODES[check_choice("autoreset_mode", value, [*_MODES])]
    )
