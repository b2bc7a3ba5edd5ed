"""Many games on a GPU: the kernels of the CPU, a thread for each game, on tensors of torch (needs the extra ``gpu``).

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
from numba import config, cuda

from catbox_env.core.checks import as_array, brief, check_flag, check_integer
from catbox_env.core.game import _UNDEALT, Game, Vec, check_game_object, check_same_game
from catbox_env.core.kernels import Kernels
from catbox_env.core.loops import make_loops, write_history
from catbox_env.core.rng import (
    ACTIONS,
    GENERATOR,
    child_seeds,
    new_generators,
    random_below,
    seed_for,
    seed_sequence,
    split,
)

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
    write_mask, write_observation, write_state = (
        kernels.write_mask,
        kernels.write_observation,
        kernels.write_state,
    )

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


class DeviceVec:
    """N games side by side on a GPU: the attributes of `catbox_env.core.game.Vec` as torch tensors, the same games.

    Attributes: ``observation``, ``action_mask``, ``current_player``, ``rewards``, ``terminated``, ``win_shares``,
    ``round_ended``, ``info``, ``history`` and ``state`` have the shapes and dtypes of `Vec` and are rewritten in place;
    ``game``, ``num_envs``, ``auto_deal`` as given; ``device``, a ``torch.device``.

    Nothing waits for the GPU but `check`, `to_host` and what the caller reads. The kernels run on torch's current
    stream.

    Args:
        game, num_envs, seed, history, state, auto_deal: as in `Vec`.
        device: ``"cuda"`` or ``"cuda:N"``.

    Raises ``ValueError`` for an invalid argument, for a machine without such a GPU, without torch or numba-cuda, and
    for games that do not fit into its memory.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seed: Any = None,
        history: bool = False,
        state: bool = False,
        auto_deal: bool = True,
        device: str = "cuda",
    ) -> None:
        torch = check_device(device)
        self.game, self.num_envs = check_game_object(game), check_integer("num_envs", num_envs, 1)
        self.auto_deal = check_flag("auto_deal", auto_deal)
        self.device = torch.device("cpu" if SIMULATED else device)
        self._kernels = device_kernels(game.kernels)
        n, players, actions = self.num_envs, game.num_players, game.num_actions
        length = game.max_game_length if check_flag("history", history) else 0
        whole = game.state_layout.size if check_flag("state", state) else 0

        def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
            return torch.zeros(shape, dtype=dtype, device=self.device)

        try:
            self.observation = zeros((n, game.observation_layout.size), torch.int8)
            self.action_mask = zeros((n, actions), torch.bool)
            self.current_player = zeros((n,), torch.int8)
            self.rewards = zeros((n, players), torch.float32)
            self.terminated = zeros((n,), torch.bool)
            self.round_ended = zeros((n,), torch.bool)
            self.win_shares = zeros((n, players), torch.float32)
            self._bytes = zeros((n, game.kernels.state.itemsize), torch.uint8)
            self._params = zeros((1, game.params.dtype.itemsize), torch.uint8)
            self._generators, self._roots = (zeros((n, GENERATOR.itemsize), torch.uint8) for _ in range(2))
            self._logs = zeros((n, length, 3), torch.int8)
            self._histories = zeros((n, length, 2), torch.int8)
            self._state_vectors = zeros((n, whole), torch.int8)
            self._given, self._actions = zeros((n,), torch.int64), zeros((n,), torch.int64)
            self._moving = zeros((n,), torch.bool)
            self._illegal = zeros((2,), torch.int64)  # before the last step, and since: see the kernels
        except torch.OutOfMemoryError as error:
            raise ValueError(
                f"num_envs={n}: expected fewer games, which fit into the memory of {self.device} ({error!s:.200})"
            ) from error
        self._params.copy_(bytes_of(game.params, self.device))
        params, states = (
            kernel_records(self._params, game.params.dtype),
            kernel_records(self._bytes, game.kernels.state),
        )
        generators = kernel_records(self._generators, GENERATOR)
        raw = kernel_array
        self._outcomes = [raw(array) for array in (self.rewards, self.terminated, self.round_ended)]
        self._roots_on_device, self._generators_on_device = kernel_records(self._roots, GENERATOR), generators
        self._to_deal = [params, generators, states, raw(self._moving), raw(self._illegal)]
        checked = (self.action_mask, self._given, self._moving, self._actions, self._illegal)
        self._to_check = [raw(array) for array in checked]
        self._to_step = [
            params, generators, states, raw(self._logs), raw(self._actions), raw(self._illegal), self.auto_deal,
            *self._outcomes, raw(self.win_shares),
        ]  # fmt: skip
        seen = (self.observation, self.action_mask, self.current_player)
        kept = (self._state_vectors, self._histories)
        self._to_view = [params, states, raw(self._logs), *map(raw, seen), *map(raw, kept)]
        self._seeded = False
        if seed is not _UNDEALT:
            self.reset(seed)

    @property
    def history(self) -> Any:
        """(N, T, 2) int8: the history as the seat to move saw it."""
        if self._histories.shape[1] == 0:
            raise ValueError("history is not kept: make the batch with history=True")
        return self._histories

    @property
    def state(self) -> Any:
        """(N, S) int8: everything, seats relative to the seat to move."""
        if self._state_vectors.shape[1] == 0:
            raise ValueError("state is not kept: make the batch with state=True")
        return self._state_vectors

    @property
    def info(self) -> dict[str, Any]:
        """Name -> (N, P) int32, the statistics of the last finished round, which the next steps rewrite."""
        dtype, offset = self.game.kernels.state.fields["info"][:2]
        names, (_, players) = self.game.kernels.info_names, dtype.shape
        numbers = self._bytes.view(_torch_module().int32)[:, offset // 4 : offset // 4 + len(names) * players]
        return {
            name: numbers[:, k * players : k * players + self.game.num_players]
            for k, name in enumerate(names)
        }

    @property
    def illegal(self) -> Any:
        """A bool tensor (): whether an action has been illegal since the last `check`, so that no game moves."""
        return self._illegal[1] != 0

    def __reduce__(self) -> Any:
        raise TypeError("games on a GPU cannot be copied or pickled: copy them to the CPU with to_host()")

    def reset(self, seed: Any = None) -> None:
        """Deal a new game in every row; ``seed`` as in `Vec.reset`, but no list. The generators are made on the CPU.

        Raises ``ValueError`` for an invalid seed, and what `check` does.
        """
        self.check()
        if seed is not None or not self._seeded:
            generators = new_generators(child_seeds(seed_sequence(seed), self.num_envs))
            self._set_generators(generators)
        self.deal()

    def deal(self, rows: Any = None, number: int | None = None) -> None:
        """Deal new games.

        Args:
            rows: (N,) bool tensor, the games to deal; the others stay as they are. None: all.
            number: each game goes on with its generator if this is None. Otherwise it gets the ``number``-th child, 0
                or more, of the generator that `reset` or `set_states` gave it: the same games for the same seed and
                number, whatever was played before.

        After an illegal action no game is dealt, until `check` raises it.
        """
        self._choose(rows)
        if number is not None:
            number = check_integer("number", number, 0, 2**31)
            arguments = [self._roots_on_device, number, *self._to_deal[-2:], self._generators_on_device]
            self._launch(self._kernels.split, arguments)
        self._launch(self._kernels.deal, [*self._to_deal, *self._outcomes])
        self._view()

    def step(self, actions: Any, rows: Any = None) -> None:
        """Take one action in every game, or in some. Does not wait for the GPU.

        Args:
            actions: (N,) integers on any device, one for the seat to move of each game.
            rows: (N,) bool tensor, the games that move; the others stay as they are, with zero rewards. None: all.

        After an illegal action no game moves, in this step and all that follow, until `check` raises it. Raises
        ``ValueError`` for a wrong shape or dtype.
        """
        torch = _torch_module()
        given = (
            actions if isinstance(actions, torch.Tensor) else torch.from_numpy(as_array("actions", actions))
        )
        if given.shape != (self.num_envs,) or given.dtype not in (
            torch.int64,
            torch.int32,
            torch.int16,
            torch.int8,
        ):
            raise ValueError(
                f"actions: {given.dtype} of shape {tuple(given.shape)}; expected integers of shape ({self.num_envs},)"
            )
        self._choose(rows)
        self._given.copy_(given)
        self._step()

    def step_random(self, num_steps: int, seed: Any = None) -> None:
        """Take ``num_steps`` uniformly random legal actions in every game: those of `Vec.step_random`."""
        if not self.auto_deal:
            raise ValueError("step_random needs auto_deal=True, because it plays on when a game ends")
        seeds = child_seeds(seed_for(ACTIONS, seed), self.num_envs)
        kept = bytes_of(new_generators(seeds), self.device)
        arguments = [self._to_check[0], kernel_records(kept, GENERATOR), self._to_check[1]]
        self._choose(None)
        for _ in range(check_integer("num_steps", num_steps, 0, 2**63 - 1)):
            self._launch(self._kernels.draw, arguments)
            self._step()

    def check(self) -> None:
        """Raise ``ValueError``, naming the rows as `Vec.step` does, if an action has been illegal since the last check.

        Waits for the GPU. The games can then be played on.
        """
        if not self.illegal:
            return
        self._illegal.zero_()
        actions = self._actions.cpu().numpy()
        rows = np.flatnonzero(actions != NO_ACTION)
        self.to_host().step(actions[rows], rows)
        raise RuntimeError("an action was illegal on the GPU, and legal on the CPU: please report this")

    def to_host(self) -> Vec:
        """The same games as a batch on the CPU, a copy. Waits for the GPU."""
        history, state = self._histories.shape[1] > 0, self._state_vectors.shape[1] > 0
        vec = Vec(self.game, self.num_envs, _UNDEALT, 1, history, state, self.auto_deal)
        vec._bytes[:], vec._logs[:] = self._bytes.cpu().numpy(), self._logs.cpu().numpy()
        vec._fill(None, self._generators.cpu().numpy().view(GENERATOR)[:, 0])
        for name in ("rewards", "terminated", "round_ended", "win_shares"):
            getattr(vec, name)[:] = getattr(self, name).cpu().numpy()
        return vec

    def set_states(self, states: Vec) -> None:
        """Put the games of a batch of the same size on the CPU into all rows. Each goes on exactly as there.

        Raises ``ValueError`` for another game or size, for a finished game with ``auto_deal``, and with ``history`` for
        games that keep none.
        """
        if not isinstance(states, Vec) or states.num_envs != self.num_envs:
            raise ValueError(f"states={brief(states)}: expected a batch of {self.num_envs} games")
        check_same_game("states", states.game, self.game)
        if self.auto_deal and (over := np.flatnonzero(states.current_player < 0)).size:
            raise ValueError(
                f"states: the games {brief(over.tolist())} are over; expected running ones, because auto_deal=True"
            )
        self.check()
        torch = _torch_module()
        if self._logs.shape[1]:
            if states._logs.shape != self._logs.shape:
                raise ValueError(
                    "states: the given games keep no history; make their batch with history=True"
                )
            self._logs.copy_(torch.from_numpy(states._logs))
        self._bytes.copy_(torch.from_numpy(states._bytes))
        self._set_generators(states._generators)
        for array in (self.rewards, self.terminated, self.round_ended):
            array.zero_()
        self._view()

    def _set_generators(self, generators: np.ndarray) -> None:
        self._roots.copy_(bytes_of(generators, self.device))
        self._generators.copy_(self._roots)
        self._seeded = True

    def _choose(self, rows: Any) -> None:
        if rows is None:
            self._moving.fill_(True)
            return
        torch = _torch_module()
        if not isinstance(rows, torch.Tensor) or rows.dtype != torch.bool or rows.shape != (self.num_envs,):
            raise ValueError(f"rows={brief(rows)}: expected a bool tensor of shape ({self.num_envs},)")
        self._moving.copy_(rows)

    def _step(self) -> None:
        self._launch(self._kernels.check, self._to_check)
        self._launch(self._kernels.step, self._to_step)
        self._view()

    def _view(self) -> None:
        self.observation.zero_()  # far faster than the kernel
        self._state_vectors.zero_()
        self._launch(self._kernels.view, self._to_view)

    def _launch(self, kernel: Any, arguments: list[Any]) -> None:
        launch(kernel, self.num_envs, self.device, arguments)


def kernel_array(tensor: Any) -> Any:
    """The same memory as ``tensor``, as kernels take it."""
    return tensor.numpy() if SIMULATED else cuda.as_cuda_array(tensor, sync=False)


def kernel_records(raw: Any, dtype: np.dtype) -> Any:
    """The bytes (N, B) of torch as an array (N,) of records for kernels."""
    return kernel_array(raw.view(-1)).view(dtype)


def bytes_of(records: np.ndarray, device: Any) -> Any:
    """Records (N,) as a new tensor (N, B) of bytes on ``device``."""
    raw = np.frombuffer(records.tobytes(), np.uint8).reshape(len(records), records.dtype.itemsize)
    return _torch_module().from_numpy(raw.copy()).to(device)


def launch(kernel: Any, count: int, device: Any, arguments: Sequence[Any]) -> None:
    """Run ``kernel`` with a thread for each of ``count`` games on torch's current stream of ``device``."""
    stream = 0 if SIMULATED else _torch_module().cuda.current_stream(device).cuda_stream
    try:
        _configured(kernel, -(-count // THREADS), stream)(*arguments)
    except Exception as error:
        if "PTX" not in str(error):
            raise
        raise ValueError(
            f"the driver of {device} refuses what numba-cuda has compiled: the compiler is newer than the driver. "
            'Install the one that matches, such as pip install "cuda-toolkit==13.0.*", or let CUDA_HOME name an '
            f"installed CUDA toolkit ({brief(str(error))})"
        ) from error


@lru_cache(maxsize=256)
def _configured(kernel: Any, blocks: int, stream: int) -> Any:
    """``kernel`` for so many blocks on the CUDA stream with this address."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Grid size")  # of few blocks
        return kernel[blocks, THREADS, cuda.external_stream(stream) if stream else 0]


def _torch_module() -> Any:
    import torch

    return torch


def check_device(device: Any) -> Any:
    """torch, if it and numba-cuda can use ``device``; otherwise raises ``ValueError``."""
    if not isinstance(device, str) or not re.fullmatch(r"cuda(:[0-9]{1,3})?", device):
        raise ValueError(f"device={brief(device)}: expected 'cpu', 'cuda' or 'cuda:N'")
    if find_spec("torch") is None or find_spec("numba_cuda") is None:  # Numba's own target for CUDA is older
        raise ValueError(
            f"device={device!r}: games on a GPU need PyTorch and numba-cuda: pip install 'catbox-env[gpu]'"
        )
    import torch

    if SIMULATED:
        return torch
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
    return torch
