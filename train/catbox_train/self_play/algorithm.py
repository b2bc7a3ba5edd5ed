"""What every self-play algorithm consists of: networks, optimizer, workers with their games, and opponents.

One network, the actor, plays every seat, unless there are opponents. Workers, one thread each, step games and write
what is seen and done into the buffer; then this thread learns from it, with torch on as many cores. All is plain torch,
the same on a CPU and a GPU. A run depends on its configuration and the kind of its machine, never on timing: a resumed
run ends with the same weights, bit for bit, as one that was never stopped.

Several processes learn together as a `Group`: each has its own share of the games and of the buffer, and a copy of the
networks; averaging the gradients keeps the copies equal.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

import numpy as np
import torch
from torch import nn
from torch.nn.utils import vector_to_parameters

from catbox_agents.networks.action_head import add_action_scores
from catbox_agents.networks.history_kernels import valid_histories
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_env.core.kernels import UNUSED
from catbox_train.algorithm import Algorithm, DivergedError, TrainingState
from catbox_train.config import TrainConfig
from catbox_train.devices import Stream, free_memory
from catbox_train.opponents import PAST, Pool
from catbox_train.self_play.buffer import Buffer
from catbox_train.self_play.group import Group
from catbox_train.self_play.networks import flattened, network_inputs, start_from
from catbox_train.self_play.options import PolicyOptions, SelfPlayOptions, self_play_options
from catbox_train.self_play.worker import Worker

_Result = TypeVar("_Result")
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
#: The logit of an illegal action. Its probability is exactly 0, and its logarithm is finite.
ILLEGAL = -1e30
#: The inputs of the actor.
SEEN = ("observations", "histories")
#: The inputs of its logits.
READ = (*SEEN, "action_features", "masks")
#: Rows per network call outside learning: as many as fit the caches of a CPU, or keep a GPU busy.
AT_ONCE = {"cpu": 2048, "cuda": 1 << 15, "mps": 1 << 15}
#: Adam's epsilon.
EPSILON = 1e-5


class SelfPlay(Algorithm):
    """The networks, the optimizer, and the workers with their games.

    Attributes: ``networks``, by name, ``"actor"`` first; ``weights`` (K,) float32, of which all their parameters are
    views, as are their gradients of ``weights.grad``; ``parts``, the name of each network and its slice of the
    weights; ``optimizer``; ``buffer``; ``workers``; ``pool``, the earlier policies; ``updates_done``.

    Args:
        group: the processes that learn together.
    """

    Options = SelfPlayOptions

    def __init__(self, config: TrainConfig, game: Game, group: Group | None = None) -> None:
        super().__init__(config, game)
        self.group = group or Group()
        self.options: SelfPlayOptions = self_play_options(config)
        self.device = torch.device(config.device)
        self.at_once = AT_ONCE[self.device.type]
        self.precision = PRECISIONS[self.options.precision]
        self.inputs = network_inputs(game, self.options)
        num_workers = config.num_workers // self.group.size
        self._threads_before = torch.get_num_threads()
        torch.set_num_threads(num_workers)  # before the initial weights: their rounding depends on it too
        self.networks = nn.ModuleDict(self.make_networks(config, game))
        self.actor = cast(MLP, self.networks["actor"])
        self.initialise_networks()
        self.networks.to(self.device)
        scale = self.actor.action_scale
        self.action_scale = None if scale is None else scale.cpu().numpy()
        self.weights, self.parts = flattened(self.networks)
        self.group.average(self.weights.data)  # machines may round the initial weights differently
        # MPS has no fused Adam in every release.
        self.optimizer = torch.optim.Adam([self.weights], eps=EPSILON, fused=self.device.type != "mps")
        self.optimizer.state[self.weights] = {
            "step": torch.zeros((), device=self.device if self.device.type == "cuda" else None),
            "exp_avg": torch.zeros_like(self.weights),
            "exp_avg_sq": torch.zeros_like(self.weights),
        }
        num_games = config.num_envs // self.group.size
        self.check_device_memory()
        self.buffer = Buffer(
            game,
            self.inputs,
            carried=self.carried_rows(config, game),
            steps=config.num_steps,
            num_games=num_games,
            device=self.device,
            state=self.needs_state(config),
        )
        width = num_games // num_workers
        self.workers = [
            Worker(
                game,
                config,
                self.options,
                self.inputs,
                self.buffer,
                self.group.rank * num_workers + k,
                slice(k * width, (k + 1) * width),
            )
            for k in range(num_workers)
        ]
        self._threads = ThreadPoolExecutor(num_workers)
        self.pool = Pool(
            self.options, np.zeros((self.options.pool_size(), self.parts["actor"].stop), np.float32)
        )
        self.updates_done = 0

    # What an algorithm provides.

    @classmethod
    def make_networks(cls, config: TrainConfig, game: Game) -> dict[str, MLP]:
        """All networks to train, ``"actor"`` first, with their weights not yet set."""
        options = self_play_options(config)
        return {"actor": MLP.for_policy(network_inputs(game, options), options.hidden, options.activation)}

    def initialise_networks(self) -> None:
        """Draw the initial weights, or take those of ``start_from`` if given."""
        generator = torch.Generator().manual_seed(self.config.seed)
        for name, network in self.networks.items():
            # At first no action is much better than another.
            cast(MLP, network).initialise(generator, last_gain=0.01 if name == "actor" else 1.0)
        if isinstance(self.options, PolicyOptions):
            start_from(self.actor, self.options.start_from, self.game)

    @classmethod
    def check_run(cls, config: TrainConfig, game: Game) -> None:
        """Raise ``ValueError`` for a ``start_from`` that is missing, damaged, of another network or game, or not a
        policy."""
        options = self_play_options(config)
        if isinstance(options, PolicyOptions):
            start_from(cls.make_networks(config, game)["actor"], options.start_from, game)

    @classmethod
    def carried_rows(cls, config: TrainConfig, game: Game) -> int:
        """The most decisions of a game that are carried over from one batch to the next."""
        return 0

    @classmethod
    def needs_state(cls, config: TrainConfig) -> bool:
        """Whether a network sees the whole position."""
        return False

    @classmethod
    def memory_needed(cls, config: TrainConfig, game: Game) -> int:
        """Bytes of the buffer, of the weights with their gradient and moments, and of the earlier policies."""
        options = self_play_options(config)
        inputs = network_inputs(game, options)
        with torch.device("meta"):  # takes no memory
            networks = nn.ModuleDict(cls.make_networks(config, game))
        weights = sum(parameter.numel() for parameter in networks.parameters())
        row = inputs.size + 2 * inputs.max_game_length + game.num_actions * (1 + inputs.action_size)
        row += game.state_layout.size if cls.needs_state(config) else 0
        rows = config.batch_size + cls.carried_rows(config, game) * config.num_envs
        return rows * row + 4 * weights * (5 + options.pool_size())

    @abstractmethod
    def choose(self, worker: Worker, outputs: np.ndarray, row: int, uniforms: np.ndarray) -> None:
        """Fill the ``actions`` of ``row`` of the ``worker``'s games, n of them.

        Takes the actor's ``outputs`` (n, at least A) float32, of which the first A are the logits of the legal actions,
        and random numbers ``uniforms`` (n,) in [0, 1).
        """

    @abstractmethod
    def learn(self, progress: float) -> dict[str, float]:
        """Improve the networks on what the workers have collected; returns the metrics of this update.

        ``progress`` and errors as for ``update``.
        """

    def past_agent(self, network: PolicyNetwork, seed: np.random.SeedSequence) -> PolicyAgent:
        """How an earlier policy plays."""
        return PolicyAgent(network, self.game, seed, greedy=False)

    def check_device_memory(self) -> None:
        """Raise ``ValueError`` unless the run fits into the free memory of its device, if that is known."""
        needed, free = self.memory_needed(self.config, self.game) // self.group.size, free_memory(self.device)
        if free is not None and needed > free:
            config, options = self.config, self.options
            raise ValueError(
                f"not enough memory on {self.device}: {free / 1e9:.2g} GB are free, the run takes more than "
                f"{needed / 1e9:.2g} GB with batch_size = {config.batch_size}, num_envs = {config.num_envs}, hidden = "
                f"{list(options.hidden)}: make one of them smaller, or use another device"
            )

    # Playing.

    def update(self, progress: float) -> dict[str, float]:
        """Play a batch and learn from it.

        Raises ``ValueError`` for a batch with too few decisions to learn from, and if a GPU runs out of memory.
        """
        try:
            self.group.together(lambda: self.collect(progress))
            learned = self.learn(progress)
        except torch.cuda.OutOfMemoryError as error:
            raise ValueError(
                f"{self.device} has run out of memory: make minibatch_size, batch_size or num_envs smaller"
            ) from error
        self.updates_done += 1
        learned |= self.count_games()
        metrics = {f"learning/{name}": value for name, value in learned.items()}
        return metrics | {f"game/{name}": value for name, value in self.game_metrics().items()}

    def collect(self, progress: float) -> None:
        """Let every worker play a batch with the current actor."""
        self.buffer.send(slice(0, self.buffer.carried))
        self.player = self.actor.frozen(self.precision)
        self.in_threads(self.play)

    @torch.no_grad()
    def play(self, worker: Worker) -> None:
        """Fill the rows after the carried ones with what the seats of a worker's games see and do."""
        buffer = self.buffer
        worker.begin_batch(self.updates_done, self.past_agents(worker.number), self.pool.chances())
        uniforms = worker.generator.random((self.config.num_steps, worker.vec.num_envs))
        with Stream(self.device) as stream:
            for step, row in enumerate(range(buffer.carried, buffer.shape[0])):
                worker.observe(row)
                buffer.send(slice(row, row + 1), worker.columns)
                outputs = stream.fetch(
                    self.player(*buffer.row(row, worker.columns, *SEEN), precision=self.precision)
                )
                self.add_scores(
                    outputs, buffer.masks[row, worker.columns], buffer.action_features[row, worker.columns]
                )
                self.choose(worker, outputs, row, uniforms[step])
                worker.act(row)
        worker.end_batch()

    def add_scores(self, outputs: np.ndarray, masks: np.ndarray, action_features: np.ndarray) -> None:
        """Turn the actor's ``outputs`` (n, A + K) into logits, in the columns of the legal actions."""
        if self.action_scale is not None:
            fits = add_action_scores(outputs, masks, action_features, self.action_scale)
            assert fits

    def past_agents(self, number: int) -> list[PolicyAgent]:
        """The earlier policies, as opponents at the tables of worker ``number``."""
        if not (count := self.pool.count):
            return []
        seeds = np.random.SeedSequence([self.config.seed, number, self.updates_done]).spawn(count)
        network, found = copy.deepcopy(self.actor).cpu(), []
        for vector, seed in zip(self.pool.vectors[:count], seeds, strict=True):
            vector_to_parameters(torch.from_numpy(vector), network.parameters())
            found.append(self.past_agent(PolicyNetwork.of(network), seed))
        return found

    def in_threads(self, function: Callable[[Worker], _Result]) -> list[_Result]:
        """``function`` of each worker, in parallel; raises what the first of them raises."""
        torch.set_num_threads(1)  # the workers occupy the cores
        try:
            return list(self._threads.map(function, self.workers))
        finally:
            torch.set_num_threads(len(self.workers))

    # Learning.

    def learning_rate(self, progress: float) -> float:
        """The learning rate of an update."""
        return between(self.options.learning_rate, self.options.learning_rate_end, progress)

    def make_steps(
        self,
        loss: Callable[[torch.Tensor], tuple[torch.Tensor, Mapping[str, torch.Tensor]]],
        ready: np.ndarray,
        num_minibatches: int,
        learning_rate: float,
    ) -> dict[str, float]:
        """Make all gradient steps of an update: each of the rows ``ready`` (n,) is learned from in every epoch.

        ``loss`` takes the rows of a minibatch, (m,) int64 on the device, and returns the loss () to differentiate and
        metrics () by name. Returns the means of these over the steps, the maxima of those named ``largest_...``, and
        the mean gradient norm of each network. Raises ``DivergedError`` if one of them or a weight is not finite, also
        after the last step.
        """
        self.optimizer.param_groups[0]["lr"] = learning_rate
        generator = np.random.default_rng([self.config.seed, self.group.rank, self.updates_done])
        names: list[str] = []
        records = []
        for _ in range(self.options.epochs):
            for rows in np.array_split(generator.permutation(ready), num_minibatches):
                total, metrics = loss(torch.from_numpy(rows).to(self.device))
                names = [*metrics, *(f"{name}_grad_norm" for name in self.parts)]
                records.append(torch.stack([*(m.detach() for m in metrics.values()), *self.step(total)]))
        with torch.no_grad():  # no gradient has seen what the last step did
            _, metrics = loss(torch.from_numpy(rows).to(self.device))
        after = torch.stack([*metrics.values(), *records[-1][len(metrics) :]])
        found = torch.stack([*records, after]).double().cpu().numpy()  # waits for the device
        is_largest = np.array([name.startswith("largest_") for name in names])
        own = np.where(is_largest, found.max(axis=0), found[:-1].mean(axis=0))
        everywhere = np.array(self.group.gather((own, found.sum(axis=0))))
        for name, value in zip(names, everywhere[:, 1].sum(axis=0), strict=True):
            if not math.isfinite(value):
                raise DivergedError(f"{name} is not finite")
        means = np.where(is_largest, everywhere[:, 0].max(axis=0), everywhere[:, 0].mean(axis=0))
        for name, part in self.parts.items():
            if not self.weights[part].isfinite().all():
                raise DivergedError(f"a weight of the {name} is not finite")
        return dict(zip(names, means.tolist(), strict=True))

    def step(self, loss: torch.Tensor) -> list[torch.Tensor]:
        """One step of the optimizer; returns the gradient norm () of each network before clipping."""
        gradient, norms = self.weights.grad, []
        assert gradient is not None
        gradient.zero_()
        loss.backward()
        self.group.average(gradient)
        # Each network separately, so that a large error of the critic does not slow the actor.
        for part in self.parts.values():
            norms.append(gradient[part].norm())
            gradient[part] *= (self.options.max_grad_norm / norms[-1]).clamp(max=1)
        self.optimizer.step()
        return norms

    def num_minibatches(self, num_ready: int) -> int:
        """The number of minibatches of about ``minibatch_size`` rows in all rows that are ready, ``num_ready`` of them
        in this process; 0 if there are too few."""
        ready = self.group.gather(num_ready)
        return min(max(1, sum(ready) // self.options.minibatch_size), min(ready))

    def mean_and_variance(self, values: np.ndarray) -> tuple[float, float]:
        """The mean and variance of ``values`` (n,) over all processes."""
        own = values.astype(np.float64)
        sums = np.array(self.group.gather((len(own), own.sum(), np.square(own).sum())))
        count, total, squares = sums.sum(axis=0).tolist()
        mean = total / max(1, count)
        return mean, max(0.0, squares / max(1, count) - mean**2)

    # Metrics.

    def game_metrics(self) -> dict[str, float]:
        """The game's statistics in self-play, means over the learner's seats and the rounds that ended."""
        sums: dict[str, np.ndarray] = {}
        for worker in self.workers:
            for name, values in worker.statistics.items():
                sums[name] = sums.get(name, 0) + np.array([values.sum(dtype=np.float64), len(values)])
        total = {"rounds": float(sum(self.group.gather(sum(worker.rounds for worker in self.workers))))}
        everywhere = self.group.gather(sums)
        means = {}
        for name in dict.fromkeys(name for found in everywhere for name in found):
            value, count = np.sum([found[name] for found in everywhere if name in found], axis=0)
            means[name] = float(value / count)
        return means | total

    def count_games(self) -> dict[str, float]:
        """The share of games that the learner won against each kind of opponent in this update; also updates the
        pool."""
        if not self.options.opponents_in_training:
            return {}
        own = np.sum([worker.tables.tally for worker in self.workers if worker.tables], axis=0)
        total = np.sum(self.group.gather(own), axis=0)
        specs = self.options.opponent_agents()
        kinds = {**{spec: total[k] for k, spec in enumerate(specs)}, PAST: total[len(specs) :].sum(axis=0)}
        actor = self.weights[self.parts["actor"]].detach().cpu().numpy()
        self.pool.end_update(self.updates_done, [total[len(specs) :]], actor)
        return {f"beats_{name}": float(wins / games) for name, (wins, games) in kinds.items() if games}

    # What is saved.

    def policy(self) -> PolicyNetwork:
        """The actor as it is now."""
        return PolicyNetwork.of(self.actor)

    def carried_arrays(self) -> dict[str, np.ndarray]:
        """The carried rows of the buffer that the next batch begins with: arrays (C, N, ...) by name; in empty rows
        ``seats`` is -1 and all else 0."""
        return {}

    def load_carried(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Resume from what `carried_arrays` returned."""

    def state(self) -> TrainingState:
        """Weights, Adam's moments, earlier policies, and the games and carried rows of each worker."""
        arrays = {"weights": self.weights.detach().cpu().numpy()}
        arrays |= {f"adam.{name}": value.cpu().numpy() for name, value in self.moments().items()}
        pool_arrays, values = self.pool.state()
        arrays |= {f"pool.{name}": array for name, array in pool_arrays.items()}
        carried = self.carried_arrays()
        for worker in self.workers:
            own = self.worker_arrays(worker)
            own |= {f"carried.{name}": array[:, worker.columns] for name, array in carried.items()}
            arrays |= {f"worker{worker.number}.{name}": array for name, array in own.items()}
        return TrainingState(arrays, {"pool": values})

    def restore(self, state: TrainingState, update: int) -> None:
        """Resume from ``state``. Raises ``ValueError`` for a state that cannot be resumed."""
        arrays, pool_values = state.arrays, state.values.get("pool")
        if not isinstance(pool_values, dict):
            raise ValueError(f"pool = {pool_values!r:.40}, expected a mapping")
        if not (arrays["adam.exp_avg_sq"] >= 0).all() or not arrays["adam.step"] >= 0:
            raise ValueError("adam.exp_avg_sq or adam.step holds negative numbers")
        try:
            self.pool.restore(named("pool.", arrays), pool_values, update)
        except ValueError as error:
            raise ValueError(f"pool.{error}") from error
        carried = []
        for worker in self.workers:
            own = named(f"worker{worker.number}.", arrays)
            try:
                self.load_worker(worker, own)
            except ValueError as error:
                raise ValueError(f"worker{worker.number}.{error}") from error
            carried.append(named("carried.", own))
        self.load_carried({name: np.concatenate([c[name] for c in carried], axis=1) for name in carried[0]})
        with torch.no_grad():
            self.weights.copy_(torch.from_numpy(arrays["weights"]))
            for name, moment in self.moments().items():
                moment.copy_(torch.from_numpy(arrays[f"adam.{name}"]))
        self.updates_done = update

    def worker_arrays(self, worker: Worker) -> dict[str, np.ndarray]:
        """What belongs to one worker, besides its columns of the buffer."""
        return worker.save()

    def load_worker(self, worker: Worker, arrays: Mapping[str, np.ndarray]) -> None:
        """Resume from what `worker_arrays` returned. Raises ``ValueError`` for arrays that cannot be resumed."""
        worker.load(arrays, self.pool.count)

    def check_carried(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Raise ``ValueError`` for carried rows that are unsafe for compiled code."""
        game, held = self.game, arrays["seats"] >= 0
        actions, masks = arrays["actions"], arrays["masks"]
        there = (actions >= 0) & (actions < game.num_actions)
        legal = np.take_along_axis(masks, np.where(there, actions, 0)[..., None], axis=2)[..., 0]
        facts = {
            "seats": bool((arrays["seats"] < game.num_players).all()),
            "actions": bool(there.all() and legal[held].all()),
        }
        for name, holds in facts.items():
            if not holds:
                raise ValueError(f"carried.{name} holds values that no decision of this game has")
        if "histories" in arrays:
            self.check_histories(arrays["histories"][held])

    def check_histories(self, histories: np.ndarray) -> None:
        """Raise ``ValueError`` for histories (n, T, 2) int8 that are no valid input of a network."""
        rows, game = np.ascontiguousarray(histories), self.game
        if rows.size and not valid_histories(rows, game.num_players, game.num_actions, UNUSED):
            raise ValueError("histories hold values that no game has")

    def moments(self) -> dict[str, torch.Tensor]:
        """The state of Adam: ``step`` (), ``exp_avg`` (K,) and ``exp_avg_sq`` (K,)."""
        moments: dict[str, torch.Tensor] = self.optimizer.state[self.weights]
        return moments

    def close(self) -> None:
        """Stop the threads of the workers, and give torch as many as before."""
        self._threads.shutdown()
        torch.set_num_threads(self._threads_before)


def named(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those of ``arrays`` whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def between(start: float, end: float, progress: float) -> float:
    """The value at ``progress``, 0 .. 1, on the straight line from ``start`` to ``end``."""
    return start + (end - start) * progress
