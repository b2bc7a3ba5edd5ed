"""How far an agent is from an equilibrium, in games small enough to enumerate, computed by OpenSpiel: docs/exact.md.

    exploitability(game, "heuristic").nash_conv

It needs the extra ``spiel``.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Agent, agent_seed, has_policy, needs_history
from catbox_agents.errors import AgentError
from catbox_agents.play import ask_about, policy_of
from catbox_agents.specs import AgentSpec, agent_of, label_of
from catbox_env import Game
from catbox_env.core.checks import check_integer
from catbox_env.core.spec import check_game_object

__all__ = ["Exploitability", "exploitability"]

#: How often an agent without ``policy_batch`` is asked in every information state.
SAMPLES = 16
#: The largest tree that is enumerated by default: about 6 GB.
MAX_HISTORIES = 1_000_000
#: Most information states that an agent is asked about in one call.
ROWS_AT_ONCE = 8192
#: Random games for the estimate of the size of a tree.
DIVES = 200


@dataclass(frozen=True)
class Exploitability:
    """What `exploitability` found. Lists have an entry for each seat; values are in units of the reward.

    Attributes:
        game, options: the game's id and options.
        agent: its spec, or its class.
        policy: where its policy comes from: ``"given"`` by the agent's own ``policy_batch``; ``"deterministic"``, if it
            always gave the same answer; or ``"estimated"``, the frequencies of its answers.
        samples: how often it was asked in every information state.
        deals, histories, information_states: the size of the tree; the histories include deals and ends.
        values: what each seat is paid on average when the agent plays all of them.
        best_response_values: what each seat is paid if it plays a best response and the agent plays the others.
        gains: the difference.
        nash_conv: the sum of the gains, 0 for a Nash equilibrium.
    """

    game: str
    options: dict[str, Any]
    agent: str
    policy: str
    samples: int
    deals: int
    histories: int
    information_states: list[int]
    values: list[float]
    best_response_values: list[float]
    gains: list[float]
    nash_conv: float

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)


def exploitability(
    game: Game, agent: AgentSpec, samples: int = SAMPLES, max_histories: int = MAX_HISTORIES
) -> Exploitability:
    """Exactly how much each seat could gain against an agent that plays all seats, over the whole tree of ``game``.

    Args:
        game: a game of any number of players.
        agent: a spec of `catbox_agents.make`, or an agent. What is solved is what it plays: if it draws its actions
            from its ``policy_batch`` (``samples_actions`` is true), that is its policy. Any other agent, such as a
            policy that takes its most probable action, is asked
            ``samples`` times in every information state, each time in another order and, if it has the method
            ``seed_decisions``, with other random numbers; its policy is the frequencies of its answers. For an agent
            that draws its actions this is an estimate, and so is everything computed from it.
        samples: how often such an agent is asked, at least 1.
        max_histories: the most histories to enumerate, at least 1.

    The agent gets copies of the observation, the action mask and, if it needs it, the history of the seat to move.
    Raises ``ValueError`` for a game with more histories (before the walk by an estimate from random games, Knuth 1975,
    "Estimating the efficiency of backtrack programs"), an agent for another game or other rules, and, naming the agent,
    an invalid policy or an illegal action; `AgentError` for an error in the agent's code.
    """
    from catbox_env.adapters import openspiel  # before pyspiel: it says which extra is missing

    import pyspiel  # isort: skip

    check_game_object(game)
    samples = check_integer("samples", samples, 1)
    limit = check_integer("max_histories", max_histories, 1)
    label = label_of(agent)
    made = agent_of(agent, label, game, agent_seed(0))
    spiel_game = openspiel.load(game)
    seen = _InformationStates(spiel_game, limit)
    rows, source, samples = seen.policy_of(made, label, samples)
    policy = {
        name: [(int(action), float(row[action])) for action in np.flatnonzero(mask)]
        for name, mask, row in zip(seen.names, seen.masks, rows, strict=True)
    }
    tree = pyspiel.convert_to_cached_tree(spiel_game)
    root = tree.new_initial_state()
    own = np.array(pyspiel.expected_returns(root, pyspiel.TabularPolicy(policy), -1, True))
    best = np.array(
        [
            pyspiel.TabularBestResponse(tree, seat, policy).value_from_state(root)
            for seat in range(game.num_players)
        ]
    )
    return Exploitability(
        game=game.id,
        options=game.options,
        agent=label,
        policy=source,
        samples=samples,
        deals=seen.deals,
        histories=seen.histories,
        information_states=np.bincount(seen.seats, minlength=game.num_players).tolist(),
        values=own.tolist(),
        best_response_values=best.tolist(),
        gains=(best - own).tolist(),
        nash_conv=math.fsum(best - own),
    )


class _InformationStates:
    """Every information state of a game, all that the seat to move has seen and done; I of them.

    Attributes:
        names: as OpenSpiel calls them.
        seats, observations, masks, pasts: (I,), (I, O), (I, A) bool, (I, T, 2): the seat to move and what it is given.
        deals, histories: how many there are.
    """

    def __init__(self, game: Any, limit: int) -> None:
        estimate = sum(_estimate(game, np.random.default_rng(dive)) for dive in range(DIVES)) / DIVES
        if estimate > limit:
            raise ValueError(_too_large(game.game, f"it has about {estimate:.2g} histories", limit))
        known: dict[str, tuple[int, Any, Any, Any]] = {}
        self.deals = self.histories = nodes = 0
        ahead = [(game.new_initial_state(), True)]
        while ahead:
            state, dealt = ahead.pop()
            is_chance, nodes = state.is_chance_node(), nodes + 1
            if not is_chance:
                self.histories += 1
                self.deals += dealt
            if self.histories > limit or nodes > 2 * limit:  # the deals of some games begin again and again
                raise ValueError(_too_large(game.game, f"it has more than {limit:,} histories", limit))
            if not is_chance:
                if state.is_terminal():
                    continue
                name = state.information_state_string()
                if name not in known:
                    at = state.game_state
                    seat = at.current_player
                    known[name] = seat, at.observation(seat), at.action_mask(), at.history_observation(seat)
            ahead += [(state.child(action), is_chance) for action in state.legal_actions()]
        self.names = list(known)
        seats, observations, masks, pasts = zip(*known.values(), strict=True)
        self.seats, self.observations = np.array(seats), np.stack(observations)
        self.masks, self.pasts = np.stack(masks).astype(bool), np.stack(pasts)

    def policy_of(self, agent: Agent, label: str, samples: int) -> tuple[NDArray[np.float64], str, int]:
        """The policy of ``agent`` (I, A), where it comes from, and how often the agent was asked."""
        every = np.arange(len(self.names))
        if has_policy(agent) and getattr(agent, "samples_actions", False):
            with_history = needs_history(agent)
            given = [
                policy_of(
                    agent,
                    label,
                    self.observations[some],
                    self.masks[some],
                    self.pasts[some] if with_history else None,
                )
                for some in _pieces(every)
            ]
            return np.concatenate(given), "given", 1
        counts = np.zeros(self.masks.shape)
        generator = np.random.default_rng(0)
        for _ in range(samples):
            for some in _pieces(generator.permutation(every)):
                seeds = generator.integers(2**64, size=len(some), dtype=np.uint64)
                if hasattr(agent, "seed_decisions"):
                    try:
                        agent.seed_decisions(seeds)
                    except Exception as error:
                        raise AgentError(label, error) from error
                asked = self.observations[some], self.masks[some], self.pasts[some]
                counts[some, ask_about(agent, label, *asked)] += 1
        same = bool((counts.max(axis=1) == samples).all())
        return counts / samples, "deterministic" if same else "estimated", samples


def _pieces(rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return np.split(rows, range(ROWS_AT_ONCE, len(rows), ROWS_AT_ONCE))


def _estimate(game: Any, generator: np.random.Generator) -> float:
    """An unbiased estimate of the number of histories, from one random game (Knuth 1975)."""
    state, width, total = game.new_initial_state(), 1.0, 0.0
    while not state.is_terminal():
        total += 0.0 if state.is_chance_node() else width
        legal = state.legal_actions()
        width *= len(legal)
        state.apply_action(int(generator.choice(legal)))
    return total + width


def _too_large(game: Game, size: str, limit: int) -> str:
    such = ", such as Rules.tiny()" if hasattr(game.rules_class, "tiny") else ""
    return (
        f"{game.id} with {game.rules} is too large to be solved exactly: {size}, and the limit is {limit:,} histories; "
        f"use smaller rules{such}, or a larger max_histories"
    )
