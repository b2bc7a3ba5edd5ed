"""The arrays of many games: allocation, views, saving, loading and copying."""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from catbox_env.core.checks import check_flag, check_integer
from catbox_env.core.definition import check_game_object
from catbox_env.core.loops import Games, Outcomes, Views
from catbox_env.core.rng import GENERATOR
from catbox_env.core.saved import checksum, read_saved
from catbox_env.core.threads import Threads

if TYPE_CHECKING:  # a game makes batches
    from catbox_env.core.game import Game

#: Most threads of a batch.
MAX_THREADS = 1024

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S", bound="Storage")


def alone(method: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], _R]:
    """``method``, which raises while another thread is in a method of the same batch."""

    @functools.wraps(method)
    def guarded(self: _S, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if not self._in_use.acquire(blocking=False):
            raise RuntimeError(
                f"{method.__name__}: another thread is using this batch; give every thread its own batch"
            )
        try:
            if self._cut_off:
                self._view_all()
            return method(self, *args, **kwargs)
        finally:
            self._in_use.release()

    return guarded


class Storage:
    """What a ``Vec`` holds: see there for the arrays. They are allocated once, saved, loaded, copied and pickled."""

    @classmethod
    def _undealt(
        cls,
        game: Game,
        num_envs: int,
        num_threads: int = 1,
        history: bool = False,
        state: bool = False,
        auto_deal: bool = True,
    ) -> Self:
        """A batch in which no game has begun, to be filled by ``load`` or ``_fill`` before anything else."""
        vec = cls.__new__(cls)
        vec._allocate(game, num_envs, num_threads, history, state, auto_deal)
        return vec

    def _allocate(
        self, game: Game, num_envs: int, num_threads: int, history: bool, state: bool, auto_deal: bool
    ) -> None:
        check_game_object(game)
        n = check_integer("num_envs", num_envs, 1)
        threads = min(check_integer("num_threads", num_threads, 1, MAX_THREADS), n)
        history, state = check_flag("history", history), check_flag("state", state)
        players, actions, parts = game.num_players, game.num_actions, game.observation_layout.size
        self.game, self.num_envs, self.num_threads = game, n, threads
        self.auto_deal = check_flag("auto_deal", auto_deal)
        try:
            self.observation = np.zeros((n, parts), np.int8)
            self.action_mask = np.zeros((n, actions), np.bool_)
            self.current_player = np.zeros(n, np.int8)
            self.rewards = np.zeros((n, players), np.float32)
            self.terminated = np.zeros(n, np.bool_)
            self.round_ended = np.zeros(n, np.bool_)
            self.win_shares = np.zeros((n, players), np.float32)
            # Actions are checked against a mask that no caller can overwrite.
            self._legal = np.zeros((n, actions), np.bool_)
            self._bad = np.zeros(n, np.int64)
            self._actions = np.zeros(n, np.int64)
            self._all = np.arange(n)
            self._records = np.zeros(n, game.state_dtype)
            self._generators = np.zeros(n, GENERATOR)
            self._logs = np.zeros((n, game.history_length if history else 0, 3), np.int8)
            self._history = np.zeros((n, game.history_length, 2), np.int8) if history else None
            self._state = np.zeros((n, game.state_layout.size if state else 0), np.int8)
        except (MemoryError, ValueError, OverflowError) as error:
            raise ValueError(f"num_envs={n}: expected fewer games, which fit in memory ({error})") from error
        self.info = {name: self._records["info"][:, i, :players] for i, name in enumerate(game.info_names)}
        for array in self.info.values():
            array.setflags(write=False)  # a part of the records
        # The same arrays, grouped as the loops take them.
        self._games = tuple(Games(game.params, self._generators, self._records, self._logs))
        self._outcomes = tuple(Outcomes(self.rewards, self.terminated, self.round_ended, self.win_shares))
        self._views = tuple(
            Views(self.observation, self._legal, self.action_mask, self.current_player, self._state)
        )
        self._seeded = False  # whether the generators have been given a seed
        self._cut_off = False  # whether the arrays may be behind the games
        self._threads = Threads(threads)
        self._in_use = threading.RLock()
        # From here on no caller can replace them by arrays of another size.
        self._own = frozenset({*self.__dict__, "_own"})

    @property
    def history(self) -> np.ndarray:
        """(N, T, 2) int8: the history as the seat to move saw it."""
        if self._history is None:
            raise ValueError("history is not kept: make the batch with history=True")
        return self._history

    @property
    def state(self) -> np.ndarray:
        """(N, S) int8: everything, seats relative to the seat to move."""
        if self._state.shape[1] == 0:
            raise ValueError("state is not kept: make the batch with state=True")
        return self._state

    @alone
    def save(self) -> dict[str, np.ndarray]:
        """Copies of everything that the games' future depends on; ``load`` resumes exactly from there.

        ``header`` (uint8) identifies the game, ``checksum`` (32,) uint8 covers it and every other array.
        """
        header = np.frombuffer(self.game.header, np.uint8)
        saved = {"header": header.copy(), **{name: array.copy() for name, array in self._contents().items()}}
        saved["checksum"] = np.frombuffer(checksum(*saved.values()), np.uint8).copy()
        return saved

    @alone
    def load(self, saved: Mapping[str, np.ndarray]) -> None:
        """Resume from what ``save`` returned.

        Raises ``ValueError``, changing nothing, if it is damaged, or differs in game, rule set, reward, number of
        games, or in whether it has a history.
        """
        own = self._contents()
        given = read_saved(saved, own, self.game)
        self._check_running("saved games", given["records"].view(self._records.dtype))
        self._cut_off = True
        for name, array in own.items():
            array[:] = given[name]
        self._seeded = True
        self._view_all()

    def __reduce__(self) -> tuple:
        # Includes attributes that a subclass or a caller added.
        extras = {name: value for name, value in self.__dict__.items() if name not in self._own}
        return _restored, (type(self), *self._made_with(), self.save()), extras

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = type(self)._undealt(*self._made_with())
        memo[id(self)] = twin
        self._copy_to(twin)
        extras = {name: value for name, value in self.__dict__.items() if name not in self._own}
        twin.__dict__.update(copy.deepcopy(extras, memo))
        return twin

    @alone
    def _copy_to(self, twin: Self) -> None:
        """Copy these games into ``twin``, a batch of as many games, unchecked."""
        for name, array in twin._contents().items():
            array[:] = self._contents()[name]
        twin._seeded = self._seeded
        twin._view_all()

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name in self.__dict__.get("_own", ()):
            raise AttributeError(
                f"{name} of a batch cannot be assigned: write into the array in place, or make another batch"
            )
        super().__setattr__(name, value)

    def _made_with(self) -> tuple[Any, ...]:
        """The arguments of ``_undealt``."""
        return (
            self.game,
            self.num_envs,
            self.num_threads,
            self._history is not None,
            self._state.shape[1] > 0,
            self.auto_deal,
        )

    def _contents(self) -> dict[str, np.ndarray]:
        """The arrays that are saved: views."""
        return {
            "records": self._records.view(np.uint8),
            "generators": self._generators.view(np.uint8),
            "logs": self._logs,
            "rewards": self.rewards,
            "terminated": self.terminated,
            "round_ended": self.round_ended,
            "win_shares": self.win_shares,
        }

    def _check_running(self, what: str, records: np.ndarray) -> None:
        over = records["terminated"] != 0
        if self.auto_deal and over.any():
            raise ValueError(
                f"{what}: game {int(over.argmax())} is over; a batch with auto_deal=True cannot hold finished games, "
                f"make it with auto_deal=False"
            )

    def _view(self, rows: np.ndarray) -> None:
        self.game.loops.view_games(self._games, rows, self._views)
        self._view_histories(rows)

    def _view_histories(self, rows: np.ndarray) -> None:
        if self._history is not None:
            self.game.loops.view_histories(self._games, rows, self._history)

    def _view_all(self) -> None:
        self._threads.run(self._view, self._all)
        self._cut_off = False

    def _run(self, work: Callable[..., None], *arrays: np.ndarray) -> None:
        """Call ``work(*arrays)``, with the arrays split into a slice for each thread.

        After Ctrl-C it rewrites the arrays, so that the masks match the games.
        """
        own = self.__dict__  # bypasses __setattr__, which takes as long as the rest of this
        own["_cut_off"] = True
        try:
            if self.num_threads == 1:
                work(*arrays)
            else:
                self._threads.run(work, *arrays)
        except BaseException:
            self._view_all()
            raise
        own["_cut_off"] = False


def _restored(cls: type[Storage], *made_with_and_saved: Any) -> Storage:
    *made_with, saved = made_with_and_saved
    vec = cls._undealt(*made_with)
    vec.load(saved)
    return vec
