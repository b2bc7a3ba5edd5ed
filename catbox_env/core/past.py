"""The past of sampled worlds: how a round, or a whole game, can have led to them.

A world is sampled from what a seat sees now (`Game.sample_states`). With that seat's history, `rewind` takes it back to
the beginning of its round and fills in the actions that the seat could not see, such as discards, consistently with the
world. A search replays them to estimate how likely the other seats were to act this way. `sample_past` gives a single
state such a past, including earlier rounds.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from catbox_env.core.batch import Vec
from catbox_env.core.checks import as_array, brief, check_integers
from catbox_env.core.kernels import UNUSED
from catbox_env.core.rng import child_seeds, new_generators, seed_sequence, split_generators
from catbox_env.core.sampling import checked_observations
from catbox_env.core.saved import check_same_game
from catbox_env.core.state import GameState

if TYPE_CHECKING:  # a game makes pasts
    from catbox_env.core.game import Game

#: Samples of worlds, or of deals of an earlier round, after which a history counts as impossible.
MOST_SAMPLED = 1_000_000
#: Most deals to try for a game that hides nothing.
MOST_TRIED = 20_000
#: Beginnings of a round to sample for one with the observer in its seat.
MANY_SEATS = 64
#: Most worlds to sample at a time.
MOST_AT_ONCE = 4096


class Past(NamedTuple):
    """How worlds (N,) came about since the beginning of their round.

    - ``beginnings``: a `Vec` of the same worlds at the beginning of the round; ``auto_deal`` is off.
    - ``actions`` (N, T) int64: the actions since then, in order, including hidden ones; -2 after the last.
    - ``importance_weights`` (N,) float64: 0 if these actions do not lead to the world, because the history
      excludes it. Else proportional to P / Q: Q is the probability with which the world and the hidden actions were
      sampled, P that of the deal that they imply. Multiplied by the probabilities of all ``actions`` they are posterior
      weights, by Bayes' rule.
    - ``acceptance`` (N,) float64, probabilities: 0 if the weight is 0, else proportional to the number of pasts that
      lead to the world, with all cards distinct. Worlds accepted with these probabilities have uniform pasts.
    """

    beginnings: Vec
    actions: np.ndarray
    importance_weights: np.ndarray
    acceptance: np.ndarray


def rewind(game: Game, worlds: Vec, histories: np.ndarray, history_of: np.ndarray | None = None) -> Past:
    """See `Game.rewind`."""
    if game.kernels.rewind is None:
        raise ValueError(
            f"{game.id} hides nothing, so there is nothing to rewind: the history is the past of its only world"
        )
    if not isinstance(worlds, Vec):
        raise ValueError(f"worlds={brief(worlds)}: expected a batch of games, as sample_states returns")
    check_same_game("worlds", worlds.game, game)
    if (worlds.current_player < 0).any():
        raise ValueError(
            f"worlds: game {int((worlds.current_player < 0).argmax())} is over; it has no next seat"
        )
    given = _checked_histories(game, histories)
    of = _checked_places(history_of, len(given), worlds.num_envs)
    return _rewind(game, worlds, worlds.current_player.astype(np.int64), given, of)


def _rewind(game: Game, worlds: Vec, seats: np.ndarray, histories: np.ndarray, of: np.ndarray) -> Past:
    """Like `rewind`; world i was sampled for the seat ``seats[i]`` and has the history ``histories[of[i]]``."""
    records, generators, _ = worlds._copied(0)
    actions = np.empty((worlds.num_envs, game.history_length), np.int64)
    weights, acceptance = np.empty(worlds.num_envs), np.empty(worlds.num_envs)
    drawn_by = split_generators(generators.copy(), np.ones(worlds.num_envs, np.int64))
    again = np.zeros(1, game.state_dtype)
    seen = np.empty((2, game.observation_layout.size), np.int8)
    misfit = game.loops.rewind_games(
        game.params, drawn_by, records, seats, histories, of, actions, weights, acceptance, again, seen
    )
    if misfit >= 0:
        raise ValueError(
            f"histories: row {of[misfit]} is not a history of world {misfit}; give that of the seat that the world was "
            f"sampled for, at that moment"
        )
    beginnings = Vec._undealt(game, worlds.num_envs, worlds.num_threads, auto_deal=False)
    beginnings._fill(records, generators)
    longest = int((actions != UNUSED).sum(axis=1).max(initial=0))
    return Past(beginnings, np.ascontiguousarray(actions[:, :longest]), weights, acceptance)


class PastRound(NamedTuple):
    """A round of a past: its deal, as `Game.deal_of` gives it, and all actions since, including hidden ones."""

    deal: dict[str, Any] | None
    actions: list[int]


def sample_past(
    game: Game,
    observation: np.ndarray,
    seed: Any,
    history: np.ndarray,
    beginnings: np.ndarray | None = None,
    seat: int | None = None,
) -> tuple[GameState, list[PastRound]]:
    """A state as `Game.sample_state` samples it from ``history``, and all rounds from the beginning of the game to it.

    ``observation``: (1, O), already checked. ``seat``: the seat that sees it; None: any that can see it.
    """
    given = as_array("history", history)
    if given.ndim != 2:
        raise ValueError(
            f"history: shape {given.shape}; expected int8 of shape ({game.history_length}, 2), as given by "
            "state.history_observation(player)"
        )
    given = _checked_histories(game, given)
    seen = [] if beginnings is None else list(checked_observations(game, beginnings, 2))
    root = seed_sequence(seed)
    rng = np.random.default_rng(child_seeds(root, 1)[0])
    sampler = _PastSampler(game, observation[0], given[0], seen, seat, new_generators([root]), rng)
    found = sampler.sample_open() if game.hides_nothing else sampler.sample_hidden()
    if found is not None:
        state, rounds, observer = found
        same = np.array_equal(state.observation(observer), observation[0])
        if same and np.array_equal(state.history_observation(observer), given[0]):
            return state, rounds
    raise ValueError(
        "history: no game leads to this observation with it; give the observation, the history and the beginnings "
        "of the same seat at the same moment"
    )


class _PastSampler(NamedTuple):
    """The inputs from which a past is sampled, and the generators of its deals and of its choices."""

    game: Game
    observation: np.ndarray
    history: np.ndarray
    beginnings: list[np.ndarray]
    seat: int | None
    generators: np.ndarray
    rng: np.random.Generator

    def sample_open(self) -> tuple[GameState, list[PastRound], int] | None:
        """For a game that hides nothing: one of the deals from which the actions lead to the position; None if none."""
        game = self.game
        world = self._worlds(self.observation, 1)
        observer = int(_observers_of(world, self.observation)[0])
        actions = [int(action) for action in self.history[:, 1] if action != UNUSED]
        if not self.beginnings:
            deals = list(itertools.islice(game.deals_before(_record(world, 0), actions), MOST_TRIED + 1))
            if len(deals) > MOST_TRIED:
                raise ValueError(
                    f"history: {game.id} can have begun with more than {MOST_TRIED:,} deals, too many to try; "
                    "give beginnings, what the seat saw at the beginning"
                )
        else:
            deals = [self._deal_seen(self.beginnings[0], observer)] if len(self.beginnings) == 1 else []
        found = []
        for deal in deals:
            try:
                state = self._new_state(deal)
                round_ = PastRound(game.deal_of(state.record), actions)
                for action in actions:
                    state.apply_action(action)
            except ValueError:  # this deal is impossible, or an action is illegal after it
                continue
            if np.array_equal(state.observation(observer), self.observation):
                found.append((state, [round_], observer))
        return found[self.rng.integers(len(found))] if found else None

    def sample_hidden(self) -> tuple[GameState, list[PastRound], int] | None:
        """For a game with hidden cards: sample these in every round; None if the history contradicts the game."""
        observer, next_seat, current = self._sample_current_round()
        before = int((self.history[:, 0] != UNUSED).sum()) - len(current.actions)
        state, rounds, first = self._new_state(), list[PastRound](), 0
        while first < before:
            known = len(rounds) < len(self.beginnings)
            if known:
                deal = self._deal_seen(self.beginnings[len(rounds)], observer)
                if deal is None:
                    return None
                self.game.set_deal(state.record, deal)
            rounds.append(self._sample_earlier_round(state, observer, known, first, next_seat))
            first += len(rounds[-1].actions)
            if first > before or not self._play(state, rounds, observer):
                return None
        rounds.append(current)
        if len(self.beginnings) > len(rounds) or not self._play(state, rounds, observer):
            return None
        return state, rounds, observer

    def _sample_current_round(self) -> tuple[int, int, PastRound]:
        """The observer, the seat to move, and the round so far, uniform among all that agree with what was seen."""
        tried, at_once = 0, 1
        while tried < MOST_SAMPLED:
            worlds = self._worlds(self.observation, at_once)
            seats = _observers_of(worlds, self.observation)
            past = _rewind(self.game, worlds, seats, self.history[None], np.zeros(at_once, np.int64))
            keep = self.rng.random(at_once) < past.acceptance
            kept = np.flatnonzero(keep if self.seat is None else keep & (seats == self.seat))
            if len(kept):
                i = int(kept[0])
                actions = [int(action) for action in past.actions[i] if action != UNUSED]
                deal = self.game.deal_of(_record(past.beginnings, i))
                return int(seats[i]), int(worlds.current_player[i]), PastRound(deal, actions)
            tried += at_once
            at_once = min(4 * at_once, MOST_AT_ONCE)
        raise ValueError(_none_found("this round", tried))

    def _sample_earlier_round(
        self, state: GameState, observer: int, known: bool, first: int, next_seat: int
    ) -> PastRound:
        """The round that ``state`` begins, to which the rows of the history from ``first`` on belong."""
        game = self.game
        if game.kernels.draw_round is None:
            raise ValueError(f"{game.id} has no kernel draw_round, so it cannot sample an earlier round")
        actions, records = np.full(game.history_length, UNUSED, np.int64), np.zeros(2, game.state_dtype)
        count = game.loops.draw_earlier_round(
            game.params, self.generators, state.records, observer, known, self.history, first, next_seat,
            actions, records, MOST_SAMPLED,
        )  # fmt: skip
        if count < 0:
            raise ValueError(
                f"history: no round has rows {first} and following; give the observation, the history and the "
                "beginnings of the same seat at the same moment"
            )
        if count == 0:
            raise ValueError(_none_found("an earlier round", MOST_SAMPLED))
        return PastRound(game.deal_of(records[0]), actions[first : first + count].tolist())

    def _play(self, state: GameState, rounds: list[PastRound], observer: int) -> bool:
        """Deal the last of ``rounds``, which ``state`` begins, and play it; False if its given beginning differs."""
        self.game.set_deal(state.record, rounds[-1].deal)
        seen = self.beginnings[len(rounds) - 1 :]
        if seen and not np.array_equal(state.observation(observer), seen[0]):
            return False
        for action in rounds[-1].actions:
            state.apply_action(action)
        return True

    def _deal_seen(self, observation: np.ndarray, observer: int) -> Any:
        """A deal of a round at whose beginning ``observer`` sees ``observation`` (O,); None if there is none.

        It samples many, because if the first start player is random, a world may have the observer in any seat.
        """
        worlds = self._worlds(observation, MANY_SEATS)
        found = np.flatnonzero(_observers_of(worlds, observation) == observer)
        return self.game.deal_of(_record(worlds, int(found[0]))) if len(found) else None

    def _worlds(self, observation: np.ndarray, count: int) -> Vec:
        return self.game.sample_states_from(observation[None], np.array([count]), self.generators)

    def _new_state(self, deal: Any = None) -> GameState:
        """The beginning of a game."""
        return self.game.initial_state_from(split_generators(self.generators, np.ones(1, np.int64)), deal)


def _observers_of(worlds: Vec, observation: np.ndarray) -> np.ndarray:
    """The seat (N,) of each of ``worlds`` that sees ``observation`` (O,)."""
    seats = [
        (worlds.observe(np.full(worlds.num_envs, seat)) == observation).all(axis=1)
        for seat in range(worlds.game.num_players)
    ]
    return np.argmax(seats, axis=0)


def _record(worlds: Vec, row: int) -> np.record:
    """A copy of the record of one of ``worlds``."""
    return worlds.take(np.array([row]))._copied(0)[0][0]


def _none_found(which: str, tried: int) -> str:
    return (
        f"history: none of {tried:,} samples of {which} agree with it; give the observation, the history and the "
        f"beginnings of the same seat at the same moment"
    )


def _checked_histories(game: Game, histories: np.ndarray) -> np.ndarray:
    given = as_array("histories", histories)
    shape = (game.history_length, 2)
    if given.ndim == 2:
        given = given[None]
    if given.shape[1:] != shape or given.dtype != np.int8 or not len(given):
        raise ValueError(
            f"histories: {given.dtype} of shape {given.shape}; expected int8 of shape {shape} or (M, {shape[0]}, 2)"
        )
    seats, actions = given[..., 0], given[..., 1]
    inside = (
        (seats >= UNUSED) & (seats < game.num_players) & (actions >= UNUSED) & (actions < game.num_actions)
    )
    if not inside.all():
        raise ValueError(
            f"histories: row {int((~inside).any(axis=1).argmax())} holds seats or actions that the game does not have"
        )
    return np.array(given, order="C")  # a copy: for a read-only array the code would be compiled again


def _checked_places(history_of: np.ndarray | None, num_histories: int, num_worlds: int) -> np.ndarray:
    if history_of is None:
        if num_histories not in (1, num_worlds):
            raise ValueError(
                f"histories: {num_histories} for {num_worlds} worlds; give one for all, one for each, or history_of"
            )
        return np.arange(num_worlds) if num_histories == num_worlds else np.zeros(num_worlds, np.int64)
    of = check_integers("history_of", history_of, (num_worlds,), 0, num_histories - 1)
    return np.ascontiguousarray(of, np.int64)
