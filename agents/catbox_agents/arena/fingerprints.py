"""Texts that change when what plays changes: the rules of a game, or an agent's decisions.

A refactoring changes neither. Both are about the same positions of games between players who play at random, which
follow from the rules alone. A policy is known by its weights and what it reads there, which are the same on every
processor, unlike its outputs.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, RandomAgent, mix, needs_history
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.play import ask_about
from catbox_agents.settings import CONFIGURED, read_settings, specs_within
from catbox_agents.specs import Kind, make, parse_spec, resolve
from catbox_env import Game, Vec, make_game

#: How many games there are, and their moves.
GAMES, MOVES = 96, 48
#: The seed of the games.
SEED = 0x6361_7462_6F78
#: Positions in which an agent that searches is asked.
SEARCHED = 16


@dataclass(frozen=True)
class Positions:
    """``observations`` (n, O) and ``histories`` (n, T, 2) int8, ``masks`` (n, A) bool: n positions of a game with two
    legal actions or more. ``rules``: a hash of all that happened in the games they are of."""

    observations: NDArray[np.int8]
    masks: NDArray[np.bool_]
    histories: NDArray[np.int8]
    rules: str


def positions(game: Game) -> Positions:
    """Those of ``game``, whatever its reward."""
    return _positions(make_game(game.id, **{**game.options, "reward": "score"}))


@lru_cache(maxsize=16)
def _positions(game: Game) -> Positions:
    vec = Vec(game, GAMES, seed=SEED, history=True, auto_deal=False)
    player, digest = RandomAgent(game, 0), hashlib.sha256()
    kept: list[tuple[np.ndarray, ...]] = []
    for move in range(MOVES):
        rows = np.flatnonzero(vec.current_player >= 0)
        if not len(rows):
            break
        observed, masks = vec.observation[rows], vec.action_mask[rows].astype(bool)
        kept.append((observed, masks, vec.history[rows]))
        player.seed_decisions(mix((move * GAMES + rows).astype(np.uint64)))
        vec.step(player.act_batch(observed, masks), rows)
        for array in (observed, masks, vec.rewards[rows].astype(np.float64)):
            digest.update(np.ascontiguousarray(array).tobytes())
    observations, masks, histories = map(np.concatenate, zip(*kept, strict=True))
    choices = masks.sum(axis=1) > 1
    return Positions(observations[choices], masks[choices], histories[choices], digest.hexdigest()[:16])


def rules_fingerprint(game: Game) -> str:
    """A hash of the rules: of what is seen, legal and paid in some games. Their reward does not matter."""
    return positions(game).rules


def agent_fingerprint(spec: str, agent: Agent, game: Game) -> str:
    """A hash of what ``agent``, made by ``spec``, decides; of its settings alone, if that depends on the time or on a
    server.

    An agent that searches is asked in some positions, and the agents in its settings are part of it. A user's own class
    is known by its module, a model of Stable-Baselines3 by its file. Errors as in `catbox_agents.play.ask_about`.
    """
    known = parse_spec(resolve(spec.strip(), game))
    if known.kind is Kind.CLASS and not known.modules[0].startswith("catbox_agents."):
        return _hashed([type(agent).__qualname__.encode(), *_files([type(agent).__module__])])
    if known.kind is Kind.SB3_MODEL:
        return _hashed([Path(known.path).read_bytes()])
    if known.kind is not Kind.CONFIGURED:
        return _hashed([*_decisions(agent, game), *_files(known.modules)])
    parts = [agent_fingerprint(each.text, make(each.text, game, 0), game) for each in known.agents]
    settings = read_settings(known.text)
    name = known.text.partition(":")[0]
    if CONFIGURED[name].asks_server or "budget" in settings:
        others = {
            key: value for key, value in settings.items() if value not in specs_within(known.text).values()
        }
        return _hashed(part.encode() for part in (name, repr(sorted(others.items())), *parts))
    return _hashed([*_decisions(agent, game, SEARCHED), *(part.encode() for part in parts)])


def _decisions(agent: Agent, game: Game, most: int | None = None) -> Iterable[bytes]:
    """What the agent decides in ``most`` of the positions, spread evenly, by default in all."""
    every = positions(game)
    step = 1 if most is None else max(1, len(every.masks) // most)
    observations, masks = every.observations[::step], every.masks[::step]
    if isinstance(agent, PolicyAgent):
        yield from _policy(agent, observations, masks)
        return
    if hasattr(agent, "seed_decisions"):
        agent.seed_decisions(mix(np.arange(len(masks), dtype=np.uint64)))
    histories = every.histories[::step] if needs_history(agent) else None
    yield ask_about(agent, "the agent", observations, masks, histories).tobytes()


def _files(modules: Iterable[str]) -> Iterable[bytes]:
    """The files of these modules, those that were imported from one."""
    paths = [getattr(sys.modules.get(module), "__file__", None) for module in modules]
    return [Path(path).read_bytes() for path in paths if path]


def _policy(agent: PolicyAgent, observations: NDArray[np.int8], masks: NDArray[np.bool_]) -> Iterable[bytes]:
    """The weights of a policy, and what it reads in these positions."""
    if agent.adapted is not None:
        observations, masks = agent.adapted.observations(observations), agent.adapted.masks(masks)
    inputs = agent.inputs
    vectors = np.zeros((len(masks), inputs.size), np.int8)
    action_features = np.zeros((*masks.shape, inputs.action_size), np.int8)
    inputs.fill(observations, masks, vectors, action_features)
    arrays: dict[str, Any] = agent.network.arrays()
    for name, array in sorted(arrays.items()):
        yield name.encode()
        yield np.ascontiguousarray(array).tobytes()
    for read in (vectors, action_features, masks):
        yield np.ascontiguousarray(read).tobytes()
    yield repr((agent.greedy, agent.network.describe().get("activation"))).encode()


def _hashed(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()[:16]
