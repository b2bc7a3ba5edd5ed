"""Self-play: an update deals new games and plays them to their end.

So every decision is followed by another of its seat or by the end of the game, and nothing is carried from one update
to the next. The deals and all random numbers of an update follow from the seed of the run, the number of the update
and the number of the game, not from the process that plays it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.random import SeedSequence
from numpy.typing import NDArray

import catbox_agents
from catbox_agents.agent import Agent, needs_history
from catbox_agents.features import facts
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.network import Network
from catbox_agents.play import ask_agents
from catbox_agents.specs import is_users_own
from catbox_env import Game, Vec
from catbox_env.core.checks import check_instance, check_number, short_repr
from catbox_env.core.spec import check_game_object
from catbox_train.group import Group
from catbox_train.seeds import AGENTS, CHOICES, DEALS, LUCK, SEATS, update_seed
from catbox_train.self_play_config import PAST, ROUNDING, SelfPlayConfig, check_config

#: Chooses actions: a network, inputs (n, I), action features (n, A, K), masks (n, A) and uniform random numbers (n,)
#: in, tensors on the device of the network; columns (n, ...) by name out, among them ``actions`` (n,) int64.
Choose = Callable[[Any, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], Mapping[str, torch.Tensor]]

#: Is shown the learner's decisions of a step before they are made: the first of their rows, their games (n,) in the
#: batch, and who has each seat of these, (n, P).
Watch = Callable[[int, NDArray[np.int64], NDArray[np.int64]], None]


@dataclass(frozen=True)
class Decisions:
    """The learner's decisions of an update, tensors where its games were played.

    They belong to the rollout, which rewrites them in the next update. There are m rows in the order of the steps;
    on a GPU also those of games in which the learner had nothing to decide.

    Attributes:
        columns: by name, ``inputs`` (m, I) int8, what the network reads; ``action_features`` (m, A, K) int8; ``masks``
            (m, A) bool; ``states`` (m, S) int8, everything, seats relative to the seat to move, if the rollout was made
            with ``state``; and what ``choose`` returned: ``actions`` (m,) int64 and more.
        rows: (n,) int64, the rows that are decisions of the learner with two legal actions or more.
        rewards: (m,) float32, what the seat was paid from this decision to its next one, or to the end of the game.
        next_rows: (m,) int64, the row of the seat's next decision; -1 for its last one.
        game, seat: (m,) int64, the game of each row, numbered from 0 in this process, and the seat that decides.
        steps: the rows of each step, one for each game at most.
        played: how many decisions were made, over all seats, those of opponents and forced ones included.
        rounds: how many rounds were played.
        statistics: the game's statistics for the learner's seats in these, name -> (sum, count).
        wins: for each opponent, the games that the learner won against it (a tie is half a win), and all of them.
    """

    columns: dict[str, torch.Tensor]
    rows: torch.Tensor
    rewards: torch.Tensor
    next_rows: torch.Tensor
    game: torch.Tensor
    seat: torch.Tensor
    steps: list[slice]
    played: int
    rounds: int
    statistics: dict[str, NDArray[np.float64]]
    wins: dict[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.rows)

    def at_next(self, values: torch.Tensor, rows: slice) -> torch.Tensor:
        """``values`` (m,) of the seats' next decisions after those of ``rows``; 0 where there is none."""
        after = self.next_rows[rows]
        return values[after.clamp(min=0)].masked_fill(after < 0, 0)

    def returns(self) -> torch.Tensor:
        """What the seat of each row is paid from its decision to the end of the game: (m,) float32."""
        returns = torch.zeros_like(self.rewards)
        for rows in reversed(self.steps):
            returns[rows] = self.rewards[rows] + self.at_next(returns, rows)
        return returns


class BaseRollout(ABC):
    """What `Rollout` and `catbox_train.device_rollout.DeviceRollout` share: the agents, their seats, the statistics.

    Attributes: ``device``, where the games are played; ``opponents``, the agents of the last update by name, in the
    order of their numbers in the line-up, from 1.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, inputs: NetworkInputs, group: Group) -> None:
        check_config(config)
        check_game_object(game)
        check_instance("inputs", inputs, NetworkInputs, "NetworkInputs")
        check_instance("group", group, Group, "a Group, such as Group()")
        if config.games_per_update == "auto":
            raise ValueError("config: games_per_update = 'auto'; use config.resolved(game)")
        self.config, self.game, self.inputs = config, game, inputs
        self._num_games = config.games_per_update
        self._specs = config.agents()["opponents"]
        self._agents = [self._make(k, update=0) for k in range(len(self._specs))]
        #: The numbers of the games of this process.
        self._games = np.arange(group.rank, self._num_games, group.size)
        self.opponents: dict[str, Agent] = {}
        self.device = torch.device("cpu")

    @abstractmethod
    def play(
        self,
        update: int,
        network: Network,
        choose: Choose,
        past: Mapping[str, Agent] | None = None,
        shares: Mapping[str, float] | None = None,
    ) -> Decisions:
        """Deal the games of ``update`` and play them to their end; ``choose`` plays the learner's seats by ``network``.

        Args:
            past: more opponents than those of the settings, by name, such as earlier policies.
            shares: the share of the games of each opponent; by default that of the settings, where ``past`` stands for
                all of ``past``, equally.

        Raises ``ValueError`` for shares of unknown opponents, below 0, or more than 1 together.
        """

    def _seed(self, update: int, purpose: int, *keys: int) -> SeedSequence:
        return update_seed(self.config.seed, update, purpose, *keys)

    def _make(self, k: int, update: int) -> Agent:
        return catbox_agents.make(self._specs[k], self.game, self._seed(update, AGENTS, k))

    def _shares(self, past: Sequence[str], shares: Mapping[str, float] | None) -> NDArray[np.float64]:
        """The share of each opponent, in the order of their numbers."""
        names = [*self._specs, *past]
        if shares is None:
            shares = default_shares(self.config, past)
        check_shares(shares, names)
        return np.array([shares.get(name, 0.0) for name in names], np.float64)

    def _line_up(self, update: int, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Who has each seat (G, P) of all games: 0 the learner, k the k-th opponent."""
        random = np.random.default_rng(self._seed(update, SEATS))
        places, own_seats, draws = np.split(
            random.random((self._num_games, self.game.num_players + 2)), [-2, -1], axis=1
        )
        opponent = 1 + np.searchsorted(shares.cumsum(), self._opponent_draws(draws[:, 0]), side="right")
        opponent[opponent > len(shares)] = 0
        seats_left = 1 + (own_seats * (self.game.num_players - 1)).astype(np.int64)
        if self.config.learner_seats:
            seats_left[:] = self.config.learner_seats
        return np.where(places.argsort(axis=1).argsort(axis=1) < seats_left, 0, opponent[:, None])

    def _opponent_draws(self, random: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers (G,) from 0 to 1, which the shares divide among the opponents: the ``random`` ones."""
        return random

    def _statistics(
        self, own: NDArray[np.bool_], info: Mapping[str, np.ndarray]
    ) -> dict[str, NDArray[np.float64]]:
        """The sum and count of each statistic over the seats ``own`` (n, P), from the ``info`` of n rounds."""
        return {
            name: np.array([values[own].sum(), own.sum()], np.float64)
            for name, values in facts(self.game).statistics(self.game, info).items()
        }

    def _wins(self, line_up: NDArray[np.int64], paid: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
        """Whether the learner's seats earned more than the others' on average, summed by opponent."""
        opponent = line_up.max(axis=1)
        own = line_up == 0
        means = [np.where(some, paid, 0).sum(axis=1) / some.sum(axis=1).clip(1) for some in (own, ~own)]
        won = np.where(means[0] == means[1], 0.5, means[0] > means[1])
        return {
            name: np.array([won[opponent == k].sum(), (opponent == k).sum()], np.float64)
            for k, name in enumerate(self.opponents, start=1)
        }


class Rollout(BaseRollout):
    """Plays the games of updates on the CPU: the share of one process of ``group``.

    ``state``: whether the decisions have the column ``states``, for a critic that sees everything.
    """

    def __init__(
        self,
        config: SelfPlayConfig,
        game: Game,
        inputs: NetworkInputs,
        group: Group = Group(),
        state: bool = False,
    ) -> None:
        super().__init__(config, game, inputs, group)
        #: Those whose random numbers are not given for each decision: a resumed run must draw the same.
        self._stateful = [
            k
            for k, agent in enumerate(self._agents)
            if is_users_own(agent) and not hasattr(agent, "seed_decisions")
        ]
        self.vec = Vec(
            game,
            len(self._games),
            seed=self._seed(0, DEALS),
            history=any(map(needs_history, self._agents)),
            state=state,
            auto_deal=False,
        )
        self._columns = {
            "inputs": np.empty((0, inputs.size), np.int8),
            "action_features": np.empty((0, game.num_actions, inputs.action_size), np.int8),
            "masks": np.empty((0, game.num_actions), np.bool_),
            "rewards": np.empty(0, np.float32),
            "next_rows": np.empty(0, np.int64),
            "game": np.empty(0, np.int64),
            "seat": np.empty(0, np.int64),
        }
        if state:
            self._columns["states"] = np.empty((0, game.state_layout.size), np.int8)

    def play(
        self,
        update: int,
        network: Network,
        choose: Choose,
        past: Mapping[str, Agent] | None = None,
        shares: Mapping[str, float] | None = None,
        watch: Watch | None = None,
    ) -> Decisions:
        """See `BaseRollout.play`; ``watch`` may copy the games."""
        vec, opponents = self.vec, past or {}
        self._set_opponents(update, opponents)
        line_up = self._line_up(update, self._shares([*opponents], shares))[self._games]
        choices, luck = (np.random.default_rng(self._seed(update, purpose)) for purpose in (CHOICES, LUCK))
        inference_network = network.for_inference()
        last = np.full(line_up.shape, -1)  # the row of each seat's last decision
        paid = np.zeros(line_up.shape, np.float32)
        played, steps, rounds = 0, [slice(0, 0)], []
        games = np.arange(len(self._games))  # those that are not over
        vec.deal(games, [self._seed(update, DEALS, number) for number in self._games.tolist()])
        while len(games):
            seats = vec.current_player[games]
            agent, masks = line_up[games, seats], vec.action_mask[games]
            actions = masks.argmax(axis=1)  # where only one is legal, nobody is asked
            is_choice = masks.sum(axis=1) > 1
            mine, others = is_choice & (agent == 0), is_choice & (agent > 0)
            uniforms = choices.random(self._num_games)[self._games]
            if mine.any():
                deciding = games[mine]
                step = slice(steps[-1].stop, steps[-1].stop + len(deciding))
                steps.append(step)
                position = self._observe(step, deciding, seats[mine], masks[mine])
                actions[mine] = self._choose(step, choose, inference_network, position, uniforms[deciding])
                if watch:
                    watch(step.start, deciding, line_up[deciding])
                before, rows = last[deciding, seats[mine]], np.arange(step.start, step.stop)
                self._columns["next_rows"][before[before >= 0]] = rows[before >= 0]
                last[deciding, seats[mine]] = rows
            if self.opponents:
                seeds = luck.integers(2**64, size=self._num_games, dtype=np.uint64)[self._games]
                asked, labels = games[others], [*self.opponents]
                agents = [*self.opponents.values()]
                actions[others] = ask_agents(agents, labels, agent[others] - 1, vec, asked, seeds[asked])
            vec.step(actions, games)
            played += len(games)
            paying = games[vec.rewards[games].any(axis=1)]
            rewards, latest = vec.rewards[paying], last[paying]
            paid[paying] += rewards
            self._columns["rewards"][latest[latest >= 0]] += rewards[latest >= 0]
            if len(ended := games[vec.round_ended[games]]):
                rounds.append((line_up[ended] == 0, {name: of[ended] for name, of in vec.info.items()}))
            games = games[~vec.terminated[games]]
        if "actions" not in self._columns:  # the learner had nothing to decide, in the first update
            position = tuple(self._columns[name][:0] for name in ("inputs", "action_features", "masks"))
            self._choose(steps[0], choose, inference_network, position, np.zeros(0))
        columns = {name: torch.from_numpy(column[: steps[-1].stop]) for name, column in self._columns.items()}
        own_seats = np.concatenate([seats for seats, _ in rounds])
        info = {name: np.concatenate([of_round[name] for _, of_round in rounds]) for name in vec.info}
        return Decisions(
            rewards=columns.pop("rewards"),
            next_rows=columns.pop("next_rows"),
            game=columns.pop("game"),
            seat=columns.pop("seat"),
            columns=columns,
            rows=torch.arange(steps[-1].stop),
            steps=steps[1:],
            played=played,
            rounds=len(own_seats),
            statistics=self._statistics(own_seats, info),
            wins=self._wins(line_up, paid),
        )

    def _observe(
        self, step: slice, games: NDArray[np.int64], seats: NDArray[np.int8], masks: NDArray[np.bool_]
    ) -> tuple[np.ndarray, ...]:
        """Write what the ``seats`` to move in ``games`` see, and their legal actions ``masks``, into the rows ``step``;
        returns the inputs, the features of actions, and the masks."""
        if len(self._columns["rewards"]) < step.stop:
            rows = max(step.stop, round(1.5 * step.stop))
            self._columns = {name: _longer(column, rows) for name, column in self._columns.items()}
        columns: dict[str, Any] = {name: column[step] for name, column in self._columns.items()}
        columns["masks"][:], columns["game"][:], columns["seat"][:] = masks, games, seats
        columns["rewards"][:], columns["next_rows"][:] = 0, -1
        if "states" in columns:
            columns["states"][:] = self.vec.state[games]
        position = columns["inputs"], columns["action_features"], columns["masks"]
        self.inputs.fill(self.vec.observation[games], position[2], *position[:2])
        return position

    def _choose(
        self,
        step: slice,
        choose: Choose,
        network: Network,
        position: tuple[np.ndarray, ...],
        uniforms: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        """Write what ``choose`` returns for ``position`` (`_observe`) into the rows ``step``; returns the actions."""
        device = next(network.parameters()).device
        tensors = [torch.from_numpy(array).to(device) for array in (*position, uniforms)]
        for name, tensor in choose(network, *tensors).items():
            values = tensor.cpu().numpy()
            if name not in self._columns:
                rows = len(self._columns["rewards"])
                self._columns[name] = np.empty((rows, *values.shape[1:]), values.dtype)
            self._columns[name][step] = values
        return cast(NDArray[np.int64], self._columns["actions"][step])

    def _set_opponents(self, update: int, past: Mapping[str, Agent]) -> None:
        for k in self._stateful:
            self._agents[k] = self._make(k, update)
        self.opponents = {**dict(zip(self._specs, self._agents, strict=True)), **past}


def default_shares(config: SelfPlayConfig, past: Sequence[str]) -> dict[str, float]:
    """The share of each opponent in the settings, by name; that of ``past`` is divided equally among ``past``."""
    of_each = config.opponents.get(PAST, 0.0) / max(1, len(past))
    shares = {name: share for name, share in config.opponents.items() if name != PAST}
    return shares | dict.fromkeys(past, of_each)


def check_shares(shares: Mapping[str, float], names: Sequence[str]) -> None:
    """Raise ``ValueError`` unless ``shares`` are numbers from 0, at most 1 together, of opponents with these
    ``names``."""
    if not isinstance(shares, Mapping):
        raise ValueError(f"shares {short_repr(shares)}: expected a mapping from names to numbers")
    if unknown := [name for name in shares if name not in names]:
        raise ValueError(
            f"shares of {short_repr(unknown)}: expected some of the opponents {', '.join(names)}"
        )
    for name, share in shares.items():
        check_number(f"the share of {name}", share, "a number from 0 to 1", high=1.0)
    if (total := sum(shares.values())) > 1 + ROUNDING:
        raise ValueError(f"shares {short_repr(dict(shares))}: expected at most 1 together, not {total:g}")


def _longer(column: np.ndarray, rows: int) -> np.ndarray:
    longer = np.empty((rows, *column.shape[1:]), column.dtype)
    longer[: len(column)] = column
    return longer
