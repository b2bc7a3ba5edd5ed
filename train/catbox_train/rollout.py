"""Self-play: an update deals new games and plays them to their end.

So every decision is followed by another of its seat or by the end of the game, and nothing is carried from one update
to the next. The deals and all random numbers of an update follow from the seed of the run, the number of the update
and the number of the game, not from the process that plays it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.random import SeedSequence
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

import catbox_agents
from catbox_agents.agent import Agent, needs_history
from catbox_agents.features import NetworkInputs, facts
from catbox_agents.heuristics.base import plays_on_gpu
from catbox_agents.networks.mlp import MLP
from catbox_agents.networks.numpy_network import MAX_HIDDEN_LAYERS
from catbox_agents.play import ask_agents
from catbox_agents.specs import is_users_own
from catbox_env import Game, Vec
from catbox_env.core.extras import install_line
from catbox_env.core.rng import TRAINING, seed_for, seed_sequence
from catbox_train.config import Count, Number, Share, TrainConfig, Widths

#: In ``opponents``: earlier policies of the run.
PAST = "past"
#: Decisions of an update that ``games_per_update: auto`` aims at.
USUAL_DECISIONS = 32_768
#: Rounding in the sum of shares such as 0.1, 0.2, 0.7.
_ROUNDING = 1e-9
#: What the random numbers of an update are for; each has a stream of its own.
DEALS, CHOICES, SEATS, LUCK, SEEDS, SHUFFLES, SEARCHES = range(7)

#: Chooses actions: inputs (n, I), action features (n, A, K), masks (n, A) and uniform random numbers (n,) in, tensors
#: where the games are played, on the CPU or a GPU; columns (n, ...) by name out, among them ``actions`` (n,) int64.
Choose = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], Mapping[str, torch.Tensor]]

#: Is shown the learner's decisions of a step before they are made: the first of their rows, their games (n,) in the
#: batch, and who has each seat of these, (n, P).
Watch = Callable[[int, NDArray[np.int64], NDArray[np.int64]], None]

#: A gradient step: rows (m,) int64 and the size of the minibatch in all processes in, metrics (k,) out.
Step = Callable[[torch.Tensor, int], torch.Tensor]


def _mapping(value: Any) -> Any:
    if isinstance(value, str | list | tuple):
        raise ValueError(
            "a mapping from opponents to their shares, such as {heuristic: 0.1}; the opponents of evaluations are now "
            "eval_opponents"
        )
    return value


class SelfPlayConfig(TrainConfig):
    """The settings of an algorithm whose network plays all seats but those of opponents."""

    agent_settings = ("opponents",)
    size_settings = ("hidden", "games_per_update")
    #: Whether the algorithm can learn from games that are played on a GPU, made by `device_rollout.make_rollout`. Its
    #: ``choose`` and its gradient step are then recorded as CUDA graphs: they must read what changes from tensors that
    #: stay where they are, and never wait for the GPU.
    games_on_gpu: ClassVar[bool] = False

    games_per_update: Count | Literal["auto"] = Field(
        "auto",
        description="games that an update deals and plays to their end, or auto: as many as make about 32,768 "
        "decisions if played at random",
    )

    # The network.
    hidden: Widths = Field(
        (256, 256),
        min_length=1,
        max_length=MAX_HIDDEN_LAYERS,
        description="widths of the hidden layers",
    )
    activation: Literal["relu", "tanh"] = Field("relu", description="relu or tanh")
    features: bool = Field(
        True, description="the networks also see the features of the position, if the game has any"
    )
    action_features: bool = Field(
        True,
        description="the policy also sees the features of each legal action, with weights shared by all actions",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="precision of the layers: float32, bfloat16, or auto (bfloat16 if the device supports it natively)",
    )

    # The opponents.
    opponents: Annotated[dict[str, Share], BeforeValidator(_mapping)] = Field(
        {},
        description="opponent -> share of the games in which it has some seats, such as {heuristic: 0.1, past: 0.2}; "
        "past: earlier policies of the run, drawn uniformly",
    )
    learner_seats: Annotated[int, Field(ge=0)] = Field(
        0,
        description="seats of the learner in a game with an opponent; 0: 1 to P - 1, drawn for each game",
    )
    past_policies: Annotated[int, Field(ge=1, le=64)] = Field(
        8, description="latest earlier policies to keep as opponents (past)"
    )
    past_every: Count = Field(25, description="updates between policies kept as opponents")

    # Gradient steps.
    update_epochs: Count = Field(2, description="passes over the decisions of an update")
    minibatch_size: Count = Field(1024, description="decisions per gradient step")
    learning_rate: Number = Field(
        1e-3, gt=0, description="learning rate of Adam at the start, falling linearly to learning_rate_end"
    )
    learning_rate_end: Number = Field(5e-5, ge=0, description="learning rate at the end")
    max_grad_norm: Number = Field(0.5, gt=0, description="largest gradient norm")
    start_from: str = Field(
        "",
        description="policy to start from: a checkpoint or zoo:NAME with the same hidden, activation and features",
    )

    def problems(self) -> list[str]:
        """The shares must not exceed 1 in total, and every shared game needs a seat for the opponent."""
        found = super().problems()
        if (
            isinstance(self.workers, int)
            and self.games_per_update != "auto"
            and self.games_per_update < self.workers
        ):
            found.append(
                f"games_per_update = {self.games_per_update}: expected at least one for each of {self.workers} workers"
            )
        total = sum(self.opponents.values())
        if total > 1 + _ROUNDING:
            found.append(
                f"opponents = {self.opponents}: expected shares that add up to at most 1, not {total:g}"
            )
        if self.learner_seats and self.learner_seats >= (seats := self.make_game().num_players):
            found.append(
                f"learner_seats = {self.learner_seats}: expected 0 or 1 to {seats - 1} of the {seats} seats of a game"
            )
        return found

    def agents(self) -> dict[str, tuple[str, ...]]:
        """The agents that each setting names."""
        found = super().agents()
        return {**found, "opponents": tuple(spec for spec in self.opponents if spec != PAST)}

    def resolved(self, game: Game) -> Self:
        """A copy in which every ``auto`` is replaced by its value for these rules and this machine."""
        from catbox_train.devices import native_precision  # needs torch

        if self.workers == "auto" and self.games_per_update == 1:
            return self.replace(workers=1).resolved(game)
        found = super().resolved(game)
        games = found.games_per_update
        if games == "auto":
            games = max(1, round(USUAL_DECISIONS / mean_decisions(game)))
        precision = native_precision(found.device) if found.precision == "auto" else found.precision
        return found.replace(games_per_update=games, precision=precision)

    def safer(self) -> dict[str, float]:
        """A tenth of the learning rate, and nothing above the defaults."""
        default = type(self)()
        rate = min(self.learning_rate / 10, default.learning_rate)
        settings = {"learning_rate": rate}
        if self.learning_rate_end > rate:
            settings["learning_rate_end"] = min(rate, default.learning_rate_end)
        return settings


def why_on_cpu(config: SelfPlayConfig, game: Game) -> str | None:
    """Why the games of a run are played on the CPU; None if they are played on the GPU of its network."""
    if not config.device.startswith("cuda"):
        return f"device = {config.device!r}"
    if not config.games_on_gpu:
        return f"as always with {config.algorithm}"
    if config.workers != 1:
        return f"workers = {config.workers}"
    if find_spec("numba_cuda") is None:
        return f"numba-cuda is missing. {install_line('gpu')}"
    from numba import cuda  # needs a driver

    if not cuda.is_available():
        return "numba-cuda cannot use the driver of the GPU"
    for spec in config.agents()["opponents"]:
        if not plays_on_gpu(catbox_agents.make(spec, game, 0)):
            return f"opponents: of agents, random and heuristic alone play on a GPU, not {spec!r}"
    return None


def update_seed(seed: int, update: int, purpose: int, *keys: int) -> SeedSequence:
    """The seed of a ``purpose``, one of those above, in an update of the run with the seed ``seed``.

    No evaluation and no batch has it, whatever its seed.
    """
    return seed_sequence(seed_for(TRAINING, seed), update, purpose, *keys)


@lru_cache(maxsize=16)
def mean_decisions(game: Game) -> float:
    """The mean number of decisions in 64 games of random play."""
    vec = Vec(game, 64, seed=0, auto_deal=False)
    random, rows, decisions = np.random.default_rng(0), np.arange(64), 0
    while len(rows):
        actions = (vec.action_mask[rows] * random.random((len(rows), game.num_actions))).argmax(1)
        vec.step(actions, rows)
        decisions += len(rows)
        rows = rows[~vec.terminated[rows]]
    return decisions / 64


@dataclass(frozen=True)
class Decisions:
    """The learner's decisions of an update, tensors where its games were played.

    They belong to the rollout, which rewrites them in the next update. There are m rows in the order of the steps;
    on a GPU also those of games in which the learner had nothing to decide.

    Attributes:
        columns: by name, ``inputs`` (m, I) int8, what the network reads; ``action_features`` (m, A, K) int8; ``masks``
            (m, A) bool; and what ``choose`` returned:
            ``actions`` (m,) int64 and more.
        rows: (n,) int64, the rows that are decisions of the learner with two legal actions or more.
        rewards: (m,) float32, what the seat was paid from this decision to its next one, or to the end of the game.
        next_rows: (m,) int64, the row of the seat's next decision; -1 for its last one.
        steps: the rows of each step, one for each game at most.
        played: how many decisions were made, over all seats, those of opponents included.
        rounds: how many rounds were played.
        statistics: the game's statistics for the learner's seats in these, name -> (sum, count).
        beaten: for each opponent, the games that the learner won against it (a tie is half a win), and all of them.
    """

    columns: dict[str, torch.Tensor]
    rows: torch.Tensor
    rewards: torch.Tensor
    next_rows: torch.Tensor
    steps: list[slice]
    played: int
    rounds: int
    statistics: dict[str, NDArray[np.float64]]
    beaten: dict[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.rows)


class SelfPlay(ABC):
    """What `Rollout` and `catbox_train.device_rollout.DeviceRollout` share: the agents, their seats, the statistics.

    Attributes: ``device``, where the games are played.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, inputs: NetworkInputs) -> None:
        assert config.games_per_update != "auto", "use config.resolved(game)"
        self.config, self.game, self.inputs = config, game, inputs
        self._num_games = config.games_per_update
        self._specs = config.agents()["opponents"]
        self._agents = [self._make(k, update=0) for k in range(len(self._specs))]
        self.device = torch.device("cpu")

    @abstractmethod
    def play(self, update: int, choose: Choose, past: Sequence[Agent] = ()) -> Decisions:
        """Deal the games of ``update`` and play them to their end; ``choose`` plays the learner's seats.

        ``past``: the earlier policies, one of which plays in each game with ``past`` opponents.
        """

    #: Whether all minibatches must be of the same size.
    equal_minibatches = False

    def player(self, network: MLP, precision: torch.dtype) -> MLP:
        """What plays with the weights that ``network`` has now."""
        return network.frozen(precision)

    def gradient_steps(self, step: Step) -> Step:
        """``step`` itself, or the same, faster."""
        return step

    def keep(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """``values`` (m, ...), one for each row, where the gradient steps of every update find them."""
        return values

    def _seed(self, update: int, purpose: int, *keys: int) -> SeedSequence:
        return update_seed(self.config.seed, update, purpose, *keys)

    def _make(self, k: int, update: int) -> Agent:
        return catbox_agents.make(self._specs[k], self.game, self._seed(update, SEEDS, k))

    def _line_up(self, update: int, num_past: int) -> NDArray[np.int64]:
        """Who has each seat (G, P): 0 the learner, k the k-th opponent; those after the agents are earlier policies."""
        config = self.config
        random = np.random.default_rng(self._seed(update, SEATS))
        chances = random.random((self._num_games, 3 + self.game.num_players))
        kind, policy = chances[:, 0], chances[:, 1]
        shares = np.array(
            [*(config.opponents[spec] for spec in self._specs), config.opponents.get(PAST, 0.0)]
        )
        opponent = 1 + np.searchsorted(shares.cumsum(), kind, side="right")
        is_past = opponent == len(shares)
        opponent[opponent > len(shares)] = 0
        opponent[is_past] += (policy[is_past] * num_past).astype(np.int64) if num_past else -len(shares)
        return self._seated(opponent, chances[:, 2:])

    def _seated(self, opponent: NDArray[np.int64], random: NDArray[np.float64]) -> NDArray[np.int64]:
        """Who has each seat (G, P), for the opponents (G,) of the games and random numbers (G, 1 + P)."""
        own_seats, *places = random.T
        seats_left = 1 + (own_seats * (self.game.num_players - 1)).astype(np.int64)
        if self.config.learner_seats:
            seats_left[:] = self.config.learner_seats
        place = np.argsort(places, axis=0).argsort(axis=0).T
        return np.where(place < seats_left[:, None], 0, opponent[:, None])

    def _statistics(
        self, own: NDArray[np.bool_], info: Mapping[str, np.ndarray]
    ) -> dict[str, NDArray[np.float64]]:
        """The sum and count of each statistic over the seats ``own`` (n, P), from the ``info`` of n rounds."""
        found = facts(self.game).statistics(self.game, info)
        return {name: np.array([values[own].sum(), own.sum()], np.float64) for name, values in found.items()}

    def _beaten(
        self, line_up: NDArray[np.int64], paid: NDArray[np.float32]
    ) -> dict[str, NDArray[np.float64]]:
        """Whether the learner's seats earned more than the others' on average, summed by opponent."""
        opponent = line_up.max(axis=1)
        own = line_up == 0
        means = [np.where(some, paid, 0).sum(axis=1) / some.sum(axis=1).clip(1) for some in (own, ~own)]
        won = np.where(means[0] == means[1], 0.5, means[0] > means[1])
        names = [*self._specs, *([PAST] if PAST in self.config.opponents else [])]
        kind = opponent.clip(max=len(names))
        return {
            name: np.array([won[kind == k].sum(), (kind == k).sum()], np.float64)
            for k, name in enumerate(names, start=1)
        }


class Rollout(SelfPlay):
    """Plays the games of updates on the CPU: the share of process ``rank`` of ``size``.

    Attributes: ``opponents``, the agents of the last update and their names, in the order of the line-up, from 1.
    """

    def __init__(
        self,
        config: SelfPlayConfig,
        game: Game,
        inputs: NetworkInputs,
        rank: int = 0,
        size: int = 1,
    ) -> None:
        super().__init__(config, game, inputs)
        self._share = np.array_split(np.arange(self._num_games), size)[rank]
        #: Those whose random numbers are not given for each decision: a resumed run must draw the same.
        self._made_anew = [
            k
            for k, agent in enumerate(self._agents)
            if is_users_own(agent) and not hasattr(agent, "seed_decisions")
        ]
        self.vec = Vec(
            game,
            len(self._share),
            seed=self._seed(0, DEALS),
            history=any(map(needs_history, self._agents)),
            auto_deal=False,
        )
        self.opponents: list[tuple[Agent, str]] = []
        self._columns = {
            "inputs": np.empty((0, inputs.size), np.int8),
            "action_features": np.empty((0, game.num_actions, inputs.action_size), np.int8),
            "masks": np.empty((0, game.num_actions), np.bool_),
            "rewards": np.empty(0, np.float32),
            "next_rows": np.empty(0, np.int64),
        }

    def play(
        self, update: int, choose: Choose, past: Sequence[Agent] = (), watch: Watch | None = None
    ) -> Decisions:
        """See `SelfPlay.play`; ``watch`` may copy the games."""
        vec, share, players = self.vec, self._share, self.game.num_players
        rows = np.arange(len(share))
        line_up = self._line_up(update, len(past))[share]
        agents, labels = self._opponents(update, past)
        self.opponents = list(zip(agents, labels, strict=True))
        uniforms, luck = (np.random.default_rng(self._seed(update, kind)) for kind in (CHOICES, LUCK))
        last = np.full((len(share), players), -1)  # the row of each seat's last decision
        paid = np.zeros((len(share), players), np.float32)
        count, played, steps, ended = 0, 0, [], []
        vec.deal(rows, [self._seed(update, DEALS, game) for game in share.tolist()])
        while len(rows):
            seats = vec.current_player[rows]
            player, masks = line_up[rows, seats], vec.action_mask[rows]
            actions = masks.argmax(axis=1)  # where only one is legal, nobody is asked
            choice = masks.sum(axis=1) > 1
            mine = choice & (player == 0)
            own, chances = rows[mine], uniforms.random(self._num_games)[share]
            if len(own):
                step = slice(count, count := count + len(own))
                steps.append(step)
                columns = self._observe(step, own, masks[mine])
                seen = (columns["inputs"], columns["action_features"], columns["masks"], chances[own])
                self._write(step, choose(*map(torch.from_numpy, seen)))
                actions[mine] = self._columns["actions"][step]
                if watch:
                    watch(step.start, own, line_up[own])
                before = last[own, seats[mine]]
                self._columns["next_rows"][before] = last[own, seats[mine]] = np.arange(step.start, step.stop)
                self._columns["next_rows"][step] = -1
            if agents:
                seeds = luck.integers(2**64, size=self._num_games, dtype=np.uint64)[share]
                others = choice & ~mine
                actions[others] = ask_agents(
                    agents, labels, player[others] - 1, vec, rows[others], seeds[rows[others]]
                )
            vec.step(actions, rows)
            played += len(rows)
            paying = rows[vec.rewards[rows].any(axis=1)]
            paid[paying] += vec.rewards[paying]
            self._columns["rewards"][last[paying]] += vec.rewards[paying]
            if len(over := rows[vec.round_ended[rows]]):
                own_seats = line_up[over] == 0
                ended.append((own_seats, {name: values[over] for name, values in vec.info.items()}))
            rows = rows[~vec.terminated[rows]]
        tensors = {name: torch.from_numpy(column[:count]) for name, column in self._columns.items()}
        own_seats = np.concatenate([seats for seats, _ in ended])
        info = {name: np.concatenate([found[name] for _, found in ended]) for name in vec.info}
        return Decisions(
            columns=tensors,
            rows=torch.arange(count),
            rewards=tensors.pop("rewards"),
            next_rows=tensors.pop("next_rows"),
            steps=steps,
            played=played,
            rounds=len(own_seats),
            statistics=self._statistics(own_seats, info),
            beaten=self._beaten(line_up, paid),
        )

    def _observe(
        self, step: slice, own: NDArray[np.int64], masks: NDArray[np.bool_]
    ) -> dict[str, np.ndarray]:
        """Write what the seats to move in the games ``own`` see, and their legal actions ``masks``, into the rows
        ``step``; returns these."""
        # One more than are used: row -1, of decisions that do not exist, takes what is written there.
        if len(self._columns["rewards"]) <= step.stop:
            rows = max(step.stop + 1, round(1.5 * step.stop))
            self._columns = {name: _longer(column, rows) for name, column in self._columns.items()}
        found: dict[str, Any] = {name: column[step] for name, column in self._columns.items()}
        found["masks"][:] = masks
        self.inputs.fill(self.vec.observation[own], found["masks"], found["inputs"], found["action_features"])
        found["rewards"][:] = 0
        return found

    def _write(self, step: slice, chosen: Mapping[str, torch.Tensor]) -> None:
        for name, tensor in chosen.items():
            values = tensor.cpu().numpy()
            if name not in self._columns:
                rows = len(self._columns["rewards"])
                self._columns[name] = np.empty((rows, *values.shape[1:]), values.dtype)
            self._columns[name][step] = values

    def _opponents(self, update: int, past: Sequence[Agent]) -> tuple[list[Agent], list[str]]:
        """The agents that `_line_up` numbers from 1, and their names."""
        for k in self._made_anew:
            self._agents[k] = self._make(k, update)
        labels = [*self._specs, *(f"{PAST} policy {k}" for k in range(len(past)))]
        return [*self._agents, *past], labels


def _longer(column: np.ndarray, rows: int) -> np.ndarray:
    longer = np.empty((rows, *column.shape[1:]), column.dtype)
    longer[: len(column)] = column
    return longer
