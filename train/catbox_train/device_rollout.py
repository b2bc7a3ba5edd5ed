"""Self-play on a GPU: the games, the learner and its opponents are asked and stepped there, all games at once.

Nothing waits for the GPU until the games are over, so every step asks about all games, also those in which the learner
has nothing to decide; which rows are its decisions is counted at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from catbox_agents.agent import Agent
from catbox_agents.features import NetworkInputs
from catbox_agents.networks.mlp import MLP, sample_legal
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.graphs import GradientSteps, Graph
from catbox_train.learner import PRECISIONS
from catbox_train.rollout import (
    CHOICES,
    DEALS,
    PAST,
    SEATS,
    Choose,
    Decisions,
    Rollout,
    SelfPlay,
    SelfPlayConfig,
    Step,
    why_on_cpu,
)

#: Steps after which the host asks whether a game is still running.
ASK_EVERY = 16

#: Actions (m,) of an opponent in its m games: which of all games ask it (N,) bool, and the masks (N, A), in.
Play = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def make_rollout(
    config: SelfPlayConfig,
    game: Game,
    inputs: NetworkInputs,
    rank: int = 0,
    size: int = 1,
) -> SelfPlay:
    """What plays the games of a run: a `Rollout` if there is a reason (`why_on_cpu`), otherwise a `DeviceRollout`."""
    if why_on_cpu(config, game):
        return Rollout(config, game, inputs, rank, size)
    return DeviceRollout(config, game, inputs)


class DeviceRollout(SelfPlay):
    """Plays the games of updates on the GPU ``config.device``.

    Each opponent plays in exactly its share of the games. Statistics of games with several rounds are those of their
    last one. ``choose`` is recorded as a part of a CUDA graph: it must read from tensors what changes, and never wait
    for the GPU.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, inputs: NetworkInputs) -> None:
        from catbox_agents.device import DeviceInputs, device_agent  # these need the extra gpu
        from catbox_env.adapters.device import DeviceVec

        super().__init__(config, game, inputs)
        number = self._num_games
        seed = self._seed(0, DEALS)
        self.vec = vec = DeviceVec(game, number, seed, auto_deal=False, device=config.device)
        self.device = vec.device
        self._inputs = DeviceInputs(inputs, vec)
        self._random = torch.Generator(self.device)
        self._on_device = [device_agent(agent, vec, self._random) for agent in self._agents]
        self._precision = PRECISIONS[config.precision]
        self._past: list[MLP] = []  # on the GPU
        self._end = end = number * game.max_game_length  # the row of decisions that do not exist
        self._columns = {
            "inputs": self._new((end, inputs.size), torch.int8),
            "action_features": self._new((end, game.num_actions, inputs.action_size), torch.int8),
            "masks": self._new((end, game.num_actions), torch.bool),
        }
        self._rewards = self._new((end + 1,), torch.float32)
        self._next_rows = self._new((end + 1,), torch.int64)
        self._learned = self._new((end,), torch.bool)
        # What a step of all games reads and writes: where it stays, for CUDA graphs.
        self._rows = self._new((number,), torch.int64)
        self._players = self._new((number, game.num_players), torch.int64)
        self._last = torch.zeros_like(self._players)  # the row of each seat's last decision
        self._paid = torch.zeros_like(vec.rewards)
        self._played, self._rounds = (self._new((), torch.int64) for _ in range(2))
        self._graph: Graph | None = None
        self._choose: Choose | None = None

    def _new(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def player(self, network: MLP, precision: torch.dtype) -> MLP:
        """``network`` itself: a copy would be elsewhere in every update."""
        return network

    #: As CUDA graphs need.
    equal_minibatches = True

    def gradient_steps(self, step: Step) -> Step:
        """``step`` as a CUDA graph."""
        return GradientSteps(step, self.device)

    def keep(self, name: str, values: torch.Tensor) -> torch.Tensor:
        """See `SelfPlay.keep`."""
        if name not in self._columns:
            self._columns[name] = torch.zeros_like(values)
        return self._columns[name].copy_(values)

    def play(self, update: int, choose: Choose, past: Sequence[Agent] = ()) -> Decisions:
        """Deal the games of ``update`` and play them to their end; see `SelfPlay.play`."""
        vec, number, end = self.vec, self._num_games, self._end
        line_up = self._line_up(update, len(past))
        self._players.copy_(torch.from_numpy(line_up))
        self._random.manual_seed(int(self._seed(update, CHOICES).generate_state(1, np.uint64)[0] >> 1))
        if self._graph is None or choose != self._choose or len(past) != len(self._past):
            self._choose, self._past = choose, [self._new_network() for _ in past]
            opponents = self._opponents(line_up.max(axis=1), past)
            self._graph = Graph(lambda: self._step(choose, opponents), self.device, [self._random])
        for network, agent in zip(self._past, past, strict=True):
            network.set_arrays(cast(PolicyAgent, agent).network.arrays())
        for zeros in (self._rewards, self._learned, self._paid, self._played, self._rounds):
            zeros.zero_()
        self._next_rows.fill_(end)
        self._last.fill_(end)
        torch.arange(number, out=self._rows)
        vec.deal(number=update)
        steps: list[slice] = []
        for start in range(0, end, number):
            if len(steps) % ASK_EVERY == 0 and not (vec.current_player >= 0).any():
                break
            steps.append(slice(start, start + number))
            self._graph()
        vec.check()
        info = {name: values.cpu().numpy() for name, values in vec.info.items()}
        return Decisions(
            columns=dict(self._columns),
            rows=self._learned.nonzero()[:, 0],
            rewards=self._rewards[:-1],
            next_rows=torch.where(self._next_rows == end, -1, self._next_rows)[:-1],
            steps=steps,
            played=int(self._played),
            rounds=int(self._rounds),
            statistics=self._statistics(line_up == 0, info),
            beaten=self._beaten(line_up, self._paid.cpu().numpy()),
        )

    def _step(self, choose: Choose, opponents: Sequence[tuple[int, slice, Play]]) -> None:
        """A move in every running game."""
        vec, rows, end = self.vec, self._rows, self._end
        running = vec.current_player >= 0
        seat = vec.current_player.clamp(min=0).long()[:, None]
        player = self._players.gather(1, seat)[:, 0]
        mine = running & (player == 0) & (vec.action_mask.sum(1) > 1)
        masks = vec.action_mask.clone()
        masks[:, 0] |= ~running  # so that there is something to choose in every row
        self._inputs.write()
        inputs, features = self._inputs.vectors, self._inputs.action_features
        uniforms = torch.rand(len(rows), generator=self._random, device=self.device)
        chosen = dict(choose(inputs, features, masks, uniforms))
        seen = {"inputs": inputs, "action_features": features, "masks": masks}
        for name, values in (seen | chosen).items():
            if name not in self._columns:
                self._columns[name] = self._new((end, *values.shape[1:]), values.dtype)
            self._columns[name].index_copy_(0, rows, values)
        actions = chosen["actions"].clone()
        for k, games, play in opponents:
            asked = running & (player == k)
            actions[games] = torch.where(asked[games], play(asked, masks), actions[games])
        vec.step(actions, running)

        before = self._last.gather(1, seat)[:, 0]
        self._next_rows[torch.where(mine, before, end)] = rows
        self._last.scatter_(1, seat, torch.where(mine, rows, before)[:, None])
        self._rewards.scatter_add_(0, self._last.view(-1), vec.rewards.view(-1))
        self._learned.index_copy_(0, rows, mine)
        self._paid += vec.rewards
        self._played += running.sum()
        self._rounds += vec.round_ended.sum()
        rows += len(rows)

    def _line_up(self, update: int, num_past: int) -> NDArray[np.int64]:
        """Who has each seat (N, P), as on the CPU, but each opponent has its share of the games to the game, and one
        after the other."""
        shares = [self.config.opponents[spec] for spec in self._specs]
        shares += num_past * [self.config.opponents.get(PAST, 0.0) / max(1, num_past)]
        last = np.rint(np.cumsum(shares) * self._num_games)
        opponent = np.searchsorted(last, np.arange(self._num_games), side="right") + 1
        opponent[opponent > len(shares)] = 0
        random = np.random.default_rng(self._seed(update, SEATS))
        return self._seated(opponent, random.random((self._num_games, 1 + self.game.num_players)))

    def _opponents(self, numbers: NDArray[np.int64], past: Sequence[Agent]) -> list[tuple[int, slice, Play]]:
        """The number of each opponent, its games, and how it plays; ``numbers`` (N,) are those of the games."""
        found: list[tuple[int, slice, Play]] = []
        for k, agent in enumerate([*self._on_device, *past], start=1):
            if not (games := np.flatnonzero(numbers == k)).size:
                continue
            rows = slice(int(games[0]), int(games[-1]) + 1)
            if isinstance(agent, Agent):
                network = self._past[k - 1 - len(self._agents)]
                found.append(
                    (k, rows, partial(self._ask_past, network, cast(PolicyAgent, agent).greedy, rows))
                )
            else:
                found.append((k, rows, partial(self._ask_agent, agent, rows)))
        return found

    def _ask_agent(self, agent: Any, games: slice, asked: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """The actions (m,) of a `device_agent` in its ``games``."""
        return agent.act(asked)[games]

    @torch.no_grad()
    def _ask_past(
        self, network: MLP, greedy: bool, games: slice, asked: torch.Tensor, masks: torch.Tensor
    ) -> torch.Tensor:
        """The actions (m,) of an earlier policy in its ``games``, all of them, whoever is ``asked``."""
        legal = masks[games]
        outputs = network(self._inputs.vectors[games], precision=self._precision)
        logits = network.action_logits(outputs, self._inputs.action_features[games], legal)
        if greedy:
            return logits.masked_fill(~legal, -torch.inf).argmax(1)
        uniforms = torch.rand(len(legal), generator=self._random, device=self.device)
        return sample_legal(logits, legal, uniforms)[0]

    def _new_network(self) -> MLP:
        """A network on the GPU, for the weights of an earlier policy."""
        network = MLP.for_policy(self.inputs, self.config.hidden, self.config.activation)
        return network.to(self.device).requires_grad_(False)
