"""A worker: its own games, its own random numbers, and the decisions its policy makes in them.

The buffer has the rows that ``gae`` describes: P carried rows in front, then one row for each step, each over all
of the worker's games. Everything a worker does runs without the interpreter lock for nearly all of its time
(compiled loops and torch), so that two workers in two threads use two cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from catbox_agents.networks.action_head import add_action_scores
from catbox_env import Game, Vec
from catbox_train.algorithms.ppo.distribution import sample_actions
from catbox_train.algorithms.ppo.gae import compute_advantages
from catbox_train.algorithms.ppo.networks import Networks, SharedWeights, network_inputs
from catbox_train.algorithms.ppo.options import ppo_options
from catbox_train.config import TrainConfig
from catbox_train.generators import checked_generator
from catbox_train.opponents import Tables, history_needed

#: Rows that the critic looks at in one call: as many as the nearer caches hold.
EVALUATED_AT_ONCE = 2048


class Worker:
    """One thread's share of the games.

    Arrays over rows and games, R = P + steps and N games: ``observations`` (R, N, I) int8, the inputs of the policy,
    ``action_features`` (R, N, A, K) int8, ``states`` (R, N, S) int8 (the observations when the critic is not
    privileged), ``masks`` (R, N, A) bool, ``seats`` (R, N) int8 (-1: an
    empty carried row), ``learns`` (R, N) bool, whether the seat is the learner's, ``actions`` (R, N) int64,
    ``log_probabilities`` and ``values`` (R, N) float32 under the policy that played, ``rewards`` (R, N, P) float32,
    ``terminated`` (R, N) bool, ``advantages`` and ``returns`` (R, N) float32. ``ready`` (n,) int64 are the flat rows
    that can be learned from, ``statistics`` those of the game for the learner's seats in every round that ended, name
    -> (n,), and ``rounds`` how many these are.
    """

    def __init__(
        self,
        game: Game,
        config: TrainConfig,
        weights: SharedWeights,
        seed: np.random.SeedSequence,
        number: int = 0,
    ) -> None:
        self.config, self.options = config, ppo_options(config)
        privileged = self.options.privileged_critic
        self.networks = Networks(weights, privileged, number)
        deals, choices, tables = seed.spawn(3)
        self.vec = Vec(
            game,
            config.num_envs // config.num_workers,
            seed=deals,
            history=history_needed(self.options, game),
            state=privileged,
        )
        self.generator = np.random.default_rng(choices)
        self.tables: Tables | None = None
        if self.options.opponents_in_training:
            self.tables = Tables(self.options, game, self.vec.num_envs, tables)
        self.num_players = game.num_players
        num_rows, num_games = game.num_players + config.num_steps, self.vec.num_envs
        shape = (num_rows, num_games)
        self.network_inputs = network_inputs(game, self.options)
        self.observations = np.zeros((*shape, self.network_inputs.size), np.int8)
        self.action_features = np.zeros((*shape, game.num_actions, self.network_inputs.action_size), np.int8)
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
        self.states = self.observations
        if self.options.privileged_critic:
            self.decision.append("states")
            self.states = np.zeros((*shape, game.state_layout.size), np.int8)
        self.masks = np.zeros((*shape, game.num_actions), np.bool_)
        self.seats = np.full(shape, -1, np.int8)
        self.learns = np.ones(shape, np.bool_)
        self.actions = np.zeros(shape, np.int64)
        self.log_probabilities = np.zeros(shape, np.float32)
        self.values = np.zeros(shape, np.float32)
        self.rewards = np.zeros((*shape, game.num_players), np.float32)
        self.terminated = np.zeros(shape, np.bool_)
        self.advantages = np.zeros(shape, np.float32)
        self.returns = np.zeros(shape, np.float32)
        self.open_rows = np.full((game.num_players, num_games), -1, np.int64)
        self.open_rewards = np.zeros((game.num_players, num_games), np.float32)
        # Row by row, every game after the other: views of the arrays above.
        learned_from = [
            "observations",
            "action_features",
            "states",
            "masks",
            "actions",
            "log_probabilities",
            "values",
        ]
        learned_from += ["advantages", "returns"]
        self.flat = {
            name: (array := getattr(self, name)).reshape(num_rows * num_games, *array.shape[2:])
            for name in learned_from
        }
        self.ready = np.zeros(0, np.int64)
        self.statistics: dict[str, np.ndarray] = {}
        self.rounds = 0

    def collect(self) -> None:
        """Play ``num_steps`` steps of every game with the current policy, and estimate the advantages."""
        self.carry_open_decisions()
        self.play()
        self.evaluate()
        self.estimate()

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
    def play(self) -> None:
        """Fill the rows after the carried ones, all but ``values``; and ``statistics``."""
        networks = self.networks
        played = self._played_rows().reshape(-1, self.vec.num_envs)
        uniforms = self.generator.random(played.shape)
        self.begin_batch()
        for step, flat in enumerate(played):
            row = self.num_players + step
            self.look(row)
            observations = networks.observations.take(self.flat["observations"], flat)
            outputs = networks.actor.outputs(networks.actor.activations(observations))
            self.make_logits(outputs, flat)
            sample_actions(
                outputs.numpy(),
                self.masks[row],
                uniforms[step],
                self.actions[row],
                self.log_probabilities[row],
            )
            self.act(row)
        self.end_batch()

    def begin_batch(self) -> None:
        """Forget the rounds that ended in the batch before."""
        self._ended: list[dict[str, np.ndarray]] = []
        self._learner_in_ended: list[np.ndarray] = []

    def look(self, row: int) -> None:
        """Fill ``row`` with what the seats to move see."""
        vec = self.vec
        if self.options.privileged_critic:
            self.states[row] = vec.state
        self.masks[row] = vec.action_mask
        self.network_inputs.fill(
            vec.observation, self.masks[row], self.observations[row], self.action_features[row]
        )
        self.seats[row] = vec.current_player

    def act(self, row: int) -> None:
        """Step all games by ``actions`` of ``row``, or by those of the opponents, and fill the rest of the row."""
        vec, tables, actions = self.vec, self.tables, self.actions[row]
        if tables:
            self.learns[row] = tables.learns(vec.current_player)
            tables.choose(vec, actions)
        vec.step(actions)
        self.rewards[row] = vec.rewards
        self.terminated[row] = vec.terminated
        if (games := np.flatnonzero(vec.round_ended)).size:
            self._ended.append({name: array[games] for name, array in vec.info.items()})
            own = tables.line_up[games] == 0 if tables else np.ones_like(vec.rewards[games], np.bool_)
            self._learner_in_ended.append(own)
        if tables:
            tables.after_step(vec)

    def end_batch(self) -> None:
        """Fill ``statistics`` and ``rounds``."""
        vec, ended = self.vec, self._ended
        self.statistics, self.rounds = {}, 0
        if ended:
            info = {name: np.concatenate([rows[name] for rows in ended]) for name in vec.info}
            learner = np.concatenate(self._learner_in_ended)
            self.rounds = len(learner)
            self.statistics = {name: values[learner] for name, values in vec.game.statistics(info).items()}

    @torch.no_grad()
    def evaluate(self) -> None:
        """Fill ``values`` of the rows after the carried ones: nothing needs them before all are played."""
        networks, vectors = self.networks, self.flat["states"]
        rows = self._played_rows()
        for start in range(0, len(rows), EVALUATED_AT_ONCE):
            part = rows[start : start + EVALUATED_AT_ONCE]
            states = networks.states.take(vectors, part)
            values = networks.critic.outputs(networks.critic.activations(states))
            self.flat["values"][part[0] : part[-1] + 1] = values.numpy()[:, 0]

    def _played_rows(self) -> np.ndarray:
        """The flat rows after the carried ones."""
        num_rows, num_games = self.seats.shape
        return np.arange(self.num_players * num_games, num_rows * num_games)

    def make_logits(self, outputs: torch.Tensor, rows: np.ndarray) -> None:
        """Add the scores of the action head to the first columns of the actor's ``outputs`` for flat ``rows``."""
        flat, scale = self.flat, self.networks.action_scale
        if len(scale):
            add_action_scores(outputs.numpy(), flat["masks"], flat["action_features"], scale, rows)

    def inputs(self, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """What actor and critic take for flat rows (n,) int64. It holds until the next call."""
        networks = self.networks
        observations = states = networks.observations.take(self.flat["observations"], rows)
        if self.options.privileged_critic:
            states = networks.states.take(self.flat["states"], rows)
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

    def shuffled_minibatches(self, count: int) -> list[np.ndarray]:
        """The rows in ``ready`` in random order, in ``count`` parts of nearly the same size."""
        return np.array_split(self.generator.permutation(self.ready), count)

    def save(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything that the worker's future depends on besides the weights: arrays, and JSON values."""
        self.carry_open_decisions()
        self._mark_carried_as_open()
        front = slice(0, self.num_players)
        arrays = {f"carried.{name}": getattr(self, name)[front].copy() for name in self.decision}
        arrays["carried.rewards"] = self.open_rewards.copy()
        arrays.update({f"games.{name}": array for name, array in self.vec.save().items()})
        values = {"generator": self.generator.bit_generator.state}
        if self.tables:
            arrays |= {"tables.line_up": self.tables.line_up, "tables.paid": self.tables.paid}
            values["tables"] = self.tables.generator.bit_generator.state
        return arrays, values

    def load(self, arrays: dict[str, np.ndarray], values: dict[str, Any], num_past: int = 0) -> None:
        """Go on from what ``save`` returned; ``num_past`` earlier policies are in the pool.

        Takes arrays with the names, types and shapes of this worker's own, all finite. Raises ``ValueError`` where they
        or ``values`` hold what no worker of this run comes to.
        """
        self._check_carried(arrays)
        names = {"generator", "tables"} if self.tables else {"generator"}
        if not isinstance(values, dict) or values.keys() != names:
            raise ValueError(f"expected the values {', '.join(sorted(names))}, not {values!r:.200}")
        generators = {name: checked_generator(name, values[name]) for name in names}
        if self.tables:
            carried = arrays["carried.seats"].T >= 0
            self.tables.check(arrays["tables.line_up"], arrays["tables.paid"], carried, num_past)
        prefix = "games."
        self.vec.load({k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)})
        for name in self.decision:
            getattr(self, name)[: self.num_players] = arrays[f"carried.{name}"]
        self._mark_carried_as_open()
        self.open_rewards[:] = arrays["carried.rewards"]
        self.generator.bit_generator.state = generators["generator"]
        if self.tables:
            self.tables.restore(arrays["tables.line_up"], arrays["tables.paid"], generators["tables"])

    def _check_carried(self, arrays: dict[str, np.ndarray]) -> None:
        """Raise ``ValueError`` for a carried row that is no decision of its seat."""
        game, seats, actions = self.vec.game, arrays["carried.seats"], arrays["carried.actions"]
        held = seats >= 0
        actions_exist = (actions >= 0) & (actions < game.num_actions)
        masks = arrays["carried.masks"]
        legal = np.take_along_axis(masks, np.where(actions_exist, actions, 0)[..., None], axis=2)[..., 0]
        ranges = {"observations": self.network_inputs.bounds()}
        if self.options.privileged_critic:
            ranges["states"] = game.state_layout.bounds()
        facts = {
            "seats": ((seats == -1) | (seats == np.arange(self.num_players)[:, None])).all(),
            "actions": actions_exist.all() and legal[held].all(),
            "log_probabilities": (arrays["carried.log_probabilities"] <= 0).all(),
            "rewards": (arrays["carried.rewards"][~held] == 0).all(),
        }
        for name, (low, high) in ranges.items():
            vectors = arrays[f"carried.{name}"][held]
            facts[name] = ((vectors >= low) & (vectors <= high)).all()
        for name, holds in facts.items():
            if not holds:
                raise ValueError(f"carried.{name} holds what no decision of this run comes to")

    def _mark_carried_as_open(self) -> None:
        """The carried rows are where the open decisions are (again): carrying them once more changes nothing."""
        players = np.arange(self.num_players)[:, None]
        self.open_rows[:] = np.where(self.seats[: self.num_players] >= 0, players, -1)


def buffer_bytes(game: Game, config: TrainConfig) -> int:
    """Bytes of the inputs, states and masks of all workers, which are most of a batch."""
    num_rows = config.batch_size + game.num_players * config.num_envs
    states = game.state_layout.size if ppo_options(config).privileged_critic else 0
    inputs = network_inputs(game, ppo_options(config))
    return num_rows * (inputs.size + states + game.num_actions * (1 + inputs.action_size))


def check_enough_to_learn(workers: list[Worker], update: int) -> None:
    """Raise ``ValueError`` where a minibatch would be empty: each worker shares its rows out over all of them."""
    config, options = workers[0].config, workers[0].options
    num_minibatches = config.batch_size // options.minibatch_size
    if max(len(worker.ready) for worker in workers) >= num_minibatches:
        return
    ready, steps = sum(len(worker.ready) for worker in workers), config.num_steps
    raise ValueError(
        f"only {ready} of the {config.batch_size} decisions of update {update} can be learned from, too few for "
        f"{num_minibatches} minibatches: a decision counts once its seat decides again or the game ends, and a "
        f"batch has {steps} step{'s' * (steps > 1)} of each game. Make batch_size larger, or num_envs smaller"
    )
