"""One-ply rollout search over worlds that agree with an observation, for many observations at once.

For each observation worlds are drawn uniformly (`Game.sample_states`), every legal action is put to each of them, and a
rollout policy, any agent, plays on for all seats. The value of an action is the mean of what the searching seat is then
paid. All actions of one observation are tried in the same worlds, so that the luck of a world is the same for all of
them, and sequential halving gives the better actions more worlds (`halving`).

A search is given observations and masks, and nothing else: it cannot know more than the seat that it plays for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed, agent_seed, check_rows, needs_history
from catbox_agents.play_out import END_OF_GAME, END_OF_ROUND, steps
from catbox_agents.search.halving import best_half, halving_schedule
from catbox_agents.specs import AgentSpec, agent_of, default_agent, label_of
from catbox_env import Game, Vec
from catbox_env.core.checks import check_integer
from catbox_env.core.game import check_game_object
from catbox_env.core.rng import new_generators, seed_sequence, split_generators
from catbox_env.core.storage import MAX_THREADS

#: Most games that are played side by side. Larger batches cost memory and save no time.
MAX_GAMES = 2**14
#: Most worlds of one observation that are drawn together.
BLOCK = 64


class SearchResult(NamedTuple):
    """What a search of n observations found: for each of the A actions

    - ``values`` (n, A) float64: the mean reward of the searching seat, in units of ``game.reward``; NaN where the
      action was never tried. To the end of the round; with ``reward="win"`` to the end of the game.
    - ``visits`` (n, A) int64: in how many worlds it was tried.
    - ``errors`` (n, A) float64: the standard error of the value, without what a world adds to all actions alike: that
      of the difference of two values is about the square root of the sum of their squares. NaN where it is not known:
      where no round of halving tried the action in two worlds or more.

    and ``actions`` (n,) int64, the chosen ones: the best of the actions that were tried most. A single legal action is
    chosen without a rollout.
    """

    values: NDArray[np.float64]
    visits: NDArray[np.int64]
    errors: NDArray[np.float64]
    actions: NDArray[np.int64]


class RolloutSearch:
    """Searches with one rollout policy and one budget.

    Args:
        game: the game that is searched.
        policy: plays all seats in the rollouts: an agent, or a spec of :func:`catbox_agents.make`, of which the agent
            is made with a fixed seed. By default the best agent that comes with the game. It cannot ask for a history,
            because a drawn world has none.
        worlds: the budget, at least 1: as many rollouts as if each legal action were tried in so many worlds.
        max_games: most games that are in memory at a time, at least 1; what one observation tries in 64 worlds may be
            more. The result does not depend on it, except that a policy with random numbers of its own uses them in
            another order.
        num_threads: threads that share the games of a batch, 1 .. 1024. The policy is asked in the calling thread.

    Raises ``ValueError`` for an impossible argument.
    """

    def __init__(
        self,
        game: Game,
        policy: AgentSpec | None = None,
        worlds: int = 64,
        max_games: int = MAX_GAMES,
        num_threads: int = 1,
    ) -> None:
        self.game = check_game_object(game)
        if policy is None:
            policy = default_agent(game.id)
        self.label = label_of(policy)
        self.policy = agent_of(policy, self.label, game, agent_seed(0))
        if needs_history(self.policy):
            raise ValueError(
                f"policy {self.label!r} asks for its history, which a drawn world does not have; give an agent that "
                f"decides by the observation alone"
            )
        self.worlds = check_integer("worlds", worlds, 1, 2**31 - 1)
        self.max_games = check_integer("max_games", max_games, 1)
        self.num_threads = check_integer("num_threads", num_threads, 1, MAX_THREADS)

    def search(self, observations: NDArray[np.int8], action_masks: NDArray[Any], seed: Seed) -> SearchResult:
        """Search the best action for each of n seats to move.

        Args:
            observations: (n, O) int8, of the seats to move.
            action_masks: (n, A), nonzero where the action may be chosen: the legal actions, or some of them.
            seed: an integer of 0 or more, a numpy ``SeedSequence``, or None. The same seed gives the same result.

        Raises ``ValueError`` for a mask that allows nothing or an illegal action, and for an observation that no seat
        to move can have; they name the row. Errors of the policy are raised as in :func:`catbox_agents.play_out`.
        """
        seen, masks = check_rows(self.game, observations, action_masks)
        if not masks.any(axis=1).all():
            raise ValueError(
                f"row {int(masks.any(axis=1).argmin())} has no legal action: only a seat to move can be searched for"
            )
        root = new_generators([seed_sequence(seed)])
        generators = split_generators(root, np.array([len(seen)]))
        tallies = _Tallies(masks.shape)
        left = masks.copy()
        choices = masks.sum(axis=1)
        schedules = {int(k): halving_schedule(int(k), self.worlds) for k in np.unique(choices)}
        for number in range(max(map(len, schedules.values()), default=0)):
            worlds = np.array(
                [schedules[k][number][1] if number < len(schedules[k]) else 0 for k in choices.tolist()]
            )
            tallies.begin_round()
            for rows, counts in _pieces(left.sum(axis=1), worlds, self.max_games):
                self._try_actions(seen, left, rows, counts, generators, tallies)
            tallies.end_round(left, worlds)
            searched = worlds > 0
            left[searched] = best_half(left[searched], tallies.values()[searched])
        return SearchResult(tallies.values(), tallies.visits, tallies.errors(), left.argmax(axis=1))

    def _try_actions(
        self,
        seen: NDArray[np.int8],
        left: NDArray[np.bool_],
        rows: NDArray[np.int64],
        counts: NDArray[np.int64],
        generators: NDArray[Any],
        tallies: _Tallies,
    ) -> None:
        """Try the actions ``left`` of the observations ``rows`` (m,) in ``counts`` (m,) new worlds of each."""
        drawing = generators[rows]
        worlds = self._draw_worlds(seen, left, rows, counts, drawing)
        generators[rows] = drawing
        row_of_world = np.repeat(rows, counts)
        world, action = np.nonzero(left[row_of_world])
        paid = self._play(worlds.take(world), action)
        tallies.add(row_of_world, world, action, paid)

    def _draw_worlds(
        self,
        seen: NDArray[np.int8],
        left: NDArray[np.bool_],
        rows: NDArray[np.int64],
        counts: NDArray[np.int64],
        drawing: NDArray[Any],
    ) -> Vec:
        try:
            worlds = self.game.sample_states_from(seen[rows], counts, drawing, self.num_threads)
        except ValueError:
            for row in rows.tolist():  # which one it is
                try:
                    self.game.sample_state(seen[row], 0)
                except ValueError as error:
                    raise ValueError(f"row {row}: {error}") from None
            raise
        first = np.cumsum(counts) - counts
        differs = (worlds.observation[first] != seen[rows]).any(axis=1)
        illegal = (left[rows] & ~worlds.action_mask[first]).any(axis=1)
        if differs.any():
            raise ValueError(
                f"row {rows[differs.argmax()]}: the observation is not of the seat to move; only that seat can be "
                f"searched for"
            )
        if illegal.any():
            row = rows[illegal.argmax()]
            world = int(first[illegal.argmax()])
            action = int((left[row] & ~worlds.action_mask[world]).argmax())
            raise ValueError(
                f"row {row}: the mask allows the illegal action {action} ({worlds.explain_refusal(world, action)})"
            )
        return worlds

    def _play(self, games: Vec, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the seats to move are paid for ``actions`` (M,), when the policy then plays on for all."""
        until = END_OF_GAME if self.game.reward == "win" else END_OF_ROUND
        seats = games.current_player.astype(np.int64)
        every = np.arange(games.num_envs)
        line_up = np.zeros((1, self.game.num_players), np.int64)
        games.step(actions)
        paid = games.rewards[every, seats].astype(np.float64)
        ended = games.terminated | (games.round_ended if until == END_OF_ROUND else False)
        for rows in steps(games, [self.policy], [self.label], line_up, np.flatnonzero(~ended), until):
            paid[rows] += games.rewards[rows, seats[rows]]
        return paid


def _pieces(
    actions: NDArray[np.int64], worlds: NDArray[np.int64], max_games: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Cut a round into pieces of at most ``max_games`` games, or one block of one observation.

    ``actions`` (n,) actions are tried in ``worlds`` (n,) worlds of each observation. Yields different observations (m,)
    and how many worlds of each. The worlds of an observation come in blocks that do not depend on ``max_games``,
    because it matters to the worlds which of them are drawn together.
    """
    for begin in range(0, int(worlds.max(initial=0)), BLOCK):
        rows = np.flatnonzero(worlds > begin)
        counts = np.minimum(worlds[rows] - begin, BLOCK)
        sizes = (counts * actions[rows]).tolist()
        first = held = 0
        for k, size in enumerate(sizes):
            if k > first and held + size > max_games:
                yield rows[first:k], counts[first:k]
                first, held = k, 0
            held += size
        yield rows[first:], counts[first:]


class _Tallies:
    """Sums over the rollouts, for each action of each observation (n, A)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.visits = np.zeros(shape, np.int64)
        self.paid = np.zeros(shape)
        # Of a round: what an action is paid beyond the mean of its world, and the squares of that.
        self.beyond, self.squares = np.zeros(shape), np.zeros(shape)
        # Of all rounds: squared deviations from the mean of the round, and their degrees of freedom.
        self.deviations, self.freedom = np.zeros(shape), np.zeros(shape)

    def begin_round(self) -> None:
        self.beyond.fill(0)
        self.squares.fill(0)

    def add(
        self,
        row_of_world: NDArray[np.int64],
        world: NDArray[np.int64],
        action: NDArray[np.int64],
        paid: NDArray[np.float64],
    ) -> None:
        """Rollout k, of action ``action[k]`` in world ``world[k]``, paid ``paid[k]``.

        ``add.at`` adds one after the other, so that the sums do not depend on how the rollouts are cut into pieces.
        """
        at = (row_of_world[world], action)
        beyond = paid - (np.bincount(world, paid) / np.bincount(world))[world]
        np.add.at(self.visits, at, 1)
        np.add.at(self.paid, at, paid)
        np.add.at(self.beyond, at, beyond)
        np.add.at(self.squares, at, np.square(beyond))

    def end_round(self, tried: NDArray[np.bool_], worlds: NDArray[np.int64]) -> None:
        """Every action ``tried`` (n, A) has been put to ``worlds`` (n,) worlds."""
        count = worlds[:, None].clip(1)
        width = tried.sum(axis=1, keepdims=True)
        # The mean of a world holds a part of the action's own luck: of k actions, 1 / k of the variance is lost.
        shrunk = width / (width - 1).clip(1)
        deviations = (self.squares - np.square(self.beyond) / count).clip(0) * shrunk
        active = tried & (worlds > 0)[:, None]
        self.deviations += np.where(active, deviations, 0.0)
        self.freedom += np.where(active, count - 1, 0)

    def values(self) -> NDArray[np.float64]:
        return _ratio(self.paid, self.visits)

    def errors(self) -> NDArray[np.float64]:
        return np.sqrt(_ratio(_ratio(self.deviations, self.freedom), self.visits))


def _ratio(part: NDArray[np.float64], whole: NDArray[Any]) -> NDArray[np.float64]:
    """``part / whole``, NaN where ``whole`` is 0."""
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
