"""Self-play on a GPU: the games, the learner and its opponents are asked and stepped there, all games at once.

Nothing waits for the GPU until the games are over, so every step asks about all games, also those in which the learner
has nothing to decide; which rows are its decisions is counted at the end.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from catbox_agents.agent import Agent, RandomAgent
from catbox_agents.features import NetworkInputs
from catbox_agents.heuristics.base import ReasonedAgent
from catbox_agents.networks.mlp import MLP, sample_legal
from catbox_agents.networks.policy_agent import PolicyAgent
from catbox_env import Game
from catbox_train.learner import PRECISIONS
from catbox_train.rollout import CHOICES, DEALS, Choose, Decisions, Rollout, SelfPlay, SelfPlayConfig

#: Steps after which the host asks whether a game is still running.
ASK_EVERY = 16

#: Actions (m,) of an opponent in its m games: the rows of the step in the columns, and the games that ask it (N,) bool.
Play = Callable[[slice, torch.Tensor], torch.Tensor]


def make_rollout(
    config: SelfPlayConfig,
    game: Game,
    inputs: NetworkInputs,
    rank: int = 0,
    size: int = 1,
    state: bool = False,
) -> SelfPlay:
    """What plays the games of a run: a `DeviceRollout` if its network is on a CUDA GPU and all opponents can play there
    (random, the hand-written players, earlier policies), otherwise a `Rollout`."""
    if games_on_gpu(config, game, size):
        return DeviceRollout(config, game, inputs, state)
    return Rollout(config, game, inputs, rank, size, state)


def games_on_gpu(config: SelfPlayConfig, game: Game, size: int = 1) -> bool:
    """Whether the games are played where the network is."""
    if not config.device.startswith("cuda") or size > 1 or importlib.util.find_spec("numba_cuda") is None:
        return False
    import catbox_agents

    agents = (catbox_agents.make(spec, game, 0) for spec in config.agents()["opponents"])
    return all(type(agent) is RandomAgent or isinstance(agent, ReasonedAgent) for agent in agents)


class DeviceRollout(SelfPlay):
    """Plays the games of updates on the GPU ``config.device``. ``state``: as in `Rollout`.

    Statistics of games with several rounds are those of their last one.
    """

    def __init__(
        self, config: SelfPlayConfig, game: Game, inputs: NetworkInputs, state: bool = False
    ) -> None:
        from catbox_agents.device import DeviceHeuristic, DeviceInputs
        from catbox_env.adapters.device import DeviceVec

        super().__init__(config, game, inputs)
        number = self._num_games
        seed = self._seed(0, DEALS).generate_state(4, np.uint32)
        self.vec = DeviceVec(
            game,
            number,
            int.from_bytes(seed.tobytes(), "little"),
            state=state,
            auto_deal=False,
            device=config.device,
        )
        self.device = self.vec.device
        self._inputs = DeviceInputs(inputs, self.vec)
        self._heuristics = {
            k: DeviceHeuristic(agent, self.vec)
            for k, agent in enumerate(self._agents)
            if isinstance(agent, ReasonedAgent)
        }
        self._past: dict[PolicyAgent, MLP] = {}
        self._precision = PRECISIONS[config.precision]
        self._end = end = number * game.max_game_length  # the row of decisions that do not exist
        self._columns = {
            "inputs": self._new((end, inputs.size), torch.int8),
            "action_features": self._new((end, game.num_actions, inputs.action_size), torch.int8),
            "masks": self._new((end, game.num_actions), torch.bool),
            "states": self._new((end, game.state_layout.size if state else 0), torch.int8),
        }
        self._rewards = self._new((end + 1,), torch.float32)
        self._next_rows = self._new((end + 1,), torch.int64)
        self._learned = self._new((end,), torch.bool)

    def _new(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def play(self, update: int, choose: Choose, past: Sequence[Agent] = ()) -> Decisions:
        """Deal the games of ``update`` and play them to their end; see `Rollout.play`."""
        vec, number, end = self.vec, self._num_games, self._end
        line_up = self._line_up(update, len(past))
        line_up = line_up[
            line_up.max(axis=1).argsort(kind="stable")
        ]  # so that each opponent's games are a slice
        random = torch.Generator(self.device).manual_seed(
            int(self._seed(update, CHOICES).generate_state(1)[0])
        )
        opponents = self._opponents(line_up.max(axis=1), cast(Sequence[PolicyAgent], past), random)
        players = torch.from_numpy(line_up).to(self.device)
        last = torch.full_like(players, end)  # the row of each seat's last decision
        paid = torch.zeros_like(vec.rewards)
        rounds, running_rows = self._new((), torch.int64), self._new((), torch.int64)
        self._rewards.zero_()
        self._learned.zero_()
        self._next_rows.fill_(end)
        vec.deal(number=update)
        steps: list[slice] = []
        for start in range(0, end, number):
            step = slice(start, start + number)
            running = vec.current_player >= 0
            if len(steps) % ASK_EVERY == 0 and not running.any():
                break
            steps.append(step)
            seat = vec.current_player.clamp(min=0).long()[:, None]
            player = players.gather(1, seat)[:, 0]
            mine = running & (player == 0) & (vec.action_mask.sum(1) > 1)
            seen = {name: column[step] for name, column in self._columns.items()}
            self._inputs.write(seen["inputs"], seen["action_features"])
            seen["masks"].copy_(vec.action_mask)
            seen["masks"][:, 0] |= ~running  # so that a choice exists in every row
            if seen["states"].shape[1]:
                seen["states"].copy_(vec.state)
            uniforms = torch.rand(number, generator=random, device=self.device)
            chosen = choose(seen["inputs"], seen["action_features"], seen["masks"], uniforms)
            self._write(step, chosen)
            actions = chosen["actions"]
            for k, rows, play in opponents:
                asked = running & (player == k)
                actions[rows] = torch.where(asked[rows], play(step, asked), actions[rows])
            vec.step(actions, running)

            row = torch.arange(step.start, step.stop, device=self.device)
            before = last.gather(1, seat)[:, 0]
            self._next_rows[torch.where(mine, before, end)] = row
            last.scatter_(1, seat, torch.where(mine, row, before)[:, None])
            self._rewards.scatter_add_(0, last.view(-1), vec.rewards.view(-1))
            self._learned[step] = mine
            paid += vec.rewards
            running_rows += running.sum()
            rounds += vec.round_ended.sum()
        vec.check()
        own = line_up == 0
        info = {name: values.cpu().numpy() for name, values in vec.info.items()}
        return Decisions(
            columns=dict(self._columns),
            rows=self._learned.nonzero()[:, 0],
            rewards=self._rewards[:-1],
            next_rows=torch.where(self._next_rows == end, -1, self._next_rows)[:-1],
            steps=steps,
            played=int(running_rows),
            rounds=int(rounds),
            statistics=self._statistics(own, info),
            beaten=self._beaten(line_up, paid.cpu().numpy()),
        )

    def _write(self, step: slice, chosen: Mapping[str, torch.Tensor]) -> None:
        for name, values in chosen.items():
            if name not in self._columns:
                self._columns[name] = self._new((self._end, *values.shape[1:]), values.dtype)
            self._columns[name][step] = values

    def _opponents(
        self, numbers: NDArray[np.int64], past: Sequence[PolicyAgent], random: torch.Generator
    ) -> list[tuple[int, slice, Play]]:
        """The number of each opponent, its games, and how it plays; ``numbers`` (N,), sorted, those of the games."""
        self._past = {agent: self._past.get(agent) or self._network(agent) for agent in past}
        found = []
        for k, agent in enumerate([*self._agents, *past], start=1):
            rows = slice(*np.searchsorted(numbers, (k, k + 1)).tolist())
            if rows.start < rows.stop:
                found.append((k, rows, self._play(k, agent, rows, random)))
        return found

    def _play(self, k: int, agent: Agent, rows: slice, random: torch.Generator) -> Play:
        def drawn(*shape: int) -> torch.Tensor:
            return torch.rand(shape, generator=random, device=self.device)

        def play_random(step: slice, asked: torch.Tensor) -> torch.Tensor:
            masks = self._columns["masks"][step][rows]
            return drawn(*masks.shape).masked_fill(~masks, -1).argmax(1)

        @torch.no_grad()
        def play_network(step: slice, asked: torch.Tensor) -> torch.Tensor:
            seen = ("inputs", "action_features", "masks")
            inputs, features, masks = (self._columns[name][step][rows] for name in seen)
            logits = network.action_logits(network(inputs, precision=self._precision), features, masks)
            if greedy:
                return logits.masked_fill(~masks, -torch.inf).argmax(1)
            return sample_legal(logits, masks, drawn(len(masks)))[0]

        if isinstance(agent, ReasonedAgent):
            heuristic = self._heuristics[k - 1]
            return lambda step, asked: heuristic.act(asked)[rows]
        if not isinstance(agent, PolicyAgent):
            return play_random
        network, greedy = self._past[agent], agent.greedy
        return play_network

    def _network(self, agent: PolicyAgent) -> MLP:
        """The network of ``agent`` on the GPU."""
        network = MLP.for_policy(self.inputs, self.config.hidden, self.config.activation)
        network.set_arrays(agent.network.arrays())
        return network.to(self.device).frozen(self._precision)
