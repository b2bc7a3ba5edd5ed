"""Checks whether an object is an agent and may play a game: an agent plays only the rules it was made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from catbox_agents.agent import Agent
from catbox_env import Game


def check_agent(agent: object, name: str, game: Game | None = None) -> Agent:
    """``agent`` itself. Raises ValueError if it lacks a member of :class:`Agent` or, with ``game`` given, was made for
    another game or for rules that play differently (`differing_rules`)."""
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
        if differing := differing_rules(own, game):
            raise ValueError(
                f"{name} was made for {own.id} with {describe_options(own.options, differing)}, asked to play "
                f"with {describe_options(game.options, differing)}: make it for these rules"
            )
    return cast(Agent, agent)


def differing_rules(own: Game, game: Game) -> list[str]:
    """The options that keep an agent made for ``own`` from playing ``game``, of the same id; none: it may play.

    The reward and the game's ``lenient_options`` may differ, if both observations have the same parts; they are named
    only where nothing else differs. Values that the game calls ``synonyms`` are the same.
    """

    def parts(of: Game) -> list[tuple[str, tuple[int, ...]]]:
        return [(part.name, part.shape) for part in of.observation_layout.values()]

    one, other = own.options, game.options
    names = sorted({**one, **other})
    differing = [name for name in names if not same_option(type(own), name, one.get(name), other.get(name))]
    strict = [name for name in differing if name not in ("reward", *own.lenient_options)]
    return strict if strict or parts(own) == parts(game) else differing


def same_option(game_class: type[Game], name: str, one: Any, other: Any) -> bool:
    """Whether two values of the option ``name`` stand for the same rules."""
    synonyms = game_class.synonyms.get(name, ())
    return bool(one == other or (one in synonyms and other in synonyms))


def describe_options(options: Mapping[str, Any], names: Sequence[str]) -> str:
    """The options ``names`` as text, such as ``"num_players=4, reward='score'"``."""
    return ", ".join(f"{name}={options.get(name)!r}" for name in names)
