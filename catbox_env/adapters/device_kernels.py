"""The functions of games as CUDA kernels, a thread for each game, and how they are launched on tensors of torch.

Numba turns the compiled functions that a CUDA kernel calls into functions of the GPU, so nothing here knows a game.
With ``NUMBA_ENABLE_CUDASIM=1`` and ``NUMBA_DISABLE_JIT=1`` the same code runs in Numba's simulator, on tensors in the
memory of the machine: slowly, for tests.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import torch
from numba import config, cuda

from catbox_env.core.checks import short_repr
from catbox_env.core.extras import install_line
from catbox_env.core.kernels import Kernels
from catbox_env.core.loops import make_loops, write_history
from catbox_env.core.rng import random_below, split

SIMULATED = bool(config.ENABLE_CUDASIM)
#: Threads of a block.
THREADS = 4 if SIMULATED else 128
#: Stands for the action of a game that does not move.
NO_ACTION = np.iinfo(np.int64).min


class DeviceKernels(NamedTuple):
    """The CUDA kernels of the games with the same `Kernels`; each thread serves one game."""

    deal: Any
    split: Any
    check: Any
    step: Any
    draw: Any
    view: Any


@cache
def device_kernels(kernels: Kernels) -> DeviceKernels:
    """The CUDA kernels of the games with ``kernels``, compiled when they are first launched."""
    loops = make_loops(kernels)
    begin_game, step_game = loops.begin_game, loops.step_game
    write_mask, write_observation = kernels.write_mask, kernels.write_observation
    write_state = kernels.write_state

    @cuda.jit
    def deal(params, generators, states, moving, illegal, rewards, terminated, round_ended):
        i = cuda.grid(1)
        if i < len(states) and moving[i] and illegal[1] == 0:
            begin_game(params[0], generators[i], states[i])
            terminated[i] = round_ended[i] = False
            for seat in range(params[0].num_players):
                rewards[i, seat] = 0.0

    @cuda.jit
    def split_each(parents, number, moving, illegal, children):
        i = cuda.grid(1)
        if i < len(parents) and moving[i] and illegal[1] == 0:
            parents[i].children = number
            split(parents[i], children[i])

    @cuda.jit
    def check(legal, given, moving, actions, illegal):
        """Take over the ``given`` actions, unless an earlier one was illegal; say in ``illegal[1]`` whether one is."""
        i = cuda.grid(1)
        if i < len(given) and illegal[0] == 0:
            action = given[i] if moving[i] else NO_ACTION
            actions[i] = action
            if moving[i] and (action < 0 or action >= legal.shape[1] or not legal[i, action]):
                illegal[1] = 1

    @cuda.jit
    def step(
        params, generators, states, logs, actions, illegal, auto_deal, rewards, terminated, round_ended, win_shares
    ):  # fmt: skip
        i = cuda.grid(1)
        if i == 0:
            illegal[0] = illegal[1]
        if i < len(states):
            p, state, moves = params[0], states[i], actions[i] != NO_ACTION and illegal[1] == 0
            if moves:
                step_game(p, generators[i], state, logs[i], actions[i])
            for seat in range(p.num_players):
                rewards[i, seat] = state.rewards[seat] if moves else 0.0
            terminated[i] = moves and state.terminated != 0
            round_ended[i] = moves and state.round_ended != 0
            if terminated[i]:
                for seat in range(p.num_players):
                    win_shares[i, seat] = state.win_shares[seat]
                if auto_deal:
                    begin_game(p, generators[i], state)

    @cuda.jit
    def draw(legal, generators, given):
        """Uniformly random legal actions, those of `loops.random_legal`."""
        i = cuda.grid(1)
        if i < len(given):
            count = 0
            for action in range(legal.shape[1]):
                count += legal[i, action]
            left = random_below(generators[i], count)
            for action in range(legal.shape[1]):
                if legal[i, action]:
                    if left == 0:
                        given[i] = action
                    left -= 1

    @cuda.jit
    def view(params, states, logs, observation, mask, current_player, state_vectors, histories):
        """`loops.view_games`; ``observation`` and ``state_vectors`` hold zeros."""
        i = cuda.grid(1)
        if i < len(states):
            p, state = params[0], states[i]
            seat = max(0, int(state.current_player))
            current_player[i] = state.current_player
            write_observation(p, state, seat, observation[i])
            write_mask(p, state, mask[i])
            if state_vectors.shape[1] > 0:
                write_state(p, state, seat, state_vectors[i])
            if histories.shape[1] > 0:
                write_history(p, state, logs[i], seat, histories[i])

    return DeviceKernels(deal, split_each, check, step, draw, view)


def check_device(device: Any) -> None:
    """Raise ``ValueError`` unless torch and numba-cuda can use ``device``."""
    if not isinstance(device, str) or not re.fullmatch(r"cuda(:[0-9]{1,3})?", device):
        raise ValueError(f"device={short_repr(device)}: expected 'cpu', 'cuda' or 'cuda:N'")
    if find_spec("numba_cuda") is None:  # Numba's own target for CUDA is older
        raise ValueError(f"device={device!r}: games on a GPU need numba-cuda. {install_line('gpu')}")
    if SIMULATED:
        return
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    number = torch.device(device).index or 0
    if number >= count:
        built = f"for CUDA {torch.version.cuda}" if torch.version.cuda else "for the CPU alone"
        raise ValueError(f"device={device!r}: PyTorch, built {built}, finds {count} NVIDIA GPUs here")
    current = torch.cuda.current_device()
    if torch.device(device).index not in (None, current):
        raise ValueError(
            f"device={device!r}: torch's current GPU is cuda:{current}; call torch.cuda.set_device({number}) first"
        )
    if not cuda.is_available():
        raise ValueError(f"device={device!r}: numba-cuda cannot use the driver of this GPU")


def kernel_array(tensor: Any) -> Any:
    """The same memory as ``tensor``, as kernels take it."""
    return tensor.numpy() if SIMULATED else cuda.as_cuda_array(tensor, sync=False)


def kernel_records(raw: Any, dtype: np.dtype) -> Any:
    """The bytes (N, B) of torch as an array (N,) of records for kernels."""
    return kernel_array(raw.view(-1)).view(dtype)


def bytes_of(records: np.ndarray, device: Any) -> Any:
    """Records (N,) as a new tensor (N, B) of bytes on ``device``."""
    raw = np.frombuffer(records.tobytes(), np.uint8).reshape(len(records), records.dtype.itemsize)
    return torch.from_numpy(raw.copy()).to(device)


def launch(kernel: Any, count: int, device: Any, arguments: Sequence[Any]) -> None:
    """Run ``kernel`` with a thread for each of ``count`` games on torch's current stream of ``device``."""
    stream = 0 if SIMULATED else torch.cuda.current_stream(device).cuda_stream
    try:
        _configured(kernel, -(-count // THREADS), stream)(*arguments)
    except Exception as error:
        if "PTX" not in str(error):
            raise
        raise ValueError(
            f"the driver of {device} refuses what numba-cuda has compiled: the compiler is newer than the driver. "
            'Install the one that matches, such as pip install "cuda-toolkit==13.0.*", or let CUDA_HOME name an '
            f"installed CUDA toolkit ({short_repr(str(error))})"
        ) from error


@lru_cache(maxsize=256)
def _configured(kernel: Any, blocks: int, stream: int) -> Any:
    """``kernel`` for so many blocks on the CUDA stream with this address."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Grid size")  # of few blocks
        return kernel[blocks, THREADS, cuda.external_stream(stream) if stream else 0]
