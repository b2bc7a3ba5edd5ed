"""One-ply rollout search over worlds that are consistent with an observation, for many observations at once.

For each observation, the search samples worlds (`Game.sample_states`), tries every legal action in each of them, and
lets a rollout policy, any agent, play on for all seats. The value of an action is the mean of what the searching seat
is then paid, optionally weighted by the likelihood of the worlds (`posterior`). All actions of an observation are tried
in the same worlds, so they share the luck of each world, and sequential halving gives the better actions more worlds
(`halving`).

A search gets observations, masks and histories, and nothing else: it cannot know more than the seat that it plays for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catbox_agents.agent import Seed, check_rows
from catbox_agents.play import END_OF_GAME, END_OF_ROUND, ask_about
from catbox_agents.search.halving import Schedule, best_half, halving_schedule
from catbox_agents.search.playing import action_rewards, check_critic, rollout_player, world_keys
from catbox_agents.search.policy_rollouts import plays_compiled
from catbox_agents.search.posterior import likelihoods, powers, random_units, resample, sample_players
from catbox_agents.search.tallies import Tallies, WeightedTallies
from catbox_agents.search.worlds import (
    check_histories,
    distinct,
    numbers_within,
    repeated,
    row_generators,
    sample_worlds,
)
from catbox_agents.settings import LARGEST
from catbox_agents.specs import AgentSpec
from catbox_env import Game, Vec
from catbox_env.core.checks import check_flag, check_integer, check_number, short_repr
from catbox_env.core.spec import check_game_object
from catbox_env.core.vec import MAX_THREADS

#: Most games that are played side by side. Larger batches cost memory and save no time.
MAX_GAMES = 2**14
#: Most worlds of one observation that are sampled together.
BLOCK = 64
#: Most worlds: no limit in practice.
MANY_WORLDS = LARGEST
#: What messages expect of a share.
SHARE = "a number from 0 to 1"
#: The probability of a random action of another seat in the weights of worlds (`posterior`).
EPSILON = 0.25
#: With a time budget: least games of a batch. Fewer would hardly be faster, because of the work in Python.
MIN_GAMES = 64
#: And most games with one world for each observation of a group searched together: larger batches are faster, and those
#: of many observations are short compared with the sum of their budgets.
GAMES_OF_GROUP = 1024


class SearchResult(NamedTuple):
    """What a search of n observations found: for each of the A actions

    - ``values`` (n, A) float64: the mean reward of the searching seat, in units of ``game.reward``; NaN where the
      action was never tried. To the end of the round; with ``reward="win"``, or with a depth, of the game.
    - ``visits`` (n, A) int64: in how many worlds it was tried.
    - ``errors`` (n, A) float64: the standard error of the value, without what a world adds to all actions alike: that
      of the difference of two values is about the square root of the sum of their squares. NaN where it is unknown:
      where no round of halving tried the action in two worlds or more.

    ``actions`` (n,) int64, the chosen ones: the best of the actions left at the end, or with ``caution`` perhaps the
    policy's own. A single legal action is chosen without a rollout. And ``effective_worlds`` (n,) float64: the
    effective number of sampled worlds, sum(weight)^2 / sum(weight^2); without weights, their number.
    """

    values: NDArray[np.float64]
    visits: NDArray[np.int64]
    errors: NDArray[np.float64]
    actions: NDArray[np.int64]
    effective_worlds: NDArray[np.float64]


class RolloutSearch:
    """Searches with one rollout policy and one budget.

    Args:
        game: the game that is searched.
        policy: plays all seats in the rollouts: an agent, or a spec of `catbox_agents.make`, whose agent is made with a
            fixed seed. By default the heuristic, if the game has one. It cannot need a history, because a sampled
            world has none.
        worlds: the budget, at least 1: as many rollouts as if each legal action were tried in this many worlds. Another
            ``schedule`` gives it another meaning.
        max_games: most games in memory at a time, at least 1; what one observation tries in 64 worlds may exceed it.
            The result does not depend on it, except that a policy with its own random numbers uses them in another
            order.
        num_threads: threads that share the games of a batch, 1 .. 1024. The policy is asked in the calling thread.
        schedule: from a number of actions and ``worlds`` to the rounds of halving; see `halving`.
        beta: worlds are weighted by their likelihood to the power ``beta``, from 0 to 1: 0, equally; 1, by Bayes' rule.
            Above 0 the search needs histories, unless the game hides nothing.
        epsilon: the probability that another seat plays a random action, from 0 to 1; see `posterior`.
        budget: seconds for each observation, above 0; None: no limit. The rounds share the time equally. Each starts
            with a batch of at least `MIN_GAMES` games and continues with as many as fit into the rest of its time at
            the speed of the previous batch; no round starts if its first batch would overrun by more than half of its
            length. So a search exceeds its budget by one batch at most. n observations together take up to n times as
            long. The result depends on the clock.
        proposals: with weights, worlds sampled for each one that is tried; those that are tried are chosen by weight.
        effective: the power is lowered for an observation until the effective number of the worlds sampled first is at
            least this share, from 0 to 1, of the number of them that are tried.
        shared_draws: a policy that samples its actions uses the same random numbers for all actions tried in a world.
        opponent_model: a second policy that each of the other seats may follow, as likely as ``policy`` at the
            beginning of a round. Which of the two a seat follows is sampled for each world, given what it has done
            since. Needs ``beta`` above 0, and a game that hides something. None: all seats follow ``policy``.
        depth: with a policy that has a critic, how far each world is played: until the searching seat has a choice for
            the ``depth``-th time after its action. What it is paid from there on, to the end of the game, is what the
            critic expects, which must have been trained with the reward and number of rounds of ``game``. 0: to the end
            of the round, or with ``reward="win"`` of the game.
        caution: the policy's own action is tried in every world, and chosen unless the best other action is better by
            more than this many standard errors, 0 or more. For a policy that samples its actions, and in games that
            hide nothing, it counts as 0: the best action is chosen.

    Raises ``ValueError`` for an invalid argument.
    """

    def __init__(
        self,
        game: Game,
        policy: AgentSpec | None = None,
        worlds: int = 64,
        max_games: int = MAX_GAMES,
        num_threads: int = 1,
        *,
        schedule: Schedule = halving_schedule,
        beta: float = 0.0,
        epsilon: float = EPSILON,
        budget: float | None = None,
        proposals: int = 1,
        effective: float = 0.0,
        shared_draws: bool = False,
        opponent_model: AgentSpec | None = None,
        caution: float = 0.0,
        depth: int = 0,
    ) -> None:
        self.game = check_game_object(game)
        self.players = [rollout_player(game, policy)]
        if opponent_model is not None:
            self.players.append(rollout_player(game, opponent_model, "opponent_model"))
        self.worlds = check_integer("worlds", worlds, 1, MANY_WORLDS)
        self.max_games = check_integer("max_games", max_games, 1)
        self.num_threads = check_integer("num_threads", num_threads, 1, MAX_THREADS)
        self.schedule = schedule
        self.beta = check_number("beta", beta, SHARE, high=1)
        self.epsilon = check_number("epsilon", epsilon, SHARE, high=1)
        self.budget = budget
        if budget is not None:
            self.budget = check_number("budget", budget, "a finite number of seconds above 0", above=True)
        self.proposals = check_integer("proposals", proposals, 1, MANY_WORLDS)
        self.effective = check_number("effective", effective, SHARE, high=1)
        self.shared_draws = check_flag("shared_draws", shared_draws)
        if opponent_model is not None and self.beta == 0:
            raise ValueError(
                f"opponent_model={short_repr(opponent_model)} with beta=0: which policy a seat follows is inferred "
                "from what it did, which beta=0 ignores; give a beta above 0, or no opponent_model"
            )
        self.caution = check_number("caution", caution, "a finite number of 0 or more")
        self.depth = check_integer("depth", depth, 0)
        if self.depth:
            check_critic(self.players[0], game, self.depth)
        if opponent_model is not None and game.is_perfect_information:
            raise ValueError(
                f"opponent_model={short_repr(opponent_model)}: which policy a seat follows is inferred only with "
                f"weighted worlds, and {game.id} hides nothing; leave opponent_model out"
            )
        #: Whether the policy's own action is preferred.
        self.is_cautious = (
            self.caution > 0
            and not game.is_perfect_information
            and not getattr(self.players[0].agent, "samples_actions", False)
        )
        #: Whether equal worlds are known to end alike, so that they need to be played only once.
        self.plays_alike = len(self.players) == 1 and plays_compiled(self.players[0].agent, has_keys=False)
        #: Whether a search needs histories.
        self.needs_history = self.beta > 0 and not game.is_perfect_information

    def search(
        self,
        observations: NDArray[np.int8],
        action_masks: NDArray[Any],
        seed: Seed | Sequence[Seed],
        histories: NDArray[np.int8] | None = None,
    ) -> SearchResult:
        """Search for the best action of each of n seats to move.

        Args:
            observations: (n, O) int8, of the seats to move.
            action_masks: (n, A), nonzero where the action may be chosen: the legal actions, or some of them.
            seed: an integer of 0 or more, a numpy ``SeedSequence``, or None; or a list of n of them, which makes the
                result of each observation independent of the others. The same seed gives the same result.
            histories: (n, T, 2) int8, of these seats; read if worlds are weighted.

        Raises ``ValueError``, naming the row, for a mask that allows no action or an illegal one, for an observation
        that no seat to move can have, and for a history that does not fit the observation. Errors of the policy are
        raised as in `catbox_agents.play_out`.
        """
        seen, masks = check_rows(self.game, observations, action_masks)
        begun = time.perf_counter()
        search = _Search(self, seen, masks, seed, histories)
        choices = masks.sum(axis=1)
        schedules = {int(k): self.schedule(int(k), self.worlds) for k in np.unique(choices)}
        if self.budget is None:
            for number in range(max(map(len, schedules.values()), default=0)):
                search.search_round(_worlds_of_round(schedules, choices, number))
        else:
            for rows in _groups(choices):
                search.search_until(rows, begun + self.budget * len(rows), schedules)
                begun = time.perf_counter()
        return search.result()

    def _play(
        self,
        games: Vec,
        actions: NDArray[np.int64],
        line_up: NDArray[np.int64],
        keys: NDArray[np.uint64] | None,
    ) -> NDArray[np.float64]:
        """What the seats to move are paid for ``actions`` (M,); arguments as in `action_rewards`."""
        until = END_OF_GAME if self.game.reward == "win" or self.depth else END_OF_ROUND
        return action_rewards(games, actions, self.players, line_up, until, keys, self.depth)


class _Search:
    """One running search of n observations."""

    def __init__(
        self,
        search: RolloutSearch,
        seen: NDArray[np.int8],
        masks: NDArray[np.bool_],
        seed: Seed | Sequence[Seed],
        histories: NDArray[np.int8] | None,
    ) -> None:
        self.search, self.seen = search, seen
        self.is_weighted = search.needs_history
        self.histories = check_histories(search.game, histories, len(seen)) if self.is_weighted else None
        self.left = masks.copy()
        self.policy_actions = self._policy_actions(masks) if search.is_cautious else None
        self.powers = np.full(len(seen), np.nan)  # of the likelihood; set with the first worlds
        self.generators = row_generators(seed, len(seen))
        self.keys = world_keys(self.generators) if search.shared_draws else None
        self.tallies = (
            WeightedTallies(masks.shape, search.proposals > 1) if self.is_weighted else Tallies(masks.shape)
        )

    def search_round(self, worlds: NDArray[np.int64]) -> None:
        """Try the actions left of each observation in ``worlds`` (n,) worlds, and drop the worse half."""
        self.tallies.begin_round()
        for rows, counts in _pieces(self.left.sum(axis=1), worlds, self.search.max_games):
            self._try_actions(rows, counts)
        self._end_round(worlds)

    def search_until(
        self, rows: NDArray[np.int64], deadline: float, schedules: dict[int, list[tuple[int, int]]]
    ) -> None:
        """Search the observations ``rows`` (m,) round by round, each in at most the worlds of its schedule."""
        choices = np.ones(len(self.left), np.int64)
        choices[rows] = self.left[rows].sum(axis=1)
        rounds = max(len(schedules[k]) for k in choices[rows].tolist())
        games, seconds = MIN_GAMES, 0.0  # of the last batch
        for number in range(rounds):
            begun = time.perf_counter()
            if number > 0 and begun + seconds / 2 > deadline:
                return
            until = begun + (deadline - begun) / (rounds - number)
            most = _worlds_of_round(schedules, choices, number)
            tried = np.zeros(len(self.left), np.int64)
            self.tallies.begin_round()
            while (most > tried).any():
                now = time.perf_counter()
                speedup = (until - now) / seconds if seconds > 0 else 1.0
                if speedup < 1 and tried.any():
                    break
                active = np.flatnonzero(most > tried)
                at_once = int(self.left[active].sum())
                fitting = min(int(max(1.0, speedup) * games), self.search.max_games)
                counts = np.minimum(most[active] - tried[active], min(max(1, fitting // at_once), BLOCK))
                self._try_actions(active, counts)
                tried[active] += counts
                games = max(MIN_GAMES, int(counts @ self.left[active].sum(axis=1)))
                seconds = time.perf_counter() - now
            self._end_round(tried)

    def result(self) -> SearchResult:
        tallies = self.tallies
        values = tallies.values()
        best = np.where(self.left & np.isfinite(values), values, -np.inf)
        best[self.left.sum(axis=1) == 1] = -np.inf  # the only action, whatever its value
        actions = np.where(np.isfinite(best).any(axis=1), best.argmax(axis=1), self.left.argmax(axis=1))
        errors = tallies.errors()
        if self.policy_actions is not None:
            every = np.arange(len(actions))
            gain = values[every, actions] - values[every, self.policy_actions]
            error = np.hypot(errors[every, actions], errors[every, self.policy_actions])
            is_better = gain > self.search.caution * error  # not where they are NaN
            actions = np.where(is_better, actions, self.policy_actions)
        return SearchResult(values, tallies.visits, errors, actions, tallies.effective_worlds())

    def _policy_actions(self, masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The policy's own action for each observation, (n,)."""
        actions = masks.argmax(axis=1)
        rows = np.flatnonzero(masks.sum(axis=1) > 1)
        if len(rows):
            actions[rows] = ask_about(*self.search.players[0], self.seen[rows], masks[rows])
        return actions

    def _end_round(self, worlds: NDArray[np.int64]) -> None:
        self.tallies.end_round(self.left, worlds)
        searched = worlds > 0
        self.left[searched] = best_half(self.left[searched], self.tallies.values()[searched])
        if self.policy_actions is not None:
            self.left[np.arange(len(self.left)), self.policy_actions] = True

    def _try_actions(self, rows: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Try the actions left of the observations ``rows`` (m,) in ``counts`` (m,) new worlds each."""
        row_of_world = repeated(rows, counts)
        worlds, logs, line_up = self._sample_worlds(rows, counts)
        first = group = np.arange(len(row_of_world))
        if self.search.plays_alike:
            first, group = distinct(row_of_world, worlds._bytes)
        world, action = np.nonzero(self.left[row_of_world[first]])
        played = first[world]
        keys = None
        if self.keys is not None:
            number = self.tallies.num_worlds[row_of_world] + numbers_within(counts)
            keys = (self.keys[row_of_world] + number.astype(np.uint64))[played]
        paid_in = np.zeros((len(first), self.left.shape[1]))
        paid_in[world, action] = self.search._play(
            worlds.take(played), action, line_up[played] if len(line_up) > 1 else line_up, keys
        )
        world, action = np.nonzero(self.left[row_of_world])
        paid = paid_in[group[world], action]
        if isinstance(self.tallies, WeightedTallies):
            self.tallies.add_weighted(row_of_world, world, action, paid, logs)
        else:
            self.tallies.add(row_of_world, world, action, paid)

    def _sample_worlds(
        self, rows: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> tuple[Vec, NDArray[np.float64], NDArray[np.int64]]:
        """``counts`` (m,) worlds for each of the observations ``rows`` (m,), and their log weights.

        And the player of each seat, (sum of counts, P), or (1, P) for all.
        """
        search, is_weighted = self.search, self.histories is not None
        drawn = counts * (search.proposals if is_weighted else 1)
        generators = self.generators[rows]
        worlds = sample_worlds(search.game, self.seen, self.left, rows, drawn, generators, search.num_threads)
        if self.histories is None:
            self.generators[rows] = generators
            return worlds, np.zeros(0), np.zeros((1, search.game.num_players), np.int64)
        history_of = repeated(rows, drawn)
        logs, seats = likelihoods(worlds, self.histories, history_of, search.players, search.epsilon)
        first_time = np.isnan(self.powers[rows])
        if first_time.any():
            fitting = powers(logs, drawn, search.beta, search.effective * counts.astype(np.float64))
            self.powers[rows] = np.where(first_time, fitting, self.powers[rows])
        logs *= self.powers[history_of]
        assert isinstance(self.tallies, WeightedTallies)  # because there are histories
        self.tallies.add_drawn(history_of, logs)
        if search.proposals > 1:
            taken, logs = resample(logs, drawn, counts, random_units(generators))
            worlds, seats = worlds.take(taken), seats[taken]
        line_up = np.zeros((1, search.game.num_players), np.int64)
        if len(search.players) > 1:
            keys = repeated(world_keys(generators), counts) + numbers_within(counts).astype(np.uint64)
            line_up = sample_players(seats, worlds.current_player, keys)
        self.generators[rows] = generators
        return worlds, logs, line_up


def _worlds_of_round(
    schedules: dict[int, list[tuple[int, int]]], choices: NDArray[np.int64], number: int
) -> NDArray[np.int64]:
    """The number of worlds of each observation in a round."""
    return np.array(
        [
            schedules[k][number][1] if k in schedules and number < len(schedules[k]) else 0
            for k in choices.tolist()
        ],
        np.int64,
    )


def _groups(choices: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The observations with a choice, in groups of at most `GAMES_OF_GROUP` actions, or of one observation."""
    rows: list[int] = []
    held = 0
    for row in np.flatnonzero(choices > 1).tolist():
        if rows and held + choices[row] > GAMES_OF_GROUP:
            yield np.array(rows)
            rows, held = [], 0
        rows.append(row)
        held += int(choices[row])
    if rows:
        yield np.array(rows)


def _pieces(
    actions: NDArray[np.int64], worlds: NDArray[np.int64], max_games: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Cut a round into pieces of at most ``max_games`` games, or one block of one observation.

    ``actions`` (n,) actions are tried in ``worlds`` (n,) worlds of each observation. Yields different observations (m,)
    and how many worlds of each. The worlds of an observation come in blocks that do not depend on ``max_games``,
    because worlds depend on which others are sampled together with them.
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
