"""What an agent is, and the check that it plays only the rules it was made for; agents with random numbers.

An agent gets the observation and the action mask of the seat to move, its history if it needs it, and nothing else.
It keeps no state of a game, so one agent may play several seats of many games at once.
"""

from __future__ import annotations

import hashlib
import operator
import secrets
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from catbox_agents.features import facts
from catbox_env import Game
from catbox_env.core.bits import legal_at
from catbox_env.core.checks import as_array
from catbox_env.core.compilation import cached_njit
from catbox_env.core.rng import AGENTS, seed_for
from catbox_env.core.spec import check_game_object

Seed = int | np.random.SeedSequence | None

#: The increment of SplitMix64.
MIX_STEP = 0x9E3779B97F4A7C15


class Agent:
    """Base class of the agents. Your own class need not inherit from it, but must have these three members.

    A subclass may define only one of ``act`` and ``act_batch``: the other then calls it.

    Two more methods are optional:

    - ``seed_decisions(seeds)``: in the next ``act_batch``, the random numbers of row i must depend on ``seeds[i]``
      alone; ``seeds`` is (N,) uint64. Different agents are then compared with the same luck.
    - ``policy_batch(observations, action_masks, histories=None)``: the probability of each action, (N, A) floats, 0
      where illegal, rows that sum to 1; it must not change what ``act_batch`` does. Game records include it, and
      searches weight worlds with it.
    """

    #: Whether the agent gets the ``history`` argument; otherwise that is None.
    needs_history: bool = False
    #: Whether the agent samples its actions, with the probabilities of its ``policy_batch``.
    samples_actions: bool = False

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
                f"{type(self).__name__} must define act(observation, action_mask, history=None) or act_batch"
            )
        past = None if history is None else history[None]
        return as_action(self.act_batch(observation[None], action_mask[None], past)[0], type(self).__name__)

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        """One legal action per row: (N, O), (N, A) and (N, T, 2) or None in, (N,) integers out."""
        rows = range(len(observations))
        past = [None] * len(observations) if histories is None else histories
        name = type(self).__name__
        actions = [as_action(self.act(observations[i], action_masks[i], past[i]), name) for i in rows]
        return np.array(actions, dtype=np.int64)


def as_action(action: object, name: str) -> int:
    """``action`` as an int. Raises TypeError, naming the agent's class, unless it is an integer (2.0 is not)."""
    try:
        return operator.index(action)  # type: ignore[arg-type]  # the type is what this finds out
    except TypeError:
        raise TypeError(f"{name} chose {action!r}: expected an integer, the id of a legal action") from None


def check_rows(
    game: Game, observations: Any, action_masks: Any
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """The arguments of `Agent.act_batch` as contiguous arrays (N, O) int8 and (N, A) bool.

    Raises ValueError for other shapes, because compiled code does not check its indices, and for a row without a legal
    action.
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
    legal = np.ascontiguousarray(masks, np.bool_)
    if not (asked := legal.any(axis=1)).all():
        raise ValueError(
            f"row {int(asked.argmin())} has no legal action: ask only for seats that are to move"
        )
    return np.ascontiguousarray(seen, np.int8), legal


def agent_seed(*known: int | bytes) -> int:
    """A seed for an agent: 128 bits of a SHA-256 hash of ``known``, what the agent may know; random without ``known``.

    A seed computed from the seed of the deals would reveal the deals: the agent could try small seeds until one gives
    the same number. So ``known`` is only the agent's place in the line-up and, where its random numbers must differ
    from game to game, its first observation.
    """
    if not known:
        return secrets.randbits(128)
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in known]
    text = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    return int.from_bytes(hashlib.sha256(b"catbox agent " + text).digest()[:16], "little")


def needs_history(agent: Agent) -> bool:
    """Whether the agent needs the history; False for an agent without the attribute."""
    return bool(getattr(agent, "needs_history", False))


def has_policy(agent: Agent) -> bool:
    """Whether the agent has the method ``policy_batch``."""
    return callable(getattr(agent, "policy_batch", None))


def check_agent(agent: object, name: str, game: Game | None = None) -> Agent:
    """``agent`` itself. Raises ValueError if it lacks a member of `Agent` or, with ``game`` given, was made for
    another game or for rules that play differently (`other_rules`)."""
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
    made_for = getattr(agent, "game", None)
    if game is not None:
        check_game_object(game)
    if game is not None and isinstance(made_for, Game) and (other := other_rules(made_for, game)):
        raise ValueError(f"{name} was made for {other}: make it for these rules")
    return cast(Agent, agent)


def other_rules(made_for: Game, game: Game) -> str:
    """Why an agent made or trained for ``made_for`` cannot play ``game``, or an empty text if it can.

    For example ``"petrify_v0 with size=4, asked to play with size=5"``.

    The reward and the game's ``transferable_options`` (`catbox_agents.features.facts`) may differ if both observations
    have the same parts; they are named only if nothing else differs. Its ``equivalent_values`` count as the same.
    """
    if made_for.id != game.id:
        return f"the game {made_for.id!r}, asked to play {game.id!r}"

    def parts(of: Game) -> list[tuple[str, tuple[int, ...]]]:
        return [(part.name, part.shape) for part in of.observation_layout.values()]

    differing = differing_options(made_for, game)
    strict = [name for name in differing if name not in facts(made_for).transferable_options]
    named = strict if strict or parts(made_for) == parts(game) else differing
    if not named:
        return ""
    theirs, ours = (
        ", ".join(f"{name}={options.get(name)!r}" for name in named)
        for options in (made_for.options, game.options)
    )
    return f"{made_for.id} with {theirs}, asked to play with {ours}"


def other_returns(trained_with: Mapping[str, Any], game: Game) -> str:
    """Why a critic that was trained with the options ``trained_with`` counts other rewards than ``game`` pays, or an
    empty text if it does not: ``"reward=score, this game has reward=margin"``."""
    names = [
        name
        for name in ("reward", "rounds")
        if name in game.options
        and not same_option(type(game), name, trained_with.get(name), game.options[name])
    ]
    theirs, ours = (
        ", ".join(f"{name}={options.get(name)}" for name in names) for options in (trained_with, game.options)
    )
    return f"{theirs}, this game has {ours}" if names else ""


def differing_options(made_for: Game, game: Game) -> list[str]:
    """The options, but the reward, in which two sets of rules of a game differ."""
    one, other = made_for.options, game.options
    return [
        name
        for name in sorted({*one, *other} - {"reward"})
        if not same_option(type(made_for), name, one.get(name), other.get(name))
    ]


def same_option(game_class: type[Game], name: str, one: Any, other: Any) -> bool:
    """Whether two values of the option ``name`` mean the same rules."""
    equivalent_values = facts(game_class).equivalent_values.get(name, ())
    return bool(one == other or (one in equivalent_values and other in equivalent_values))


def mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64: turns consecutive numbers into unrelated words.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), figure 19.
    """
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class SeededAgent(Agent):
    """Base class of agents whose decisions can be seeded one by one."""

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._given: NDArray[np.uint64] | None = None

    def seed_decisions(self, seeds: NDArray[np.uint64]) -> None:
        """Make the random numbers of the next decisions depend on ``seeds`` (N,) alone, one for each row."""
        self._given = seeds

    def given_seeds(self, number: int) -> NDArray[np.uint64] | None:
        """Take the seeds (``number``,) given for these decisions; None if there are none.

        Raises ValueError if there are seeds for another number of decisions.
        """
        given, self._given = self._given, None
        if given is not None and len(given) != number:
            raise ValueError(f"seeds for {len(given)} decisions, but {number} rows to decide")
        return given


class SamplingAgent(SeededAgent):
    """Base class of agents that use one uniform number for each decision: by default, to sample an action from the
    ``policy_batch`` that the subclass defines."""

    samples_actions = True

    def __init__(self, game: Game, seed: Seed = None) -> None:
        super().__init__(game, seed)
        self._generator = np.random.default_rng(seed_for(AGENTS, seed))

    def uniforms(self, number: int) -> NDArray[np.float64]:
        """A number (``number``,) in [0, 1) for each decision: from the given seeds, else from the agent's generator.

        Errors as in `given_seeds`.
        """
        seeds = self.given_seeds(number)
        if seeds is None:
            return self._generator.random(number)
        return (seeds >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        policies = self.policy_batch(observations, action_masks, histories)  # type: ignore[attr-defined]  # see above
        return sample_actions(policies, self.uniforms(len(policies)))


def sample_actions(policies: NDArray[np.floating], points: NDArray[np.float64]) -> NDArray[np.int64]:
    """An action for each row of ``policies`` (n, A): where their cumulative sums pass ``points`` (n,), from 0 to 1."""
    sums = policies.cumsum(axis=1, dtype=np.float64)
    drawn = (sums <= (points * sums[:, -1])[:, None]).sum(axis=1)
    last = policies.shape[1] - 1 - (policies[:, ::-1] > 0).argmax(axis=1)  # if rounding leads past the end
    return np.minimum(drawn, last)


class RandomAgent(SamplingAgent):
    """Picks a legal action uniformly at random."""

    def act_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.int64]:
        _, masks = check_rows(self.game, observations, action_masks)
        actions = np.empty(len(masks), np.int64)
        _sample_rows(masks, self.uniforms(len(masks)), actions)
        return actions

    def policy_batch(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        histories: NDArray[np.int8] | None = None,
    ) -> NDArray[np.float64]:
        """(N, A) float64: equal for all legal actions of a row."""
        _, masks = check_rows(self.game, observations, action_masks)
        return masks / masks.sum(axis=1, keepdims=True)


@cached_njit(nogil=True)
def _sample_rows(masks: NDArray[np.bool_], uniforms: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Fill ``actions`` (N,) by ``masks`` (N, A) and ``uniforms`` (N,) in [0, 1)."""
    for row in range(len(masks)):
        actions[row] = legal_at(masks[row], uniforms[row])
