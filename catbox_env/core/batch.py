"""Many games in one structured array, stepped in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from catbox_env.core.checks import as_array, brief, check_integer, check_integers, is_array
from catbox_env.core.rng import GENERATOR, child_seeds, new_generators, seed_sequence
from catbox_env.core.saved import check_records, check_same_game
from catbox_env.core.state import GameState, gather_states
from catbox_env.core.storage import Storage, alone

if TYPE_CHECKING:  # a game makes batches
    from catbox_env.core.game import Game

#: Most random actions between two checks for Ctrl-C.
UNINTERRUPTED = 200_000
#: Most illegal actions that one error message explains.
MOST_EXPLAINED = 3


class Vec(Storage):
    """N games side by side. Every array below is allocated once and rewritten in place by ``reset`` and ``step``.

    Attributes (none can be assigned):
        observation: (N, O) int8, what the seat to move sees.
        action_mask: (N, A) bool, its legal actions.
        current_player: (N,) int8, the seat to move.
        rewards: (N, P) float32, what the last step paid to each seat.
        terminated: (N,) bool, whether the last step ended the game; with ``auto_deal`` a new one has been dealt.
        win_shares: (N, P) float32, each seat's share of the win; read the rows of ``terminated``.
        round_ended: (N,) bool, whether the last step ended a round.
        info: name -> (N, P) int32, the statistics of the last finished round; read the rows of ``round_ended``.
        history: (N, T, 2) int8, the history as the seat to move saw it; only with ``history=True``.
        state: (N, S) int8, everything, seats relative to the seat to move; only with ``state=True``.
        game, num_envs, num_threads, auto_deal: as given.

    Game i of ``reset(seed)`` is the game that ``new_initial_state(SeedSequence(seed).spawn(N)[i])`` begins; when it
    is over the next one comes from the same generator.

    ``copy.deepcopy`` and ``pickle`` give an exact, independent copy, with threads of its own. A batch belongs to one
    thread at a time: a call while another thread is in a call raises ``RuntimeError`` and changes nothing. The process
    may fork while no thread is in a call. After Ctrl-C in ``step`` each game has either made the step or not. After
    Ctrl-C in ``deal``, ``set_states`` or ``load``, repeat the call.

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
        self._allocate(game, num_envs, num_threads, history, state, auto_deal)
        self.reset(seed)

    @alone
    def reset(self, seed: Any = None) -> None:
        """Deal a new game in every row.

        Args:
            seed: a non-negative integer or a numpy ``SeedSequence``, of which game i gets the i-th child; or a list
                of N of them, one for each game; ``None`` continues with the current generators (at first: entropy
                from the operating system).
        """
        if isinstance(seed, list):
            if len(seed) != self.num_envs:
                raise ValueError(f"seed={brief(seed)}: expected one seed for each of {self.num_envs} games")
            self._generators[:] = new_generators([seed_sequence(one) for one in seed])
            self._seeded = True
        elif seed is not None or not self._seeded:
            self._generators[:] = new_generators(child_seeds(seed_sequence(seed), self.num_envs))
            self._seeded = True
        self._deal(self._all)

    @alone
    def deal(self, rows: np.ndarray, seeds: Sequence[Any] | None = None) -> None:
        """Deal new games in ``rows`` (M,), distinct indices; the other games stay as they are.

        ``seeds``: one for each row, a non-negative integer or a numpy ``SeedSequence``; ``None`` continues with the
        row's generator. Raises ``ValueError`` for invalid rows or seeds, changing nothing.
        """
        rows = self._checked_rows(rows)
        if seeds is not None:
            if not isinstance(seeds, list | tuple) or len(seeds) != len(rows):
                raise ValueError(
                    f"seeds={brief(seeds)}: expected a list, one seed for each of {len(rows)} rows"
                )
            given = [k for k, seed in enumerate(seeds) if seed is not None]
            if given:
                self._generators[rows[given]] = new_generators([seed_sequence(seeds[k]) for k in given])
        self._deal(rows)

    @alone
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
        count = self.game.loops.check_actions(self._legal, rows, own, self._bad)
        if count:
            explained = "; ".join(
                f"row {rows[k]}: action {given[k]} of seat {self.current_player[rows[k]]}: "
                + self.explain_refusal(int(rows[k]), int(given[k]))
                for k in self._bad[: min(count, MOST_EXPLAINED)]
            )
            more = f"; and {count - MOST_EXPLAINED} more" if count > MOST_EXPLAINED else ""
            raise ValueError(
                f"illegal actions in {count} of {len(rows)} games ({explained}{more}); no game has moved: choose "
                f"where action_mask is True"
            )
        if rows is not self._all:
            self._clear_outcomes(self._all)
        self._run(self._step_and_view, rows, own)

    @alone
    def step_random(self, num_steps: int, seed: Any = None) -> None:
        """Take ``num_steps`` uniformly random legal actions in every game, drawn in compiled code.

        Every array is written after every action, as ``num_steps`` calls of ``step`` would; Ctrl-C stops between two
        of them. ``seed`` seeds the actions; the deals come from the games' own generators. Raises ``ValueError``
        without ``auto_deal``, and unless ``num_steps`` is an integer from 0 to 2**63 - 1.
        """
        left = check_integer("num_steps", num_steps, 0, 2**63 - 1)
        if not self.auto_deal:
            raise ValueError("step_random needs auto_deal=True, because it plays on when a game ends")
        action_generators = new_generators(seed_sequence(seed).spawn(self.num_envs))
        at_once = max(1, UNINTERRUPTED // self.num_envs)

        def play(rows: np.ndarray, actions: np.ndarray) -> None:
            num_steps = min(left, at_once)
            self.game.loops.step_games_at_random(
                self._games, rows, actions, num_steps, action_generators, self._outcomes, self._views
            )
            self._view_histories(rows)

        while left > 0:
            self._run(play, self._all, self._actions)
            left -= min(left, at_once)

    @alone
    def play_others_at_random(
        self, seats: np.ndarray, generators: np.ndarray, rows: np.ndarray | None = None
    ) -> None:
        """Take uniformly random legal actions until ``seats[i]`` is to move in game i, or game i is over.

        The games are played in compiled code. ``rewards``, ``terminated`` and ``round_ended`` are those of all these
        actions together. A game that is over is not dealt anew.

        Args:
            seats: (N,) integers, a seat for each game of the batch; for a value that is no seat, such as -1, all seats
                play at random, to the end of the game.
            generators: (N,) records as `core.rng.new_generators` makes them, advanced in place: an action of game i
                takes the next 64 bits of ``generators[i]``.
            rows: (M,) distinct indices of the games that play; the others stay as they are, with zero rewards.

        Raises ``ValueError`` with ``auto_deal``, and for invalid seats, generators or rows.
        """
        if self.auto_deal:
            raise ValueError("play_others_at_random needs auto_deal=False, because it stops when a game ends")
        rows = self._all if rows is None else self._checked_rows(rows)
        seats = np.ascontiguousarray(check_integers("seats", seats, self._all.shape), np.int64)
        if not is_array(generators, self._all.shape, GENERATOR):
            raise ValueError(
                f"generators={brief(generators)}: expected {self.num_envs} records of new_generators"
            )
        if rows is not self._all:
            self._clear_outcomes(self._all)

        def play(rows: np.ndarray) -> None:
            self.game.loops.play_others_at_random(
                self._games, rows, seats, generators, self._outcomes, self._views
            )
            self._view_histories(rows)

        self._run(play, rows)

    @alone
    def play_compiled(self, play: Callable[..., None], rows: np.ndarray) -> None:
        """Call ``play(games, rows, outcomes, views)``, which moves games in compiled code as `core.loops` does.

        ``rows`` (M,): the games to move; each thread gets a part of them. Nothing that ``play`` does is checked. The
        outcomes afterwards are those of the last move of each row. Raises ``ValueError`` for invalid rows.
        """
        rows = self._checked_rows(rows)
        if rows is not self._all:
            self._clear_outcomes(self._all)

        def play_and_view(some: np.ndarray) -> None:
            play(self._games, some, self._outcomes, self._views)
            self._view_histories(some)

        self._run(play_and_view, rows)

    @alone
    def observe(self, seats: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """What any seat sees, whether or not it is to move: a new (M, O) int8 array.

        ``seats`` (M,): the observing seat of each of ``rows`` (M,), all games by default. Raises ``ValueError`` for
        seats that do not exist.
        """
        rows = self._all if rows is None else self._checked_rows(rows)
        seats = check_integers("seats", seats, rows.shape, 0, self.game.num_players - 1)
        out = np.empty((len(rows), self.game.observation_layout.size), np.int8)
        self.game.loops.observe_games(self._games, rows, seats.astype(np.int64), out)
        return out

    @alone
    def public_actions(self, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """What the other seats would see of ``actions`` (M,), legal in the games ``rows`` (M,): a new (M,) int64 array.

        The action itself, or -1 where it is hidden. Raises ``ValueError`` for illegal actions.
        """
        rows = self._existing_rows(rows)
        given = check_integers("actions", actions, rows.shape, 0, self.game.num_actions - 1)
        if not self._legal[rows, given].all():
            raise ValueError(
                f"actions={brief(actions)}: expected a legal action for each of {len(rows)} games; choose where "
                "action_mask is True"
            )
        out = np.empty(len(rows), np.int64)
        self.game.loops.public_actions(self.game.params, self._records, rows, given.astype(np.int64), out)
        return out

    @alone
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
        records, generators, logs = self._given(states, len(rows))
        self._check_running("states", records)
        self._cut_off = True
        self._records[rows], self._generators[rows], self._logs[rows] = records, generators, logs
        self._seeded = True
        self._begin(rows)

    @alone
    def take(self, rows: np.ndarray) -> Vec:
        """Copies of the games ``rows`` (M,), M at least 1, as a new batch; a game listed twice is copied twice.

        Each copy continues exactly as its game would, with the same future deals. ``rewards`` are 0 until the next
        step. The new batch has the options of this one: threads, history, state and ``auto_deal``. Raises
        ``ValueError`` for rows that do not exist.
        """
        rows = self._existing_rows(rows)
        game, _, *options = self._made_with()
        copies = Vec._undealt(game, len(rows), *options)
        for own, new in ((self._records, copies._records), (self._generators, copies._generators)):
            size = own.dtype.itemsize  # as bytes: NumPy would copy records field by field
            np.take(
                own.view(np.uint8).reshape(-1, size), rows, 0, new.view(np.uint8).reshape(-1, size), "clip"
            )
        copies._logs[:] = self._logs[rows]
        copies.win_shares[:] = self.win_shares[rows]
        copies._seeded = True
        copies._begin(copies._all)
        return copies

    def explain_refusal(self, row: int, action: int) -> str:
        """Why ``action``, any integer, is illegal in game ``row``. Raises ``ValueError`` for an unknown row."""
        row = check_integer("row", row, 0, self.num_envs - 1)
        return self.game.explain_refusal(self._records[row], action)

    def deal_of(self, row: int) -> dict[str, Any] | None:
        """The deal of the round that has just begun in game ``row``, as ``new_initial_state(deal=...)`` takes it.

        None for a game without deals. Raises ``ValueError`` for an unknown row.
        """
        return self.game.deal_of(self._records[check_integer("row", row, 0, self.num_envs - 1)])

    def render_text(self, row: int, seat: int | None = None) -> str:
        """One game as plain text, with the hand of ``seat``, or every hand for ``None``.

        Raises ``ValueError`` for a row or a seat that does not exist.
        """
        row = check_integer("row", row, 0, self.num_envs - 1)
        return "".join(text for text, _ in self.game.render(self._records[row], seat))

    def render_svg(self, row: int, seat: int | None = None, size: int = 720, theme: str = "light") -> str:
        """One game as a picture, as `Game.render_svg` draws a state.

        It includes the last action if the batch keeps histories. Raises ``ValueError`` for a row that does not exist,
        and as `Game.render_svg` does.
        """
        row = check_integer("row", row, 0, self.num_envs - 1)
        one = slice(row, row + 1)
        state = GameState(self.game, self._records[one], self._generators[one], self._logs[row])
        return self.game.render_svg(state, seat, size, theme)

    @alone
    def _fill(self, records: np.ndarray, generators: np.ndarray) -> None:
        """Put checked games (N,) without a past into all rows."""
        self._cut_off = True
        self._records[:], self._generators[:] = records, generators
        self._seeded = True
        self._begin(self._all)

    def _given(
        self, states: GameState | Sequence[GameState] | Vec, count: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Copies of the records (M,), generators (M,) and logs (M, T, 3) of ``count`` given states."""
        if not isinstance(states, Vec):
            gathered = gather_states(states, self.game, count, self._logs.shape[1])
            check_records("states", self.game, *gathered)
            return gathered
        if states.num_envs != count:
            raise ValueError(
                f"states: a batch of {states.num_envs} games for {count} rows; give one for each row"
            )
        check_same_game("states", states.game, self.game)
        return states._copied(self._logs.shape[1])

    @alone
    def _copied(self, log_length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Copies of the records (N,), generators (N,) and logs (N, ``log_length``, 3)."""
        if log_length and self._history is None and self._records["num_moves"].any():
            raise ValueError("states: the given batch keeps no history, expected one made with history=True")
        logs = np.zeros((self.num_envs, log_length, 3), np.int8)
        if self._history is not None and log_length:
            logs[:] = self._logs
        return self._records.copy(), self._generators.copy(), logs

    def _existing_rows(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(check_integers("rows", rows, (None,), 0, self.num_envs - 1), np.intp)

    def _checked_rows(self, rows: np.ndarray) -> np.ndarray:
        given = self._existing_rows(rows)
        if np.bincount(given, minlength=1).max() > 1:
            raise ValueError(f"rows={brief(rows)}: a row is given twice; list each row at most once")
        return given

    def _step_and_view(self, rows: np.ndarray, actions: np.ndarray) -> None:
        self.game.loops.step_games(self._games, rows, actions, self.auto_deal, self._outcomes)
        self._view(rows)

    def _deal(self, rows: np.ndarray) -> None:
        self._cut_off = True
        self.game.loops.deal_games(self.game.params, self._generators, self._records, rows)
        self._begin(rows)

    def _begin(self, rows: np.ndarray) -> None:
        """Clear the outcomes of ``rows``, which hold new games, and write their views."""
        self._clear_outcomes(rows)
        self._run(self._view, rows)

    def _clear_outcomes(self, rows: np.ndarray) -> None:
        where = slice(None) if rows is self._all else rows  # much faster than an array of all indices
        for array in (self.rewards, self.terminated, self.round_ended):
            array[where] = 0
