"""The rollout buffer: the decisions of a batch, where workers write them and where the networks read them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import DTypeLike

from catbox_agents.networks.inputs import NetworkInputs
from catbox_env import Game


class Buffer:
    """Arrays over R rows and N games: carried rows first, which hold decisions of earlier batches that are not learned
    from yet, and then one row per step.

    Attributes: ``observations`` (R, N, I) int8, the inputs of the actor; ``action_features`` (R, N, A, K) int8;
    ``histories`` (R, N, T, 2) int8 (T is 0 for an actor that takes none); ``masks`` (R, N, A) bool; ``states`` (R, N,
    S) int8, the whole positions (S is 0 unless ``state`` is set); ``seats`` (R, N) int8 (-1: an empty carried row);
    ``learns`` (R, N) bool, whether the seat is the learner's; ``actions`` (R, N) int64; ``rewards`` (R, N, P)
    float32; ``terminated`` (R, N) bool. ``shape`` is (R, N).

    ``flat[name]`` (R * N, ...) is what the networks read, a tensor on ``device``: on a CPU the array itself, on a GPU a
    copy, which `send` updates.
    """

    def __init__(
        self,
        game: Game,
        inputs: NetworkInputs,
        carried: int,
        steps: int,
        num_games: int,
        device: torch.device,
        state: bool = False,
    ) -> None:
        self.carried, self.shape, self.device = carried, (carried + steps, num_games), device
        self.flat: dict[str, torch.Tensor] = {}
        self._arrays: dict[str, torch.Tensor] = {}
        self.observations = self.add("observations", np.int8, inputs.size)
        self.action_features = self.add("action_features", np.int8, game.num_actions, inputs.action_size)
        self.histories = self.add("histories", np.int8, inputs.max_game_length, 2)
        self.masks = self.add("masks", np.bool_, game.num_actions)
        self.states = self.add("states", np.int8, game.state_layout.size if state else 0)
        self.seats = np.full(self.shape, -1, np.int8)
        self.learns = np.ones(self.shape, np.bool_)
        self.actions = np.zeros(self.shape, np.int64)
        self.rewards = np.zeros((*self.shape, game.num_players), np.float32)
        self.terminated = np.zeros(self.shape, np.bool_)

    def add(self, name: str, dtype: DTypeLike, *shape: int) -> np.ndarray:
        """A new array (R, N, *shape) of zeros, which the networks read as ``flat[name]``."""
        kind = torch.from_numpy(np.zeros(0, dtype)).dtype
        array = torch.zeros((*self.shape, *shape), dtype=kind, pin_memory=self.device.type == "cuda")
        self._arrays[name] = array
        self.flat[name] = array.to(self.device).flatten(0, 1)
        return array.numpy()

    def send(self, rows: slice, games: slice = slice(None)) -> None:
        """Copy ``rows`` of ``games`` to the device."""
        if self.device.type == "cpu":
            return
        for name, array in self._arrays.items():
            there = self.flat[name].view(array.shape)
            there[rows, games].copy_(array[rows, games], non_blocking=True)

    def row(self, row: int, games: slice, *names: str) -> list[torch.Tensor]:
        """What the networks read of ``row`` of ``games``, (n, ...) each."""
        start = row * self.shape[1]
        return [self.flat[name][start + games.start : start + games.stop] for name in names]

    def take(self, rows: torch.Tensor, *names: str) -> list[torch.Tensor]:
        """What the networks read of the flat ``rows`` (n,) int64, (n, ...) each."""
        return [self.flat[name].index_select(0, rows) for name in names]
