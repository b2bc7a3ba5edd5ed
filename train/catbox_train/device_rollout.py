"""Self-play on a GPU: the games, the learner and its opponents are asked and stepped there, all games at once.

Nothing waits for the GPU until the games are over, so every step asks about all games, also those in which the learner
has nothing to decide; which rows are its decisions is counted at the end.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from catbox_agents.agent import Agent
from catbox_agents.networks.inputs import NetworkInputs
from catbox_agents.networks.mlp import sample_legal
from catbox_agents.networks.network import Network
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_env.core.checks import check_instance
from catbox_train.device_learner import DeviceLearner
from catbox_train.graphs import Graph
from catbox_train.group import Group
from catbox_train.learner import Learner
from catbox_train.rollout import BaseRollout, Choose, Decisions, Rollout
from catbox_train.seeds import CHOICES, DEALS
from catbox_train.self_play_config import SelfPlayConfig, check_config, why_on_cpu

#: Steps after which the host asks whether a game is still running.
ASK_EVERY = 16

#: Returns the actions (m,) of an opponent in its m games; takes in which games it is asked, (N,) bool, and the action
#: masks (N, A).
AskOpponent = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def make_rollout(
    config: SelfPlayConfig, game: Game, inputs: NetworkInputs, group: Group = Group(), state: bool = False
) -> BaseRollout:
    """What plays the games of a run: a `Rollout` if there is a reason (`why_on_cpu`), otherwise a `DeviceRollout`."""
    kind = Rollout if _is_on_cpu(config, game, group) else DeviceRollout
    return kind(config, game, inputs, group, state)


def make_learner(network: nn.Module, config: SelfPlayConfig, game: Game, group: Group = Group()) -> Learner:
    """What learns from the games of `make_rollout`: a `DeviceLearner`, if they are on a GPU."""
    kind = Learner if _is_on_cpu(config, game, group) else DeviceLearner
    return kind(network, config, group)


def _is_on_cpu(config: SelfPlayConfig, game: Game, group: Group) -> bool:
    check_config(config)
    check_instance("group", group, Group, "a Group, such as Group()")
    return why_on_cpu(config, game, group.on_gpus) is not None


class DeviceRollout(BaseRollout):
    """Plays the games of updates on the GPU ``config.device``.

    Each opponent plays in exactly its share of the games. Statistics of games with several rounds are those of their
    last one. ``choose`` is recorded as a part of a CUDA graph: it must read from tensors what changes, and never wait
    for the GPU. The agents of ``past`` are policies of the learner's own network.
    """

    def __init__(
        self,
        config: SelfPlayConfig,
        game: Game,
        inputs: NetworkInputs,
        group: Group = Group(),
        state: bool = False,
    ) -> None:
        from catbox_agents.device import DeviceInputs, device_agent  # need numba-cuda
        from catbox_env.adapters.device import DeviceVec

        super().__init__(config, game, inputs, group)
        self._keys = [group.rank] if group.rank else []  # so that processes deal different games
        number, seed = len(self._games), self._seed(0, DEALS, *self._keys)
        self.vec = vec = DeviceVec(game, number, seed, state=state, auto_deal=False, device=config.device)
        self.device = vec.device
        self._inputs = DeviceInputs(inputs, vec)
        self._random = torch.Generator(self.device)
        self._on_device = [device_agent(agent, vec, self._random) for agent in self._agents]
        self._past: list[Network] = []  # on the GPU
        self._end = end = number * game.max_game_length
        self._columns = {
            "inputs": self._new((end, inputs.size), torch.int8),
            "action_features": self._new((end, game.num_actions, inputs.action_size), torch.int8),
            "masks": self._new((end, game.num_actions), torch.bool),
        }
        if state:
            self._columns["states"] = self._new((end, game.state_layout.size), torch.int8)
        self._rewards = self._new((end,), torch.float32)
        self._next_rows, self._seat = (self._new((end,), torch.int64) for _ in range(2))
        self._game = torch.arange(number, device=self.device).repeat(game.max_game_length)
        self._learned = self._new((end,), torch.bool)
        # What a step of all games reads and writes: where it stays, for CUDA graphs.
        self._rows = self._new((number,), torch.int64)
        self._players = self._new((number, game.num_players), torch.int64)
        self._last = torch.zeros_like(self._players)  # the row of each seat's last decision, or -1
        self._paid = torch.zeros_like(vec.rewards)
        self._played, self._rounds = (self._new((), torch.int64) for _ in range(2))
        self._graph: Graph | None = None
        self._recorded: list[Any] = []

    def _new(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def play(
        self,
        update: int,
        network: Network,
        choose: Choose,
        past: Mapping[str, Agent] | None = None,
        shares: Mapping[str, float] | None = None,
    ) -> Decisions:
        """See `BaseRollout.play`."""
        vec, number, end, past = self.vec, len(self._games), self._end, past or {}
        self.opponents = {**dict(zip(self._specs, self._agents, strict=True)), **past}
        line_up = self._line_up(update, self._shares([*past], shares))[self._games]
        self._players.copy_(torch.from_numpy(line_up))
        seed = self._seed(update, CHOICES, *self._keys)
        self._random.manual_seed(int(seed.generate_state(1, np.uint64)[0] >> 1))
        if len(past) != len(self._past):
            self._past = [copy.deepcopy(network).requires_grad_(False) for _ in past]
        for twin, agent in zip(self._past, past.values(), strict=True):
            twin.set_arrays(cast(PolicyAgent, agent).network.arrays())
        games = self._games_of(line_up.max(axis=1))
        if self._recorded != (recorded := [network, choose, len(past), games]):
            self._recorded = recorded
            opponents = self._ask_opponents(games, [*past.values()])
            self._graph = Graph(lambda: self._step(network, choose, opponents), self.device, [self._random])
        assert self._graph is not None
        for zeros in (self._rewards, self._learned, self._paid, self._played, self._rounds):
            zeros.zero_()
        self._next_rows.fill_(-1)
        self._last.fill_(-1)
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
            rewards=self._rewards,
            next_rows=self._next_rows,
            game=self._game,
            seat=self._seat,
            steps=steps,
            played=int(self._played),
            rounds=int(self._rounds),
            statistics=self._statistics(line_up == 0, info),
            wins=self._wins(line_up, self._paid.cpu().numpy()),
        )

    @torch.no_grad()
    def _step(
        self, network: Network, choose: Choose, opponents: list[tuple[int, slice, AskOpponent]]
    ) -> None:
        """A move in every running game."""
        vec, rows = self.vec, self._rows
        running = vec.current_player >= 0
        seat = vec.current_player.clamp(min=0).long()
        player = self._players.gather(1, seat[:, None])[:, 0]
        mine = running & (player == 0) & (vec.action_mask.sum(1) > 1)
        masks = vec.action_mask.clone()
        masks[:, 0] |= ~running  # so that there is something to choose in every row
        self._inputs.write()
        inputs, features = self._inputs.vectors, self._inputs.action_features
        uniforms = torch.rand(len(rows), generator=self._random, device=self.device)
        columns = {"inputs": inputs, "action_features": features, "masks": masks}
        if "states" in self._columns:
            columns["states"] = vec.state
        columns |= choose(network, inputs, features, masks, uniforms)
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = self._new((self._end, *values.shape[1:]), values.dtype)
            self._columns[name].index_copy_(0, rows, values)
        actions = columns["actions"].clone()
        for k, games, ask in opponents:
            asked = running & (player == k)
            actions[games] = torch.where(asked[games], ask(asked, masks), actions[games])
        vec.step(actions, running)

        before = self._last.gather(1, seat[:, None])[:, 0]
        follows = mine & (before >= 0)
        # Where nothing follows, the entry of this step's own row is set to -1, which it is already.
        self._next_rows.scatter_(0, torch.where(follows, before, rows), torch.where(follows, rows, -1))
        self._last.scatter_(1, seat[:, None], torch.where(mine, rows, before)[:, None])
        due = vec.rewards * (self._last >= 0)
        self._rewards.scatter_add_(0, self._last.clamp(min=0).view(-1), due.view(-1))
        self._learned.index_copy_(0, rows, mine)
        self._seat.index_copy_(0, rows, seat)
        self._paid += vec.rewards
        self._played += running.sum()
        self._rounds += vec.round_ended.sum()
        rows += len(rows)

    def _opponent_draws(self, random: NDArray[np.float64]) -> NDArray[np.float64]:
        """In order: so each opponent has its share of the games to the game, and one after the other."""
        return (np.arange(len(random)) + 0.5) / len(random)

    def _games_of(self, opponent: NDArray[np.int64]) -> list[tuple[int, slice]]:
        """The numbers of the opponents, and their games, which follow one another, by the ``opponent`` (N,) of each."""
        games_of = []
        for k in range(1, len(self.opponents) + 1):
            if (games := np.flatnonzero(opponent == k)).size:
                games_of.append((k, slice(int(games[0]), int(games[-1]) + 1)))
        return games_of

    def _ask_opponents(
        self, games: list[tuple[int, slice]], past: list[Agent]
    ) -> list[tuple[int, slice, AskOpponent]]:
        """How the opponents of these ``games`` play."""
        opponents: list[tuple[int, slice, AskOpponent]] = []
        for k, rows in games:
            if k <= len(self._on_device):
                opponents.append((k, rows, partial(self._ask_agent, self._on_device[k - 1], rows)))
                continue
            number = k - 1 - len(self._on_device)
            greedy = cast(PolicyAgent, past[number]).greedy
            opponents.append((k, rows, partial(self._ask_past, self._past[number], greedy, rows)))
        return opponents

    def _ask_agent(self, agent: Any, games: slice, asked: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """The actions (m,) of a `device_agent` in its ``games``."""
        return agent.act(asked)[games]

    def _ask_past(
        self, network: Network, greedy: bool, games: slice, asked: torch.Tensor, masks: torch.Tensor
    ) -> torch.Tensor:
        """The actions (m,) of an earlier policy in its ``games``, all of them, whoever is ``asked``."""
        legal = masks[games]
        logits, _ = network(self._inputs.vectors[games], self._inputs.action_features[games], legal)
        if greedy:
            return logits.argmax(1)
        uniforms = torch.rand(len(legal), generator=self._random, device=self.device)
        return sample_legal(logits, legal, uniforms)[0]
