"""What agents compute on a GPU, for all games of a `catbox_env.adapters.device.DeviceVec` at once.

The inputs of networks, and the actions of the random agent and of the hand-written players (`device_agent`); the
functions that compute features and points are those of the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from numba import cuda

from catbox_agents.agent import Agent
from catbox_agents.heuristics.base import ReasonedAgent
from catbox_agents.networks.inputs import NetworkInputs
from catbox_env.adapters.device import DeviceVec
from catbox_env.adapters.device_kernels import bytes_of, kernel_array, kernel_records, launch


class DeviceInputs:
    """`NetworkInputs.fill` for the games of ``vec``.

    Attributes, which `write` rewrites: ``vectors`` (N, I) and ``action_features`` (N, A, K) int8, for networks.
    """

    def __init__(self, inputs: NetworkInputs, vec: DeviceVec) -> None:
        def new(*shape: int) -> torch.Tensor:
            return torch.zeros((vec.num_envs, *shape), dtype=torch.int8, device=vec.device)

        self.inputs, self.vec, actions = inputs, vec, vec.game.num_actions
        self.vectors, self.action_features = new(inputs.size), new(actions, inputs.action_size)
        self._seen, self._features = self.vectors.split(
            [vec.observation.shape[1], inputs.size - vec.observation.shape[1]], 1
        )
        features = inputs.features if inputs.layout or inputs.action_layout else None
        self._kernel = features_kernel(features.write, features.scratch) if features else None
        if features is None:
            return
        self._out = new(features.layout.size)
        self._action_out = self.action_features
        if not inputs.action_layout:  # the functions write these, too
            self._action_out = new(actions, features.action_layout.size)
        self._arguments = [
            _on_device(vec.game.params, vec),
            _on_device(features.offsets, vec),
            *map(kernel_array, (vec.observation, vec.action_mask, self._out, self._action_out)),
        ]

    def write(self) -> None:
        """Write the inputs of the seats to move."""
        self._seen.copy_(self.vec.observation)
        if self._kernel is None:
            return
        self._out.zero_()
        self._action_out.zero_()
        launch(self._kernel, self.vec.num_envs, self.vec.device, self._arguments)
        if self.inputs.layout:
            self._features.copy_(self._out)


class DeviceRandom:
    """Plays uniformly random legal actions in the games of ``vec``, drawn with ``random``."""

    def __init__(self, vec: DeviceVec, random: torch.Generator) -> None:
        self.vec, self._random = vec, random

    def act(self, asked: torch.Tensor) -> torch.Tensor:
        """As `DeviceHeuristic.act`, but a new tensor."""
        masks = self.vec.action_mask
        keys = torch.rand(masks.shape, generator=self._random, device=self.vec.device)
        return keys.masked_fill_(~masks, -1).argmax(1)


class DeviceHeuristic:
    """A hand-written player in the games of ``vec``. Sums of its points round differently than on the CPU, so it
    occasionally prefers another action."""

    def __init__(self, agent: ReasonedAgent, vec: DeviceVec) -> None:
        self.vec = vec
        shape = (vec.num_envs, vec.game.num_actions, len(agent.reasons))
        self._asked = torch.zeros(vec.num_envs, dtype=torch.bool, device=vec.device)
        self._actions = torch.zeros(vec.num_envs, dtype=torch.int64, device=vec.device)
        self._points = torch.zeros(shape, dtype=torch.float64, device=vec.device)
        self._kernel = heuristic_kernel(type(agent).choose, agent.scratch)
        arrays = (vec.observation, vec.action_mask, self._asked, self._points, self._actions)
        self._arguments = [
            _on_device(vec.game.params, vec),
            _on_device(agent.weights_record, vec),
            *map(kernel_array, arrays),
        ]

    def act(self, asked: torch.Tensor) -> torch.Tensor:
        """The actions (N,) int64 in the games ``asked`` (N,) bool; meaningless in the others. Rewritten by the next
        call."""
        self._asked.copy_(asked)
        launch(self._kernel, self.vec.num_envs, self.vec.device, self._arguments)
        return self._actions


def device_agent(agent: Agent, vec: DeviceVec, random: torch.Generator) -> DeviceRandom | DeviceHeuristic:
    """What plays like ``agent``, one that `plays_on_gpu`, in the games of ``vec``."""
    return DeviceHeuristic(agent, vec) if isinstance(agent, ReasonedAgent) else DeviceRandom(vec, random)


@cache
def features_kernel(write: Callable[..., None], scratch: np.dtype[Any]) -> Any:
    """The CUDA kernel of `Features.fill`; ``out`` and ``action_out`` hold zeros."""

    @cuda.jit
    def fill(params, offsets, observation, mask, out, action_out):
        i = cuda.grid(1)
        if i < len(out):
            kept = cuda.local.array(1, scratch)
            write(params[0], offsets[0], observation[i], mask[i], kept[0], out[i], action_out[i])

    return fill


@cache
def heuristic_kernel(choose: Callable[..., int], scratch: np.dtype[Any]) -> Any:
    """The CUDA kernel of `ReasonedAgent.choose`."""

    @cuda.jit
    def choose_all(params, weights, observation, mask, asked, points, actions):
        i = cuda.grid(1)
        if i < len(asked) and asked[i]:
            kept = cuda.local.array(1, scratch)
            actions[i] = choose(params[0], weights[0], observation[i], mask[i], kept[0], points[i])

    return choose_all


def _on_device(records: np.ndarray, vec: DeviceVec) -> Any:
    return kernel_records(bytes_of(records, vec.device), records.dtype)
