"""Many games in one structured array, stepped in place."""

from __future__ import annotations

import itertools
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
        terminated: (N,) bool, whether the last step ended the game; a new one has been dealt in its place.
        round_ended: (N,) bool, whether the last step ended a round.
        info: name -> (N, P) int16, the figures of the last finished round; read the rows of ``round_ended``.
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
        # Actions are checked against a mask that no caller can overwrite.
        self._legal = np.zeros((n, actions), np.bool_)
        self._bad = np.zeros(n, np.int64)
        self._actions = np.zeros(n, np.int64)
        self._records = np.zeros(n, game.state_dtype)
        self._generators = new_generators([])
        self._logs = np.zeros((n, game.history_length if history else 0, 3), np.int8)
        self._history = np.zeros((n, game.history_length, 2), np.int8) if history else None
        self._state = np.zeros((n, game.state_layout.size if state else 0), np.int8)
        self.info = {name: self._records["info"][:, i, :players] for i, name in enumerate(game.info_names)}
        bounds = np.linspace(0, n, self.num_threads + 1).astype(int)
        self._slices = [(int(a), int(b)) for a, b in itertools.pairwise(bounds)]
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
        self.game.loops.deal_games(self.game.params, self._generators, self._records)
        self.rewards.fill(0)
        self.terminated.fill(False)
        self.round_ended.fill(False)
        self._share(self._view)

    def step(self, actions: np.ndarray) -> None:
        """One action in every game; games that end are dealt anew.

        Args:
            actions: (N,) integers, one for the seat to move of each game.

        Raises ``ValueError``, no game moved, for a wrong shape or dtype or any illegal action, naming the rows.
        """
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions: {given.dtype} of shape {given.shape}; expected integers of shape ({self.num_envs},)"
            )
        np.copyto(self._actions, given, casting="unsafe")
        count = self.game.loops.check_actions(self._legal, self._actions, self._bad)
        if count:
            rows = self._bad[:count]
            shown = ", ".join(
                f"row {i}: action {given[i]} of seat {self.current_player[i]}" for i in rows[:5]
            )
            more = f" and {count - 5} more" if count > 5 else ""
            raise ValueError(
                f"illegal actions in {count} of {self.num_envs} games ({shown}{more}); no game has moved: choose "
                f"where action_mask is True"
            )
        self._share(self._step_and_view)

    def step_random(self, num_steps: int, seed: Any = None) -> None:
        """``num_steps`` uniformly random legal actions in every game, chosen in compiled code.

        Every array is written after every action, as ``num_steps`` calls of ``step`` would. ``seed`` is that of the
        choices; the deals come from the games' own generators.
        """
        choosers = new_generators(seed_sequence(seed).spawn(self.num_envs))

        def play(start: int, stop: int) -> None:
            self.game.loops.step_games_at_random(
                self.game.params,
                self._generators,
                self._records,
                self._logs,
                start,
                stop,
                num_steps,
                choosers,
                np.empty(self.game.num_actions + 1, np.int64),
                self._actions,
                *self._seen(),
                self.rewards,
                self.terminated,
                self.round_ended,
            )
            self._view_histories(start, stop)

        self._share(play)

    def save(self) -> dict[str, np.ndarray]:
        """Copies of everything that the games' future depends on; ``load`` goes on exactly from there."""
        return {
            "records": self._records.view(np.uint8).copy(),
            "generators": self._generators.view(np.uint8).copy(),
            "logs": self._logs.copy(),
            "rewards": self.rewards.copy(),
            "terminated": self.terminated.copy(),
            "round_ended": self.round_ended.copy(),
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
        self._share(self._view)

    def _seen(self) -> tuple[np.ndarray, ...]:
        return self.observation, self._legal, self.action_mask, self.current_player, self._state

    def _view(self, start: int, stop: int) -> None:
        self.game.loops.view_games(self.game.params, self._records, start, stop, *self._seen())
        self._view_histories(start, stop)

    def _view_histories(self, start: int, stop: int) -> None:
        if self._history is not None:
            self.game.loops.view_histories(
                self.game.params, self._records, self._logs, start, stop, self._history
            )

    def _step_and_view(self, start: int, stop: int) -> None:
        self.game.loops.step_games(
            self.game.params,
            self._generators,
            self._records,
            self._logs,
            start,
            stop,
            self._actions,
            self.rewards,
            self.terminated,
            self.round_ended,
        )
        self._view(start, stop)

    def _share(self, work: Callable[[int, int], None]) -> None:
        """Run ``work(start, stop)`` over all games, a slice for each thread."""
        if self._pool is None:
            work(0, self.num_envs)
        else:
            list(self._pool.map(lambda bounds: work(*bounds), self._slices))
