"""The opponents of a run over time: its earlier policies, the games won against each, and the shares of the games."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping

import numpy as np

from catbox_agents.imports import import_name
from catbox_agents.networks.checkpoint import LOGITS
from catbox_agents.networks.network import Network
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_env.core.checks import short_repr
from catbox_train.algorithm import State
from catbox_train.rollout import check_shares, default_shares
from catbox_train.self_play_config import PAST, SelfPlayConfig

#: What a game counts after the next update, beside those of that update.
DECAY = 0.95

#: ``schedule(update, progress, shares, won) -> shares``: see `League.shares`.
Schedule = Callable[[int, float, dict[str, float], dict[str, float]], Mapping[str, float]]


class League:
    """The earlier policies of a run, one every ``past_every`` updates if they are opponents, and who meets whom.

    An earlier policy draws its actions as the learner does, or plays the one of the highest value if these are the
    ``outputs`` of the network.

    Attributes: ``past``: the latest ``past_policies`` of them by name, ``past:N`` for the one after N updates, the
    oldest first; ``results``: for each opponent, the games that the learner won against it and all of them, where
    those before the last update count `DECAY` as much, and so on.
    """

    def __init__(self, config: SelfPlayConfig, network: Network, game: Game, outputs: str = LOGITS) -> None:
        self.config, self.network, self.game, self.outputs = config, network, game, outputs
        self.past: dict[str, PolicyAgent] = {}
        self.results: dict[str, np.ndarray] = {}
        self._schedule: Schedule | None = None
        if config.opponent_schedule:
            self._schedule = import_name(config.opponent_schedule, "opponent_schedule")
            try:
                inspect.signature(self._schedule).bind(0, 0.0, {}, {})
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"opponent_schedule = {short_repr(config.opponent_schedule)}: expected a function that takes "
                    f"(update, progress, shares, won): {error}"
                ) from None

    def shares(self, update: int, progress: float) -> dict[str, float]:
        """The share of the games of each opponent in an update: as the settings have them, ``past`` divided equally
        among the earlier policies, or what ``opponent_schedule`` makes of these.

        A schedule takes the number of updates done, the share of the run that is done, these shares by name, and the
        share of the games that the learner has won against each opponent that it has met (a tie is half a win). Raises
        ``ValueError`` for shares of unknown opponents, below 0, or more than 1 together.
        """
        shares = default_shares(self.config, [*self.past])
        if self._schedule is None:
            return shares
        won = {name: float(result[0] / result[1]) for name, result in self.results.items() if result[1]}
        scheduled = self._schedule(update, progress, dict(shares), won)
        try:
            check_shares(scheduled, [*shares])
        except ValueError as error:
            raise ValueError(
                f"opponent_schedule = {short_repr(self.config.opponent_schedule)}: {error}"
            ) from None
        return dict(scheduled)

    def add(self, updates_done: int, wins: Mapping[str, np.ndarray]) -> None:
        """Note the games won (`Decisions.wins`, summed over the processes), and keep the network as it is now, if it
        is time to."""
        results = {name: DECAY * self.results.get(name, np.zeros(2)) + pair for name, pair in wins.items()}
        if PAST in self.config.opponents and updates_done % self.config.past_every == 0:
            self._keep(updates_done, self.network)
        self.results = {name: results[name] for name in self._names() if name in results}

    def _keep(self, updates_done: int, network: Network) -> None:
        self.past[f"{PAST}:{updates_done}"] = PolicyAgent(
            network, self.game, greedy=False, outputs=self.outputs
        )
        for oldest in [*self.past][: -self.config.past_policies]:
            del self.past[oldest]

    def state(self) -> State:
        """The arrays of the earlier policies, and the results, a row for each opponent."""
        state = {
            f"{name}.{part}": array
            for name, agent in self.past.items()
            for part, array in agent.network.arrays().items()
        }
        return state | {"results": np.array([self.results.get(name, np.zeros(2)) for name in self._names()])}

    def restore(self, state: State) -> None:
        """Resume from what `state` returned. Raises ``ValueError`` for arrays that do not fit."""
        self.past = {}
        policies: dict[int, dict[str, np.ndarray]] = {}
        for name, array in state.items():
            if name.startswith(f"{PAST}:"):
                policy, _, part = name.partition(".")
                policies.setdefault(int(policy.removeprefix(f"{PAST}:")), {})[part] = array
        twin = copy.deepcopy(self.network) if policies else self.network
        for updates_done, arrays in sorted(policies.items()):
            twin.set_arrays(arrays)
            self._keep(updates_done, twin)
        names, results = self._names(), state["results"]
        if len(results) != len(names):
            raise ValueError(f"results of {len(results)} opponents: there are {len(names)}")
        self.results = dict(zip(names, results.copy(), strict=True))

    def _names(self) -> list[str]:
        """Of the opponents, in the order of the rows of the results."""
        return [*(name for name in self.config.opponents if name != PAST), *self.past]
