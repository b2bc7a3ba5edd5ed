"""A worker of PPO: the games, the critic's values of the decisions in them, and the advantages.

The buffer has the rows that ``gae`` describes: P carried rows in front, then one row for each step, each over all
of the worker's games.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from catbox_env import Game
from catbox_train.algorithms.ppo.gae import compute_advantages
from catbox_train.algorithms.ppo.networks import ActorCriticNetworks
from catbox_train.algorithms.ppo.options import ppo_options
from catbox_train.config import TrainConfig
from catbox_train.self_play import worker as self_play
from catbox_train.self_play.distribution import sample_actions
from catbox_train.self_play.weights import SharedWeights
from catbox_train.self_play.worker import check_carried, check_decisions

if TYPE_CHECKING:
    from catbox_train.algorithms.ppo.on_device import OnDevice

#: Rows that the critic looks at in one call: as many as the nearer caches hold.
EVALUATED_AT_ONCE = 2048


class Worker(self_play.Worker):
    """One worker's share of the games.

    Arrays over rows and games beside those of all workers: ``states`` (R, N, S) int8 (the observations when the critic
    is not privileged), ``log_probabilities`` and ``values`` (R, N) float32 under the policy that played, ``advantages``
    and ``returns`` (R, N) float32.
    """

    networks: ActorCriticNetworks
    #: The worker's own device and the thread that plays for it, where each worker has one (`devices`).
    on_device: OnDevice | None = None
    threads: ThreadPoolExecutor

    def __init__(
        self,
        game: Game,
        config: TrainConfig,
        weights: SharedWeights,
        seed: np.random.SeedSequence,
        number: int = 0,
    ) -> None:
        self.options = ppo_options(config)
        privileged = self.options.privileged_critic
        networks = ActorCriticNetworks(weights, privileged, number)
        super().__init__(game, config, networks, seed, carried=game.num_players, state=privileged)
        # What a carried decision consists of; the rest of its row follows from these.
        self.decision = [
            "observations",
            "action_features",
            "masks",
            "seats",
            "actions",
            "log_probabilities",
            "values",
        ]
        if self.network_inputs.history_length:
            self.decision.append("histories")
        self.states = self.observations
        if privileged:
            self.decision.append("states")
            self.states = np.zeros((*self.shape, game.state_layout.size), np.int8)
        self.log_probabilities = np.zeros(self.shape, np.float32)
        self.values = np.zeros(self.shape, np.float32)
        self.advantages = np.zeros(self.shape, np.float32)
        self.returns = np.zeros(self.shape, np.float32)
        self.open_rows = np.full((game.num_players, self.shape[1]), -1, np.int64)
        self.open_rewards = np.zeros((game.num_players, self.shape[1]), np.float32)
        self.flatten("states", "log_probabilities", "values", "advantages", "returns")

    def collect(self) -> None:
        """Play ``num_steps`` steps of every game with the current policy, and estimate the advantages."""
        self.carry_open_decisions()
        self.play()
        self.evaluate()
        self.estimate()

    def look(self, row: int) -> None:
        """Fill ``row`` with what the seats to move see, and the critic."""
        super().look(row)
        if self.options.privileged_critic:
            self.states[row] = self.vec.state

    def choose(self, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        """Draw ``actions`` of ``row`` from the policy."""
        sample_actions(outputs, self.masks[row], uniforms, self.actions[row], self.log_probabilities[row])

    def estimate(self) -> None:
        """Fill ``advantages``, ``returns`` and ``ready``, once all rows are played and have their values."""
        compute_advantages(
            self.seats,
            self.learns,
            self.values,
            self.rewards,
            self.terminated,
            self.options.gamma,
            self.options.gae_lambda,
            self.advantages,
            self.open_rows,
            self.open_rewards,
        )
        np.add(self.advantages, self.values, out=self.returns)
        ready = (self.seats >= 0) & self.learns
        players, games = np.nonzero(self.open_rows >= 0)
        ready[self.open_rows[players, games], games] = False
        self.ready = np.flatnonzero(ready)

    def carry_open_decisions(self) -> None:
        """Move the decisions that the last window left open into the carried rows in front."""
        players, games = np.nonzero(self.open_rows >= 0)
        rows = self.open_rows[players, games]
        # Seat p's decision goes to row p, where only seat p's can be: no row is overwritten before it is read.
        carried = {name: getattr(self, name)[rows, games] for name in self.decision}
        self.seats[: self.num_players] = -1
        self.learns[: self.num_players] = True
        self.rewards[: self.num_players] = 0.0
        for name, values in carried.items():
            getattr(self, name)[players, games] = values
        self.rewards[players, games, players] = self.open_rewards[players, games]

    @torch.no_grad()
    def evaluate(self) -> None:
        """Fill ``values`` of the rows after the carried ones: nothing needs them before all are played."""
        networks, vectors = self.networks, self.flat["states"]
        rows = self.played_rows()
        for start in range(0, len(rows), EVALUATED_AT_ONCE):
            part = rows[start : start + EVALUATED_AT_ONCE]
            states = networks.states.take(vectors, part, self.flat["histories"])
            values = networks.critic.outputs(networks.critic.activations(states))
            self.flat["values"][part[0] : part[-1] + 1] = values.numpy()[:, 0]

    def inputs(self, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """What actor and critic take for flat rows (n,) int64. It holds until the next call."""
        networks, histories = self.networks, self.flat["histories"]
        observations = states = networks.observations.take(self.flat["observations"], rows, histories)
        if networks.states is not networks.observations:
            states = networks.states.take(self.flat["states"], rows, histories)
        return observations, states

    @torch.no_grad()
    def outputs(self, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """The actor's outputs (n, A + K) and values (n, 1), float32, of the networks as they are now, for flat rows
        (n,) int64; the first A outputs are the logits of the legal actions."""
        observations, states = self.inputs(rows)
        actor, critic = self.networks.actor, self.networks.critic
        outputs, values = (
            actor.outputs(actor.activations(observations)),
            critic.outputs(critic.activations(states)),
        )
        self.make_logits(outputs, rows)
        return outputs, values

    def save(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything that the worker's future depends on besides the weights: arrays, and JSON values."""
        self.carry_open_decisions()
        self._mark_carried_as_open()
        arrays, values = super().save()
        front = slice(0, self.num_players)
        arrays |= {f"carried.{name}": getattr(self, name)[front].copy() for name in self.decision}
        arrays["carried.rewards"] = self.open_rewards.copy()
        return arrays, values

    def load(self, arrays: dict[str, np.ndarray], values: dict[str, Any], num_past: int = 0) -> None:
        """Go on from what ``save`` returned; see `self_play.worker.Worker.load`."""
        self._check_carried(arrays)
        super().load(arrays, values, num_past)
        for name in self.decision:
            getattr(self, name)[: self.num_players] = arrays[f"carried.{name}"]
        self._mark_carried_as_open()
        self.open_rewards[:] = arrays["carried.rewards"]

    def carried_seats(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """(N, P) bool: the seats with an open decision."""
        seats: np.ndarray = arrays["carried.seats"].T >= 0
        return seats

    def _check_carried(self, arrays: dict[str, np.ndarray]) -> None:
        """Raise ``ValueError`` for a carried row that is no decision of its seat."""
        seats = arrays["carried.seats"]
        held = seats >= 0
        check_decisions(
            self,
            arrays["carried.observations"],
            arrays["carried.masks"],
            seats,
            arrays["carried.actions"],
            arrays.get("carried.histories"),
        )
        facts = {
            "seats": ((seats == -1) | (seats == np.arange(self.num_players)[:, None])).all(),
            "log_probabilities": (arrays["carried.log_probabilities"] <= 0).all(),
            "rewards": (arrays["carried.rewards"][~held] == 0).all(),
        }
        if self.options.privileged_critic:
            low, high = self.vec.game.state_layout.bounds()
            states = arrays["carried.states"][held]
            facts["states"] = ((states >= low) & (states <= high)).all()
        check_carried(facts)

    def _mark_carried_as_open(self) -> None:
        """The carried rows are where the open decisions are (again): carrying them once more changes nothing."""
        players = np.arange(self.num_players)[:, None]
        self.open_rows[:] = np.where(self.seats[: self.num_players] >= 0, players, -1)


def check_enough_to_learn(config: TrainConfig, ready: list[int], update: int) -> None:
    """Raise ``ValueError`` where a minibatch would be empty: each worker shares its rows, of which ``ready`` has the
    numbers, out over all of them."""
    num_minibatches, steps = config.batch_size // ppo_options(config).minibatch_size, config.num_steps
    if max(ready) >= num_minibatches:
        return
    raise ValueError(
        f"only {sum(ready)} of the {config.batch_size} decisions of update {update} can be learned from, too few for "
        f"{num_minibatches} minibatches: a decision counts once its seat decides again or the game ends, and a "
        f"batch has {steps} step{'s' * (steps > 1)} of each game. Make batch_size larger, or num_envs smaller"
    )
