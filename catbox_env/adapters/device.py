"""Many games on a GPU: the games of `catbox_env.core.vec.Vec` on tensors of torch (needs the extra ``gpu``)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from catbox_env.adapters.device_kernels import (
    NO_ACTION,
    SIMULATED,
    bytes_of,
    check_device,
    device_kernels,
    kernel_array,
    kernel_records,
    launch,
)
from catbox_env.core.checks import as_array, check_flag, check_integer, short_repr
from catbox_env.core.game import Game
from catbox_env.core.rng import ACTIONS, GENERATOR, child_seeds, new_generators, seed_for, seed_sequence
from catbox_env.core.spec import check_game_object, check_same_game
from catbox_env.core.vec import UNDEALT, Vec

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8)


class DeviceVec:
    """N games side by side on a GPU: the attributes of `catbox_env.core.vec.Vec` as torch tensors, the same games.

    Attributes: ``observation``, ``action_mask``, ``current_player``, ``rewards``, ``terminated``, ``win_shares``,
    ``round_ended``, ``info``, ``history`` and ``state`` have the shapes and dtypes of `Vec` and are rewritten in place;
    ``game``, ``num_envs``, ``auto_deal`` as given; ``device``, a ``torch.device``.

    Nothing waits for the GPU but `check`, `to_host`, `reset` and `set_states`, which check first, and what the caller
    reads. The kernels run on torch's current stream.

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
        check_device(device)
        self.game, self.num_envs = check_game_object(game), check_integer("num_envs", num_envs, 1)
        self.auto_deal = check_flag("auto_deal", auto_deal)
        self.device = torch.device("cpu" if SIMULATED else device)
        self._kernels = device_kernels(game.kernels)
        n, players, actions = self.num_envs, game.num_players, game.num_actions
        length = game.max_game_length if check_flag("history", history) else 0
        whole = game.state_layout.size if check_flag("state", state) else 0

        def zeros(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
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
        if seed is not UNDEALT:
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
        numbers = self._bytes.view(torch.int32)[:, offset // 4 : offset // 4 + len(names) * players]
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
        given = (
            actions if isinstance(actions, torch.Tensor) else torch.from_numpy(as_array("actions", actions))
        )
        if given.shape != (self.num_envs,) or given.dtype not in INTEGERS:
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
        vec = Vec(self.game, self.num_envs, UNDEALT, 1, history, state, self.auto_deal)
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
            raise ValueError(f"states={short_repr(states)}: expected a batch of {self.num_envs} games")
        check_same_game("states", states.game, self.game)
        if self.auto_deal and (over := np.flatnonzero(states.current_player < 0)).size:
            raise ValueError(
                f"states: the games {short_repr(over.tolist())} are over; expected running ones, because auto_deal=True"
            )
        self.check()
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
        if not isinstance(rows, torch.Tensor) or rows.dtype != torch.bool or rows.shape != (self.num_envs,):
            raise ValueError(f"rows={short_repr(rows)}: expected a bool tensor of shape ({self.num_envs},)")
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
