"""PPO with its networks on a GPU: what is played, evaluated and learned there, and what travels there and back.

The games stay on the CPU, where each worker steps its own. The workers are in two groups. While the device chooses the
actions of one group, the threads step the games of the other and write what the seats then see:

    threads   | step and look, group 0 | step and look, group 1 | step and look, group 0 | ...
    device    | choose, group 1        | choose, group 0        | choose, group 1        | ...

What the networks take of a decision goes to the device once, as one row of bytes, and stays there until it has been
learned from. Back come the actions and their log-probabilities, and once a batch the values, from which the workers
estimate the advantages. In the loop over the minibatches nothing waits for the device.

Between updates the weights and Adam's moments are those on the CPU, which everything else (checkpoints, opponents, the
policy that is evaluated) takes. The random numbers of the device begin anew in each update, from the seed of the run
and the number of the update: so a checkpoint holds the same on every device. Every device of torch will do, the CPU
too; there, the tests compare this with PPO's own code for the CPU.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch
from torch.nn.utils import parameters_to_vector

from catbox_agents.networks.history import HEADS, OUTPUTS
from catbox_env import Game
from catbox_train.algorithm import DivergedError
from catbox_train.algorithms.ppo.loss import (
    LARGE_LOGIT,
    LARGEST_LOGIT,
    LEARNING_METRICS,
    LOGIT_NOT_FINITE,
    check_found,
)
from catbox_train.algorithms.ppo.networks import ActorCritic, critic_size
from catbox_train.algorithms.ppo.options import ppo_options
from catbox_train.algorithms.ppo.rollout import Worker
from catbox_train.algorithms.ppo.torch_loss import (
    Decisions,
    Learned,
    draw,
    legal_log_probabilities,
    loss,
    outputs,
)
from catbox_train.algorithms.ppo.transfer import Group, RowBytes
from catbox_train.config import TrainConfig
from catbox_train.devices import check_compiler, free_memory
from catbox_train.self_play.adam import BETA_1, BETA_2, EPSILON
from catbox_train.self_play.weights import SharedWeights, actor_size, network_inputs, weight_bytes

#: Rows that the critic looks at in one call.
EVALUATED_AT_ONCE = 1 << 15
#: Groups of workers that take turns with the device.
NUM_GROUPS = 2


class OnDevice:
    """The networks of a run on ``device``, and the batch that they learn from there.

    ``weights`` and ``moments`` (Adam's state) on the CPU are read before and written after learning. ``number``: of the
    one worker here, where others have devices of their own (`devices`); ``average`` then makes a gradient the mean of
    theirs. Raises
    ``ValueError`` where the memory of the device does not suffice, or where ``compile`` is asked for and torch cannot
    compile.
    """

    def __init__(
        self,
        device: torch.device,
        config: TrainConfig,
        weights: SharedWeights,
        moments: dict[str, torch.Tensor],
        workers: Sequence[Worker],
        number: int | None = None,
    ) -> None:
        game = workers[0].vec.game
        check_device_memory(device, config, game)
        self.device, self.config, self.options = device, config, ppo_options(config)
        self.weights, self.moments, self.workers = weights, moments, workers
        self.precision = weights.precision
        self.num_players = game.num_players
        self.row_bytes = RowBytes(game, self.options)

        networks = copy.deepcopy(weights.networks).to(device)
        assert isinstance(networks, ActorCritic)
        self.networks = networks
        self._parameters = list(self.networks.parameters())
        # As on the CPU: one flat vector, of which the weights of the layers are views.
        self.vector = parameters_to_vector(self._parameters).detach().requires_grad_()
        start = 0
        for parameter in self._parameters:
            stop = start + parameter.numel()
            parameter.data = self.vector.detach()[start:stop].view_as(parameter)
            start = stop
        self._fused = device.type != "mps"  # torch 2.4 has no fused Adam there
        self.optimizer = torch.optim.Adam(
            [self.vector], betas=(BETA_1, BETA_2), eps=EPSILON, fused=self._fused
        )

        self.num_rows = game.num_players + config.num_steps
        self.batch = torch.zeros(
            (self.num_rows, config.num_envs, self.row_bytes.size), dtype=torch.int8, device=device
        )
        self.generator = torch.Generator(device)
        self._number = number
        self.average: Callable[[torch.Tensor], None] | None = None
        self._loss = loss
        if self.options.compile:
            check_compiler(device)
            self._loss = torch.compile(loss, dynamic=True)  # minibatches differ in size by a few rows
        self.groups: list[Group] = []
        first = 0
        for members in np.array_split(np.arange(len(workers)), min(NUM_GROUPS, len(workers))):
            group = Group([workers[number] for number in members], first, self.row_bytes.size, device)
            self.groups.append(group)
            first = group.columns.stop

    # Playing.

    @torch.no_grad()
    def collect(self, update: int, threads: ThreadPoolExecutor) -> None:
        """Let the workers play a batch, the ``update``-th from 0, with the current weights, and estimate the
        advantages. ``threads`` has one for each worker."""
        own = [] if self._number is None else [self._number]
        seed = np.random.SeedSequence([self.config.seed, update, *own]).generate_state(1, np.uint64)
        self.generator.manual_seed(int(seed[0]))
        self._take_weights()
        self._play(threads)
        self._evaluate()
        list(threads.map(Worker.estimate, self.workers))

    def _play(self, threads: ThreadPoolExecutor) -> None:
        for group in self.groups:
            group.begin()
            group.start(threads, partial(self._begin_worker, group))
        for row in range(self.num_rows):
            for group in self.groups:
                group.finish()  # what row holds is in group.inputs
                with group.streaming():
                    self._show(group, row)
                group.start(threads, partial(self._advance_worker, group, row))
        for group in self.groups:
            group.finish()
            group.end()

    def _begin_worker(self, group: Group, worker: Worker, rows: slice) -> None:
        worker.begin_batch()
        worker.carry_open_decisions()
        self.row_bytes.pack(worker, 0, group.inputs.numpy()[rows])

    def _show(self, group: Group, row: int) -> None:
        """Send ``row`` to the device; after the carried rows, ask for the actions too."""
        shown = self.batch[row, group.columns]
        shown.copy_(group.inputs, non_blocking=group.is_cuda)
        if row >= self.num_players:
            decisions = self.row_bytes.unpack(shown)
            logits = self.networks.actor.logits(
                decisions.observations, decisions.action_features, self.precision, decisions.histories
            )
            log_probabilities = legal_log_probabilities(logits, decisions.masks)
            actions, chosen = draw(log_probabilities, decisions.masks, self.generator)
            group.actions.copy_(actions, non_blocking=group.is_cuda)
            group.log_probabilities.copy_(chosen, non_blocking=group.is_cuda)
        group.mark()

    def _advance_worker(self, group: Group, row: int, worker: Worker, rows: slice) -> None:
        """Step the games of ``worker`` by the actions for ``row``, and write the next row for the device."""
        group.wait_for_device()
        if row >= self.num_players:
            worker.actions[row] = group.actions.numpy()[rows]
            worker.log_probabilities[row] = group.log_probabilities.numpy()[rows]
            worker.act(row)
        following = row + 1
        if following == self.num_rows:
            worker.end_batch()
            return
        if following >= self.num_players:
            worker.look(following)
        self.row_bytes.pack(worker, following, group.inputs.numpy()[rows])

    def _evaluate(self) -> None:
        """Fill the ``values`` of the workers."""
        played = self.batch[self.num_players :].flatten(0, 1)
        unpacked = map(self.row_bytes.unpack, played.split(EVALUATED_AT_ONCE))
        parts = [self.networks.critic(d.states, self.precision, d.histories)[:, 0] for d in unpacked]
        values = torch.cat(parts).unflatten(0, (-1, self.config.num_envs)).cpu().numpy()
        for worker, part in zip(self.workers, np.split(values, len(self.workers), axis=1), strict=True):
            worker.values[self.num_players :] = part

    # Learning.

    def learn(self, learning_rate: float, entropy_weight: float) -> tuple[np.ndarray, np.ndarray]:
        """Make all gradient steps of an update: the means over them of ``LEARNING_METRICS`` (5,) and of the lengths of
        the actor's and the critic's gradients (2,).

        Raises ``DivergedError`` for a logit or gradient that is not finite and for huge logits.
        """
        options, num_minibatches = self.options, self.config.batch_size // self.options.minibatch_size
        self._take_weights()
        self._take_moments()
        self.optimizer.param_groups[0]["lr"] = learning_rate
        learned, ready = self._learned(), self._ready()
        weight = torch.tensor(entropy_weight, device=self.device)
        records = []
        for _ in range(options.epochs):
            order = torch.randperm(len(ready), generator=self.generator, device=self.device)
            for rows in ready[order].tensor_split(num_minibatches):
                records.append(self._step(rows, learned, weight))
        self._last_rows = rows
        self._give_back()
        found = torch.stack(records).cpu().numpy().astype(np.float64)  # waits for the device
        _check_steps(found)
        means = found.mean(axis=0)
        return means[: len(LEARNING_METRICS)], means[-2:]

    def _step(self, rows: torch.Tensor, learned: Learned, entropy_weight: torch.Tensor) -> torch.Tensor:
        """One step of the optimizer by flat ``rows`` (n,) int64; what ``_check_steps`` takes, (8,) float32."""
        minibatch = Learned(*(column.index_select(0, rows) for column in learned))
        total, found = self._loss(
            self.networks, self._decisions(rows), minibatch, entropy_weight, self.options.clip, self.precision
        )
        parts = torch.autograd.grad(total, self._parameters)
        gradient = torch.cat([part.reshape(-1) for part in parts])
        if self.average:
            self.average(gradient)
        norms = []
        # The two share nothing, so a large error of the critic need not hold the actor back.
        for part in self.weights.parts.values():
            norms.append(gradient[part].norm())
            gradient[part] *= (self.options.max_grad_norm / norms[-1]).clamp(max=1)
        self.vector.grad = gradient
        self.optimizer.step()
        return torch.cat([found, torch.stack(norms)])

    @torch.no_grad()
    def check_outputs(self) -> None:
        """Raise ``DivergedError`` if the networks, as they are now, give numbers of no use for the last minibatch."""
        logits, values = outputs(self.networks, self._decisions(self._last_rows), self.precision)
        if (logits.abs() > LARGEST_LOGIT).any():
            check_found(LARGE_LOGIT)
        for output, name in ((logits, "logit"), (values, "value")):
            if not output.isfinite().all():
                raise DivergedError(f"a {name} of the networks is not finite")

    def _decisions(self, rows: torch.Tensor) -> Decisions:
        """Those in flat ``rows`` (n,) int64 of the batch."""
        words = self.batch.view(-1, self.row_bytes.size).view(torch.int64)
        return self.row_bytes.unpack(words.index_select(0, rows).view(torch.int8))

    def _learned(self) -> Learned:
        """What the workers know of all rows of the batch."""
        columns = {
            name: np.concatenate([getattr(worker, name) for worker in self.workers], axis=1).reshape(-1)
            for name in Learned._fields
        }
        return Learned(**{name: torch.from_numpy(array).to(self.device) for name, array in columns.items()})

    def _ready(self) -> torch.Tensor:
        """The rows (n,) int64 of the batch, counted over the games of all workers, that can be learned from."""
        found, first = [], 0
        for worker in self.workers:
            row, game = np.divmod(worker.ready, worker.vec.num_envs)
            found.append(row * self.config.num_envs + first + game)
            first += worker.vec.num_envs
        return torch.from_numpy(np.concatenate(found)).to(self.device)

    # The weights and Adam's moments, from the CPU and back.

    def _take_weights(self) -> None:
        self.vector.detach().copy_(self.weights.vector)

    def _take_moments(self) -> None:
        # A fused optimizer counts its steps on the device, any other on the CPU.
        where = {"step": self.device if self._fused else torch.device("cpu")}
        self.optimizer.state[self.vector] = {
            name: moment.to(where.get(name, self.device), copy=True) for name, moment in self.moments.items()
        }

    def _give_back(self) -> None:
        self.weights.vector.copy_(self.vector.detach())
        for name, moment in self.moments.items():
            moment.copy_(self.optimizer.state[self.vector][name])


def _check_steps(found: np.ndarray) -> None:
    """Raise ``DivergedError`` for the first of ``found`` (steps, 8) with a number of no use: each row holds
    ``LEARNING_METRICS``, the largest logit, and the lengths of the actor's and the critic's gradients."""
    for *_, largest, actor_norm, critic_norm in found:
        if not np.isfinite(largest):
            check_found(LOGIT_NOT_FINITE)
        if largest > LARGEST_LOGIT:
            check_found(LARGE_LOGIT)
        for name, norm in (("actor", actor_norm), ("critic", critic_norm)):
            if not np.isfinite(norm):
                raise DivergedError(f"the gradient of the {name} is not finite")


def device_bytes(config: TrainConfig, game: Game) -> int:
    """Bytes that a run takes on the device, about: the batch, the weights, and the numbers in between of the largest
    call of the networks."""
    options = ppo_options(config)
    row_size = RowBytes(game, options).size
    num_rows = config.batch_size + game.num_players * config.num_envs
    learned = 20  # an int64 and three float32
    inputs = network_inputs(game, options)
    seen = inputs.size + (game.state_layout.size if options.privileged_critic else inputs.size)
    # Of one row, in float32: scaled inputs of both networks, also in the precision of the hidden layers; sums,
    # activations and gradients of both; about as many arrays over the actions, and their features.
    numbers = 2 * seen + 6 * sum(options.hidden) + game.num_actions * (8 + inputs.action_size)
    # Of each row of a history: what its token and its age give, their sum and the gradients of these, in both networks.
    numbers += inputs.history_length * 12 * (HEADS + OUTPUTS)
    rows_at_once = max(options.minibatch_size, min(EVALUATED_AT_ONCE, config.batch_size))
    in_between = rows_at_once * (row_size + numbers * torch.float32.itemsize)
    return (
        num_rows * (row_size + learned)
        + in_between
        + weight_bytes(actor_size(game, options) + critic_size(game, options), workers=1)
    )


def check_device_memory(device: torch.device, config: TrainConfig, game: Game) -> None:
    """Raise ``ValueError`` unless a run fits into the memory that is free on ``device``, where that is known."""
    needed, free = device_bytes(config, game), free_memory(device)
    if free is not None and needed > free:
        options = ppo_options(config)
        raise ValueError(
            f"not enough memory on {device}: {free / 1e9:.2g} GB are free, the run takes about {needed / 1e9:.2g} GB "
            f"with batch_size = {config.batch_size}, minibatch_size = {options.minibatch_size}, "
            f"num_envs = {config.num_envs}, hidden = {list(options.hidden)}: make one of them smaller, or take "
            "another device"
        )
