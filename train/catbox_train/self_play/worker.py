"""A worker: its own games, its own random numbers, and the decisions that the actor makes in them.

The buffer has some carried rows in front, decisions of earlier batches that are not learned from yet, and then one row
for each step, each over all of the worker's games. Everything a worker does runs without the interpreter lock for
most of its time (compiled loops and torch), so that two workers in two threads use most of two cores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.utils import vector_to_parameters

from catbox_agents.networks.action_head import add_action_scores
from catbox_agents.networks.history_kernels import valid_histories
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game, Vec
from catbox_env.core.kernels import UNUSED
from catbox_train.config import TrainConfig
from catbox_train.generators import checked_generator
from catbox_train.opponents import Tables, history_needed
from catbox_train.self_play.options import SelfPlayOptions, self_play_options
from catbox_train.self_play.weights import Networks, network_inputs

if TYPE_CHECKING:
    from catbox_train.self_play.crew import Meeting


class Worker(ABC):
    """One worker's share of the games.

    Arrays over rows and games, R = carried rows + steps and N games: ``observations`` (R, N, I) int8, the inputs of the
    actor, ``action_features`` (R, N, A, K) int8, ``histories`` (R, N, T, 2) int8 (T is 0 for an actor that takes none),
    ``masks`` (R, N, A) bool, ``seats`` (R, N) int8 (-1: an empty carried row), ``learns`` (R, N) bool, whether the seat
    is the learner's, ``actions`` (R, N) int64, ``rewards`` (R, N, P) float32, ``terminated`` (R, N) bool. ``flat``
    holds the same and those of ``add_arrays`` by name, row by row, every game after the other. ``ready`` (n,) int64
    are the rows that can be learned from, ``statistics`` those of the game for the learner's seats in every round that
    ended, name -> (n,), and ``rounds`` how many these are. ``last_rows`` (n,) int64 are those of the last gradient
    step, ``updates_done`` counts the updates before this one, and ``meeting`` is where the worker waits for the others.

    Args:
        networks: what the worker computes with.
        seed: of its deals, its choices and its opponents.
        carried: the number of rows in front.
        state: whether the games write the state vector.
    """

    def __init__(
        self,
        game: Game,
        config: TrainConfig,
        networks: Networks,
        seed: np.random.SeedSequence,
        carried: int,
        state: bool = False,
    ) -> None:
        self.config, self.networks, self.num_carried = config, networks, carried
        self.meeting: Meeting
        self.updates_done = 0
        options: SelfPlayOptions = self_play_options(config)
        deals, choices, tables = seed.spawn(3)
        self.network_inputs = network_inputs(game, options)
        history_length = self.network_inputs.history_length
        self.vec = Vec(
            game,
            config.num_envs // config.num_workers,
            seed=deals,
            history=history_length > 0 or history_needed(options, game),
            state=state,
        )
        self.generator = np.random.default_rng(choices)
        self.tables: Tables | None = None
        if options.opponents_in_training:
            self.tables = Tables(options, game, self.vec.num_envs, tables)
        self.num_players = game.num_players
        self.shape = carried + config.num_steps, self.vec.num_envs
        self.observations = np.zeros((*self.shape, self.network_inputs.size), np.int8)
        self.action_features = np.zeros(
            (*self.shape, game.num_actions, self.network_inputs.action_size), np.int8
        )
        self.histories = np.zeros((*self.shape, history_length, 2), np.int8)
        self.masks = np.zeros((*self.shape, game.num_actions), np.bool_)
        self.seats = np.full(self.shape, -1, np.int8)
        self.learns = np.ones(self.shape, np.bool_)
        self.actions = np.zeros(self.shape, np.int64)
        self.rewards = np.zeros((*self.shape, game.num_players), np.float32)
        self.terminated = np.zeros(self.shape, np.bool_)
        self.flat: dict[str, np.ndarray] = {}
        self.flatten("observations", "action_features", "histories", "masks", "actions")
        self.ready = self.last_rows = np.zeros(0, np.int64)
        self.statistics: dict[str, np.ndarray] = {}
        self.rounds = 0

    def flatten(self, *names: str) -> None:
        """Put views of the arrays ``names`` into ``flat``."""
        for name in names:
            array = getattr(self, name)
            self.flat[name] = array.reshape(self.shape[0] * self.shape[1], *array.shape[2:])

    def begin_update(self, update: int, through: float, num_past: int, chances: np.ndarray) -> None:
        """Get ready for the ``update``-th update, from 0, ``through`` the share of the run that is done.

        ``num_past`` earlier policies are in the pool, to play with ``chances`` (num_past,).
        """
        self.updates_done = update
        if not self.tables:
            return
        networks = self.networks
        seeds = np.random.SeedSequence([self.config.seed, networks.number, update]).spawn(num_past)
        past = []
        for vector, seed in zip(networks.weights.past, seeds, strict=False):
            network = networks.weights.actor_to_play()
            vector_to_parameters(torch.from_numpy(vector), network.parameters())
            past.append(self.past_agent(network, seed))
        self.tables.begin_update(update, chances, past)

    def past_agent(self, network: MLP, seed: np.random.SeedSequence) -> PolicyAgent:
        """How an earlier policy plays."""
        return PolicyAgent(network, self.vec.game, seed, greedy=False)

    @abstractmethod
    def collect(self) -> None:
        """Play ``num_steps`` steps of every game with the current actor, and say what can be learned from them."""

    @abstractmethod
    def choose(self, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        """Fill ``actions`` of ``row`` from the actor's ``outputs`` (N, at least A) float32 and random numbers
        ``uniforms`` (N,) in [0, 1)."""

    @torch.no_grad()
    def play(self) -> None:
        """Fill the rows after the carried ones with what the seats see and do; and ``statistics``."""
        networks = self.networks
        played = self.played_rows().reshape(-1, self.vec.num_envs)
        uniforms = self.generator.random(played.shape)
        self.begin_batch()
        for step, flat in enumerate(played):
            row = self.num_carried + step
            self.look(row)
            observations = networks.observations.take(self.flat["observations"], flat, self.flat["histories"])
            outputs = networks.actor.outputs(networks.actor.activations(observations))
            self.make_logits(outputs, flat)
            self.choose(outputs.numpy(), row, uniforms[step])
            self.act(row)
        self.end_batch()

    def begin_batch(self) -> None:
        """Forget the rounds that ended in the batch before."""
        self._ended: list[dict[str, np.ndarray]] = []
        self._learner_in_ended: list[np.ndarray] = []

    def look(self, row: int) -> None:
        """Fill ``row`` with what the seats to move see."""
        vec = self.vec
        self.masks[row] = vec.action_mask
        self.network_inputs.fill(
            vec.observation, self.masks[row], self.observations[row], self.action_features[row]
        )
        if self.network_inputs.history_length:
            self.histories[row] = vec.history
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

    def played_rows(self) -> np.ndarray:
        """The flat rows after the carried ones."""
        num_rows, num_games = self.shape
        return np.arange(self.num_carried * num_games, num_rows * num_games)

    def make_logits(self, outputs: torch.Tensor, rows: np.ndarray) -> None:
        """Add the scores of the action head to the first columns of the actor's ``outputs`` for flat ``rows``."""
        flat, scale = self.flat, self.networks.action_scale
        if len(scale):
            add_action_scores(outputs.numpy(), flat["masks"], flat["action_features"], scale, rows)

    def shuffled_minibatches(self, count: int) -> list[np.ndarray]:
        """The rows in ``ready`` in random order, in ``count`` parts of nearly the same size."""
        return np.array_split(self.generator.permutation(self.ready), count)

    def save(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything that the worker's future depends on besides the weights: arrays, and JSON values."""
        arrays = {f"games.{name}": array for name, array in self.vec.save().items()}
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
        names = {"generator", "tables"} if self.tables else {"generator"}
        if not isinstance(values, dict) or values.keys() != names:
            raise ValueError(f"expected the values {', '.join(sorted(names))}, not {values!r:.200}")
        generators = {name: checked_generator(name, values[name]) for name in names}
        if self.tables:
            self.tables.check(
                arrays["tables.line_up"], arrays["tables.paid"], self.carried_seats(arrays), num_past
            )
        prefix = "games."
        self.vec.load({k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)})
        self.generator.bit_generator.state = generators["generator"]
        if self.tables:
            self.tables.restore(arrays["tables.line_up"], arrays["tables.paid"], generators["tables"])

    def carried_seats(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """(N, P) bool: the seats with a decision in the carried rows of what ``save`` returned."""
        return np.zeros((self.vec.num_envs, self.num_players), np.bool_)


def check_decisions(
    worker: Worker,
    observations: np.ndarray,
    masks: np.ndarray,
    seats: np.ndarray,
    actions: np.ndarray,
    histories: np.ndarray | None,
) -> None:
    """Raise ``ValueError`` for carried rows that hold no decision of this game.

    Takes ``observations`` (C, N, I) int8, the actor's inputs or their first columns, ``masks`` (C, N, A) bool,
    ``seats`` (C, N) int8, -1 for an empty row, ``actions`` (C, N) int64, and ``histories`` (C, N, T, 2) int8 where the
    actor takes them.
    """
    game, held = worker.vec.game, seats >= 0
    actions_exist = (actions >= 0) & (actions < game.num_actions)
    legal = np.take_along_axis(masks, np.where(actions_exist, actions, 0)[..., None], axis=2)[..., 0]
    low, high = (bound[: observations.shape[2]] for bound in worker.network_inputs.bounds())
    vectors = observations[held]
    facts: dict[str, Any] = {
        "seats": ((seats >= -1) & (seats < game.num_players)).all(),
        "actions": actions_exist.all() and legal[held].all(),
        "observations": ((vectors >= low) & (vectors <= high)).all(),
    }
    if histories is not None:
        facts["histories"] = histories_of_game(game, histories[held])
    check_carried(facts)


def histories_of_game(game: Game, histories: np.ndarray) -> bool:
    """Whether ``histories`` (n, T, 2) int8 may be those of decisions in ``game``."""
    return bool(valid_histories(np.ascontiguousarray(histories), game.num_players, game.num_actions, UNUSED))


def check_carried(facts: dict[str, Any]) -> None:
    """Raise ``ValueError`` for the first of the carried arrays of which a fact does not hold."""
    for name, holds in facts.items():
        if not holds:
            raise ValueError(f"carried.{name} holds what no decision of this run comes to")


def buffer_bytes(game: Game, config: TrainConfig, carried: int, state: bool = False) -> int:
    """Bytes of the inputs, histories, states and masks of all workers, which are most of a batch.

    Arguments as for `Worker`.
    """
    num_rows = config.batch_size + carried * config.num_envs
    inputs = network_inputs(game, self_play_options(config))
    states = game.state_layout.size if state else 0
    return num_rows * (
        inputs.size + 2 * inputs.history_length + states + game.num_actions * (1 + inputs.action_size)
    )
