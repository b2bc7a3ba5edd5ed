"""Many games in one structured array, stepped in place."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from catbox_env.core.game import Game
from catbox_env.core.rng import new_generators, seed_sequence


class Vec:
    """N games side by side. Every array below is allocated once and rewritten in place by ``reset`` and ``step``.

    Attributes:
        observation: (N, O) int8, what the seat to move sees.
        action_mask: (N, A) bool, its legal actions.
        current_player: (N,) int8, the seat to move.
        rewards: (N, P) float32, what the last step paid to each seat.
        terminated: (N,) bool, whether the last step ended the game; with ``auto_deal`` a new one has been dealt.
        win_shares: (N, P) float32, each seat's share of the win; read the rows of ``terminated``.
        round_ended: (N,) bool, whether the last step ended a round.
        info: name -> (N, P) int32, the figures of the last finished round; read the rows of ``round_ended``.
        history: (N, T, 2) int8, the history as the seat to move saw it; only with ``history=True``.
        state: (N, S) int8, everything, seats relative to the seat to move; only with ``state=True``.
        game, num_envs, num_threads: as given.

    Game i of ``reset(seed)`` is the game that ``new_initial_state(SeedSequence(seed).spawn(N)[i])`` begins; when it
    is over the next one comes from the same generator.

    Args:
        game: the game to play.
        num_envs: how many games, at least 1.
        seed: as in ``reset``.
        num_threads: threads that share the games of one call, at least 1. The result does not depend on it.
        history, state: whether these arrays are kept.
        auto_deal: whether a game that ends is dealt anew in the same step. Without it the game stays at its end,
            ``current_player`` -1 and the mask empty, seen by seat 0, until ``deal``.

    Raises ``ValueError`` for an impossible argument.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seed: Any = None,
        num_threads: int = 1,
        history: bool = False,
        state: bool = False,
        auto_deal: bool = True,
    ) -> None:
        for name, value in (("num_envs", num_envs), ("num_threads", num_threads)):
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name}={value!r}: expected an integer of 1 or more")
        self.game = game
        self.num_envs = n = int(num_envs)
        self.num_threads = min(int(num_threads), n)
        players, actions = game.num_players, game.num_actions
        self.observation = np.zeros((n, game.observation_layout.size), np.int8)
        self.action_mask = np.zeros((n, actions), np.bool_)
        self.current_player = np.zeros(n, np.int8)
        self.rewards = np.zeros((n, players), np.float32)
        self.terminated = np.zeros(n, np.bool_)
        self.round_ended = np.zeros(n, np.bool_)
        self.win_shares = np.zeros((n, players), np.float32)
        self.auto_deal = auto_deal
        # Actions are checked against a mask that no caller can overwrite.
        self._legal = np.zeros((n, actions), np.bool_)
        self._bad = np.zeros(n, np.int64)
        self._actions = np.zeros(n, np.int64)
        self._all = np.arange(n)
        self._records = np.zeros(n, game.state_dtype)
        self._generators = new_generators([])
        self._logs = np.zeros((n, game.history_length if history else 0, 3), np.int8)
        self._history = np.zeros((n, game.history_length, 2), np.int8) if history else None
        self._state = np.zeros((n, game.state_layout.size if state else 0), np.int8)
        self.info = {name: self._records["info"][:, i, :players] for i, name in enumerate(game.info_names)}
        self._pool = ThreadPoolExecutor(self.num_threads) if self.num_threads > 1 else None
        self.reset(seed)

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

    def reset(self, seed: Any = None) -> None:
        """Deal new games everywhere.

        Args:
            seed: an integer of 0 or more or a numpy ``SeedSequence``, of which game i gets the i-th child;
                ``None`` goes on from the generators (at first: from the entropy of the system).
        """
        if seed is not None or len(self._generators) == 0:
            root = seed_sequence(seed)
            # Spawning by key leaves a SeedSequence of the caller's as it was: the same one gives the same games.
            children = [
                np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, i), pool_size=root.pool_size)
                for i in range(self.num_envs)
            ]
            self._generators = new_generators(children)
        self.deal(self._all)

    def deal(self, rows: np.ndarray) -> None:
        """Deal new games in ``rows`` (M,), different indices of games; the others are left as they are."""
        rows = self._checked_rows(rows)
        self.game.loops.deal_games(self.game.params, self._generators, self._records, rows)
        for array in (self.rewards, self.terminated, self.round_ended):
            array[rows] = 0
        self._share(self._view, rows)

    def step(self, actions: np.ndarray, rows: np.ndarray | None = None) -> None:
        """One action in every game, or in some.

        Args:
            actions: (N,) integers, one for the seat to move of each game; (M,) when ``rows`` are given.
            rows: (M,) different indices of the games that move; the others are left as they are, paid nothing.

        Raises ``ValueError``, no game moved, for a wrong shape or dtype or any illegal action, naming the rows.
        """
        rows = self._all if rows is None else self._checked_rows(rows)
        given = np.asarray(actions)
        if given.shape != rows.shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions: {given.dtype} of shape {given.shape}; expected integers of shape {rows.shape}"
            )
        own = self._actions[: len(rows)]
        np.copyto(own, given, casting="unsafe")
        count = self.game.loops.check_actions(self._legal, rows, own, self._bad)
        if count:
            shown = "; ".join(
                f"row {rows[k]}: action {given[k]} of seat {self.current_player[rows[k]]}: "
                + self.game.why_refused(self._records[rows[k]], int(given[k]))
                for k in self._bad[: min(count, 3)]
            )
            more = f"; and {count - 3} more" if count > 3 else ""
            raise ValueError(
                f"illegal actions in {count} of {len(rows)} games ({shown}{more}); no game has moved: choose "
                f"where action_mask is True"
            )
        if rows is not self._all:
            for array in (self.rewards, self.terminated, self.round_ended):
                array.fill(0)
        self._share(self._step_and_view, rows, own)

    def step_random(self, num_steps: int, seed: Any = None) -> None:
        """``num_steps`` uniformly random legal actions in every game, chosen in compiled code.

        Every array is written after every action, as ``num_steps`` calls of ``step`` would. ``seed`` is that of the
        choices; the deals come from the games' own generators. Raises ``ValueError`` without ``auto_deal``.
        """
        if not self.auto_deal:
            raise ValueError("step_random goes on over the end of games: make the batch with auto_deal=True")
        choosers = new_generators(seed_sequence(seed).spawn(self.num_envs))

        def play(rows: np.ndarray, actions: np.ndarray) -> None:
            self.game.loops.step_games_at_random(
                self.game.params,
                self._generators,
                self._records,
                self._logs,
                rows,
                actions,
                num_steps,
                choosers,
                np.empty(self.game.num_actions + 1, np.int64),
                *self._paid(),
                *self._seen(),
            )
            self._view_histories(rows)

        self._share(play, self._all, self._actions)

    def observe(self, seats: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """What any seat sees, to move or not: a new (M, O) int8 array.

        ``seats`` (M,): the observing seat of each of ``rows`` (M,), all games by default. Raises ``ValueError`` for
        seats that are not there.
        """
        rows = self._all if rows is None else self._checked_rows(rows)
        seats = np.asarray(seats)
        players = self.game.num_players
        if (
            seats.shape != rows.shape
            or seats.dtype.kind not in "iu"
            or not ((seats >= 0) & (seats < players)).all()
        ):
            raise ValueError(
                f"seats={seats!r}: expected integers from 0 to {players - 1} of shape {rows.shape}"
            )
        out = np.empty((len(rows), self.game.observation_layout.size), np.int8)
        self.game.loops.observe_games(self.game.params, self._records, rows, seats.astype(np.int64), out)
        return out

    def render_text(self, row: int, seat: int | None = None) -> str:
        """The table of one game in plain text, with the hand of ``seat``, or every hand for ``None``."""
        return "".join(text for text, _ in self.game.render(self._records[row], seat))

    def save(self) -> dict[str, np.ndarray]:
        """Copies of everything that the games' future depends on; ``load`` goes on exactly from there."""
        return {
            "records": self._records.view(np.uint8).copy(),
            "generators": self._generators.view(np.uint8).copy(),
            "logs": self._logs.copy(),
            "rewards": self.rewards.copy(),
            "terminated": self.terminated.copy(),
            "round_ended": self.round_ended.copy(),
            "win_shares": self.win_shares.copy(),
        }

    def load(self, saved: dict[str, np.ndarray]) -> None:
        """Go on from what ``save`` returned. Raises ``ValueError``, nothing changed, if it is of another batch."""
        own = self.save()
        for name, array in own.items():
            if name not in saved or saved[name].shape != array.shape or saved[name].dtype != array.dtype:
                found = f"{saved[name].dtype} {saved[name].shape}" if name in saved else "nothing"
                raise ValueError(
                    f"saved games: {name!r} is {found}, expected {array.dtype} {array.shape}: make the batch with the "
                    f"same game, num_envs and history as the one that was saved"
                )
        self._records.view(np.uint8)[:] = saved["records"]
        self._generators.view(np.uint8)[:] = saved["generators"]
        self._logs[:] = saved["logs"]
        self.rewards[:] = saved["rewards"]
        self.terminated[:] = saved["terminated"]
        self.round_ended[:] = saved["round_ended"]
        self.win_shares[:] = saved["win_shares"]
        self._share(self._view, self._all)

    def _checked_rows(self, rows: np.ndarray) -> np.ndarray:
        given = np.asarray(rows)
        n = self.num_envs
        if given.ndim != 1 or given.dtype.kind not in "iu" or not ((given >= 0) & (given < n)).all():
            raise ValueError(f"rows={rows!r}: expected integers from 0 to {n - 1}, of shape (M,)")
        given = np.ascontiguousarray(given, np.int64)
        if np.bincount(given, minlength=1).max() > 1:
            raise ValueError(f"rows={rows!r}: a game is named twice; every game moves once in a step")
        return given

    def _paid(self) -> tuple[np.ndarray, ...]:
        return self.rewards, self.terminated, self.round_ended, self.win_shares

    def _seen(self) -> tuple[np.ndarray, ...]:
        return self.observation, self._legal, self.action_mask, self.current_player, self._state

    def _view(self, rows: np.ndarray) -> None:
        self.game.loops.view_games(self.game.params, self._records, rows, *self._seen())
        self._view_histories(rows)

    def _view_histories(self, rows: np.ndarray) -> None:
        if self._history is not None:
            self.game.loops.view_histories(self.game.params, self._records, self._logs, rows, self._history)

    def _step_and_view(self, rows: np.ndarray, actions: np.ndarray) -> None:
        self.game.loops.step_games(
            self.game.params,
            self._generators,
            self._records,
            self._logs,
            rows,
            actions,
            self.auto_deal,
            *self._paid(),
        )
        self._view(rows)

    def _share(self, work: Callable[..., None], *arrays: np.ndarray) -> None:
        """Run ``work(*arrays)``, the arrays cut into a slice for each thread."""
        if self._pool is None:
            work(*arrays)
        else:
            cut = [np.array_split(array, self.num_threads) for array in arrays]
            list(self._pool.map(work, *cut))
