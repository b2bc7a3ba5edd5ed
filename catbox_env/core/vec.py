"""Many games stepped at once (`Vec`). Names follow Gymnasium."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from catbox_env.core.checks import as_array, check_flag, check_integer, check_integers, short_repr
from catbox_env.core.kernels import copy_records
from catbox_env.core.loops import Games, Loops, Outcomes, Views
from catbox_env.core.rng import ACTIONS, GENERATOR, child_seeds, new_generators, seed_for, seed_sequence
from catbox_env.core.spec import GameSpec, check_game_object, check_same_game
from catbox_env.core.state import GameState, illegal_reason

MAX_THREADS = 1024
#: Random actions of a batch between two checks for Ctrl-C.
ACTIONS_AT_ONCE = 200_000
#: Illegal actions that one error message explains.
MAX_EXPLAINED = 3
#: As the seed of a `Vec`: begin no games, because ``_fill`` follows.
UNDEALT = object()


class Vec:
    """N games side by side. Every array below is allocated once and rewritten in place by ``reset`` and ``step``.

    Attributes:
        observation: (N, O) int8, what the seat to move sees.
        action_mask: (N, A) bool, its legal actions.
        current_player: (N,) int8, the seat to move.
        rewards: (N, P) float32, the reward of each seat for the last step.
        terminated: (N,) bool, whether the last step ended the game; with ``auto_deal`` a new one has been dealt.
        win_shares: (N, P) float32, each seat's share of the win; read the rows of ``terminated``.
        round_ended: (N,) bool, whether the last step ended a round.
        info: name -> (N, P) int32, the statistics of the last finished round; read the rows of ``round_ended``.
        history: (N, T, 2) int8, the history as the seat to move saw it; only with ``history=True``.
        state: (N, S) int8, everything, seats relative to the seat to move; only with ``state=True``.
        game, num_envs, num_threads, auto_deal: as given.

    Game i of ``reset(seed)`` is the game that ``new_initial_state(SeedSequence(seed).spawn(N)[i])`` begins; when it
    is over the next one comes from the same generator.

    ``copy.deepcopy`` and ``pickle`` give an exact, independent copy. A batch belongs to one thread at a time. After
    Ctrl-C, or any other exception but ``ValueError``, call ``reset``: the games may be anywhere.

    Args:
        game: the game to play.
        num_envs: how many games, at least 1.
        seed: as in ``reset``.
        num_threads: threads that share the games of one call, 1 .. 1024. The result does not depend on it.
        history, state: whether to keep these arrays.
        auto_deal: whether a game that ends is dealt anew in the same step. Without it the game stays at its end,
            ``current_player`` -1 and the mask empty, seen by seat 0, until ``deal``.

    Raises ``ValueError`` for an invalid argument.
    """

    #: A `core.game.Game`, which makes batches of worlds: this file cannot import it.
    game: Any
    info: dict[str, np.ndarray]

    def __init__(
        self,
        game: GameSpec,
        num_envs: int,
        seed: Any = None,
        num_threads: int = 1,
        history: bool = False,
        state: bool = False,
        auto_deal: bool = True,
    ) -> None:
        check_game_object(game)
        self.game, self.num_envs = game, check_integer("num_envs", num_envs, 1)
        self.num_threads = min(check_integer("num_threads", num_threads, 1, MAX_THREADS), self.num_envs)
        self.auto_deal = check_flag("auto_deal", auto_deal)
        self._keeps_history = check_flag("history", history)
        n, players, actions = self.num_envs, game.num_players, game.num_actions
        length = game.max_game_length if history else 0
        whole = game.state_layout.size if check_flag("state", state) else 0
        try:
            self.observation = np.zeros((n, game.observation_layout.size), np.int8)
            self.action_mask = np.zeros((n, actions), np.bool_)
            self.current_player = np.zeros(n, np.int8)
            self.rewards = np.zeros((n, players), np.float32)
            self.terminated = np.zeros(n, np.bool_)
            self.round_ended = np.zeros(n, np.bool_)
            self.win_shares = np.zeros((n, players), np.float32)
            # The records, as bytes, which NumPy copies exactly.
            self._bytes = np.zeros((n, game.kernels.state.itemsize), np.uint8)
            self._generators = np.zeros(n, GENERATOR)
            self._logs = np.zeros((n, length, 3), np.int8)
            self._histories = np.zeros((n, length, 2), np.int8)
            self._state_vectors = np.zeros((n, whole), np.int8)
            # What actions are checked against, because a caller may write into action_mask.
            self._legal = np.zeros((n, actions), np.bool_)
            self._all, self._actions, self._bad = np.arange(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
        except (MemoryError, ValueError, OverflowError) as error:
            raise ValueError(f"num_envs={n}: expected fewer games, which fit in memory ({error})") from error
        self._seeded = False  # whether the generators have been given a seed
        self._bind()
        if seed is not UNDEALT:
            self.reset(seed)

    @property
    def history(self) -> np.ndarray:
        """(N, T, 2) int8: the history as the seat to move saw it."""
        if not self._keeps_history:
            raise ValueError("history is not kept: make the batch with history=True")
        return self._histories

    @property
    def state(self) -> np.ndarray:
        """(N, S) int8: everything, seats relative to the seat to move."""
        if self._state_vectors.shape[1] == 0:
            raise ValueError("state is not kept: make the batch with state=True")
        return self._state_vectors

    def reset(self, seed: Any = None) -> None:
        """Deal a new game in every row.

        Args:
            seed: a non-negative integer or a numpy ``SeedSequence``, of which game i gets the i-th child; ``None``
                continues with the current generators (at first: entropy from the operating system); or a list or tuple
                of N of these, one for each game.
        """
        several = isinstance(seed, list | tuple)
        if several and len(seed) != self.num_envs:
            raise ValueError(f"seed={short_repr(seed)}: expected one seed for each of {self.num_envs} games")
        if not self._seeded or not (several or seed is None):
            root = seed_sequence(None if several else seed)
            self._generators[:] = new_generators(child_seeds(root, self.num_envs))
            self._seeded = True
        if several:
            self._seed_rows(self._all, seed)
        self._deal(self._all)

    def deal(self, rows: np.ndarray, seeds: Sequence[Any] | None = None) -> None:
        """Deal new games in ``rows`` (M,), distinct indices; the other games stay as they are.

        ``seeds``: a list or tuple, one for each row, each a non-negative integer or a numpy ``SeedSequence``; ``None``
        continues with the row's generator. Raises ``ValueError`` for invalid rows or seeds, changing nothing.
        """
        rows = self._checked_rows(rows)
        if seeds is not None:
            if not isinstance(seeds, list | tuple) or len(seeds) != len(rows):
                raise ValueError(
                    f"seeds={short_repr(seeds)}: expected a list, one seed for each of {len(rows)} rows"
                )
            self._seed_rows(rows, seeds)
        self._deal(rows)

    def step(self, actions: np.ndarray, rows: np.ndarray | None = None) -> None:
        """Take one action in every game, or in some.

        Args:
            actions: (N,) integers, one for the seat to move of each game; (M,) when ``rows`` are given.
            rows: (M,) distinct indices of the games that move; the others stay as they are, with zero rewards.

        Raises ``ValueError`` for a wrong shape or dtype or any illegal action, naming the rows; no game has moved then.
        """
        rows = self._all if rows is None else self._checked_rows(rows)
        given = as_array("actions", actions)
        if given.shape != rows.shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions: {given.dtype} of shape {given.shape}; expected integers of shape {rows.shape}"
            )
        own = self._actions[: len(rows)]
        np.copyto(own, given, casting="unsafe")
        count = self._loops.check_actions(self._legal, rows, own, self._bad)
        if count:
            reasons = "; ".join(
                f"row {rows[k]}: action {given[k]} of seat {self.current_player[rows[k]]}: "
                + illegal_reason(self.get_state(int(rows[k])), int(given[k]))
                for k in self._bad[: min(count, MAX_EXPLAINED)]
            )
            more = f"; and {count - MAX_EXPLAINED} more" if count > MAX_EXPLAINED else ""
            raise ValueError(
                f"illegal actions in {count} of {len(rows)} games ({reasons}{more}); no game has moved: choose "
                f"where action_mask is True"
            )
        if rows is not self._all:
            self._clear_outcomes(self._all)
        self._run(self._step, rows, own)

    def step_random(self, num_steps: int, seed: Any = None) -> None:
        """Take ``num_steps`` uniformly random legal actions in every game, in compiled code.

        Every array is written after every action, as ``num_steps`` calls of ``step`` would. ``seed`` seeds the actions
        and is independent of the same seed in ``reset``; the deals come from the games' own generators. Raises
        ``ValueError`` without ``auto_deal``, and unless ``num_steps`` is an integer from 0 to 2**63 - 1.
        """
        left = check_integer("num_steps", num_steps, 0, 2**63 - 1)
        if not self.auto_deal:
            raise ValueError("step_random needs auto_deal=True, because it plays on when a game ends")
        generators = new_generators(child_seeds(seed_for(ACTIONS, seed), self.num_envs))
        while left > 0:
            steps = min(left, max(1, ACTIONS_AT_ONCE // self.num_envs))

            def play(rows: np.ndarray, actions: np.ndarray, steps: int = steps) -> None:
                self._loops.step_games_at_random(
                    self._games, rows, actions, steps, generators, self._outcomes, self._views
                )

            self._run(play, self._all, self._actions)
            left -= steps

    def play_compiled(self, play: Callable[..., None], rows: np.ndarray) -> None:
        """Call ``play(games, rows, outcomes, views)``, which moves games in compiled code as `core.loops` does.

        ``rows`` (M,): the games to move; each thread gets a part of them. Nothing that ``play`` does is checked. The
        outcomes of the other rows are zero afterwards. Raises ``ValueError`` for invalid rows.
        """
        rows = self._checked_rows(rows)
        self._clear_outcomes(self._all)
        self._run(lambda some: play(self._games, some, self._outcomes, self._views), rows)

    def observe(self, seats: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """What any seat sees, whether or not it is to move: a new (M, O) int8 array.

        ``seats`` (M,): the observing seat of each of ``rows`` (M,), all games by default. Raises ``ValueError`` for
        seats that do not exist.
        """
        rows = self._all if rows is None else self._existing_rows(rows)
        seats = check_integers("seats", seats, rows.shape, 0, self.game.num_players - 1)
        out = np.empty((len(rows), self.game.observation_layout.size), np.int8)
        self._loops.write_observations(self.game.params, self._records, rows, seats.astype(np.int64), out)
        return out

    def public_actions(self, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """What the other seats would see of ``actions`` (M,), legal in the games ``rows`` (M,): a new (M,) int64 array.

        The action itself, or -1 where it is hidden. Raises ``ValueError`` for actions or rows that do not exist.
        """
        rows = self._existing_rows(rows)
        given = check_integers("actions", actions, rows.shape, 0, self.game.num_actions - 1)
        out = np.empty(len(rows), np.int64)
        self._loops.public_actions(self.game.params, self._records, rows, given.astype(np.int64), out)
        return out

    def set_states(
        self, states: GameState | Sequence[GameState] | Vec, rows: np.ndarray | None = None
    ) -> None:
        """Put the given states into ``rows`` (M,), all games by default; the others stay as they are.

        Args:
            states: one for each row, as a sequence or as a batch of M games, or one for all rows.
            rows: distinct indices of games.

        Each row continues exactly as its state would, with the same future deals; the states are copied. ``rewards``
        are 0 there until the next step. Raises ``ValueError``, changing nothing, for states of another game or rule
        set, for a wrong number of them, and with ``auto_deal`` for a finished game.
        """
        rows = self._all if rows is None else self._checked_rows(rows)
        if states is self:  # otherwise a row could be overwritten before it is read
            states = copy.deepcopy(self)
        if isinstance(states, Vec):
            games, count = {states.game}, states.num_envs
            records, generators = states._records, states._generators
        else:
            given = [states] * len(rows) if isinstance(states, GameState) else states
            listed = isinstance(given, Sequence) and all(isinstance(state, GameState) for state in given)
            games, count = {state.game for state in given} if listed else set(), len(given) if listed else -1
        if count != len(rows):
            raise ValueError(
                f"states={short_repr(states)}: expected one state, {len(rows)} states, one for each row, or a batch "
                "of them"
            )
        for game in games:
            check_same_game("states", game, self.game)
        if not isinstance(states, Vec):
            records = np.array([state._records for state in given], self._records.dtype).reshape(-1)
            generators = np.array([state._generators for state in given], GENERATOR).reshape(-1)
        self._check_running("states", records)
        if self._keeps_history:
            logs = states._logs if isinstance(states, Vec) else [state._log for state in given]
            if any(len(log) < moves for log, moves in zip(logs, records["num_moves"].tolist(), strict=True)):
                raise ValueError(
                    "states: the given games keep no history; take them from a batch with history=True"
                )
            for row, log in zip(rows.tolist(), logs, strict=True):
                self._logs[row, : len(log)] = log
        self._records[rows], self._generators[rows] = records, generators
        self._seeded = True
        self._show_new(rows)

    def get_state(self, row: int) -> GameState:
        """A copy of the game ``row`` as a state, with the same future deals. Raises ``ValueError`` for a wrong row."""
        row = check_integer("row", row, 0, self.num_envs - 1)
        one = slice(row, row + 1)
        records, generators = copy_records(self._records[one]), copy_records(self._generators[one])
        return GameState(self.game, records, generators, self._logs[row].copy())

    def take(self, rows: np.ndarray) -> Vec:
        """Copies of the games ``rows`` (M,), M at least 1, as a new batch; a game listed twice is copied twice.

        Each copy continues exactly as its game would, with the same future deals. ``rewards`` are 0 until the next
        step. The new batch has the options of this one: threads, history, state and ``auto_deal``. Raises
        ``ValueError`` for rows that do not exist.
        """
        rows = self._existing_rows(rows)
        history, state = self._keeps_history, self._state_vectors.shape[1] > 0
        copies = Vec(self.game, len(rows), UNDEALT, self.num_threads, history, state, self.auto_deal)
        np.take(self._bytes, rows, 0, copies._bytes, "clip")
        copies._logs[:], copies.win_shares[:] = self._logs[rows], self.win_shares[rows]
        copies._fill(None, self._generators[rows])
        return copies

    def _bind(self) -> None:
        """Make what refers to the arrays: the records, ``info``, and the arrays as the loops take them."""
        self._loops: Loops = self.game.loops
        self._records = self._bytes.view(self.game.kernels.state)[:, 0]
        statistics = self._records["info"][:, :, : self.game.num_players]
        statistics.setflags(write=False)  # a part of the records
        self.info = {name: statistics[:, i] for i, name in enumerate(self.game.kernels.info_names)}
        self._games = tuple(Games(self.game.params, self._generators, self._records, self._logs))
        self._outcomes = tuple(Outcomes(self.rewards, self.terminated, self.round_ended, self.win_shares))
        masks = (self._legal, self.action_mask)
        kept = (self._state_vectors, self._histories)
        self._views = tuple(Views(self.observation, *masks, self.current_player, *kept))
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def __getstate__(self) -> dict[str, Any]:
        made = ("_loops", "_records", "info", "_games", "_outcomes", "_views", "_pool", "_process")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        self._bind()

    def _fill(self, records: np.ndarray | None, generators: np.ndarray) -> None:
        """Put games (N,) into all rows; ``records`` None: they are there already."""
        if records is not None:
            self._bytes[:] = records.view(np.uint8).reshape(self._bytes.shape)
        self._generators[:] = generators
        self._seeded = True
        self._show_new(self._all)

    def _seed_rows(self, rows: np.ndarray, seeds: Sequence[Any]) -> None:
        """Give ``rows`` (M,) new generators; a row whose seed is None keeps its own."""
        given = [k for k, seed in enumerate(seeds) if seed is not None]
        self._generators[rows[given]] = new_generators([seed_sequence(seeds[k]) for k in given])

    def _deal(self, rows: np.ndarray) -> None:
        self._loops.deal_games(self.game.params, self._generators, self._records, rows)
        self._show_new(rows)

    def _show_new(self, rows: np.ndarray) -> None:
        """Clear the outcomes of ``rows``, which hold new games, and write what their seats to move see."""
        self._clear_outcomes(rows)
        self._run(lambda some: self._loops.view_games(self._games, some, self._views), rows)

    def _step(self, rows: np.ndarray, actions: np.ndarray) -> None:
        self._loops.step_games(self._games, rows, actions, self.auto_deal, self._outcomes, self._views)

    def _run(self, work: Callable[..., None], *arrays: np.ndarray) -> None:
        """Call ``work(*arrays)``, with the arrays split into a slice for each thread; wait for all of them."""
        if self.num_threads == 1:
            work(*arrays)
            return
        if self._pool is None or self._process != os.getpid():  # a forked process has none of the threads
            self._pool = ThreadPoolExecutor(self.num_threads, thread_name_prefix="catbox")
            self._process = os.getpid()
        pool = self._pool
        try:
            slices = zip(*(np.array_split(array, self.num_threads) for array in arrays), strict=True)
            for future in [pool.submit(work, *some) for some in slices]:
                future.result()
        except BaseException:
            pool.shutdown()  # also waits for a thread whose future is not known, because Ctrl-C came meanwhile
            self._pool = None
            raise

    def _clear_outcomes(self, rows: np.ndarray) -> None:
        where = slice(None) if rows is self._all else rows  # much faster than an array of all indices
        for array in (self.rewards, self.terminated, self.round_ended):
            array[where] = 0

    def _check_running(self, what: str, records: np.ndarray) -> None:
        over = records["terminated"] != 0
        if self.auto_deal and over.any():
            raise ValueError(
                f"{what}: game {int(over.argmax())} is over; a batch with auto_deal=True cannot hold finished games, "
                f"make it with auto_deal=False"
            )

    def _existing_rows(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(check_integers("rows", rows, (None,), 0, self.num_envs - 1), np.intp)

    def _checked_rows(self, rows: np.ndarray) -> np.ndarray:
        given = self._existing_rows(rows)
        if np.bincount(given, minlength=1).max() > 1:
            raise ValueError(f"rows={short_repr(rows)}: a row is given twice; list each row at most once")
        return given
