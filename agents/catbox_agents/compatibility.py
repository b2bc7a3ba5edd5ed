"""Checks whether an object is an agent and may play a game: an agent plays only the rules it was made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from catbox_agents.agent import Agent
from catbox_env import Game


def check_agent(agent: object, name: str, game: Game | None = None) -> Agent:
    """``agent`` itself. Raises ValueError if it lacks a member of :class:`Agent` or, with ``game`` given, was made for
    another game or for rules that play differently (`plays_alike`)."""
    if isinstance(agent, type):
        raise ValueError(
            f"{name} is the class {agent.__name__}, expected an agent: {agent.__name__}(game, seed)"
        )
    for method in ("act", "act_batch"):
        if not callable(getattr(agent, method, None)):
            raise ValueError(
                f"{name} is not an agent: {type(agent).__name__} has no method {method!r}; expected a subclass of "
                "catbox_agents.Agent that defines act()"
            )
    own = getattr(agent, "game", None)
    if game is not None and isinstance(own, Game):
        if own.id != game.id:
            raise ValueError(
                f"{name} was made for the game {own.id!r}, asked to play {game.id!r}: make it for that game"
            )
        differing = differing_options(own.options, game.options)
        if not plays_alike(own, game, differing):
            raise ValueError(
                f"{name} was made for {own.id} with {describe_options(own.options, differing)}, asked to play "
                f"with {describe_options(game.options, differing)}: make it for these rules"
            )
    return cast(Agent, agent)


def differing_options(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The names of the options in which two games differ."""
    return sorted(name for name in {**one, **other} if one.get(name) != other.get(name))


def describe_options(options: Mapping[str, Any], names: Sequence[str]) -> str:
    """The options ``names`` as text, such as ``"num_players=4, reward='score'"``."""
    return ", ".join(f"{name}={options.get(name)!r}" for name in names)


def plays_alike(one: Game, other: Game, differing: Sequence[str]) -> bool:
    """Whether an agent made for one of two games may also play the other; they differ in the options ``differing``.

    The reward and the game's ``lenient_options`` may differ, if both observations have the same parts.
    """

    def parts(game: Game) -> list[tuple[str, tuple[int, ...]]]:
        return [(part.name, part.shape) for part in game.observation_layout.values()]

    return set(differing) <= {"reward", *one.lenient_options} and parts(one) == parts(other)
