"""Gradient steps: the weights of the network as one vector, Adam, and the processes that learn together.

Each process plays its share of the games and computes the gradient of its share of every minibatch; the gradients are
summed, so that all processes make the same steps and keep equal weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector

from catbox_agents.features import NetworkInputs
from catbox_agents.networks.checkpoint import load_checkpoint
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.numpy_network import PolicyNetwork
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_agents.specs import policy_path
from catbox_env import Game
from catbox_train.algorithm import DivergedError, State
from catbox_train.group import Group
from catbox_train.rollout import (
    PAST,
    SHUFFLES,
    Decisions,
    SelfPlayConfig,
    mean_decisions,
    update_seed,
    why_on_cpu,
)

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
#: Minibatches of an epoch from which those of different size do not count.
ENOUGH = 8
#: Adam's epsilon.
EPSILON = 1e-5


class Learner:
    """The network of an algorithm and its optimizer, in one process of ``group``.

    Attributes: ``weights`` (K,) float32, of which all parameters are views, as are their gradients of
    ``weights.grad``; ``device``.
    """

    def __init__(self, network: MLP, config: SelfPlayConfig, game: Game, group: Group = Group()) -> None:
        self.config, self.group = config, group
        self.device = torch.device(config.device)
        generator = torch.Generator().manual_seed(config.seed)
        network.initialise(generator, last_gain=0.01)  # at first no action is much better than another
        start_from(network, config.start_from, game)
        self.weights = _flattened(network.to(self.device))
        if group.rank > 0:  # machines may round the initial weights differently: all take those of the first
            self.weights.data.zero_()
        group.sum_(self.weights.data)
        cuda = self.device.type == "cuda"
        self.optimizer = torch.optim.Adam(
            [self.weights],
            lr=torch.tensor(config.learning_rate, device=self.device) if cuda else config.learning_rate,
            eps=EPSILON,
            fused=self.device.type != "mps",  # which has none in every release
            capturable=cuda,
        )
        self.moments = self.optimizer.state[self.weights] = {
            "step": torch.zeros((), device=self.device if cuda else None),
            "exp_avg": torch.zeros_like(self.weights),
            "exp_avg_sq": torch.zeros_like(self.weights),
        }

    def set_learning_rate(self, learning_rate: float) -> None:
        """Let all steps from now on have this learning rate."""
        group = self.optimizer.param_groups[0]
        if isinstance(group["lr"], torch.Tensor):  # a CUDA graph reads it there
            group["lr"].fill_(learning_rate)
        else:
            group["lr"] = learning_rate

    def minibatches(
        self, rows: torch.Tensor, update: int, equal: bool = False
    ) -> Iterator[tuple[torch.Tensor, int]]:
        """The minibatches of an update: those of ``rows`` (n,) int64 in each, (m,) on the device, and how many rows it
        has in all processes.

        Each of the rows is in one minibatch an epoch. ``equal``: if there are enough for `ENOUGH` minibatches, all are
        of the same size, and the rows that are left, fewer than make a minibatch, are in none.
        """
        seed = update_seed(self.config.seed, update, SHUFFLES, self.group.rank)
        shuffled = shuffles(len(rows), seed, self.device)
        rows = rows.to(self.device)
        counts = self.group.counts(len(rows))
        number = max(1, round(sum(counts) / self.config.minibatch_size))
        learned = len(rows)
        if equal and learned >= ENOUGH * self.config.minibatch_size:
            number = learned // self.config.minibatch_size
            learned = number * self.config.minibatch_size
            counts = [learned]
        sizes = [
            sum(n // number + (k < n % number) for n in counts) for k in range(number)
        ]  # as tensor_split does
        for _ in range(self.config.update_epochs):
            parts = rows[next(shuffled)[:learned]].tensor_split(number)
            for part, total in zip(parts, sizes, strict=True):
                if total:
                    yield part, total

    def step(self, loss: torch.Tensor) -> torch.Tensor:
        """One step against the gradient of ``loss``, summed over the processes; returns the gradient norm () before
        clipping, this process's part of it."""
        gradient = self.weights.grad
        assert gradient is not None
        gradient.zero_()
        loss.backward()
        self.group.sum_(gradient)
        norm = gradient.norm()
        gradient *= (self.config.max_grad_norm / norm).clamp(max=1)
        self.optimizer.step()
        return norm / self.group.size

    def state(self) -> State:
        """The weights and Adam's moments."""
        tensors = {"weights": self.weights.detach(), **{f"adam.{k}": v for k, v in self.moments.items()}}
        return {name: tensor.cpu().numpy().copy() for name, tensor in tensors.items()}

    def check_finite(self) -> None:
        """Raise ``DivergedError`` for a weight that is not finite."""
        if not self.weights.isfinite().all():
            raise DivergedError("a weight is not finite")

    @torch.no_grad()
    def restore(self, state: State) -> None:
        """Resume from what `state` returned. Raises ``ValueError`` for arrays that do not fit."""
        for name, own in {
            "weights": self.weights,
            **{f"adam.{k}": v for k, v in self.moments.items()},
        }.items():
            found = state.get(name)
            if found is None or found.shape != tuple(own.shape) or found.dtype != np.float32:
                raise ValueError(f"{name} does not fit: expected float32 of shape {tuple(own.shape)}")
            own.copy_(torch.from_numpy(found))


class Past:
    """The latest earlier policies of the run, as agents: one every ``past_every`` updates, if they are opponents.

    Attributes: ``agents``, at most ``past_policies``, the oldest first.
    """

    def __init__(self, config: SelfPlayConfig, actor: MLP, game: Game, greedy: bool) -> None:
        self.config, self.actor, self.game, self.greedy = config, actor, game, greedy
        self.agents: list[PolicyAgent] = []

    def add(self, updates_done: int) -> None:
        """Keep the actor as it is now, if it is time to."""
        if PAST in self.config.opponents and updates_done % self.config.past_every == 0:
            self._keep(PolicyNetwork.of(self.actor))

    def _keep(self, network: PolicyNetwork) -> None:
        agent = PolicyAgent(network, self.game, greedy=self.greedy)
        self.agents = [*self.agents, agent][-self.config.past_policies :]

    def state(self) -> State:
        """The arrays of the networks."""
        networks = enumerate(agent.network for agent in self.agents)
        return {
            f"past.{k}.{name}": array for k, network in networks for name, array in network.arrays().items()
        }

    def restore(self, state: State) -> None:
        """Resume from what `state` returned. Raises ``ValueError`` for arrays that do not fit."""
        self.agents = []
        names, described = list(self.actor.arrays()), self.actor.describe()
        for k in range(sum(name.startswith("past.") for name in state) // len(names)):
            try:
                arrays = {name: state[f"past.{k}.{name}"] for name in names}
            except KeyError as error:
                raise ValueError(f"{error} is missing") from None
            self._keep(PolicyNetwork(arrays, described))


def shuffles(count: int, seed: np.random.SeedSequence, device: torch.device) -> Iterator[torch.Tensor]:
    """Permutations of ``count`` numbers (n,) int64 on ``device``, drawn there if it is a CUDA GPU."""
    if device.type == "cuda":
        drawn = torch.Generator(device).manual_seed(int(seed.generate_state(1, np.uint64)[0]))
        while True:
            yield torch.randperm(count, generator=drawn, device=device)
    random = np.random.default_rng(seed)
    while True:
        yield torch.from_numpy(random.permutation(count)).to(device)


def game_metrics(decisions: Decisions, learner: Learner) -> tuple[int, dict[str, float]]:
    """The number of decisions played, and metrics over all processes: the game's statistics, means over the learner's
    seats and the rounds, and the share of games won against each opponent."""
    sums = {f"game/{name}": found for name, found in decisions.statistics.items()}
    sums |= {f"learning/beats_{name}": found for name, found in decisions.beaten.items()}
    flat = (value for found in sums.values() for value in found)
    played, rounds, *totals = learner.group.summed(decisions.played, decisions.rounds, *flat)
    pairs = zip(sums, totals[::2], totals[1::2], strict=True)
    means = {name: total / count for name, total, count in pairs if count}
    rows = sum(step.stop - step.start for step in decisions.steps)
    if rows > len(decisions):  # on a GPU
        means["learning/idle_rows"] = 1 - len(decisions) / rows
    return int(played), means | {"game/rounds": rounds}


def mean_metrics(names: Sequence[str], records: Sequence[torch.Tensor], learner: Learner) -> dict[str, float]:
    """The means over gradient steps of the metrics ``names``: a record (k,) of each step, on the device, of which each
    process has its part of the sum.

    Raises ``DivergedError`` unless they are finite.
    """
    if not records:
        return {}
    means = torch.stack(list(records)).double().mean(dim=0).tolist()  # waits for the device
    found = dict(zip(names, learner.group.summed(*means), strict=True))
    for name, value in found.items():
        if not math.isfinite(value):
            raise DivergedError(f"{name} is not finite")
    return found


def mean_and_variance(values: torch.Tensor, learner: Learner) -> tuple[float, float]:
    """The mean and variance of ``values`` (n,) over all processes."""
    own = values.double()
    count, total, squares = learner.group.summed(len(own), own.sum().item(), own.square().sum().item())
    mean = total / max(1, count)
    return mean, max(squares / max(1, count) - mean**2, 0.0)  # this way round, NaN stays NaN


def between(start: float, end: float, progress: float) -> float:
    """The value at ``progress``, 0 .. 1, on the straight line from ``start`` to ``end``."""
    return start + (end - start) * progress


def start_from(actor: MLP, path: str, game: Game) -> None:
    """Give ``actor`` the weights of the policy at ``path``, a checkpoint or ``zoo:NAME``; do nothing if it is empty.

    Raises ``ValueError`` for a file that is missing, damaged, of another network or game, or not a policy.
    """
    if not path:
        return
    try:
        checkpoint = load_checkpoint(policy_path(path, game) or path, game)
    except (OSError, ValueError) as error:
        raise ValueError(f"start_from: {error}") from error
    if checkpoint.training.get("algorithm") == "dmc":
        raise ValueError(
            f"start_from = {path!r} was trained by dmc: its network outputs values of actions, not probabilities; "
            "start from a policy, such as one of ppo, or from none"
        )
    there, wanted = checkpoint.network.describe(), actor.describe()
    if there != wanted:
        raise ValueError(
            f"start_from = {path!r} holds the network {there}, but the settings require {wanted}: set hidden, "
            "activation, features and action_features as they were when it was trained"
        )
    actor.set_arrays(checkpoint.network.arrays())


def memory_needed(config: SelfPlayConfig, game: Game, network: MLP) -> int:
    """Bytes of the decisions of an update, with room to grow, of the weights with their gradient and moments, and of
    the earlier policies, in each process; on the GPU, if the games are played there."""
    inputs = NetworkInputs(game, config.features, config.action_features)
    assert config.games_per_update != "auto", "use config.resolved(game)"
    assert config.workers != "auto", "use config.resolved(game)"
    row = inputs.size + game.num_actions * (1 + inputs.action_size) + 64
    if why_on_cpu(config, game):
        decisions = 2 * round(config.games_per_update * mean_decisions(game) / config.workers)
    else:  # of all steps; the step at hand needs as much as about five
        decisions = config.games_per_update * (game.max_game_length + 5)
    weights = sum(parameter.numel() for parameter in network.parameters())
    past = config.past_policies if PAST in config.opponents else 0
    return decisions * row + 4 * weights * (5 + past)


def _flattened(network: MLP) -> nn.Parameter:
    """One vector (K,) of which all parameters of ``network`` become views, as their gradients of its ``grad``."""
    vector = nn.Parameter(parameters_to_vector(network.parameters()).detach().clone())
    vector.grad = torch.zeros_like(vector)
    start = 0
    for parameter in network.parameters():
        stop = start + parameter.numel()
        parameter.data = vector.detach()[start:stop].view_as(parameter)
        parameter.grad = vector.grad[start:stop].view_as(parameter)
        start = stop
    return vector
